// The lanes of a step as a picture.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/text.h"
#include "timeline/lanes.h"

namespace roofline {
namespace {

constexpr double kLeft = 170, kRight = 16, kTop = 64;
constexpr double kLane = 22, kGap = 6;
constexpr const char* kFonts = "'Segoe UI',Roboto,Helvetica,Arial,'DejaVu Sans',sans-serif";

// XML 1.0 allows neither control characters nor noncharacters, not even escaped.
std::string escaped(std::string_view s) {
  std::string out;
  const auto safe = text::printable(s, true);
  for (std::size_t at = 0; at < safe.size();) {
    const auto c = text::decode(safe, at);
    if (c.value == '<' || c.value == '>' || c.value == '&' || c.value == '"')
      out += fmt::format("&#{};", static_cast<unsigned>(c.value));
    else if (c.value == 0xFFFE || c.value == 0xFFFF)
      out += "?";
    else
      out.append(safe, at, c.size);
    at += c.size;
  }
  return out;
}

class Picture {
 public:
  Picture(const Timeline& timeline, const DeviceStep& step, const SvgOptions& options)
      : step_(step), options_(options), lanes_(timeline, step), legend_(lanes_.legend()) {
    const auto legend_rows = (legend_.size() + 1) / 2;
    axis_y_ = kTop + static_cast<double>(lanes_.all().size()) * (kLane + kGap);
    height_ = axis_y_ + 44 + static_cast<double>(legend_rows) * 18 + 12;
  }

  std::string draw() {
    head();
    axis();
    double y = kTop;
    for (const auto& one : lanes_.all()) {
      lane(one, y);
      y += kLane + kGap;
    }
    legend();
    return out_ + "</svg>\n";
  }

 private:
  double x(std::int64_t ns) const {
    const auto& w = lanes_.window();
    const auto t = std::clamp(ns, w.start_ns, w.end_ns) - w.start_ns;
    const auto length = std::max<std::int64_t>(1, w.length());
    return kLeft + (options_.width - kLeft - kRight) * static_cast<double>(t) / static_cast<double>(length);
  }

  void head() {
    const bool dark = options_.theme == SvgTheme::dark;
    const auto colours = [](bool night) {
      return night
                 ? ".paper{fill:#0d1117}.ink{fill:#e6edf3}.faint{fill:#9aa4b0}.grid{stroke:#2d333b}.row{fill:#161b22}"
                 : ".paper{fill:#ffffff}.ink{fill:#1b1f24}.faint{fill:#4b5563}.grid{stroke:#dfe3e8}.row{fill:#f6f8fa}";
    };
    std::string style = fmt::format(
        "text{{font-family:{};font-size:12px}}.t{{font-size:16px;font-weight:600}}.in{{font-size:10px;fill:#fff}}{}",
        kFonts, colours(dark));
    if (options_.theme == SvgTheme::automatic)
      style += fmt::format("@media (prefers-color-scheme:dark){{{}}}", colours(true));
    out_ += fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-labelledby=\"title desc\">\n<title "
        "id=\"title\">{2}</title>\n"
        "<desc id=\"desc\">{3}</desc>\n<style>{4}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
        options_.width, height_, escaped(lanes_.title()), escaped(step_.verdict), style);
    out_ += fmt::format("<text class=\"t ink\" x=\"16\" y=\"26\">{}</text>\n", escaped(lanes_.title()));
    constexpr std::size_t kColumns = 150;
    out_ += fmt::format("<text class=\"faint\" x=\"16\" y=\"46\">{}</text>\n",
                        escaped(cut_middle(lanes_.verdict(), kColumns)));
  }

  void axis() {
    const auto length = static_cast<double>(std::max<std::int64_t>(1, lanes_.window().length()));
    const double step = tick_step(length, 8);
    const auto ticks = static_cast<std::size_t>(length * 1.0001 / step);
    for (std::size_t i = 0; i <= ticks; ++i) {
      const double t = static_cast<double>(i) * step;
      const double at = kLeft + (options_.width - kLeft - kRight) * t / length;
      out_ += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n", at,
                          kTop - 4, axis_y_);
      out_ += fmt::format("<text class=\"faint\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", at,
                          axis_y_ + 14, escaped(t == 0 ? "0" : si(t * 1e-9, "s")));
    }
  }

  void lane(const Lane& lane, double y) {
    out_ += fmt::format("<rect class=\"row\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", kLeft,
                        y, options_.width - kLeft - kRight, kLane);
    out_ += fmt::format("<text class=\"ink\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kLeft - 8,
                        y + kLane / 2 + 4, escaped(cut_middle(lane.label, 22)));
    // Thousands of bars on one pixel are one: those too narrow to be seen join the one before where it looks the same.
    constexpr double kNarrow = 0.5;
    double begin = -1, end = -1;
    const LaneBar* open = nullptr;
    for (const auto& bar : lane.bars) {
      const double from = x(bar.span.start_ns), to = x(bar.span.end_ns);
      if (open && bar.kind == open->kind && from - end < kNarrow && (to - from < kNarrow || end - begin < kNarrow)) {
        end = std::max(end, to);
        continue;
      }
      if (open) put(*open, begin, end, y);
      open = &bar;
      begin = from;
      end = to;
    }
    if (open) put(*open, begin, end, y);
  }

  void put(const LaneBar& bar, double begin, double end, double y) {
    constexpr double kLeastWidth = 0.4, kCharacter = 5.6;
    const double width = std::max(end - begin, kLeastWidth);
    out_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n",
        begin, y + 1, width, kLane - 2, bar.kind->colour, escaped(cut_middle(bar.tip, 200)));
    const auto columns = static_cast<std::size_t>(std::max(0.0, (width - 6) / kCharacter));
    constexpr std::size_t kLeastColumns = 5;
    if (bar.text.empty() || columns < kLeastColumns) return;
    const auto text = cut_middle(bar.text, columns);
    const auto* ink = bar.kind->range ? " style=\"fill:#1b1f24\"" : "";
    out_ += fmt::format("<text class=\"in\"{} x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", ink, begin + 3,
                        y + kLane / 2 + 3.5, escaped(text));
  }

  void legend() {
    const auto rows = std::max<std::size_t>(1, (legend_.size() + 1) / 2);
    for (std::size_t i = 0; i < legend_.size(); ++i) {
      const double left = i < rows ? 16 : options_.width / 2 + 8;
      const double y = axis_y_ + 40 + 18 * static_cast<double>(i % rows);
      out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", left, y - 10,
                          legend_[i].kind->colour);
      out_ += fmt::format("<text class=\"ink\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left + 18, y,
                          escaped(cut_middle(legend_[i].text, 66)));
    }
  }

  const DeviceStep& step_;
  const SvgOptions& options_;
  Lanes lanes_;
  std::vector<LegendEntry> legend_;
  double axis_y_ = 0, height_ = 0;
  std::string out_;
};

}  // namespace

std::string lanes_svg(const Timeline& timeline, const DeviceStep& step, const SvgOptions& options) {
  return Picture(timeline, step, options).draw();
}

}  // namespace roofline
