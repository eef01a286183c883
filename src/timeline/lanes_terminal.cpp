// The lanes of a step in a terminal: a letter where a kind of work begins, a block for each column that it goes on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/text.h"
#include "timeline/lanes.h"

namespace roofline {
namespace {

constexpr std::size_t kLabel = 14;      // columns of a lane's name
constexpr std::size_t kLeastPlot = 24;  // columns of the lanes, however narrow the terminal
constexpr double kSlight = 0.25;        // of a column: less is shown, but not named
constexpr std::string_view kReset = "\x1b[0m";

std::string_view colour_of(const LaneClass& kind) {
  switch (kind.letter) {
    case 'A':
    case 'l':
      return "\x1b[34m";
    case 'B':
    case 'h':
    case 'r':
      return "\x1b[33m";
    case 'C':
    case 'c':
      return "\x1b[32m";
    case 'D':
    case 'p':
      return "\x1b[35m";
    case 'E':
    case 'b':
      return "\x1b[36m";
    case 'F':
    case 'x':
    case 's':
    case 'w':
      return "\x1b[31m";
    case 'G':
      return "\x1b[94m";
    case 'H':
      return "\x1b[92m";
    default:
      return "\x1b[90m";
  }
}

// What runs in one column of a lane: the time of each class, in columns.
struct Column {
  std::vector<std::pair<const LaneClass*, double>> times;

  void add(const LaneClass* kind, double time) {
    const auto it = std::find_if(times.begin(), times.end(), [&](const auto& t) { return t.first == kind; });
    if (it != times.end())
      it->second += time;
    else
      times.emplace_back(kind, time);
  }
  double busy() const {
    double sum = 0;
    for (const auto& t : times) sum += t.second;
    return sum;
  }
  const LaneClass* longest() const {
    return std::max_element(times.begin(), times.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }
};

class Drawing {
 public:
  Drawing(const Timeline& timeline, const DeviceStep& step, const TerminalStyle& style)
      : style_(style), lanes_(timeline, step), width_(style.width == 0 ? 100 : style.width) {
    columns_ = std::max(kLeastPlot, width_ - std::min(width_, kLabel + 2));
  }

  std::string draw() {
    const auto safe = [&](const std::string& s) { return text::printable(s, style_.unicode); };
    for (const auto& words : {lanes_.title(), lanes_.verdict()})
      for (const auto& line : text::wrap(safe(words), width_)) out_ += line + '\n';
    out_ += '\n';
    for (const auto& lane : lanes_.all()) {
      const auto label = cut_middle(safe(lane.label), kLabel, style_.unicode);
      out_ += fmt::format("{}{} {}", label, std::string(kLabel - std::min(kLabel, display_width(label)), ' '), bar());
      lane.bars.front().kind->range ? named(lane) : filled(lane);
    }
    axis();
    legend();
    return std::move(out_);
  }

 private:
  std::string_view bar() const { return style_.unicode ? "│" : "|"; }
  std::string_view block() const { return style_.unicode ? "█" : "="; }
  std::string_view slight() const { return style_.unicode ? "░" : "."; }
  std::string_view dash() const { return style_.unicode ? "─" : "-"; }

  // Columns from the left edge of the lanes.
  double x(std::int64_t ns) const {
    const auto& w = lanes_.window();
    const auto length = static_cast<double>(std::max<std::int64_t>(1, w.length()));
    const auto t = static_cast<double>(std::clamp(ns, w.start_ns, w.end_ns) - w.start_ns);
    return t / length * static_cast<double>(columns_);
  }

  void filled(const Lane& lane) {
    std::vector<Column> columns(columns_);
    for (const auto& b : lane.bars) {
      const double from = x(b.span.start_ns), to = x(b.span.end_ns);
      for (auto c = static_cast<std::size_t>(from); c < columns_ && static_cast<double>(c) < to; ++c) {
        const auto left = static_cast<double>(c);
        columns[c].add(b.kind, std::min(to, left + 1) - std::max(from, left));
      }
    }
    std::string line;
    const LaneClass* before = nullptr;
    for (const auto& column : columns) {
      const auto* kind = column.busy() >= kSlight ? column.longest() : nullptr;
      if (kind)
        line += painted(*kind, kind == before ? std::string(block()) : std::string(1, kind->letter));
      else
        line += column.busy() > 0 ? std::string(slight()) : " ";
      before = kind;
    }
    put(line);
  }

  std::string painted(const LaneClass& kind, std::string text) const {
    if (!style_.color) return text;
    return fmt::format("{}{}{}", colour_of(kind), text, kReset);
  }

  // Ranges: each a line with its name in it.
  void named(const Lane& lane) {
    constexpr std::size_t kLeastName = 4;
    std::string line;
    std::size_t at = 0;
    for (const auto& b : lane.bars) {
      const auto from = std::max(at, static_cast<std::size_t>(x(b.span.start_ns)));
      const auto to = std::min(columns_, static_cast<std::size_t>(std::ceil(x(b.span.end_ns))));
      if (to <= from) continue;
      line += std::string(from - at, ' ') + std::string(style_.unicode ? "├" : "|");
      std::size_t room = to - from - 1;
      if (room > kLeastName) {
        const auto name = cut_middle(text::printable(b.text, style_.unicode), room - 1, style_.unicode);
        line += name;
        room -= std::min(room, display_width(name));
      }
      for (; room > 0; --room) line += dash();
      at = to;
    }
    put(line);
  }

  void put(std::string& line) {
    line.resize(line.find_last_not_of(' ') + 1);
    out_ += line + '\n';
  }

  void axis() {
    const auto length = static_cast<double>(std::max<std::int64_t>(1, lanes_.window().length()));
    constexpr std::size_t kColumnsPerTick = 12;
    const double step = tick_step(length, std::max<std::size_t>(2, columns_ / kColumnsPerTick));
    std::string rule(kLabel + 1, ' '), numbers(kLabel + 1, ' ');
    rule += style_.unicode ? "└" : "+";
    std::size_t drawn = 0;
    const auto ticks = static_cast<std::size_t>(length * 1.0001 / step);
    for (std::size_t i = 0; i <= ticks; ++i) {
      const double t = static_cast<double>(i) * step;
      const auto column = static_cast<std::size_t>(std::lround(t / length * static_cast<double>(columns_)));
      const auto text = i == 0 ? std::string("0") : si(t * 1e-9, "s", style_.unicode);
      for (; drawn + 1 < column; ++drawn) rule += dash();
      if (i > 0) {
        rule += style_.unicode ? "┴" : "+";
        ++drawn;
      }
      const auto at = kLabel + 1 + column;
      const auto used = display_width(numbers);
      if (at < used || at + display_width(text) > width_) continue;
      numbers += std::string(at - used, ' ') + text + ' ';
    }
    for (; drawn < columns_; ++drawn) rule += dash();
    out_ += rule + '\n';
    put(numbers);
    out_ += '\n';
  }

  void legend() {
    auto entries = lanes_.legend();
    const auto half = (width_ - 2) / 2;
    const bool two = width_ >= 72;
    const auto rows = two ? (entries.size() + 1) / 2 : entries.size();
    for (std::size_t i = 0; i < rows; ++i) {
      auto line = entry(entries[i], two ? half : width_);
      if (two && i + rows < entries.size()) {
        line.second += std::string(half + 2 - std::min(half, line.first), ' ');
        line.second += entry(entries[i + rows], half).second;
      }
      out_ += line.second + '\n';
    }
    out_ += fmt::format("{} less than a quarter of the column\n", slight());
  }

  // Columns it takes, and its text.
  std::pair<std::size_t, std::string> entry(const LegendEntry& e, std::size_t most) const {
    const auto words = cut_middle(text::printable(e.text, style_.unicode), most - 2, style_.unicode);
    return {2 + display_width(words), painted(*e.kind, std::string(1, e.kind->letter)) + ' ' + words};
  }

  const TerminalStyle& style_;
  Lanes lanes_;
  std::size_t width_, columns_ = 0;
  std::string out_;
};

}  // namespace

std::string lanes_text(const Timeline& timeline, const DeviceStep& step, const TerminalStyle& style) {
  return Drawing(timeline, step, style).draw();
}

}  // namespace roofline
