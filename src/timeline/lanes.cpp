#include "timeline/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "timeline/words.h"

namespace roofline {
namespace {

constexpr std::size_t kMostStreams = 10, kMostThreads = 4, kMostRanges = 3;

// Kernels with most time get colours of their own: Okabe and Ito's, and three tints, which also differ in lightness.
constexpr std::array<LaneClass, kLaneKernels> kKernels = {{{"#0072b2", 'A', ""},
                                                           {"#e69f00", 'B', ""},
                                                           {"#009e73", 'C', ""},
                                                           {"#cc79a7", 'D', ""},
                                                           {"#56b4e9", 'E', ""},
                                                           {"#d55e00", 'F', ""},
                                                           {"#6a4fb3", 'G', ""},
                                                           {"#7f8c3a", 'H', ""}}};
constexpr LaneClass kOther = {"#9aa1ab", 'o', "other kernels and calls"};
constexpr LaneClass kCommunication = {"#8c2d04", 'x', "communication"};
constexpr LaneClass kCopy = {"#4d9221", 'c', "copies and fills"};
constexpr LaneClass kGraph = {"#5b5fc7", 'g', "whole graphs"};
constexpr LaneClass kRange = {"#b9c2cc", '-', "", true};
constexpr LaneClass kLaunch = {"#2b6cb0", 'l', "launch call"};
constexpr LaneClass kWait = {"#c53030", 's', "synchronize call"};
constexpr LaneClass kProfiler = {"#6b46c1", 'p', "profiler"};

struct IdleClass {
  StepPart part;
  LaneClass look;
};
constexpr std::array<IdleClass, 9> kIdle = {{{StepPart::launch_late, {"#dd6b20", 'h', "host not at the launch"}},
                                             {StepPart::launch_call, {"#2b6cb0", 'l', "launch call"}},
                                             {StepPart::launch_latency, {"#63b3ed", 'b', "launched, not begun"}},
                                             {StepPart::host_wait, {"#c53030", 'w', "host waits"}},
                                             {StepPart::host_call, {"#975a16", 'r', "other runtime call"}},
                                             {StepPart::device_gap, {"#a0aec0", 'd', "between works"}},
                                             {StepPart::profiler, {"#6b46c1", 'p', "profiler"}},
                                             {StepPart::unseen, {"#d6bcfa", 'u', "unseen work"}},
                                             {StepPart::unknown, {"#4a5568", '?', "unknown"}}}};

// A pause that the verdict leaves out would fill the picture: the side of it with more work is shown.
Span without_pause(const Timeline& timeline, const DeviceStep& step, Span window) {
  const auto part = lone_gap_part(step.counted);
  if (!part) return window;
  const auto pause = step.counted.evidence[*part].longest;
  if (pause.start_ns < window.start_ns || pause.end_ns > window.end_ns) return window;
  std::int64_t before = 0, after = 0;
  for (const auto& a : timeline.activities) {
    if (a.device != step.device || a.span.start_ns < window.start_ns || a.span.start_ns >= window.end_ns) continue;
    (a.span.start_ns < pause.end_ns ? before : after) += a.span.length();
  }
  return before >= after ? Span{window.start_ns, pause.start_ns} : Span{pause.end_ns, window.end_ns};
}

// The median one of the steps that count.
Span window_of(const Timeline& timeline, const DeviceStep& step) {
  auto windows = counted_windows(step);
  const auto middle = windows.begin() + static_cast<std::ptrdiff_t>(windows.size() / 2);
  std::nth_element(windows.begin(), middle, windows.end(),
                   [](const Span& a, const Span& b) { return a.length() < b.length(); });
  return without_pause(timeline, step, *middle);
}

bool touches(const Span& a, const Span& window) { return a.start_ns < window.end_ns && a.end_ns > window.start_ns; }

}  // namespace

const LaneClass* idle_class(StepPart part) {
  const auto* it = std::find_if(kIdle.begin(), kIdle.end(), [&](const auto& c) { return c.part == part; });
  return it == kIdle.end() ? nullptr : &it->look;
}

Lanes::Lanes(const Timeline& timeline, const DeviceStep& step)
    : timeline_(timeline), step_(step), facts_(timeline), window_(window_of(timeline, step)) {
  const auto labels = kernel_labels(timeline, {step.kernels.data(), std::min(step.kernels.size(), kLaneKernels)});
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto& k = step.kernels[i];
    const auto name = k.full_name != kNone ? k.full_name : k.name;
    if (k.communication || kernels_.count(name) != 0) continue;
    const auto* kind = &kKernels[kernel_legend_.size() % kLaneKernels];
    kernels_.emplace(name, kind);
    kernel_legend_.push_back({fmt::format("{} {}", labels[i], percent_text(k.share_of_wall)), kind});
  }
  lanes_ = ranges();
  auto streams = this->streams();
  streams_ = streams.size();
  streams.resize(std::min(streams_, kMostStreams));
  for (auto& lane : streams) lanes_.push_back(std::move(lane));
  lanes_.push_back(idle());
  for (auto& lane : threads()) lanes_.push_back(std::move(lane));
  std::erase_if(lanes_, [](const Lane& lane) { return lane.bars.empty(); });
}

std::string Lanes::title() const {
  const auto pause = lone_gap_part(step_.counted);
  return fmt::format(
      "{}: {} {}{}{}", device_title(timeline_, step_.device), step_.steps.empty() ? "all work," : "the median step,",
      duration_text(window_.length()),
      pause ? fmt::format(", without one pause of {}", duration_text(step_.counted.evidence[*pause].longest.length()))
            : "",
      streams_ > kMostStreams ? fmt::format(", the busiest {} of {} streams", kMostStreams, streams_) : "");
}

const LaneClass* Lanes::class_of(const GpuActivity& a) const {
  if (a.work == GpuWork::graph) return &kGraph;
  if (a.work != GpuWork::kernel) return &kCopy;
  if (facts_.communication(a)) return &kCommunication;
  const auto it = kernels_.find(a.full_name != kNone ? a.full_name : a.name);
  return it == kernels_.end() ? &kOther : it->second;
}

std::vector<Lane> Lanes::streams() const {
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
  std::map<Key, std::pair<std::int64_t, Lane>> by_stream;
  for (const auto& a : timeline_.activities) {
    if (a.span.start_ns >= window_.end_ns) break;
    if (a.device != step_.device || !touches(a.span, window_)) continue;
    auto& [time, lane] = by_stream[Key(a.process, a.context, a.stream)];
    time += a.span.length();
    lane.label = fmt::format("stream {}", a.stream);
    const auto name = work_name(timeline_, a);
    lane.bars.push_back({a.span, class_of(a), name, fmt::format("{}, {}", name, duration_text(a.span.length()))});
  }
  std::vector<std::pair<std::int64_t, Lane>> order;
  order.reserve(by_stream.size());
  for (auto& [key, entry] : by_stream) order.push_back(std::move(entry));
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Lane> out;
  out.reserve(order.size());
  for (auto& [time, lane] : order) out.push_back(std::move(lane));
  return out;
}

Lane Lanes::idle() const {
  std::vector<std::uint32_t> activities;
  for (std::uint32_t i = 0; i < timeline_.activities.size(); ++i)
    if (timeline_.activities[i].device == step_.device) activities.push_back(i);
  const auto segments = cut_segments(facts_, activities);
  Lane lane{"idle, and why", {}, true};
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    const Span span{segments[i].start_ns, segments[i + 1].start_ns};
    const auto* kind = is_idle(segments[i].part) ? idle_class(segments[i].part) : nullptr;
    if (!kind || !touches(span, window_)) continue;
    lane.bars.push_back({span, kind, "", fmt::format("{}, {}", kind->words, duration_text(span.length()))});
  }
  return lane;
}

// The threads that launched this device's work of the window.
std::vector<Lane> Lanes::threads() const {
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

void Lanes::add_call(const HostCall& call, Lane& lane) const {
  if (!touches(call.span, window_)) return;
  const auto* kind = call.kind == HostCallKind::synchronize ? &kWait
                     : call.kind == HostCallKind::profiler  ? &kProfiler
                     : call.kind == HostCallKind::copy      ? &kCopy
                     : call.kind == HostCallKind::other     ? &kOther
                                                            : &kLaunch;
  const auto name = call.name == kNone ? std::string("call") : timeline_.names[call.name];
  lane.bars.push_back({call.span, kind, name, fmt::format("{}, {}", name, duration_text(call.span.length()))});
}

// Nested ranges on lanes below each other.
std::vector<Lane> Lanes::ranges() const {
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
    out[lane].bars.push_back({r.span, &kRange, name, fmt::format("{}, {}", name, duration_text(r.span.length()))});
  }
  return out;
}

std::vector<LegendEntry> Lanes::legend() const {
  auto out = kernel_legend_;
  const auto seen = [&](const LaneClass& kind) {
    return std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
      return !lane.idle &&
             std::any_of(lane.bars.begin(), lane.bars.end(), [&](const auto& b) { return b.kind == &kind; });
    });
  };
  for (const auto* kind : {&kCommunication, &kCopy, &kGraph, &kLaunch, &kWait, &kProfiler, &kOther})
    if (seen(*kind)) out.push_back({kind->words, kind});
  constexpr double kWorthSaying = 0.005;
  for (const auto& c : kIdle)
    if (const auto share = step_.counted.share(c.part); share >= kWorthSaying)
      out.push_back({fmt::format("idle: {} {}", c.look.words, percent_text(share)), &c.look});
  return out;
}

// A round distance between ticks, nanoseconds.
double tick_step(double length, std::size_t ticks) {
  const double rough = length / static_cast<double>(ticks);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

}  // namespace roofline
