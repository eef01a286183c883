// The result of an analysis: what every view shows and the JSON contract stores.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "roofline/launch.h"
#include "roofline/machine.h"
#include "roofline/placement.h"

namespace roofline {

struct FindingEvidence {
  std::string metric;
  std::optional<double> value;
  std::string unit;
};

struct Finding {
  std::string id;    // stable slug
  std::string kind;  // "cause", "pitfall", "advice"
  std::vector<FindingEvidence> evidence;
  std::optional<double> threshold;
  std::string action;
  std::optional<double> gain_s;
  std::string title;      // for people
  std::string why;        // the measured reason, in one sentence
  std::string next;       // the next experiment
  std::string source;     // where the threshold comes from
  std::string condition;  // the threshold in words
  std::string gain_list;  // "same-work" or "less-work" for gain_s; empty without an estimate
};

struct Missing {
  std::string quantity;  // "time", "flops", "dram"
  std::string reason;
  std::string collect;  // complete command line; may be empty
};

struct ReportInput {
  std::string path, format, producer;
};

// One row of the table: all launches of one kernel with one shape on one device of one input.
struct KernelRow {
  std::size_t id = 0;
  std::size_t input = 0;
  std::optional<std::size_t> machine;
  std::string name;       // short
  std::string full_name;  // demangled
  std::string op;
  Dim3 grid, block;
  std::uint32_t device = 0;
  std::uint64_t stream = 0;
  std::vector<std::string> nvtx;
  std::vector<std::uint64_t> launch_ids;
  std::size_t failed_launches = 0;
  TimeBasis time_basis = TimeBasis::unknown;
  double time_share = 0;
  PlacementGroup group;                // under the ceiling in use
  std::optional<Placement> datasheet;  // under the datasheet ceiling, for comparison
  std::vector<Finding> findings;
  std::optional<std::uint64_t> diagnosed_launch;  // ordinal of the launch that the findings are about: the longest
  std::vector<Missing> missing;
};

struct ReportWarning {
  std::string code, message;
  std::optional<std::size_t> kernel;
};

struct Report {
  Thresholds thresholds;
  std::string catalogue_version;  // of the machines the roofs came from; empty when unknown
  // Clocks that the user named for the roofs, in place of those of the run or the datasheet.
  std::optional<double> asked_sm_clock_hz, asked_memory_clock_hz;
  std::vector<ReportInput> inputs;
  std::vector<Machine> machines;
  std::vector<KernelRow> rows;
  Total total;
  std::size_t failed_launches = 0;
  std::vector<ReportWarning> warnings;
  std::vector<Finding> findings;  // about the report as a whole
  // Of the step that the kernels are part of, where a timeline was joined: its wall time in seconds, and the share of
  // it that all placed kernels would take at their roofs.
  std::optional<double> wall_s, step_fraction;
};

// From the rows' groups: the total, each row's share of its time and whether it deserves a look.
void sum_up(Report& report);

}  // namespace roofline
