#include "cli/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

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
  double number = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  auto unit = std::string(parsed.ptr, end);
  unit.erase(0, unit.find_first_not_of(' '));
  const double hertz = parsed.ec == std::errc{} ? number * factor_of(unit) : 0;
  if (hertz >= kLowest && hertz <= kHighest) return hertz;
  throw UsageError(
      fmt::format("{} {}: expected a clock of 1 MHz to 100 GHz, such as 1755, 1755MHz or 1.755GHz", option, text));
}

}  // namespace roofline::cli
