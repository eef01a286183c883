#include "report/numbers.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "roofline/document.h"

namespace roofline {
namespace {

constexpr int kLowestPrefix = -5;
constexpr std::array<std::string_view, 14> kPrefixes = {"f", "p", "n", "µ", "m", "",  "k",
                                                        "M", "G", "T", "P", "E", "Z", "Y"};

// A value rounded to three significant digits: mantissa in [1, 10) and its power of ten. Rounding first decides the
// prefix: 999.9 k is 1.00 M.
struct Rounded {
  double mantissa;
  int exponent;
};
Rounded round3(double value) {
  const auto written = fmt::format("{:.2e}", value);  // "-1.23e+09"
  const auto e = written.find('e');
  const char* exponent = written.data() + e + (written[e + 1] == '+' ? 2 : 1);
  Rounded out{0, 0};
  std::from_chars(written.data(), written.data() + e, out.mantissa);
  std::from_chars(exponent, written.data() + written.size(), out.exponent);
  return out;
}

int floor_div3(int n) { return n >= 0 ? n / 3 : -((2 - n) / 3); }

}  // namespace

std::string si(double value, std::string_view unit, bool unicode) {
  if (!std::isfinite(value)) return unicode ? "—" : "-";
  const std::string space = unit.empty() ? "" : " ";
  if (value == 0) return fmt::format("0{}{}", space, unit);
  const auto r = round3(value);
  const int group = floor_div3(r.exponent);
  const auto index = static_cast<std::size_t>(group - kLowestPrefix);
  if (group < kLowestPrefix || index >= kPrefixes.size()) return fmt::format("{:.2e}{}{}", value, space, unit);
  if (group == 0 && value == std::round(value)) return fmt::format("{:.0f}{}{}", value, space, unit);
  const int shift = r.exponent - 3 * group;
  auto out = fmt::format("{:.{}f}", r.mantissa * std::pow(10.0, shift), 2 - shift);
  auto prefix = kPrefixes[index];
  if (!unicode && prefix == "µ") prefix = "u";
  if (!prefix.empty() || !unit.empty()) out += fmt::format(" {}{}", prefix, unit);
  return out;
}

namespace numbers {

std::string percent(double fraction) {
  const double p = 100 * fraction;
  if (p == 0) return "0%";
  if (p < 0.005) return "<0.01%";
  if (p < 0.095) return fmt::format("{:.2f}%", p);
  return fmt::format("{:.{}f}%", p, p < 9.95 ? 1 : 0);
}

std::string percent_below(double fraction, double limit) {
  const bool lifted = fraction < limit && std::round(100 * fraction) >= 100 * limit;
  return lifted ? fmt::format("{:.1f}%", std::floor(1000 * fraction) / 10) : percent(fraction);
}

std::string percent_at_least(double fraction) {
  const auto text = percent(fraction);
  return "≥ " + (text.starts_with('<') ? "0%" : text);
}

std::string percent_range(double low, double high) {
  auto from = percent(low);
  const auto to = percent(high);
  if (from == to) return from;
  from.pop_back();
  return from + "–" + to;
}

std::string share(double fraction) {
  const double p = 100 * fraction;
  if (p == 0) return "0%";
  if (p < 0.05) return "<0.1%";
  return fmt::format("{:.{}f}%", p, p >= 99.95 ? 0 : 1);
}

std::string ratio(double value) {
  if (value == 0) return "0";
  if (value < 0.01 || value >= 1e6) return fmt::format("{:.2e}", value);
  const auto r = round3(value);
  if (r.exponent >= 2) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, 2 - r.exponent);
}

std::string base(double value, std::string_view unit) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  const std::string space = unit.empty() ? "" : " ";
  if (value == std::round(value) && std::abs(value) < kExactIntegers)
    return fmt::format("{:.0f}{}{}", value, space, unit);
  return fmt::format("{:.6g}{}{}", value, space, unit);
}

std::string count(double value) { return value == std::round(value) ? fmt::format("{:.0f}", value) : ratio(value); }

std::string counted(std::size_t n, std::string_view singular) {
  return fmt::format("{} {}{}", n, singular, n == 1 ? "" : "s");
}

}  // namespace numbers
}  // namespace roofline
