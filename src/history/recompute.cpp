// Recorded work under the roofs that the catalogue has now.
#include <algorithm>
#include <cmath>

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

std::optional<double> datasheet_fraction_now(const KernelRecord& kernel, std::string_view machine) {
  const auto* known = machine.empty() ? nullptr : MachineCatalogue::instance().find(machine);
  const auto* ceiling = known != nullptr ? known->ceiling(CeilingKind::datasheet) : nullptr;
  if (ceiling == nullptr || !kernel.time_s) return std::nullopt;
  return place(work_of(kernel), *ceiling, known->pipe_groups, Thresholds{}).fraction;
}

std::size_t recompute(StepRecord& record) {
  if (record.machines.size() != 1) return 0;
  std::size_t changed = 0;
  double placed_s = 0;
  double roof_s = 0;
  for (auto& k : record.kernels) {
    const auto fraction = datasheet_fraction_now(k, record.machines.front());
    if (k.fraction_datasheet && fraction) k.fraction_datasheet = fraction;
    if (k.ceiling == CeilingKind::datasheet && k.fraction && fraction) {
      constexpr double kSame = 1e-9;
      changed += std::abs(*fraction / *k.fraction - 1) > kSame ? 1 : 0;
      k.fraction = fraction;
      k.roof_time_s = *fraction * *k.time_s;
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

bool to_present_catalogue(StepRecord& record) {
  const auto present = MachineCatalogue::instance().version();
  if (record.catalogue_version == present) return true;
  if (record.machines.size() != 1) return false;
  const auto& machine = record.machines.front();
  if (MachineCatalogue::instance().find(machine) == nullptr) return false;
  // Roofs at a clock follow the same entry as the datasheet's: where those did not move, these did not.
  constexpr double kSame = 0.005;  // launches that were placed one by one, and their sum
  std::size_t confirmed = 0;
  for (const auto& k : record.kernels) {
    if (!k.fraction) continue;
    const auto now = datasheet_fraction_now(k, machine);
    if (k.ceiling == CeilingKind::measured || (k.ceiling == CeilingKind::datasheet && !now)) return false;
    if (k.ceiling == CeilingKind::datasheet) {
      ++confirmed;
      continue;
    }
    if (!now || !k.fraction_datasheet) continue;
    if (std::abs(*now / *k.fraction_datasheet - 1) > kSame) return false;
    ++confirmed;
  }
  if (confirmed == 0) return false;
  recompute(record);
  record.catalogue_version = present;
  return true;
}

bool align_catalogues(GateSide& before, GateSide& after) {
  std::vector<StepRecord*> all;
  for (auto* side : {&before, &after})
    for (auto& repeat : side->repeats) all.push_back(&repeat);
  const auto differs = [&](const StepRecord* r) { return r->catalogue_version != all.front()->catalogue_version; };
  if (std::none_of(all.begin(), all.end(), differs)) return false;
  bool done = true;
  for (auto* record : all) done = to_present_catalogue(*record) && done;
  return done;
}

}  // namespace roofline::history
