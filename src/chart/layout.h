// Lays a chart out on a surface.
#pragma once

#include <string>
#include <string_view>

#include "chart/scene.h"
#include "chart/surface.h"
#include "roofline/chart.h"

namespace roofline::chart {

Scene lay_out(const Chart& chart, const Surface& surface);

// Text from a file made fit to be shown: no control characters, no piles of combining marks, at most `columns` columns.
std::string shown_text(std::string_view text, std::size_t columns, bool unicode);

}  // namespace roofline::chart
