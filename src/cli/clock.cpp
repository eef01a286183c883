#include "cli/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/amount.h"
#include "roofline/error.h"

namespace roofline::cli {
namespace {

double factor_of(std::string unit) {
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::tolower(c); });
  if (unit.empty() || unit == "mhz") return 1e6;
  if (unit == "ghz") return 1e9;
  if (unit == "khz") return 1e3;
  if (unit == "hz") return 1;
  return 0;
}

}  // namespace

double parse_clock(const std::string& text, const std::string& option) {
  constexpr double kLowest = 1e6;
  constexpr double kHighest = 100e9;
  const auto amount = parse_amount(text);
  const double hertz = amount ? amount->number * factor_of(amount->unit) : 0;
  if (hertz >= kLowest && hertz <= kHighest) return hertz;
  throw UsageError(
      fmt::format("{} {}: expected a clock of 1 MHz to 100 GHz, such as 1755, 1755MHz or 1.755GHz", option, text));
}

}  // namespace roofline::cli
