// From the launches of one kernel to one row of the report.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "roofline/analysis.h"
#include "roofline/counting.h"

namespace roofline {

// The launches of one row, all of one profile and device.
struct RowLaunches {
  std::size_t profile = 0;
  std::vector<const Launch*> launches;  // not empty, in order
};

// What one row hands on beside itself.
struct BuiltRow {
  KernelRow row;
  std::vector<CountingWarning> warnings;   // of all its launches
  std::optional<Ceiling> longest_ceiling;  // at-clock ceiling of its longest launch
  double longest_s = 0;
  std::string compute_capability;
};

// `catalogue` may be null. Thread-safe.
BuiltRow build_row(const RowLaunches& launches, const Profile& profile, const Machine* catalogue,
                   const AnalysisOptions& options);

}  // namespace roofline
