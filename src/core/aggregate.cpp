#include <algorithm>
#include <map>
#include <numeric>

#include "core/median.h"
#include "roofline/placement.h"

namespace roofline {
namespace {

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values.front(), median_of_sorted(values), values.back()};
}

bool varies(const Spread& s, double tolerance) { return s.median > 0 && (s.max - s.min) / s.median > tolerance; }

// Sum of one quantity over launches. A launch without it makes the sum a lower bound: a part is missing, not zero.
class Sum {
 public:
  void add(const Quantity& q) {
    if (!q) {
      ++absent_;
      if (!first_absent_.provenance()) first_absent_ = q;
      return;
    }
    value_ += q.value();
    evidence_ = any_ ? weakest(evidence_, q.evidence()) : q.evidence();
    bound_ = any_ ? combine(bound_, q.bound()) : q.bound();
    if (!any_) provenance_ = q.provenance();
    any_ = true;
  }
  Quantity quantity() const {
    if (!any_) return first_absent_;
    return Quantity::of(value_, evidence_, provenance_, absent_ > 0 ? combine(bound_, Bound::lower) : bound_);
  }

 private:
  double value_ = 0;
  std::size_t absent_ = 0;
  bool any_ = false;
  Evidence evidence_ = Evidence::counter;
  Bound bound_ = Bound::exact;
  ProvenancePtr provenance_;
  Quantity first_absent_;
};

// Mean of a fraction, weighted by time, over the launches that have it.
class TimeMean {
 public:
  void add(const Quantity& q, double time) {
    if (!q || time <= 0) return;
    sum_ += q.value() * time;
    weight_ += time;
    if (!sample_) sample_ = q;
  }
  Quantity quantity() const { return weight_ > 0 ? sample_.with_value(sum_ / weight_) : sample_; }

 private:
  double sum_ = 0;
  double weight_ = 0;
  Quantity sample_;
};

// Mean upper end of fractions, weighted by time. Absent where all are exact, and where a lower bound has no upper end.
class UpperMean {
 public:
  void add(const Placement& p, double time) {
    if (p.fraction_upper) any_ = true;
    if (!p.fraction_upper && p.bound == Bound::lower) open_ = true;
    sum_ += p.fraction_upper.value_or(*p.fraction) * time;
    weight_ += time;
  }
  std::optional<double> mean() const {
    return any_ && !open_ && weight_ > 0 ? std::optional<double>(sum_ / weight_) : std::nullopt;
  }

 private:
  double sum_ = 0;
  double weight_ = 0;
  bool any_ = false;
  bool open_ = false;
};

// A member of Work and the way to reach it, so that summing is one loop.
template <typename Get>
Quantity sum_over(std::span<const PlacedWork> launches, Get get) {
  Sum sum;
  for (const auto& l : launches) sum.add(get(*l.work));
  return sum.quantity();
}

template <typename Get>
Quantity mean_over(std::span<const PlacedWork> launches, Get get) {
  TimeMean mean;
  for (const auto& l : launches) mean.add(get(*l.work), l.work->time.value_or(0));
  return mean.quantity();
}

void sum_operations(std::span<const PlacedWork> launches, Work& out) {
  std::map<Precision, Sum> sums;
  std::map<Precision, std::optional<double>> path_peaks;
  for (const auto& l : launches)
    for (const auto& op : l.work->operations) {
      sums[op.precision].add(op.operations);
      if (op.path_peak) path_peaks[op.precision] = op.path_peak;
    }
  for (const auto& [precision, sum] : sums)
    out.operations.push_back({precision, sum.quantity(), path_peaks[precision]});
}

void merge_names(const std::vector<std::string>& from, std::vector<std::string>& to) {
  for (const auto& name : from)
    if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
}

void sum_coverage(std::span<const PlacedWork> launches, FlopCoverage& out) {
  for (const auto& l : launches) {
    merge_names(l.work->coverage.uncounted, out.uncounted);
    merge_names(l.work->coverage.assumed_none, out.assumed_none);
    if (out.reason.empty()) out.reason = l.work->coverage.reason;
  }
  out.uncounted_fraction =
      mean_over(launches, [](const Work& w) -> const Quantity& { return w.coverage.uncounted_fraction; });
}

void mean_activity(std::span<const PlacedWork> launches, Activity& out) {
  for (const auto member :
       {&Activity::sm_throughput, &Activity::memory_throughput, &Activity::l2_throughput, &Activity::l1_throughput,
        &Activity::l2_hit_rate, &Activity::tensor_pipe, &Activity::issue_active, &Activity::sector_efficiency,
        &Activity::waves, &Activity::grid_blocks, &Activity::sm_count, &Activity::l2_size})
    out.*member = mean_over(launches, [&](const Work& w) -> const Quantity& { return w.activity.*member; });
  const auto& first = launches.front().work->activity;
  out.busiest_unit = first.busiest_unit;
  out.busiest_class = first.busiest_class;
}

Work sum_work(std::span<const PlacedWork> launches) {
  Work out;
  out.time = sum_over(launches, [](const Work& w) -> const Quantity& { return w.time; });
  out.aux_ops = sum_over(launches, [](const Work& w) -> const Quantity& { return w.aux_ops; });
  out.launches = 0;
  for (const auto& l : launches) out.launches += l.work->launches;
  sum_operations(launches, out);
  sum_coverage(launches, out.coverage);
  for (const auto level : kMemoryLevels) {
    auto& to = out.level(level);
    for (const auto member : {&LevelTraffic::read, &LevelTraffic::write, &LevelTraffic::total})
      to.*member = sum_over(launches, [&](const Work& w) -> const Quantity& { return w.level(level).*member; });
    to.direct_fraction =
        mean_over(launches, [&](const Work& w) -> const Quantity& { return w.level(level).direct_fraction; });
    to.definition = launches.front().work->level(level).definition;
  }
  const auto& link = launches.front().work->link;
  out.link.kind = link.kind;
  out.link.bus_bytes = sum_over(launches, [](const Work& w) -> const Quantity& { return w.link.bus_bytes; });
  out.link.algorithm_bytes =
      sum_over(launches, [](const Work& w) -> const Quantity& { return w.link.algorithm_bytes; });
  mean_activity(launches, out.activity);
  return out;
}

// The value with the most time behind it, and the longest launch that carries it.
template <typename Key, typename Get>
const Placement* with_most_time(std::span<const PlacedWork> launches, Get get) {
  std::map<Key, double> times;
  for (const auto& l : launches) times[get(*l.placement)] += l.placement->time_s.value_or(0);
  const auto winner =
      std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const Placement* best = nullptr;
  for (const auto& l : launches) {
    if (get(*l.placement) != winner->first) continue;
    if (best == nullptr || l.placement->time_s.value_or(0) > best->time_s.value_or(0)) best = l.placement;
  }
  return best;
}

void sum_resources(std::span<const PlacedWork> launches, Placement& out) {
  for (const auto& l : launches)
    for (const auto& r : l.placement->resources) {
      auto it =
          std::find_if(out.resources.begin(), out.resources.end(), [&](const auto& o) { return o.name == r.name; });
      if (it == out.resources.end()) {
        out.resources.push_back(r);
        continue;
      }
      it->time_s += r.time_s;
      it->bound = combine(it->bound, r.bound);
    }
  for (auto& r : out.resources) r.fraction = out.time_s && *out.time_s > 0 ? r.time_s / *out.time_s : 0;
}

// Sum of an optional member; absent as soon as a launch that counts lacks it.
template <typename Member>
std::optional<double> sum_optional(std::span<const PlacedWork> launches, Member member) {
  double sum = 0;
  for (const auto& l : launches) {
    const auto& value = l.placement->*member;
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum;
}

std::optional<double> mean_clock(std::span<const PlacedWork> launches) {
  double sum = 0;
  double weight = 0;
  for (const auto& l : launches) {
    if (!l.placement->clock_hz || !l.placement->time_s) continue;
    sum += *l.placement->clock_hz * *l.placement->time_s;
    weight += *l.placement->time_s;
  }
  return weight > 0 ? std::optional<double>(sum / weight) : std::nullopt;
}

// Launches under another kind of ceiling than the row's stay out: one number never mixes kinds.
void sum_fractions(std::span<const PlacedWork> launches, PlacementGroup& group) {
  auto& row = group.placement;
  UpperMean upper;
  for (const auto& l : launches) {
    const auto& p = *l.placement;
    if (!p.fraction || p.ceiling != row.ceiling) continue;
    group.placed_time_s += *p.time_s;
    group.placed_roof_time_s += *p.roof_time_s;
    upper.add(p, *p.time_s);
    row.bound = combine(row.bound, p.bound);
  }
  row.fraction.reset();
  row.fraction_upper.reset();
  if (group.placed_time_s <= 0) return;
  row.fraction = group.placed_roof_time_s / group.placed_time_s;
  row.fraction_upper = upper.mean();
}

Placement sum_placements(std::span<const PlacedWork> launches) {
  Placement out;
  const auto* lead = with_most_time<Position>(launches, [](const Placement& p) { return p.position; });
  const auto* bound_by = with_most_time<std::string>(launches, [](const Placement& p) { return p.binding; });
  const auto* tier = with_most_time<Tier>(launches, [](const Placement& p) { return p.tier; });
  out.position = lead->position;
  out.reason = lead->reason;
  out.limiter = lead->limiter;
  out.cache_resident = lead->cache_resident;
  out.binding = bound_by->binding;
  out.regime = bound_by->regime;
  out.tier = tier->tier;
  out.ceiling = lead->ceiling;
  out.clock_hz = mean_clock(launches);
  out.time_s = sum_optional(launches, &Placement::time_s);
  out.roof_time_s = sum_optional(launches, &Placement::roof_time_s);
  out.gain_s = sum_optional(launches, &Placement::gain_s);
  out.gain_less_work_s = sum_optional(launches, &Placement::gain_less_work_s);
  sum_resources(launches, out);
  for (const auto& l : launches) merge_names(l.placement->notes, out.notes);
  return out;
}

bool below_optimal(const Placement& p, const Thresholds& t) {
  if (p.position != Position::unplaced) return !is_optimal(p.position);
  return p.fraction_upper && *p.fraction_upper < optimal_threshold(t, p.ceiling);
}

bool wastes(const Work& work, const Thresholds& t) {
  const auto& efficiency = work.activity.sector_efficiency;
  return efficiency && efficiency.value() < t.sector_efficiency;
}

// Over all rows: time, work, and how firmly the time is placed.
void sum_all(std::span<const PlacementGroup* const> rows, Total& out) {
  std::map<Tier, double> tiers;
  Sum flops;
  Sum bytes;
  for (const auto* row : rows) {
    const double time = row->work.time.value_or(0);
    const double placed = row->placement.placed() ? row->placed_time_s : 0;
    out.time_s += time;
    if (placed > 0) tiers[row->placement.tier] += placed;
    if (time > placed) tiers[Tier::unplaced] += time - placed;
    if (row->placement.cache_resident) out.cache_resident_time_s += time - placed;
    flops.add(row->work.flops());
    bytes.add(row->work.level(MemoryLevel::dram).total);
  }
  out.flops = flops.quantity();
  out.dram_bytes = bytes.quantity();
  if (out.time_s <= 0) return;
  for (const auto& [tier, time] : tiers) out.share_by_tier.emplace_back(tier, time / out.time_s);
}

// Over the placed rows of the kind of ceiling with the most time.
void sum_placed(std::span<const PlacementGroup* const> rows, Total& out) {
  std::map<CeilingKind, double> kinds;
  for (const auto* row : rows)
    if (row->placement.placed()) kinds[row->placement.ceiling] += row->placed_time_s;
  if (kinds.empty()) return;
  out.ceiling = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
                  return a.second < b.second;
                })->first;
  UpperMean upper;
  for (const auto* row : rows) {
    const auto& p = row->placement;
    if (!p.placed()) continue;
    if (p.ceiling != out.ceiling) {
      out.other_ceiling_time_s += row->placed_time_s;
      continue;
    }
    out.placed_time_s += row->placed_time_s;
    out.roof_time_s += row->placed_roof_time_s;
    out.bound = combine(out.bound, p.bound);
    upper.add(p, row->placed_time_s);
  }
  out.fraction = out.roof_time_s / out.placed_time_s;
  out.fraction_upper = upper.mean();
  out.placed_time_share = out.placed_time_s / out.time_s;
}

}  // namespace

PlacementGroup aggregate(std::span<const PlacedWork> launches, const Thresholds& thresholds) {
  PlacementGroup group;
  if (launches.empty()) return group;
  group.placement = launches.size() == 1 ? *launches.front().placement : sum_placements(launches);
  group.work = launches.size() == 1 ? *launches.front().work : sum_work(launches);
  sum_fractions(launches, group);
  std::vector<double> times;
  std::vector<double> bytes;
  for (const auto& l : launches) {
    if (l.work->time) times.push_back(l.work->time.value() / std::max(1.0, l.work->launches));
    if (const auto& dram = l.work->level(MemoryLevel::dram).total)
      bytes.push_back(dram.value() / std::max(1.0, l.work->launches));
  }
  group.time_s = spread_of(times);
  group.mixed = varies(group.time_s, thresholds.mixed) || varies(spread_of(bytes), thresholds.mixed);
  return group;
}

Total total(std::span<const PlacementGroup* const> rows) {
  Total out;
  sum_all(rows, out);
  if (out.time_s > 0) sum_placed(rows, out);
  return out;
}

void mark_look(PlacementGroup& row, double total_time_s, const Thresholds& thresholds) {
  auto& p = row.placement;
  const bool large = p.gain_s && *p.gain_s >= thresholds.look_share * total_time_s && *p.gain_s > 0;
  const bool candidate = below_optimal(p, thresholds) || (is_optimal(p.position) && wastes(row.work, thresholds));
  p.look = large && candidate;
}

}  // namespace roofline
