// A timeline as launches that can be placed under roofs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "roofline/names.h"
#include "roofline/operator_work.h"
#include "roofline/timeline.h"

namespace roofline {
namespace {

constexpr double kNanosecond = 1e-9;
// Up to here each launch is kept, so that a row knows its spread; beyond, launches of one kernel become their mean.
constexpr std::size_t kMostSingle = 50'000;

ProvenancePtr provenance(std::string recipe, std::string note = {}) {
  return std::make_shared<const Provenance>(Provenance{std::move(recipe), {}, std::move(note)});
}

// --- precisions that a program declared ---

struct DeclaredKind {
  std::string_view kind;
  std::string_view precision;
  const char* note;
};
// Proton's names tell the width of the operands alone.
constexpr DeclaredKind kDeclared[] = {
    {"flops8", "fp8.tensor", "operands of 8 bits, taken to be FP8 on matrix units"},
    {"flops16", "fp16.tensor", "operands of 16 bits, FP16 or BF16, taken to be on matrix units"},
    {"flops32", "tf32.tensor", "operands of 32 bits, taken to be TF32 on matrix units"},
    {"flops64", "fp64.tensor", "operands of 64 bits, taken to be on matrix units"},
};

Precision declared_precision(const std::string& kind, std::string& note) {
  for (const auto& entry : kDeclared)
    if (entry.kind == kind) {
      note = entry.note;
      return *parse_precision(entry.precision);
    }
  note = "operands of unknown width";
  if (const auto precision = parse_precision(kind)) return *precision;
  return {NumberType::unknown, Path::vector, Accumulate::standard, false};
}

void mark_flops_unknown(Work& work, std::string reason) {
  work.coverage.uncounted = {"fp64.vector", "fp32.vector", "fp16.vector", "tensor"};
  work.coverage.reason = std::move(reason);
}

void mark_levels_absent(Work& work, const std::string& reason) {
  for (auto& level : work.levels)
    if (!level.total) level.total = Quantity::absent(reason);
}

// --- works ---

Quantity time_of(std::int64_t ns, const ProvenancePtr& from) {
  // A clock that ticks coarsely gives some kernels no time at all: nothing can be said of those.
  return ns > 0 ? Quantity::of(static_cast<double>(ns) * kNanosecond, Evidence::counter, from)
                : Quantity::absent("the timeline gives it no time");
}

class WorkMaker {
 public:
  Work modelled(const OperatorWork& model, std::int64_t busy_ns) {
    Work work;
    work.time = time_of(busy_ns, from_spans_);
    const auto from = provenance("operator-" + model.formula, model.note);
    for (const auto& part : model.parts)
      work.operations.push_back(
          {part.precision,
           Quantity::of(part.flops, Evidence::model, from, model.lower_bound ? Bound::lower : Bound::exact),
           std::nullopt});
    if (model.parts.empty() && !model.lower_bound)
      work.operations.push_back({Precision{}, Quantity::of(0, Evidence::model, from), std::nullopt});
    if (model.lower_bound) {
      work.coverage.uncounted = {"fp32.vector"};
      work.coverage.reason = "the model counts at most one operation per element of such a function";
    }
    auto& dram = work.level(MemoryLevel::dram);
    dram.total = Quantity::of(model.bytes, Evidence::model, from);
    dram.definition = "dram";
    mark_levels_absent(work, "modelled: the traffic of caches is not");
    return work;
  }

  Work timed(std::int64_t ns, const std::string& reason) {
    Work work;
    work.time = time_of(ns, from_spans_);
    mark_flops_unknown(work, reason);
    mark_levels_absent(work, reason);
    return work;
  }

  // One launch of a row of totals.
  Work declared(const KernelTotals& totals) {
    const double launches = static_cast<double>(std::max<std::uint64_t>(1, totals.launches));
    Work work;
    work.time = totals.total_s > 0 ? Quantity::of(totals.total_s / launches, Evidence::counter, from_totals_)
                                   : Quantity::absent("the totals give it no time");
    std::string note;
    if (totals.flops) {
      const auto precision = declared_precision(totals.flops_kind, note);
      work.operations.push_back({precision,
                                 Quantity::of(*totals.flops / launches, Evidence::given, provenance("declared", note)),
                                 std::nullopt});
    } else {
      mark_flops_unknown(work, "the totals hold no FLOPs");
    }
    auto& dram = work.level(MemoryLevel::dram);
    if (totals.bytes) {
      dram.total = Quantity::of(*totals.bytes / launches, Evidence::given, provenance("declared"));
      dram.definition = "dram";
    }
    mark_levels_absent(work, "the totals hold no bytes");
    return work;
  }

 private:
  ProvenancePtr from_spans_ = provenance("timeline-span");
  ProvenancePtr from_totals_ = provenance("timeline-total");
};

// --- launches ---

class Converter {
 public:
  explicit Converter(const Timeline& timeline) : timeline_(timeline) {
    profile_.path = timeline.path;
    profile_.format = timeline.format;
    profile_.producer = timeline.producer;
    profile_.devices = timeline.devices;
    profile_.warnings = timeline.warnings;
    profile_.partial = std::any_of(timeline.warnings.begin(), timeline.warnings.end(),
                                   [](const ReadWarning& w) { return w.code == "partial"; });
    profile_.strings = std::make_shared<StringPool>();
  }

  Profile convert() {
    if (timeline_.has_times())
      add_activities();
    else
      for (const auto& totals : timeline_.totals) add_totals(totals);
    return std::move(profile_);
  }

 private:
  // Launches that are the same but for their time.
  struct Key {
    std::uint32_t name, device, model;  // model: kNone, or a modelled call of that kind
    std::string op;
    Dim3 grid, block;
    auto operator<=>(const Key&) const = default;
  };
  struct Group {
    std::uint32_t activity = kNone;  // the first
    std::uint32_t model = kNone;
    std::string reason;
    std::uint64_t count = 0;
    std::int64_t total_ns = 0;
  };

  std::string_view text(std::uint32_t index) const {
    return index == kNone ? std::string_view{} : std::string_view(timeline_.names[index]);
  }

  Launch& new_launch(std::string_view name, std::uint32_t device) {
    auto& launch = profile_.launches.emplace_back();
    launch.name = profile_.strings->intern(name);
    launch.device = device;
    launch.ordinal = profile_.launches.size() - 1;
    launch.time_basis = TimeBasis::timeline;
    return launch;
  }

  void add_totals(const KernelTotals& totals) {
    auto& launch = new_launch(text(totals.name), totals.device);
    // Proton's names are labels that a program chose, with sizes in them: "matmul [M=4096]".
    if (timeline_.format != "proton") launch.function = profile_.strings->intern(short_kernel_name(launch.name));
    launch.grid = totals.grid;
    launch.block = totals.block;
    launch.count = std::max<std::uint64_t>(1, totals.launches);
    launch.given = std::make_shared<const Work>(maker_.declared(totals));
  }

  void add_activities() {
    const auto join = join_operators(timeline_);
    std::size_t kernels = 0;
    for (std::uint32_t i = 0; i < timeline_.activities.size(); ++i) {
      const auto modelled = join.modelled_of[i];
      if (modelled != kNone && join.modelled[modelled].activities.front() == i) ++kernels;
      if (modelled == kNone && timeline_.activities[i].work == GpuWork::kernel) ++kernels;
    }
    const bool single = kernels <= kMostSingle;
    for (std::uint32_t i = 0; i < timeline_.activities.size(); ++i) add_activity(i, join, single);
    for (const auto& [key, group] : groups_) emit(key.op, group, join);
    if (!single)
      warn("means", fmt::format("{} launches: each row holds their mean times, without the spread", kernels));
    warn_of_missing_shapes(join);
  }

  // A modelled call stands where its first activity does.
  void add_activity(std::uint32_t index, const OperatorJoin& join, bool single) {
    const auto& activity = timeline_.activities[index];
    const auto modelled = join.modelled_of[index];
    Group group;
    std::string op;
    if (modelled != kNone) {
      const auto& call = join.modelled[modelled];
      if (call.activities.front() != index) return;
      group = {call.main_activity, modelled, {}, 1, call.busy_ns};
      op = fmt::format("{} {}", text(timeline_.operators[call.call].name), call.work.shape);
    } else {
      if (activity.work != GpuWork::kernel) return;
      group = {index, kNone, reason_of(join.call_of[index], activity), 1, activity.span.length()};
      if (join.call_of[index] != kNone) op = text(timeline_.operators[join.call_of[index]].name);
    }
    if (single) return emit(op, group, join);
    const auto& main = timeline_.activities[group.activity];
    auto& kept = groups_[Key{main.full_name, main.device, modelled == kNone ? kNone : 0, op, main.grid, main.block}];
    if (kept.count == 0)
      kept = std::move(group);
    else {
      ++kept.count;
      kept.total_ns += group.total_ns;
    }
  }

  std::string reason_of(std::uint32_t call, const GpuActivity& activity) const {
    if (timeline_.operators.empty()) return "the timeline records kernels alone, not what they compute";
    if (call == kNone)
      return activity.external_id == 0 && activity.grid.count() == 0
                 ? "replayed by a graph: the timeline has no shapes for it"
                 : "launched outside of any operator whose shapes the timeline has";
    const auto& op = timeline_.operators[call];
    return op.shapes == kNone ? fmt::format("{}: the timeline has no shapes", text(op.name))
                              : fmt::format("{}: no model of this operator and its arguments", text(op.name));
  }

  void emit(const std::string& op, const Group& group, const OperatorJoin& join) {
    const auto& main = timeline_.activities[group.activity];
    auto& launch = new_launch(text(main.full_name), main.device);
    // Names of copies are words, not functions.
    if (main.work == GpuWork::kernel) launch.function = profile_.strings->intern(text(main.name));
    launch.op = profile_.strings->intern(op);
    launch.grid = main.grid;
    launch.block = main.block;
    launch.process = main.process;
    launch.context = main.context;
    launch.stream = main.stream;
    launch.count = group.count;
    const auto ns = group.total_ns / static_cast<std::int64_t>(group.count);
    launch.given = std::make_shared<const Work>(
        group.model == kNone ? maker_.timed(ns, group.reason) : maker_.modelled(join.modelled[group.model].work, ns));
  }

  void warn(std::string code, std::string message) {
    profile_.warnings.push_back({std::move(code), std::move(message), std::nullopt});
  }

  void warn_of_missing_shapes(const OperatorJoin& join) {
    if (join.kernel_ns <= 0 || timeline_.operators.empty()) return;
    const auto percent = [&](std::int64_t ns) {
      return 100 * static_cast<double>(ns) / static_cast<double>(join.kernel_ns);
    };
    constexpr double kWorthSaying = 0.1;
    if (percent(join.shapeless_ns) < kWorthSaying) return;
    auto message = fmt::format("{:.1f} % of the GPU time has no shape: its FLOPs and bytes are unknown",
                               percent(join.shapeless_ns));
    if (join.graph_ns > 0)
      message += fmt::format("; {:.1f} % was replayed by graphs, whose shapes only a trace of their capture holds",
                             percent(join.graph_ns));
    warn("no-shapes", std::move(message));
  }

  const Timeline& timeline_;
  Profile profile_;
  WorkMaker maker_;
  std::map<Key, Group> groups_;
};

// Pipes can be read once only: they are left to the readers of profiles.
bool is_timeline_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && is_timeline(path);
}

}  // namespace

Profile profile_of(const Timeline& timeline) { return Converter(timeline).convert(); }

std::vector<Profile> open_inputs(std::span<const std::string> paths, const ReadOptions& options) {
  std::vector<bool> is_timeline_at;
  for (const auto& path : paths) is_timeline_at.push_back(is_timeline_file(path));
  const auto any = std::find(is_timeline_at.begin(), is_timeline_at.end(), true) != is_timeline_at.end();
  if (!any) return open_profiles(paths, options);
  TimelineOptions timeline_options;
  timeline_options.partial = options.partial;
  timeline_options.max_decompressed = options.max_decompressed;
  timeline_options.progress = options.progress;
  std::vector<Profile> profiles;
  for (std::size_t i = 0; i < paths.size(); ++i)
    profiles.push_back(is_timeline_at[i] ? profile_of(open_timeline(paths[i], timeline_options))
                                         : open_profile(paths[i], options));
  return profiles;
}

}  // namespace roofline
