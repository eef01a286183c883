#include "chart/page_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "chart/layout.h"
#include "report/bounds.h"
#include "report/numbers.h"
#include "report/text.h"

namespace roofline::chart {
namespace {

// Right edges of the number columns of the list, from its right edge, page and cells.
struct Field {
  const char* title;
  double page, cells;
};
using Fields = std::array<Field, 4>;
constexpr Fields kFields = {{{"time", 214, 58}, {"FLOP/B", 162, 42}, {"FLOP/s", 84, 18}, {"of roof", 12, 0}}};
// Where the width allows no more than two: those of no width are left out.
constexpr Fields kFewFields = {{{"time", 80, 18}, {"", 0, 0}, {"", 0, 0}, {"of roof", 12, 0}}};

const Fields& fields_for(double width, bool cells) { return width >= (cells ? 110.0 : 420.0) ? kFields : kFewFields; }
constexpr double kLongestText = 400;  // columns of a note

std::string roof_share(const ChartPoint& p) {
  const bool lower = p.toward == Toward::up || p.flops_unknown;
  if (p.fraction) return report::bounded_percent(*p.fraction, lower ? Bound::lower : Bound::exact);
  return p.dram_fraction ? numbers::percent(*p.dram_fraction) : "";
}

std::array<std::string, kFields.size()> field_texts(const ChartPoint& p) {
  if (p.intensity && p.flops_per_s)
    return {numbers::share(p.share), numbers::ratio(*p.intensity), si(*p.flops_per_s, "F/s"), roof_share(p)};
  // On the strip: what its place there says.
  const auto dram = p.dram_fraction ? numbers::percent(*p.dram_fraction) + " DRAM" : "";
  return {numbers::share(p.share), p.flops_unknown ? "?" : "0", dram, roof_share(p)};
}

}  // namespace

void PageFlow::text(Point at, std::string what, Ink ink, Anchor anchor, std::size_t point) {
  if (!s_.unicode) what = text::printable(what, false);
  const double w = s_.text_width(what, ink);
  double left = at.x;
  if (anchor == Anchor::middle) left -= w / 2;
  if (anchor == Anchor::end) left -= w;
  if (s_.cells) {
    left = 2 * std::round(left / 2);
    at.x = left;
    at.y = 4 * std::floor(at.y / 4) + 2;
    anchor = Anchor::start;
  }
  const double half = s_.line_height(ink) / 2;
  scene_.items.push_back(
      Text{at, std::move(what), ink, anchor, {left, at.y - half, left + w, at.y + half}, 0, {}, point});
}

std::string PageFlow::fitted(std::string_view what, double width, Ink ink) const {
  auto columns = static_cast<std::size_t>(std::max(1.0, width / unit(font_size(ink) * 0.5, 2)));
  auto out = shown_text(what, columns, s_.unicode);
  while (columns > 4 && s_.text_width(out, ink) > width) out = shown_text(what, --columns, s_.unicode);
  return out;
}

// Wrapped at spaces to the width of the surface.
void PageFlow::lines(std::string_view what, Ink ink) {
  const auto safe = shown_text(what, static_cast<std::size_t>(kLongestText), s_.unicode);
  auto columns = static_cast<std::size_t>(room() / unit(font_size(ink) * 0.58, 2));
  for (const auto& l : text::wrap(safe, columns)) {
    text({margin(), y_ + s_.line_height(ink) / 2}, fitted(l, room(), ink), ink, Anchor::start);
    y_ += s_.line_height(ink);
  }
}

void PageFlow::heading(std::string_view title, std::string_view subtitle) {
  y_ = unit(12, 0);
  if (!title.empty()) lines(title, Ink::title);
  if (!subtitle.empty()) {
    y_ += unit(2, 0);
    lines(subtitle, Ink::subtitle);
  }
}

// ---------------------------------------------------------------- key

// Where the next entry's symbol stands; breaks the line where it would not fit.
double PageFlow::key_slot(std::string_view what) {
  const double w = unit(22, 6) + s_.text_width(what, Ink::key) + unit(18, 4);
  if (key_x_ > margin() && key_x_ + w > s_.width - margin()) {
    key_x_ = margin();
    y_ += s_.line_height(Ink::key) + unit(8, 0);
  }
  const double x = key_x_;
  key_x_ += w;
  return x;
}

void PageFlow::key_line(Ink ink, std::string_view what, bool arrow) {
  const double x = key_slot(what);
  const double y = y_ + s_.line_height(Ink::key) / 2;
  if (arrow && s_.cells)
    text({x + 2, y}, ink == Ink::gain ? (s_.unicode ? "↑" : "^") : (s_.unicode ? "→" : ">"), Ink::key, Anchor::start);
  else
    scene_.items.push_back(Line{{{x, y}, {x + unit(18, 3), y}}, ink, arrow});
  text({x + unit(22, 6), y}, std::string(what), Ink::key, Anchor::start);
}

void PageFlow::key_marks(const Chart& chart) {
  std::set<Position> seen;
  for (const auto& p : chart.points) seen.insert(p.position);
  for (const auto position : seen) {
    const auto name = to_string(position);
    const double x = key_slot(name);
    const double y = y_ + s_.line_height(Ink::key) / 2;
    scene_.items.push_back(Marker{{x + unit(9, 1), y}, unit(5.5, 1), position, Toward::nowhere, false, Marker::kNone});
    text({x + unit(22, 4), y}, std::string(name), Ink::key, Anchor::start);
  }
}

void PageFlow::key_sizes(const Chart& chart) {
  if (s_.cells || chart.points.empty() || !chart.links.empty()) return;
  static constexpr std::array<double, 2> kShares = {0.1, 0.01};
  const std::string what = "10%, 1% of the time";
  double symbols = 0;
  for (const double share : kShares) symbols += 2 * s_.marker_most * std::sqrt(share) + 4;
  double x = key_slot(what + std::string(static_cast<std::size_t>(symbols / 4), ' '));
  const double y = y_ + s_.line_height(Ink::key) / 2;
  for (const double share : kShares) {
    const double r = s_.marker_most * std::sqrt(share);
    scene_.items.push_back(
        Marker{{x + r, y}, r, Position::unplaced, Toward::nowhere, false, Marker::kNone, false, true});
    x += 2 * r + 4;
  }
  text({x + 2, y}, what, Ink::key, Anchor::start);
}

void PageFlow::key(const Chart& chart, std::size_t gains) {
  y_ += unit(12, 0);
  key_x_ = margin();
  key_marks(chart);
  const auto any_roof = [&](auto role) {
    return std::any_of(chart.roofs.begin(), chart.roofs.end(), [&](const auto& r) { return r.role == role; });
  };
  if (any_roof(ChartRoof::Role::in_use)) key_line(Ink::roof, chart.points.empty() ? "roof" : "roof in use");
  if (any_roof(ChartRoof::Role::datasheet)) key_line(Ink::datasheet_roof, "datasheet roof");
  if (any_roof(ChartRoof::Role::other)) key_line(Ink::other_roof, "other roofs");
  if (gains > 0) key_line(Ink::gain, "to the roof that binds, and the time it would save", true);
  if (!chart.links.empty() && chart.links.front().kind == ChartLink::Kind::comparison)
    key_line(Ink::change, "before (pale) to after", true);
  key_sizes(chart);
  y_ += s_.line_height(Ink::key) + unit(12, 0);
}

// ---------------------------------------------------------------- list

void PageFlow::list_head(double left, double width) {
  const double y = y_ + s_.line_height(Ink::list) / 2;
  text({left + unit(42, 12), y}, "kernel", Ink::list_faint, Anchor::start);
  for (const auto& f : fields_for(width, s_.cells))
    if (f.title[0] != 0) text({left + width - unit(f.page, f.cells), y}, f.title, Ink::list_faint, Anchor::end);
}

void PageFlow::list_entry(const Chart& chart, const ListedPoint& entry, double left, double width) {
  const auto& p = chart.points[entry.point];
  const double y = y_ + s_.line_height(Ink::list) / 2;
  text({left + unit(24, 8), y}, fmt::format("{}{}", p.number, entry.numbered ? "" : "*"), Ink::list, Anchor::end);
  scene_.items.push_back(
      Marker{{left + unit(33, 9), y}, unit(3.5, 1), p.position, Toward::nowhere, is_open(p), Marker::kNone});
  const auto& fields = fields_for(width, s_.cells);
  const double name_room = width - unit(fields[0].page + 40 + 42, fields[0].cells + 14 + 12);
  text({left + unit(42, 12), y}, fitted(p.label, name_room, Ink::list), Ink::list, Anchor::start, entry.point);
  const auto texts = field_texts(p);
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].title[0] != 0)
      text({left + width - unit(fields[i].page, fields[i].cells), y}, texts[i], Ink::list, Anchor::end);
}

void PageFlow::list(const Chart& chart, const std::vector<ListedPoint>& listed) {
  if (listed.empty()) return;
  const auto n = std::min(listed.size(), s_.listed);
  const auto columns = std::min(s_.list_columns, n);
  const auto rows = (n + columns - 1) / columns;
  const double width = room() / static_cast<double>(s_.list_columns);
  const double top = y_ + unit(4, 0);
  for (std::size_t c = 0; c < columns; ++c) {
    y_ = top;
    const double left = margin() + static_cast<double>(c) * width;
    list_head(left, width);
    for (std::size_t i = c * rows; i < std::min(n, (c + 1) * rows); ++i) {
      y_ += s_.line_height(Ink::list);
      list_entry(chart, listed[i], left, width);
    }
  }
  y_ = top + static_cast<double>(rows + 1) * s_.line_height(Ink::list) + unit(4, 0);
  if (std::any_of(listed.begin(), listed.begin() + static_cast<std::ptrdiff_t>(n),
                  [](const auto& l) { return !l.numbered; }))
    lines("* no room for its number in the picture: find it by its intensity and rate, or by its share of DRAM.",
          Ink::note);
  if (n == listed.size()) return;
  double share = 0;
  for (auto i = n; i < listed.size(); ++i) share += chart.points[listed[i].point].share;
  lines(fmt::format("And {} more, {} of the time: the table names them.", listed.size() - n, numbers::share(share)),
        Ink::note);
}

void PageFlow::notes(const std::vector<std::string>& notes) {
  for (const auto& note : notes) lines(note, Ink::note);
  y_ += unit(10, 0);
}

}  // namespace roofline::chart
