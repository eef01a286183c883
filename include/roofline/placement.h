// Where a piece of work stands under a machine's roofs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/machine.h"
#include "roofline/thresholds.h"
#include "roofline/work.h"

namespace roofline {

enum class Position : std::uint8_t {
  unplaced,
  memory_optimal,
  memory_suboptimal,
  compute_optimal,
  compute_suboptimal,
  latency_bound,
  communication_bound,
};
std::string_view to_string(Position position);
inline bool is_optimal(Position p) { return p == Position::memory_optimal || p == Position::compute_optimal; }

enum class Regime : std::uint8_t { unknown, memory, compute, link };
std::string_view to_string(Regime regime);

// How firmly a row is placed: a report's placed share is split by these.
enum class Tier : std::uint8_t { unplaced, counted, percent, model, given };
std::string_view to_string(Tier tier);

// One resource's time at its peak. `required` resources (compute groups, DRAM, link) make the roof; the cache levels
// explain.
struct ResourceUse {
  std::string name;  // "dram", "l2", "bf16.tensor", "nvlink"
  Regime regime = Regime::memory;
  bool required = false;
  double time_s = 0;
  double fraction = 0;  // of the kernel's time
  Bound bound = Bound::exact;
  Definition definition;  // "percent" where the profiler's own percentage stands in for bytes and peak
  double peak = 0;        // ops/s or bytes/s behind time_s; 0 where a percentage made it
};

struct Placement {
  Position position = Position::unplaced;
  Tier tier = Tier::unplaced;
  std::string reason;  // why unplaced, or what the verdict rests on ("bound by issue slots")
  std::optional<double> time_s;
  std::optional<double> roof_time_s;  // t_roof = max over required resources
  std::optional<double> fraction;     // t_roof / time; absent for a cache-resident row bound by DRAM
  Bound bound = Bound::exact;         // lower: FLOPs partly unknown
  // Where FLOPs are unknown but the profiler says how busy the pipes were: the fraction is at most this.
  std::optional<double> fraction_upper;
  std::string binding;  // name of the required resource that gives the maximum
  Regime regime = Regime::unknown;
  std::vector<ResourceUse> resources;
  std::string limiter;  // cache level that explains the gap; empty when none does
  bool cache_resident = false;
  bool look = false;  // set by aggregate(): needs the total time
  // time - max(t_roof, launch floor): the same work done better. Absent where it cannot be known (lower bounds without
  // an upper one); with a fraction_upper it is what can be gained at least.
  std::optional<double> gain_s;
  // What halved DRAM bytes would save at the present fraction; absent outside the memory regime.
  std::optional<double> gain_less_work_s;
  CeilingKind ceiling = CeilingKind::datasheet;
  std::optional<double> clock_hz;
  std::vector<std::string> notes;  // missing peaks, overruns, caveats

  bool placed() const { return fraction.has_value(); }
  const ResourceUse* resource(std::string_view name) const;
};

// The fraction from which a kernel counts as done under this kind of ceiling.
inline double optimal_threshold(const Thresholds& thresholds, CeilingKind kind) {
  return kind == CeilingKind::measured ? thresholds.optimal_measured : thresholds.optimal;
}

// Places one launch (or one operator) under one ceiling.
//   t_compute = max over pipe groups of sum(ops_p / peak_p);  t_roof = max(t_compute, dram/BW, link/BW)
// Source: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009, extended by pipe groups, unknown FLOPs and
// percent-only evidence. Never throws; what cannot be placed says why in `reason`.
Placement place(const Work& work, const Ceiling& ceiling, const PipeGroups& groups, const Thresholds& thresholds);

struct Spread {
  double min = 0;
  double median = 0;
  double max = 0;
};

// Many launches of one kernel, each placed under its own ceiling, as one row: times, roof times and gains add up;
// binding and position are those with the most time.
struct PlacementGroup {
  Placement placement;            // sums
  Work work;                      // sums; bounds and evidence are the weakest of the parts
  double placed_time_s = 0;       // of the launches that have a fraction
  double placed_roof_time_s = 0;  // their roof times
  Spread time_s;
  bool mixed = false;  // time or bytes vary by more than Thresholds::mixed
};

struct PlacedWork {
  const Work* work;
  const Placement* placement;
};
PlacementGroup aggregate(std::span<const PlacedWork> launches, const Thresholds& thresholds);

// The one number: sum of roof times / sum of times over placed rows, of one ceiling kind only.
struct Total {
  double time_s = 0;
  double placed_time_s = 0;
  double roof_time_s = 0;
  std::optional<double> fraction;
  std::optional<double> fraction_upper;  // where rows know one: the fraction is at most this
  Bound bound = Bound::exact;
  double placed_time_share = 0;
  double cache_resident_time_s = 0;                    // of rows whose DRAM roof does not apply: not in the fraction
  std::vector<std::pair<Tier, double>> share_by_tier;  // of total time
  CeilingKind ceiling = CeilingKind::datasheet;
  Quantity flops;
  Quantity dram_bytes;
  double other_ceiling_time_s = 0;  // placed under another kind of ceiling: not in the fraction
};
Total total(std::span<const PlacementGroup* const> rows);

// Marks a row worth a look: gain >= look_share of the total time, and not optimal or optimal with waste.
void mark_look(PlacementGroup& row, double total_time_s, const Thresholds& thresholds);

}  // namespace roofline
