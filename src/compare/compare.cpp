#include "roofline/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "compare/compare_sides.h"
#include "compare/limits.h"
#include "compare/match.h"
#include "compare/noise.h"
#include "compare/side.h"
#include "compare/words.h"
#include "report/numbers.h"
#include "roofline/error.h"

namespace roofline {
namespace comparing {
namespace {

// ---------------------------------------------------------------- sums over a group

std::optional<double> mean_of(const Samples& samples) {
  double sum = 0;
  for (const auto& s : samples) {
    if (!s) return std::nullopt;
    sum += *s;
  }
  return samples.empty() ? std::nullopt : std::optional(sum / static_cast<double>(samples.size()));
}

// Per repeat, the sum over the kernels; absent where a kernel lacks it.
Samples sum_samples(const std::vector<std::size_t>& group, std::span<const SideKernel> kernels, std::size_t repeats,
                    const Samples SideKernel::*member) {
  Samples out(repeats, 0.0);
  for (const auto i : group)
    for (std::size_t r = 0; r < repeats; ++r) {
      const auto& value = (kernels[i].*member)[r];
      out[r] = out[r] && value ? std::optional(*out[r] + *value) : std::nullopt;
    }
  return out;
}

// a / b, per repeat; absent where b is not positive.
Samples quotients(const Samples& a, const Samples& b) {
  Samples out(a.size());
  for (std::size_t r = 0; r < a.size(); ++r)
    if (a[r] && b[r] && *b[r] > 0) out[r] = *a[r] / *b[r];
  return out;
}

constexpr double kKindShare = 0.05;  // of a group's time: kernels with less of it do not say how often it was called

// Kernels of one name family: a call of the group may launch several of them.
struct Kind {
  Samples launches;
  double time_s = 0;
};

std::map<std::string, Kind> kinds_of(const std::vector<std::size_t>& group, std::span<const SideKernel> kernels,
                                     std::size_t repeats) {
  std::map<std::string, Kind> out;
  for (const auto i : group) {
    auto& kind = out[kernels[i].family];
    kind.launches.resize(repeats, 0.0);
    for (std::size_t r = 0; r < repeats; ++r) kind.launches[r] = *kind.launches[r] + kernels[i].launches[r].value_or(0);
    kind.time_s += kernels[i].mean.time_s.value_or(0);
  }
  return out;
}

// How often a group was called: helpers run beside the main kernel, tiles of a product several times a call.
const Samples& calls_of(const std::map<std::string, Kind>& kinds, const Kind& main) {
  double time = 0;
  for (const auto& [family, kind] : kinds) time += kind.time_s;
  const auto* least = &main;
  for (const auto& [family, kind] : kinds) {
    const bool always = std::all_of(kind.launches.begin(), kind.launches.end(), [](const auto& n) { return *n > 0; });
    if (always && kind.time_s >= kKindShare * time && *mean_of(kind.launches) < *mean_of(least->launches))
      least = &kind;
  }
  return least->launches;
}

struct GroupSide {
  Samples time, launches, flops, dram, link, roof;
  Samples call_time, fraction;
  Bound bound = Bound::exact;
  Position position = Position::unplaced;
  bool empty = true;
};

GroupSide sum_up(const std::vector<std::size_t>& group, std::span<const SideKernel> kernels, std::size_t repeats) {
  GroupSide out;
  out.empty = group.empty();
  const auto sum = [&](const Samples SideKernel::*member) { return sum_samples(group, kernels, repeats, member); };
  out.time = sum(&SideKernel::time_s);
  out.flops = sum(&SideKernel::flops);
  out.dram = sum(&SideKernel::dram_bytes);
  out.link = sum(&SideKernel::link_bytes);
  out.roof = sum(&SideKernel::roof_time_s);
  if (out.empty) {
    out.launches.assign(repeats, 0.0);
    return out;
  }
  const auto kinds = kinds_of(group, kernels, repeats);
  const auto& main = kinds.at(kernels[group.front()].family);
  out.launches = main.launches;
  out.call_time = quotients(out.time, calls_of(kinds, main));
  out.fraction = quotients(out.roof, out.time);
  out.position = kernels[group.front()].mean.position;
  for (const auto i : group)
    if (kernels[i].mean.bound == Bound::lower) out.bound = Bound::lower;
  return out;
}

// ---------------------------------------------------------------- effects

// Times as multiples of a power of two, so small that nobody misses the rest and so large that sums of them are exact.
class Grid {
 public:
  explicit Grid(double total_s) {
    constexpr int kBits = 47;  // sums may grow to 2^53 quanta: 64 times the total
    if (total_s > 0 && std::isfinite(total_s))
      quantum_ = std::ldexp(1.0, std::max(std::ilogb(total_s) + 1 - kBits, -1000));
  }
  double round(double seconds) const { return quantum_ * std::nearbyint(seconds / quantum_); }

 private:
  double quantum_ = 1e-18;
};

Effect effect_of(const GroupSide& before, const GroupSide& after, bool comparable, const Grid& grid) {
  Effect out;
  const auto a = mean_of(before.time);
  const auto b = mean_of(after.time);
  const double old_time = grid.round(a.value_or(0));
  const double new_time = grid.round(b.value_or(0));
  // Without a time on one of both sides nothing is known of the change.
  if (!a || !b || !std::isfinite(new_time - old_time)) return out;
  out.known = true;
  out.total_s = out.efficiency_s = new_time - old_time;
  if (before.empty || after.empty) {
    out.work_s = out.total_s;
    out.efficiency_s = 0;
    out.split_known = true;
    return out;
  }
  const auto old_roof = mean_of(before.roof);
  const auto new_roof = mean_of(after.roof);
  if (!comparable || before.bound != Bound::exact || after.bound != Bound::exact) return out;
  if (!old_roof || !new_roof || *old_roof <= 0) return out;
  constexpr double kCredible = 16;  // of both times: beyond, the share of the roof was too small to scale by
  const double work = old_time * (*new_roof / *old_roof - 1);
  if (!(std::abs(work) <= kCredible * (old_time + new_time))) return out;
  out.work_s = grid.round(work);
  out.efficiency_s = out.total_s - out.work_s;
  out.split_known = true;
  return out;
}

// ---------------------------------------------------------------- rows

bool same_clock(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b, const Comparison& c) {
  if (a.empty() || b.empty()) return true;
  const auto& x = c.before[a.front()].mean;
  const auto& y = c.after[b.front()].mean;
  return x.ceiling == y.ceiling && !(x.clock_hz && y.clock_hz && clocks_differ(*x.clock_hz, *y.clock_hz));
}

ComparedKernel row_of(const KernelGroup& group, const Comparison& c, bool same_machine, const Grid& grid,
                      const CompareOptions& options) {
  ComparedKernel row;
  row.kind = group.kind;
  row.by = group.by;
  row.before = group.before;
  row.after = group.after;
  const auto a = sum_up(group.before, c.before, c.side_before.repeats);
  const auto b = sum_up(group.after, c.after, c.side_after.repeats);
  // Counted work varies less than time; the noise of a time says nothing about it.
  row.time_s = change_of(a.time, b.time, options.noise);
  row.call_time_s = change_of(a.call_time, b.call_time, options.noise);
  row.fraction = change_of(a.fraction, b.fraction, options.noise);
  row.launches = change_of(a.launches, b.launches, std::nullopt);
  row.flops = change_of(a.flops, b.flops, std::nullopt);
  row.dram_bytes = change_of(a.dram, b.dram, std::nullopt);
  row.link_bytes = change_of(a.link, b.link, std::nullopt);
  row.fraction_bound_before = a.bound;
  row.fraction_bound_after = b.bound;
  row.position_before = a.position;
  row.position_after = b.position;
  row.fraction_comparable = same_machine && same_clock(group.before, group.after, c);
  // Of a side without any time nobody knows what is new or gone.
  if (c.side_before.time_s && c.side_after.time_s) row.effect = effect_of(a, b, row.fraction_comparable, grid);
  row.what_changed = what_changed(row, c.before, c.after);
  row.worthless = worthless_change(row, c.before, c.after);
  return row;
}

// ---------------------------------------------------------------- the whole

bool same_machines(const ComparedSide& a, const ComparedSide& b) {
  return std::set(a.machines.begin(), a.machines.end()) == std::set(b.machines.begin(), b.machines.end());
}

// Unknown versions are taken as equal: reports of older versions do not name theirs.
bool same_catalogue(const ComparedSide& a, const ComparedSide& b) {
  return a.catalogue_version.empty() || b.catalogue_version.empty() || a.catalogue_version == b.catalogue_version;
}

bool same_roofs(const ComparedSide& a, const ComparedSide& b) {
  return a.mixed.empty() && b.mixed.empty() && same_machines(a, b) && same_catalogue(a, b);
}

// Sums over the kernels that have a time on both sides: with any other the sums were not of the same things.
Samples total_samples(const Comparison& c, std::span<const SideKernel> kernels, std::size_t repeats,
                      std::vector<std::size_t> ComparedKernel::*group) {
  Samples out(repeats);
  for (const auto& row : c.kernels) {
    if (!row.effect.known) continue;
    const auto times = sum_samples(row.*group, kernels, repeats, &SideKernel::time_s);
    for (std::size_t r = 0; r < repeats; ++r) out[r] = out[r].value_or(0) + times[r].value_or(0);
  }
  return out;
}

Samples fraction_samples(const GateSide& side) {
  Samples out;
  for (const auto& r : side.repeats) out.push_back(r.fraction);
  return out;
}

std::string list(const std::vector<std::string>& names) {
  return names.empty() ? "unknown" : fmt::format("{}", fmt::join(names, ", "));
}

std::string times(std::size_t n) { return n == 1 ? "one run" : fmt::format("{} runs", n); }

void noise_caveat(const Comparison& c, const CompareOptions& options, std::vector<std::string>& out) {
  const auto a = c.side_before.repeats, b = c.side_after.repeats;
  if (c.side_before.model && c.side_after.model) {
    out.emplace_back("both sides are predictions: nothing was measured");
  } else if (options.noise) {
    out.push_back(fmt::format("noise of one run taken as {}, as given", numbers::percent(*options.noise)));
  } else if (a == 1 && b == 1) {
    out.emplace_back("one run each: noise unknown");
  } else if (!c.time_s.interval && c.time_s.ratio) {
    out.emplace_back("the repeats are equal to the last digit: they are one run, and tell nothing of the noise");
  } else if (!c.time_s.noise_before || !c.time_s.noise_after) {
    out.push_back(fmt::format(
        "{} before, {} after: intervals are 95% (Student's t on logarithms); the noise of the side {} is not "
        "known and is taken to be that of the other",
        times(a), times(b), c.time_s.noise_before ? "after" : "before"));
  } else {
    out.push_back(fmt::format("{} before, {} after: intervals are 95% (Welch's t on logarithms)", times(a), times(b)));
  }
}

// Most of the time is in kernels that were all launched more or less often by one factor: not the same number of steps.
void steps_caveat(const Comparison& c, std::vector<std::string>& out) {
  std::map<double, double> time_by_ratio;
  double all = 0;
  for (const auto& row : c.kernels) {
    if (row.before.empty() || row.after.empty() || !row.launches.before || !row.launches.after) continue;
    if (*row.launches.before <= 0) continue;
    const double time = row.time_s.before.value_or(0);
    time_by_ratio[*row.launches.after / *row.launches.before] += time;
    all += time;
  }
  constexpr double kMost = 0.9;
  for (const auto& [ratio, time] : time_by_ratio)
    if (ratio != 1 && all > 0 && time >= kMost * all)
      out.push_back(
          fmt::format("nearly every kernel was launched {} times as often after: not the same number of "
                      "steps; compare times per launch",
                      numbers::ratio(ratio)));
}

void add_caveats(Comparison& c, const CompareOptions& options) {
  noise_caveat(c, options, c.caveats);
  for (auto& difference : differences(c.side_before, c.side_after)) c.caveats.push_back(std::move(difference));
  const auto& a = c.side_before;
  const auto& b = c.side_after;
  if (a.time_basis != b.time_basis)
    c.caveats.push_back(
        fmt::format("times are {} before and {} after", to_string(a.time_basis), to_string(b.time_basis)));
  if (a.untimed_kernels + b.untimed_kernels > 0)
    c.caveats.push_back(
        fmt::format("{} before and {} after have no time and are in no sum: totals are of the kernels "
                    "that are timed on both sides",
                    numbers::counted(a.untimed_kernels, "kernel"), b.untimed_kernels));
  for (const auto& [kernels, when] : {std::pair(&c.before, "before"), std::pair(&c.after, "after")})
    if (kernels->empty()) c.caveats.push_back(fmt::format("no kernels {}: nothing is known of its time", when));
  steps_caveat(c, c.caveats);
}

// A name with a typing error must not be a wish that goes unheard.
void check_names(const Comparison& c, const CompareOptions& options) {
  const auto check = [](const std::vector<SideKernel>& kernels, const std::string& name, std::string_view when) {
    if (std::any_of(kernels.begin(), kernels.end(), [&](const SideKernel& k) { return is_called(k, name); })) return;
    throw UsageError(fmt::format("'{}' is the operator, full name, short name or name family of none of {} {}", name,
                                 numbers::counted(kernels.size(), "kernel"), when));
  };
  for (const auto& [old_name, new_name] : options.same) {
    check(c.before, old_name, "before");
    check(c.after, new_name, "after");
  }
}

// Sorts places rather than rows: those are large.
std::vector<ComparedKernel> largest_effect_first(std::vector<ComparedKernel> rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(rows[a].effect.total_s) > std::abs(rows[b].effect.total_s);
  });
  std::vector<ComparedKernel> out;
  out.reserve(rows.size());
  for (const auto i : order) out.push_back(std::move(rows[i]));
  return out;
}

void add_up(Comparison& c) {
  c.total.known = c.time_s.before && c.time_s.after;
  c.total.split_known = true;
  for (const auto& row : c.kernels) {
    c.total.total_s += row.effect.total_s;
    c.total.work_s += row.effect.work_s;
    c.total.efficiency_s += row.effect.efficiency_s;
    c.total.split_known = c.total.split_known && row.effect.split_known;
  }
}

}  // namespace

std::vector<std::string> differences(const ComparedSide& a, const ComparedSide& b) {
  std::vector<std::string> out;
  for (const auto& [side, when] : {std::pair(&a, "before"), std::pair(&b, "after")})
    for (const auto& mixture : side->mixed) out.push_back(fmt::format("the repeats {} are {}", when, mixture));
  if (!same_machines(a, b))
    out.push_back(fmt::format("another machine: {} before, {} after", list(a.machines), list(b.machines)));
  if (a.ceiling != b.ceiling)
    out.push_back(fmt::format("another kind of roof: {} before, {} after", to_string(a.ceiling), to_string(b.ceiling)));
  if (a.clock_hz && b.clock_hz && clocks_differ(*a.clock_hz, *b.clock_hz))
    out.push_back(fmt::format("another clock: {} before, {} after", si(*a.clock_hz, "Hz"), si(*b.clock_hz, "Hz")));
  if (!same_catalogue(a, b))
    out.push_back(fmt::format("another version of the machine catalogue: {} before, {} after", a.catalogue_version,
                              b.catalogue_version));
  return out;
}

}  // namespace comparing

Comparison compare(const GateSide& before, const GateSide& after, const CompareOptions& options) {
  using namespace comparing;
  Comparison c;
  c.before = kernels_of(before);
  c.after = kernels_of(after);
  c.side_before = describe(before, c.before);
  c.side_after = describe(after, c.after);
  c.comparable = differences(c.side_before, c.side_after).empty();
  check_names(c, options);
  const bool same_machine = same_roofs(c.side_before, c.side_after);
  const Grid grid(c.side_before.time_s.value_or(0) + c.side_after.time_s.value_or(0));
  std::vector<ComparedKernel> rows;
  for (const auto& group : match_kernels(c.before, c.after, options.same))
    rows.push_back(row_of(group, c, same_machine, grid, options));
  c.kernels = largest_effect_first(std::move(rows));
  c.time_s = change_of(total_samples(c, c.before, before.repeats.size(), &ComparedKernel::before),
                       total_samples(c, c.after, after.repeats.size(), &ComparedKernel::after), options.noise);
  c.fraction = change_of(fraction_samples(before), fraction_samples(after), options.noise);
  add_up(c);
  add_caveats(c, options);
  return c;
}

std::string_view to_string(MatchKind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"matched",   "split",    "merged",
                                                      "regrouped", "appeared", "vanished"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(MatchedBy by) {
  constexpr std::array<std::string_view, 11> kNames = {
      "nothing", "identity",         "name",   "family", "family, another shape", "operator", "operator class", "work",
      "parts",   "the only kernels", "request"};
  return kNames[static_cast<std::size_t>(by)];
}

}  // namespace roofline
