// The data against the library that they come from. No GPU is needed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "collect/collection_rows.h"
#include "collect/cupti_passes.h"

namespace roofline::collect {
namespace {

class Live : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cupti_) GTEST_SKIP() << "no libcupti here";
  }
  std::optional<CuptiPasses> cupti_ = CuptiPasses::open();
};

// All rows take a minute; these hold every metric, and what people use most.
bool worth_a_look(const PassRow& row) {
  if (row.question == "ncu-roofline" || row.question == "types") return true;
  if (row.question == "table") return row.formats == "none" || row.formats == "all" || row.formats == "bf16+fp8+dense";
  return row.question == "all" && row.formats == "all";
}

// Chips that have the metrics of another one are counted, too.
TEST_F(Live, SetsTakeTheStatedPassesOnEveryChip) {
  const auto& matrix = MetricMatrix::instance();
  for (const auto& row : pass_rows()) {
    if (!worth_a_look(row)) continue;
    for (const auto& chip : matrix.chips()) {
      const Target target{chip.name, chip.compute_capability, ""};
      const auto metrics = metrics_of({row.question, row.formats}, target, matrix);
      const auto it = row.passes.find(chip.like);
      const auto stated = it == row.passes.end() ? std::nullopt : std::optional<int>(it->second);
      const auto passes = metrics.empty() ? std::nullopt : cupti_->passes(chip.name, countable(metrics));
      EXPECT_EQ(passes, stated) << row.question << " with " << row.formats << " on " << chip.name;
    }
  }
}

TEST_F(Live, SingleMetricsTakeTheStatedPasses) {
  const auto& matrix = MetricMatrix::instance();
  for (const auto& chip : matrix.chips()) {
    if (chip.like != chip.name) continue;
    const Target target{chip.name, chip.compute_capability, ""};
    for (const auto& metric : countable(select(declarations(target), target, Question::all, {}).metrics))
      EXPECT_EQ(cupti_->passes(chip.name, {metric}), matrix.passes(metric, chip.name)) << metric << " on " << chip.name;
  }
}

TEST_F(Live, UnknownNamesAreUnknownThere) {
  EXPECT_FALSE(cupti_->passes("GH100", {"no__such_metric.sum"}));
  EXPECT_FALSE(cupti_->passes("GX999", {"gpu__time_duration.sum"}));
  EXPECT_FALSE(cupti_->passes("GB202", {"dram__bytes_read.sum"}));
}

// Mixes that data/collection_passes.csv has no row for are estimated. docs/collecting.md states the error.
TEST_F(Live, EstimatesAreClose) {
  int least = 0, most = 0;
  for (const auto& chip : MetricMatrix::instance().chips()) {
    if (chip.like != chip.name) continue;
    const Target target{chip.name, chip.compute_capability, ""};
    for (const char* formats :
         {"fp64+bf16", "tf32+fp8", "bf16+fp16+fp8", "int8+fp8", "bf16+fp4+fp8", "fp64+tf32+int8"}) {
      const auto leaves = leaves_of(target, formats);
      const auto estimate = passes_of(target, Question::table, leaves);
      ASSERT_TRUE(estimate);
      const auto metrics = select(declarations(target), target, Question::table, leaves).metrics;
      const auto truth = cupti_->passes(chip.name, countable(metrics));
      ASSERT_TRUE(truth);
      least = std::min(least, estimate->count - *truth);
      most = std::max(most, estimate->count - *truth);
    }
  }
  EXPECT_GE(least, -1);
  EXPECT_LE(most, 4);
}

}  // namespace
}  // namespace roofline::collect
