#include "roofline/analysis.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "analysis/device_machines.h"
#include "analysis/row_builder.h"
#include "roofline/counting.h"
#include "roofline/diagnosis.h"
#include "roofline/error.h"
#include "roofline/names.h"

namespace roofline {
namespace {

// What makes two launches the same row.
struct RowKey {
  std::size_t profile;
  std::uint32_t device;
  std::string_view name, op;
  Dim3 grid, block;
  bool operator==(const RowKey&) const = default;
};

struct RowKeyHash {
  std::size_t operator()(const RowKey& k) const {
    std::size_t h = std::hash<std::string_view>{}(k.name);
    const auto mix = [&h](std::uint64_t v) { h ^= v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2); };
    mix(std::hash<std::string_view>{}(k.op));
    for (const auto v : {k.profile, static_cast<std::size_t>(k.device)}) mix(v);
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
      const RowKey key{p, l.device, l.name, l.op, l.grid, l.block};
      const auto [it, fresh] = index.try_emplace(key, rows.size());
      // Each line of a typed table is a row of its own, even where names repeat.
      if (fresh || options.per_launch || l.given) {
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
bool accounts_for_times(const Profile& profile) {
  return std::any_of(profile.warnings.begin(), profile.warnings.end(),
                     [](const ReadWarning& w) { return w.code.starts_with("merge-slow"); });
}

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
    report.inputs.push_back({profile.path, profile.format, profile.producer});
    const auto prefix = profiles.size() > 1 ? profile.path + ": " : std::string();
    for (const auto& w : profile.warnings) {
      std::optional<std::size_t> kernel;
      if (w.launch)
        if (const auto it = rows.find({p, *w.launch}); it != rows.end()) kernel = it->second;
      report.warnings.push_back({w.code, prefix + w.message, kernel});
    }
  }
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

void sum_up(Report& report) {
  std::vector<PlacementGroup> groups;
  groups.reserve(report.rows.size());
  for (const auto& row : report.rows) groups.push_back(row.group);
  report.total = total(groups);
  mark_looks(groups, report.total.time_s, report.thresholds);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    auto& row = report.rows[i];
    row.group.placement.look = groups[i].placement.look;
    row.time_share = report.total.time_s > 0 ? row.group.work.time.value_or(0) / report.total.time_s : 0;
    report.failed_launches += row.failed_launches;
  }
}

}  // namespace

Report analyze(std::span<const Profile> profiles, const AnalysisOptions& options) {
  Report report;
  report.thresholds = options.thresholds;
  DeviceMachines devices(profiles, options.machine);
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
    for (const auto& w : built.warnings)
      if (w.code != "time-of-counting-run" || !timed[launches.profile]) counting_warnings.add(w);
    report.rows.push_back(std::move(built.row));
  }
  report.machines = std::move(devices.machines());
  report.warnings = devices.warnings();
  collection.write(report);
  add_profile_warnings(profiles, report);
  counting_warnings.append_to(report.warnings);
  sum_up(report);
  report.findings = report_pitfalls(report, profiles);
  return report;
}

}  // namespace roofline
