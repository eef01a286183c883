#include "roofline/counting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "counting/evaluate.h"
#include "roofline/metrics.h"
#include "roofline/thresholds.h"

namespace roofline {
namespace {

using counting::CountContext;
using counting::evaluate;
using counting::first_of;
using counting::Formula;
using counting::MetricView;
using counting::Recipe;
using counting::recipes;

constexpr double kTimesAgree = 0.10;
constexpr double kClocksAgree = 0.01;
constexpr double kScalarShareOfPacked = 0.5;  // weights 1/1/2 are half of 2/2/4, term by term

const ProvenancePtr& launch_facts() {
  static const ProvenancePtr facts = std::make_shared<const Provenance>(Provenance{"launch-record", {}, {}});
  return facts;
}

// --- time ---

void count_time(CountContext& context, Work& work) {
  const auto& list = recipes().time;
  const Recipe* chosen = nullptr;
  work.time = first_of(list, context, &chosen);
  if (!work.time || work.time.value() <= 0) {
    work.time = Quantity::absent(work.time ? "the duration is 0" : "no duration and no cycles with a clock");
    return;
  }
  context.time = work.time.value();
  for (const auto& recipe : list) {
    if (&recipe == chosen || recipe.formula != Formula::over_clock) continue;
    const auto other = evaluate(recipe, context);
    if (!other || other.value() <= 0) continue;
    // Only the first: further down the list cycles and clock come from different units, hence passes.
    const double ratio = other.value() / work.time.value();
    if (ratio <= 1 + kTimesAgree && ratio >= 1 / (1 + kTimesAgree)) return;
    context.warnings.push_back(
        {"times-disagree", fmt::format("time is {:.4g} s by {}, but {:.4g} s by {}: the passes did not run alike",
                                       work.time.value(), work.time.recipe(), other.value(), other.recipe())});
    return;
  }
}

// Instruction counting by patched code stretched kernels up to 148 times in published files. Where the cycles of such
// a run are the only time, the reader must know.
void check_time_of_patched_pass(CountContext& context, const Work& work) {
  if (!work.time || work.time.evidence() != Evidence::derived) return;
  const bool patched = std::any_of(work.operations.begin(), work.operations.end(), [](const auto& o) {
    return o.precision.path == Path::vector && o.operations.evidence() == Evidence::counter;
  });
  if (patched)
    context.warnings.push_back(
        {"time-of-counting-run", fmt::format("the only time ({}) may be that of the run that counted instructions, "
                                             "which can be many times slower; merge with a run that did not",
                                             work.time.recipe())});
}

// Operations per cycle times a clock: the clock must be that of the pass that was timed.
void check_clock(CountContext& context, const Work& work) {
  const auto& catalogue = MetricCatalogue::instance();
  static const MetricId timed = catalogue.require("gpc__cycles_elapsed.avg.per_second");
  const auto reference = context.values.get(timed);
  if (!reference || *reference <= 0) return;
  for (const auto& entry : work.operations) {
    const auto& provenance = entry.operations.provenance();
    if (entry.operations.evidence() != Evidence::derived || !provenance || provenance->metrics.empty()) continue;
    const auto id = catalogue.find(provenance->metrics.back());
    const auto clock = id ? context.values.get(*id) : std::nullopt;
    if (!clock || catalogue.info(*id).unit != "hz" || entry.operations.value() <= 0) continue;
    const double spread = std::abs(*clock - *reference) / *reference;
    if (spread <= kClocksAgree) continue;
    context.warnings.push_back(
        {"clocks-disagree",
         fmt::format(
             "operations per cycle were counted at {:.4g} Hz, the kernel was timed at {:.4g} Hz: operations may "
             "be {:.1f} % off",
             *clock, *reference, 100 * spread)});
    return;
  }
}

// --- operations ---

void count_vector_operations(CountContext& context, Work& work) {
  std::vector<std::string> never;
  auto& coverage = work.coverage;
  for (const auto& [precision, list] : recipes().vector_operations) {
    const Recipe* chosen = nullptr;
    auto operations = first_of(list, context, &chosen);
    const bool optional = precision.type == NumberType::fp8;  // exists on few chips; nobody collects it beside FP32
    if (!operations) {
      if (!optional) never.push_back(to_string(precision));
      continue;
    }
    counting::check_agreement(to_string(precision) + " operations", operations, *chosen, list, context);
    if (operations.bound() == Bound::lower) {
      coverage.uncounted.push_back(to_string(precision));
      coverage.reason += (coverage.reason.empty() ? "" : "; ") + to_string(precision) + ": " + chosen->note;
    }
    work.operations.push_back({precision, std::move(operations), std::nullopt});
  }
  (work.operations.empty() ? coverage.uncounted : coverage.assumed_none) = std::move(never);
  if (work.operations.empty()) coverage.reason = "CUDA-core operations not counted: no instruction counters";
}

// --- bytes ---

void count_level(CountContext& context, MemoryLevel level, LevelTraffic& traffic) {
  const auto& list = recipes().levels[static_cast<std::size_t>(level)];
  const Recipe* chosen = nullptr;
  traffic.total = first_of(list.total, context, &chosen);
  traffic.read = first_of(list.read, context);
  traffic.write = first_of(list.write, context);
  if (chosen != nullptr) {
    traffic.definition = chosen->definition;
    counting::check_agreement(std::string(to_string(level)) + " bytes", traffic.total, *chosen, list.total, context);
  }
  for (const auto& recipe : list.fraction) {
    if (!traffic.definition.empty() && recipe.definition != traffic.definition) continue;
    traffic.direct_fraction = evaluate(recipe, context);
    if (!traffic.direct_fraction) continue;
    traffic.definition = recipe.definition;
    break;
  }
  if (!traffic.total)
    traffic.total = Quantity::absent(fmt::format("no {} traffic counters in the report", to_string(level)));
}

// --- activity ---

UnitClass unit_class(std::string_view metric) {
  for (const auto& rule : recipes().unit_classes)
    for (const auto& part : rule.contains)
      if (metric.find(part) != std::string_view::npos) return rule.unit;
  return UnitClass::unknown;
}

// The metrics whose maximum a throughput is, as the report itself lists them, with their values in percent.
template <typename Visit>
void for_each_member(const CountContext& context, const counting::BusiestRule& rule, Visit visit) {
  const auto& catalogue = MetricCatalogue::instance();
  auto names = context.launch.metrics.text(rule.members).value_or("");
  while (!names.empty()) {
    const auto comma = names.find(',');
    auto name = names.substr(0, comma);
    names = comma == std::string_view::npos ? std::string_view{} : names.substr(comma + 1);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    const auto id = catalogue.find(name);
    visit(name, id ? context.values.get(*id) : std::nullopt);
  }
}

// The largest member of a throughput, as its breakdown text (names between commas) lists them.
void find_busiest(const CountContext& context, Activity& activity) {
  const counting::BusiestRule* largest = nullptr;
  double best = -1;
  for (const auto& rule : recipes().busiest)
    if (const auto value = context.values.get(rule.throughput); value && *value > best) {
      best = *value;
      largest = &rule;
    }
  if (largest == nullptr) return;
  double top = -1;
  for_each_member(context, *largest, [&](std::string_view name, std::optional<double> value) {
    if (!value || *value <= top) return;
    top = *value;
    activity.busiest_unit = name;
    activity.busiest_class = unit_class(name);
  });
}

void count_activity(const CountContext& context, const DeviceInfo& device, Activity& activity) {
  for (const auto& item : recipes().activity) activity.*item.member = first_of(item.recipes, context);
  const auto blocks = static_cast<double>(context.launch.grid.count());
  if (!activity.grid_blocks && blocks > 0)
    activity.grid_blocks = Quantity::of(blocks, Evidence::counter, launch_facts());
  if (!activity.sm_count && device.sm_count)
    activity.sm_count = Quantity::of(*device.sm_count, Evidence::counter, launch_facts());
  if (!activity.l2_size && device.l2_bytes)
    activity.l2_size = Quantity::of(*device.l2_bytes, Evidence::counter, launch_facts());
  find_busiest(context, activity);
}

// --- one launch ---

std::optional<int> capability_of(const CountContext& context, const DeviceInfo& device) {
  if (const auto known = counting::capability_number(device.compute_capability)) return known;
  static const MetricId major = MetricCatalogue::instance().require("device__attribute_compute_capability_major");
  static const MetricId minor = MetricCatalogue::instance().require("device__attribute_compute_capability_minor");
  const auto high = context.values.get(major);
  const auto low = context.values.get(minor);
  if (!high || !low) return std::nullopt;
  return static_cast<int>(10 * *high + *low);
}

bool is_tensor_only(const FlopCoverage& coverage) {
  return coverage.uncounted.size() == 1 && coverage.uncounted.front() == "tensor";
}

// How busy the units were that compute, as fractions of their fastest rate.
struct PipeShares {
  double vector = 0;
  double tensor = 0;
};

// From the units that the report names behind the SM throughput. nullopt when it names none, or one without a value.
std::optional<PipeShares> named_pipe_shares(const CountContext& context) {
  static const MetricId throughput =
      MetricCatalogue::instance().require("sm__throughput.avg.pct_of_peak_sustained_elapsed");
  const MetricId sm = throughput;
  const auto& rules = recipes().busiest;
  const auto rule = std::find_if(rules.begin(), rules.end(), [sm](const auto& r) { return r.throughput == sm; });
  if (rule == rules.end()) return std::nullopt;
  PipeShares shares;
  bool any = false;
  bool complete = true;
  for_each_member(context, *rule, [&](std::string_view name, std::optional<double> value) {
    any = true;
    const auto unit = unit_class(name);
    const bool unknown = unit == UnitClass::unknown;
    if (!unknown && unit != UnitClass::floating_point && unit != UnitClass::tensor) return;
    complete = complete && value;
    const double share = value.value_or(0) / 100;
    if (unknown || unit == UnitClass::floating_point) shares.vector = std::max(shares.vector, share);
    if (unknown || unit == UnitClass::tensor) shares.tensor = std::max(shares.tensor, share);
  });
  return any && complete ? std::optional<PipeShares>(shares) : std::nullopt;
}

// Where the operations are not all known: nothing that was not counted can have filled more than this share of its
// roof, because no unit that computes was busier: the tensor pipe for tensor work, the floating-point pipes the report
// names, else the busiest unit of the SM, whatever it is. A pipe's percentage is of its fastest rate: where tensor work
// has a slower roof, the same percentage fills more of that.
void bound_uncounted(const CountContext& context, Work& work) {
  auto& coverage = work.coverage;
  if (coverage.complete()) return;
  const auto& sm = work.activity.sm_throughput;
  const auto& pipe = work.activity.tensor_pipe;
  const bool pipe_known = pipe && pipe.bound() != Bound::lower;
  const bool tensor_only = is_tensor_only(coverage);
  if (!sm && !(tensor_only && pipe_known)) return;
  const auto named = named_pipe_shares(context);
  PipeShares shares = named.value_or(PipeShares{sm.value_or(1), sm.value_or(1)});
  if (pipe_known) shares.tensor = pipe.value();
  const auto& tensor = recipes().tensor;
  if (!context.capability || tensor.half_rate_chips.holds(context.capability)) shares.tensor *= tensor.half_rate_ratio;
  const bool any_tensor =
      std::find(coverage.uncounted.begin(), coverage.uncounted.end(), "tensor") != coverage.uncounted.end();
  const double share = std::max(tensor_only ? 0.0 : shares.vector, any_tensor ? shares.tensor : 0.0);
  const auto& source = tensor_only && pipe_known ? pipe : sm;
  coverage.uncounted_fraction = source.with_value(std::min(1.0, share)).with_bound(Bound::upper);
  if (tensor_only && share < Thresholds{}.negligible) coverage.uncounted.clear();
}

// Pre-aggregated inputs hold means of `count` launches.
void scale(Work& work, double count) {
  work.launches = count;
  const auto times = [&](Quantity& q) {
    if (q) q = q.with_value(q.value() * count);
  };
  times(work.time);
  times(work.aux_ops);
  for (auto& entry : work.operations) times(entry.operations);
  for (auto& level : work.levels) {
    times(level.read);
    times(level.write);
    times(level.total);
  }
  times(work.link.bus_bytes);
  times(work.link.algorithm_bytes);
}

// Medians over several runs are arithmetic on counters, not readings.
void demote_to_derived(Work& work) {
  const auto demote = [](Quantity& q) {
    if (q.evidence() == Evidence::counter) q = Quantity::of(q.value(), Evidence::derived, q.provenance(), q.bound());
  };
  demote(work.time);
  for (auto& entry : work.operations) demote(entry.operations);
  for (auto& level : work.levels)
    for (auto* q : {&level.read, &level.write, &level.total}) demote(*q);
}

// What the launch stands for: a sum of several, medians.
void finish(const Launch& launch, Work& work) {
  if (launch.count > 1) scale(work, static_cast<double>(launch.count));
  if (launch.derived) demote_to_derived(work);
}

Work absent_work(const std::string& reason) {
  Work work;
  work.time = Quantity::absent(reason);
  for (auto& level : work.levels) level.total = Quantity::absent(reason);
  work.coverage.uncounted = {"fp64.vector", "fp32.vector", "fp16.vector", "tensor"};
  work.coverage.reason = reason;
  return work;
}

}  // namespace

Counted count(const Launch& launch, const DeviceInfo& device) {
  Counted counted;
  if (launch.given) {
    counted.work = *launch.given;
    if (launch.count > 1) scale(counted.work, static_cast<double>(launch.count));
    return counted;
  }
  if (launch.failed) {
    counted.work = absent_work("the launch failed under the profiler");
    return counted;
  }
  const MetricView values(launch.metrics);
  CountContext context{launch, values, std::nullopt, std::nullopt, counted.warnings};
  context.capability = capability_of(context, device);
  auto& work = counted.work;
  if (counting::has_amd_counters(values)) {
    count_activity(context, device, work.activity);
    counting::count_amd(context, work);
    finish(launch, work);
    return counted;
  }
  count_time(context, work);
  count_activity(context, device, work.activity);
  count_vector_operations(context, work);
  counting::count_tensor(context, device, work);
  for (const auto level : kMemoryLevels) count_level(context, level, work.level(level));
  bound_uncounted(context, work);
  check_time_of_patched_pass(context, work);
  check_clock(context, work);
  finish(launch, work);
  return counted;
}

Quantity fp16_with_scalar_weights(const Work& work) {
  for (const auto& entry : work.operations) {
    if (entry.precision != Precision{NumberType::fp16, Path::vector, Accumulate::standard, false}) continue;
    if (entry.operations.recipe() == "nvprof") return Quantity::absent("the profiler weighted the instructions itself");
    return entry.operations.with_value(kScalarShareOfPacked * entry.operations.value());
  }
  return Quantity::absent("FP16 operations were not counted");
}

}  // namespace roofline
