// What is kept of a report to compare it with others: the same from a report in memory, from its JSON, from a store.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/launch.h"
#include "roofline/placement.h"
#include "roofline/report.h"

namespace roofline {

// One row of a report. SI units; absent is not zero.
struct KernelRecord {
  std::string name;       // short, as in the report's table
  std::string full_name;  // demangled
  std::string op;         // operator where known
  Dim3 grid, block;
  std::uint32_t device = 0;
  std::uint64_t launches = 1;
  std::optional<double> time_s;  // of all launches
  std::optional<Spread> launch_time_s;
  double time_share = 0;
  TimeBasis time_basis = TimeBasis::unknown;
  std::optional<double> flops;                   // floating point only, all precisions
  std::map<std::string, double> ops;             // per precision key, integer operations too
  std::optional<double> dram_bytes, link_bytes;  // of all launches
  Bound flops_bound = Bound::exact, dram_bound = Bound::exact;
  std::optional<double> roof_time_s, fraction, fraction_upper;
  Bound bound = Bound::exact;  // of the fraction
  std::string binding;         // resource
  Regime regime = Regime::unknown;
  std::optional<double> fraction_datasheet;
  CeilingKind ceiling = CeilingKind::datasheet;
  std::optional<double> clock_hz;
  std::string limiter;
  Position position = Position::unplaced;
  std::string reason;  // why unplaced
  bool look = false;
  std::optional<double> gain_s;
};

struct StepRecord {
  std::string tool_version, catalogue_version;
  std::vector<std::string> inputs;    // paths as given
  std::vector<std::string> machines;  // names; one in the usual case
  std::vector<KernelRecord> kernels;
  std::optional<double> time_s, roof_time_s, fraction, wall_s;
  Bound bound = Bound::exact;
  double placed_time_share = 0;
  CeilingKind ceiling = CeilingKind::datasheet;
};

StepRecord record_of(const Report& report);

// From the JSON contract (schema/report-1.json). Unknown fields are ignored, missing ones stay absent.
// Throws InputError with `label`, the place and what was expected.
StepRecord read_record(std::string_view json, const std::string& label);

}  // namespace roofline
