// One side of a comparison as the report that a chart draws.
#include <algorithm>

#include "roofline/compare.h"
#include "roofline/machines.h"

namespace roofline {
namespace {

const Machine* known_machine(const std::string& name, std::span<const Machine> machines) {
  const auto it = std::find_if(machines.begin(), machines.end(), [&](const Machine& m) { return m.name == name; });
  if (it != machines.end()) return &*it;
  return name.empty() ? nullptr : MachineCatalogue::instance().find(name);
}

// A machine out of the catalogue has no roofs at the clock of a run.
void add_at_clock(const ComparedSide& side, Machine& machine) {
  if (side.ceiling != CeilingKind::at_clock || machine.ceiling(CeilingKind::at_clock) != nullptr) return;
  if (const auto* base = machine.ceiling(CeilingKind::datasheet); base != nullptr && side.clock_hz)
    machine.ceilings.push_back(at_clocks(*base, side.clock_hz, std::nullopt));
}

Work work_of(const KernelRecord& k) {
  constexpr auto kEvidence = Evidence::derived;
  Work work;
  if (k.time_s) work.time = Quantity::of(*k.time_s, kEvidence);
  for (const auto& [key, n] : k.ops)
    if (const auto precision = parse_precision(key))
      work.operations.push_back({*precision, Quantity::of(n, kEvidence, nullptr, k.flops_bound), std::nullopt});
  if (k.flops_bound == Bound::lower) work.coverage.uncounted.emplace_back("some");
  auto& dram = work.level(MemoryLevel::dram);
  dram.definition = "dram";
  if (k.dram_bytes) dram.total = Quantity::of(*k.dram_bytes, kEvidence, nullptr, k.dram_bound);
  work.launches = static_cast<double>(k.launches);
  return work;
}

Placement placement_of(const KernelRecord& k) {
  Placement p;
  p.position = k.position;
  p.reason = k.reason;
  p.time_s = k.time_s;
  p.roof_time_s = k.roof_time_s;
  p.fraction = k.fraction;
  p.bound = k.bound;
  p.fraction_upper = k.fraction_upper;
  p.binding = k.binding;
  p.regime = k.regime;
  p.limiter = k.limiter;
  p.ceiling = k.ceiling;
  p.clock_hz = k.clock_hz;
  p.gain_s = k.gain_s;
  p.look = k.look;
  // The share of the binding resource is the fraction itself: all that a chart's strip of kernels without FLOPs needs.
  if (k.binding == "dram" && k.fraction && k.roof_time_s) {
    ResourceUse dram;
    dram.name = "dram";
    dram.required = true;
    dram.time_s = *k.roof_time_s;
    dram.fraction = *k.fraction;
    p.resources.push_back(dram);
  }
  return p;
}

}  // namespace

Report chart_report(const ComparedSide& side, std::span<const SideKernel> kernels, std::span<const Machine> machines) {
  Report out;
  for (const auto& path : side.inputs) out.inputs.push_back({path, "report", ""});
  if (const auto* machine = side.machines.empty() ? nullptr : known_machine(side.machines.front(), machines)) {
    out.machines.push_back(*machine);
    add_at_clock(side, out.machines.back());
  }
  for (const auto& k : kernels) {
    KernelRow row;
    row.id = out.rows.size();
    row.name = k.name;
    row.full_name = k.full_name;
    row.op = k.op;
    row.grid = k.grid;
    row.block = k.block;
    if (!out.machines.empty()) row.machine = 0;
    row.time_share = k.mean.time_share;
    row.time_basis = k.mean.time_basis;
    row.group.work = work_of(k.mean);
    row.group.placement = placement_of(k.mean);
    out.rows.push_back(std::move(row));
  }
  out.total.time_s = side.time_s.value_or(0);
  out.total.fraction = side.fraction;
  out.total.bound = side.bound;
  out.total.placed_time_share = side.placed_time_share;
  out.total.ceiling = side.ceiling;
  return out;
}

}  // namespace roofline
