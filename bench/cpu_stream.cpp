// The four loops of STREAM by their published definition (McCalpin: a = b; b = s c; c = a + b; a = b + s c on arrays of
// doubles much larger than the caches; bytes are 16, 16, 24, 24 per element; the best of the runs after the first
// counts), written anew. Like the original it leaves vectors, stores and pages to the compiler and the system: compile
// with -O3 -march=native. usage: cpu_stream THREADS [MIB_PER_ARRAY [RUNS]]: prints GB/s of copy, scale, add and triad
#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kLoops = 4;
constexpr std::array<double, kLoops> kBytes = {16, 16, 24, 24};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Arrays {
  double* a;
  double* b;
  double* c;
};

void loop(std::size_t which, const Arrays& v, std::size_t first, std::size_t last) {
  double* __restrict a = v.a;
  double* __restrict b = v.b;
  double* __restrict c = v.c;
  const double s = 3;
  switch (which) {
    case 0:
      for (auto i = first; i < last; ++i) c[i] = a[i];
      break;
    case 1:
      for (auto i = first; i < last; ++i) b[i] = s * c[i];
      break;
    case 2:
      for (auto i = first; i < last; ++i) c[i] = a[i] + b[i];
      break;
    default:
      for (auto i = first; i < last; ++i) a[i] = b[i] + s * c[i];
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  const auto mebibytes = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 128;
  const auto runs = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 6;
  if (threads < 1 || mebibytes < 1 || runs < 2) return 2;
  const std::size_t n = mebibytes * (1U << 20) / sizeof(double);
  // Not touched before the threads do: that decides where pages lie.
  const std::unique_ptr<double[]> a(new double[n]), b(new double[n]), c(new double[n]);
  const Arrays arrays{a.get(), b.get(), c.get()};
  std::array<double, kLoops> best{};
  best.fill(1e30);
  std::barrier gate(static_cast<std::ptrdiff_t>(threads));
  const auto work = [&](std::size_t member) {
    const auto first = n * member / threads;
    const auto last = n * (member + 1) / threads;
    for (auto i = first; i < last; ++i) {
      arrays.a[i] = 1;
      arrays.b[i] = 2;
      arrays.c[i] = 0;
    }
    for (std::size_t run = 0; run < runs; ++run)
      for (std::size_t which = 0; which < kLoops; ++which) {
        gate.arrive_and_wait();
        const double begin = now();
        loop(which, arrays, first, last);
        gate.arrive_and_wait();
        if (member == 0 && run > 0) best[which] = std::min(best[which], now() - begin);
      }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (auto& t : others) t.join();
  for (std::size_t i = 0; i < kLoops; ++i) std::printf("%.2f ", kBytes[i] * static_cast<double>(n) / best[i] * 1e-9);
  std::printf("\n");
  // The original checks its results: what was not computed cannot be timed.
  const double want = arrays.b[0] + 3 * arrays.c[0];
  return std::abs(arrays.a[n / 2] - want) <= 1e-9 * std::abs(want) ? 0 : 1;
}
