// Numbers that decide whether two sides may be set against each other.
#pragma once

#include <algorithm>

namespace roofline::comparing {

// Relative difference of clocks from which times are not those of one setting: locked clocks repeat within 1 %.
inline constexpr double kClockMargin = 0.03;

inline bool clocks_differ(double a, double b) { return std::max(a, b) > (1 + kClockMargin) * std::min(a, b); }

}  // namespace roofline::comparing
