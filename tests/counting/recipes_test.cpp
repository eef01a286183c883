#include "counting/recipes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>

#include "roofline/metrics.h"

namespace roofline::counting {
namespace {

TEST(Recipes, EveryMetricNameIsDeclared) { EXPECT_NO_THROW(recipes()); }

TEST(Recipes, NamesAreUniqueWithinAList) {
  const auto check = [](const RecipeList& list) {
    std::set<std::string> names;
    for (const auto& recipe : list) EXPECT_TRUE(names.insert(recipe.name).second) << recipe.name;
  };
  check(recipes().time);
  for (const auto& item : recipes().vector_operations) check(item.second);
  for (const auto& level : recipes().levels)
    for (const auto* list : {&level.total, &level.read, &level.write, &level.fraction}) check(*list);
  for (const auto& item : recipes().activity) check(item.recipes);
}

TEST(Recipes, LevelsCarryADefinition) {
  for (const auto& level : recipes().levels)
    for (const auto* list : {&level.total, &level.fraction})
      for (const auto& recipe : *list) EXPECT_FALSE(recipe.definition.empty()) << recipe.name;
}

TEST(Recipes, BoundsThatAreNotExactSayWhy) {
  const auto check = [](const RecipeList& list) {
    for (const auto& recipe : list) {
      EXPECT_TRUE(recipe.bound == Bound::exact || !recipe.note.empty()) << recipe.name;
      EXPECT_FALSE(recipe.provenance.empty()) << recipe.name;
    }
  };
  for (const auto& item : recipes().vector_operations) check(item.second);
  for (const auto& level : recipes().levels) {
    check(level.total);
    check(level.fraction);
  }
}

TEST(ComputeCapability, IsTwoNumbers) {
  EXPECT_EQ(capability_number("9.0"), 90);
  EXPECT_EQ(capability_number("12.1"), 121);
  for (const char* bad : {"", "9", "9.", ".0", "9.0a", "gfx", "9.10", "-1.0", "9.0 ", "999.0"})
    EXPECT_EQ(capability_number(bad), std::nullopt) << bad;
}

TEST(ChipSet, Ranges) {
  const ChipSet set({"7.0", "8.0-8.6", "12.0-"});
  for (const int in : {70, 80, 83, 86, 120, 121, 150}) EXPECT_TRUE(set.holds(in)) << in;
  for (const int out : {60, 72, 79, 87, 110}) EXPECT_FALSE(set.holds(out)) << out;
  EXPECT_FALSE(set.holds(std::nullopt));
  EXPECT_TRUE(ChipSet{}.holds(std::nullopt));
  EXPECT_TRUE(ChipSet({"-7.2"}).holds(61));
  EXPECT_THROW(ChipSet({"eight"}), std::logic_error);
}

TEST(TensorCounters, NamesStateThePrecision) {
  const auto key = [](std::string_view name) { return to_string(tensor_counter_precision(name).value()); };
  EXPECT_EQ(key("src_fp64"), "fp64.tensor");
  EXPECT_EQ(key("op_hgmma_src_bf16_dst_fp32_sparsity_off"), "bf16.tensor");
  EXPECT_EQ(key("op_hmma_src_fp16_dst_fp16_sparsity_on"), "fp16.acc16.tensor.sparse");
  EXPECT_EQ(key("op_hgmma_src_fp16_sparsity_off"), "fp16.tensor");
  EXPECT_EQ(key("src_fp16_bf16_tf32_dst_fp32"), "fp16_bf16_tf32.tensor");
  EXPECT_EQ(key("op_utcqmma_src_fp4_fp6_fp8_dst_fp32_sparsity_on"), "fp4_fp6_fp8.tensor.sparse");
  EXPECT_EQ(key("src_fp8_dst_fp16_sparsity_off"), "fp8.acc16.tensor");
  EXPECT_EQ(key("op_imma_src_int8_sparsity_off"), "int8.tensor");
  for (const char* bad : {"", "op_", "op_hmma", "src_", "src_fp7", "dst_fp32"})
    EXPECT_FALSE(tensor_counter_precision(bad)) << bad;
}

TEST(TensorChips, EveryLeafExistsOnItsChipAndEveryParentHasChildren) {
  const auto& catalogue = MetricCatalogue::instance();
  for (const auto& chip : recipes().tensor.chips) {
    const auto known = catalogue.chips();
    if (std::find(known.begin(), known.end(), chip.name) == known.end()) continue;
    for (const auto& counter : chip.counters) EXPECT_TRUE(catalogue.exists(counter.sum, chip.name)) << counter.name;
  }
}

// Every leaf is below exactly one root by exactly one path: nothing can be counted twice.
TEST(TensorChips, LeavesAreReachedOnce) {
  for (const auto& chip : recipes().tensor.chips) {
    std::vector<int> visits(chip.counters.size(), 0);
    const std::function<void(std::size_t)> walk = [&](std::size_t i) {
      ++visits[i];
      for (const auto child : chip.counters[i].children) walk(child);
    };
    for (const auto root : chip.roots) walk(root);
    for (std::size_t i = 0; i < visits.size(); ++i)
      EXPECT_EQ(visits[i], 1) << chip.name << " " << chip.counters[i].name;
  }
}

TEST(TensorChips, LeafCountsPerChip) {
  const std::pair<const char*, std::size_t> expected[] = {
      {"7.0", 2},  {"7.2", 3},   {"7.5", 5},   {"8.0", 14},  {"8.6", 14},  {"8.7", 14}, {"8.9", 16},
      {"9.0", 23}, {"10.0", 27}, {"10.3", 29}, {"11.0", 27}, {"12.0", 21}, {"12.1", 21}};
  for (const auto& [cc, leaves] : expected) {
    const auto* chip = tensor_chip(capability_number(cc), "", std::nullopt);
    ASSERT_NE(chip, nullptr) << cc;
    EXPECT_EQ(chip->leaves, leaves) << cc;
  }
}

TEST(TensorChips, SmallTuringHasNone) {
  EXPECT_EQ(tensor_chip(75, "Tesla T4", std::nullopt)->name, "TU102");
  EXPECT_EQ(tensor_chip(75, "NVIDIA GeForce GTX 1660 Ti", std::nullopt)->name, "TU116");
  EXPECT_EQ(tensor_chip(75, "", 0x168)->name, "TU116");
  EXPECT_EQ(tensor_chip(75, "Quadro RTX 4000", 0x164)->name, "TU102");
  EXPECT_EQ(tensor_chip(75, "NVIDIA GeForce RTX 2080 Ti", std::nullopt)->leaves, 5u);
  EXPECT_EQ(tensor_chip(61, "GeForce GTX 1080", std::nullopt), nullptr);
  EXPECT_EQ(tensor_chip(std::nullopt, "Tesla T4", std::nullopt), nullptr);
}

}  // namespace
}  // namespace roofline::counting
