// From what recipes and rules declare to the metrics of one chip.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "roofline/collect.h"
#include "roofline/diagnosis.h"

namespace roofline::collect {
namespace {

// What a question needs to know, by the names of RecipeReads. Everything else follows from the declarations.
constexpr std::array<std::string_view, 11> kTable = {"time",       "roof.time",   "dram.read",           "dram.write",
                                                     "roof.dram",  "fp64.vector", "fp32.vector",         "fp16.vector",
                                                     "fp8.vector", "tensor.idle", "activity.tensor_pipe"};
constexpr std::array<std::string_view, 6> kHierarchy = {"l2",          "l2.fraction", "l1",
                                                        "l1.fraction", "shared",      "shared.fraction"};
constexpr std::array<std::string_view, 7> kDiagnose = {
    "activity.sm_throughput", "activity.memory_throughput", "activity.l2_throughput", "activity.l1_throughput",
    "activity.l2_hit_rate",   "activity.issue_active",      "activity.tensor_pipe"};

bool includes(Question question, Question part) { return question == part || question == Question::all; }

class Selector {
 public:
  Selector(const Declarations& declared, const Target& target, const MetricMatrix& matrix)
      : declared_(declared), target_(target), matrix_(matrix) {}

  // Whether a recipe was found.
  bool add(std::string_view quantity) {
    const RecipeReads* best = nullptr;
    std::vector<std::string> best_metrics;
    std::tuple<int, int> best_rank{};
    std::vector<std::set<std::string>> before;
    for (const auto& reads : declared_.recipes) {
      if (reads.quantity != quantity) continue;
      auto metrics = collectable(reads);
      if (metrics.empty()) continue;
      // Counting takes the first recipe that finds its metrics: one with an earlier one inside never has its turn.
      const std::set<std::string> mine(metrics.begin(), metrics.end());
      const bool shadowed = std::any_of(before.begin(), before.end(), [&](const auto& earlier) {
        return std::includes(mine.begin(), mine.end(), earlier.begin(), earlier.end());
      });
      before.push_back(mine);
      if (shadowed) continue;
      const std::tuple rank(bound_rank(reads), new_passes(metrics));
      if (best != nullptr && best_rank <= rank) continue;
      best = &reads;
      best_metrics = std::move(metrics);
      best_rank = rank;
    }
    if (best != nullptr) take(std::string(quantity), best->recipe, best_metrics);
    return best != nullptr;
  }

  // Metrics that stand for themselves; those that the chip lacks are handed back.
  std::vector<std::string> add_metrics(const std::string& quantity, std::span<const std::string> metrics) {
    std::vector<std::string> there, lacking;
    for (const auto& metric : metrics) {
      if (!available(metric))
        lacking.push_back(metric);
      else if (!repeats(metric))
        there.push_back(metric);
    }
    take(quantity, "", there);
    return lacking;
  }

  void miss(std::string text) { selection_.missing.push_back(std::move(text)); }
  Selection finish() { return std::move(selection_); }

 private:
  bool available(std::string_view metric) const {
    if (target_.known()) return matrix_.exists(metric, target_.chip);
    std::ptrdiff_t with = 0;
    for (const auto& chip : matrix_.chips()) with += matrix_.exists(metric, chip.name) ? 1 : 0;
    return 2 * with > static_cast<std::ptrdiff_t>(matrix_.chips().size());
  }
  int passes(std::string_view metric) const {
    if (target_.known()) return matrix_.passes(metric, target_.chip).value_or(1);
    int most = 1;
    for (const auto& chip : matrix_.chips()) most = std::max(most, matrix_.passes(metric, chip.name).value_or(1));
    return most;
  }

  // The member of each list that takes fewest passes; nothing where a list has none on this chip.
  std::vector<std::string> collectable(const RecipeReads& reads) const {
    std::vector<std::string> metrics;
    for (const auto& spellings : reads.metrics) {
      const auto* best = cheapest(spellings);
      if (best == nullptr) return {};
      metrics.push_back(*best);
    }
    if (const auto* lift = reads.bound == Bound::exact ? nullptr : cheapest(reads.lifts)) metrics.push_back(*lift);
    return metrics;
  }
  const std::string* cheapest(const std::vector<std::string>& spellings) const {
    const std::string* best = nullptr;
    for (const auto& metric : spellings)
      if (available(metric) && (best == nullptr || passes(metric) < passes(*best))) best = &metric;
    return best;
  }

  // A bound that a counter at 0 makes exact is better than one that stays.
  int bound_rank(const RecipeReads& reads) const {
    if (reads.bound == Bound::exact) return 0;
    return cheapest(reads.lifts) != nullptr ? 1 : 2;
  }
  int new_passes(const std::vector<std::string>& metrics) const {
    int sum = 0;
    for (const auto& metric : metrics) sum += taken_.count(metric) != 0 ? 0 : passes(metric);
    return sum;
  }

  // The same counter per cycle or per second beside its sum tells nothing new.
  bool repeats(const std::string& metric) const {
    const auto base = metric.substr(0, metric.find('.'));
    const bool rate = metric.ends_with(".per_cycle_elapsed") || metric.ends_with(".per_second");
    return rate && taken_.count(base + ".sum") != 0;
  }

  void take(std::string quantity, std::string recipe, const std::vector<std::string>& metrics) {
    if (metrics.empty()) return;
    for (const auto& metric : metrics)
      if (taken_.insert(metric).second) selection_.metrics.push_back(metric);
    selection_.chosen.push_back({std::move(quantity), std::move(recipe), metrics});
  }

  const Declarations& declared_;
  const Target& target_;
  const MetricMatrix& matrix_;
  std::set<std::string, std::less<>> taken_;
  Selection selection_;
};

void add_table(Selector& selector, bool fp64_elsewhere) {
  for (const auto quantity : kTable) {
    if (quantity == "dram.write" || quantity == "fp8.vector") {
      selector.add(quantity);  // some chips have none
      continue;
    }
    if (selector.add(quantity)) continue;
    if (quantity == "dram.read") {
      if (!selector.add("dram")) selector.miss("DRAM bytes: this chip has no counter of them");
      if (!selector.add("dram.fraction")) continue;
    } else if (quantity != "roof.dram" && !quantity.starts_with("tensor") && !quantity.starts_with("activity")) {
      selector.miss(fmt::format("{}: no recipe fits this chip", quantity));
    }
  }
  if (fp64_elsewhere) selector.add("tensor.idle.fp64");
}

void add_rules(Selector& selector, std::span<const std::string> rule_metrics) {
  for (const auto quantity : kDiagnose) selector.add(quantity);
  const auto lacking = selector.add_metrics("rules", rule_metrics);
  // What only sections compute is not a counter: "memory_l2_theoretical_sectors_global", "derived__...".
  const auto computed =
      static_cast<std::size_t>(std::count_if(lacking.begin(), lacking.end(), [](const std::string& metric) {
        return metric.starts_with("memory_") || metric.starts_with("derived__") || metric.starts_with("sass__");
      }));
  if (computed > 0)
    selector.miss(
        fmt::format("{} values that only ncu's own sections compute: a report with --section "
                    "SourceCounters has them",
                    computed));
}

}  // namespace

std::string_view to_string(Question question) {
  constexpr std::array<std::string_view, 4> kNames = {"table", "hierarchy", "diagnose", "all"};
  return kNames[static_cast<std::size_t>(question)];
}

Declarations declarations(const Target& target) {
  Declarations declared;
  declared.recipes = recipe_reads(target.compute_capability);
  std::set<std::string_view> seen;
  for (const auto& rule : diagnosis_rules())
    for (const auto metric : rule.metrics)
      if (seen.insert(metric).second) declared.rule_metrics.emplace_back(metric);
  if (const auto* chip = MetricMatrix::instance().chip(target.chip)) declared.leaves = tensor_leaves(chip->like);
  return declared;
}

Selection select(const Declarations& declared, const Target& target, Question question,
                 std::span<const std::string> leaves, const MetricMatrix& matrix) {
  Selector selector(declared, target, matrix);
  const auto has = [&](std::string_view quantity) {
    return std::any_of(declared.recipes.begin(), declared.recipes.end(),
                       [&](const RecipeReads& reads) { return reads.quantity == quantity; });
  };
  add_table(selector, has("tensor.idle.fp64"));
  selector.add_metrics("tensor.operations", leaves);
  if (includes(question, Question::hierarchy))
    for (const auto quantity : kHierarchy)
      if (!selector.add(quantity) && quantity.find('.') == std::string_view::npos)
        selector.miss(fmt::format("{} bytes: no recipe fits this chip", quantity));
  if (includes(question, Question::diagnose)) add_rules(selector, declared.rule_metrics);
  return selector.finish();
}

std::vector<std::string> types_metrics(const Declarations& declared, const Target& target, const MetricMatrix& matrix) {
  Selector selector(declared, target, matrix);
  std::vector<std::string> leaves;
  for (const auto& leaf : declared.leaves) leaves.push_back(leaf.metric);
  selector.add_metrics("tensor.operations", leaves);
  selector.add("tensor.idle");
  selector.add("tensor.idle.fp64");
  return selector.finish().metrics;
}

}  // namespace roofline::collect
