// Compiled for AVX-512 (F, BW, VL, DQ): nothing of this file may run before the processor was asked for it.
#include "measure/kernels_body.h"

namespace roofline::measure {

const KernelSet* avx512_kernels() {
#if defined(__AVX512F__)
  static constexpr KernelSet kSet = make_set("AVX-512");
  return &kSet;
#else
  return nullptr;
#endif
}

}  // namespace roofline::measure
