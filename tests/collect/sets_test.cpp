// The sets: derived from recipes and rules, complete on every chip, and cheap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "collect/fixtures.h"
#include "roofline/diagnosis.h"
#include "roofline/metrics.h"

namespace roofline::collect {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr Question kQuestions[] = {Question::table, Question::hierarchy, Question::diagnose, Question::all};

std::vector<Target> every_chip() {
  std::vector<Target> targets;
  for (const auto& chip : MetricMatrix::instance().chips()) targets.push_back({chip.name, chip.compute_capability, ""});
  return targets;
}

Selection chosen(const Target& target, Question question, std::string_view formats = "all") {
  return select(declarations(target), target, question, leaves_of(target, formats));
}

const Chosen* of(const Selection& selection, std::string_view quantity) {
  for (const auto& chosen : selection.chosen)
    if (chosen.quantity == quantity) return &chosen;
  return nullptr;
}

TEST(Matrix, HoldsEveryChipFromVoltaToBlackwell) {
  std::set<std::string> names;
  for (const auto& chip : MetricMatrix::instance().chips()) names.insert(chip.name);
  for (const char* chip : {"GV100", "TU102", "TU104", "TU106", "TU116", "TU117", "GA100", "GA102", "GA103", "GA104",
                           "GA106", "GA107", "GA10B", "AD102", "AD103", "AD104", "AD106", "AD107", "GH100", "GB100",
                           "GB102", "GB110", "GB10B", "GB202", "GB203", "GB205", "GB206", "GB207", "GB20B"})
    EXPECT_TRUE(names.count(chip)) << chip;
}

TEST(Matrix, KnownFacts) {
  const auto& matrix = MetricMatrix::instance();
  EXPECT_EQ(matrix.passes("dram__bytes_read.sum", "GH100"), 1);
  EXPECT_EQ(matrix.passes("dram__bytes_read.sum", "GB202"), std::nullopt);
  EXPECT_EQ(matrix.passes("dram__bytes_op_read.sum", "GB207"), 1);
  EXPECT_EQ(matrix.passes("dram__bytes.sum", "GB20B"), std::nullopt);
  EXPECT_EQ(matrix.passes("sm__throughput.avg.pct_of_peak_sustained_elapsed", "GV100"), 7);
  EXPECT_EQ(matrix.passes("launch__grid_size", "GA104"), 0);
  EXPECT_EQ(matrix.passes("sm__inst_executed_pipe_tensor_v2.sum", "ad104"), 1);
  EXPECT_EQ(matrix.passes("no__such_metric.sum", "GH100"), std::nullopt);
  EXPECT_EQ(matrix.passes("dram__bytes.sum", "GX999"), std::nullopt);
}

// The older list of passes in data/metrics.csv comes from the same library, metric by metric.
TEST(Matrix, AgreesWithTheCatalogue) {
  const auto& catalogue = MetricCatalogue::instance();
  for (std::size_t id = 0; id < catalogue.size(); ++id)
    for (const auto& chip : catalogue.chips()) {
      const auto passes = catalogue.passes(static_cast<MetricId>(id), chip);
      if (!passes) continue;
      EXPECT_EQ(MetricMatrix::instance().passes(catalogue.info(static_cast<MetricId>(id)).name, chip), passes)
          << catalogue.info(static_cast<MetricId>(id)).name << " on " << chip;
    }
}

TEST(Matrix, RefusesWhatDoesNotFit) {
  EXPECT_THROW(MetricMatrix::parse("name,GH100:9.0\n"), std::logic_error);
  EXPECT_THROW(MetricMatrix::parse("metric,GH100\n"), std::logic_error);
  EXPECT_THROW(MetricMatrix::parse("metric,GH100:9.0=GH200\n"), std::logic_error);
  EXPECT_THROW(MetricMatrix::parse("metric,GH100:9.0\na.sum,11\n"), std::logic_error);
  EXPECT_THROW(MetricMatrix::parse("metric,GH100:9.0\na.sum,1\na.sum,1\n"), std::logic_error);
}

TEST(Sets, EveryMetricExistsOnEveryChip) {
  for (const auto& target : every_chip())
    for (const auto question : kQuestions) {
      const auto selection = chosen(target, question);
      std::set<std::string> seen;
      for (const auto& metric : selection.metrics) {
        EXPECT_TRUE(MetricMatrix::instance().passes(metric, target.chip)) << metric << " on " << target.chip;
        EXPECT_TRUE(seen.insert(metric).second) << metric << " twice on " << target.chip;
      }
      for (const char* quantity : {"time", "fp32.vector", "fp64.vector", "fp16.vector", "tensor.idle"})
        EXPECT_NE(of(selection, quantity), nullptr) << quantity << " on " << target.chip;
    }
}

TEST(Sets, EveryPassCountIsKnown) {
  for (const auto& target : every_chip())
    for (const auto question : kQuestions) {
      const auto all = passes_of(target, question, leaves_of(target, "all"));
      const auto none = passes_of(target, question, {});
      ASSERT_TRUE(all && none) << target.chip;
      EXPECT_TRUE(all->exact && none->exact);
      EXPECT_LE(none->count, all->count);
      int most = 0;
      for (const auto& metric : chosen(target, question).metrics)
        most = std::max(most, *MetricMatrix::instance().passes(metric, target.chip));
      EXPECT_GE(all->count, most) << "together cannot take fewer than one alone: " << target.chip;
    }
}

TEST(Sets, TrafficTimeAndFlopsFitThreePasses) {
  for (const auto& target : every_chip()) EXPECT_LE(passes_of(target, Question::table, {})->count, 3) << target.chip;
}

// Stale counts would lie: the file says which sets it counted.
TEST(Sets, CountsBelongToTheSets) {
  EXPECT_GT(pass_rows().size(), 80U);
  for (const auto& row : pass_rows()) {
    if (row.question == "ncu-roofline") continue;
    EXPECT_EQ(row.fingerprint, fingerprint(row.question, row.formats))
        << row.question << " with " << row.formats
        << ": recipes or rules have changed; run make_collect_data passes data/metric_matrix.csv (tests/collect)";
  }
}

TEST(Sets, DeviceMemoryByChip) {
  EXPECT_EQ(of(chosen(testing::gh100(), Question::table), "dram.read")->metrics.front(), "dram__bytes_read.sum");
  EXPECT_EQ(of(chosen(*find_target("GB203"), Question::table), "dram.read")->metrics.front(),
            "dram__bytes_op_read.sum");
  const auto orin = chosen(*find_target("GA10B"), Question::table);
  EXPECT_EQ(of(orin, "dram.read"), nullptr);
  EXPECT_THAT(orin.missing, Contains(HasSubstr("DRAM")));
}

TEST(Sets, PackedFloatingPointOnDataCentreBlackwell) {
  const std::string packed = "smsp__sass_thread_inst_executed_op_ffma2_pred_on.sum";
  EXPECT_THAT(chosen(*find_target("GB100"), Question::table).metrics, Contains(packed));
  EXPECT_THAT(chosen(testing::gh100(), Question::table).metrics, Not(Contains(packed)));
}

TEST(Sets, DiagnoseReadsWhatTheRulesDeclare) {
  const auto target = testing::gh100();
  const auto metrics = chosen(target, Question::diagnose).metrics;
  for (const auto& rule : diagnosis_rules())
    for (const auto metric : rule.metrics) {
      const std::string name(metric);
      if (!MetricMatrix::instance().exists(name, target.chip)) continue;
      if (name.ends_with(".per_cycle_elapsed")) continue;  // the sum is there
      EXPECT_THAT(metrics, Contains(name)) << rule.id;
    }
}

TEST(Sets, AllIsEverything) {
  const auto target = testing::gh100();
  const auto all = chosen(target, Question::all).metrics;
  for (const auto question : kQuestions) EXPECT_THAT(all, IsSupersetOf(chosen(target, question).metrics));
}

TEST(Sets, TheCheapestRecipeWins) {
  const auto matrix = MetricMatrix::parse("metric,GH100:9.0\ndear.sum,5\ncheap.sum,1\ngone.sum,-\nbound.sum,1\n");
  Declarations declared;
  declared.recipes = {{"time", "bound", {{"bound.sum"}}, {}, Evidence::counter, Bound::upper},
                      {"time", "gone", {{"gone.sum"}}, {}, Evidence::counter, Bound::exact},
                      {"time", "dear", {{"dear.sum"}}, {}, Evidence::counter, Bound::exact},
                      {"time", "cheap", {{"gone.sum", "cheap.sum"}}, {}, Evidence::counter, Bound::exact}};
  const auto selection = select(declared, {"GH100", "9.0", ""}, Question::table, {}, matrix);
  ASSERT_NE(of(selection, "time"), nullptr);
  EXPECT_EQ(of(selection, "time")->recipe, "cheap");
  EXPECT_THAT(selection.metrics, ::testing::ElementsAre("cheap.sum"));
}

// A recipe or rule that is new is collected without a word more.
TEST(Sets, ANewRecipeAndANewRuleAreTaken) {
  const auto matrix = MetricMatrix::parse("metric,GH100:9.0\nnew__seconds.sum,1\nnew__stall.ratio,1\n");
  Declarations declared;
  declared.recipes = {{"time", "new", {{"new__seconds.sum"}}, {}, Evidence::counter, Bound::exact}};
  declared.rule_metrics = {"new__stall.ratio"};
  const Target target{"GH100", "9.0", ""};
  EXPECT_THAT(select(declared, target, Question::table, {}, matrix).metrics,
              ::testing::ElementsAre("new__seconds.sum"));
  EXPECT_THAT(select(declared, target, Question::diagnose, {}, matrix).metrics,
              ::testing::ElementsAre("new__seconds.sum", "new__stall.ratio"));
}

TEST(Sets, AnUnknownChipGetsWhatMostChipsHave) {
  const Target unknown;
  const auto selection = chosen(unknown, Question::table);
  EXPECT_THAT(selection.metrics, Contains("gpu__time_duration.sum"));
  for (const auto& metric : selection.metrics) {
    int with = 0;
    for (const auto& target : every_chip()) with += MetricMatrix::instance().exists(metric, target.chip) ? 1 : 0;
    EXPECT_GT(2 * with, static_cast<int>(every_chip().size())) << metric;
  }
  EXPECT_FALSE(passes_of(unknown, Question::table, {}));
}

TEST(Passes, MixesAreEstimated) {
  const auto target = testing::gh100();
  std::vector<std::string> leaves = leaves_of(target, "bf16");
  const auto bf16 = passes_of(target, Question::table, leaves);
  ASSERT_TRUE(bf16);
  EXPECT_TRUE(bf16->exact);
  for (const auto& leaf : leaves_of(target, "int8")) leaves.push_back(leaf);
  for (const auto& leaf : leaves_of(target, "fp64")) leaves.push_back(leaf);
  const auto mixed = passes_of(target, Question::table, leaves);
  ASSERT_TRUE(mixed);
  EXPECT_FALSE(mixed->exact);
  EXPECT_GE(mixed->count, bf16->count);
  EXPECT_LE(mixed->count, passes_of(target, Question::table, leaves_of(target, "all"))->count);
}

TEST(Target, ByChipCapabilityAndDeviceName) {
  EXPECT_EQ(find_target("gh100")->compute_capability, "9.0");
  EXPECT_EQ(find_target("8.6")->chip, "GA102");
  EXPECT_EQ(find_target("7.5", "NVIDIA GeForce GTX 1660 Ti")->chip, "TU116");
  EXPECT_EQ(find_target("7.5", "Tesla T4")->chip, "TU102");
  EXPECT_FALSE(find_target("6.1"));
  EXPECT_FALSE(find_target(""));
  EXPECT_FALSE(find_target("gfx942"));
}

}  // namespace
}  // namespace roofline::collect
