#include "chart/layout.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>
#include <numeric>

#include "chart/axis.h"
#include "chart/page_flow.h"
#include "chart/placer.h"
#include "chart/ranges.h"
#include "report/numbers.h"
#include "report/text.h"

namespace roofline::chart {
namespace {

// What it costs a label to cover a mark, a line, a ridge.
constexpr Weight kMarkWeight = {2.5, 1.4};
constexpr Weight kLineWeight = {2.0, 0.6};
constexpr Weight kRidgeWeight = {0.3, 0.04};

class Layout {
 public:
  Layout(const Chart& chart, const Surface& surface)
      : chart_(chart), s_(fitted(surface, chart.points.size())), flow_(s_, scene_) {}

  Scene run() {
    scene_.width = s_.width;
    flow_.heading(chart_.title, chart_.subtitle);
    set_boxes();
    make_placers();
    draw_axes();
    if (has_strip()) draw_strip_axes();
    draw_roofs();
    draw_ridges();
    place_marks();
    draw_marks();
    draw_gains();
    draw_links();
    keep_off_marks();
    label_roofs();
    label_ridges();
    label_points();
    flow_.start_below(scene_.plot.bottom + below_plot());
    flow_.key(chart_, gains_drawn_);
    flow_.list(chart_, listed_);
    auto notes = chart_.notes;
    if (!unlabelled_.empty()) notes.insert(notes.begin(), "Roofs without room for their names: " + unlabelled_ + ".");
    flow_.notes(notes);
    scene_.height = flow_.bottom();
    return std::move(scene_);
  }

 private:
  // A crowd needs height, and numbers rather than names.
  static Surface fitted(Surface surface, std::size_t points) {
    constexpr double kCrowd = 60;
    const double crowding = std::min(1.0, static_cast<double>(points) / (4 * kCrowd));
    if (static_cast<double>(points) < kCrowd) return surface;
    if (!surface.cells) surface.plot_height = std::round(surface.plot_height * (1 + 0.6 * crowding));
    surface.names = surface.names / 3;
    return surface;
  }

  double unit(double page, double cells) const { return s_.cells ? cells : page; }
  Placer::Distances distances() const { return {s_.gap, s_.leader_step, s_.cells}; }
  // A text in cells hides whole cells of a line.
  Weight line_weight() const { return s_.cells ? Weight{4 * kLineWeight.whole, kLineWeight.touch} : kLineWeight; }
  double below_plot() const { return unit(46, 8); }

  bool on_strip(const ChartPoint& p) const { return !p.intensity.has_value(); }
  bool has_strip() const {
    return std::any_of(chart_.points.begin(), chart_.points.end(), [&](auto& p) { return on_strip(p); });
  }
  bool has_lane(bool unknown) const {
    return std::any_of(chart_.points.begin(), chart_.points.end(),
                       [&](const auto& p) { return on_strip(p) && p.flops_unknown == unknown; });
  }

  // ---------------------------------------------------------------- boxes

  // The more of the kernels stand on the strip, the more of the picture it gets.
  double strip_width() const {
    const auto n = static_cast<double>(
        std::count_if(chart_.points.begin(), chart_.points.end(), [&](const auto& p) { return on_strip(p); }));
    const double part = n / static_cast<double>(chart_.points.size());
    const double most = (part < 1 ? unit(0.28, 0.34) + 0.2 * part : 0.56) * s_.width;
    const double lanes = (has_lane(false) ? 1 : 0) + (has_lane(true) ? 1 : 0);
    const double wanted = lanes * unit(90 + 28 * std::sqrt(n), s_.width < 150 ? 18 : 26 + 4 * std::sqrt(n));
    const double width = part < 1 ? std::min(wanted, most) : most;
    return s_.cells ? 2 * std::round(width / 2) : width;
  }

  void set_boxes() {
    const double top = flow_.bottom() + unit(10, 0);
    double left = unit(10, 0);
    if (has_strip()) {
      left += unit(52, 10);
      scene_.strip = {left, top, left + strip_width(), top + s_.plot_height};
      left = scene_.strip.right + unit(8, 2);
    }
    left += unit(76, 18);
    scene_.plot = {left, top, s_.width - unit(18, 0), top + s_.plot_height};
    const auto ranges = data_ranges(chart_);
    x_.emplace(ranges.x_low, ranges.x_high, scene_.plot.left, scene_.plot.right - unit(0, 1));
    y_.emplace(ranges.y_low, ranges.y_high, scene_.plot.bottom - unit(0, 1), scene_.plot.top);
    strip_most_ = ranges.strip_high;
  }

  void make_placers() {
    plot_labels_.emplace(inside(scene_.plot), distances());
    for (const bool unknown : {false, true}) {
      if (!has_lane(unknown)) continue;
      auto& lane = lane_labels_[unknown ? 1 : 0].emplace(inside(lane_of(unknown)), distances());
      lane.avoid_line({scene_.strip.left, strip_y(1)}, {scene_.strip.right, strip_y(1)}, line_weight());
    }
  }
  // Without the frame, which in cells takes the first column and the last row.
  Box inside(Box box) const {
    box.left += unit(0, 2);
    box.bottom -= unit(0, 4);
    return box;
  }
  // The labels of a lane stay in it: another lane says something else.
  Placer& placer_of(const ChartPoint& p) {
    return on_strip(p) ? *lane_labels_[p.flops_unknown ? 1 : 0] : *plot_labels_;
  }

  Point at(double intensity, double rate) const { return {x_->at(intensity), y_->at(rate)}; }
  double strip_y(double fraction) const {
    const auto& b = scene_.strip;
    return b.bottom - unit(6, 2) - fraction / strip_most_ * (b.height() - unit(14, 4));
  }

  // ---------------------------------------------------------------- axes

  void line(std::vector<Point> points, Ink ink, bool arrow = false) {
    scene_.items.push_back(Line{std::move(points), ink, arrow});
  }

  void text(Point where, std::string what, Ink ink, Anchor anchor, std::size_t point = Marker::kNone) {
    flow_.text(where, std::move(what), ink, anchor, point);
  }

  void upright(Point where, std::string what) {
    if (s_.cells) return;
    Text t{where, std::move(what), Ink::axis_title, Anchor::middle, {}, -90, {}, Marker::kNone};
    const double half = s_.text_width(t.text, t.ink) / 2;
    const double line_half = s_.line_height(t.ink) / 2;
    t.box = {where.x - line_half, where.y - half, where.x + line_half, where.y + half};
    scene_.items.push_back(std::move(t));
  }

  void draw_axes() {
    const auto& p = scene_.plot;
    scene_.items.push_back(Rectangle{p, Ink::frame});
    if (!s_.cells) {
      for (const double v : x_->between()) line({{x_->at(v), p.top}, {x_->at(v), p.bottom}}, Ink::fine_grid);
      for (const double v : y_->between()) line({{p.left, y_->at(v)}, {p.right, y_->at(v)}}, Ink::fine_grid);
    }
    draw_x_ticks();
    draw_y_ticks();
    const bool levels = !chart_.links.empty() && chart_.links.front().kind == ChartLink::Kind::levels;
    const auto* unit_text =
        levels ? "arithmetic intensity, FLOP per byte of the level" : "arithmetic intensity, FLOP per DRAM byte";
    const std::string short_text = s_.cells && p.width() < 2.0 * 46 ? "FLOP per byte" : unit_text;
    text({(p.left + p.right) / 2, p.bottom + unit(34, 6)}, short_text, Ink::axis_title, Anchor::middle);
    upright({p.left - unit(66, 0), (p.top + p.bottom) / 2}, "achieved, FLOP/s");
  }

  void draw_x_ticks() {
    const auto& p = scene_.plot;
    double free_from = p.left - unit(30, 8);
    for (const int e : x_->decades(static_cast<std::size_t>(std::max(2.0, p.width() / unit(58, 16))))) {
      const double x = x_->at(std::pow(10.0, e));
      if (!s_.cells) line({{x, p.top}, {x, p.bottom}}, Ink::grid);
      const auto label = decade_text(e, "", s_.unicode);
      const double half = s_.text_width(label, Ink::tick) / 2;
      if (x - half < free_from || x + half > s_.width) continue;
      text({x, p.bottom + unit(14, 2)}, label, Ink::tick, Anchor::middle);
      free_from = x + half + unit(6, 2);
    }
  }

  void draw_y_ticks() {
    const auto& p = scene_.plot;
    for (const int e : y_->decades(static_cast<std::size_t>(std::max(2.0, p.height() / unit(28, 8))))) {
      const double y = y_->at(std::pow(10.0, e));
      if (!s_.cells) line({{p.left, y}, {p.right, y}}, Ink::grid);
      text({p.left - unit(6, 2), y}, decade_text(e, "F/s", s_.unicode), Ink::tick, Anchor::end);
    }
  }

  void draw_strip_axes() {
    const auto& b = scene_.strip;
    scene_.items.push_back(Rectangle{b, Ink::frame});
    for (const double fraction : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      const double y = strip_y(fraction);
      if (!s_.cells) line({{b.left, y}, {b.right, y}}, Ink::grid);
      if (!s_.cells || fraction == 0 || fraction == 0.5 || fraction == 1)
        text({b.left - unit(5, 2), y}, fmt::format("{:.0f}%", 100 * fraction), Ink::tick, Anchor::end);
    }
    line({{b.left, strip_y(1)}, {b.right, strip_y(1)}}, Ink::roof);
    upright({b.left - unit(44, 0), (b.top + b.bottom) / 2}, "of the DRAM roof");
    for (const bool unknown : {false, true}) {
      if (!has_lane(unknown)) continue;
      const auto lane = lane_of(unknown);
      std::string words = unknown ? (lane.width() < unit(80, 26) ? "FLOPs ?" : "FLOPs unknown") : "0 FLOP";
      if (by_time(unknown) && lane.width() >= unit(250, 80)) words += ", most time to the left";
      text({(lane.left + lane.right) / 2, b.bottom + unit(14, 2)}, words, Ink::tick, Anchor::middle);
      if (unknown && has_lane(false)) line({{lane.left, b.top}, {lane.left, b.bottom}}, Ink::frame);
    }
    if (s_.cells) text({(b.left + b.right) / 2, b.bottom + 6}, "% of DRAM", Ink::axis_title, Anchor::middle);
  }

  Box lane_of(bool unknown) const {
    auto lane = scene_.strip;
    if (!has_lane(!unknown)) return lane;
    const double middle = s_.cells ? lane.left + 2 * std::round(lane.width() / 4) : (lane.left + lane.right) / 2;
    (unknown ? lane.left : lane.right) = middle;
    return lane;
  }

  // ---------------------------------------------------------------- roofs

  struct Segment {
    Point from, to;
  };

  Segment segment_of(const ChartRoof& roof) const {
    const auto limit = roof_span(chart_, roof, {x_->low(), x_->high(), y_->low(), y_->high(), 1});
    return {at(limit.from_x, limit.from_y), at(limit.to_x, limit.to_y)};
  }

  static Ink ink_of(const ChartRoof& roof) {
    if (roof.role == ChartRoof::Role::datasheet) return Ink::datasheet_roof;
    if (roof.role == ChartRoof::Role::other) return Ink::other_roof;
    return roof.kind == ChartRoof::Kind::memory && roof.level != MemoryLevel::dram ? Ink::cache_roof : Ink::roof;
  }

  void draw_roofs() {
    // The roofs in use last: they lie on top.
    for (const bool in_use : {false, true}) {
      for (const auto& roof : chart_.roofs) {
        if ((roof.role == ChartRoof::Role::in_use) != in_use) continue;
        const auto seg = segment_of(roof);
        line({seg.from, seg.to}, ink_of(roof));
        plot_labels_->avoid_line(seg.from, seg.to, line_weight());
      }
    }
  }

  // Puts the best of these texts into the plot; false where none has room.
  bool add_first(const std::vector<Text>& candidates) {
    std::vector<std::vector<Box>> boxes;
    boxes.reserve(candidates.size());
    for (const auto& t : candidates) boxes.push_back(boxes_of(t));
    const auto best = plot_labels_->place_first(boxes);
    if (best) scene_.items.emplace_back(candidates[*best]);
    return best.has_value();
  }

  void label_roofs() {
    for (const auto& roof : chart_.roofs) {
      const auto seg = segment_of(roof);
      const auto label = shown_text(roof.label, s_.roof_columns, s_.unicode);
      if (!add_first(roof.kind == ChartRoof::Kind::memory ? along_slope(seg, label) : along_flat(seg, label)))
        unlabelled_ += (unlabelled_.empty() ? "" : "; ") + label;
    }
  }

  // A text with its box, which in cells is one of whole cells.
  Text roof_text(double left, double top, const std::string& what, Anchor anchor) const {
    const double w = s_.text_width(what, Ink::roof_text);
    const double h = s_.line_height(Ink::roof_text);
    if (s_.cells) {
      left = 2 * std::round(left / 2);
      top = 4 * std::round(top / 4);
      anchor = Anchor::start;
    }
    const double x = anchor == Anchor::start ? left : left + w;
    return {{x, top + h / 2}, what, Ink::roof_text, anchor, {left, top, left + w, top + h}, 0, {}, Marker::kNone};
  }

  std::vector<Text> along_slope(const Segment& seg, const std::string& label) const {
    std::vector<Text> out;
    if (!s_.cells) {
      for (const double side : {-1.0, 1.0}) slanted(seg, label, side, out);
    }
    const double w = s_.text_width(label, Ink::roof_text);
    const double h = s_.line_height(Ink::roof_text);
    constexpr int kTries = 15;
    for (const bool below : {false, true}) {
      for (int i = 0; i < kTries; ++i) {
        const double t = 0.08 + 0.06 * i;
        const double x = seg.from.x + t * (seg.to.x - seg.from.x);
        const double y = seg.from.y + t * (seg.to.y - seg.from.y);
        out.push_back(below ? roof_text(x + unit(8, 3), y + unit(4, 1), label, Anchor::start)
                            : roof_text(x - w - unit(6, 2), y - h - unit(2, 1), label, Anchor::end));
      }
    }
    return out;
  }

  // Texts that lie along the line, from its lower end on; side -1 is above it.
  void slanted(const Segment& seg, const std::string& label, double side, std::vector<Text>& out) const {
    constexpr double kStep = 14;
    const double length = distance(seg.from, seg.to);
    const double w = s_.text_width(label, Ink::roof_text);
    const double h = s_.line_height(Ink::roof_text);
    if (length <= 0) return;
    const Point along{(seg.to.x - seg.from.x) / length, (seg.to.y - seg.from.y) / length};
    const Point across{-along.y * side, along.x * side};
    const double turn = std::atan2(along.y, along.x) * 180 / std::numbers::pi;
    const double off = h / 2 + 4;
    for (double d = 12; d + w < length; d += kStep) {
      const Point at{seg.from.x + along.x * d + across.x * off, seg.from.y + along.y * d + across.y * off};
      Text t{at, label, Ink::roof_text, Anchor::start, {at.x, at.y, at.x, at.y}, turn, {}, Marker::kNone};
      const double half = 0.3 * h;
      const auto boxes = static_cast<int>(std::ceil(w / (1.4 * half))) + 1;
      for (int k = 0; k < boxes; ++k) {
        const double way = std::min(1.4 * half * k, w);
        const Point p{at.x + along.x * way, at.y + along.y * way};
        t.along.push_back(Box{p.x, p.y, p.x, p.y}.grown(half));
        t.box = {std::min(t.box.left, p.x - half), std::min(t.box.top, p.y - half), std::max(t.box.right, p.x + half),
                 std::max(t.box.bottom, p.y + half)};
      }
      out.push_back(std::move(t));
    }
  }

  std::vector<Text> along_flat(const Segment& seg, const std::string& label) const {
    const double w = s_.text_width(label, Ink::roof_text);
    const double h = s_.line_height(Ink::roof_text);
    std::vector<Text> out;
    const double first = scene_.plot.right - w - unit(6, 0);
    const auto tries = static_cast<int>(std::ceil((first - (seg.from.x - w)) / unit(40, 8)));
    for (int i = 0; i < tries; ++i) {
      const double x = first - i * unit(40, 8);
      out.push_back(roof_text(x, seg.to.y - h - unit(5, 1), label, Anchor::end));
      out.push_back(roof_text(x, seg.to.y + unit(5, 2), label, Anchor::end));
    }
    return out;
  }

  void draw_ridges() {
    for (const auto& ridge : chart_.ridges) {
      const auto top = at(ridge.intensity, ridge.flops_per_s);
      const Point foot{top.x, scene_.plot.bottom};
      line({top, foot}, Ink::ridge);
      plot_labels_->avoid_line(top, foot, kRidgeWeight);
    }
  }

  void label_ridges() {
    for (const auto& ridge : chart_.ridges) {
      const auto label = fmt::format("ridge {}", numbers::ratio(ridge.intensity));
      const double w = s_.text_width(label, Ink::roof_text);
      const double h = s_.line_height(Ink::roof_text);
      const double x = x_->at(ridge.intensity);
      std::vector<Text> candidates;
      for (int row = 1; row <= 5; ++row) {
        const double top = scene_.plot.bottom - row * h - unit(2, 0);
        candidates.push_back(roof_text(x + unit(4, 2), top, label, Anchor::start));
        candidates.push_back(roof_text(x - w - unit(4, 2), top, label, Anchor::end));
      }
      add_first(candidates);
    }
  }

  // ---------------------------------------------------------------- marks

  bool is_comparison() const {
    return !chart_.links.empty() && chart_.links.front().kind == ChartLink::Kind::comparison;
  }

  double radius_of(const ChartPoint& p) const {
    // Pairs of marks need room for the arrow between them.
    const double most = is_comparison() ? 0.6 * s_.marker_most : s_.marker_most;
    return std::max(s_.marker_least, most * std::sqrt(std::clamp(p.area, 0.0, 1.0)));
  }

  void place_marks() {
    marks_.resize(chart_.points.size());
    std::array<std::vector<std::size_t>, 2> lanes;
    for (std::size_t i = 0; i < chart_.points.size(); ++i) {
      const auto& p = chart_.points[i];
      if (on_strip(p))
        lanes[p.flops_unknown ? 1 : 0].push_back(i);
      else
        marks_[i] = at(*p.intensity, *p.flops_per_s);
    }
    for (const auto& lane : lanes) place_on_strip(lane);
  }

  // In a lane of many marks, and in one with room, those with more time stand further to the left.
  bool by_time(bool unknown) const {
    constexpr std::ptrdiff_t kMany = 8;
    const auto n = std::count_if(chart_.points.begin(), chart_.points.end(),
                                 [&](const auto& p) { return on_strip(p) && p.flops_unknown == unknown; });
    return n > kMany || (n > 2 && lane_of(unknown).width() > static_cast<double>(n) * unit(90, 30));
  }

  // The marks of a lane, most time first. They keep to the left, where there is room for names on their right, or share
  // the width. Equal fractions stand side by side, so that they do not hide each other.
  void place_on_strip(const std::vector<std::size_t>& marks) {
    constexpr double kUsed = 0.85;  // of the width: names need the rest
    std::vector<std::size_t> swarm;
    const bool spread = !marks.empty() && by_time(chart_.points[marks.front()].flops_unknown);
    for (std::size_t rank = 0; rank < marks.size(); ++rank) {
      const auto& p = chart_.points[marks[rank]];
      const double r = radius_of(p);
      const auto lane = lane_of(p.flops_unknown).grown(-unit(5, 1));
      const double room = std::max(0.0, lane.width() - 2 * r);
      const double part = static_cast<double>(rank) / static_cast<double>(marks.size());
      const double home = spread ? kUsed * part * room : 0;
      const double y = strip_y(std::max(0.0, *p.dram_fraction));
      marks_[marks[rank]] = {lane.left + r + free_place(r, y, lane.left + r, home, room, swarm), y};
      swarm.push_back(marks[rank]);
    }
  }

  // Right of `left`: the place nearest to `home`, at most `room`, where a mark would cover no other one; else home.
  double free_place(double r, double y, double left, double home, double room, const std::vector<std::size_t>& swarm) {
    const auto reach = [&](std::size_t j) { return r + radius_of(chart_.points[j]) + unit(1, 0); };
    std::vector<std::size_t> near;
    std::copy_if(swarm.begin(), swarm.end(), std::back_inserter(near),
                 [&](std::size_t j) { return std::abs(marks_[j].y - y) < reach(j); });
    const double step = unit(4, 2);
    const auto steps = static_cast<int>(room / step);
    for (int k = 0; k <= steps; ++k) {
      for (const double x : {home + k * step, home - k * step}) {
        if (x < 0 || x > room) continue;
        if (std::none_of(near.begin(), near.end(), [&](std::size_t j) {
              return distance(marks_[j], {left + x, y}) < reach(j);
            }))
          return x;
      }
    }
    return home;
  }

  // Of a kernel on the strip: whether its gain is the way to the roof that the strip shows.
  bool dram_binds(const ChartPoint& p) const {
    constexpr double kSame = 1e-6;
    return on_strip(p) && p.fraction && std::abs(*p.fraction - *p.dram_fraction) <= kSame;
  }

  void draw_gains() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < chart_.points.size(); ++i) {
      const auto& p = chart_.points[i];
      if (p.look && p.gain_s && *p.gain_s > 0 && (p.roof_flops_per_s || dram_binds(p))) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return *chart_.points[a].gain_s > *chart_.points[b].gain_s; });
    order.resize(std::min(order.size(), s_.arrows));
    for (const auto i : order) {
      const auto& p = chart_.points[i];
      const auto from = marks_[i];
      const Point tip{from.x, on_strip(p) ? strip_y(1) : y_->at(*p.roof_flops_per_s)};
      const double way = from.y - tip.y;
      if (way <= unit(5, 4)) continue;  // as good as there
      // A large mark near its roof covers most of the way: the arrow starts in its middle.
      const double start = way > radius_of(p) + unit(8, 3) ? radius_of(p) : 0;
      line({{from.x, from.y - start}, tip}, Ink::gain, true);
      placer_of(p).avoid_line(from, tip, line_weight());
      ++gains_drawn_;
    }
  }

  void draw_links() {
    for (const auto& link : chart_.links) {
      const bool comparison = link.kind == ChartLink::Kind::comparison;
      const auto a = marks_[link.from];
      const auto b = marks_[link.to];
      const double d = distance(a, b);
      if (d <= unit(3, 2)) continue;
      // From edge to edge; between middles where the marks overlap.
      const bool apart = d > radius_of(chart_.points[link.from]) + radius_of(chart_.points[link.to]) + unit(6, 0);
      const double near_a = apart ? radius_of(chart_.points[link.from]) : 0;
      const double near_b = apart ? radius_of(chart_.points[link.to]) : 0;
      const Point from{a.x + (b.x - a.x) * near_a / d, a.y + (b.y - a.y) * near_a / d};
      const Point to{b.x - (b.x - a.x) * near_b / d, b.y - (b.y - a.y) * near_b / d};
      line({from, to}, comparison ? Ink::change : Ink::link, link.kind != ChartLink::Kind::levels);
      plot_labels_->avoid_line(a, b, line_weight());
    }
  }

  // Large ones first, so that small ones lie on top.
  void draw_marks() {
    std::vector<std::size_t> order(chart_.points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return chart_.points[a].area > chart_.points[b].area; });
    // Cells hold one mark each: there the one with the most time is drawn last and stays.
    if (s_.cells) std::reverse(order.begin(), order.end());
    for (const auto i : order) {
      const auto& p = chart_.points[i];
      // The strip's share of DRAM is exact; what is not known are the FLOPs.
      const auto toward = on_strip(p) ? Toward::nowhere : p.toward;
      scene_.items.push_back(Marker{marks_[i], radius_of(p), p.position, toward, is_open(p), i, p.past});
    }
  }

  // ---------------------------------------------------------------- labels

  // Few marks leave room for long names.
  std::size_t name_columns() const {
    constexpr std::size_t kFew = 8;
    return chart_.points.size() <= kFew ? s_.name_columns * 3 / 2 : s_.name_columns;
  }

  // As they stand in the picture. Those that look the same once they are cut get their number.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    std::map<std::string, std::size_t> counts;
    for (const auto& p : chart_.points) ++counts[out.emplace_back(shown_text(p.label, name_columns(), s_.unicode))];
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto& p = chart_.points[i];
      if (!p.label.empty() && counts[out[i]] > 1) out[i] += fmt::format(" #{}", p.number);
    }
    return out;
  }

  std::string with_gain(std::string out, const ChartPoint& p) const {
    if (p.look && p.gain_s && *p.gain_s > 0)
      out += fmt::format(" {}{}", s_.unicode ? "−" : "-", si(*p.gain_s, "s", s_.unicode));
    return out;
  }

  void keep_off_marks() {
    for (std::size_t i = 0; i < chart_.points.size(); ++i) {
      const auto& p = chart_.points[i];
      auto& placer = placer_of(p);
      const auto& m = marks_[i];
      if (!s_.cells && !on_strip(p) && p.toward != Toward::nowhere) {
        const auto way = direction_of(p.toward);
        const double end = bound_reach(radius_of(p));
        placer.avoid_line(m, {m.x + way.x * end, m.y + way.y * end}, line_weight());
      }
      // In a grid of cells a label on a mark hides it.
      if (s_.cells)
        placer.block(cell_of(m));
      else
        placer.avoid(Box{m.x, m.y, m.x, m.y}.grown(std::max(2.0, radius_of(p) - 2)), kMarkWeight);
    }
  }

  void label_points() {
    // Rather the number than a name across a mark; rather none than a number across several.
    const double most_name = unit(1.5, 2.4);
    constexpr double kMostNumber = 3.2;
    const auto texts = names();
    std::size_t named = 0;
    std::size_t numbers = 0;
    for (std::size_t i = 0; i < chart_.points.size(); ++i) {
      const auto& p = chart_.points[i];
      if (p.label.empty()) continue;  // the far end of an arrow is named at its near end
      auto& placer = placer_of(p);
      if (named < s_.names && label(placer, i, with_gain(texts[i], p), Ink::label, most_name)) {
        ++named;
        continue;
      }
      const bool numbered =
          numbers < s_.numbers && label(placer, i, std::to_string(p.number), Ink::number, kMostNumber);
      numbers += numbered ? 1 : 0;
      listed_.push_back({i, numbered});
    }
  }

  static Box cell_of(Point p) {
    const double left = 2 * std::floor(p.x / 2);
    const double top = 4 * std::floor(p.y / 4);
    return {left, top, left + 2, top + 4};
  }

  bool label(Placer& placer, std::size_t i, const std::string& what, Ink ink, double most) {
    const double w = s_.text_width(what, ink) + unit(3, 0);
    const auto placed = placer.place(marks_[i], radius_of(chart_.points[i]), w, s_.line_height(ink), most);
    if (!placed) return false;
    if (placed->leader) {
      const auto a = marks_[i];
      const double d = distance(a, *placed->leader);
      const double r = radius_of(chart_.points[i]) / d;
      line({{a.x + (placed->leader->x - a.x) * r, a.y + (placed->leader->y - a.y) * r}, *placed->leader}, Ink::leader);
    }
    // Tied to the side that faces the mark: a narrower font than the one measured leaves its gap on the other side.
    const auto& box = placed->box;
    const double middle = (box.top + box.bottom) / 2;
    if (box.left >= marks_[i].x || s_.cells)
      text({box.left + unit(1.5, 0), middle}, what, ink, Anchor::start, i);
    else if (box.right <= marks_[i].x)
      text({box.right - unit(1.5, 0), middle}, what, ink, Anchor::end, i);
    else
      text({(box.left + box.right) / 2, middle}, what, ink, Anchor::middle, i);
    return true;
  }

  const Chart& chart_;
  const Surface s_;
  Scene scene_;
  PageFlow flow_;
  std::optional<LogAxis> x_, y_;
  std::optional<Placer> plot_labels_;
  std::array<std::optional<Placer>, 2> lane_labels_;  // FLOPs 0, unknown
  double strip_most_ = 1;
  std::vector<Point> marks_;
  std::size_t gains_drawn_ = 0;
  std::vector<ListedPoint> listed_;
  std::string unlabelled_;  // roofs
};

}  // namespace

std::string shown_text(std::string_view text, std::size_t columns, bool unicode) {
  constexpr std::size_t kMarks = 2;  // combining characters on one letter
  const auto safe = text::printable(text, unicode);
  std::string out;
  std::size_t marks = 0;
  for (std::size_t at = 0; at < safe.size();) {
    const auto c = text::decode(safe, at);
    marks = text::width(c.value) == 0 ? marks + 1 : 0;
    if (marks <= kMarks) out.append(safe, at, c.size);
    at += c.size;
  }
  return cut_middle(out, columns, unicode);
}

Scene lay_out(const Chart& chart, const Surface& surface) { return Layout(chart, surface).run(); }

}  // namespace roofline::chart
