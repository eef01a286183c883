// Profiles in, report out.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "roofline/launch.h"
#include "roofline/report.h"
#include "roofline/thresholds.h"

namespace roofline {

enum class CeilingChoice : std::uint8_t { automatic, datasheet, at_clock, measured };

struct AnalysisOptions {
  Thresholds thresholds;
  CeilingChoice ceiling = CeilingChoice::automatic;  // at-clock where a row carries a clock, else datasheet
  // Place under the roofs at these clocks instead (kind at-clock), hertz; with automatic or at_clock only. The memory
  // clock is half of a pin's data rate, as profilers report it.
  std::optional<double> sm_clock_hz;
  std::optional<double> memory_clock_hz;
  std::string machine;      // catalogue name; overrides what the profile says
  bool per_launch = false;  // one row per launch
  std::string filter;       // regular expression on kernel names; empty keeps all
};

// Throws UsageError where the catalogue knows `device` as another machine than `named`: roofs of another GPU than the
// one that was measured would be wrong numbers with a right look. `path` is the file that names the device.
void require_same_gpu(const std::string& path, const DeviceInfo& device, const Machine& named);

// Counts, places and aggregates every launch. Throws UsageError for an unknown machine, a bad filter, clocks
// beside a ceiling that has its own, or the measured ceiling where no machine of the profiles has one.
Report analyze(std::span<const Profile> profiles, const AnalysisOptions& options);

}  // namespace roofline
