#include "chart/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace roofline::chart {
namespace {

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  void add(double v) {
    if (!std::isfinite(v) || v <= 0) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  bool empty() const { return high <= 0; }
};

double extreme_roof(const Chart& chart, ChartRoof::Kind kind, ChartRoof::Role role) {
  double most = 0;
  for (const auto& r : chart.roofs)
    if (r.kind == kind && r.role == role) most = std::max(most, r.value);
  return most;
}

}  // namespace

Ranges data_ranges(const Chart& chart) {
  constexpr double kMargin = 2.2;  // factor around the data
  Extent x;
  Extent y;
  Ranges out;
  for (const auto& p : chart.points) {
    if (p.intensity && p.flops_per_s) {
      x.add(*p.intensity);
      y.add(*p.flops_per_s);
    }
    if (p.roof_flops_per_s && p.look) y.add(*p.roof_flops_per_s);
    if (p.dram_fraction) out.strip_high = std::max(out.strip_high, *p.dram_fraction);
  }
  out.strip_high *= 1.04;
  for (const auto& r : chart.ridges) x.add(r.intensity);
  for (const auto& r : chart.roofs)
    if (r.kind == ChartRoof::Kind::compute) y.add(r.value);
  if (x.empty()) x = {0.1, 100};
  if (y.empty()) y = {1e9, 1e13};
  // Room to the left of the ridge for the slope, to the right of it for the flat roof.
  out.x_low = std::min(x.low / kMargin, x.high / 300);
  out.x_high = x.high * 2 * kMargin;
  out.y_low = std::min(y.low / kMargin, y.high / 150);
  out.y_high = y.high * kMargin;
  return out;
}

RoofSpan roof_span(const Chart& chart, const ChartRoof& roof, const Ranges& r) {
  if (roof.kind == ChartRoof::Kind::memory) {
    const double peak = extreme_roof(chart, ChartRoof::Kind::compute, roof.role);
    const double top = peak > 0 ? std::min(peak, r.y_high) : r.y_high;
    const double from_x = std::clamp(r.y_low / roof.value, r.x_low, r.x_high);
    const double to_x = std::clamp(top / roof.value, r.x_low, r.x_high);
    return {from_x, std::clamp(from_x * roof.value, r.y_low, r.y_high), to_x,
            std::clamp(to_x * roof.value, r.y_low, r.y_high)};
  }
  const double fastest = extreme_roof(chart, ChartRoof::Kind::memory, roof.role);
  const double from_x = fastest > 0 ? std::clamp(roof.value / fastest, r.x_low, r.x_high) : r.x_low;
  return {from_x, roof.value, r.x_high, roof.value};
}

}  // namespace roofline::chart
