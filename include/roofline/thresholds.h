// Every number that decides a verdict, in one place.
#pragma once

#include <span>
#include <string_view>

namespace roofline {

struct Thresholds {
  double optimal = 0.80;           // fraction of roof from which a kernel is done
  double optimal_measured = 0.90;  // the same under measured ceilings
  double above_roof = 1.02;        // fraction of a roof from which a kernel is above it; less is rounding
  double busy = 0.60;              // a unit from here on is the one to look at; below on all sides: latency
  double latency_ratio = 4.0;      // t_compute/t_dram within [1/4, 4] counts as "middling intensity"
  double tensor_idle = 0.05;       // tensor pipe busy above this without counted operations: FLOPs unknown
  double cache_resident = 0.25;    // DRAM bytes below this share of L2 bytes: the data lives in L2
  double dram_transaction = 64.0;  // bytes; DRAM traffic under one access is no traffic
  double sector_efficiency = 0.80;
  double waste = 1.25;             // counted/model bytes or executed/model FLOPs above this is waste
  double look_share = 0.0025;      // of total time, from which a gain deserves a look
  double mixed = 0.10;             // spread of time or bytes between launches of one row
  double launch_floor_s = 2.2e-6;  // what a kernel costs however little it does (H100 norms in a CUDA graph)
  double launch_bound = 3.0;       // t_roof under this many launch floors: launch-bound
  double margin = 0.05;            // relative; profilers round percentages and clocks
  double negligible = 0.01;        // of the time: work that fills no more of its roof cannot change a verdict
  double no_verdict = 1.10;        // above this fraction something does not belong together: no position
  double full_wave = 1.0;          // waves per SM below this leave SMs idle
};

// A threshold by the name that it has in reports, settings files and options.
struct ThresholdField {
  std::string_view name;
  double Thresholds::*member;
  double least, most;  // what makes sense; inclusive
};
std::span<const ThresholdField> threshold_fields();
// Null where there is none of this name.
const ThresholdField* find_threshold(std::string_view name);

}  // namespace roofline
