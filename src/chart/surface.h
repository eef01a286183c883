// What a layout must know of the medium: its size, its characters, its distances.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "chart/scene.h"

namespace roofline::chart {

struct Surface {
  double width = 0;
  double plot_height = 0;
  bool cells = false;  // text stands in a grid of character cells, 2 x 4 units each
  bool unicode = true;
  double gap = 0;                // a small distance between things
  double marker_least = 0;       // radii
  double marker_most = 0;        // of a kernel with all of the time
  double leader_step = 0;        // between the rings on which labels are tried
  std::size_t names = 0;         // points that may get their name written beside them
  std::size_t numbers = 0;       // points that may get their number instead
  std::size_t arrows = 0;        // gains drawn as arrows
  std::size_t listed = 0;        // most entries of the list
  std::size_t name_columns = 0;  // longest name beside a point
  std::size_t list_columns = 1;  // entries side by side
  std::size_t roof_columns = 0;  // longest name of a roof

  double text_width(std::string_view text, Ink ink) const;
  double line_height(Ink ink) const;
};

Surface page_surface(double width);
Surface cell_surface(std::size_t columns, bool unicode);

// Font size in CSS pixels.
double font_size(Ink ink);

}  // namespace roofline::chart
