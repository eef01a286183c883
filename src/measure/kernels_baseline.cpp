// What every processor of the architecture runs, and the loops that need no vectors.
#include "measure/kernels_body.h"

namespace roofline::measure {

const KernelSet* baseline_kernels() {
#if defined(__x86_64__)
  static constexpr KernelSet kSet = make_set("SSE2");
  return &kSet;
#elif defined(__aarch64__)
  static constexpr KernelSet kSet = make_set("NEON");
  return &kSet;
#else
  return nullptr;
#endif
}

void* chase(void* start, std::size_t steps) {
  void** p = static_cast<void**>(start);
  for (; steps >= 8; steps -= 8) {
    for (int i = 0; i < 8; ++i) {
      p = static_cast<void**>(*p);
      asm volatile("" : "+r"(p));
    }
  }
  for (; steps > 0; --steps) p = static_cast<void**>(*p);
  return p;
}

std::size_t dependent_adds(std::size_t turns) {
  std::size_t x = 1;
#define ROOFLINE_ADD_ONE \
  x += 1;                \
  asm volatile("" : "+r"(x));
#define ROOFLINE_ADD_EIGHT                                                                              \
  ROOFLINE_ADD_ONE ROOFLINE_ADD_ONE ROOFLINE_ADD_ONE ROOFLINE_ADD_ONE ROOFLINE_ADD_ONE ROOFLINE_ADD_ONE \
      ROOFLINE_ADD_ONE ROOFLINE_ADD_ONE
  for (std::size_t i = 0; i < turns; ++i) {
    ROOFLINE_ADD_EIGHT ROOFLINE_ADD_EIGHT ROOFLINE_ADD_EIGHT ROOFLINE_ADD_EIGHT ROOFLINE_ADD_EIGHT ROOFLINE_ADD_EIGHT
        ROOFLINE_ADD_EIGHT ROOFLINE_ADD_EIGHT
  }
  return x;
}

}  // namespace roofline::measure
