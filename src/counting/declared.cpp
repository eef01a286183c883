// What the recipes read, as declarations: sets to collect are derived from these and stand nowhere else.
#include <array>

#include "counting/recipes.h"
#include "roofline/counting.h"
#include "roofline/metrics.h"

namespace roofline {
namespace {

using counting::recipes;

std::string name_of(MetricId id) { return MetricCatalogue::instance().info(id).name; }

std::vector<std::string> names_of(const std::vector<MetricId>& ids) {
  std::vector<std::string> names;
  names.reserve(ids.size());
  for (const auto id : ids) names.push_back(name_of(id));
  return names;
}

class Collector {
 public:
  explicit Collector(std::string_view compute_capability)
      : capability_(counting::capability_number(compute_capability)) {}

  void add(const std::string& quantity, const counting::RecipeList& list) {
    for (const auto& recipe : list) {
      if (recipe.partial || !recipe.chips.holds(capability_)) continue;
      RecipeReads reads{quantity, recipe.name, {}, names_of(recipe.exact_if_zero), recipe.evidence, recipe.bound};
      for (const auto& terms : {recipe.terms, recipe.over})
        for (const auto& term : terms) reads.metrics.push_back({name_of(term.id)});
      if (!recipe.clocks.empty()) reads.metrics.push_back(names_of(recipe.clocks));
      out_.push_back(std::move(reads));
    }
  }

  void add_idle(const counting::TensorRecipes& tensor) {
    for (const auto& rule : tensor.idle) {
      if (!rule.chips.holds(capability_)) continue;
      RecipeReads reads{"tensor.idle", rule.name, {}, {}, Evidence::counter, Bound::exact};
      for (const auto& list : rule.zero) reads.metrics.push_back(names_of(list));
      if (!rule.count.empty()) reads.metrics.push_back(names_of(rule.count));
      if (rule.minus) reads.metrics.push_back({name_of(*rule.minus)});
      out_.push_back(std::move(reads));
    }
    if (capability_ && tensor.dmma_elsewhere_chips.holds(capability_))
      out_.push_back({"tensor.idle.fp64",
                      "fp64-pipe-idle",
                      {names_of(tensor.dmma_elsewhere_zero)},
                      {},
                      Evidence::counter,
                      Bound::exact});
  }

  // Clocks and peaks: what turns a count of the same run into a share of the roof at its own clock.
  void add_roofs(const counting::CollectRule& rule) {
    RecipeReads reads{"roof." + rule.quantity, "at-clock", {}, {}, Evidence::counter, Bound::exact};
    for (const auto& spellings : rule.metrics) {
      const auto& name = spellings.front();
      if (name.ends_with(".peak_sustained") || name.ends_with("cycles_elapsed.avg.per_second"))
        reads.metrics.push_back(spellings);
    }
    if (!reads.metrics.empty()) out_.push_back(std::move(reads));
  }

  std::vector<RecipeReads> take() { return std::move(out_); }

 private:
  std::optional<int> capability_;
  std::vector<RecipeReads> out_;
};

constexpr std::array<std::pair<const char*, Quantity Activity::*>, 7> kActivity = {
    {{"sm_throughput", &Activity::sm_throughput},
     {"memory_throughput", &Activity::memory_throughput},
     {"l2_throughput", &Activity::l2_throughput},
     {"l1_throughput", &Activity::l1_throughput},
     {"l2_hit_rate", &Activity::l2_hit_rate},
     {"tensor_pipe", &Activity::tensor_pipe},
     {"issue_active", &Activity::issue_active}}};

}  // namespace

std::vector<RecipeReads> recipe_reads(std::string_view compute_capability) {
  const auto& all = recipes();
  Collector collector(compute_capability);
  collector.add("time", all.time);
  for (const auto& [precision, list] : all.vector_operations) collector.add(to_string(precision), list);
  for (const auto level : kMemoryLevels) {
    const std::string name(to_string(level));
    const auto& level_recipes = all.levels[static_cast<std::size_t>(level)];
    collector.add(name, level_recipes.total);
    collector.add(name + ".read", level_recipes.read);
    collector.add(name + ".write", level_recipes.write);
    collector.add(name + ".fraction", level_recipes.fraction);
  }
  for (const auto& item : all.activity) {
    std::string name = "activity.";
    for (const auto& [text, member] : kActivity)
      if (member == item.member) name += text;
    if (!name.ends_with('.')) collector.add(name, item.recipes);
  }
  collector.add_idle(all.tensor);
  for (const auto& rule : all.collect) collector.add_roofs(rule);
  return collector.take();
}

std::vector<TensorLeaf> tensor_leaves(std::string_view chip) {
  std::vector<TensorLeaf> leaves;
  for (const auto& known : recipes().tensor.chips) {
    if (known.name != chip) continue;
    for (const auto& counter : known.counters)
      if (counter.children.empty()) leaves.push_back({name_of(counter.sum), name_of(counter.peak), counter.precision});
    break;
  }
  return leaves;
}

std::string tensor_chip_name(std::string_view compute_capability, std::string_view device) {
  const auto* chip = counting::tensor_chip(counting::capability_number(compute_capability), device, std::nullopt);
  return chip == nullptr ? std::string() : chip->name;
}

}  // namespace roofline
