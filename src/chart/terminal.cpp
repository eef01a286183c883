#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "chart/layout.h"
#include "report/text.h"
#include "roofline/chart.h"

namespace roofline {
namespace {

using namespace chart;

// Terminal colours, "" for the default one.
constexpr std::array<std::string_view, 7> kPositionColours = {"\x1b[90m", "\x1b[34m", "\x1b[33m", "\x1b[32m",
                                                              "\x1b[31m", "\x1b[35m", "\x1b[36m"};
constexpr std::string_view kFaint = "\x1b[2m";
constexpr std::string_view kStrong = "\x1b[1m";
constexpr std::string_view kReset = "\x1b[0m";

constexpr std::array<std::string_view, 7> kMarks = {"✕", "●", "▲", "■", "◆", "▼", "✚"};
constexpr std::array<std::string_view, 7> kOpenMarks = {"✕", "○", "△", "□", "◇", "▽", "✚"};
// None that an arrow uses.
constexpr std::array<std::string_view, 7> kAsciiMarks = {"x", "o", "@", "#", "*", "%", "+"};

struct Cell {
  std::string glyph;       // empty: the dots, if any; "\0" is never a glyph
  bool continued = false;  // right half of a wide character
  std::string_view colour = {};
  unsigned dots = 0;  // braille pattern
  std::string_view dot_colour = {};
  char ascii = 0;  // the line through this cell
};

// Bits of a braille pattern by column and row: The Unicode Standard, block U+2800.
constexpr std::array<std::array<unsigned, 4>, 2> kDots = {{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};

std::string_view line_colour(Ink ink) {
  switch (ink) {
    case Ink::roof:
    case Ink::change:
      return {};
    case Ink::other_roof:
      return "\x1b[35m";
    default:
      return kFaint;
  }
}

std::string_view text_colour(Ink ink) {
  switch (ink) {
    case Ink::title:
      return kStrong;
    case Ink::tick:
    case Ink::axis_title:
    case Ink::roof_text:
    case Ink::list_faint:
    case Ink::note:
      return kFaint;
    default:
      return {};
  }
}

// Dots drawn and left out along a line.
struct Dash {
  std::size_t on, off;
};
Dash dash_of(Ink ink) {
  switch (ink) {
    case Ink::datasheet_roof:
      return {4, 3};
    case Ink::other_roof:
      return {6, 2};
    case Ink::ridge:
      return {1, 3};
    case Ink::gain:
      return {2, 2};
    case Ink::leader:
      return {1, 1};
    default:
      return {1, 0};
  }
}

class Canvas {
 public:
  Canvas(const Scene& scene, const TerminalStyle& style)
      : style_(style),
        columns_(static_cast<std::size_t>(std::ceil(scene.width / 2))),
        rows_(static_cast<std::size_t>(std::ceil(scene.height / 4)) + 1),
        cells_(columns_ * rows_),
        top_(scene.plot) {}

  void add(const Rectangle& r) {
    const Point corner{r.box.left, r.box.bottom - 1};
    draw({r.box.left, r.box.top}, corner, Ink::frame);
    draw(corner, {r.box.right - 1, r.box.bottom - 1}, Ink::frame);
  }

  void add(const Line& l) {
    for (std::size_t i = 0; i + 1 < l.points.size(); ++i) draw(l.points[i], l.points[i + 1], l.ink);
    if (l.arrow && l.points.size() >= 2) arrow(l.points[l.points.size() - 2], l.points.back());
  }

  void add(const Marker& m) {
    auto* cell = at(m.at);
    if (cell == nullptr) return;
    const auto index = static_cast<std::size_t>(m.position);
    const auto& marks = !style_.unicode ? kAsciiMarks : m.open ? kOpenMarks : kMarks;
    cell->glyph = marks[index];
    cell->colour = kPositionColours[index];
  }

  void add(const Text& t) {
    auto x = static_cast<long>(std::llround(t.at.x / 2));
    const auto y = static_cast<long>(std::floor(t.at.y / 4));
    for (std::size_t i = 0; i < t.text.size();) {
      const auto c = text::decode(t.text, i);
      put(x, y, c.value, t.text.substr(i, c.size), text_colour(t.ink));
      x += static_cast<long>(text::width(c.value));
      i += c.size;
    }
  }

  std::string print() const {
    std::string out;
    for (std::size_t y = 0; y < rows_; ++y) {
      std::string line;
      for (std::size_t x = 0; x < columns_; ++x) append(cells_[y * columns_ + x], line);
      while (!line.empty() && line.back() == ' ') line.pop_back();
      out += line + '\n';
    }
    while (out.size() > 1 && out[out.size() - 2] == '\n') out.pop_back();
    return out;
  }

 private:
  Cell* cell(long x, long y) {
    if (x < 0 || y < 0 || x >= static_cast<long>(columns_) || y >= static_cast<long>(rows_)) return nullptr;
    return &cells_[static_cast<std::size_t>(y) * columns_ + static_cast<std::size_t>(x)];
  }
  Cell* at(Point p) { return cell(static_cast<long>(std::floor(p.x / 2)), static_cast<long>(std::floor(p.y / 4))); }

  void put(long x, long y, char32_t value, std::string_view glyph, std::string_view colour) {
    const auto width = text::width(value);
    if (width == 0) {
      if (auto* left = cell(x - 1, y); left != nullptr && !left->glyph.empty()) left->glyph += glyph;
      return;
    }
    auto* c = cell(x, y);
    if (c == nullptr || (width == 2 && cell(x + 1, y) == nullptr)) return;
    c->glyph = glyph;
    c->colour = colour;
    c->continued = false;
    if (width == 2) cell(x + 1, y)->continued = true;
  }

  void draw(Point a, Point b, Ink ink) {
    const auto dash = dash_of(ink);
    const auto steps = static_cast<std::size_t>(std::ceil(std::max(std::abs(b.x - a.x), std::abs(b.y - a.y))));
    for (std::size_t i = 0; i <= steps; ++i) {
      if (i % (dash.on + dash.off) >= dash.on) continue;
      const double t = steps == 0 ? 0 : static_cast<double>(i) / static_cast<double>(steps);
      dot({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)}, ink, slope_of(a, b));
    }
  }

  static char slope_of(Point a, Point b) {
    const double dx = std::abs(b.x - a.x) / 2;
    const double dy = std::abs(b.y - a.y) / 4;
    if (dy < 0.3 * dx) return '-';
    if (dx < 0.3 * dy) return '|';
    return (b.x > a.x) == (b.y < a.y) ? '/' : '\\';
  }

  void dot(Point p, Ink ink, char ascii) {
    auto* c = at(p);
    if (c == nullptr) return;
    const auto x = static_cast<std::size_t>(std::floor(p.x)) % 2;
    const auto y = static_cast<std::size_t>(std::floor(p.y)) % 4;
    c->dots |= kDots[x][y];
    c->dot_colour = line_colour(ink);
    const bool faint = ink == Ink::ridge || ink == Ink::leader || ink == Ink::datasheet_roof;
    c->ascii = faint ? '.' : c->ascii != 0 && c->ascii != ascii && ink == Ink::frame ? '+' : ascii;
  }

  void arrow(Point from, Point to) {
    const double dx = to.x - from.x;
    const double dy = to.y - from.y;
    const bool flat = std::abs(dx) > std::abs(dy);
    const std::size_t way = flat ? (dx > 0 ? 0 : 1) : (dy > 0 ? 2 : 3);
    static constexpr std::array<std::string_view, 4> kUnicode = {"→", "←", "↓", "↑"};
    static constexpr std::array<std::string_view, 4> kAscii = {">", "<", "v", "^"};
    if (auto* c = at(to); c != nullptr && c->glyph.empty()) c->glyph = (style_.unicode ? kUnicode : kAscii)[way];
  }

  void append(const Cell& c, std::string& line) const {
    if (c.continued) return;
    std::string glyph = c.glyph;
    auto colour = c.colour;
    if (glyph.empty() && c.dots != 0) {
      colour = c.dot_colour;
      if (style_.unicode)
        text::encode(0x2800 + c.dots, glyph);
      else
        glyph = c.ascii;
    }
    if (glyph.empty()) glyph = " ";
    if (!style_.color || colour.empty() || glyph == " ")
      line += glyph;
    else
      line.append(colour).append(glyph).append(kReset);
  }

  TerminalStyle style_;
  std::size_t columns_, rows_;
  std::vector<Cell> cells_;
  Box top_;
};

}  // namespace

std::string to_terminal(const Chart& chart, const TerminalStyle& style) {
  constexpr std::size_t kNarrowest = 40;
  constexpr std::size_t kWidest = 200;  // wider, and lines get hard to follow
  const auto width = style.width == 0 ? 100 : std::clamp(style.width, kNarrowest, kWidest);
  const auto scene = lay_out(chart, cell_surface(width, style.unicode));
  Canvas canvas(scene, style);
  for (const auto& item : scene.items) std::visit([&](const auto& i) { canvas.add(i); }, item);
  return canvas.print();
}

}  // namespace roofline
