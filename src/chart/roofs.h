// The roofs of a chart: those that its rows ran into, of the machines they ran on.
#pragma once

#include <set>
#include <span>
#include <string>

#include "roofline/chart.h"

namespace roofline::chart {

// Rows of one report that a chart shows.
struct ShownRows {
  const Report* report = nullptr;
  std::vector<std::size_t> rows;  // indices
};

// Adds roofs, ridges, the subtitle and notes on the roofs. The machine and the ceiling kind with the most time are the
// ones in use; with `caches`, the roofs of the cache levels that the rows counted are drawn too.
void add_roofs(std::span<const ShownRows> shown, bool caches, Chart& chart);

// "DRAM", "L2 (lts_t)".
std::string level_name(MemoryLevel level, const Definition& definition);
// "3.35 TB/s", "989 TF/s"
std::string bandwidth_text(double bytes_per_s);
std::string rate_text(double flops_per_s);

}  // namespace roofline::chart
