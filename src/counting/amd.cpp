// Work from the counters of AMD's profilers.
#include <fmt/format.h>

#include <algorithm>

#include "counting/evaluate.h"

namespace roofline::counting {
namespace {

// Matrix types that the chip has; nullptr for a chip whose types are not on record.
const std::vector<Precision>* matrix_types(std::optional<int> capability) {
  if (!capability) return nullptr;
  for (const auto& [chips, types] : amd_recipes().matrix_types)
    if (chips.holds(capability)) return &types;
  return nullptr;
}

bool may_occur(const Precision& precision, const std::vector<Precision>* types) {
  if (precision.path == Path::vector || types == nullptr) return true;
  return std::find(types->begin(), types->end(), precision) != types->end();
}

struct Missing {
  std::vector<std::string> vector, matrix;
};

// Of each kind: with some counted, the others are taken for a choice of whoever profiled, and the sum is a lower bound;
// with none counted, nothing is known of the kind.
void note_missing(Missing missing, bool any_vector, bool any_matrix, FlopCoverage& coverage) {
  const auto add_reason = [&](const std::string& text) {
    coverage.reason += (coverage.reason.empty() ? "" : "; ") + text;
  };
  if (any_vector) {
    for (auto& key : missing.vector) coverage.assumed_none.push_back(std::move(key));
  } else {
    for (auto& key : missing.vector) coverage.uncounted.push_back(std::move(key));
    add_reason("vector operations not counted: no SQ_INSTS_VALU counters of all four kinds");
  }
  if (any_matrix) {
    for (auto& key : missing.matrix) coverage.assumed_none.push_back(std::move(key));
  } else if (!missing.matrix.empty()) {
    coverage.uncounted.emplace_back("tensor");
    add_reason("matrix operations not counted: no SQ_INSTS_VALU_MFMA_MOPS counters");
  }
}

void count_operations(const CountContext& context, Work& work) {
  const auto* types = matrix_types(context.capability);
  Missing missing;
  bool any_vector = false, any_matrix = false;
  for (const auto& [precision, list] : amd_recipes().operations) {
    const bool is_vector = precision.path == Path::vector;
    auto operations = first_of(list, context);
    if (!operations) {
      if (may_occur(precision, types)) (is_vector ? missing.vector : missing.matrix).push_back(to_string(precision));
      continue;
    }
    (is_vector ? any_vector : any_matrix) = true;
    // A matrix counter at 0 says that there are counters, nothing more.
    if (is_vector || operations.value() > 0)
      work.operations.push_back({precision, std::move(operations), std::nullopt});
  }
  note_missing(std::move(missing), any_vector, any_matrix, work.coverage);
}

void count_level(const CountContext& context, MemoryLevel level, LevelTraffic& traffic) {
  const auto& lists = amd_recipes().levels[static_cast<std::size_t>(level)];
  const Recipe* chosen = nullptr;
  traffic.total = first_of(lists.total, context, &chosen);
  traffic.read = first_of(lists.read, context);
  traffic.write = first_of(lists.write, context);
  if (chosen != nullptr) traffic.definition = chosen->definition;
  if (!traffic.total)
    traffic.total = Quantity::absent(fmt::format("no {} traffic counters in the report", to_string(level)));
}

}  // namespace

bool has_amd_counters(const MetricView& values) { return values.first(amd_recipes().counters).has_value(); }

void count_amd(CountContext& context, Work& work) {
  work.time = first_of(amd_recipes().time, context);
  if (work.time)
    context.time = work.time.value();
  else
    work.time = Quantity::absent("the counters come without timestamps");
  work.activity.l2_hit_rate = first_of(amd_recipes().l2_hit_rate, context);
  count_operations(context, work);
  for (const auto level : kMemoryLevels) count_level(context, level, work.level(level));
}

}  // namespace roofline::counting
