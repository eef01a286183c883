#include "roofline/error.h"

#include <fmt/format.h>

namespace roofline {
namespace {

std::string one_line(const InputProblem& p) {
  std::string text = p.path;
  if (p.line) text += fmt::format(":{}", *p.line);
  text += ": ";
  text += p.found;
  if (p.offset) text += fmt::format(" at byte {}", *p.offset);
  if (!p.expected.empty()) text += fmt::format("; expected {}", p.expected);
  if (!p.action.empty()) text += fmt::format("; {}", p.action);
  return text;
}

}  // namespace

InputError::InputError(InputProblem problem) : std::runtime_error(one_line(problem)), problem_(std::move(problem)) {}

}  // namespace roofline
