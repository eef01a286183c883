#include "chart/axis.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace roofline::chart {

LogAxis::LogAxis(double low, double high, double begin, double end)
    : low_(std::log10(low)), high_(std::log10(high)), begin_(begin), end_(end) {}

double LogAxis::at(double value) const {
  return begin_ + (std::log10(value) - low_) / (high_ - low_) * (end_ - begin_);
}
double LogAxis::low() const { return std::pow(10.0, low_); }
double LogAxis::high() const { return std::pow(10.0, high_); }

std::vector<int> LogAxis::decades(std::size_t most) const {
  // Powers that a rounding error puts just outside still count.
  constexpr double kSlack = 1e-9;
  const int first = static_cast<int>(std::ceil(low_ - kSlack));
  const int last = static_cast<int>(std::floor(high_ + kSlack));
  std::vector<int> out;
  if (last < first) return out;
  const auto count = static_cast<std::size_t>(last - first) + 1;
  const int step = static_cast<int>((count + most - 1) / std::max<std::size_t>(most, 1));
  for (int e = first; e <= last; ++e)
    if (e % step == 0) out.push_back(e);
  return out;
}

std::vector<double> LogAxis::between() const {
  std::vector<double> out;
  for (int e = static_cast<int>(std::floor(low_)); e <= static_cast<int>(std::ceil(high_)); ++e)
    for (int digit = 2; digit <= 9; ++digit)
      if (const double v = digit * std::pow(10.0, e); std::log10(v) >= low_ && std::log10(v) <= high_) out.push_back(v);
  return out;
}

std::string decade_text(int exponent, std::string_view unit, bool unicode) {
  static constexpr std::array<std::string_view, 9> kPrefixes = {"n", "µ", "m", "", "k", "M", "G", "T", "P"};
  const int group = static_cast<int>(std::floor(exponent / 3.0));
  const auto index = static_cast<std::size_t>(group) + 3;
  const auto plain = [&] { return fmt::format("1e{}{}{}", exponent, unit.empty() ? "" : " ", unit); };
  if (group < -3 || index >= kPrefixes.size()) return plain();
  // A ratio reads better as 0.01 than as 10 m.
  if (unit.empty() && exponent < 0)
    return exponent >= -3 ? fmt::format("{:.{}f}", std::pow(10.0, exponent), -exponent) : plain();
  auto prefix = kPrefixes[index];
  if (!unicode && prefix == "µ") prefix = "u";
  const int mantissa = static_cast<int>(std::lround(std::pow(10.0, exponent - 3 * group)));
  return fmt::format("{}{}{}{}", mantissa, prefix.empty() && unit.empty() ? "" : " ", prefix, unit);
}

}  // namespace roofline::chart
