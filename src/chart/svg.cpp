#include <fmt/format.h>

#include <array>
#include <iterator>
#include <numbers>

#include "chart/layout.h"
#include "report/text.h"
#include "roofline/chart.h"

namespace roofline {
namespace {

using namespace chart;

constexpr std::size_t kLongestName = 1000;  // columns of a name in a tooltip
constexpr const char* kFonts = "'Segoe UI',Roboto,Helvetica,Arial,'DejaVu Sans',sans-serif";

// ---------------------------------------------------------------- style

struct Style {
  const char* name;   // CSS class
  const char* light;  // colour
  const char* dark;
  const char* rest;  // further declarations of a line or a text
};

// By Ink.
constexpr std::array<Style, 23> kStyles = {{
    {"frame", "#8a8f98", "#7d8590", "stroke-width:1"},
    {"grid", "#dfe3e8", "#2d333b", "stroke-width:1"},
    {"fine", "#f1f3f5", "#1f242b", "stroke-width:1"},
    {"roof", "#1b1f24", "#e6edf3", "stroke-width:2.4"},
    {"cache", "#6b7280", "#9aa4b0", "stroke-width:1.4"},
    {"sheet", "#6b7280", "#9aa4b0", "stroke-width:1.4;stroke-dasharray:7 4"},
    {"other", "#9c6ade", "#b794f6", "stroke-width:1.4;stroke-dasharray:10 3 2 3"},
    {"ridge", "#6b7280", "#9aa4b0", "stroke-width:1;stroke-dasharray:2 3"},
    {"gain", "#4b5563", "#c0c8d2", "stroke-width:1.2;stroke-dasharray:3 2"},
    {"link", "#4b5563", "#c0c8d2", "stroke-width:1.3"},
    {"change", "#1b1f24", "#e6edf3", "stroke-width:1.4"},
    {"leader", "#9aa1ab", "#6e7681", "stroke-width:.7"},
    {"title", "#1b1f24", "#f0f3f6", "font-weight:600"},
    {"sub", "#4b5563", "#b1bac4", ""},
    {"tick", "#4b5563", "#b1bac4", ""},
    {"axis", "#374151", "#c9d1d9", ""},
    {"rooft", "#374151", "#c9d1d9", "font-style:italic"},
    {"label", "#1b1f24", "#f0f3f6", ""},
    {"number", "#1b1f24", "#f0f3f6", ""},
    {"key", "#374151", "#c9d1d9", ""},
    {"list", "#1b1f24", "#e6edf3", ""},
    {"listf", "#6b7280", "#9aa4b0", ""},
    {"note", "#4b5563", "#b1bac4", ""},
}};

// By Position. Hues from the palette of Okabe and Ito ("Color Universal Design", 2008), which people with any kind of
// colour vision tell apart; shapes say the same again.
constexpr std::array<Style, 7> kPositions = {{
    {"p0", "#8a8f98", "#8b949e", ""},
    {"p1", "#0072b2", "#56b4e9", ""},
    {"p2", "#e69f00", "#f0b429", ""},
    {"p3", "#009e73", "#2fc59b", ""},
    {"p4", "#d55e00", "#ff8a4c", ""},
    {"p5", "#b5508f", "#e59ac6", ""},
    {"p6", "#5b5fc7", "#a5a8ff", ""},
}};

bool is_text(Ink ink) { return ink >= Ink::title; }
const Style& style_of(Ink ink) { return kStyles[static_cast<std::size_t>(ink)]; }

// The rules that differ between light and dark.
std::string colours(bool dark) {
  std::string out;
  const auto* paper = dark ? "#0d1117" : "#ffffff";
  out += fmt::format(".paper{{fill:{}}}", paper);
  for (std::size_t i = 0; i < kStyles.size(); ++i) {
    const auto& s = kStyles[i];
    const auto* colour = dark ? s.dark : s.light;
    if (!is_text(static_cast<Ink>(i)))
      out += fmt::format(".{0}{{stroke:{1}}}.h{0}{{fill:{1}}}", s.name, colour);
    else
      out += fmt::format(".{}{{fill:{}}}", s.name, colour);
  }
  out += fmt::format(".halo{{stroke:{}}}", paper);
  for (const auto& s : kPositions) {
    const auto* colour = dark ? s.dark : s.light;
    out += fmt::format(".{0}{{fill:{1};stroke:{2}}}.o{0}{{fill:{2};stroke:{1}}}", s.name, colour, paper);
  }
  return out;
}

std::string style_sheet(SvgTheme theme) {
  std::string out = fmt::format("text{{font-family:{};dominant-baseline:auto}}", kFonts);
  for (std::size_t i = 0; i < kStyles.size(); ++i) {
    const auto& s = kStyles[i];
    const auto ink = static_cast<Ink>(i);
    if (is_text(ink))
      out += fmt::format(".{}{{font-size:{}px;{}}}", s.name, font_size(ink), s.rest);
    else
      out += fmt::format(".{}{{fill:none;{}}}.h{}{{stroke:none}}", s.name, s.rest, s.name);
  }
  out += ".halo{stroke-width:3px;stroke-linejoin:round;paint-order:stroke}.mark{fill-opacity:.85;stroke-width:1}";
  out += ".open{fill-opacity:.9;stroke-width:1.8}.past{fill-opacity:.4;stroke-opacity:.6}";
  out += colours(theme == SvgTheme::dark);
  if (theme == SvgTheme::automatic) out += "@media (prefers-color-scheme:dark){" + colours(true) + "}";
  return out;
}

// ---------------------------------------------------------------- text

// XML 1.0 allows neither control characters nor noncharacters, not even escaped.
std::string escaped(std::string_view s) {
  std::string out;
  const auto safe = text::printable(s, true);
  for (std::size_t at = 0; at < safe.size();) {
    const auto c = text::decode(safe, at);
    switch (c.value) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case 0xFFFE:
      case 0xFFFF:
        out += "\xEF\xBF\xBD";
        break;
      default:
        out.append(safe, at, c.size);
    }
    at += c.size;
  }
  return out;
}

// A tenth of a pixel is finer than anyone sees, and coarse enough to come out the same on every machine.
std::string num(double v) {
  auto out = fmt::format("{:.1f}", v);
  while (out.back() == '0') out.pop_back();
  if (out.back() == '.') out.pop_back();
  return out == "-0" ? "0" : out;
}

// ---------------------------------------------------------------- marks

std::string polygon(const std::vector<Point>& points) {
  std::string out;
  for (const auto& p : points) out += fmt::format("{}{},{}", out.empty() ? "M" : "L", num(p.x), num(p.y));
  return out + "Z";
}

// Regular polygon of the given area, first corner at `turn` (radians, 0 is to the right).
std::string regular(Point at, double area, int corners, double turn) {
  const double step = 2 * std::numbers::pi / corners;
  const double r = std::sqrt(2 * area / (corners * std::sin(step)));
  std::vector<Point> points;
  points.reserve(static_cast<std::size_t>(corners));
  for (int i = 0; i < corners; ++i)
    points.push_back({at.x + r * std::cos(turn + i * step), at.y + r * std::sin(turn + i * step)});
  return polygon(points);
}

std::string cross(Point at, double area) {
  const double a = std::sqrt(area / 5);  // five squares of side a
  const double b = 1.5 * a;
  const double h = a / 2;
  std::vector<Point> points = {{h, -b}, {b, -h}, {b, h}, {h, b}, {-h, b}, {-b, h}, {-b, -h}, {-h, -b}};
  const std::vector<Point> outline = {{-h, -b}, {h, -b}, {h, -h}, {b, -h}, {b, h},   {h, h},
                                      {h, b},   {-h, b}, {-h, h}, {-b, h}, {-b, -h}, {-h, -h}};
  points.clear();
  for (const auto& p : outline) points.push_back({at.x + p.x, at.y + p.y});
  return polygon(points);
}

// The shape of a position; all shapes of one radius have the area of its circle.
std::string shape(const Marker& m) {
  constexpr double kPi = std::numbers::pi;
  const double area = kPi * m.radius * m.radius;
  switch (m.position) {
    case Position::memory_suboptimal:
      return regular(m.at, area, 3, -kPi / 2);
    case Position::compute_optimal:
      return regular(m.at, area, 4, kPi / 4);
    case Position::compute_suboptimal:
      return regular(m.at, area, 4, 0);
    case Position::latency_bound:
      return regular(m.at, area, 3, kPi / 2);
    case Position::communication_bound:
      return cross(m.at, area);
    case Position::unplaced:
      return regular(m.at, area, 6, 0);
    case Position::memory_optimal:
      break;
  }
  const auto r = num(m.radius);
  return fmt::format("M{},{}a{},{} 0 1 0 {},0a{},{} 0 1 0 {},0Z", num(m.at.x - m.radius), num(m.at.y), r, r,
                     num(2 * m.radius), r, r, num(-2 * m.radius));
}

std::string head(Point from, Point to, double size) {
  const double d = std::max(distance(from, to), 1e-9);
  const Point u{(to.x - from.x) / d, (to.y - from.y) / d};
  const Point base{to.x - u.x * size, to.y - u.y * size};
  const double half = 0.42 * size;
  return polygon({to, {base.x - u.y * half, base.y + u.x * half}, {base.x + u.y * half, base.y - u.x * half}});
}

// ---------------------------------------------------------------- document

class SvgWriter {
 public:
  SvgWriter(const Chart& chart, const Scene& scene, const SvgOptions& options)
      : chart_(chart), scene_(scene), options_(options) {}

  std::string run() {
    open();
    for (const auto& item : scene_.items) std::visit([this](const auto& i) { add(i); }, item);
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  void open() {
    const auto w = num(scene_.width);
    const auto h = num(std::ceil(scene_.height));
    emit(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "role=\"img\" aria-labelledby=\"title desc\">\n",
        w, h);
    emit("<title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n", escaped(chart_.title),
         escaped(description()));
    emit("<style>{}</style>\n<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", style_sheet(options_.theme), w, h);
  }

  // For those who cannot see the picture: the roofs and the kernels with the most time.
  std::string description() const {
    constexpr std::size_t kKernels = 10;
    std::string out = fmt::format("Roofline chart of {} marks. {}.", chart_.points.size(), chart_.subtitle);
    for (const auto& r : chart_.roofs) out += fmt::format(" {}.", r.label);
    for (std::size_t i = 0; i < std::min(kKernels, chart_.points.size()); ++i)
      out += fmt::format(" {}: {}.", shown_text(chart_.points[i].label, 60, true), chart_.points[i].facts);
    return out;
  }

  template <typename... T>
  void emit(fmt::format_string<T...> format, T&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(args)...);
  }

  void add(const Rectangle& r) {
    emit("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", style_of(r.ink).name, num(r.box.left),
         num(r.box.top), num(r.box.width()), num(r.box.height()));
  }

  void add(const Line& l) {
    constexpr double kHead = 8;
    auto points = l.points;
    const auto n = points.size();
    const auto* name = style_of(l.ink).name;
    if (l.arrow && n >= 2) {
      const auto from = points[n - 2];
      const auto to = points[n - 1];
      const double d = distance(from, to);
      const double size = std::min(kHead, 0.7 * d);
      emit("<path class=\"h{}\" d=\"{}\"/>\n", name, head(from, to, size));
      if (d > 0) points[n - 1] = {to.x - (to.x - from.x) * size / d, to.y - (to.y - from.y) * size / d};
    }
    std::string d;
    for (const auto& p : points) d += fmt::format("{}{},{}", d.empty() ? "M" : "L", num(p.x), num(p.y));
    emit("<path class=\"{}\" d=\"{}\"/>\n", name, d);
  }

  void add(const Marker& m) {
    if (m.size_only) {
      emit("<circle class=\"frame\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", num(m.at.x), num(m.at.y), num(m.radius));
      return;
    }
    const auto* colour = kPositions[static_cast<std::size_t>(m.position)].name;
    const auto* look = m.open ? "open" : "mark";
    emit("<path class=\"{}{} {}{}\" d=\"{}\"", m.open ? "o" : "", colour, look, m.past ? " past" : "", shape(m));
    if (m.point == Marker::kNone) {
      out_ += "/>\n";
    } else {
      const auto& p = chart_.points[m.point];
      emit("><title>{} {}&#10;{}</title></path>\n", p.number,
           escaped(shown_text(p.full_name.empty() ? p.label : p.full_name, kLongestName, true)), escaped(p.facts));
    }
    if (m.toward != Toward::nowhere) bound_arrow(m);
  }

  // From the open mark towards where the truth lies.
  void bound_arrow(const Marker& m) {
    const auto way = direction_of(m.toward);
    const Point from{m.at.x + way.x * m.radius, m.at.y + way.y * m.radius};
    const double end = bound_reach(m.radius);
    add(Line{{from, {m.at.x + way.x * end, m.at.y + way.y * end}}, Ink::link, true});
  }

  void add(const Text& t) {
    if (t.text.empty()) return;
    const double baseline = t.at.y + 0.36 * font_size(t.ink);
    const auto* anchor = t.anchor == Anchor::start ? ""
                         : t.anchor == Anchor::end ? " text-anchor=\"end\""
                                                   : " text-anchor=\"middle\"";
    const bool halo = t.ink == Ink::label || t.ink == Ink::number || t.ink == Ink::roof_text;
    const auto* name = style_of(t.ink).name;
    const auto turned = t.turn == 0
                            ? std::string()
                            : fmt::format(" transform=\"rotate({} {} {})\"", num(t.turn), num(t.at.x), num(t.at.y));
    emit("<text class=\"{}{}\" x=\"{}\" y=\"{}\"{}{}>{}</text>\n", name, halo ? " halo" : "", num(t.at.x),
         num(baseline), anchor, turned, escaped(t.text));
  }

  const Chart& chart_;
  const Scene& scene_;
  const SvgOptions& options_;
  std::string out_;
};

}  // namespace

std::string to_svg(const Chart& chart, const SvgOptions& options) {
  constexpr double kNarrowest = 480;
  const auto scene = lay_out(chart, page_surface(std::max(options.width, kNarrowest)));
  return SvgWriter(chart, scene, options).run();
}

}  // namespace roofline
