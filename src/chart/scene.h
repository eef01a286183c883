// A chart laid out on a surface: what SVG and the terminal draw. Items come in drawing order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "chart/geometry.h"
#include "roofline/chart.h"

namespace roofline::chart {

// What a line, a box or a text is, and so how it looks.
enum class Ink : std::uint8_t {
  frame,
  grid,
  fine_grid,
  roof,
  cache_roof,
  datasheet_roof,
  other_roof,
  ridge,
  gain,
  link,
  change,
  leader,
  title,
  subtitle,
  tick,
  axis_title,
  roof_text,
  label,
  number,
  key,
  list,
  list_faint,
  note,
};

enum class Anchor : std::uint8_t { start, middle, end };

struct Line {
  std::vector<Point> points;
  Ink ink = Ink::frame;
  bool arrow = false;  // a head at the last point
};

struct Rectangle {
  Box box;
  Ink ink = Ink::frame;
};

struct Marker {
  Point at;
  double radius = 0;  // of the circle with the marker's area
  Position position = Position::unplaced;
  Toward toward = Toward::nowhere;  // where the truth lies: an arrow, unless nowhere
  bool open = false;                // a bound, or something unknown
  std::size_t point = kNone;        // index into Chart::points
  bool past = false;                // drawn pale
  bool size_only = false;           // a circle of the key that shows what an area means
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
};

struct Text {
  Point at;  // y: the middle of the line
  std::string text;
  Ink ink = Ink::label;
  Anchor anchor = Anchor::start;
  Box box;                 // around it
  double turn = 0;         // degrees, clockwise, about `at`
  std::vector<Box> along;  // of a slanted text: what it covers, which leaves out the corners of `box`
  std::size_t point = Marker::kNone;
};

inline std::vector<Box> boxes_of(const Text& t) { return t.along.empty() ? std::vector<Box>{t.box} : t.along; }

// Of the arrow that a bound carries: its direction, and where it ends, from the middle of the mark.
inline Point direction_of(Toward toward) {
  if (toward == Toward::up) return {0, -1};
  return {toward == Toward::left ? -1.0 : toward == Toward::right ? 1.0 : 0.0, 0};
}
inline double bound_reach(double radius) { return 5 + 1.5 * radius; }

// Drawn open: a bound, or FLOPs that nobody counted.
inline bool is_open(const ChartPoint& p) { return p.toward != Toward::nowhere || p.flops_unknown; }

using Item = std::variant<Rectangle, Line, Marker, Text>;

struct Scene {
  double width = 0, height = 0;
  Box plot;   // of intensity and rate
  Box strip;  // of kernels without FLOPs; empty for none
  std::vector<Item> items;
};

}  // namespace roofline::chart
