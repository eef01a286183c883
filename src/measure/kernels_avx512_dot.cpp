// Dot products of BF16 and INT8: compiled for AVX512_BF16 and AVX512_VNNI. Nothing of this file may run before the
// processor was asked for the very extension.
#include "measure/kernels.h"

#if defined(__AVX512BF16__) && defined(__AVX512VNNI__)
#include <immintrin.h>

namespace roofline::measure {
namespace {

// An accumulator of FP32 or INT32, and what one instruction adds to it.
#define ROOFLINE_EACH_16(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define ROOFLINE_START(i) auto s##i = zero;
#define ROOFLINE_STEP(i)           \
  s##i = ROOFLINE_DOT(s##i, a, b); \
  asm volatile("" : "+v"(s##i));

void bf16(std::size_t turns) {
  const __m512 zero = _mm512_setzero_ps();
  const __m512 half = _mm512_set1_ps(0.0078F);
  __m512bh a = _mm512_cvtne2ps_pbh(half, half);
  __m512bh b = a;
  asm volatile("" : "+v"(a), "+v"(b));
  ROOFLINE_EACH_16(ROOFLINE_START)
#define ROOFLINE_DOT _mm512_dpbf16_ps
  for (std::size_t i = 0; i < turns; ++i) {
    ROOFLINE_EACH_16(ROOFLINE_STEP)
  }
#undef ROOFLINE_DOT
}

void int8(std::size_t turns) {
  const __m512i zero = _mm512_setzero_si512();
  __m512i a = _mm512_set1_epi8(3);
  __m512i b = _mm512_set1_epi8(-5);
  asm volatile("" : "+v"(a), "+v"(b));
  ROOFLINE_EACH_16(ROOFLINE_START)
#define ROOFLINE_DOT _mm512_dpbusd_epi32
  for (std::size_t i = 0; i < turns; ++i) {
    ROOFLINE_EACH_16(ROOFLINE_STEP)
  }
#undef ROOFLINE_DOT
}

constexpr double kInstructions = 16;
constexpr ComputeKernel kBf16 = {"bf16.vector", "dot product, FP32 sums", false, kInstructions * 32 * 2, bf16};
constexpr ComputeKernel kInt8 = {"int8.vector", "dot product, INT32 sums", false, kInstructions * 64 * 2, int8};

}  // namespace

const ComputeKernel* avx512_bf16_kernel() { return &kBf16; }
const ComputeKernel* avx512_vnni_kernel() { return &kInt8; }

}  // namespace roofline::measure

#else

namespace roofline::measure {
const ComputeKernel* avx512_bf16_kernel() { return nullptr; }
const ComputeKernel* avx512_vnni_kernel() { return nullptr; }
}  // namespace roofline::measure

#endif
