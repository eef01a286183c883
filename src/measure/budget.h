// Time shared out over figures.
#pragma once

#include <algorithm>
#include <cstddef>

namespace roofline::measure {

// What is left of the time is divided evenly over the figures that are left: what one does not use, the others get, and
// what one takes too long, the others lack.
class Budget {
 public:
  explicit Budget(double end) : end_(end) {}

  void plan(std::size_t figures) { left_ = figures; }
  // Seconds that the next figure may take, of which no more than `most` are wanted. It is off the plan then.
  double take(double now, double most) {
    const double share = std::max(0.0, end_ - now) / static_cast<double>(std::max<std::size_t>(1, left_));
    if (left_ > 0) --left_;
    return std::min(share, most);
  }
  double end() const { return end_; }

 private:
  double end_;
  std::size_t left_ = 0;
};

}  // namespace roofline::measure
