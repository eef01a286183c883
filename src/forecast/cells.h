// Cells of the model's tables.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "report/numbers.h"
#include "roofline/document.h"

namespace roofline::model::cells {

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
