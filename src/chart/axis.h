// A logarithmic axis with ticks at the decades.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roofline::chart {

class LogAxis {
 public:
  // From data coordinates to the stretch from `begin` to `end` of the surface. Values <= 0 must not be given.
  LogAxis(double low, double high, double begin, double end);

  double at(double value) const;
  double low() const;
  double high() const;
  // Powers of ten within the axis; at most `most` of them, evenly spaced.
  std::vector<int> decades(std::size_t most) const;
  // 2, 3, ... 9 times each power of ten.
  std::vector<double> between() const;

 private:
  double low_, high_;  // log10
  double begin_, end_;
};

// 10^exponent with a prefix: "10 G", "0.01", "1 k".
std::string decade_text(int exponent, std::string_view unit, bool unicode);

}  // namespace roofline::chart
