#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "counting/evaluate.h"
#include "roofline/metrics.h"
#include "roofline/thresholds.h"

namespace roofline::counting {
namespace {

constexpr std::string_view kTensor = "tensor";
constexpr double kParentAgreement = 0.001;  // a parent is the sum of its leaves, to the digit on one pass

struct TensorPart {
  const TensorCounter* counter;
  Quantity operations;
};

struct TensorCount {
  std::vector<TensorPart> parts;
  std::vector<const TensorCounter*> missing;  // counters whose operations are not known
  double total() const {
    double sum = 0;
    for (const auto& part : parts) sum += part.operations.value();
    return sum;
  }
};

Quantity read_counter(const TensorCounter& counter, const CountContext& context) {
  if (const auto sum = context.values.get(counter.sum)) return Quantity::of(*sum, Evidence::counter, counter.by_sum);
  if (!context.time) return {};
  if (const auto rate = context.values.get(counter.per_cycle))
    if (const auto clock = context.values.first(recipes().tensor.clocks))
      return Quantity::of(*rate * *clock * *context.time, Evidence::derived, counter.by_cycle);
  if (const auto rate = context.values.get(counter.per_second))
    return Quantity::of(*rate * *context.time, Evidence::derived, counter.by_rate);
  return {};
}

double sum_from(const std::vector<TensorPart>& parts, std::size_t first) {
  double sum = 0;
  for (std::size_t i = first; i < parts.size(); ++i) sum += parts[i].operations.value();
  return sum;
}

// Leaves where all below `index` are there, else the counter itself: a parent is never added to what it is made of.
void count_below(const TensorChip& chip, std::size_t index, const CountContext& context, TensorCount& out) {
  const auto& counter = chip.counters[index];
  const auto own = read_counter(counter, context);
  if (counter.children.empty()) {
    if (own) out.parts.push_back({&counter, own});
    if (!own) out.missing.push_back(&counter);
    return;
  }
  const auto parts_before = out.parts.size();
  const auto missing_before = out.missing.size();
  for (const auto child : counter.children) count_below(chip, child, context, out);
  if (!own) return;
  const bool complete = out.missing.size() == missing_before;
  const double below = sum_from(out.parts, parts_before);
  // On CC 12.x one parent reads another hardware counter than its leaves: say so where they differ.
  if (complete && std::abs(below - own.value()) > kParentAgreement * std::max(below, own.value()))
    context.warnings.push_back(
        {"tensor-counters-disagree",
         fmt::format("{:.4g} tensor operations by the leaves of {}, but {:.4g} by the counter itself: count uncertain",
                     below, counter.name, own.value())});
  if (complete) return;
  out.parts.resize(parts_before);
  out.missing.resize(missing_before);
  out.parts.push_back({&counter, own});
}

TensorCount count_chip(const TensorChip& chip, const CountContext& context) {
  TensorCount count;
  for (const auto root : chip.roots) count_below(chip, root, context, count);
  return count;
}

// Without a compute capability: the chip whose whole set of counters is there.
const TensorChip* chip_by_counters(const CountContext& context) {
  for (const auto& chip : recipes().tensor.chips)
    if (!chip.roots.empty() && count_chip(chip, context).missing.empty()) return &chip;
  return nullptr;
}

// Adds one entry per precision and data path. Zeros are kept only where nothing else was counted: they then are the
// only sign that counters were there.
void add_operations(const TensorCount& count, const CountContext& context, Work& work) {
  const auto clock = context.values.first(recipes().tensor.clocks);
  const bool keep_zeros = work.operations.empty() && count.total() == 0;
  for (const auto& part : count.parts) {
    if (part.operations.value() == 0 && !keep_zeros) continue;
    OperationCount entry{part.counter->precision, part.operations, std::nullopt};
    const auto peak = context.values.get(part.counter->peak);
    if (peak && clock && part.counter->children.empty()) entry.path_peak = *peak * *clock;
    const bool known = keep_zeros && std::any_of(work.operations.begin(), work.operations.end(),
                                                 [&](const auto& o) { return o.precision == entry.precision; });
    if (!known) work.operations.push_back(std::move(entry));
  }
}

bool all_zero(const std::vector<MetricId>& ids, const MetricView& values) {
  bool any = false;
  for (const auto id : ids) {
    const auto value = values.get(id);
    if (value && *value != 0) return false;
    any = any || value.has_value();
  }
  return any;
}

bool proves_idle(const IdleRule& rule, const CountContext& context) {
  if (!rule.chips.holds(context.capability)) return false;
  if (!std::all_of(rule.zero.begin(), rule.zero.end(), [&](const auto& ids) { return all_zero(ids, context.values); }))
    return false;
  if (rule.count.empty()) return true;
  const auto count = context.values.first(rule.count);
  const auto minus = rule.minus ? context.values.get(*rule.minus) : std::optional<double>(0);
  return count && minus && *count == *minus;
}

bool tensor_idle(const CountContext& context) {
  const auto& rules = recipes().tensor.idle;
  return context.capability &&
         std::any_of(rules.begin(), rules.end(), [&](const auto& rule) { return proves_idle(rule, context); });
}

// On chips that run FP64 matrix operations on the FP64 pipe an idle tensor pipe does not exclude them.
bool dmma_open(const CountContext& context) {
  const auto& tensor = recipes().tensor;
  if (!tensor.dmma_elsewhere_chips.holds(context.capability) || !context.capability) return false;
  return std::none_of(tensor.dmma_elsewhere_zero.begin(), tensor.dmma_elsewhere_zero.end(),
                      [&](MetricId id) { return context.values.get(id) == 0.0; });
}

std::string percent_busy(const Quantity& pipe) {
  return pipe ? fmt::format("; tensor pipe {:.3g} % busy", 100 * pipe.value()) : "";
}

// "; 1.2e6 tensor instructions counted, but ..." where instructions were counted and their size is not known.
std::string instruction_remark(const CountContext& context) {
  const auto& tensor = recipes().tensor;
  const auto count = context.values.first(tensor.instruction_counts);
  if (!count) return "";
  for (const auto& [chips, text] : tensor.not_countable)
    if (context.capability && chips.holds(context.capability))
      return fmt::format("; {:.4g} tensor instructions, not countable: {}", *count, text);
  return fmt::format("; {:.4g} tensor instructions, not countable without knowing the chip", *count);
}

void mark_uncounted(Work& work, std::string reason) {
  work.coverage.uncounted.emplace_back(kTensor);
  auto& all = work.coverage.reason;
  all = all.empty() ? std::move(reason) : all + "; " + reason;
}

std::string counted_names(const TensorCount& count) {
  std::string names;
  for (const auto& part : count.parts) names += (names.empty() ? "" : ", ") + part.counter->name;
  return names;
}

bool has_fp16_vector(const Work& work) {
  return std::any_of(work.operations.begin(), work.operations.end(), [](const auto& o) {
    return o.precision.type == NumberType::fp16 && o.precision.path == Path::vector && o.operations.value_or(0) > 0;
  });
}

// A busy pipe whose counters all say 0: NVFP4 on CC 12.x does that. HFMA2.MMA keeps the pipe of some chips busy, too.
bool zero_is_wrong(const TensorCount& count, const CountContext& context, const Work& work) {
  const bool hfma2 =
      context.capability && recipes().tensor.shares_pipe_with_hfma2.holds(context.capability) && has_fp16_vector(work);
  return count.total() == 0 && work.activity.tensor_pipe.value_or(0) > Thresholds{}.tensor_idle && !hfma2;
}

// Instruction counts stand in only where one instruction has one size.
bool count_instructions(const CountContext& context, Work& work) {
  bool any = false;
  for (const auto& item : recipes().tensor.instructions) {
    const auto operations = evaluate(item.recipe, context);
    if (!operations) continue;
    any = true;
    if (operations.value() > 0) work.operations.push_back({item.precision, operations, std::nullopt});
  }
  return any;
}

bool names_tensor_work(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto& parts = recipes().tensor.tensor_names;
  return std::any_of(parts.begin(), parts.end(), [&](const auto& p) { return lower.find(p) != std::string::npos; });
}

// CUDA-core operations were counted, nothing at all was collected about how busy the SMs were, and the name gives no
// hint: a deliberate choice of counters. Tensor work is assumed none, which keeps the count a lower bound and is said
// in the report.
bool may_assume_none(const CountContext& context, const Work& work) {
  return !work.operations.empty() && !work.activity.tensor_pipe && !work.activity.sm_throughput &&
         !context.values.first(recipes().tensor.instruction_counts) && !names_tensor_work(context.launch.name);
}

void count_without_counters(const CountContext& context, Work& work) {
  const bool fp64_known = count_instructions(context, work);
  if (tensor_idle(context)) {
    if (dmma_open(context) && !fp64_known) work.coverage.assumed_none.emplace_back("fp64.tensor");
    return;
  }
  if (may_assume_none(context, work)) {
    work.coverage.assumed_none.emplace_back(kTensor);
    return;
  }
  const auto& pipe = work.activity.tensor_pipe;
  mark_uncounted(work, fmt::format("tensor operations not counted: no sm__ops_path_tensor counters{}{}{}",
                                   context.capability ? "" : "; compute capability unknown", percent_busy(pipe),
                                   instruction_remark(context)));
}

void count_with_counters(const TensorCount& count, const CountContext& context, Work& work) {
  add_operations(count, context, work);
  const auto& pipe = work.activity.tensor_pipe;
  if (count.missing.empty()) {
    if (zero_is_wrong(count, context, work))
      mark_uncounted(work, "tensor operations not counted: all counters read 0" + percent_busy(pipe));
    return;
  }
  const bool idle = tensor_idle(context) && count.total() == 0;
  if (idle && dmma_open(context)) work.coverage.assumed_none.emplace_back("fp64.tensor");
  if (idle) return;
  mark_uncounted(work, fmt::format("tensor operations not counted: only {}, without {} other counters of this chip{}",
                                   counted_names(count), count.missing.size(), percent_busy(pipe)));
}

}  // namespace

void count_tensor(const CountContext& context, const DeviceInfo& device, Work& work) {
  static const MetricId chip_id = MetricCatalogue::instance().require("device__attribute_chip");
  const auto* chip = tensor_chip(context.capability, device.name, context.values.get(chip_id));
  if (chip == nullptr) chip = context.capability ? nullptr : chip_by_counters(context);
  constexpr int kFirstWithTensorCores = 70;
  if (context.capability && *context.capability < kFirstWithTensorCores) return;
  if (chip != nullptr && chip->roots.empty()) return;  // no tensor cores
  if (chip == nullptr) return count_without_counters(context, work);
  const auto count = count_chip(*chip, context);
  return count.parts.empty() ? count_without_counters(context, work) : count_with_counters(count, context, work);
}

}  // namespace roofline::counting
