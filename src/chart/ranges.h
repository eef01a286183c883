// What the axes must span.
#pragma once

#include "roofline/chart.h"

namespace roofline::chart {

struct Ranges {
  double x_low = 0, x_high = 0;  // FLOP/byte
  double y_low = 0, y_high = 0;  // FLOP/s
  double strip_high = 1;         // fraction of the DRAM roof
};
// Every point, ridge and compute roof lies inside.
Ranges data_ranges(const Chart& chart);

// The part of a roof that is drawn: memory roofs end at the highest compute roof, compute roofs start at the fastest
// memory roof.
struct RoofSpan {
  double from_x, from_y, to_x, to_y;
};
RoofSpan roof_span(const Chart& chart, const ChartRoof& roof, const Ranges& ranges);

}  // namespace roofline::chart
