// Why a launch seems faster than its roof allows, and which roof does apply.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "roofline/counting.h"
#include "roofline/machines.h"
#include "roofline/report.h"

namespace roofline {

// One launch and what was made of it. `catalogue` and `datasheet` may be null.
struct AboveRoofInput {
  const Launch& launch;
  const DeviceInfo& device;
  const Work& work;
  const Machine* catalogue = nullptr;
  const Ceiling& used;
  const Placement& placement;  // under `used`
  const Placement* datasheet = nullptr;
  std::span<const CountingWarning> warnings;
  const Thresholds& thresholds;
};

// Whether any required resource takes more than Thresholds::above_roof of the time, here or under the datasheet's
// roofs.
bool is_above_roof(const Placement& placement, const Placement* datasheet, const Thresholds& thresholds);

// The finding that explains it, decided by the evidence at hand (kind "pitfall", id "above-roof-..."): the clock, a
// measured roof, data in a cache, precision or sparsity, time or counters of different passes. Without evidence for
// any, "above-roof-unexplained". nullopt where nothing is above a roof.
std::optional<Finding> explain_above_roof(const AboveRoofInput& input);

// The same in a few words, for a table: "the data fits into a cache".
std::string_view above_roof_cause(const Finding& finding);

}  // namespace roofline
