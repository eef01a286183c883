// Compiled for AVX2 and FMA: nothing of this file may run before the processor was asked for both.
#include "measure/kernels_body.h"

namespace roofline::measure {

const KernelSet* avx2_kernels() {
#if defined(__AVX2__) && defined(__FMA__)
  static constexpr KernelSet kSet = make_set("AVX2");
  return &kSet;
#else
  return nullptr;
#endif
}

}  // namespace roofline::measure
