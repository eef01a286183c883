// Cells of the model's tables.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "report/numbers.h"
#include "roofline/document.h"

namespace roofline::model::cells {

// "74%"; "29.9×" from 1000 % on, where a percentage is hard to read.
inline std::string percent(double fraction) {
  constexpr double kFactor = 10;
  if (fraction < kFactor) return numbers::percent(fraction);
  return fmt::format("{:.{}f}×", fraction, fraction < 100 ? 1 : 0);
}
// "74% of the roof", "29.9× the roof".
inline std::string percent_of(double fraction, std::string_view what) {
  const auto text = percent(fraction);
  return fmt::format("{}{}{}", text, text.ends_with('%') ? " of " : " ", what);
}

inline Cell text(std::string s, Tone tone = Tone::normal) { return {std::move(s), std::nullopt, tone}; }
inline Cell count(double value) { return {numbers::count(value), value}; }
inline Cell amount(std::optional<double> value, std::string_view unit) {
  if (!value) return {};
  return {si(*value, unit), value};
}
inline Cell seconds(std::optional<double> value) { return amount(value, "s"); }
inline Cell ratio(std::optional<double> value) {
  if (!value) return {};
  return {numbers::ratio(*value), value};
}
inline Cell share(std::optional<double> value) {
  if (!value) return {};
  return {numbers::share(*value), value};
}
inline Cell times(std::optional<double> value) {
  if (!value) return {};
  return {fmt::format("{:.2f}×", *value), value};
}

inline Column number(std::string_view title, std::string_view key, int drop_order = 0) {
  return {std::string(title), std::string(key), Align::right, false, drop_order, false};
}
inline Column words(std::string_view title, std::string_view key, int drop_order = 0) {
  return {std::string(title), std::string(key), Align::left, true, drop_order, false};
}

}  // namespace roofline::model::cells
