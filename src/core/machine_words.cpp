#include "roofline/machine_words.h"

#include <fmt/format.h>

namespace roofline {
namespace {

// AMD's architectures have names, NVIDIA's numbers.
bool is_gfx(std::string_view compute_capability) { return compute_capability.starts_with("gfx"); }

}  // namespace

std::string architecture_words(std::string_view compute_capability) {
  if (compute_capability.empty()) return {};
  return (is_gfx(compute_capability) ? "" : "CC ") + std::string(compute_capability);
}

std::string_view core_word(std::string_view compute_capability) { return is_gfx(compute_capability) ? "CU" : "SM"; }

std::string device_words(const Machine& m) {
  auto words = architecture_words(m.compute_capability);
  if (m.sm_count) {
    words += fmt::format("{}{} {}s", words.empty() ? "" : ", ", *m.sm_count, core_word(m.compute_capability));
  }
  return words;
}

}  // namespace roofline
