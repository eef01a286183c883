// The median of a sample.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace roofline {

// Of an even count the mean of the middle two; nullopt of nothing. Linear time.
inline std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace roofline
