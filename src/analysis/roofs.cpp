#include "analysis/roofs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace roofline {
namespace {

bool names_clocks(const AnalysisOptions& options) { return options.sm_clock_hz || options.memory_clock_hz; }

Ceiling empty(CeilingKind kind) {
  Ceiling ceiling;
  ceiling.kind = kind;
  return ceiling;
}

bool has_figures(const Ceiling& c) { return !c.peaks.empty() || !c.bandwidths.empty() || !c.links.empty(); }

Ceiling at_run_clock(const Launch& launch, const Work& work, const DeviceInfo& device, const Machine* catalogue,
                     const Ceiling* datasheet, CeilingChoice choice) {
  if (auto at_clock = at_clock_ceiling(launch, device, catalogue)) return std::move(*at_clock);
  const auto& dram = work.level(MemoryLevel::dram);
  const bool percent_only = dram.direct_fraction && (!dram.total || datasheet == nullptr);
  if (percent_only || choice == CeilingChoice::at_clock) return empty(CeilingKind::at_clock);
  return datasheet != nullptr ? *datasheet : Ceiling{};
}

// The datasheet of the SMs that the launch could use. DRAM and L2 stay whole: how a slice shares them is not recorded.
std::shared_ptr<const Ceiling> datasheet_of(const Machine* catalogue, const Work& work) {
  const auto* whole = catalogue != nullptr ? catalogue->ceiling(CeilingKind::datasheet) : nullptr;
  if (whole == nullptr || !has_figures(*whole)) return nullptr;
  const auto& sms = work.activity.sm_count;
  if (!sms || !catalogue->sm_count || sms.value() <= 0 || sms.value() >= *catalogue->sm_count)
    return {std::shared_ptr<const Ceiling>(), whole};  // the catalogue's own, which outlives every analysis
  auto part = std::make_shared<Ceiling>(*whole);
  const double share = sms.value() / *catalogue->sm_count;
  const auto source = fmt::format(", {:g} of {} SMs", sms.value(), *catalogue->sm_count);
  for (auto& peak : part->peaks) {
    peak.ops_per_s *= share;
    peak.source += source;
  }
  for (auto& b : part->bandwidths) {
    if (b.level == MemoryLevel::dram || b.level == MemoryLevel::l2) continue;
    b.bytes_per_s *= share;
    b.source += source;
  }
  return part;
}

}  // namespace

bool has_percentages(const Work& work) {
  for (const auto level : kMemoryLevels)
    if (work.level(level).direct_fraction) return true;
  return work.coverage.uncounted_fraction.has_value();
}

bool only_measured(const Machine& machine) {
  const auto* datasheet = machine.ceiling(CeilingKind::datasheet);
  return machine.ceiling(CeilingKind::measured) != nullptr && (datasheet == nullptr || !has_figures(*datasheet));
}

Roofs choose_roofs(const Launch& launch, const Work& work, const DeviceInfo& device, const Machine* catalogue,
                   const AnalysisOptions& options) {
  Roofs roofs;
  roofs.datasheet = datasheet_of(catalogue, work);
  const bool other = names_clocks(options) || options.ceiling == CeilingChoice::datasheet ||
                     options.ceiling == CeilingChoice::measured;
  if (other && !launch.given && has_percentages(work)) roofs.run = at_clock_ceiling(launch, device, catalogue);
  if (options.ceiling == CeilingChoice::measured) {
    const auto* measured = catalogue != nullptr ? catalogue->ceiling(CeilingKind::measured) : nullptr;
    roofs.used = measured != nullptr ? *measured : empty(CeilingKind::measured);
    return roofs;
  }
  if (options.ceiling != CeilingChoice::datasheet && !launch.given)
    roofs.used = at_run_clock(launch, work, device, catalogue, roofs.datasheet.get(), options.ceiling);
  else if (roofs.datasheet != nullptr)
    roofs.used = *roofs.datasheet;
  if (options.ceiling == CeilingChoice::automatic && !has_figures(roofs.used) &&
      roofs.used.kind == CeilingKind::datasheet && catalogue != nullptr && only_measured(*catalogue))
    roofs.used = *catalogue->ceiling(CeilingKind::measured);
  if (names_clocks(options)) roofs.used = at_clocks(roofs.used, options.sm_clock_hz, options.memory_clock_hz);
  return roofs;
}

std::string measured_gap(const Work& work, const Ceiling& measured, const Machine* catalogue) {
  const auto name = catalogue != nullptr ? catalogue->id : std::string("this machine");
  if (measured.peaks.empty() && measured.bandwidths.empty()) return "no measured ceiling is known for " + name;
  std::vector<std::string> lacking;
  if (work.level(MemoryLevel::dram).total && !measured.bandwidth(MemoryLevel::dram, "dram"))
    lacking.emplace_back("DRAM bandwidth");
  for (const auto& op : work.operations)
    if (op.operations.value_or(0) > 0 && !measured.peak(op.precision) && !is_integer(op.precision.type))
      lacking.push_back(to_string(op.precision));
  if (lacking.empty()) return {};
  return fmt::format("the measured ceiling of {} lacks {}", name, fmt::join(lacking, ", "));
}

}  // namespace roofline
