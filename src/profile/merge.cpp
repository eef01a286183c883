// Several runs of one program as one profile: counters that one run could not collect together come from several.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/median.h"
#include "roofline/error.h"
#include "roofline/metrics.h"
#include "roofline/profile.h"

namespace roofline {
namespace {

constexpr double kAgreement = 0.05;  // relative; what two runs of the same work may differ by
// Less than one DRAM access, in bytes or in smaller units: a relative difference of that says nothing.
constexpr double kNothing = 64;

// How a metric's value depends on the run.
enum class Nature : std::uint8_t {
  time,    // durations and cycles: longer in a slowed run
  rate,    // per second or per cycle: smaller in a slowed run
  share,   // of a peak: the same
  count,   // work: equal in every run of the same program
  steady,  // clocks, peaks, attributes, ratios: neither compared nor restated
};

bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

Nature nature_of(std::string_view name) {
  if (has(name, "peak_sustained") && !has(name, ".pct")) return Nature::steady;
  const bool cycles = has(name, "cycles_elapsed") || has(name, "cycles_active") || has(name, "elapsed_cycles") ||
                      has(name, "active_cycles");
  if (has(name, ".pct"))
    return has(name, "throughput") || has(name, "peak_sustained_elapsed") ? Nature::share : Nature::steady;
  if (has(name, ".per_second") || has(name, ".per_cycle")) return cycles ? Nature::steady : Nature::rate;
  if (cycles || has(name, "time_duration") || has(name, "time_active")) return Nature::time;
  if (has(name, ".ratio") || has(name, "per_") || has(name, "pcsamp") || !has(name, ".sum")) return Nature::steady;
  for (const std::string_view part : {"bytes", "sectors", "requests", "inst_executed", "ops_path", "fbpa__dram"}) {
    if (has(name, part)) return Nature::count;
  }
  return Nature::steady;
}

// How much collecting a metric slows the kernel down: counting SASS instructions patches the code.
enum class Slowing : std::uint8_t { none, counts_instructions, patches_code };

Slowing slowing_of(std::string_view name) {
  if (has(name, "__sass_")) return Slowing::patches_code;
  return has(name, "inst_executed") ? Slowing::counts_instructions : Slowing::none;
}

// --- one run ---

// Metric ids beyond the catalogue belong to one profile; here they become ids of the merged one.
class MergedNames {
 public:
  MetricId id(const Profile& profile, MetricId local) {
    const auto declared = static_cast<MetricId>(MetricCatalogue::instance().size());
    if (local < declared) return local;
    const std::string name(profile.metric_name(local));
    const auto [it, is_new] = index_.emplace(name, static_cast<MetricId>(declared + names_.size()));
    if (is_new) names_.push_back(name);
    return it->second;
  }
  std::shared_ptr<const std::vector<std::string>> extra() const {
    return names_.empty() ? nullptr : std::make_shared<const std::vector<std::string>>(names_);
  }

 private:
  std::unordered_map<std::string, MetricId> index_;
  std::vector<std::string> names_;
};

// One run and what its metrics are. Names are looked at once per metric, not once per launch.
class Run {
 public:
  Run(const Profile& profile, MergedNames& names) : profile_(&profile) {
    for (const auto& launch : profile.launches) {
      for (const auto& [id, value] : launch.metrics.values()) learn(id, names);
      for (const auto& [id, text] : launch.metrics.texts()) learn(id, names);
    }
  }
  const Profile& profile() const { return *profile_; }
  Slowing slowing() const { return slowing_; }
  Nature nature(MetricId local) const { return metrics_[local].nature; }
  MetricId merged(MetricId local) const { return metrics_[local].merged; }
  bool has_time(const MetricSet& set) const {
    bool found = false;
    set.for_each([&](MetricId id, double) { found = found || nature(id) == Nature::time; });
    return found;
  }

 private:
  struct Metric {
    bool known = false;
    Nature nature = Nature::steady;
    MetricId merged = 0;
  };

  void learn(MetricId local, MergedNames& names) {
    if (local >= metrics_.size()) metrics_.resize(local + 1);
    auto& metric = metrics_[local];
    if (metric.known) return;
    const auto name = profile_->metric_name(local);
    metric = {true, nature_of(name), names.id(*profile_, local)};
    slowing_ = std::max(slowing_, slowing_of(name));
  }

  const Profile* profile_;
  Slowing slowing_ = Slowing::none;
  std::vector<Metric> metrics_;  // by the profile's own id
};

[[noreturn]] void refuse_merge(const Profile& profile, std::string kind, std::string found, std::string expected,
                               std::string action) {
  throw InputError({std::move(kind), profile.path, std::nullopt, std::nullopt, std::move(found), std::move(expected),
                    std::move(action)});
}

// --- one launch (or shape) seen by all runs ---

struct Seen {
  const Launch* launch = nullptr;  // null: this run does not have it
  const MetricSet* metrics = nullptr;
};

struct Disagreement {
  std::string metric;
  std::size_t run = 0;  // whose value is not what an earlier one says
  double value = 0;
  std::size_t other = 0;  // the earlier run
  double other_value = 0;
};

double apart(double a, double b) {
  const double most = std::max(std::abs(a), std::abs(b));
  return most < kNothing ? 0 : std::abs(a - b) / most;
}

class LaunchMerger {
 public:
  explicit LaunchMerger(const std::vector<Run>& runs) : runs_(runs) {}

  struct Result {
    MetricSet metrics;
    std::optional<std::size_t> time_source;
    double slowdown = 1;  // of the slowest other run, where both tell
    std::optional<Disagreement> disagreement;
  };

  Result merge(const std::vector<Seen>& seen) {
    Result result;
    result.time_source = time_source(seen);
    result.disagreement = first_disagreement(seen);
    values_.clear();
    std::map<MetricId, std::string_view> texts;
    for (const auto k : order(seen, result.time_source)) {
      const double factor = result.time_source && k != *result.time_source ? slowdown(seen, k, *result.time_source) : 1;
      result.slowdown = std::max(result.slowdown, factor);
      add_values(*seen[k].metrics, k, result.time_source, factor);
      for (const auto& [id, text] : seen[k].metrics->texts()) texts.emplace(runs_[k].merged(id), text);
    }
    for (const auto& [id, value] : values_) result.metrics.set(id, value);
    for (const auto& [id, text] : texts) result.metrics.set_text(id, text);
    result.metrics.finish();
    return result;
  }

 private:
  static bool usable(const Seen& s) { return s.launch != nullptr && !s.launch->failed; }

  // The run that slowed the kernel least; the first of equals.
  std::optional<std::size_t> time_source(const std::vector<Seen>& seen) const {
    std::optional<std::size_t> best;
    for (std::size_t k = 0; k < seen.size(); ++k) {
      if (!usable(seen[k]) || !runs_[k].has_time(*seen[k].metrics)) continue;
      if (!best || runs_[k].slowing() < runs_[*best].slowing()) best = k;
    }
    return best;
  }

  // Rates belong to a time, so the run that gives the time comes first.
  static std::vector<std::size_t> order(const std::vector<Seen>& seen, std::optional<std::size_t> source) {
    std::vector<std::size_t> order;
    if (source) order.push_back(*source);
    for (std::size_t k = 0; k < seen.size(); ++k) {
      if (usable(seen[k]) && k != source) order.push_back(k);
    }
    return order;
  }

  // How many times longer the kernel took in run k than in the one that gives the time; 1 when they do not tell.
  double slowdown(const std::vector<Seen>& seen, std::size_t k, std::size_t source) const {
    if (runs_[k].slowing() != Slowing::patches_code) return 1;
    for (const auto& [id, value] : seen[k].metrics->values()) {
      if (runs_[k].nature(id) != Nature::time) continue;
      const auto reference = value_of(*seen[source].metrics, runs_[source], runs_[k].merged(id));
      if (reference && *reference > 0 && value > *reference * (1 + kAgreement)) return value / *reference;
    }
    return 1;
  }

  static std::optional<double> value_of(const MetricSet& set, const Run& run, MetricId merged) {
    std::optional<double> found;
    set.for_each([&](MetricId id, double value) {
      if (run.merged(id) == merged) found = value;
    });
    return found;
  }

  void add_values(const MetricSet& set, std::size_t k, std::optional<std::size_t> source, double factor) {
    for (const auto& [id, value] : set.values()) {
      const auto nature = runs_[k].nature(id);
      if (nature == Nature::time && source && k != *source) continue;
      if (nature == Nature::share && factor > 1) continue;
      // A count spread over the slowed run's time becomes the same count over the time that is kept.
      values_.emplace(runs_[k].merged(id), nature == Nature::rate ? value * factor : value);
    }
  }

  std::optional<Disagreement> first_disagreement(const std::vector<Seen>& seen) {
    struct First {
      std::size_t run;
      double value;
    };
    std::unordered_map<MetricId, First> known;
    for (std::size_t k = 0; k < seen.size(); ++k) {
      if (!usable(seen[k])) continue;
      for (const auto& [id, value] : seen[k].metrics->values()) {
        if (runs_[k].nature(id) != Nature::count) continue;
        const auto [it, is_new] = known.emplace(runs_[k].merged(id), First{k, value});
        if (is_new || apart(value, it->second.value) <= kAgreement) continue;
        return Disagreement{std::string(runs_[k].profile().metric_name(id)), k, value, it->second.run,
                            it->second.value};
      }
    }
    return std::nullopt;
  }

  const std::vector<Run>& runs_;
  std::map<MetricId, double> values_;
};

// --- the whole ---

std::string dims(const Dim3& d) { return d.count() == 0 ? "unknown" : fmt::format("{}x{}x{}", d.x, d.y, d.z); }

std::string device_of(const Profile& profile, const Launch& launch) {
  if (launch.device >= profile.devices.size()) return fmt::format("{}", launch.device);
  const auto& device = profile.devices[launch.device];
  return device.name.empty() ? fmt::format("{}", device.id) : fmt::format("{} ({})", device.id, device.name);
}

bool same_device(const Profile& a, const Launch& in_a, const Profile& b, const Launch& in_b) {
  if (in_a.device >= a.devices.size() || in_b.device >= b.devices.size()) return in_a.device == in_b.device;
  const auto& x = a.devices[in_a.device];
  const auto& y = b.devices[in_b.device];
  const auto agree = [](const std::string& s, const std::string& t) { return s.empty() || t.empty() || s == t; };
  return x.id == y.id && agree(x.name, y.name) && agree(x.compute_capability, y.compute_capability);
}

struct Group;

class Merge {
 public:
  explicit Merge(std::span<const Profile> profiles) : profiles_(profiles) {
    for (const auto& profile : profiles) {
      for (const auto& launch : profile.launches) {
        if (launch.given) {
          refuse_merge(profile, "merge-table", "a table, not a run of a program", "reports of a profiler",
                       "name it beside the others without --merge");
        }
      }
      runs_.emplace_back(profile, names_);
    }
    set_head();
  }

  Profile launch_by_launch() {
    const auto& base = profiles_.front();
    for (const auto& profile : profiles_) {
      if (profile.launches.size() == base.launches.size()) continue;
      refuse_merge(profile, "merge-count",
                   fmt::format("{} launch{}", profile.launches.size(), profile.launches.size() == 1 ? "" : "es"),
                   fmt::format("{} as in {}", base.launches.size(), base.path), kByShape);
    }
    LaunchMerger merger(runs_);
    for (std::size_t i = 0; i < base.launches.size(); ++i) {
      std::vector<Seen> seen;
      for (const auto& profile : profiles_) {
        const auto& launch = profile.launches[i];
        check_key(i, profile, launch);
        seen.push_back({&launch, &launch.metrics});
      }
      auto result = merger.merge(seen);
      if (result.disagreement) refuse_value(i, *result.disagreement);
      add_launch(base.launches[i], seen, std::move(result));
    }
    return finish();
  }

  Profile by_shape();

 private:
  static constexpr const char* kByShape = "profile the same run again, or join medians with --merge=by-shape";

  std::size_t add_shape(const std::vector<Group>& groups, LaunchMerger& merger);

  void set_head() {
    const auto& base = profiles_.front();
    out_ = Profile{};
    out_.format = base.format;
    out_.devices = base.devices;
    out_.command_line = base.command_line;
    out_.machine = base.machine;
    out_.bytes = base.bytes;
    out_.strings = std::make_shared<StringPool>();
    for (const auto& profile : profiles_) {
      if (out_.producer.empty()) out_.producer = profile.producer;
      out_.partial = out_.partial || profile.partial;
      fill_devices(profile);
    }
  }

  // What one run's file does not say about a device, another's may.
  void fill_devices(const Profile& profile) {
    for (const auto& other : profile.devices) {
      const auto mine =
          std::find_if(out_.devices.begin(), out_.devices.end(), [&](const DeviceInfo& d) { return d.id == other.id; });
      if (mine == out_.devices.end()) continue;
      if (mine->name.empty()) mine->name = other.name;
      if (mine->compute_capability.empty()) mine->compute_capability = other.compute_capability;
      if (!mine->sm_count) mine->sm_count = other.sm_count;
      if (!mine->max_sm_clock_hz) mine->max_sm_clock_hz = other.max_sm_clock_hz;
      if (!mine->max_memory_clock_hz) mine->max_memory_clock_hz = other.max_memory_clock_hz;
      if (!mine->memory_bus_bits) mine->memory_bus_bits = other.memory_bus_bits;
      if (!mine->l2_bytes) mine->l2_bytes = other.l2_bytes;
    }
  }

  void check_key(std::size_t i, const Profile& profile, const Launch& launch) const {
    const auto& base = profiles_.front();
    const auto& first = base.launches[i];
    const auto differ = [&](std::string_view what, const std::string& found, const std::string& expected) {
      refuse_merge(profile, "merge-mismatch", fmt::format("launch {} ({}) has {} {}", i, shown(launch), what, found),
                   fmt::format("{} as in {}", expected, base.path), kByShape);
    };
    if (!same_device(base, first, profile, launch))
      differ("device", device_of(profile, launch), device_of(base, first));
    if (launch.stream != first.stream) differ("stream", std::to_string(launch.stream), std::to_string(first.stream));
    if (launch.ordinal != first.ordinal) {
      differ("ordinal", std::to_string(launch.ordinal), std::to_string(first.ordinal));
    }
    if (launch.name != first.name) differ("name", shown(launch), shown(first));
    if (launch.grid != first.grid) differ("grid", dims(launch.grid), dims(first.grid));
    if (launch.block != first.block) differ("block", dims(launch.block), dims(first.block));
    if (launch.count != first.count) differ("launches", std::to_string(launch.count), std::to_string(first.count));
  }

  [[noreturn]] void refuse_value(std::size_t i, const Disagreement& d) const {
    const auto& profile = profiles_[d.run];
    refuse_merge(profile, "merge-mismatch",
                 fmt::format("launch {} ({}) has {} {}", i, shown(profile.launches[i]), d.metric, d.value),
                 fmt::format("{} within 5 % as in {}", d.other_value, profiles_[d.other].path), kByShape);
  }

  static std::string shown(const Launch& launch) {
    constexpr std::size_t kMost = 60;
    return launch.name.size() <= kMost ? std::string(launch.name) : std::string(launch.name.substr(0, kMost)) + "...";
  }

  std::string_view keep(std::string_view text) { return out_.strings->intern(text); }

  void add_launch(const Launch& base, const std::vector<Seen>& seen, LaunchMerger::Result result) {
    Launch launch = base;
    launch.name = keep(base.name);
    launch.function = keep(base.function);
    launch.mangled = keep(base.mangled);
    launch.op = keep(base.op);
    for (auto& range : launch.nvtx) range = keep(range);
    launch.metrics = std::move(result.metrics);
    launch.failed =
        std::all_of(seen.begin(), seen.end(), [](const Seen& s) { return s.launch == nullptr || s.launch->failed; });
    if (result.time_source) launch.time_basis = seen[*result.time_source].launch->time_basis;
    note(launch.ordinal, seen, result);
    out_.launches.push_back(std::move(launch));
  }

  void note(std::uint64_t ordinal, const std::vector<Seen>& seen, const LaunchMerger::Result& result) {
    slowdown_ = std::max(slowdown_, result.slowdown);
    if (result.time_source && runs_[*result.time_source].slowing() == Slowing::patches_code) ++slowed_times_;
    for (std::size_t k = 0; k < seen.size(); ++k) {
      if (seen[k].launch == nullptr || !seen[k].launch->failed) continue;
      out_.warnings.push_back(
          {"merge-failed-launch",
           fmt::format("the launch failed in {}; what it counted there is left out", profiles_[k].path), ordinal});
    }
  }

  Profile finish() {
    for (const auto& profile : profiles_) {
      for (const auto& w : profile.warnings) {
        out_.warnings.push_back(
            {w.code, fmt::format("{}: {}", profile.path, w.message), by_shape_ ? std::nullopt : w.launch});
      }
    }
    if (slowdown_ > 1) {
      out_.warnings.push_back(
          {"merge-slow-run",
           fmt::format("counting instructions made kernels up to {:.3g} times slower; times are those "
                       "of the run without it",
                       slowdown_),
           std::nullopt});
    }
    if (slowed_times_ > 0) {
      out_.warnings.push_back(
          {"merge-slow-time",
           fmt::format("{} from a run that counts SASS instructions, which can slow a kernel down; no other run has a "
                       "time",
                       slowed_times_ == 1 ? "one launch has its time"
                                          : fmt::format("{} launches have their time", slowed_times_)),
           std::nullopt});
    }
    out_.extra_metrics = names_.extra();
    return std::move(out_);
  }

  std::span<const Profile> profiles_;
  MergedNames names_;
  std::vector<Run> runs_;
  Profile out_;
  double slowdown_ = 1;
  std::size_t slowed_times_ = 0;
  bool by_shape_ = false;
};

// --- medians per shape ---

struct Shape {
  std::string_view name;
  Dim3 grid, block;
  auto operator<=>(const Shape&) const = default;
};

// The launches of one shape in one run.
struct Group {
  std::vector<const Launch*> launches;
  std::uint64_t count = 0;  // with what the launches themselves stand for
  MetricSet medians;

  void close() {
    std::map<MetricId, std::vector<double>> values;
    for (const auto* launch : launches) {
      if (launch->failed) continue;
      for (const auto& [id, value] : launch->metrics.values()) values[id].push_back(value);
      for (const auto& [id, text] : launch->metrics.texts()) medians.set_text(id, text);
    }
    for (auto& [id, of_launches] : values) medians.set(id, *median(std::move(of_launches)));
    medians.finish();
  }
  // One that did not fail, if there is one.
  const Launch* representative() const {
    const auto good = std::find_if(launches.begin(), launches.end(), [](const Launch* l) { return !l->failed; });
    return good == launches.end() ? launches.front() : *good;
  }
};

struct ShapeGroups {
  std::vector<Shape> order;                    // as they turn up
  std::map<Shape, std::vector<Group>> groups;  // one Group per run

  explicit ShapeGroups(std::span<const Profile> profiles) {
    for (std::size_t k = 0; k < profiles.size(); ++k) {
      for (const auto& launch : profiles[k].launches) {
        const Shape shape{launch.name, launch.grid, launch.block};
        auto [it, is_new] = groups.try_emplace(shape, profiles.size());
        if (is_new) order.push_back(shape);
        it->second[k].launches.push_back(&launch);
        it->second[k].count += launch.count;
      }
    }
    for (auto& [shape, runs] : groups) {
      for (auto& group : runs) group.close();
    }
  }
};

Profile Merge::by_shape() {
  by_shape_ = true;
  ShapeGroups shapes(profiles_);
  LaunchMerger merger(runs_);
  std::size_t missing = 0;
  for (const auto& shape : shapes.order) missing += add_shape(shapes.groups.at(shape), merger);
  if (missing > 0) {
    out_.warnings.push_back({"merge-missing-shape",
                             fmt::format("{} missing from one of the runs",
                                         missing == 1 ? "one shape is" : fmt::format("{} shapes are", missing)),
                             std::nullopt});
  }
  out_.warnings.push_back({"merge-by-shape",
                           "values are medians over all launches of one name, grid and block, so they are derived",
                           std::nullopt});
  return finish();
}

// Returns how many runs do not have the shape.
std::size_t Merge::add_shape(const std::vector<Group>& groups, LaunchMerger& merger) {
  std::vector<Seen> seen;
  seen.reserve(groups.size());
  std::size_t missing = 0;
  for (const auto& group : groups) {
    const bool here = !group.launches.empty();
    seen.push_back({here ? group.representative() : nullptr, &group.medians});
    if (!here) ++missing;
  }
  // A shape comes from some run, so one group has launches.
  const auto& first =
      *std::find_if(groups.begin(), groups.end(), [](const Group& group) { return !group.launches.empty(); });
  auto result = merger.merge(seen);
  Launch base = *first.representative();
  if (result.disagreement) {
    const auto& d = *result.disagreement;
    out_.warnings.push_back({"merge-spread",
                             fmt::format("{}: median {} is {} in {} and {} in {}", shown(base), d.metric, d.value,
                                         profiles_[d.run].path, d.other_value, profiles_[d.other].path),
                             out_.launches.size()});
  }
  base.ordinal = out_.launches.size();
  base.count = result.time_source ? groups[*result.time_source].count : first.count;
  base.derived = true;
  if (groups.front().launches.empty()) base.offset = base.size = 0;  // not in the bytes that are kept
  add_launch(base, seen, std::move(result));
  return missing;
}

// --- files that hold several runs ---

std::uint32_t runs_in(const Profile& profile) {
  std::uint32_t last = 0;
  for (const auto& launch : profile.launches) last = std::max(last, launch.run);
  return last + 1;
}

// Profile::launches and warnings start empty.
Profile without_launches(const Profile& profile, std::uint32_t run) {
  Profile part;
  part.path = fmt::format("{} (run {})", profile.path, run + 1);
  part.format = profile.format;
  part.producer = profile.producer;
  part.devices = profile.devices;
  part.command_line = profile.command_line;
  part.partial = profile.partial;
  part.strings = profile.strings;
  part.bytes = profile.bytes;
  part.extra_metrics = profile.extra_metrics;
  part.machine = profile.machine;
  return part;
}

// One profile per run; launches count from 0 in each. Warnings about the whole file are left to the caller.
std::vector<Profile> split_runs(const Profile& profile) {
  std::vector<Profile> parts;
  for (std::uint32_t run = 0; run < runs_in(profile); ++run) parts.push_back(without_launches(profile, run));
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>> place;  // run, ordinal in it
  for (const auto& launch : profile.launches) {
    auto& launches = parts[launch.run].launches;
    place[launch.ordinal] = {launch.run, launches.size()};
    auto& own = launches.emplace_back(launch);
    own.ordinal = launches.size() - 1;
    own.run = 0;
  }
  for (const auto& warning : profile.warnings) {
    if (!warning.launch) continue;
    const auto it = place.find(*warning.launch);
    if (it == place.end()) continue;
    parts[it->second.first].warnings.push_back({warning.code, warning.message, it->second.second});
  }
  return parts;
}

// What is said about a file with several runs as a whole; that it holds them is settled by joining them.
void add_file_warnings(const Profile& file, Profile& out) {
  for (const auto& w : file.warnings) {
    if (w.launch || w.code == "several-runs") continue;
    out.warnings.push_back({w.code, fmt::format("{}: {}", file.path, w.message), std::nullopt});
  }
}

Profile merge_runs(std::span<const Profile> runs, MergeMode mode) {
  Merge merge(runs);
  return mode == MergeMode::launch_by_launch ? merge.launch_by_launch() : merge.by_shape();
}

}  // namespace

Profile merge_profiles(std::span<const Profile> profiles, MergeMode mode) {
  if (profiles.empty()) throw UsageError("nothing to merge");
  std::vector<const Profile*> files_of_runs;
  for (const auto& profile : profiles) {
    if (runs_in(profile) > 1) files_of_runs.push_back(&profile);
  }
  if (profiles.size() == 1 && files_of_runs.empty() && mode == MergeMode::launch_by_launch) {
    throw UsageError(
        fmt::format("--merge joins several runs of a program, but {} holds one; name the files of its "
                    "other runs too",
                    profiles.front().path));
  }
  Profile merged;
  if (files_of_runs.empty()) {
    merged = merge_runs(profiles, mode);
  } else {
    std::vector<Profile> runs;
    for (const auto& profile : profiles) {
      if (runs_in(profile) == 1) {
        runs.push_back(profile);
      } else {
        std::ranges::move(split_runs(profile), std::back_inserter(runs));
      }
    }
    merged = merge_runs(runs, mode);
  }
  for (const auto* file : files_of_runs) add_file_warnings(*file, merged);
  for (const auto& profile : profiles) merged.merged_paths.push_back(profile.path);
  merged.path = fmt::format("{}", fmt::join(merged.merged_paths, " + "));
  return merged;
}

}  // namespace roofline
