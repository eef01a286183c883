// What makes the numbers of a whole report mean less than they seem to.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "roofline/diagnosis.h"

namespace roofline {
namespace {

using Findings = std::vector<Finding>;

void add(Findings& out, std::string_view id, std::string_view title, std::string why, std::string_view action,
         std::vector<FindingEvidence> evidence = {}) {
  Finding f;
  f.id = id;
  f.kind = "pitfall";
  f.title = title;
  f.why = std::move(why);
  f.action = action;
  f.evidence = std::move(evidence);
  out.push_back(std::move(f));
}

double time_of(const KernelRow& row) { return row.group.work.time.value_or(0); }

// Share of the report's time in rows for which `test` holds.
template <typename Test>
double share(const Report& report, Test test) {
  double part = 0;
  double all = 0;
  for (const auto& row : report.rows) {
    all += time_of(row);
    if (test(row)) part += time_of(row);
  }
  return all > 0 ? part / all : 0;
}

template <typename Test>
bool any_row(const Report& report, Test test) {
  return std::any_of(report.rows.begin(), report.rows.end(), test);
}

FindingEvidence share_evidence(double value) { return {"share of the time", value, ""}; }

void locked_clocks(const Report& report, Findings& out) {
  const double locked = share(report, [](const KernelRow& r) { return r.time_basis == TimeBasis::profiled_locked; });
  if (locked <= 0) return;
  add(out, "clocks-locked", "the profiler locked the clocks",
      fmt::format("{:.0f} % of the time was measured at the base clock: fractions hold, microseconds do not",
                  100 * locked),
      "Take absolute times from a timeline, or profile with --clock-control none.", {share_evidence(locked)});
}

// Nsight Compute flushes all caches before each pass unless told not to.
void flushed_caches(const Report& report, std::span<const Profile> profiles, Findings& out) {
  const bool ncu = std::any_of(report.inputs.begin(), report.inputs.end(),
                               [](const ReportInput& i) { return i.format.starts_with("ncu"); });
  const bool kept = !profiles.empty() && std::all_of(profiles.begin(), profiles.end(), [](const Profile& p) {
    return p.command_line.find("--cache-control none") != std::string::npos ||
           p.command_line.find("--cache-control=none") != std::string::npos;
  });
  if (!ncu || kept) return;
  const bool known =
      std::all_of(profiles.begin(), profiles.end(), [](const Profile& p) { return !p.command_line.empty(); });
  add(out, "caches-flushed", "caches are flushed between passes",
      known ? "the command line does not ask to keep them: kernels that find their data in L2 look slower than they are"
            : "the default of the profiler; the command line is not recorded",
      "For small kernels in a chain profile with --cache-control none as well.");
}

void missing_hierarchy(const Report& report, Findings& out) {
  const auto has_caches = [](const KernelRow& r) {
    for (const auto level : {MemoryLevel::l2, MemoryLevel::l1, MemoryLevel::shared}) {
      const auto& l = r.group.work.level(level);
      if (l.total || l.direct_fraction) return true;
    }
    return false;
  };
  const double without = share(report, [&](const KernelRow& r) { return !has_caches(r); });
  if (without <= 0.5) return;
  add(out, "missing-hierarchy", "no cache levels",
      fmt::format("L2, L1 and shared memory were not measured for {:.0f} % of the time: a kernel that lives in a cache "
                  "looks impossible or idle",
                  100 * without),
      "Collect lts__t_bytes.sum and l1tex__t_bytes.sum too.", {share_evidence(without)});
}

void modelled_bytes(const Report& report, Findings& out) {
  const double modelled = share(report, [](const KernelRow& r) {
    const auto& dram = r.group.work.level(MemoryLevel::dram).total;
    return dram.evidence() == Evidence::model || dram.evidence() == Evidence::given;
  });
  if (modelled <= 0) return;
  add(out, "bytes-not-counted", "bytes are the algorithm's, not the implementation's",
      fmt::format("for {:.0f} % of the time bytes are typed or modelled: unfused chains and bad access move more",
                  100 * modelled),
      "Count DRAM bytes with a profiler and compare.", {share_evidence(modelled)});
}

void forgotten_writes(const Report& report, Findings& out) {
  const double forgotten = share(report, [](const KernelRow& r) {
    const auto& dram = r.group.work.level(MemoryLevel::dram);
    return dram.read && !dram.write && !dram.total;
  });
  if (forgotten <= 0) return;
  add(out, "writes-forgotten", "writes were not counted",
      fmt::format("for {:.0f} % of the time only reads are known", 100 * forgotten), "Collect dram__bytes_write.sum.",
      {share_evidence(forgotten)});
}

bool names_a_whole(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char ch) { return std::tolower(ch); });
  for (const std::string_view word : {"whole model", "model", "end to end", "end-to-end", "e2e", "step", "forward pass",
                                      "decode step", "prefill step", "inference"})
    if (lower == word) return true;
  return false;
}

void whole_model(const Report& report, Findings& out) {
  const auto it =
      std::find_if(report.rows.begin(), report.rows.end(), [](const KernelRow& r) { return names_a_whole(r.name); });
  if (it == report.rows.end()) return;
  add(out, "whole-model-point", "a whole model as one point",
      fmt::format("'{}' holds kernels of both regimes: their sum has no position", it->name),
      "List the kernels one by one.");
}

void too_early(const Report& report, Findings& out) {
  const bool timeline = any_row(report, [](const KernelRow& r) { return r.time_basis == TimeBasis::timeline; });
  if (timeline) return;
  add(out, "no-timeline", "nothing shows that the GPU is the bottleneck",
      "without a timeline the gaps between kernels and the CPU's share are unknown",
      "Record a timeline first: kernels at the roof do not matter if most of the step is gaps.");
}

void sparse_peaks(const Report& report, Findings& out) {
  constexpr double kTwice = 1.6;  // clocks differ by less, sparse peaks by 2
  for (const auto& row : report.rows) {
    if (!row.machine || *row.machine >= report.machines.size()) continue;
    const auto* sheet = report.machines[*row.machine].ceiling(CeilingKind::datasheet);
    if (sheet == nullptr) continue;
    for (const auto& use : row.group.placement.resources) {
      const auto precision = parse_precision(use.name);
      if (!precision || precision->sparse || use.peak <= 0) continue;
      const auto peak = sheet->peak(*precision);
      if (!peak || use.peak < kTwice * peak->high) continue;
      return add(out, "sparse-peak", "a peak that includes sparsity",
                 fmt::format("{}: the peak used for {} is {:.1f} times the dense one", row.name, use.name,
                             use.peak / peak->high),
                 "Use the dense peak: sparse peaks halve the apparent efficiency.",
                 {{"peak used", use.peak, "op/s"}, {"dense peak", peak->high, "op/s"}});
    }
  }
}

void few_launches(const Report& report, Findings& out) {
  constexpr double kFew = 3;
  const double few = share(report, [](const KernelRow& r) {
    const bool measured = r.time_basis == TimeBasis::profiled || r.time_basis == TimeBasis::profiled_locked;
    return measured && r.group.work.launches < kFew;
  });
  if (few <= 0.5) return;
  add(out, "few-launches", "measured once or twice",
      fmt::format("{:.0f} % of the time is in kernels with fewer than 3 launches: their spread is unknown", 100 * few),
      "Profile several launches of the kernels that matter.", {share_evidence(few)});
}

void not_a_number(const Report& report, Findings& out) {
  const auto failed = report.failed_launches;
  if (failed == 0) return;
  add(out, "failed-launches", "launches without numbers",
      fmt::format("{} launches failed under the profiler (NaN or no values): they are in no sum", failed),
      "Profile them again with fewer metrics per pass.", {{"failed launches", static_cast<double>(failed), ""}});
}

}  // namespace

std::vector<Finding> report_pitfalls(const Report& report, std::span<const Profile> profiles) {
  Findings out;
  if (report.rows.empty()) return out;
  sparse_peaks(report, out);
  whole_model(report, out);
  forgotten_writes(report, out);
  not_a_number(report, out);
  modelled_bytes(report, out);
  missing_hierarchy(report, out);
  locked_clocks(report, out);
  flushed_caches(report, profiles, out);
  few_launches(report, out);
  too_early(report, out);
  return out;
}

}  // namespace roofline
