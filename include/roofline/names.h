// Kernel names as people say them.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

// The function name out of a demangled kernel name: no return type, namespaces, arguments or template arguments.
// Names that say nothing by themselves (Kernel, device_kernel, ...) keep their template arguments.
//   "void at::native::vectorized_elementwise_kernel<4, ...>(int, ...)" -> "vectorized_elementwise_kernel"
//   "void cutlass::Kernel2<cutlass_80_tensorop_...>(Params)"          -> "Kernel2<cutlass_80_tensorop_...>"
std::string short_kernel_name(std::string_view demangled);

}  // namespace roofline
