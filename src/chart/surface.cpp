#include "chart/surface.h"

#include <array>

#include "report/text.h"
#include "roofline/document.h"

namespace roofline::chart {
namespace {

// Advance widths of printable ASCII in DejaVu Sans, 1/1000 em. It is wider than the other fonts that the pictures ask
// for, so a text never takes more room than the layout keeps for it.
constexpr std::array<int, 95> kAdvance = {
    318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,  // space to /
    636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,  // 0 to ?
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,  // @ to O
    603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,  // P to _
    500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,  // ` to o
    635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};      // p to ~
constexpr double kNarrowOther = 0.84;                                                 // em; of other characters
constexpr double kWideOther = 1.1;

double advance(char32_t c) {
  if (c >= 0x20 && c < 0x7F) return kAdvance[c - 0x20] / 1000.0;
  const auto columns = text::width(c);
  return columns == 0 ? 0 : columns == 1 ? kNarrowOther : kWideOther;
}

}  // namespace

double font_size(Ink ink) {
  switch (ink) {
    case Ink::title:
      return 17;
    case Ink::subtitle:
    case Ink::axis_title:
      return 12;
    case Ink::number:
      return 9;
    case Ink::list:
    case Ink::list_faint:
      return 10;
    default:
      return 11;
  }
}

double Surface::text_width(std::string_view text, Ink ink) const {
  if (cells) return 2.0 * static_cast<double>(display_width(text));
  double em = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto c = text::decode(text, at);
    em += advance(c.value);
    at += c.size;
  }
  const double bold = ink == Ink::title ? 1.12 : 1.0;
  return em * font_size(ink) * bold;
}

double Surface::line_height(Ink ink) const { return cells ? 4.0 : std::round(font_size(ink) * 1.3); }

Surface page_surface(double width) {
  Surface s;
  s.width = width;
  s.plot_height = std::round(width * 0.52);
  s.gap = 4;
  s.marker_least = 3;
  s.marker_most = 25;
  s.leader_step = 13;
  s.names = 28;
  s.numbers = 400;
  s.arrows = 12;
  s.listed = 500;
  s.name_columns = 28;
  s.list_columns = width >= 900 ? 2 : 1;
  s.roof_columns = 60;
  return s;
}

Surface cell_surface(std::size_t columns, bool unicode) {
  Surface s;
  s.width = 2.0 * static_cast<double>(columns);
  s.plot_height = 4.0 * static_cast<double>(std::clamp<std::size_t>(columns / 4, 14, 32));
  s.cells = true;
  s.unicode = unicode;
  s.gap = 2;
  s.marker_least = 1;
  s.marker_most = 1;
  s.leader_step = 5;
  s.names = columns / 6;
  s.numbers = 60;
  s.arrows = 6;
  s.listed = 40;
  s.name_columns = std::clamp<std::size_t>(columns / 5, 12, 28);
  s.roof_columns = 48;
  return s;
}

}  // namespace roofline::chart
