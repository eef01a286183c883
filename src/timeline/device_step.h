// The parts of analyze_steps(). Private to this room.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/median.h"
#include "roofline/operator_work.h"
#include "roofline/step.h"
#include "timeline/segments.h"

namespace roofline {

// One device's activities with the windows that count among them.
struct DeviceView {
  const TimelineFacts& facts;
  std::span<const std::uint32_t> activities;  // by start
  std::vector<Span> windows;                  // in order, disjoint; activities count where they start in one

  const GpuActivity& at(std::uint32_t index) const { return facts.timeline.activities[index]; }
  // Indices of the activities that count.
  std::vector<std::uint32_t> counted() const;
};

std::vector<KernelShare> kernel_shares(const DeviceView& view, const StepAnalysisOptions& options,
                                       std::int64_t wall_ns);
std::vector<CopyTotals> copy_totals(const DeviceView& view);
// `operators` may be null: the timeline has none.
ShapeCoverage shape_coverage(const DeviceView& view, const OperatorJoin* operators);
Savings possible_savings(const DeviceView& view, const StepAccount& account, const StepAnalysisOptions& options);
std::vector<Artefact> recording_artefacts(const DeviceView& view, const DeviceStep& step);
// Sets bottleneck and verdict from what is in `step` already.
// The idle part that holds one gap, of many, longer than all the rest of the time, which some work ended: a pause of
// the program or of the profiler rather than a property of the step. nullopt where there is none.
std::optional<std::size_t> lone_gap_part(const StepAccount& account);

void judge(const StepAnalysisOptions& options, DeviceStep& step);

// "12.3 ms"
std::string duration_text(std::int64_t ns);
// "12.3 %", "0.12 %", "12.3×" from 1000 % on
std::string percent_text(double share);
// 0 of nothing.
inline double median_of(std::vector<double> values) { return median(std::move(values)).value_or(0); }

}  // namespace roofline
