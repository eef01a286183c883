#include "compare/side.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>

#include "compare/limits.h"
#include "roofline/error.h"
#include "roofline/names.h"

namespace roofline::comparing {
namespace {

using Samples = std::vector<std::optional<double>>;

std::string identity(const KernelRecord& k) {
  return fmt::format("{}\n{}\n{} {} {} {} {} {}", k.op, k.full_name.empty() ? k.name : k.full_name, k.grid.x, k.grid.y,
                     k.grid.z, k.block.x, k.block.y, k.block.z);
}

// Sums over the rows of one kernel in one repeat. Once a row lacks a value, the sum is unknown.
struct Sum {
  double value = 0;
  bool known = true;
  void add(std::optional<double> v, double weight = 1) {
    if (v)
      value += *v * weight;
    else
      known = false;
  }
  std::optional<double> get() const { return known ? std::optional<double>(value) : std::nullopt; }
};

struct RepeatSums {
  std::size_t rows = 0;
  double launches = 0;
  Sum time, flops, dram, link, roof, upper, datasheet, gain;
  double clock_time = 0, clocked_time = 0;  // clock x time, and the time that has a clock

  void add(const KernelRecord& k) {
    ++rows;
    launches += static_cast<double>(k.launches);
    time.add(k.time_s);
    flops.add(k.flops);
    dram.add(k.dram_bytes);
    link.add(k.link_bytes);
    const double weight = k.time_s.value_or(0);
    roof.add(k.fraction, weight);
    // A lower bound without an upper one may be anything up to the roof.
    upper.add(k.bound == Bound::lower ? std::optional(k.fraction_upper.value_or(1)) : k.fraction, weight);
    datasheet.add(k.fraction_datasheet, weight);
    gain.add(k.gain_s);
    if (k.clock_hz && weight > 0) {
      clock_time += *k.clock_hz * weight;
      clocked_time += weight;
    }
  }
};

struct Collected {
  const KernelRecord* first = nullptr;
  const KernelRecord* longest = nullptr;   // gives what cannot be added: position, binding
  const KernelRecord* unplaced = nullptr;  // a row without a fraction: without it there is none of the kernel
  double total_time = 0;
  bool any_lower = false, flops_lower = false, dram_lower = false, dram_upper = false;
  bool mixed_ceilings = false, look = false;
  std::map<std::string, double> ops;
  std::vector<RepeatSums> repeats;
};

void add_row(const KernelRecord& k, std::size_t repeat, Collected& c) {
  if (c.first == nullptr) c.first = c.longest = &k;
  if (k.time_s.value_or(0) > c.longest->time_s.value_or(0)) c.longest = &k;
  if (!k.fraction && c.unplaced == nullptr) c.unplaced = &k;
  c.mixed_ceilings = c.mixed_ceilings || (k.fraction && c.first->fraction && k.ceiling != c.first->ceiling);
  c.any_lower = c.any_lower || k.bound == Bound::lower;
  c.flops_lower = c.flops_lower || k.flops_bound == Bound::lower;
  c.dram_lower = c.dram_lower || k.dram_bound == Bound::lower;
  c.dram_upper = c.dram_upper || k.dram_bound == Bound::upper;
  c.look = c.look || k.look;
  c.total_time += k.time_s.value_or(0);
  for (const auto& [key, n] : k.ops) c.ops[key] += n;
  c.repeats[repeat].add(k);
}

template <typename Get>
Samples samples(const Collected& c, Get get) {
  Samples out;
  out.reserve(c.repeats.size());
  for (const auto& r : c.repeats) out.push_back(r.rows == 0 ? std::optional<double>(0) : get(r));
  return out;
}

std::optional<double> mean(const Samples& s) {
  Sum sum;
  for (const auto& v : s) sum.add(v, 1.0 / static_cast<double>(s.size()));
  return sum.get();
}

// sum(part) / sum(time): a fraction over all repeats.
template <typename Part>
std::optional<double> weighted(const Collected& c, Part part) {
  Sum sum;
  double time = 0;
  for (const auto& r : c.repeats) {
    if (r.rows == 0) continue;
    sum.add((r.*part).get());
    time += r.time.value;
  }
  if (!sum.known || time <= 0 || c.mixed_ceilings) return std::nullopt;
  return sum.value / time;
}

void fill_placement(const Collected& c, KernelRecord& out) {
  const auto& longest = *c.longest;
  out.fraction = weighted(c, &RepeatSums::roof);
  out.bound = c.any_lower ? Bound::lower : Bound::exact;
  if (c.any_lower && out.fraction)
    if (const auto upper = weighted(c, &RepeatSums::upper); upper && *upper < 1) out.fraction_upper = upper;
  out.fraction_datasheet = weighted(c, &RepeatSums::datasheet);
  out.roof_time_s = out.fraction && out.time_s ? std::optional(*out.fraction * *out.time_s) : std::nullopt;
  out.binding = longest.binding;
  out.regime = longest.regime;
  out.ceiling = longest.ceiling;
  out.limiter = longest.limiter;
  out.position = longest.position;
  out.reason = longest.fraction && c.unplaced != nullptr ? c.unplaced->reason : longest.reason;
  out.look = c.look;
  double weighted_clock = 0;
  double time = 0;
  for (const auto& r : c.repeats) {
    weighted_clock += r.clock_time;
    time += r.clocked_time;
  }
  if (time > 0) out.clock_hz = weighted_clock / time;
}

SideKernel kernel_of(const Collected& c) {
  SideKernel out;
  const auto& first = *c.first;
  out.name = first.name;
  out.full_name = first.full_name.empty() ? first.name : first.full_name;
  out.op = first.op;
  out.family = name_family(out.full_name);
  out.grid = first.grid;
  out.block = first.block;
  out.time_s = samples(c, [](const RepeatSums& r) { return r.time.get(); });
  out.launches = samples(c, [](const RepeatSums& r) { return std::optional(r.launches); });
  out.flops = samples(c, [](const RepeatSums& r) { return r.flops.get(); });
  out.dram_bytes = samples(c, [](const RepeatSums& r) { return r.dram.get(); });
  out.link_bytes = samples(c, [](const RepeatSums& r) { return r.link.get(); });
  out.roof_time_s = samples(c, [&](const RepeatSums& r) { return c.mixed_ceilings ? std::nullopt : r.roof.get(); });
  auto& m = out.mean;
  m = first;
  m.full_name = out.full_name;
  const auto repeats = static_cast<double>(c.repeats.size());
  m.launches = static_cast<std::uint64_t>(std::llround(std::min(mean(out.launches).value_or(0), 9e15)));
  m.time_s = mean(out.time_s);
  m.launch_time_s.reset();
  m.flops = mean(out.flops);
  m.flops_bound = c.flops_lower ? Bound::lower : Bound::exact;
  m.dram_bytes = mean(out.dram_bytes);
  m.dram_bound = c.dram_lower ? Bound::lower : c.dram_upper ? Bound::upper : Bound::exact;
  m.link_bytes = mean(out.link_bytes);
  m.ops = c.ops;
  for (auto& [key, n] : m.ops) n /= repeats;
  m.gain_s = mean(samples(c, [](const RepeatSums& r) { return r.gain.get(); }));
  fill_placement(c, m);
  return out;
}

void add_names(const std::vector<std::string>& names, std::vector<std::string>& out) {
  for (const auto& name : names)
    if (!name.empty() && std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
}

std::set<std::string> versions_of_catalogue(const GateSide& side) {
  std::set<std::string> out;
  for (const auto& r : side.repeats)
    if (!r.catalogue_version.empty()) out.insert(r.catalogue_version);
  return out;
}

// Weighted by time.
std::optional<double> clock_of(const StepRecord& r) {
  RepeatSums sums;
  for (const auto& k : r.kernels) sums.add(k);
  if (sums.clocked_time <= 0) return std::nullopt;
  return sums.clock_time / sums.clocked_time;
}

// Means over repeats say nothing where each is of another thing.
std::vector<std::string> mixture_of(const GateSide& side) {
  std::set<std::set<std::string>> machines;
  std::set<std::string> roofs;
  std::optional<Interval> clocks;
  for (const auto& r : side.repeats) {
    machines.emplace(r.machines.begin(), r.machines.end());
    roofs.emplace(to_string(r.ceiling));
    if (const auto clock = clock_of(r))
      clocks =
          clocks ? Interval{std::min(clocks->low, *clock), std::max(clocks->high, *clock)} : Interval{*clock, *clock};
  }
  std::vector<std::string> out;
  if (machines.size() > 1) {
    std::set<std::string> names;
    for (const auto& m : machines) names.insert(m.empty() ? "unknown" : fmt::format("{}", fmt::join(m, " + ")));
    out.push_back(fmt::format("of several machines: {}", fmt::join(names, ", ")));
  }
  if (roofs.size() > 1) out.push_back(fmt::format("under several kinds of roof: {}", fmt::join(roofs, ", ")));
  if (clocks && clocks_differ(clocks->low, clocks->high))
    out.push_back(fmt::format("at several clocks: {} to {}", si(clocks->low, "Hz"), si(clocks->high, "Hz")));
  if (const auto versions = versions_of_catalogue(side); versions.size() > 1)
    out.push_back(fmt::format("under several versions of the machine catalogue: {}", fmt::join(versions, ", ")));
  return out;
}

// What all repeats say alike; empty where they differ.
template <typename Get>
std::string common(const GateSide& side, Get get) {
  const std::string first = get(side.repeats.front());
  const bool same =
      std::all_of(side.repeats.begin(), side.repeats.end(), [&](const auto& r) { return get(r) == first; });
  return same ? first : std::string();
}

// Sorts places rather than kernels: those are large.
std::vector<SideKernel> longest_first(std::vector<SideKernel> kernels) {
  std::vector<std::size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return kernels[a].mean.time_s.value_or(0) > kernels[b].mean.time_s.value_or(0);
  });
  std::vector<SideKernel> out;
  out.reserve(kernels.size());
  for (const auto i : order) out.push_back(std::move(kernels[i]));
  return out;
}

}  // namespace

std::vector<SideKernel> kernels_of(const GateSide& side) {
  if (side.repeats.empty()) throw UsageError("a comparison needs at least one report on either side");
  std::unordered_map<std::string, std::size_t> index;
  std::vector<Collected> collected;
  for (std::size_t r = 0; r < side.repeats.size(); ++r)
    for (const auto& kernel : side.repeats[r].kernels) {
      const auto [it, fresh] = index.try_emplace(identity(kernel), collected.size());
      if (fresh) {
        collected.emplace_back();
        collected.back().repeats.resize(side.repeats.size());
      }
      add_row(kernel, r, collected[it->second]);
    }
  std::vector<SideKernel> out;
  out.reserve(collected.size());
  for (const auto& c : collected) out.push_back(kernel_of(c));
  const double time = [&] {
    double sum = 0;
    for (const auto& k : out) sum += k.mean.time_s.value_or(0);
    return sum;
  }();
  for (auto& k : out) k.mean.time_share = time > 0 ? k.mean.time_s.value_or(0) / time : 0;
  return longest_first(std::move(out));
}

ComparedSide describe(const GateSide& side, const std::vector<SideKernel>& kernels) {
  ComparedSide out;
  out.repeats = side.repeats.size();
  for (const auto& r : side.repeats) {
    add_names(r.inputs, out.inputs);
    add_names(r.machines, out.machines);
  }
  out.tool_version = common(side, [](const StepRecord& r) { return r.tool_version; });
  // Reports of older versions do not name it: they follow those that do.
  if (const auto versions = versions_of_catalogue(side); versions.size() == 1)
    out.catalogue_version = *versions.begin();
  out.mixed = mixture_of(side);
  Sum fraction;
  bool lower = false;
  for (const auto& r : side.repeats) {
    fraction.add(r.fraction, 1.0 / static_cast<double>(out.repeats));
    out.placed_time_share += r.placed_time_share / static_cast<double>(out.repeats);
    lower = lower || r.bound == Bound::lower;
  }
  out.fraction = fraction.get();
  out.bound = lower ? Bound::lower : Bound::exact;
  out.ceiling = side.repeats.front().ceiling;
  double time = 0, clock = 0, clocked = 0;
  std::map<TimeBasis, double> by_basis;
  for (const auto& k : kernels) {
    if (!k.mean.time_s) {
      ++out.untimed_kernels;
      continue;
    }
    time += *k.mean.time_s;
    by_basis[k.mean.time_basis] += *k.mean.time_s;
    if (!k.mean.clock_hz) continue;
    clock += *k.mean.clock_hz * *k.mean.time_s;
    clocked += *k.mean.time_s;
  }
  double most = 0;
  for (const auto& [basis, seconds] : by_basis) {
    if (seconds < most) continue;
    most = seconds;
    out.time_basis = basis;
  }
  out.model = out.time_basis == TimeBasis::model && by_basis.size() == 1;
  if (out.untimed_kernels < kernels.size()) out.time_s = time;
  if (clocked > 0) out.clock_hz = clock / clocked;
  return out;
}

}  // namespace roofline::comparing
