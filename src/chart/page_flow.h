// What stands around the plot: heading, key, the list of numbered kernels, notes. Fills the surface downwards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chart/scene.h"
#include "chart/surface.h"

namespace roofline::chart {

struct ListedPoint {
  std::size_t point = 0;  // index into Chart::points
  bool numbered = false;  // its number stands in the picture
};

class PageFlow {
 public:
  PageFlow(const Surface& surface, Scene& scene) : s_(surface), scene_(scene) {}

  void heading(std::string_view title, std::string_view subtitle);
  void start_below(double y) { y_ = y; }
  void key(const Chart& chart, std::size_t gains);
  void list(const Chart& chart, const std::vector<ListedPoint>& listed);
  void notes(const std::vector<std::string>& notes);
  double bottom() const { return y_; }

  void text(Point at, std::string what, Ink ink, Anchor anchor, std::size_t point = Marker::kNone);

 private:
  double unit(double page, double cells) const { return s_.cells ? cells : page; }
  double margin() const { return unit(12, 0); }
  double room() const { return s_.width - 2 * margin(); }
  void lines(std::string_view what, Ink ink);
  void key_marks(const Chart& chart);
  double key_slot(std::string_view what);
  void key_line(Ink ink, std::string_view what, bool arrow = false);
  void key_sizes(const Chart& chart);
  void list_head(double left, double width);
  void list_entry(const Chart& chart, const ListedPoint& entry, double left, double width);
  std::string fitted(std::string_view what, double width, Ink ink) const;

  const Surface& s_;
  Scene& scene_;
  double y_ = 0;
  double key_x_ = 0;
};

}  // namespace roofline::chart
