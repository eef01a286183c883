#include "roofline/analysis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "analysis/device_machines.h"
#include "analysis/roofs.h"
#include "analysis/row_builder.h"
#include "roofline/counting.h"
#include "roofline/diagnosis.h"
#include "roofline/error.h"
#include "roofline/machines.h"
#include "roofline/names.h"

namespace roofline {
namespace {

// What makes two launches the same row.
struct RowKey {
  std::size_t profile;
  std::uint32_t device, run;
  std::string_view name, op;
  Dim3 grid, block;
  bool operator==(const RowKey&) const = default;
};

struct RowKeyHash {
  std::size_t operator()(const RowKey& k) const {
    std::size_t h = std::hash<std::string_view>{}(k.name);
    const auto mix = [&h](std::uint64_t v) { h ^= v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2); };
    mix(std::hash<std::string_view>{}(k.op));
    for (const auto v : {k.profile, std::size_t{k.device}, std::size_t{k.run}}) mix(v);
    for (const auto& d : {k.grid, k.block})
      for (const auto v : {d.x, d.y, d.z}) mix(v);
    return h;
  }
};

// As in ncu, "regex:" may stand before the expression. RE2 keeps hostile names and expressions linear.
std::unique_ptr<RE2> compile_filter(std::string_view filter) {
  if (filter.empty()) return nullptr;
  constexpr std::string_view kPrefix = "regex:";
  if (filter.starts_with(kPrefix)) filter.remove_prefix(kPrefix.size());
  auto expression = std::make_unique<RE2>(re2::StringPiece(filter.data(), filter.size()), RE2::Quiet);
  if (!expression->ok()) throw UsageError(fmt::format("bad regular expression '{}': {}", filter, expression->error()));
  return expression;
}

bool passes(const RE2* filter, std::string_view name) {
  return filter == nullptr || RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *filter);
}

std::vector<RowLaunches> group_launches(std::span<const Profile> profiles, const AnalysisOptions& options) {
  const auto filter = compile_filter(options.filter);
  std::vector<RowLaunches> rows;
  std::unordered_map<RowKey, std::size_t, RowKeyHash> index;
  for (std::size_t p = 0; p < profiles.size(); ++p)
    for (const auto& l : profiles[p].launches) {
      if (!passes(filter.get(), l.name)) continue;
      const RowKey key{p, l.device, l.run, l.name, l.op, l.grid, l.block};
      const auto [it, fresh] = index.try_emplace(key, rows.size());
      // Each line of a typed table is a row of its own, even where names repeat.
      const bool typed = l.given && l.time_basis != TimeBasis::timeline;
      if (fresh || options.per_launch || typed) {
        it->second = rows.size();
        rows.push_back({p, {}});
      }
      rows[it->second].launches.push_back(&l);
    }
  return rows;
}

// Warnings of one code are one line, with the number of launches they concern.
class WarningCounts {
 public:
  void add(const CountingWarning& w) {
    const auto it = std::find_if(items_.begin(), items_.end(), [&](const auto& i) { return i.first.code == w.code; });
    if (it != items_.end())
      ++it->second;
    else
      items_.emplace_back(w, 1);
  }
  void append_to(std::vector<ReportWarning>& out) const {
    for (const auto& [w, n] : items_)
      out.push_back(
          {w.code,
           n == 1 ? w.message : fmt::format("{} (and {} more launch{} like it)", w.message, n - 1, n == 2 ? "" : "es"),
           std::nullopt});
  }

 private:
  std::vector<std::pair<CountingWarning, std::size_t>> items_;
};

// A merged profile takes its times from the run that did not count instructions, or says itself that it could not.
bool accounts_for_times(const Profile& profile) { return profile.merged(); }

// Row of each launch, by (input, ordinal).
using LaunchRows = std::map<std::pair<std::size_t, std::uint64_t>, std::size_t>;

void add_profile_warnings(std::span<const Profile> profiles, Report& report) {
  LaunchRows rows;
  const bool needed =
      std::any_of(profiles.begin(), profiles.end(), [](const Profile& p) { return !p.warnings.empty(); });
  if (needed)
    for (const auto& row : report.rows)
      for (const auto ordinal : row.launch_ids) rows[{row.input, ordinal}] = row.id;
  for (std::size_t p = 0; p < profiles.size(); ++p) {
    const auto& profile = profiles[p];
    const auto prefix = profiles.size() > 1 ? profile.path + ": " : std::string();
    for (const auto& w : profile.warnings) {
      std::optional<std::size_t> kernel;
      if (w.launch)
        if (const auto it = rows.find({p, *w.launch}); it != rows.end()) kernel = it->second;
      report.warnings.push_back({w.code, prefix + w.message, kernel});
    }
  }
}

// Files that were joined are an input each; rows of a join belong to its first one.
void list_inputs(std::span<const Profile> profiles, Report& report) {
  std::vector<std::size_t> first;
  for (const auto& p : profiles) {
    first.push_back(report.inputs.size());
    for (const auto& path : p.merged() ? p.merged_paths : std::vector{p.path})
      report.inputs.push_back({path, p.format, p.producer});
  }
  for (auto& row : report.rows) row.input = first[row.input];
}

// The machine shows the roofs of its longest launch: clocks differ from launch to launch.
void keep_longest(std::vector<Machine>& machines, std::vector<double>& longest, const BuiltRow& built) {
  if (!built.longest_ceiling || !built.row.machine) return;
  const auto i = *built.row.machine;
  if (built.longest_s < longest[i]) return;
  longest[i] = built.longest_s;
  auto& ceilings = machines[i].ceilings;
  std::erase_if(ceilings, [](const Ceiling& c) { return c.kind == CeilingKind::at_clock; });
  ceilings.push_back(*built.longest_ceiling);
}

// One command per chip collects what any of its rows lacks, for just the kernels that lack something.
class Collection {
 public:
  void add(const BuiltRow& built, const Launch& launch) {
    if (built.row.missing.empty() || launch.given) return;
    auto& wanted = by_chip_[built.compute_capability];
    for (const auto& m : built.row.missing) add_once(wanted.quantities, m.quantity);
    add_once(wanted.kernels, function_name(launch));
    wanted.rows.push_back(built.row.id);
  }
  void write(Report& report) const {
    for (const auto& [chip, wanted] : by_chip_) {
      const bool few = wanted.kernels.size() <= kMostKernels;
      const auto command =
          collection_command(wanted.quantities, chip, few ? wanted.kernels : std::vector<std::string>());
      for (const auto id : wanted.rows)
        for (auto& m : report.rows[id].missing) m.collect = command;
    }
  }

 private:
  struct Wanted {
    std::vector<std::string> quantities, kernels;
    std::vector<std::size_t> rows;
  };
  static constexpr std::size_t kMostKernels = 8;  // beyond, the command collects every kernel

  static void add_once(std::vector<std::string>& list, const std::string& item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
  }
  // What ncu -k compares: the function's name without template arguments.
  static std::string function_name(const Launch& launch) {
    if (!launch.function.empty()) return std::string(launch.function);
    const auto name = short_kernel_name(launch.name);
    return name.substr(0, name.find('<'));
  }

  std::map<std::string, Wanted> by_chip_;
};

// Clocks given by hand make at-clock roofs of the datasheet's: another kind of ceiling has no use for them.
void check_options(const AnalysisOptions& options) {
  const bool clocks = options.sm_clock_hz || options.memory_clock_hz;
  const bool at_clock = options.ceiling == CeilingChoice::automatic || options.ceiling == CeilingChoice::at_clock;
  if (clocks && !at_clock)
    throw UsageError("clocks make at-clock roofs: leave out --ceiling, or say --ceiling at-clock");
}

void check_measured(const std::vector<Machine>& machines, const AnalysisOptions& options) {
  if (options.ceiling != CeilingChoice::measured) return;
  const auto has_one = [](const Machine& m) { return m.ceiling(CeilingKind::measured) != nullptr; };
  if (std::any_of(machines.begin(), machines.end(), has_one)) return;
  throw UsageError(
      fmt::format("no measured ceiling is known for {}; roofline machine list shows who has one",
                  machines.empty() || machines.front().name.empty() ? "this machine" : machines.front().name));
}

// A machine that nobody published limits of: another kind of ceiling can neither be chosen nor made for it.
void check_only_measured(const std::vector<Machine>& machines, const AnalysisOptions& options) {
  const bool clocks = options.sm_clock_hz || options.memory_clock_hz;
  if (!clocks && options.ceiling != CeilingChoice::datasheet) return;
  if (machines.empty() || !std::all_of(machines.begin(), machines.end(), only_measured)) return;
  throw UsageError(
      fmt::format("{} has measured ceilings only: {}", machines.front().id,
                  clocks ? "other clocks scale a datasheet's" : "--ceiling datasheet has none to show; leave it out"));
}

void note_only_measured(CeilingChoice choice, Report& report) {
  if (choice != CeilingChoice::automatic) return;
  for (std::size_t i = 0; i < report.machines.size(); ++i) {
    const auto& machine = report.machines[i];
    const bool used = std::any_of(report.rows.begin(), report.rows.end(), [&](const KernelRow& r) {
      return r.machine == i && r.group.placement.ceiling == CeilingKind::measured;
    });
    if (used && only_measured(machine))
      report.warnings.push_back(
          {"only-measured",
           fmt::format("no published limits of {} are known: its rows are under the ceilings that "
                       "were measured on it, which other machines of its kind need not share",
                       machine.id),
           std::nullopt});
  }
}

// The profiler locks the SM clock and leaves the memory clock alone: a kernel may be compute-bound under the profiler
// and memory-bound at the datasheet's clocks.
void warn_of_regimes(Report& report) {
  for (const auto& row : report.rows) {
    const auto& p = row.group.placement;
    if (p.ceiling == CeilingKind::datasheet || !p.placed() || !row.datasheet || !row.datasheet->placed()) continue;
    if (p.regime == row.datasheet->regime) continue;
    std::string clock;
    if (p.clock_hz) clock = fmt::format(" ({:.0f} MHz)", *p.clock_hz / 1e6);
    if (const auto rated = row.datasheet->clock_hz; p.clock_hz && rated)
      clock = fmt::format(" ({:.0f} of {:.0f} MHz)", *p.clock_hz / 1e6, *rated / 1e6);
    report.warnings.push_back(
        {"regime-depends-on-clock",
         fmt::format("'{}' is {}-bound at the SM clock of its roof{}, {}-bound under the datasheet's roofs: the memory "
                     "clock did not change alike",
                     row.name, to_string(p.regime), clock, to_string(row.datasheet->regime)),
         row.id});
  }
}

}  // namespace

Report analyze(std::span<const Profile> profiles, const AnalysisOptions& options) {
  Report report;
  check_options(options);
  report.thresholds = options.thresholds;
  report.catalogue_version = MachineCatalogue::instance().version();
  report.asked_sm_clock_hz = options.sm_clock_hz;
  report.asked_memory_clock_hz = options.memory_clock_hz;
  DeviceMachines devices(profiles, options.machine);
  check_measured(devices.machines(), options);
  check_only_measured(devices.machines(), options);
  std::vector<double> longest(devices.machines().size(), -1);
  WarningCounts counting_warnings;
  Collection collection;
  std::vector<bool> timed;
  for (const auto& profile : profiles) timed.push_back(accounts_for_times(profile));
  for (const auto& launches : group_launches(profiles, options)) {
    const auto device = launches.launches.front()->device;
    auto built = build_row(launches, profiles[launches.profile], devices.catalogue(launches.profile, device), options);
    built.row.id = report.rows.size();
    built.row.machine = devices.index(launches.profile, device);
    keep_longest(devices.machines(), longest, built);
    if (profiles[launches.profile].format.starts_with("ncu")) collection.add(built, *launches.launches.front());
    for (const auto& w : built.warnings)
      if (w.code != "time-of-counting-run" || !timed[launches.profile]) counting_warnings.add(w);
    report.rows.push_back(std::move(built.row));
  }
  report.machines = std::move(devices.machines());
  report.warnings = devices.warnings();
  note_only_measured(options.ceiling, report);
  collection.write(report);
  add_profile_warnings(profiles, report);
  list_inputs(profiles, report);
  counting_warnings.append_to(report.warnings);
  sum_up(report);
  for (const auto& row : report.rows) report.failed_launches += row.failed_launches;
  warn_of_regimes(report);
  report.findings = report_pitfalls(report, profiles);
  return report;
}

}  // namespace roofline
