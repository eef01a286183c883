// The loops, for the instruction set that the including file is compiled for. Included by one file per instruction set,
// never by others: everything stays in an anonymous namespace, and no header with inline functions of external linkage
// comes in, because the linker could pick a copy that older processors cannot run.
//
// A compiler would love to drop, merge or reorder such loops. Values therefore pass through empty `asm volatile`
// statements: no instruction, but the value must stand in a register there. One instruction per load, store and
// multiply-add remains; docs/measuring.md says how that was checked.
#pragma once

#include "measure/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define ROOFLINE_REGISTER "v"
#define ROOFLINE_REGISTERS 32
#define ROOFLINE_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define ROOFLINE_REGISTER "x"
#define ROOFLINE_REGISTERS 16
#define ROOFLINE_VECTOR_BYTES 32
#elif defined(__x86_64__)
#define ROOFLINE_REGISTER "x"
#define ROOFLINE_REGISTERS 16
#define ROOFLINE_VECTOR_BYTES 16
#elif defined(__aarch64__)
#define ROOFLINE_REGISTER "w"
#define ROOFLINE_REGISTERS 32
#define ROOFLINE_VECTOR_BYTES 16
#endif

#ifdef ROOFLINE_REGISTER

#if defined(__FMA__) || defined(__aarch64__)
#define ROOFLINE_HAS_FMA 1
#endif

#ifdef __clang__
#define ROOFLINE_UNROLL _Pragma("unroll")
#else
#define ROOFLINE_UNROLL _Pragma("GCC unroll 64")
#endif

namespace roofline::measure {
namespace {

using Doubles = double __attribute__((vector_size(ROOFLINE_VECTOR_BYTES), may_alias));
using Floats = float __attribute__((vector_size(ROOFLINE_VECTOR_BYTES), may_alias));
constexpr std::size_t kVector = ROOFLINE_VECTOR_BYTES;

#define ROOFLINE_KEEP(v) asm volatile("" : "+" ROOFLINE_REGISTER(v))
#define ROOFLINE_USE(v) asm volatile("" ::ROOFLINE_REGISTER(v))
#define ROOFLINE_FENCE() asm volatile("" ::: "memory")

inline Doubles load(const char* p) { return *reinterpret_cast<const Doubles*>(p); }

inline void store(char* p, Doubles v) {
  *reinterpret_cast<Doubles*>(p) = v;
  ROOFLINE_FENCE();
}

#if defined(__x86_64__)
inline void store_nt(char* p, Doubles v) {
  auto* to = reinterpret_cast<double*>(p);
#if ROOFLINE_VECTOR_BYTES == 64
  _mm512_stream_pd(to, v);
#elif ROOFLINE_VECTOR_BYTES == 32
  _mm256_stream_pd(to, v);
#else
  _mm_stream_pd(to, v);
#endif
  ROOFLINE_FENCE();
}
inline void drain() { _mm_sfence(); }
#else
inline void store_nt(char* p, Doubles v) { store(p, v); }
inline void drain() {}
#endif

template <bool NonTemporal>
inline void put(char* p, Doubles v) {
  if constexpr (NonTemporal)
    store_nt(p, v);
  else
    store(p, v);
}

template <bool NonTemporal>
inline void finish() {
  if constexpr (NonTemporal) drain();
}

inline Doubles splat(double x) {
  Doubles v = Doubles{} + x;
  ROOFLINE_KEEP(v);
  return v;
}
inline Floats splat(float x) {
  Floats v = Floats{} + x;
  ROOFLINE_KEEP(v);
  return v;
}

void read(const char* a, std::size_t bytes, std::size_t passes) {
  for (std::size_t pass = 0; pass < passes; ++pass) {
    ROOFLINE_FENCE();
    for (const char *p = a, *end = a + bytes; p != end; p += kBlock) {
      ROOFLINE_UNROLL
      for (std::size_t i = 0; i < kBlock; i += kVector) {
        const Doubles v = load(p + i);
        ROOFLINE_USE(v);
      }
    }
  }
}

template <bool NonTemporal>
void write(char* a, std::size_t bytes, std::size_t passes) {
  const Doubles v = splat(1.5);
  for (std::size_t pass = 0; pass < passes; ++pass)
    for (char *p = a, *end = a + bytes; p != end; p += kBlock) {
      ROOFLINE_UNROLL
      for (std::size_t i = 0; i < kBlock; i += kVector) put<NonTemporal>(p + i, v);
    }
  finish<NonTemporal>();
}

template <bool NonTemporal>
void copy(char* a, const char* b, std::size_t bytes, std::size_t passes) {
  for (std::size_t pass = 0; pass < passes; ++pass)
    for (std::size_t at = 0; at != bytes; at += kBlock) {
      ROOFLINE_UNROLL
      for (std::size_t i = 0; i < kBlock; i += kVector) put<NonTemporal>(a + at + i, load(b + at + i));
    }
  finish<NonTemporal>();
}

template <bool NonTemporal>
void triad(char* a, const char* b, const char* c, std::size_t bytes, std::size_t passes) {
  const Doubles s = splat(0.42);
  for (std::size_t pass = 0; pass < passes; ++pass)
    for (std::size_t at = 0; at != bytes; at += kBlock) {
      ROOFLINE_UNROLL
      for (std::size_t i = 0; i < kBlock; i += kVector)
        put<NonTemporal>(a + at + i, load(b + at + i) + s * load(c + at + i));
    }
  finish<NonTemporal>();
}

// ---------------------------------------------------------------- arithmetic

// Chains f = f m + c settle near 1, chains a = a + c grow too slowly to matter: no denormals, no infinities. There are
// enough chains to hide the latency of two units of each kind, and few enough for the registers. Variables have names
// because arrays do not reliably become registers.
#define ROOFLINE_CHAIN(n) auto n = splat(start);
#define ROOFLINE_FMA(n) \
  n = n * m + c;        \
  ROOFLINE_KEEP(n);
#define ROOFLINE_ADD(n) \
  n = n + c;            \
  ROOFLINE_KEEP(n);
#define ROOFLINE_MUL(n) \
  n = n * m;            \
  ROOFLINE_KEEP(n);

// One function: `turns` times the instructions, twice.
#define ROOFLINE_COMPUTE(name, chains, instructions) \
  template <typename T>                              \
  void name(std::size_t turns) {                     \
    const T start = 1;                               \
    const auto m = splat(T(0.999999));               \
    const auto c = splat(T(0.000001));               \
    chains;                                          \
    for (std::size_t i = 0; i < turns; ++i) {        \
      instructions;                                  \
      instructions;                                  \
    }                                                \
  }

#define ROOFLINE_F(X) ROOFLINE_##X
#define ROOFLINE_CHAINS_4(p) ROOFLINE_CHAIN(p##0) ROOFLINE_CHAIN(p##1) ROOFLINE_CHAIN(p##2) ROOFLINE_CHAIN(p##3)
#define ROOFLINE_CHAINS_6(p) ROOFLINE_CHAINS_4(p) ROOFLINE_CHAIN(p##4) ROOFLINE_CHAIN(p##5)
#define ROOFLINE_CHAINS_8(p) ROOFLINE_CHAINS_6(p) ROOFLINE_CHAIN(p##6) ROOFLINE_CHAIN(p##7)
#define ROOFLINE_CHAINS_12(p) \
  ROOFLINE_CHAINS_8(p) ROOFLINE_CHAIN(p##8) ROOFLINE_CHAIN(p##9) ROOFLINE_CHAIN(p##10) ROOFLINE_CHAIN(p##11)

#define ROOFLINE_EACH_12(OP, p) \
  OP(p##0) OP(p##1) OP(p##2) OP(p##3) OP(p##4) OP(p##5) OP(p##6) OP(p##7) OP(p##8) OP(p##9) OP(p##10) OP(p##11)
// Two of one for one of the other, evenly mixed: schedulers see both kinds at all times.
#define ROOFLINE_8_TO_4(OP, p, OQ, q) \
  OP(p##0) OP(p##1) OQ(q##0) OP(p##2) OP(p##3) OQ(q##1) OP(p##4) OP(p##5) OQ(q##2) OP(p##6) OP(p##7) OQ(q##3)
#define ROOFLINE_8_TO_6(OP, p, OQ, q) \
  OP(p##0)                            \
  OQ(q##0) OP(p##1) OQ(q##1) OP(p##2) OQ(q##2) OP(p##3) OP(p##4) OQ(q##3) OP(p##5) OQ(q##4) OP(p##6) OQ(q##5) OP(p##7)
#define ROOFLINE_6_TO_6(OP, p, OQ, q) \
  OP(p##0) OQ(q##0) OP(p##1) OQ(q##1) OP(p##2) OQ(q##2) OP(p##3) OQ(q##3) OP(p##4) OQ(q##4) OP(p##5) OQ(q##5)

#ifdef ROOFLINE_HAS_FMA
ROOFLINE_COMPUTE(fma12, ROOFLINE_CHAINS_12(f), ROOFLINE_EACH_12(ROOFLINE_FMA, f))
ROOFLINE_COMPUTE(fma8_add4, ROOFLINE_CHAINS_8(f) ROOFLINE_CHAINS_4(a),
                 ROOFLINE_8_TO_4(ROOFLINE_FMA, f, ROOFLINE_ADD, a))
ROOFLINE_COMPUTE(fma8_add6, ROOFLINE_CHAINS_8(f) ROOFLINE_CHAINS_6(a),
                 ROOFLINE_8_TO_6(ROOFLINE_FMA, f, ROOFLINE_ADD, a))
ROOFLINE_COMPUTE(fma6_add6, ROOFLINE_CHAINS_6(f) ROOFLINE_CHAINS_6(a),
                 ROOFLINE_6_TO_6(ROOFLINE_FMA, f, ROOFLINE_ADD, a))
#if ROOFLINE_REGISTERS == 32
ROOFLINE_COMPUTE(fma24, ROOFLINE_CHAINS_12(f) ROOFLINE_CHAINS_12(g),
                 ROOFLINE_EACH_12(ROOFLINE_FMA, f) ROOFLINE_EACH_12(ROOFLINE_FMA, g))
ROOFLINE_COMPUTE(fma16_add8, ROOFLINE_CHAINS_8(f) ROOFLINE_CHAINS_8(g) ROOFLINE_CHAINS_4(a) ROOFLINE_CHAINS_4(b),
                 ROOFLINE_8_TO_4(ROOFLINE_FMA, f, ROOFLINE_ADD, a) ROOFLINE_8_TO_4(ROOFLINE_FMA, g, ROOFLINE_ADD, b))
ROOFLINE_COMPUTE(fma12_add12, ROOFLINE_CHAINS_6(f) ROOFLINE_CHAINS_6(g) ROOFLINE_CHAINS_6(a) ROOFLINE_CHAINS_6(b),
                 ROOFLINE_6_TO_6(ROOFLINE_FMA, f, ROOFLINE_ADD, a) ROOFLINE_6_TO_6(ROOFLINE_FMA, g, ROOFLINE_ADD, b))
#endif
#else
ROOFLINE_COMPUTE(mul8_add4, ROOFLINE_CHAINS_8(f) ROOFLINE_CHAINS_4(a),
                 ROOFLINE_8_TO_4(ROOFLINE_MUL, f, ROOFLINE_ADD, a))
ROOFLINE_COMPUTE(mul6_add6, ROOFLINE_CHAINS_6(f) ROOFLINE_CHAINS_6(a),
                 ROOFLINE_6_TO_6(ROOFLINE_MUL, f, ROOFLINE_ADD, a))
#endif

// Operations of one turn: every instruction stands there twice.
template <typename T>
constexpr double operations(int fma, int single) {
  return 2.0 * (2 * fma + single) * (static_cast<double>(kVector) / sizeof(T));
}

#define ROOFLINE_BOTH(function, what, mix, fma, single)                            \
  {"fp64.vector", what, mix, operations<double>(fma, single), function<double>}, { \
    "fp32.vector", what, mix, operations<float>(fma, single), function<float>      \
  }

constexpr ComputeKernel kCompute[] = {
#ifdef ROOFLINE_HAS_FMA
    ROOFLINE_BOTH(fma12, "FMA", false, 12, 0),
    ROOFLINE_BOTH(fma8_add4, "2 FMA : 1 ADD", true, 8, 4),
    ROOFLINE_BOTH(fma8_add6, "4 FMA : 3 ADD", true, 8, 6),
    ROOFLINE_BOTH(fma6_add6, "1 FMA : 1 ADD", true, 6, 6),
#if ROOFLINE_REGISTERS == 32
    ROOFLINE_BOTH(fma24, "FMA", false, 24, 0),
    ROOFLINE_BOTH(fma16_add8, "2 FMA : 1 ADD", true, 16, 8),
    ROOFLINE_BOTH(fma12_add12, "1 FMA : 1 ADD", true, 12, 12),
#endif
#else
    ROOFLINE_BOTH(mul6_add6, "1 MUL : 1 ADD", false, 0, 12),
    ROOFLINE_BOTH(mul8_add4, "2 MUL : 1 ADD", true, 0, 12),
#endif
};

#if defined(__x86_64__)
#define ROOFLINE_NT(function) function
#else
#define ROOFLINE_NT(function) nullptr
#endif

constexpr KernelSet make_set(const char* isa) {
  return {isa,
          read,
          write<false>,
          copy<false>,
          triad<false>,
          ROOFLINE_NT(write<true>),
          ROOFLINE_NT(copy<true>),
          ROOFLINE_NT(triad<true>),
          kCompute,
          sizeof(kCompute) / sizeof(kCompute[0])};
}

}  // namespace
}  // namespace roofline::measure

#endif  // ROOFLINE_REGISTER
