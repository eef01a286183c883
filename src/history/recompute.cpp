// Recorded work under the roofs that the catalogue has now.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "history/recorded_work.h"
#include "roofline/history.h"
#include "roofline/machines.h"

namespace roofline::history {
Work work_of(const KernelRecord& k) {
  Work work;
  const auto quantity = [](std::optional<double> value, Bound bound = Bound::exact) {
    return value ? Quantity::of(*value, Evidence::derived, nullptr, bound) : Quantity();
  };
  work.time = quantity(k.time_s);
  for (const auto& [key, count] : k.ops)
    if (const auto precision = parse_precision(key))
      work.operations.push_back({*precision, quantity(count, k.flops_bound), std::nullopt});
  auto& dram = work.level(MemoryLevel::dram);
  dram.total = quantity(k.dram_bytes, k.dram_bound);
  dram.definition = "dram";
  if (k.link_bytes) {
    work.link.kind = k.regime == Regime::link ? k.binding : "nvlink";
    work.link.bus_bytes = quantity(k.link_bytes);
  }
  if (k.bound == Bound::lower) work.coverage.uncounted = {"recorded as incomplete"};
  work.launches = static_cast<double>(k.launches);
  return work;
}

namespace {

std::optional<Placement> datasheet_placement_now(const KernelRecord& kernel, std::string_view machine) {
  const auto* known = machine.empty() ? nullptr : MachineCatalogue::instance().find(machine);
  const auto* ceiling = known != nullptr ? known->ceiling(CeilingKind::datasheet) : nullptr;
  if (ceiling == nullptr || !kernel.time_s) return std::nullopt;
  auto placement = place(work_of(kernel), *ceiling, known->pipe_groups, Thresholds{});
  if (!placement.placed()) return std::nullopt;
  return placement;
}

bool below_roof(Position p) { return p != Position::unplaced && !is_optimal(p); }

// Why a kernel is below its roof rests on caches and activity, which are not recorded: where it was below and stays
// there, under the same kind of roof, the recorded reason is the better one.
bool keeps_position(const KernelRecord& k, const Placement& now) {
  const bool bounded_by_activity = k.fraction_upper && now.position == Position::unplaced;
  return below_roof(k.position) && k.binding == now.binding && !k.reason.empty() &&
         (below_roof(now.position) || bounded_by_activity);
}

void place_again(KernelRecord& k, const Placement& now) {
  if (!keeps_position(k, now)) {
    k.position = now.position;
    k.reason = now.reason;
    k.limiter = now.limiter;
  }
  k.fraction = now.fraction;
  k.roof_time_s = now.roof_time_s;
  k.bound = now.bound;
  k.binding = now.binding;
  k.regime = now.regime;
  // How busy the pipes were does not depend on the catalogue, and is not recorded but in this.
  if (now.fraction_upper || !k.fraction_upper || now.bound != Bound::lower)
    k.fraction_upper = now.fraction_upper;
  else
    k.fraction_upper = std::max(*k.fraction_upper, *now.fraction);
  k.gain_s = now.gain_s;
}

}  // namespace

std::optional<double> datasheet_fraction_now(const KernelRecord& kernel, std::string_view machine) {
  const auto now = datasheet_placement_now(kernel, machine);
  return now ? now->fraction : std::nullopt;
}

std::size_t recompute(StepRecord& record) {
  if (record.machines.size() != 1) return 0;
  std::size_t changed = 0;
  double placed_s = 0;
  double roof_s = 0;
  for (auto& k : record.kernels) {
    const auto now = datasheet_placement_now(k, record.machines.front());
    if (k.fraction_datasheet && now) k.fraction_datasheet = now->fraction;
    constexpr double kSame = 1e-9;
    if (k.ceiling == CeilingKind::datasheet && k.fraction && now &&
        std::abs(*now->fraction / *k.fraction - 1) > kSame) {
      ++changed;
      place_again(k, *now);
    }
    if (k.ceiling != record.ceiling || !k.fraction || !k.time_s) continue;
    placed_s += *k.time_s;
    roof_s += *k.fraction * *k.time_s;
  }
  if (changed > 0 && placed_s > 0) {
    record.fraction = roof_s / placed_s;
    record.roof_time_s = roof_s;
  }
  return changed;
}

namespace {

constexpr std::string_view kLost =
    "its roof is of another version of the machine catalogue, and cannot be placed under the present one";

// Whether the fraction of a row can be had under the present catalogue: placed again, or known to have stayed.
bool follows(const KernelRecord& k, std::string_view machine) {
  constexpr double kSame = 0.005;  // launches that were placed one by one, and their sum
  const auto now = datasheet_fraction_now(k, machine);
  if (!now) return false;
  if (k.ceiling == CeilingKind::datasheet) return true;
  // A measured roof may be of another measuring.
  return k.ceiling != CeilingKind::measured && k.fraction_datasheet && *k.fraction_datasheet > 0 &&
         std::abs(*now / *k.fraction_datasheet - 1) <= kSame;
}

void lose_fraction(KernelRecord& k) {
  k.fraction = k.fraction_upper = k.roof_time_s = k.gain_s = std::nullopt;
  k.position = Position::unplaced;
  k.reason = kLost;
}

// A total that lacks kernels is not that of a record with all of them.
void lose_total(StepRecord& record) {
  double time = 0, placed = 0;
  for (const auto& k : record.kernels) {
    time += k.time_s.value_or(0);
    placed += k.fraction ? k.time_s.value_or(0) : 0;
  }
  record.fraction = record.roof_time_s = std::nullopt;
  record.placed_time_share = time > 0 ? placed / time : 0;
}

}  // namespace

bool to_present_catalogue(StepRecord& record) {
  const auto present = MachineCatalogue::instance().version();
  if (record.catalogue_version == present) return true;
  if (record.machines.size() != 1) return false;
  const auto& machine = record.machines.front();
  if (MachineCatalogue::instance().find(machine) == nullptr) return false;
  std::vector<KernelRecord*> lost;
  std::size_t kept = 0;
  for (auto& k : record.kernels) {
    if (!k.fraction) continue;
    if (follows(k, machine))
      ++kept;
    else
      lost.push_back(&k);
  }
  if (kept == 0) return false;
  for (auto* k : lost) lose_fraction(*k);
  recompute(record);
  if (!lost.empty()) lose_total(record);
  record.catalogue_version = present;
  return true;
}

Alignment align_catalogues(GateSide& before, GateSide& after) {
  std::set<std::string> versions;
  for (const auto* side : {&before, &after})
    for (const auto& repeat : side->repeats) versions.insert(repeat.catalogue_version);
  if (versions.size() < 2) return {};
  // Of copies: half a side under another catalogue would be neither the one thing nor the other.
  auto new_before = before, new_after = after;
  Alignment out;
  for (auto* side : {&new_before, &new_after})
    for (auto& record : side->repeats) {
      if (!to_present_catalogue(record)) return {};
      for (const auto& k : record.kernels)
        if (k.reason == kLost && std::find(out.left_out.begin(), out.left_out.end(), k.name) == out.left_out.end())
          out.left_out.push_back(k.name);
    }
  before = std::move(new_before);
  after = std::move(new_after);
  out.done = true;
  return out;
}

std::vector<std::string> describe(const Alignment& alignment) {
  if (!alignment.done) return {};
  std::vector<std::string> out = {
      "the machine catalogue changed in between: both sides are placed under the present one"};
  const auto& names = alignment.left_out;
  if (names.empty()) return out;
  constexpr std::size_t kShown = 5;
  out.push_back(fmt::format(
      "left out are the shares of the roof that cannot be placed under it, of {}: {}{}",
      names.size() == 1 ? "1 kernel" : fmt::format("{} kernels", names.size()),
      fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())), ", "),
      names.size() > kShown ? ", ..." : ""));
  return out;
}

}  // namespace roofline::history
