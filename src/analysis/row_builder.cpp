#include "analysis/row_builder.h"

#include <algorithm>

#include "analysis/above_roof.h"
#include "analysis/roofs.h"
#include "roofline/diagnosis.h"
#include "roofline/machines.h"
#include "roofline/names.h"

namespace roofline {
namespace {

// What the profile knows of the device, completed by the catalogue: old exports name neither chip nor SMs.
DeviceInfo device_of(const Profile& profile, const Launch& launch, const Machine* catalogue) {
  DeviceInfo device = launch.device < profile.devices.size() ? profile.devices[launch.device] : DeviceInfo{};
  if (catalogue == nullptr) return device;
  if (device.compute_capability.empty()) device.compute_capability = catalogue->compute_capability;
  if (!device.sm_count) device.sm_count = catalogue->sm_count;
  return device;
}

struct Placed {
  std::vector<const Launch*> launches;
  std::vector<Work> works;
  std::vector<Placement> used;
  std::vector<Placement> datasheet;  // empty when the machine has no datasheet
};

std::vector<PlacedWork> pairs(const std::vector<Work>& works, const std::vector<Placement>& placements) {
  std::vector<PlacedWork> out;
  out.reserve(works.size());
  for (std::size_t i = 0; i < works.size(); ++i) out.push_back({&works[i], &placements[i]});
  return out;
}

// Percentages are of the peaks at the clock of the run. Under other roofs DRAM's counts as the bytes it stands for, and
// those of the SMs and caches by the ratio of the clocks; where a clock is unknown they say nothing.
Work under_other_roofs(const Work& work, const Ceiling& run, const Ceiling& other) {
  auto out = work;
  auto& dram = out.level(MemoryLevel::dram);
  const auto peak = run.bandwidth(MemoryLevel::dram, "dram");
  if (const auto& percent = dram.direct_fraction; percent && !dram.total && peak && work.time) {
    dram.total = Quantity::of(percent.value() * *peak * work.time.value(), Evidence::derived, percent.provenance(),
                              percent.bound());
    dram.definition = "dram";
  }
  const bool clocks = run.sm_clock_hz && other.sm_clock_hz;
  const double ratio = clocks ? *run.sm_clock_hz / *other.sm_clock_hz : 1;
  auto& uncounted = out.coverage.uncounted_fraction;
  if (clocks && uncounted) uncounted = uncounted.with_value(std::min(1.0, uncounted.value() * ratio));
  if (!clocks) uncounted = {};
  for (const auto level : {MemoryLevel::l2, MemoryLevel::l1, MemoryLevel::shared}) {
    auto& percent = out.level(level).direct_fraction;
    percent = clocks && percent ? percent.with_value(percent.value() * ratio) : Quantity{};
  }
  return out;
}

// A measured ceiling may hold less than the row needs: that is why, not what the profile lacks.
void note_gap(std::string gap, Placement& p) {
  if (gap.empty()) return;
  if (!p.placed()) p.reason = gap;
  p.notes.push_back(std::move(gap));
}

void place_launch(const Launch& launch, const DeviceInfo& device, const Machine* catalogue,
                  const AnalysisOptions& options, Placed& placed, BuiltRow& out) {
  auto counted = count(launch, device);
  for (auto& w : counted.warnings) out.warnings.push_back(std::move(w));
  const auto groups = catalogue != nullptr ? catalogue->pipe_groups : pipe_groups(device.compute_capability);
  auto roofs = choose_roofs(launch, counted.work, device, catalogue, options);
  const auto place_under = [&](const Ceiling& ceiling) {
    const auto& run = roofs.run ? *roofs.run : roofs.used;
    const bool at_run = run.kind != CeilingKind::at_clock || &ceiling == &run || !has_percentages(counted.work);
    if (at_run) return place(counted.work, ceiling, groups, options.thresholds);
    return place(under_other_roofs(counted.work, run, ceiling), ceiling, groups, options.thresholds);
  };
  placed.used.push_back(place_under(roofs.used));
  if (roofs.used.kind == CeilingKind::measured)
    note_gap(measured_gap(counted.work, roofs.used, catalogue), placed.used.back());
  if (roofs.datasheet != nullptr) placed.datasheet.push_back(place_under(*roofs.datasheet));
  const double time = counted.work.time.value_or(0);
  if (roofs.used.kind == CeilingKind::at_clock && time >= out.longest_s) {
    out.longest_s = time;
    out.longest_ceiling = std::move(roofs.used);
  }
  placed.launches.push_back(&launch);
  placed.works.push_back(std::move(counted.work));
}

// Findings are about the launch with the most time: it has most to say and most to gain.
void diagnose_longest(const Placed& placed, const DeviceInfo& device, const Thresholds& thresholds, KernelRow& row) {
  if (placed.works.empty()) return;
  std::size_t longest = 0;
  for (std::size_t i = 1; i < placed.works.size(); ++i)
    if (placed.works[i].time.value_or(0) > placed.works[longest].time.value_or(0)) longest = i;
  const auto& launch = *placed.launches[longest];
  row.diagnosed_launch = launch.ordinal;
  diagnose_row({launch, device, placed.works[longest], placed.used[longest], thresholds}, row.group, row.findings);
}

double largest_fraction(const Placement& p) {
  double largest = 0;
  for (const auto& r : p.resources)
    if (r.required) largest = std::max(largest, r.fraction);
  return largest;
}

// place() knows no causes: where one was found, its guesses go.
void replace_guess(std::string_view cause, Placement& p) {
  constexpr std::string_view kGuess = "above the ";
  if (cause.empty()) return;
  std::erase_if(p.notes, [&](const std::string& note) { return note.starts_with(kGuess); });
  if (p.reason.starts_with(kGuess)) p.reason = "above the roof: " + std::string(cause);
}

// A row above its roof is explained by its launch that is farthest above, in place of the rule that only notes it.
void explain_if_above(const Placed& placed, const DeviceInfo& device, const Machine* catalogue,
                      const AnalysisOptions& options, BuiltRow& out) {
  auto& row = out.row;
  if (placed.works.empty()) return;
  if (!is_above_roof(row.group.placement, row.datasheet ? &*row.datasheet : nullptr, options.thresholds)) return;
  std::size_t i = 0;
  for (std::size_t k = 1; k < placed.used.size(); ++k)
    if (largest_fraction(placed.used[k]) > largest_fraction(placed.used[i])) i = k;
  const auto& launch = *placed.launches[i];
  const auto roofs = choose_roofs(launch, placed.works[i], device, catalogue, options);
  auto finding = explain_above_roof({launch, device, placed.works[i], catalogue, roofs.used, placed.used[i],
                                     row.datasheet ? &placed.datasheet[i] : nullptr, out.warnings, options.thresholds});
  if (!finding) return;
  replace_guess(above_roof_cause(*finding), row.group.placement);
  row.findings.push_back(std::move(*finding));
}

void describe(const RowLaunches& launches, const Profile& profile, KernelRow& row) {
  const auto& first = *launches.launches.front();
  row.input = launches.profile;
  row.full_name = first.name;
  // Names that people gave are not cut.
  const bool named = first.given && first.function.empty();
  row.name = named ? std::string(first.name) : short_kernel_name(first.name);
  row.op = first.op;
  row.grid = first.grid;
  row.block = first.block;
  row.device = first.device < profile.devices.size() ? profile.devices[first.device].id : first.device;
  row.stream = first.stream;
  row.nvtx.assign(first.nvtx.begin(), first.nvtx.end());
  row.time_basis = first.time_basis;
  for (const auto* l : launches.launches) {
    if (l->failed) ++row.failed_launches;
    row.launch_ids.push_back(l->ordinal);
  }
}

// What the row would need to be placed for certain.
void list_missing(KernelRow& row) {
  const auto& work = row.group.work;
  const auto add = [&](const char* quantity, std::string reason) {
    row.missing.push_back({quantity, std::move(reason), {}});
  };
  if (!work.time) add("time", std::string(work.time.note()));
  if (const auto& dram = work.level(MemoryLevel::dram); !dram.total)
    add("dram", dram.direct_fraction ? "only a percentage of the peak was collected" : std::string(dram.total.note()));
  if (!work.coverage.complete()) add("flops", work.coverage.reason);
}

}  // namespace

BuiltRow build_row(const RowLaunches& launches, const Profile& profile, const Machine* catalogue,
                   const AnalysisOptions& options) {
  BuiltRow out;
  describe(launches, profile, out.row);
  Placed placed;
  const auto device = device_of(profile, *launches.launches.front(), catalogue);
  for (const auto* launch : launches.launches)
    if (!launch->failed) place_launch(*launch, device, catalogue, options, placed, out);
  out.compute_capability = device.compute_capability;
  out.row.group = aggregate(pairs(placed.works, placed.used), options.thresholds);
  diagnose_longest(placed, device, options.thresholds, out.row);
  if (!placed.datasheet.empty() && placed.datasheet.size() == placed.works.size())
    out.row.datasheet = aggregate(pairs(placed.works, placed.datasheet), options.thresholds).placement;
  explain_if_above(placed, device, catalogue, options, out);
  if (placed.works.empty())
    out.row.group.placement.reason = "every launch failed under the profiler";
  else
    list_missing(out.row);
  return out;
}

}  // namespace roofline
