// Loops that the other tools lack, in assembly of their own, to hold `roofline machine measure` against: the best mix
// of multiply-adds and additions, dot products of BF16 and INT8, and a triad in huge pages. Shares nothing with
// src/measure. usage: cpu_reference mix64|mix32|bf16|int8 THREADS | cpu_reference triad|triadnt THREADS KIB_PER_THREAD
// Prints GFLOP/s, GOP/s or GB/s of all threads: the best of the samples of 2 ms that fit into 0.15 s. x86-64 with AVX2.
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#ifdef __x86_64__
namespace {

// The formatter does not agree with itself on assembly in macros.
// clang-format off
// `body` in a loop of `turns`, with a multiplier and an addend in the two last registers; accumulators start at zero.
#define LOOP_256(turns, body)                                                                                      \
  static const double kConstants[8] = {0.999, 0.999, 0.999, 0.999, 1e-3, 1e-3, 1e-3, 1e-3};                        \
  asm volatile("vzeroall\n\tvmovupd (%1), %%ymm14\n\tvmovupd 32(%1), %%ymm15\n\t.p2align 5\n1:\n\t" body           \
               "dec %0\n\tjnz 1b\n\t"                                                                              \
               "vzeroupper\n\t"                                                                                    \
               : "+r"(turns)                                                                                       \
               : "r"(kConstants)                                                                                   \
               : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
                 "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc")

#define ZERO(n) "vpxord %%zmm" #n ", %%zmm" #n ", %%zmm" #n "\n\t"
#define LOOP_512(turns, body)                                                                                       \
  static const double kConstants[2] = {0.999, 1e-3};                                                                \
  asm volatile("vzeroall\n\t" ZERO(16) ZERO(17) ZERO(18) ZERO(19) ZERO(20) ZERO(21) ZERO(22)                        \
                   ZERO(23) "vbroadcastsd (%1), %%zmm30\n\tvbroadcastsd 8(%1), %%zmm31\n\t.p2align 5\n1:\n\t" body  \
                            "dec %0\n\tjnz 1b\n\tvzeroupper\n\t"                                                    \
               : "+r"(turns)                                                                                        \
               : "r"(kConstants)                                                                                    \
               : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",  \
                 "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", \
                 "xmm23", "xmm30", "xmm31", "memory", "cc")

#define FMA_Y(n, t) "vfmadd213" t " %%ymm15, %%ymm14, %%ymm" #n "\n\t"
#define ADD_Y(n, t) "vadd" t " %%ymm15, %%ymm" #n ", %%ymm" #n "\n\t"
#define FMA_Z(n, t) "vfmadd213" t " %%zmm31, %%zmm30, %%zmm" #n "\n\t"
#define ADD_Z(n, t) "vadd" t " %%zmm31, %%zmm" #n ", %%zmm" #n "\n\t"

// Two multiply-adds for an addition, and one for one.
#define MIX_2_1_Y(t) \
  FMA_Y(0, t)        \
  FMA_Y(1, t)        \
  ADD_Y(8, t)        \
  FMA_Y(2, t) FMA_Y(3, t) ADD_Y(9, t) FMA_Y(4, t) FMA_Y(5, t) ADD_Y(10, t) FMA_Y(6, t) FMA_Y(7, t) ADD_Y(11, t)
#define MIX_1_1_Y(t)                                                                                             \
  FMA_Y(0, t)                                                                                                    \
  ADD_Y(7, t)                                                                                                    \
  FMA_Y(1, t)                                                                                                    \
  ADD_Y(8, t)                                                                                                    \
  FMA_Y(2, t) ADD_Y(9, t) FMA_Y(3, t) ADD_Y(10, t) FMA_Y(4, t) ADD_Y(11, t) FMA_Y(5, t) ADD_Y(12, t) FMA_Y(6, t) \
      ADD_Y(13, t)
#define MIX_2_1_Z(t)                                                                                             \
  FMA_Z(0, t)                                                                                                    \
  FMA_Z(1, t)                                                                                                    \
  ADD_Z(16, t)                                                                                                   \
  FMA_Z(2, t)                                                                                                    \
  FMA_Z(3, t) ADD_Z(17, t) FMA_Z(4, t) FMA_Z(5, t) ADD_Z(18, t) FMA_Z(6, t) FMA_Z(7, t) ADD_Z(19, t) FMA_Z(8, t) \
      FMA_Z(9, t) ADD_Z(20, t) FMA_Z(10, t) FMA_Z(11, t) ADD_Z(21, t) FMA_Z(12, t) FMA_Z(13, t) ADD_Z(22, t)     \
          FMA_Z(14, t) FMA_Z(15, t) ADD_Z(23, t)
#define MIX_1_1_Z(t)                                                                                              \
  FMA_Z(0, t)                                                                                                     \
  ADD_Z(12, t)                                                                                                    \
  FMA_Z(1, t)                                                                                                     \
  ADD_Z(13, t)                                                                                                    \
  FMA_Z(2, t) ADD_Z(14, t) FMA_Z(3, t) ADD_Z(15, t) FMA_Z(4, t) ADD_Z(16, t) FMA_Z(5, t) ADD_Z(17, t) FMA_Z(6, t) \
      ADD_Z(18, t) FMA_Z(7, t) ADD_Z(19, t) FMA_Z(8, t) ADD_Z(20, t) FMA_Z(9, t) ADD_Z(21, t) FMA_Z(10, t)        \
          ADD_Z(22, t) FMA_Z(11, t) ADD_Z(23, t)

#define MIX_FUNCTIONS(name, t)                                                                 \
  __attribute__((target("avx2,fma"))) void name##_2_1_y(long n) { LOOP_256(n, MIX_2_1_Y(t)); } \
  __attribute__((target("avx2,fma"))) void name##_1_1_y(long n) { LOOP_256(n, MIX_1_1_Y(t)); } \
  __attribute__((target("avx512f"))) void name##_2_1_z(long n) { LOOP_512(n, MIX_2_1_Z(t)); }  \
  __attribute__((target("avx512f"))) void name##_1_1_z(long n) { LOOP_512(n, MIX_1_1_Z(t)); }
MIX_FUNCTIONS(mix64, "pd")
MIX_FUNCTIONS(mix32, "ps")

#define DOT(n, i) i " %%zmm31, %%zmm30, %%zmm" #n "\n\t"
#define DOTS(i)                                                                                                      \
  DOT(0, i)                                                                                                          \
  DOT(1, i)                                                                                                          \
  DOT(2, i)                                                                                                          \
  DOT(3, i)                                                                                                          \
  DOT(4, i) DOT(5, i) DOT(6, i) DOT(7, i) DOT(8, i) DOT(9, i) DOT(10, i) DOT(11, i) DOT(12, i) DOT(13, i) DOT(14, i) \
      DOT(15, i) DOT(16, i) DOT(17, i) DOT(18, i) DOT(19, i)
__attribute__((target("avx512f"))) void dot_bf16(long n) { LOOP_512(n, DOTS("vdpbf16ps")); }
__attribute__((target("avx512f"))) void dot_int8(long n) { LOOP_512(n, DOTS("vpdpbusd")); }

// a = b + s c over `bytes` of each, 128 bytes a turn, `passes` times.
#define TRIAD(store)                                                                                 \
  static const double kScale = 0.7;                                                                  \
  for (; passes > 0; --passes) {                                                                     \
    long at = 0;                                                                                     \
    asm volatile(                                                                                    \
        "vbroadcastsd (%5), %%ymm15\n\t.p2align 5\n1:\n\t"                                           \
        "vmovapd (%3,%0), %%ymm0\n\tvmovapd 32(%3,%0), %%ymm1\n\t"                                   \
        "vmovapd 64(%3,%0), %%ymm2\n\tvmovapd 96(%3,%0), %%ymm3\n\t"                                 \
        "vfmadd213pd (%2,%0), %%ymm15, %%ymm0\n\tvfmadd213pd 32(%2,%0), %%ymm15, %%ymm1\n\t"         \
        "vfmadd213pd 64(%2,%0), %%ymm15, %%ymm2\n\tvfmadd213pd 96(%2,%0), %%ymm15, %%ymm3\n\t" store \
        " %%ymm0, (%1,%0)\n\t" store " %%ymm1, 32(%1,%0)\n\t" store " %%ymm2, 64(%1,%0)\n\t" store   \
        " %%ymm3, 96(%1,%0)\n\tadd $128, %0\n\tcmp %4, %0\n\tjb 1b\n\tsfence\n\tvzeroupper"          \
        : "+r"(at)                                                                                   \
        : "r"(a), "r"(b), "r"(c), "r"(bytes), "r"(&kScale)                                           \
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm15", "memory", "cc");                                  \
  }
// clang-format on
__attribute__((target("avx2,fma"))) void triad(char* a, const char* b, const char* c, long bytes, long passes) {
  TRIAD("vmovapd")
}
__attribute__((target("avx2,fma"))) void triad_nt(char* a, const char* b, const char* c, long bytes, long passes) {
  TRIAD("vmovntpd")
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

using Work = std::function<void(std::size_t member, long turns)>;

void pin(std::size_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// Units a second of all threads, of the best sample. `amount` is what a turn of one thread makes.
double best(std::size_t threads, double amount, const Work& prepare, const Work& work) {
  constexpr double kSample = 2e-3, kAll = 0.15;
  std::barrier gate(static_cast<std::ptrdiff_t>(threads));
  std::vector<double> starts(threads), ends(threads);
  long turns = 1;
  double highest = 0;
  bool over = false;
  const auto member = [&](std::size_t i) {
    pin(i);
    prepare(i, 0);
    const double begin = now();
    while (!over) {
      gate.arrive_and_wait();
      starts[i] = now();
      work(i, turns);
      ends[i] = now();
      gate.arrive_and_wait();
      if (i == 0) {
        const double seconds =
            *std::max_element(ends.begin(), ends.end()) - *std::min_element(starts.begin(), starts.end());
        const double own = ends[0] - starts[0];  // a thread that starts late shall not make samples short
        if (own < kSample / 2 && now() - begin < kAll)
          turns = std::max(turns + 1, static_cast<long>(static_cast<double>(turns) * std::min(8.0, kSample / own)));
        else
          highest = std::max(highest, amount * static_cast<double>(turns) * static_cast<double>(threads) / seconds);
        over = now() - begin > kAll;
      }
      gate.arrive_and_wait();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(member, i);
  member(0);
  for (auto& t : others) t.join();
  return highest;
}

double compute(std::size_t threads, double operations, void (*loop)(long)) {
  return best(
      threads, operations, [](std::size_t, long) {}, [&](std::size_t, long turns) { loop(turns); });
}

double mix(std::size_t threads, bool fp64) {
  const double lanes = fp64 ? 4 : 8;  // of 256 bits
  double rate = std::max(compute(threads, lanes * (8 * 2 + 4), fp64 ? mix64_2_1_y : mix32_2_1_y),
                         compute(threads, lanes * (7 * 2 + 7), fp64 ? mix64_1_1_y : mix32_1_1_y));
  if (__builtin_cpu_supports("avx512f")) {
    rate = std::max(rate, compute(threads, 2 * lanes * (16 * 2 + 8), fp64 ? mix64_2_1_z : mix32_2_1_z));
    rate = std::max(rate, compute(threads, 2 * lanes * (12 * 2 + 12), fp64 ? mix64_1_1_z : mix32_1_1_z));
  }
  return rate;
}

double stream(std::size_t threads, std::size_t kib, bool past_caches) {
  constexpr std::size_t kHuge = std::size_t{2} << 20, kUnit = 128, kApart = 1088;  // no multiple of a page apart
  const auto bytes = kib * 1024 / 3 / kUnit * kUnit;
  const auto apart = bytes + kApart / 64 * 64 + 64;
  std::vector<char*> memory(threads);
  const auto prepare = [&](std::size_t i, long) {
    auto* raw = static_cast<char*>(
        mmap(nullptr, 3 * apart + 2 * kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memory[i] = raw + (kHuge - reinterpret_cast<std::uintptr_t>(raw) % kHuge) % kHuge;
    madvise(memory[i], 3 * apart + kHuge, MADV_HUGEPAGE);
    for (std::size_t at = 0; at + 8 <= 3 * apart; at += 8) {
      const double value = 1 + static_cast<double>(at % 509) * 1e-3;
      std::memcpy(memory[i] + at, &value, sizeof value);
    }
  };
  const auto work = [&](std::size_t i, long passes) {
    char* a = memory[i];
    (past_caches ? triad_nt : triad)(a, a + apart, a + 2 * apart, static_cast<long>(bytes), passes);
  };
  return best(threads, 3 * static_cast<double>(bytes), prepare, work);
}

double measured(const std::string& what, std::size_t threads, std::size_t kib) {
  constexpr double kDots = 20, kBf16 = 32 * 2, kInt8 = 64 * 2;
  if (what == "mix64" || what == "mix32") return mix(threads, what == "mix64");
  if (what == "bf16" && __builtin_cpu_supports("avx512bf16")) return compute(threads, kDots * kBf16, dot_bf16);
  if (what == "int8" && __builtin_cpu_supports("avx512vnni")) return compute(threads, kDots * kInt8, dot_int8);
  if ((what == "triad" || what == "triadnt") && kib > 0) return stream(threads, kib, what == "triadnt");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto threads = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0;
  __builtin_cpu_init();
  if (threads < 1 || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 2;
  const double rate = measured(argv[1], threads, argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0);
  if (rate <= 0) return 3;
  std::printf("%.2f\n", rate * 1e-9);
}
#else
int main() { return 3; }
#endif
