#include <algorithm>
#include <cmath>

#include "roofline/placement.h"

#include <fmt/format.h>

namespace roofline {
namespace {

constexpr std::array<std::string_view, 7> kPositionNames = {
    "unplaced",           "memory-optimal", "memory-suboptimal",  "compute-optimal",
    "compute-suboptimal", "latency-bound",  "communication-bound"};
constexpr std::array<std::string_view, 4> kRegimeNames = {"unknown", "memory", "compute", "link"};
constexpr std::array<std::string_view, 5> kTierNames = {"unplaced", "counted", "percent", "model", "given"};

int percent(double fraction) { return static_cast<int>(std::lround(100 * fraction)); }

// Everything place() learns on its way to a verdict.
struct Facts {
  const Work& work;
  const Ceiling& ceiling;
  const Thresholds& limits;
  double time = 0;
  double compute = 0;  // t_compute / time, of the operations counted
  double dram = 0;     // t_dram / time
  double link = 0;     // t_link / time
  bool has_dram = false;
  bool has_link = false;
  bool flops_known = true;  // every operation counted, and every peak known
  bool open = false;        // counted operations whose time nothing bounds
  double more_compute = 0;  // what t_compute / time may be more, where precisions leave a range of peaks
  bool dram_is_percent = false;

  double optimal() const { return optimal_threshold(limits, ceiling.kind); }
  double known() const { return std::max({compute, dram, link}); }
  // Every operation was counted, and the slowest of the peaks that may hold is known.
  bool ranged() const { return !open && work.coverage.complete(); }
  bool bounded() const { return flops_known || ranged() || work.coverage.uncounted_fraction.has_value(); }
  // The compute fraction is at most this; 1 when nothing bounds it.
  double compute_upper() const {
    if (flops_known) return compute;
    const double most = work.coverage.uncounted_fraction.value_or(1.0);
    return std::max(ranged() ? std::min(compute + more_compute, most) : most, compute);
  }
  double upper() const { return std::max(known(), compute_upper()); }
  // What was not counted cannot change which resource binds, nor how much.
  bool exact() const {
    const double upper_end = compute_upper();
    const bool closed = compute >= std::max(dram, link) && upper_end <= (1 + limits.margin) * compute;
    return flops_known || closed || upper_end <= (1 - limits.margin) * known();
  }
  double floor() const { return limits.launch_floor_s * work.launches; }
};

// ---------------------------------------------------------------- resources

// Index of the group that holds this precision: by its own key, by its pipe, or a group of its own past the end.
std::string group_key(const Precision& precision, const PipeGroups& groups) {
  const std::string key = to_string(precision);
  std::string pipe(pipe_of(precision));
  for (const std::string_view name : {std::string_view(key), std::string_view(pipe)})
    for (const auto& group : groups)
      if (std::find(group.begin(), group.end(), name) != group.end()) return group.front();
  return pipe;
}

struct PipeGroupTime {
  std::string key;
  std::string dominant;  // precision with the most time in the group
  double peak = 0;       // of the dominant precision
  double dominant_time = 0;
  double time = 0;
  Bound bound = Bound::exact;
};

// FLOPs of which nobody says the precision take at least no time, and at most that of the slowest format.
void add_unknown_precision(double flops, Facts& facts, Placement& out) {
  facts.flops_known = false;
  double slowest = 0;
  for (const auto& p : facts.ceiling.peaks)
    if (!is_integer(p.precision.type) && !p.precision.sparse && (slowest == 0 || p.ops_per_s < slowest))
      slowest = p.ops_per_s;
  if (slowest > 0)
    facts.more_compute += flops / slowest / facts.time;
  else
    facts.open = true;
  out.notes.emplace_back("FLOPs of unknown precision are under no compute roof");
}

void add_compute(Facts& facts, const PipeGroups& groups, Placement& out) {
  std::vector<PipeGroupTime> sums;
  for (const auto& op : facts.work.operations) {
    if (!op.operations || op.operations.value() <= 0) continue;
    const auto peak = facts.ceiling.peak(op.precision);
    if (!peak) {
      // Integer instructions on CUDA cores have no published roof: they are shown, not placed.
      if (is_integer(op.precision.type) && op.precision.path == Path::vector) continue;
      if (op.precision.type == NumberType::unknown) {
        add_unknown_precision(op.operations.value(), facts, out);
        continue;
      }
      facts.flops_known = false;
      facts.open = true;
      out.notes.push_back("no peak known for " + to_string(op.precision));
      continue;
    }
    const auto key = group_key(op.precision, groups);
    auto it = std::find_if(sums.begin(), sums.end(), [&](const auto& g) { return g.key == key; });
    if (it == sums.end()) it = sums.insert(sums.end(), PipeGroupTime{key, {}, 0, 0, 0, Bound::exact});
    const double t = op.operations.value() / peak->high;
    it->time += t;
    if (t > it->dominant_time) {
      it->dominant_time = t;
      it->dominant = to_string(op.precision);
      it->peak = peak->high;
    }
    // A merged counter's true peak may be the lower one: its time is at least this.
    const bool merged = peak->low < peak->high;
    it->bound = combine(it->bound, merged ? Bound::lower : op.operations.bound());
    if (merged) facts.more_compute += (op.operations.value() / peak->low - t) / facts.time;
    if (op.operations.bound() == Bound::lower) facts.open = true;
    if (merged || op.operations.bound() == Bound::lower) facts.flops_known = false;
  }
  for (const auto& g : sums) {
    out.resources.push_back(
        {g.dominant, Regime::compute, true, g.time, g.time / facts.time, g.bound, Definition(g.key), g.peak});
    facts.compute = std::max(facts.compute, g.time / facts.time);
  }
}

void add_dram(Facts& facts, Placement& out) {
  const auto& traffic = facts.work.level(MemoryLevel::dram);
  const auto bandwidth = facts.ceiling.bandwidth(MemoryLevel::dram, "dram");
  ResourceUse use{"dram", Regime::memory, true, 0, 0, Bound::exact, "dram", bandwidth.value_or(0)};
  if (traffic.total && bandwidth) {
    use.time_s = traffic.total.value() / *bandwidth;
    use.bound = traffic.total.bound();
  } else if (traffic.direct_fraction && facts.ceiling.kind == CeilingKind::at_clock) {
    // The profiler's own percentage is of the peak at the clock of the run: no roof of ours is needed.
    use.time_s = traffic.direct_fraction.value() * facts.time;
    use.definition = "percent";
    use.peak = 0;
    facts.dram_is_percent = true;
  } else {
    return;
  }
  use.fraction = use.time_s / facts.time;
  facts.dram = use.fraction;
  facts.has_dram = true;
  out.resources.push_back(use);
}

void add_link(Facts& facts, Placement& out) {
  const auto& link = facts.work.link;
  if (!link.bus_bytes) return;
  const auto bandwidth = facts.ceiling.link_bandwidth(link.kind);
  if (!bandwidth) {
    out.notes.push_back("no " + link.kind + " bandwidth known for this machine");
    return;
  }
  const double t = link.bus_bytes.value() / *bandwidth;
  facts.link = t / facts.time;
  facts.has_link = true;
  out.resources.push_back({link.kind, Regime::link, true, t, facts.link, link.bus_bytes.bound(), "bus", *bandwidth});
}

void add_caches(const Facts& facts, Placement& out) {
  for (const auto level : {MemoryLevel::l2, MemoryLevel::l1, MemoryLevel::shared}) {
    const auto& traffic = facts.work.level(level);
    ResourceUse use{std::string(to_string(level)), Regime::memory, false, 0, 0, Bound::exact, traffic.definition, 0};
    const auto bandwidth = facts.ceiling.bandwidth(level, traffic.definition);
    if (traffic.total && bandwidth) {
      use.time_s = traffic.total.value() / *bandwidth;
      use.bound = traffic.total.bound();
      use.peak = *bandwidth;
    } else if (traffic.direct_fraction && facts.ceiling.kind == CeilingKind::at_clock) {
      use.time_s = traffic.direct_fraction.value() * facts.time;
      use.bound = traffic.direct_fraction.bound();
      use.definition = "percent";
    } else {
      continue;
    }
    use.fraction = use.time_s / facts.time;
    out.resources.push_back(use);
  }
}

// Why neither DRAM nor a link could be put under a roof.
std::string why_without_roof(const Facts& facts) {
  const auto& dram = facts.work.level(MemoryLevel::dram);
  if (dram.total) return "no DRAM bandwidth known: use --machine";
  if (dram.direct_fraction) return "no DRAM bytes, only a percentage at the clock of the run";
  if (facts.work.link.bus_bytes) return "no link bandwidth known: use --machine";
  return "no DRAM traffic known";
}

const ResourceUse* largest(const Placement& p, bool required) {
  const ResourceUse* best = nullptr;
  for (const auto& r : p.resources) {
    if (r.required != required || (!required && r.bound == Bound::upper)) continue;
    if (best == nullptr || r.fraction > best->fraction) best = &r;
  }
  return best;
}

// ---------------------------------------------------------------- cache residency

// Most of what L2 served never came from DRAM.
bool mostly_from_cache(const Work& work, const Thresholds& limits) {
  const auto& dram = work.level(MemoryLevel::dram);
  if (dram.total.value() < limits.dram_transaction) return true;
  if (const auto& l2 = work.level(MemoryLevel::l2).total)
    return dram.total.value() < limits.cache_resident * l2.value();
  // Writes always hit: the hit rate speaks of residence only where hardly anything is written back.
  const auto& hits = work.activity.l2_hit_rate;
  return hits && 1 - hits.value() < limits.cache_resident && dram.read && dram.write &&
         dram.write.value() < limits.cache_resident * dram.read.value();
}

// The data of this kernel lives in a cache: its DRAM percentage says nothing about its health. Heavy reuse alone is
// not residence: what does not fit into L2 has to come from DRAM.
bool is_cache_resident(const Facts& facts) {
  const auto& dram = facts.work.level(MemoryLevel::dram).total;
  if (!dram || !mostly_from_cache(facts.work, facts.limits)) return false;
  const auto& size = facts.work.activity.l2_size;
  const double per_launch = dram.value() / std::max(1.0, facts.work.launches);
  return per_launch < facts.limits.dram_transaction || !size || per_launch < size.value();
}

// ---------------------------------------------------------------- verdicts

// Something the counters say that makes latency the better explanation than either roof. Empty when nothing does.
// Lost issue slots are not among them: below 60 % on all sides they follow, whatever the reason.
std::string latency_evidence(const Facts& facts) {
  const auto& a = facts.work.activity;
  const auto& limits = facts.limits;
  if (a.grid_blocks && a.sm_count && a.grid_blocks.value() < a.sm_count.value())
    return fmt::format("{:.0f} block{} on {:.0f} SMs", a.grid_blocks.value(), a.grid_blocks.value() == 1 ? "" : "s",
                       a.sm_count.value());
  if (a.waves && a.waves.value() < limits.full_wave) return fmt::format("{:.2f} waves", a.waves.value());
  if (facts.upper() * facts.time < limits.launch_bound * facts.floor())
    return fmt::format("roof time under {:.0f} launch floors", limits.launch_bound);
  return {};
}

bool middling_intensity(const Facts& facts) {
  if (!facts.flops_known || facts.dram <= 0 || facts.compute <= 0) return false;
  const double ratio = facts.compute / facts.dram;
  return ratio >= 1 / facts.limits.latency_ratio && ratio <= facts.limits.latency_ratio;
}

// The busiest unit that the throughput metrics name.
struct Busiest {
  double fraction = 0;
  bool compute = false;     // else a memory unit
  bool both_sides = false;  // SM and memory throughput are both known
  std::string name;
};

Busiest busiest_unit(const Activity& a) {
  Busiest best;
  const auto consider = [&](const Quantity& q, bool compute, std::string_view name) {
    if (!q || q.value() <= best.fraction) return;
    best.fraction = q.value();
    best.compute = compute;
    best.name = name;
  };
  // "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed": what follows the first dot says how, not what.
  const std::string sm_unit = a.busiest_unit.empty() ? "SM" : a.busiest_unit.substr(0, a.busiest_unit.find('.'));
  // The SM's own throughput: what it does not name, or we do not know, is one of its pipes.
  consider(a.sm_throughput, a.busiest_class != UnitClass::memory, sm_unit);
  consider(a.memory_throughput, false, "the memory pipeline");
  consider(a.l2_throughput, false, "L2");
  consider(a.l1_throughput, false, "L1");
  best.both_sides = a.sm_throughput && a.memory_throughput;
  return best;
}

bool is_latency_bound(const Facts& facts, const Placement& p, const Busiest& busiest, std::string& why) {
  const double busy = facts.limits.busy;
  if (facts.compute_upper() >= busy || facts.dram >= busy || facts.link >= busy) return false;
  if (!p.limiter.empty() || busiest.fraction >= busy) return false;
  why = latency_evidence(facts);
  if (!why.empty()) return true;
  // Middling intensity; or the operations are unknown and no unit of either side comes near its limit.
  const bool undecided = !facts.exact() && busiest.both_sides;
  if (!undecided && (p.cache_resident || !middling_intensity(facts))) return false;
  why = undecided ? fmt::format("no unit above {}%", percent(std::max(busiest.fraction, facts.known())))
                  : std::string("far below both roofs");
  return true;
}

void set(Placement& p, Position position, std::string reason) {
  p.position = position;
  p.reason = std::move(reason);
}

// A row that is not optimal for certain, and not bound by a link.
void judge_below(const Facts& facts, Placement& p) {
  const auto busiest = busiest_unit(facts.work.activity);
  std::string why;
  if (!p.limiter.empty()) return set(p, Position::memory_suboptimal, "limited by " + p.limiter);
  if (is_latency_bound(facts, p, busiest, why)) return set(p, Position::latency_bound, why);
  const double busy = facts.limits.busy;
  if (facts.known() < busy && busiest.fraction >= busy)
    return set(p, busiest.compute ? Position::compute_suboptimal : Position::memory_suboptimal,
               fmt::format("bound by {} ({}% busy)", busiest.name, percent(busiest.fraction)));
  if (p.cache_resident) return set(p, Position::unplaced, "cache-resident, and no unit is near its limit");
  if (facts.exact())
    return set(p, facts.dram >= facts.compute ? Position::memory_suboptimal : Position::compute_suboptimal, {});
  set(p, Position::unplaced,
      fmt::format("below both roofs (DRAM {}%, compute at most {}%), but operations not counted", percent(facts.dram),
                  percent(facts.compute_upper())));
}

// Cache-resident and not compute-bound: the DRAM roof does not apply, so L2 may acquit, under three conditions.
bool l2_optimal(const Facts& facts, const Placement& p) {
  const auto* l2 = p.resource("l2");
  const auto& efficiency = facts.work.activity.sector_efficiency;
  return l2 != nullptr && l2->bound != Bound::upper && l2->fraction >= facts.optimal() && efficiency &&
         efficiency.value() >= facts.limits.sector_efficiency && facts.work.level(MemoryLevel::l2).total;
}

// Nothing proves that the row is below its roof: the operations that were not counted may fill it.
void judge_open(const Facts& facts, Placement& p) {
  const auto& reason = facts.work.coverage.reason;
  const std::string why = !reason.empty()  ? reason
                          : facts.ranged() ? "the precision of its FLOPs is not known"
                                           : "operations not counted";
  set(p, Position::unplaced,
      facts.bounded() ? fmt::format("compute may be at {}%: {}", percent(facts.compute_upper()), why) : why);
}

void judge(const Facts& facts, Placement& p) {
  if (facts.known() > facts.limits.no_verdict)
    return set(p, Position::unplaced,
               fmt::format("above the {} roof: time, counts and machine do not belong together", p.binding));
  const double optimal = facts.optimal();
  if (p.regime == Regime::link)
    return set(p, Position::communication_bound, fmt::format("{} {}%", p.binding, percent(facts.link)));
  if (p.cache_resident) {
    if (l2_optimal(facts, p)) return set(p, Position::memory_optimal, "at the L2 roof");
  } else if (facts.known() >= optimal) {
    return set(p, p.regime == Regime::compute ? Position::compute_optimal : Position::memory_optimal,
               facts.dram_is_percent ? "at the DRAM limit; whether the traffic is needed is unknown" : "");
  }
  if (!facts.exact() && facts.upper() >= optimal) return judge_open(facts, p);
  judge_below(facts, p);
}

// ---------------------------------------------------------------- gains, tier

Tier tier_of(const Facts& facts) {
  if (facts.dram_is_percent) return Tier::percent;
  Evidence weakest_part = facts.work.time.evidence();
  const auto& bytes = facts.has_dram ? facts.work.level(MemoryLevel::dram).total : facts.work.link.bus_bytes;
  weakest_part = weakest(weakest_part, bytes.evidence());
  for (const auto& op : facts.work.operations)
    if (op.operations) weakest_part = weakest(weakest_part, op.operations.evidence());
  if (weakest_part == Evidence::given) return Tier::given;
  if (weakest_part == Evidence::model) return Tier::model;
  return Tier::counted;
}

void set_gains(const Facts& facts, Placement& p) {
  if (!facts.exact() && !facts.bounded()) return;
  double reach = facts.upper() * facts.time;
  if (p.cache_resident) {
    // The DRAM roof is no goal here; L2's is, as far as its bytes are certain.
    const auto* l2 = p.resource("l2");
    reach = std::max(facts.compute_upper() * facts.time, l2 != nullptr && l2->bound != Bound::upper ? l2->time_s : 0);
  }
  p.gain_s = std::max(0.0, facts.time - std::max(reach, facts.floor()));
  if (p.regime != Regime::memory || p.cache_resident || !facts.exact() || facts.dram <= 0) return;
  const double halved = std::max({facts.compute, facts.dram / 2, facts.link});
  // The traffic of the caches stays: below the limiter's own time nothing gets.
  const auto* limiter = p.resource(p.limiter);
  const double cached = limiter == nullptr ? 0 : limiter->time_s;
  const double then = std::max({facts.time * halved / facts.known(), cached, facts.floor()});
  p.gain_less_work_s = std::max(0.0, facts.time - then);
}

// A verdict that rests on "no tensor work", which nobody measured, says so; the number stays a lower bound.
void note_assumptions(const Facts& facts, Placement& p) {
  const auto& assumed = facts.work.coverage.assumed_none;
  if (std::find(assumed.begin(), assumed.end(), "tensor") == assumed.end()) return;
  p.bound = Bound::lower;
  p.notes.emplace_back("the verdict holds if the kernel used no tensor cores");
}

}  // namespace

std::string_view to_string(Position position) { return kPositionNames[static_cast<std::size_t>(position)]; }
std::string_view to_string(Regime regime) { return kRegimeNames[static_cast<std::size_t>(regime)]; }
std::string_view to_string(Tier tier) { return kTierNames[static_cast<std::size_t>(tier)]; }

const ResourceUse* Placement::resource(std::string_view name) const {
  const auto it = std::find_if(resources.begin(), resources.end(), [&](const auto& r) { return r.name == name; });
  return it == resources.end() ? nullptr : &*it;
}

Placement place(const Work& work, const Ceiling& ceiling, const PipeGroups& groups, const Thresholds& thresholds) {
  Placement p;
  p.ceiling = ceiling.kind;
  p.clock_hz = ceiling.sm_clock_hz;
  if (!work.time || work.time.value() <= 0) {
    p.reason = work.time ? "time is not positive" : "no time";
    return p;
  }
  Facts facts{work, ceiling, thresholds};
  facts.time = work.time.value();
  facts.flops_known = work.coverage.complete();
  p.time_s = facts.time;
  add_compute(facts, groups, p);
  add_dram(facts, p);
  add_link(facts, p);
  add_caches(facts, p);
  if (!facts.has_dram && !facts.has_link) {
    p.reason = why_without_roof(facts);
    return p;
  }
  if (!facts.has_dram && work.level(MemoryLevel::dram).total)
    p.notes.emplace_back("no DRAM bandwidth known for this machine");
  const auto* binding = largest(p, true);
  p.binding = binding->name;
  p.regime = binding->regime;
  p.roof_time_s = binding->time_s;
  p.tier = tier_of(facts);
  p.bound = facts.exact() ? Bound::exact : Bound::lower;
  note_assumptions(facts, p);
  // Only a row that DRAM binds for certain can be cache-resident: a GEMM with uncounted FLOPs merely reuses well.
  p.cache_resident = facts.exact() && p.regime == Regime::memory && is_cache_resident(facts);
  if (!p.cache_resident) p.fraction = facts.known();
  if (!facts.exact() && facts.bounded() && p.fraction) p.fraction_upper = facts.upper();
  if (const auto* cache = largest(p, false);
      cache != nullptr && cache->fraction >= thresholds.busy && cache->fraction > facts.known())
    p.limiter = cache->name;
  judge(facts, p);
  set_gains(facts, p);
  return p;
}

}  // namespace roofline
