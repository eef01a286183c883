// Numbers as people read them.
#pragma once

#include <string>
#include <string_view>

namespace roofline::numbers {

// 0.973 -> "97%", 0.032 -> "3.2%", 0.0004 -> "0.04%"; "<0.01%" below that, never "0%" for something.
std::string percent(double fraction);
// The same, with a decimal more where rounding would lift it to a limit that it does not reach: "79.7%" of 0.80.
std::string percent_below(double fraction, double limit);
// "≥ 41%"; "≥ 0%" of what is below 0.01 %: "at least less than" says nothing.
std::string percent_at_least(double fraction);
// "41–85%"; one number where both ends read the same.
std::string percent_range(double low, double high);
// Shares of a whole, one decimal: "12.3%", "<0.1%".
std::string share(double fraction);
// A plain ratio with three significant digits: "2.00", "0.917", "296", "12345".
std::string ratio(double value);
// An SI number without prefix: "1610612736 B", "2.34e-05 s".
std::string base(double value, std::string_view unit);
// A count of things: no decimals where there are none.
std::string count(double value);
// "1 row", "12 rows".
std::string counted(std::size_t n, std::string_view singular);

}  // namespace roofline::numbers
