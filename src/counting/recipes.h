// The counting recipes of data/recipes.json, resolved to metric ids.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "roofline/metric_id.h"
#include "roofline/precision.h"
#include "roofline/quantity.h"
#include "roofline/work.h"

namespace roofline::counting {

// 10 x major + minor of "9.0"; of an AMD chip ("gfx90a") the hexadecimal number, which is larger than any of those.
// nullopt for anything else.
std::optional<int> capability_number(std::string_view text);

// The compute capabilities a recipe holds for: "9.0", "10.0-10.3", "-7.2", "9.0-". Empty: all, known or not.
class ChipSet {
 public:
  ChipSet() = default;
  explicit ChipSet(const std::vector<std::string>& ranges);  // throws std::logic_error
  bool holds(std::optional<int> capability) const;

 private:
  std::vector<std::pair<int, int>> ranges_;
};

// How the terms make a value. The list is closed: a recipe is data, never a program.
enum class Formula : std::uint8_t {
  sum,         // sum of weight x metric
  rate,        // sum x time
  cycle_rate,  // sum x clock x time
  over_clock,  // sum / clock
  ratio,       // sum / sum of `over`
  max,         // largest weight x metric
};

struct Term {
  MetricId id;
  double weight;
};

struct Recipe {
  std::string name;
  ChipSet chips;
  Formula formula = Formula::sum;
  std::vector<Term> terms;
  std::vector<Term> over;
  std::vector<MetricId> clocks;         // the first that the report has
  std::vector<MetricId> exact_if_zero;  // one of these at 0 lifts `bound`
  bool partial = false;                 // also with some of the terms missing
  Evidence evidence = Evidence::counter;
  Bound bound = Bound::exact;
  Definition definition;
  std::string note;
  // By variant: which clock, which metric at zero (from 1), or the mask of the terms that are there.
  std::vector<ProvenancePtr> provenance;
};
using RecipeList = std::vector<Recipe>;  // in order of preference

struct LevelRecipes {
  RecipeList total, read, write, fraction;
};

struct ActivityRecipes {
  Quantity Activity::*member;
  RecipeList recipes;
};

// --- tensor operations ---

// A counter of tensor operations: a leaf, or the sum of its children.
struct TensorCounter {
  std::string name;  // without the common prefix: "op_hmma_src_bf16_dst_fp32_sparsity_off"
  Precision precision;
  MetricId sum, per_cycle, per_second, peak;
  std::vector<std::size_t> children;  // indices into TensorChip::counters
  ProvenancePtr by_sum, by_cycle, by_rate;
};

struct TensorChip {
  std::string name;
  int capability = 0;
  std::vector<TensorCounter> counters;
  std::vector<std::size_t> roots;  // indices; no root is below another
  std::size_t leaves = 0;
  std::vector<double> chip_ids;           // device__attribute_chip, where the capability alone does not tell
  std::vector<std::string> device_names;  // parts of device names, likewise
};

// Proof that no tensor operation ran: in every list of `zero` one metric is there and all that are there are 0, and,
// where set, `count` equals `minus`.
struct IdleRule {
  std::string name;
  ChipSet chips;
  std::vector<std::vector<MetricId>> zero;
  std::vector<MetricId> count;
  std::optional<MetricId> minus;
};

struct InstructionRecipe {
  Recipe recipe;
  Precision precision;
};

struct TensorRecipes {
  std::vector<TensorChip> chips;
  std::vector<MetricId> clocks;
  std::vector<IdleRule> idle;
  ChipSet dmma_elsewhere_chips;  // FP64 matrix operations run on the FP64 pipe there
  std::vector<MetricId> dmma_elsewhere_zero;
  std::vector<InstructionRecipe> instructions;
  std::vector<MetricId> instruction_counts;
  std::vector<std::pair<ChipSet, std::string>> not_countable;
  ChipSet shares_pipe_with_hfma2;
  ChipSet half_rate_chips;  // the slowest tensor roof is `half_rate_ratio` times lower than the pipe's rate
  double half_rate_ratio = 1;
  std::vector<std::string> tensor_names;  // parts of kernel names, lower case, that make tensor work likely
};

struct BusiestRule {
  MetricId throughput, members;
};

struct UnitClassRule {
  UnitClass unit;
  std::vector<std::string> contains;
};

struct CollectRule {
  std::string quantity;
  std::vector<std::vector<std::string>> metrics;  // of each list the first that the chip has
};

struct Recipes {
  RecipeList time;
  std::vector<std::pair<Precision, RecipeList>> vector_operations;
  std::array<LevelRecipes, kMemoryLevels.size()> levels;
  std::vector<ActivityRecipes> activity;
  TensorRecipes tensor;
  std::vector<BusiestRule> busiest;
  std::vector<UnitClassRule> unit_classes;
  std::vector<CollectRule> collect;
};

// Counters of AMD's profilers, from data/amd_recipes.json. They name the precision of every operation, so that one list
// serves vectors and matrices alike.
struct AmdRecipes {
  RecipeList time;
  std::vector<std::pair<Precision, RecipeList>> operations;
  // Which matrix types a chip has; types of a chip that is not listed may all occur.
  std::vector<std::pair<ChipSet, std::vector<Precision>>> matrix_types;
  std::array<LevelRecipes, kMemoryLevels.size()> levels;
  RecipeList l2_hit_rate;
  std::vector<MetricId> counters;  // one of them in a launch tells that it holds AMD's counters
};
const AmdRecipes& amd_recipes();

// Loaded on first use. Throws std::logic_error when data/recipes.json names a metric that metrics.csv does not, or is
// wrong in another way: a fault in our own data, which a test finds.
const Recipes& recipes();

// The chip with this compute capability; device name and chip id tell apart those that share one. nullptr when unknown.
const TensorChip* tensor_chip(std::optional<int> capability, std::string_view device_name,
                              std::optional<double> chip_id);

// The precision that a tensor counter's name states; nullopt for a name of another form.
std::optional<Precision> tensor_counter_precision(std::string_view name);

}  // namespace roofline::counting
