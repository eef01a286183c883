#include "roofline/names.h"

#include <algorithm>
#include <array>

namespace roofline {
namespace {

// Entry points of kernel libraries whose template arguments are the real name.
constexpr std::array<std::string_view, 9> kGenericNames = {"Kernel",        "Kernel2",     "kernel",
                                                           "device_kernel", "cuda_kernel", "kernel_impl",
                                                           "run",           "gemm_kernel", "launch_clamp_scalar"};

bool opens(char c) { return c == '<' || c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == '>' || c == ')' || c == ']' || c == '}'; }

// Start and end of the last name component at bracket depth 0 before the argument list.
struct Component {
  std::size_t begin = 0;
  std::size_t end = 0;       // of the plain name
  std::size_t args_end = 0;  // of its template arguments
};

Component last_component(std::string_view text) {
  Component current;
  Component best;
  int depth = 0;
  bool named = false;  // the current component has a plain name already
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0) {
      if (c == ' ' || (c == ':' && i + 1 < text.size() && text[i + 1] == ':')) {
        // "(anonymous namespace)::f", "type kernel<...>": what follows is the better name.
        if (c == ':') ++i;
        current = {i + 1, 0, 0};
        named = false;
        continue;
      }
    }
    if (opens(c)) {
      if (depth == 0 && c == '(' && named) break;  // the arguments
      if (depth == 0 && named && current.end == 0) current.end = i;
      ++depth;
    } else if (closes(c)) {
      depth = std::max(0, depth - 1);
      if (depth == 0 && current.end != 0) current.args_end = i + 1;
    } else if (depth == 0) {
      named = true;
      current.args_end = 0;
      current.end = 0;
    }
    if (depth == 0 && named) {
      best = current;
      best.args_end = std::max(current.args_end, i + 1);
      if (best.end == 0) best.end = i + 1;
    }
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
