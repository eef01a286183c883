#include "counting/recipes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unordered_map>

#include "data/amd_recipes.json.h"
#include "data/recipes.json.h"
#include "roofline/metrics.h"

namespace roofline::counting {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void fail(const std::string& what) { throw std::logic_error("recipes.json: " + what); }

MetricId metric(const std::string& name) { return MetricCatalogue::instance().require(name); }

const std::string& name_of(MetricId id) { return MetricCatalogue::instance().info(id).name; }

std::vector<std::string> strings(const Json& object, const char* key) {
  return object.contains(key) ? object.at(key).get<std::vector<std::string>>() : std::vector<std::string>{};
}

std::vector<MetricId> metrics(const Json& object, const char* key) {
  std::vector<MetricId> ids;
  for (const auto& name : strings(object, key)) ids.push_back(metric(name));
  return ids;
}

std::vector<Term> read_terms(const Json& object, const char* key) {
  std::vector<Term> terms;
  if (!object.contains(key)) return terms;
  const std::string pattern = object.value("pattern", std::string("*"));
  const auto star = pattern.find('*');
  if (star == std::string::npos) fail("a pattern without *: " + pattern);
  for (const auto& [name, weight] : object.at(key).items())
    terms.push_back({metric(std::string(pattern).replace(star, 1, name)), weight.get<double>()});
  return terms;
}

template <typename Enum>
Enum pick(const std::string& text, std::initializer_list<std::pair<std::string_view, Enum>> names) {
  for (const auto& [name, value] : names)
    if (name == text) return value;
  fail("unknown word \"" + text + "\"");
}

Formula parse_formula(const std::string& text) {
  return pick<Formula>(text, {{"sum", Formula::sum},
                              {"rate", Formula::rate},
                              {"cycle_rate", Formula::cycle_rate},
                              {"over_clock", Formula::over_clock},
                              {"ratio", Formula::ratio},
                              {"max", Formula::max}});
}

Bound parse_bound(const std::string& text) {
  return pick<Bound>(text, {{"exact", Bound::exact}, {"lower", Bound::lower}, {"upper", Bound::upper}});
}

UnitClass parse_unit_class(const std::string& text) {
  for (int i = 0; i <= static_cast<int>(UnitClass::special); ++i)
    if (to_string(static_cast<UnitClass>(i)) == text) return static_cast<UnitClass>(i);
  fail("unknown unit class \"" + text + "\"");
}

ProvenancePtr make_provenance(const Recipe& recipe, const std::vector<MetricId>& ids, std::string note) {
  auto provenance = std::make_shared<Provenance>();
  provenance->recipe = recipe.name;
  provenance->note = std::move(note);
  for (const auto id : ids)
    if (std::find(provenance->metrics.begin(), provenance->metrics.end(), name_of(id)) == provenance->metrics.end())
      provenance->metrics.push_back(name_of(id));
  return provenance;
}

// All variants beforehand: counting a launch then allocates nothing for its evidence.
void add_provenance(Recipe& recipe) {
  std::vector<MetricId> ids;
  for (const auto& terms : {recipe.terms, recipe.over})
    for (const auto& term : terms) ids.push_back(term.id);
  if (recipe.partial || recipe.formula == Formula::max) {
    for (std::size_t mask = 0; mask < (std::size_t{1} << recipe.terms.size()); ++mask) {
      std::vector<MetricId> there;
      for (std::size_t i = 0; i < recipe.terms.size(); ++i)
        if ((mask >> i & 1U) != 0) there.push_back(recipe.terms[i].id);
      recipe.provenance.push_back(make_provenance(recipe, there, recipe.note));
    }
    return;
  }
  const auto with = [&](std::optional<MetricId> extra, std::string note) {
    auto all = ids;
    if (extra) all.push_back(*extra);
    recipe.provenance.push_back(make_provenance(recipe, all, std::move(note)));
  };
  for (const auto clock : recipe.clocks) with(clock, recipe.note);
  if (recipe.clocks.empty()) with(std::nullopt, recipe.note);
  for (const auto zero : recipe.exact_if_zero) with(zero, fmt::format("complete: {} is 0", name_of(zero)));
}

Recipe read_recipe(const Json& object) {
  Recipe recipe;
  recipe.name = object.at("name").get<std::string>();
  recipe.chips = ChipSet(strings(object, "cc"));
  recipe.formula = parse_formula(object.value("formula", std::string("sum")));
  recipe.terms = read_terms(object, "terms");
  recipe.over = read_terms(object, "over");
  recipe.clocks = metrics(object, "clock");
  recipe.exact_if_zero = metrics(object, "exact_if_zero");
  recipe.partial = object.value("partial", false);
  recipe.evidence = parse_evidence(object.value("evidence", std::string("counter"))).value_or(Evidence::absent);
  recipe.bound = parse_bound(object.value("bound", std::string("exact")));
  recipe.definition = object.value("definition", std::string());
  recipe.note = object.value("note", std::string());
  const bool needs_clock = recipe.formula == Formula::cycle_rate || recipe.formula == Formula::over_clock;
  if (recipe.terms.empty() || recipe.evidence == Evidence::absent || needs_clock != !recipe.clocks.empty() ||
      (recipe.formula == Formula::ratio) != !recipe.over.empty() ||
      (!recipe.clocks.empty() && !recipe.exact_if_zero.empty()))
    fail("recipe \"" + recipe.name + "\" does not fit its formula");
  add_provenance(recipe);
  return recipe;
}

RecipeList read_list(const Json& array) {
  RecipeList list;
  for (const auto& object : array) list.push_back(read_recipe(object));
  return list;
}

LevelRecipes read_level(const Json& object) {
  return {read_list(object.at("total")), read_list(object.at("read")), read_list(object.at("write")),
          read_list(object.at("fraction"))};
}

std::vector<ActivityRecipes> read_activity(const Json& object) {
  const std::pair<const char*, Quantity Activity::*> members[] = {{"sm_throughput", &Activity::sm_throughput},
                                                                  {"memory_throughput", &Activity::memory_throughput},
                                                                  {"l2_throughput", &Activity::l2_throughput},
                                                                  {"l1_throughput", &Activity::l1_throughput},
                                                                  {"l2_hit_rate", &Activity::l2_hit_rate},
                                                                  {"tensor_pipe", &Activity::tensor_pipe},
                                                                  {"issue_active", &Activity::issue_active},
                                                                  {"sector_efficiency", &Activity::sector_efficiency},
                                                                  {"waves", &Activity::waves},
                                                                  {"grid_blocks", &Activity::grid_blocks},
                                                                  {"sm_count", &Activity::sm_count},
                                                                  {"l2_size", &Activity::l2_size}};
  std::vector<ActivityRecipes> all;
  for (const auto& [name, member] : members) all.push_back({member, read_list(object.at(name))});
  return all;
}

// --- tensor ---

ProvenancePtr tensor_provenance(const TensorCounter& counter, MetricId id, std::string_view how) {
  auto provenance = std::make_shared<Provenance>();
  provenance->recipe = fmt::format("tensor-{}{}", counter.children.empty() ? "leaf" : "parent", how);
  provenance->metrics = {name_of(id)};
  if (!counter.children.empty()) provenance->note = "the counter does not tell its parts (dense, sparse) apart";
  return provenance;
}

TensorCounter make_counter(const std::string& prefix, const std::string& name) {
  const auto precision = tensor_counter_precision(name);
  if (!precision) fail("tensor counter \"" + name + "\" of unknown form");
  const std::string full = prefix + name + ".sum";
  TensorCounter counter;
  counter.name = name;
  counter.precision = *precision;
  counter.sum = metric(full);
  counter.per_cycle = metric(full + ".per_cycle_elapsed");
  counter.per_second = metric(full + ".per_second");
  counter.peak = metric(full + ".peak_sustained");
  return counter;
}

class ChipBuilder {
 public:
  ChipBuilder(TensorChip& chip, std::string prefix) : chip_(chip), prefix_(std::move(prefix)) {}

  std::size_t add(const std::string& name) {
    if (const auto it = index_.find(name); it != index_.end()) return it->second;
    chip_.counters.push_back(make_counter(prefix_, name));
    return index_.emplace(name, chip_.counters.size() - 1).first->second;
  }

  void finish() {
    std::vector<bool> below(chip_.counters.size(), false);
    for (const auto& counter : chip_.counters)
      for (const auto child : counter.children) below[child] = true;
    for (std::size_t i = 0; i < below.size(); ++i) {
      auto& counter = chip_.counters[i];
      if (!below[i]) chip_.roots.push_back(i);
      if (counter.children.empty()) ++chip_.leaves;
      counter.by_sum = tensor_provenance(counter, counter.sum, "");
      counter.by_cycle = tensor_provenance(counter, counter.per_cycle, "-per-cycle");
      counter.by_rate = tensor_provenance(counter, counter.per_second, "-rate");
    }
  }

 private:
  TensorChip& chip_;
  std::string prefix_;
  std::unordered_map<std::string, std::size_t> index_;
};

TensorChip read_chip(const Json& object, const std::string& prefix) {
  TensorChip chip;
  chip.name = object.at("chip").get<std::string>();
  const auto capability = capability_number(object.at("cc").get<std::string>());
  if (!capability) fail("chip " + chip.name + " without a compute capability");
  chip.capability = *capability;
  ChipBuilder builder(chip, prefix);
  for (const auto& leaf : strings(object, "leaves")) builder.add(leaf);
  if (object.contains("parents"))
    for (const auto& [parent, children] : object.at("parents").items()) {
      const auto at = builder.add(parent);
      for (const auto& child : children) {
        const auto below = builder.add(child.get<std::string>());
        chip.counters[at].children.push_back(below);
      }
    }
  builder.finish();
  chip.chip_ids = object.value("chip_ids", std::vector<double>{});
  chip.device_names = strings(object, "device_names");
  return chip;
}

IdleRule read_idle(const Json& object) {
  IdleRule rule;
  rule.name = object.at("name").get<std::string>();
  rule.chips = ChipSet(strings(object, "cc"));
  if (object.contains("zero"))
    for (const auto& names : object.at("zero")) {
      auto& ids = rule.zero.emplace_back();
      for (const auto& name : names) ids.push_back(metric(name.get<std::string>()));
    }
  rule.count = metrics(object, "count");
  if (object.contains("minus")) rule.minus = metric(object.at("minus").get<std::string>());
  if (rule.zero.empty() && rule.count.empty()) fail("idle rule \"" + rule.name + "\" proves nothing");
  return rule;
}

TensorRecipes read_tensor(const Json& object) {
  TensorRecipes tensor;
  const auto prefix = object.at("prefix").get<std::string>();
  for (const auto& chip : object.at("chips")) tensor.chips.push_back(read_chip(chip, prefix));
  tensor.clocks = metrics(object, "clock");
  for (const auto& rule : object.at("idle")) tensor.idle.push_back(read_idle(rule));
  const auto& dmma = object.at("dmma_on_fp64_pipe");
  tensor.dmma_elsewhere_chips = ChipSet(strings(dmma, "cc"));
  tensor.dmma_elsewhere_zero = metrics(dmma, "zero");
  for (const auto& item : object.at("instructions")) {
    const auto precision = parse_precision(item.at("precision").get<std::string>());
    if (!precision) fail("unknown precision " + item.at("precision").dump());
    tensor.instructions.push_back({read_recipe(item), *precision});
  }
  tensor.instruction_counts = metrics(object, "instruction_counts");
  for (const auto& item : object.at("not_countable"))
    tensor.not_countable.emplace_back(ChipSet(strings(item, "cc")), item.at("text").get<std::string>());
  tensor.shares_pipe_with_hfma2 = ChipSet(strings(object, "hfma2_on_tensor_pipe"));
  const auto& half_rate = object.at("half_rate_roof");
  tensor.half_rate_chips = ChipSet(strings(half_rate, "cc"));
  tensor.half_rate_ratio = half_rate.at("ratio").get<double>();
  tensor.tensor_names = strings(object, "tensor_names");
  return tensor;
}

Recipes read_all() {
  const auto json = Json::parse(data::recipes_json());
  Recipes all;
  all.time = read_list(json.at("time"));
  for (const char* key : {"fp64.vector", "fp32.vector", "fp16.vector", "fp8.vector"})
    all.vector_operations.emplace_back(*parse_precision(key), read_list(json.at(key)));
  for (const auto level : kMemoryLevels)
    all.levels[static_cast<std::size_t>(level)] = read_level(json.at(std::string(to_string(level))));
  all.activity = read_activity(json.at("activity"));
  all.tensor = read_tensor(json.at("tensor"));
  for (const auto& item : json.at("busiest"))
    all.busiest.push_back(
        {metric(item.at("throughput").get<std::string>()), metric(item.at("members").get<std::string>())});
  for (const auto& item : json.at("unit_classes"))
    all.unit_classes.push_back({parse_unit_class(item.at("class").get<std::string>()), strings(item, "contains")});
  for (const auto& [quantity, lists] : json.at("collect").items()) {
    auto& rule = all.collect.emplace_back(CollectRule{quantity, lists.get<std::vector<std::vector<std::string>>>()});
    for (const auto& list : rule.metrics)
      for (const auto& name : list) metric(name);
  }
  return all;
}

void add_metrics(const RecipeList& list, std::vector<MetricId>& ids) {
  for (const auto& recipe : list)
    for (const auto& terms : {recipe.terms, recipe.over})
      for (const auto& term : terms) ids.push_back(term.id);
}

Precision read_precision(const std::string& key) {
  const auto precision = parse_precision(key);
  if (!precision) fail("unknown precision \"" + key + "\"");
  return *precision;
}

AmdRecipes read_amd() {
  const auto json = Json::parse(data::amd_recipes_json());
  AmdRecipes all;
  all.time = read_list(json.at("time"));
  for (const auto& [key, list] : json.at("operations").items())
    all.operations.emplace_back(read_precision(key), read_list(list));
  for (const auto& chip : json.at("chips")) {
    auto& types = all.matrix_types.emplace_back(ChipSet(strings(chip, "cc")), std::vector<Precision>{}).second;
    for (const auto& key : strings(chip, "operations")) types.push_back(read_precision(key));
  }
  for (const auto level : kMemoryLevels)
    all.levels[static_cast<std::size_t>(level)] = read_level(json.at(std::string(to_string(level))));
  all.l2_hit_rate = read_list(json.at("l2_hit_rate"));
  add_metrics(all.time, all.counters);
  for (const auto& [precision, list] : all.operations) add_metrics(list, all.counters);
  for (const auto& level : all.levels)
    for (const auto* list : {&level.total, &level.read, &level.write, &level.fraction})
      add_metrics(*list, all.counters);
  add_metrics(all.l2_hit_rate, all.counters);
  for (const auto id : metrics(json, "other_counters")) all.counters.push_back(id);
  return all;
}

std::optional<NumberType> parse_type(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(NumberType::fp4_fp6); ++i)
    if (to_string(static_cast<NumberType>(i)) == text) return static_cast<NumberType>(i);
  return std::nullopt;
}

bool drop_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool drop_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

}  // namespace

std::optional<int> capability_number(std::string_view text) {
  int major = 0, minor = 0;
  const char* end = text.data() + text.size();
  if (drop_prefix(text, "gfx")) {
    constexpr int kFirst = 0x900, kLast = 0xffff;
    const auto result = std::from_chars(text.data(), end, major, 16);
    const bool is_chip = result.ec == std::errc{} && result.ptr == end && major >= kFirst && major <= kLast;
    return is_chip ? std::optional<int>(major) : std::nullopt;
  }
  const auto first = std::from_chars(text.data(), end, major);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '.') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, minor);
  if (second.ec != std::errc{} || second.ptr != end || major < 1 || major > 99 || minor < 0 || minor > 9)
    return std::nullopt;
  return 10 * major + minor;
}

ChipSet::ChipSet(const std::vector<std::string>& ranges) {
  const auto side = [](std::string_view text, int open) {
    if (text.empty()) return open;
    const auto value = capability_number(text);
    if (!value) fail("\"" + std::string(text) + "\" is no compute capability");
    return *value;
  };
  for (const std::string_view range : ranges) {
    const auto dash = range.find('-');
    const auto low = range.substr(0, dash);
    const auto high = dash == std::string_view::npos ? low : range.substr(dash + 1);
    ranges_.emplace_back(side(low, 0), side(high, std::numeric_limits<int>::max()));
  }
}

bool ChipSet::holds(std::optional<int> capability) const {
  if (ranges_.empty()) return true;
  return capability && std::any_of(ranges_.begin(), ranges_.end(), [&](const auto& range) {
           return range.first <= *capability && *capability <= range.second;
         });
}

const Recipes& recipes() {
  static const Recipes all = read_all();
  return all;
}

const AmdRecipes& amd_recipes() {
  static const AmdRecipes all = read_amd();
  return all;
}

const TensorChip* tensor_chip(std::optional<int> capability, std::string_view device_name,
                              std::optional<double> chip_id) {
  const TensorChip* general = nullptr;
  for (const auto& chip : recipes().tensor.chips) {
    if (capability != chip.capability) continue;
    const bool special = !chip.chip_ids.empty() || !chip.device_names.empty();
    if (!special && general == nullptr) general = &chip;
    if (!special) continue;
    if (chip_id && std::find(chip.chip_ids.begin(), chip.chip_ids.end(), *chip_id) != chip.chip_ids.end()) return &chip;
    const auto named = [&](const std::string& part) { return device_name.find(part) != std::string_view::npos; };
    if (std::any_of(chip.device_names.begin(), chip.device_names.end(), named)) return &chip;
  }
  return general;
}

// [op_<instruction>_]src_<type>[_dst_<type>][_sparsity_off|_sparsity_on]
std::optional<Precision> tensor_counter_precision(std::string_view name) {
  Precision precision;
  precision.path = Path::tensor;
  precision.sparse = drop_suffix(name, "_sparsity_on");
  if (!precision.sparse) drop_suffix(name, "_sparsity_off");
  if (drop_prefix(name, "op_")) {
    const auto end = name.find('_');
    if (end == std::string_view::npos) return std::nullopt;
    name.remove_prefix(end + 1);
  }
  if (!drop_prefix(name, "src_")) return std::nullopt;
  if (drop_suffix(name, "_dst_fp16"))
    precision.accumulate = Accumulate::acc16;
  else
    drop_suffix(name, "_dst_fp32");
  const auto type = parse_type(name);
  if (!type) return std::nullopt;
  precision.type = *type;
  return precision;
}

}  // namespace roofline::counting
