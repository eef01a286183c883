// What in a recording is not what it looks like, said by name instead of taken for idle time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "timeline/device_step.h"
#include "timeline/words.h"

namespace roofline {
namespace {

class Finder {
 public:
  Finder(const DeviceView& view, const DeviceStep& step) : view_(view), step_(step) {}

  std::vector<Artefact> find() {
    equal_durations();
    empty_durations();
    overlaps_in_streams();
    graph_spans();
    lost_launches();
    work_without_calls();
    shared_numbers();
    before_launch();
    profilers_own();
    deferred_work();
    single_gap();
    return std::move(out_);
  }

 private:
  const Timeline& timeline() const { return view_.facts.timeline; }
  void add(std::string code, std::string message) { out_.push_back({std::move(code), std::move(message)}); }

  template <typename Use>
  void each_kernel(Use use) const {
    for (const auto index : view_.activities)
      if (view_.at(index).work == GpuWork::kernel) use(view_.at(index));
  }

  // A counter collection that knows only its window splits it evenly.
  void equal_durations() {
    constexpr std::size_t kLeast = 8, kNames = 3;
    constexpr double kMost = 0.9;
    std::unordered_map<std::int64_t, std::size_t> durations;
    std::set<std::uint32_t> names;
    std::size_t count = 0;
    each_kernel([&](const GpuActivity& a) {
      ++durations[a.span.length()];
      if (names.size() < kNames) names.insert(a.full_name);
      ++count;
    });
    if (count < kLeast || names.size() < kNames) return;
    const auto most = std::max_element(durations.begin(), durations.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (static_cast<double>(most->second) < kMost * static_cast<double>(count)) return;
    add("equal-durations",
        fmt::format("{} of {} kernels of different names last exactly {}: these durations were not measured, and what "
                    "follows from them (shares, gaps) says nothing",
                    most->second, count, duration_text(most->first)));
  }

  void empty_durations() {
    std::size_t empty = 0;
    each_kernel([&](const GpuActivity& a) { empty += a.span.length() == 0 ? 1 : 0; });
    if (empty > 0) add("empty-durations", fmt::format("{} kernels last 0 ns: their time is missing", empty));
  }

  // A stream works in order. Branches of graphs and kernels that may start before the last one ends do overlap.
  void overlaps_in_streams() {
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::int64_t> end_of;
    std::size_t count = 0, in_graphs = 0;
    std::int64_t sum = 0, longest = 0;
    for (const auto index : view_.activities) {
      const auto& a = view_.at(index);
      const auto [it, fresh] = end_of.try_emplace(std::tuple(a.process, a.context, a.stream), a.span.end_ns);
      if (fresh) continue;
      const auto overlap = std::min(it->second, a.span.end_ns) - a.span.start_ns;
      if (overlap > 0) {
        ++count;
        in_graphs += a.graph_node != 0 ? 1 : 0;
        sum += overlap;
        longest = std::max(longest, overlap);
      }
      it->second = std::max(it->second, a.span.end_ns);
    }
    if (count == 0) return;
    add("overlap-in-stream",
        fmt::format(
            "{} pieces of work begin before the one before them on their stream ends, by {} in all and {} at "
            "most{}: programmatic dependent launches or graph branches, else wrong timestamps. Busy time counts "
            "it once",
            count, duration_text(sum), duration_text(longest),
            in_graphs > 0 ? fmt::format(" ({} in graphs)", in_graphs) : ""));
  }

  void graph_spans() {
    std::size_t count = 0;
    for (const auto index : view_.activities) count += view_.at(index).work == GpuWork::graph ? 1 : 0;
    if (count == 0) return;
    add("graph-spans",
        fmt::format("{} graph launches are recorded as a whole ({} of the wall time): which kernels ran, and the gaps "
                    "between them, cannot be seen; record with --cuda-graph-trace=node",
                    count, percent_text(step_.counted.share(StepPart::graph))));
  }

  void lost_launches() {
    const auto& lost = view_.facts.lost;
    if (lost.empty()) return;
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const auto index : view_.activities)
      if (const auto* call = view_.facts.call_of(view_.at(index))) last = std::max(last, call->span.start_ns);
    const auto after = static_cast<std::size_t>(std::count_if(
        lost.begin(), lost.end(), [&](std::uint32_t i) { return timeline().calls[i].span.start_ns > last; }));
    add("lost-launches",
        fmt::format("{} of {} launches have no record on a GPU{}: the recording was cut, or dropped them. Gaps where "
                    "they would have run are called unseen, not idle",
                    lost.size(), view_.facts.launches,
                    after > 0 ? fmt::format(", {} of them after the last recorded work", after) : ""));
  }

  void work_without_calls() {
    if (timeline().calls.empty()) return;
    std::size_t orphans = 0;
    for (const auto index : view_.activities) orphans += view_.facts.call_of(view_.at(index)) ? 0 : 1;
    if (orphans == 0) return;
    add("no-launch",
        fmt::format("{} of {} pieces of work have no launch in the recording: why the GPU waited for them is "
                    "unknown",
                    orphans, view_.activities.size()));
  }

  // Numbers that a counter gave twice, or that several processes wrote into one file.
  void shared_numbers() {
    std::size_t count = 0;
    for (const auto index : view_.activities) count += view_.facts.find_call(view_.at(index)).several ? 1 : 0;
    if (count == 0) return;
    add("shared-numbers",
        fmt::format("the launches of {} pieces of work share their correlation number with another call: each is given "
                    "the last one that began before it, and causes of the gaps before them may be wrong",
                    count));
  }

  void before_launch() {
    std::size_t count = 0;
    std::int64_t most = 0;
    for (const auto index : view_.activities) {
      const auto& a = view_.at(index);
      const auto* call = view_.facts.call_of(a);
      if (!call || call->span.start_ns <= a.span.start_ns) continue;
      ++count;
      most = std::max(most, call->span.start_ns - a.span.start_ns);
    }
    if (count == 0) return;
    add("clock-skew",
        fmt::format("{} pieces of work begin before their launch, by up to {}: the clocks of host and GPU do "
                    "not agree, and causes of gaps that short are not to be trusted",
                    count, duration_text(most)));
  }

  void profilers_own() {
    constexpr double kNoted = 0.01;
    const auto share = step_.counted.share(StepPart::profiler);
    if (share < kNoted) return;
    add("profiler-overhead",
        fmt::format("{} of the wall time the GPU waited for the profiler itself: without it that time "
                    "is not there",
                    percent_text(share)));
  }

  void deferred_work() {
    if (step_.steps_by != StepsBy::ranges || !step_.step_s || step_.steps.empty()) return;
    std::vector<std::int64_t> ahead;
    ahead.reserve(step_.steps.size());
    for (const auto& s : step_.steps) ahead.push_back(s.ahead_ns);
    std::nth_element(ahead.begin(), ahead.begin() + static_cast<std::ptrdiff_t>(ahead.size() / 2), ahead.end());
    const auto median = ahead[ahead.size() / 2];
    if (static_cast<double>(median) * 1e-9 < step_.step_s->median) return;
    add("deferred",
        fmt::format("the host runs {} ahead of the GPU, more than a step: steps are cut where their work ran, "
                    "not where it was launched",
                    duration_text(median)));
  }

  // Often the start of the profiler, or code that is loaded at its first use.
  void single_gap() {
    const auto& a = step_.counted;
    const auto part = lone_gap_part(a);
    if (!part) return;
    const auto& gap = a.evidence[*part];
    add("single-gap",
        fmt::format("one gap of {} ({} of all, before {}) outweighs everything else: a pause of the program or of the "
                    "profiler rather than a property of the step. The verdict and the kernels' shares leave it out",
                    duration_text(gap.longest.length()), percent_text(a.share(gap.longest.length())),
                    work_name(timeline(), timeline().activities[gap.next])));
  }

  const DeviceView& view_;
  const DeviceStep& step_;
  std::vector<Artefact> out_;
};

}  // namespace

std::vector<Artefact> recording_artefacts(const DeviceView& view, const DeviceStep& step) {
  return Finder(view, step).find();
}

}  // namespace roofline
