// From what the details page of Nsight Compute prints to full metric names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/text_number.h"

namespace roofline {

// One metric that a printed row stands for.
struct NamedMetric {
  std::string name;  // "gpu__time_duration.sum"
  // The row's value times this is the metric's. A factor other than 1 comes from a printed product ("... Operations
  // Per Cycle" is twice the instructions); a value printed under the metric's own name goes before it.
  double scale = 1;
};

// What a row of the details page says about its metric.
struct DisplayRow {
  std::optional<std::string_view> section;  // nullopt: the table has no such column
  std::string_view item;                    // body item label, may be empty
  std::string_view label;                   // the "Metric Name" cell
  std::optional<Unit> unit;                 // nullopt: unknown
  int compute_capability = 0;               // ten times the number, 89 for 8.9; 0 for unknown
};

// The metrics of data/ncu_display_names.csv that the row stands for; empty for an unknown label. Where the table has
// no section column, the label alone decides as long as the unit fits.
std::vector<NamedMetric> metrics_of_display_row(const DisplayRow& row);

// 89 for "8.9" or "8,9"; 0 for anything else.
int parse_compute_capability(std::string_view text);

}  // namespace roofline
