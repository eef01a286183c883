// The rows of data/collection_passes.csv: which sets, and what ncu's own roofline set reads.
#pragma once

#include <string>
#include <vector>

#include "roofline/collect.h"

namespace roofline::collect {

struct CollectionRow {
  std::string question;  // "table", ..., "types" or "ncu-roofline"
  std::string formats;   // "none", "bf16", "bf16+fp8", "all"
};
std::vector<CollectionRow> collection_rows();

std::vector<std::string> metrics_of(const CollectionRow& row, const Target& target, const MetricMatrix& matrix);
// Without what the profiler adds by itself.
std::vector<std::string> countable(const std::vector<std::string>& metrics);
std::string fingerprint_of(const CollectionRow& row, const MetricMatrix& matrix);

// The counters behind `ncu --set roofline` (2025: GPU Speed Of Light, its five roofline charts, and the workload
// distribution), as its section files name them per compute capability.
std::vector<std::string> ncu_roofline_metrics(const Target& target, const MetricMatrix& matrix);

}  // namespace roofline::collect
