// Points and boxes on a surface; y grows downwards.
#pragma once

#include <algorithm>
#include <cmath>

namespace roofline::chart {

struct Point {
  double x = 0, y = 0;
};

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
  bool contains(Point p) const { return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom; }
  bool contains(const Box& b) const { return b.left >= left && b.right <= right && b.top >= top && b.bottom <= bottom; }
  bool overlaps(const Box& b) const { return left < b.right && b.left < right && top < b.bottom && b.top < bottom; }
  Box grown(double by) const { return {left - by, top - by, right + by, bottom + by}; }
  Point nearest(Point p) const { return {std::clamp(p.x, left, right), std::clamp(p.y, top, bottom)}; }
};

inline double distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

// Whether the segment a-b passes through the box.
bool crosses(Point a, Point b, const Box& box);

}  // namespace roofline::chart
