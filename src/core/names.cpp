#include "roofline/names.h"

#include <algorithm>
#include <array>

namespace roofline {
namespace {

// Entry points of kernel libraries whose template arguments are the real name.
constexpr std::array<std::string_view, 9> kGenericNames = {"Kernel",        "Kernel2",     "kernel",
                                                           "device_kernel", "cuda_kernel", "kernel_impl",
                                                           "run",           "gemm_kernel", "launch_clamp_scalar"};

// Nesting of each kind of bracket on its own: names of lambdas hold brackets that never close, or never open.
class Nesting {
 public:
  // Returns whether `c` is a bracket.
  bool step(char c) {
    if (const auto kind = kOpening.find(c); kind != std::string_view::npos) {
      ++depth_[kind];
      return true;
    }
    const auto kind = kClosing.find(c);
    if (kind == std::string_view::npos) return false;
    depth_[kind] = std::max(0, depth_[kind] - 1);
    return true;
  }
  bool outside() const {
    return std::all_of(depth_.begin(), depth_.end(), [](int d) { return d == 0; });
  }

 private:
  static constexpr std::string_view kOpening = "<([{";
  static constexpr std::string_view kClosing = ">)]}";
  std::array<int, kOpening.size()> depth_{};
};

// Start and end of the last name component at bracket depth 0 before the argument list.
struct Component {
  std::size_t begin = 0;
  std::size_t end = 0;       // of the plain name
  std::size_t args_end = 0;  // of its template arguments
};

Component last_component(std::string_view text) {
  Component current;
  Component best;
  Nesting nesting;
  bool named = false;  // the current component has a plain name already
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool outside = nesting.outside();
    if (outside && (c == ' ' || text.substr(i, 2) == "::")) {
      // "(anonymous namespace)::f", "type kernel<...>": what follows is the better name.
      if (c == ':') ++i;
      current = {i + 1, 0, 0};
      named = false;
      continue;
    }
    if (outside && c == '(' && named) break;  // the arguments
    if (!nesting.step(c)) {
      if (!outside) continue;
      named = true;
      current.end = current.args_end = i + 1;
    } else if (nesting.outside() && current.end != 0) {
      current.args_end = i + 1;
    }
    if (named && nesting.outside()) best = current;
  }
  return best;
}

}  // namespace

std::string short_kernel_name(std::string_view demangled) {
  const auto c = last_component(demangled);
  if (c.end <= c.begin || c.end > demangled.size()) return std::string(demangled);
  const auto name = demangled.substr(c.begin, c.end - c.begin);
  const bool generic = std::find(kGenericNames.begin(), kGenericNames.end(), name) != kGenericNames.end();
  if (generic && c.args_end > c.end) return std::string(demangled.substr(c.begin, c.args_end - c.begin));
  return std::string(name);
}

}  // namespace roofline
