#include "chart/geometry.h"

namespace roofline::chart {

// Liang and Barsky's clipping: the part of the segment inside each half-plane.
bool crosses(Point a, Point b, const Box& box) {
  double enter = 0;
  double leave = 1;
  const auto clip = [&](double delta, double room) {
    if (delta == 0) return room >= 0;
    const double t = room / delta;
    if (delta < 0)
      enter = std::max(enter, t);
    else
      leave = std::min(leave, t);
    return enter <= leave;
  };
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  return clip(-dx, a.x - box.left) && clip(dx, box.right - a.x) && clip(-dy, a.y - box.top) &&
         clip(dy, box.bottom - a.y);
}

}  // namespace roofline::chart
