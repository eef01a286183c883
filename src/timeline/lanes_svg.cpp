// One step as lanes: streams of the GPU, why it idled, the threads that launched, and the ranges, against one time
// axis.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "report/text.h"
#include "roofline/timeline_views.h"
#include "timeline/device_step.h"
#include "timeline/segments.h"
#include "timeline/words.h"

namespace roofline {
namespace {

constexpr double kLeft = 170, kRight = 16, kTop = 64;
constexpr double kLane = 22, kGap = 6;
constexpr std::size_t kMostStreams = 10, kMostThreads = 4, kMostRanges = 3;
constexpr const char* kFonts = "'Segoe UI',Roboto,Helvetica,Arial,'DejaVu Sans',sans-serif";

// Kernels with most time get colours of their own: Okabe and Ito's, and three tints, which also differ in lightness.
constexpr std::array<const char*, 8> kKernelColours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                       "#56b4e9", "#d55e00", "#6a4fb3", "#7f8c3a"};
constexpr const char* kOther = "#9aa1ab";
constexpr const char* kCommunication = "#8c2d04";
constexpr const char* kCopy = "#4d9221";
constexpr const char* kGraph = "#5b5fc7";
constexpr const char* kRange = "#b9c2cc";
constexpr const char* kLaunch = "#2b6cb0";
constexpr const char* kWait = "#c53030";
constexpr const char* kProfiler = "#6b46c1";

struct IdleColour {
  StepPart part;
  const char* colour;
  const char* words;
};
constexpr IdleColour kIdle[] = {{StepPart::launch_late, "#dd6b20", "host not at the launch"},
                                {StepPart::launch_call, "#2b6cb0", "launch call"},
                                {StepPart::launch_latency, "#63b3ed", "launched, not begun"},
                                {StepPart::host_wait, "#c53030", "host waits"},
                                {StepPart::host_call, "#975a16", "other runtime call"},
                                {StepPart::device_gap, "#a0aec0", "between works"},
                                {StepPart::profiler, "#6b46c1", "profiler"},
                                {StepPart::unseen, "#d6bcfa", "unseen work"},
                                {StepPart::unknown, "#4a5568", "unknown"}};

const IdleColour* idle_colour(StepPart part) {
  const auto* it = std::find_if(std::begin(kIdle), std::end(kIdle), [&](const auto& c) { return c.part == part; });
  return it == std::end(kIdle) ? nullptr : it;
}

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

struct Bar {
  Span span;
  const char* colour;
  std::string text;  // inside, where there is room
  std::string tip;
};

struct Lane {
  std::string label;
  std::vector<Bar> bars;  // by start
};

// The median one of the steps that count.
Span window_of(const DeviceStep& step) {
  auto windows = counted_windows(step);
  const auto middle = windows.begin() + static_cast<std::ptrdiff_t>(windows.size() / 2);
  std::nth_element(windows.begin(), middle, windows.end(),
                   [](const Span& a, const Span& b) { return a.length() < b.length(); });
  return *middle;
}

bool touches(const Span& a, const Span& window) { return a.start_ns < window.end_ns && a.end_ns > window.start_ns; }

class Lanes {
 public:
  Lanes(const Timeline& timeline, const DeviceStep& step)
      : timeline_(timeline), step_(step), facts_(timeline), window_(window_of(step)) {
    const auto labels =
        kernel_labels(timeline, {step.kernels.data(), std::min(step.kernels.size(), kKernelColours.size())});
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto& k = step.kernels[i];
      const auto name = k.full_name != kNone ? k.full_name : k.name;
      if (k.communication || colours_.count(name) != 0) continue;
      const auto* colour = kKernelColours[legend_.size() % kKernelColours.size()];
      colours_.emplace(name, colour);
      legend_.push_back({fmt::format("{} {}", labels[i], percent_text(k.share_of_wall)), colour});
    }
  }

  const Span& window() const { return window_; }
  const std::vector<std::pair<std::string, const char*>>& legend() const { return legend_; }

  std::vector<Lane> all() {
    std::vector<Lane> out = ranges();
    for (auto& lane : streams()) out.push_back(std::move(lane));
    out.push_back(idle());
    for (auto& lane : threads()) out.push_back(std::move(lane));
    std::erase_if(out, [](const Lane& lane) { return lane.bars.empty(); });
    return out;
  }

 private:
  const char* colour_of(const GpuActivity& a) const {
    if (a.work == GpuWork::graph) return kGraph;
    if (a.work != GpuWork::kernel) return kCopy;
    if (facts_.communication(a)) return kCommunication;
    const auto it = colours_.find(a.full_name != kNone ? a.full_name : a.name);
    return it == colours_.end() ? kOther : it->second;
  }

  std::vector<Lane> streams() const {
    using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
    std::map<Key, std::pair<std::int64_t, Lane>> by_stream;
    for (const auto& a : timeline_.activities) {
      if (a.span.start_ns >= window_.end_ns) break;
      if (a.device != step_.device || !touches(a.span, window_)) continue;
      auto& [time, lane] = by_stream[Key(a.process, a.context, a.stream)];
      time += a.span.length();
      lane.label = fmt::format("stream {}", a.stream);
      const auto name = work_name(timeline_, a);
      lane.bars.push_back({a.span, colour_of(a), name, fmt::format("{}, {}", name, duration_text(a.span.length()))});
    }
    std::vector<std::pair<std::int64_t, Lane>> order;
    for (auto& [key, entry] : by_stream) order.push_back(std::move(entry));
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Lane> out;
    for (auto& [time, lane] : order)
      if (out.size() < kMostStreams) out.push_back(std::move(lane));
    return out;
  }

  Lane idle() const {
    std::vector<std::uint32_t> activities;
    for (std::uint32_t i = 0; i < timeline_.activities.size(); ++i)
      if (timeline_.activities[i].device == step_.device) activities.push_back(i);
    const auto segments = cut_segments(facts_, activities);
    Lane lane{"idle, and why", {}};
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
      const Span span{segments[i].start_ns, segments[i + 1].start_ns};
      const auto* colour = is_idle(segments[i].part) ? idle_colour(segments[i].part) : nullptr;
      if (!colour || !touches(span, window_)) continue;
      lane.bars.push_back(
          {span, colour->colour, "", fmt::format("{}, {}", colour->words, duration_text(span.length()))});
    }
    return lane;
  }

  // The threads that launched this device's work of the window.
  std::vector<Lane> threads() const {
    std::set<std::uint64_t> launching;
    for (const auto& a : timeline_.activities) {
      if (a.span.start_ns >= window_.end_ns) break;
      if (a.device != step_.device || !touches(a.span, window_)) continue;
      if (const auto* call = facts_.call_of(a)) launching.insert(call->thread);
    }
    std::vector<Lane> out;
    for (const auto number : launching) {
      const auto* thread = facts_.thread(number);
      if (!thread || out.size() >= kMostThreads) continue;
      Lane lane{fmt::format("host thread {}", out.size() + 1), {}};
      for (const auto* list : {&thread->calls, &thread->profiler})
        for (const auto i : *list) add_call(timeline_.calls[i], lane);
      out.push_back(std::move(lane));
    }
    return out;
  }

  void add_call(const HostCall& call, Lane& lane) const {
    if (!touches(call.span, window_)) return;
    const auto* colour = call.kind == HostCallKind::synchronize ? kWait
                         : call.kind == HostCallKind::profiler  ? kProfiler
                         : call.kind == HostCallKind::copy      ? kCopy
                         : call.kind == HostCallKind::other     ? kOther
                                                                : kLaunch;
    const auto name = call.name == kNone ? std::string("call") : timeline_.names[call.name];
    lane.bars.push_back({call.span, colour, name, fmt::format("{}, {}", name, duration_text(call.span.length()))});
  }

  // Nested ranges on lanes below each other.
  std::vector<Lane> ranges() const {
    std::vector<Lane> out;
    std::vector<std::int64_t> until;
    for (const auto& r : timeline_.ranges) {
      if (r.span.start_ns >= window_.end_ns) break;
      if (!touches(r.span, window_) || r.name == kNone || r.span.length() * 200 < window_.length()) continue;
      std::size_t lane = 0;
      while (lane < until.size() && until[lane] > r.span.start_ns) ++lane;
      if (lane >= kMostRanges) continue;
      if (lane == out.size()) {
        out.push_back({lane == 0 ? "ranges" : "", {}});
        until.push_back(0);
      }
      until[lane] = r.span.end_ns;
      const auto& name = timeline_.names[r.name];
      out[lane].bars.push_back({r.span, kRange, name, fmt::format("{}, {}", name, duration_text(r.span.length()))});
    }
    return out;
  }

  const Timeline& timeline_;
  const DeviceStep& step_;
  TimelineFacts facts_;
  Span window_;
  std::map<std::uint32_t, const char*> colours_;
  std::vector<std::pair<std::string, const char*>> legend_;
};

// A round distance between ticks, nanoseconds.
double tick_step(double length, std::size_t ticks) {
  const double rough = length / static_cast<double>(ticks);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

class Picture {
 public:
  Picture(const Timeline& timeline, const DeviceStep& step, const SvgOptions& options)
      : timeline_(timeline), step_(step), options_(options), lanes_(timeline, step), list_(lanes_.all()) {
    const auto legend_rows = (entries().size() + 1) / 2;
    axis_y_ = kTop + static_cast<double>(list_.size()) * (kLane + kGap);
    height_ = axis_y_ + 44 + static_cast<double>(legend_rows) * 18 + 12;
  }

  std::string draw() {
    head();
    axis();
    for (std::size_t i = 0; i < list_.size(); ++i) lane(list_[i], kTop + static_cast<double>(i) * (kLane + kGap));
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
        options_.width, height_, escaped(title()), escaped(step_.verdict), style);
    out_ += fmt::format("<text class=\"t ink\" x=\"16\" y=\"26\">{}</text>\n", escaped(title()));
    constexpr std::size_t kColumns = 150;
    out_ += fmt::format("<text class=\"faint\" x=\"16\" y=\"46\">{}</text>\n",
                        escaped(cut_middle(step_.verdict.substr(0, step_.verdict.find(". ") + 1), kColumns)));
  }

  std::string title() const {
    const auto length = duration_text(lanes_.window().length());
    return fmt::format("{}: {} {}", device_title(timeline_, step_.device),
                       step_.steps.empty() ? "all work," : "the median step,", length);
  }

  void axis() {
    const auto length = static_cast<double>(std::max<std::int64_t>(1, lanes_.window().length()));
    const double step = tick_step(length, 8);
    for (double t = 0; t <= length * 1.0001; t += step) {
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
    const Bar* open = nullptr;
    for (const auto& bar : lane.bars) {
      const double from = x(bar.span.start_ns), to = x(bar.span.end_ns);
      if (open && bar.colour == open->colour && from - end < kNarrow &&
          (to - from < kNarrow || end - begin < kNarrow)) {
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

  void put(const Bar& bar, double begin, double end, double y) {
    constexpr double kLeastWidth = 0.4, kCharacter = 5.6;
    const double width = std::max(end - begin, kLeastWidth);
    out_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n",
        begin, y + 1, width, kLane - 2, bar.colour, escaped(cut_middle(bar.tip, 200)));
    const auto columns = static_cast<std::size_t>(std::max(0.0, (width - 6) / kCharacter));
    constexpr std::size_t kLeastColumns = 5;
    if (bar.text.empty() || columns < kLeastColumns) return;
    const auto text = cut_middle(bar.text, columns);
    const auto* ink = bar.colour == kRange ? " style=\"fill:#1b1f24\"" : "";
    out_ += fmt::format("<text class=\"in\"{} x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", ink, begin + 3,
                        y + kLane / 2 + 3.5, escaped(text));
  }

  std::vector<std::pair<std::string, const char*>> entries() const {
    auto out = lanes_.legend();
    const auto seen = [&](const char* colour) {
      return std::any_of(list_.begin(), list_.end(), [&](const Lane& l) {
        return l.label != "idle, and why" &&
               std::any_of(l.bars.begin(), l.bars.end(), [&](const Bar& b) { return b.colour == colour; });
      });
    };
    if (seen(kCommunication)) out.emplace_back("communication", kCommunication);
    if (seen(kCopy)) out.emplace_back("copies and fills", kCopy);
    if (seen(kGraph)) out.emplace_back("whole graphs", kGraph);
    if (seen(kLaunch)) out.emplace_back("launch call", kLaunch);
    if (seen(kWait)) out.emplace_back("synchronize call", kWait);
    if (seen(kOther)) out.emplace_back("other kernels and calls", kOther);
    for (const auto& c : kIdle)
      if (step_.counted.share(c.part) >= 0.005)
        out.emplace_back(fmt::format("idle: {} {}", c.words, percent_text(step_.counted.share(c.part))), c.colour);
    return out;
  }

  void legend() {
    const auto list = entries();
    const auto rows = (list.size() + 1) / 2;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double left = i < rows ? 16 : options_.width / 2 + 8;
      const double y = axis_y_ + 40 + 18 * static_cast<double>(i % rows);
      out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", left, y - 10,
                          list[i].second);
      out_ += fmt::format("<text class=\"ink\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left + 18, y,
                          escaped(cut_middle(list[i].first, 66)));
    }
  }

  const Timeline& timeline_;
  const DeviceStep& step_;
  const SvgOptions& options_;
  Lanes lanes_;
  std::vector<Lane> list_;
  double axis_y_ = 0, height_ = 0;
  std::string out_;
};

}  // namespace

std::string lanes_svg(const Timeline& timeline, const DeviceStep& step, const SvgOptions& options) {
  return Picture(timeline, step, options).draw();
}

}  // namespace roofline
