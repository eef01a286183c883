// Profiles in, report out.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "roofline/launch.h"
#include "roofline/report.h"
#include "roofline/thresholds.h"

namespace roofline {

enum class CeilingChoice : std::uint8_t { automatic, datasheet, at_clock };

struct AnalysisOptions {
  Thresholds thresholds;
  CeilingChoice ceiling = CeilingChoice::automatic;  // at-clock where a row carries a clock, else datasheet
  std::string machine;                               // catalogue name; overrides what the profile says
  bool per_launch = false;                           // one row per launch
  std::string filter;                                // regular expression on kernel names; empty keeps all
};

// Counts, places and aggregates every launch. Throws UsageError for an unknown machine or a bad filter.
Report analyze(std::span<const Profile> profiles, const AnalysisOptions& options);

}  // namespace roofline
