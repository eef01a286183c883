#include "chart/roofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace roofline::chart {
namespace {

// Machines are told apart across reports by what they are, not by their index.
struct Use {
  const Machine* machine = nullptr;
  CeilingKind kind = CeilingKind::datasheet;
  double time_s = 0;
  std::map<Precision, double> operations;
  std::set<std::pair<MemoryLevel, Definition>> levels;
};

bool same_machine(const Machine& a, const Machine& b) {
  return a.id == b.id && a.name == b.name && a.compute_capability == b.compute_capability && a.sm_count == b.sm_count;
}

void add_row(const KernelRow& row, Use& use) {
  const auto& work = row.group.work;
  // A row without a time still shows which roofs its chart needs.
  use.time_s += work.time.value_or(0);
  for (const auto& op : work.operations)
    if (!is_integer(op.precision.type) && op.operations && op.operations.value() > 0)
      use.operations[op.precision] += op.operations.value();
  for (const auto level : kMemoryLevels) {
    const auto& traffic = work.level(level);
    if (traffic.total && !traffic.definition.empty()) use.levels.emplace(level, traffic.definition);
  }
}

// Most time first.
std::vector<Use> uses_of(std::span<const ShownRows> shown) {
  std::vector<Use> uses;
  for (const auto& s : shown) {
    for (const auto i : s.rows) {
      const auto& row = s.report->rows[i];
      if (!row.machine || *row.machine >= s.report->machines.size()) continue;
      const auto& machine = s.report->machines[*row.machine];
      const auto kind = row.group.placement.ceiling;
      auto it = std::find_if(uses.begin(), uses.end(),
                             [&](const Use& u) { return u.kind == kind && same_machine(*u.machine, machine); });
      if (it == uses.end()) it = uses.insert(uses.end(), Use{&machine, kind, 0, {}, {}});
      add_row(row, *it);
    }
  }
  std::stable_sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.time_s > b.time_s; });
  return uses;
}

ChartRoof memory_roof(const Bandwidth& b, ChartRoof::Role role) {
  ChartRoof roof;
  roof.kind = ChartRoof::Kind::memory;
  roof.role = role;
  roof.level = b.level;
  roof.value = b.bytes_per_s;
  roof.name = level_name(b.level, b.definition);
  roof.label = fmt::format("{} {}", roof.name, bandwidth_text(b.bytes_per_s));
  return roof;
}

ChartRoof compute_roof(const Precision& precision, double peak, ChartRoof::Role role) {
  ChartRoof roof;
  roof.kind = ChartRoof::Kind::compute;
  roof.role = role;
  roof.value = peak;
  roof.name = to_string(precision);
  roof.label = fmt::format("{} {}", roof.name, rate_text(peak));
  return roof;
}

// Precisions to draw: those in use, else the one that most charts show.
std::vector<Precision> precisions_of(const Use& use, const Ceiling& ceiling) {
  std::vector<Precision> out;
  for (const auto& [precision, operations] : use.operations)
    if (ceiling.peak(precision)) out.push_back(precision);
  if (!out.empty()) return out;
  if (const Precision fp32; ceiling.peak(fp32)) return {fp32};
  for (const auto& peak : ceiling.peaks)
    if (!is_integer(peak.precision.type)) return {peak.precision};
  return out;
}

std::vector<ChartRoof> roofs_of(const Use& use, const Ceiling& ceiling, ChartRoof::Role role, bool caches) {
  std::vector<ChartRoof> out;
  for (const auto& b : ceiling.bandwidths) {
    if (b.bytes_per_s <= 0) continue;
    const bool dram = b.level == MemoryLevel::dram;
    if (dram || (caches && use.levels.count({b.level, b.definition}) > 0)) out.push_back(memory_roof(b, role));
  }
  for (const auto& precision : precisions_of(use, ceiling))
    if (const auto peak = ceiling.peak(precision); peak && peak->high > 0)
      out.push_back(compute_roof(precision, peak->high, role));
  return out;
}

// Names that mean one and the same line become one.
void add_unique(std::vector<ChartRoof> roofs, std::string_view prefix, std::string_view suffix, Chart& chart) {
  constexpr double kSame = 0.005;
  for (auto& roof : roofs) {
    const auto it = std::find_if(chart.roofs.begin(), chart.roofs.end(), [&](const ChartRoof& r) {
      return r.kind == roof.kind && r.role == roof.role && std::abs(r.value - roof.value) <= kSame * r.value;
    });
    if (it == chart.roofs.end()) {
      roof.label = fmt::format("{}{}{}", prefix, roof.label, suffix);
      chart.roofs.push_back(std::move(roof));
    } else if (it->name != roof.name && it->role != ChartRoof::Role::datasheet) {
      it->name += ", " + roof.name;
      it->label =
          fmt::format("{}{} {}{}", prefix, it->name,
                      roof.kind == ChartRoof::Kind::memory ? bandwidth_text(it->value) : rate_text(it->value), suffix);
    }
  }
}

void add_ridges(Chart& chart) {
  const auto dram = std::find_if(chart.roofs.begin(), chart.roofs.end(), [](const ChartRoof& r) {
    return r.kind == ChartRoof::Kind::memory && r.role == ChartRoof::Role::in_use && r.level == MemoryLevel::dram;
  });
  if (dram == chart.roofs.end()) return;
  for (const auto& roof : chart.roofs)
    if (roof.kind == ChartRoof::Kind::compute && roof.role == ChartRoof::Role::in_use)
      chart.ridges.push_back({roof.value / dram->value, roof.value});
}

std::string ceiling_text(const Ceiling& ceiling) {
  std::string clock;
  if (ceiling.sm_clock_hz) clock = fmt::format(" (SM {}Hz)", si(*ceiling.sm_clock_hz, ""));
  switch (ceiling.kind) {
    case CeilingKind::datasheet:
      return "datasheet roof" + clock;
    case CeilingKind::at_clock:
      return "roof at the clock of the run" + clock;
    case CeilingKind::measured:
      return "measured roof" + clock;
  }
  return {};
}

std::string machine_name(const Machine& m) { return m.name.empty() ? m.chip : m.name; }

void add_in_use(const Use& use, bool caches, Chart& chart) {
  chart.subtitle = machine_name(*use.machine);
  const auto* ceiling = use.machine->ceiling(use.kind);
  if (ceiling == nullptr) return;
  chart.subtitle += (chart.subtitle.empty() ? "" : " · ") + ceiling_text(*ceiling);
  add_unique(roofs_of(use, *ceiling, ChartRoof::Role::in_use, caches), "", "", chart);
  if (use.kind == CeilingKind::datasheet) return;
  if (const auto* datasheet = use.machine->ceiling(CeilingKind::datasheet))
    add_unique(roofs_of(use, *datasheet, ChartRoof::Role::datasheet, false), "", " datasheet", chart);
}

// The highest dense one of floating point, which no list of formats may hide.
const Peak* highest_peak(const Ceiling& ceiling) {
  const Peak* best = nullptr;
  for (const auto& p : ceiling.peaks) {
    if (p.precision.sparse || is_integer(p.precision.type)) continue;
    if (best == nullptr || p.ops_per_s > best->ops_per_s) best = &p;
  }
  return best;
}

// What people compare machines by, dense, and what exceeds it; the names of one line become one.
std::vector<ChartRoof> all_roofs(const Ceiling& ceiling, ChartRoof::Role role) {
  constexpr std::array<std::string_view, 8> kFormats = {"fp64.vector", "fp64.tensor", "fp32.vector", "tf32.tensor",
                                                        "bf16.tensor", "fp16.tensor", "fp8.tensor",  "fp4.tensor"};
  std::vector<ChartRoof> out;
  for (const auto& b : ceiling.bandwidths) {
    const bool l2 = b.level == MemoryLevel::l2 && b.definition != "lts_t";
    if (b.bytes_per_s > 0 && (b.level == MemoryLevel::dram || l2)) out.push_back(memory_roof(b, role));
  }
  for (const auto key : kFormats) {
    const auto precision = *parse_precision(key);
    if (const auto peak = ceiling.peak(precision); peak && peak->high > 0)
      out.push_back(compute_roof(precision, peak->high, role));
  }
  const auto* top = highest_peak(ceiling);
  const auto below = [&](const ChartRoof& r) { return r.kind == ChartRoof::Kind::memory || r.value < top->ops_per_s; };
  if (top != nullptr && std::all_of(out.begin(), out.end(), below))
    out.push_back(compute_roof(top->precision, top->ops_per_s, role));
  return out;
}

}  // namespace

std::string level_name(MemoryLevel level, const Definition& definition) {
  if (level == MemoryLevel::dram) return "DRAM";
  const auto* name = level == MemoryLevel::l2 ? "L2" : level == MemoryLevel::l1 ? "L1" : "shared";
  return definition.empty() ? name : fmt::format("{} ({})", name, definition);
}

std::string bandwidth_text(double bytes_per_s) { return si(bytes_per_s, "B/s"); }
std::string rate_text(double flops_per_s) { return si(flops_per_s, "F/s"); }

void add_roofs(std::span<const ShownRows> shown, bool caches, Chart& chart) {
  constexpr std::size_t kMachines = 3;
  const auto uses = uses_of(shown);
  if (uses.empty()) {
    chart.notes.emplace_back("No machine is known, so there are no roofs: name one with --machine.");
    return;
  }
  add_in_use(uses.front(), caches, chart);
  for (std::size_t i = 1; i < std::min(uses.size(), kMachines); ++i) {
    const auto* ceiling = uses[i].machine->ceiling(uses[i].kind);
    if (ceiling == nullptr) continue;
    const bool same = same_machine(*uses[i].machine, *uses.front().machine);
    if (same && ceiling->kind == CeilingKind::datasheet) {
      // Some kernels are judged by it: the same dashed roofs, of these kernels' precisions too.
      add_unique(roofs_of(uses[i], *ceiling, ChartRoof::Role::datasheet, false), "", " datasheet", chart);
      continue;
    }
    const auto name = same ? ceiling_text(*ceiling) : machine_name(*uses[i].machine);
    add_unique(roofs_of(uses[i], *ceiling, ChartRoof::Role::other, false), name + ": ", "", chart);
  }
  if (uses.size() > kMachines)
    chart.notes.push_back(fmt::format("Roofs of {} further machines are not drawn.", uses.size() - kMachines));
  add_ridges(chart);
}

}  // namespace roofline::chart

namespace roofline {

Chart machine_chart(const Machine& machine, const Ceiling& drawn) {
  Chart out;
  out.title = chart::machine_name(machine);
  out.subtitle = chart::ceiling_text(drawn);
  chart::add_unique(chart::all_roofs(drawn, ChartRoof::Role::in_use), "", "", out);
  const auto* datasheet = machine.ceiling(CeilingKind::datasheet);
  if (datasheet != nullptr && drawn.kind != CeilingKind::datasheet)
    chart::add_unique(chart::all_roofs(*datasheet, ChartRoof::Role::datasheet), "", " datasheet", out);
  chart::add_ridges(out);
  return out;
}

}  // namespace roofline
