// A timeline joined with counters: what each measured kernel is worth in the real step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "roofline/document.h"
#include "roofline/report.h"
#include "roofline/step.h"
#include "roofline/timeline_views.h"

namespace roofline {

// One kernel of the step, with the row of the report that is the same kernel.
struct JoinedKernel {
  std::size_t kernel = 0;  // index into DeviceStep::kernels
  std::size_t row = 0;     // index into Report::rows
  std::string by;          // "name, grid and block", or "name": the timeline has no shapes
  double launches = 0;     // per step
  double share_of_wall = 0;
  double step_time_s = 0;                  // median in the step, at the clocks of the step
  std::optional<double> profiled_time_s;   // median under the profiler
  std::optional<double> fraction;          // of the roof, as profiled
  std::optional<double> roof_s;            // of one launch, under the ceiling in use
  std::optional<double> datasheet_roof_s;  // of one launch, under the datasheet ceiling
  // Roof time under the datasheet ceiling by the step's time: the step's clocks are not known, and no lower than these.
  std::optional<double> step_fraction;
  std::string difference;  // why the two times differ; empty where they do by no more than 10 %
};

struct TimelineJoin {
  std::vector<JoinedKernel> kernels;    // most time in the step first
  std::vector<std::size_t> unmatched;   // kernels of the step without a row, communication apart, most time first
  std::vector<std::size_t> unused;      // rows of no kernel in the step
  double matched_share = 0;             // of the step's kernel time, communication apart
  double wall_s = 0;                    // one step: mean
  std::optional<double> step_fraction;  // roof times of the matched kernels by the wall time
};

// `step` must tell kernels apart by shape (StepAnalysisOptions::by_shape). Names are compared without blanks; where
// the timeline has no shapes, by name alone, if the report has one shape of it.
TimelineJoin join_report(const Timeline& timeline, const DeviceStep& step, const Report& report);
// Sets wall_s and step_fraction.
void add_wall_time(Report& report, const TimelineJoin& join);
Document join_document(const Timeline& timeline, const DeviceStep& step, const Report& report,
                       const TimelineJoin& join);

}  // namespace roofline
