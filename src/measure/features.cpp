// Which kernels this processor can run.
#include <array>

#include "measure/kernels.h"

namespace roofline::measure {
namespace {

constexpr std::size_t kMostSets = 4;

std::array<const KernelSet*, kMostSets> find_sets() {
  std::array<const KernelSet*, kMostSets> sets{};
  std::size_t count = 0;
  const auto add = [&](const KernelSet* set) {
    if (set != nullptr) sets.at(count++) = set;
  };
  add(baseline_kernels());
#if defined(__x86_64__)
  // These builtins also ask the system whether it keeps the wide registers.
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) add(avx2_kernels());
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    add(avx512_kernels());
#endif
  return sets;
}

}  // namespace

const KernelSet* const* kernel_sets() {
  static const auto kSets = find_sets();
  return kSets.data();
}

const ComputeKernel* bf16_kernel() {
#if defined(__x86_64__)
  if (avx512_bf16_kernel() != nullptr && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512f"))
    return avx512_bf16_kernel();
#endif
  return nullptr;
}

const ComputeKernel* int8_kernel() {
#if defined(__x86_64__)
  if (avx512_vnni_kernel() != nullptr && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512f"))
    return avx512_vnni_kernel();
#endif
  return nullptr;
}

}  // namespace roofline::measure
