#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "roofline/error.h"
#include "timeline/device_step.h"
#include "timeline/find_steps.h"

namespace roofline {
namespace {

constexpr double kWarmUp = 1.5;  // times the median

// From the launch of the first work to the end of the last, or of the wait for it.
Span active_span(const TimelineFacts& facts, std::span<const std::uint32_t> activities) {
  const auto& timeline = facts.timeline;
  const auto& first = timeline.activities[activities.front()];
  Span span = first.span;
  if (const auto* call = facts.call_of(first)) span.start_ns = std::min(span.start_ns, call->span.start_ns);
  for (const auto i : activities) span.end_ns = std::max(span.end_ns, timeline.activities[i].span.end_ns);
  const auto last = span.end_ns;
  // Calls are sorted by start, so those that began before the last end come first.
  for (const auto& call : timeline.calls) {
    if (call.span.start_ns > last) break;
    if (call.kind == HostCallKind::synchronize && call.span.end_ns > last)
      span.end_ns = std::max(span.end_ns, call.span.end_ns);
  }
  return span;
}

void mark_warm_up(std::vector<Step>& steps) {
  std::vector<double> lengths;
  for (const auto& s : steps)
    if (!s.last || steps.size() == 1) lengths.push_back(static_cast<double>(s.window.length()));
  const auto median = median_of(lengths);
  for (auto& s : steps) {
    if (s.last || static_cast<double>(s.window.length()) <= kWarmUp * median) break;
    s.warm_up = true;
  }
}

StepSpread spread_of(const std::vector<Span>& windows) {
  std::vector<double> seconds;
  seconds.reserve(windows.size());
  for (const auto& w : windows) seconds.push_back(static_cast<double>(w.length()) * 1e-9);
  const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  return {windows.size(), median_of(seconds), *least, *most};
}

class DeviceAnalysis {
 public:
  DeviceAnalysis(const TimelineFacts& facts, const StepAnalysisOptions& options, const OperatorJoin* operators,
                 std::span<const std::uint32_t> activities)
      : facts_(facts),
        options_(options),
        operators_(operators),
        activities_(activities),
        segments_(cut_segments(facts, activities)) {}

  DeviceStep run(std::uint32_t device) {
    step_.device = device;
    step_.active = active_span(facts_, activities_);
    add_window(step_.whole, segments_, step_.active);
    finish_account(step_.whole);
    auto windows = take_steps();
    const DeviceView view{facts_, activities_, std::move(windows)};
    // A pause that the verdict leaves out takes nothing of a kernel's share.
    const auto pause = lone_gap_part(step_.counted);
    const auto left_out = pause ? step_.counted.evidence[*pause].longest.length() : 0;
    step_.kernels = kernel_shares(view, options_, step_.counted.wall_ns - left_out);
    step_.copies = copy_totals(view);
    step_.shapes = shape_coverage(view, operators_);
    step_.savings = possible_savings(view, step_.counted, options_);
    auto artefacts = recording_artefacts(view, step_);
    step_.artefacts.insert(step_.artefacts.end(), artefacts.begin(), artefacts.end());
    judge(options_, step_);
    return std::move(step_);
  }

 private:
  std::vector<Span> take_steps() {
    auto found = find_steps(facts_, activities_, options_.range);
    step_.artefacts = std::move(found.artefacts);
    if (found.steps.empty()) {
      step_.counted = step_.whole;
      return {step_.active};
    }
    step_.steps_by = found.by;
    step_.steps_of = std::move(found.of);
    step_.steps = std::move(found.steps);
    mark_warm_up(step_.steps);
    fill_steps();
    auto windows = counted_windows(step_);
    for (const auto& w : windows) add_window(step_.counted, segments_, w);
    finish_account(step_.counted);
    step_.windows = windows.size();
    step_.step_s = spread_of(windows);
    return windows;
  }

  void fill_steps() {
    std::size_t next = 0;
    for (auto& s : step_.steps) {
      StepAccount account;
      add_window(account, segments_, s.window);
      s.busy_ns = account.busy_ns();
      const auto& all = facts_.timeline.activities;
      while (next < activities_.size() && all[activities_[next]].span.start_ns < s.window.start_ns) ++next;
      for (; next < activities_.size() && all[activities_[next]].span.start_ns < s.window.end_ns; ++next)
        s.kernels += all[activities_[next]].work == GpuWork::kernel ? 1 : 0;
    }
  }

  const TimelineFacts& facts_;
  const StepAnalysisOptions& options_;
  const OperatorJoin* operators_;
  std::span<const std::uint32_t> activities_;
  Segments segments_;
  DeviceStep step_;
};

std::vector<std::vector<std::uint32_t>> by_device(const Timeline& timeline) {
  std::vector<std::vector<std::uint32_t>> out(timeline.devices.size());
  for (std::uint32_t i = 0; i < timeline.activities.size(); ++i) {
    const auto device = timeline.activities[i].device;
    if (device >= out.size()) out.resize(device + std::size_t{1});
    out[device].push_back(i);
  }
  return out;
}

}  // namespace

std::string_view to_string(StepPart part) {
  constexpr std::array<std::string_view, kStepParts> kNames = {
      "compute",   "communication", "copy",     "graph",  "launch-late", "launch-call", "launch-latency", "host-wait",
      "host-call", "device-gap",    "profiler", "unseen", "start",       "end",         "unknown"};
  return kNames[static_cast<std::size_t>(part)];
}

bool is_idle(StepPart part) { return static_cast<std::size_t>(part) >= kFirstIdlePart; }

bool is_launch_gap(StepPart part) {
  return part == StepPart::launch_late || part == StepPart::launch_call || part == StepPart::launch_latency;
}

std::int64_t StepAccount::busy_ns() const {
  return std::accumulate(parts.begin(), parts.begin() + kFirstIdlePart, std::int64_t{0});
}
std::int64_t StepAccount::idle_ns() const { return wall_ns - busy_ns(); }

std::int64_t StepAccount::launch_gap_ns() const {
  return (*this)[StepPart::launch_late] + (*this)[StepPart::launch_call] + (*this)[StepPart::launch_latency];
}

std::vector<DeviceStep> analyze_steps(const Timeline& timeline, const StepAnalysisOptions& options) {
  const TimelineFacts facts(timeline);
  std::vector<DeviceStep> out;
  const auto devices = by_device(timeline);
  std::optional<OperatorJoin> operators;
  if (!timeline.operators.empty()) operators = join_operators(timeline);
  for (std::uint32_t d = 0; d < devices.size(); ++d)
    if (!devices[d].empty())
      out.push_back(DeviceAnalysis(facts, options, operators ? &*operators : nullptr, devices[d]).run(d));
  const bool none = std::all_of(out.begin(), out.end(), [](const auto& s) { return s.steps.empty(); });
  if (!options.range.empty() && none && !out.empty())
    throw UsageError(fmt::format("--range '{}' matches no range that launched work on a GPU ({} ranges in the file)",
                                 options.range, timeline.ranges.size()));
  return out;
}

}  // namespace roofline
