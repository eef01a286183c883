#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/error.h"
#include "roofline/step.h"
#include "timeline/timeline_builder.h"

namespace roofline {
namespace {

using testing::TimelineBuilder;

// `count` steps of `layers` layers each, launched well ahead of their work.
TimelineBuilder model_run(int count, int layers, bool ranges, std::int64_t ahead = 5'000) {
  TimelineBuilder b;
  std::int64_t t = 100'000;
  for (int s = 0; s < count; ++s) {
    const auto begin = t;
    const auto put = [&](const char* name, std::int64_t length) {
      b.kernel(name, t, t + length, t - ahead);
      t += length + 100;
    };
    put("embedding", 1'000);
    for (int l = 0; l < layers; ++l) {
      put("norm", 500);
      put("gemm", 3'000);
      put("attention", 2'000);
    }
    put("sampling", 1'000);
    if (ranges) b.range("ProfilerStep#" + std::to_string(s), begin - ahead - 10, t - ahead - 20);
    t += 1'000;
  }
  return b;
}

TEST(FindSteps, ByRangesOfTheFramework) {
  auto b = model_run(5, 4, true);
  const auto step = analyze_steps(b.build()).front();
  EXPECT_EQ(step.steps_by, StepsBy::ranges);
  EXPECT_EQ(step.steps_of, "ProfilerStep#");
  ASSERT_EQ(step.steps.size(), 5U);
  for (const auto& s : step.steps) EXPECT_EQ(s.kernels, 14U);
  EXPECT_TRUE(step.steps.back().last);
  EXPECT_EQ(step.windows, 4U);
  // 1000 + 4 * 5500 + 1000 of work, 14 gaps of 100 and one of 1000.
  EXPECT_NEAR(step.step_s->median, 26'400e-9, 1e-12);
  EXPECT_EQ(step.counted[StepPart::compute], 4 * 24'000);
}

// The work of a step may run long after its range has closed.
TEST(FindSteps, WorkBelongsToTheRangeThatLaunchedIt) {
  auto b = model_run(5, 4, true, 60'000);
  const auto step = analyze_steps(b.build()).front();
  ASSERT_EQ(step.steps.size(), 5U);
  for (const auto& s : step.steps) EXPECT_EQ(s.kernels, 14U);
  EXPECT_TRUE(
      std::any_of(step.artefacts.begin(), step.artefacts.end(), [](const auto& a) { return a.code == "deferred"; }));
}

TEST(FindSteps, ByRepetitionOfTheStepNotOfItsLayers) {
  auto b = model_run(6, 8, false);
  const auto step = analyze_steps(b.build()).front();
  EXPECT_EQ(step.steps_by, StepsBy::repetition);
  ASSERT_EQ(step.steps.size(), 6U);
  EXPECT_EQ(step.steps.front().kernels, 26U);
  // Steps are cut where the GPU pauses: at the embedding, not at the sampling before it.
  EXPECT_EQ(step.steps.front().window.start_ns, 100'000);
}

TEST(FindSteps, SlowFirstStepsAreWarmUp) {
  TimelineBuilder b;
  std::int64_t t = 0;
  for (int s = 0; s < 6; ++s) {
    const std::int64_t length = s == 0 ? 9'000 : 1'000;
    b.kernel("a", t, t + length).kernel("b", t + length, t + length + 500);
    t += length + 600;
  }
  const auto step = analyze_steps(b.build()).front();
  ASSERT_EQ(step.steps.size(), 6U);
  EXPECT_TRUE(step.steps[0].warm_up);
  EXPECT_FALSE(step.steps[1].warm_up);
  EXPECT_EQ(step.windows, 4U);
  EXPECT_NEAR(step.step_s->max, 1'600e-9, 1e-12);
}

TEST(FindSteps, OperatorsAndLayersAreNoSteps) {
  TimelineBuilder b;
  std::int64_t t = 10'000;
  for (int s = 0; s < 4; ++s)
    for (int l = 0; l < 3; ++l) {
      b.range("layer." + std::to_string(l), t - 2'000, t - 1'000);
      b.range("aten::mm, op_id = " + std::to_string(s * 3 + l), t - 1'900, t - 1'100);
      b.kernel(l == 0 ? "first" : "other", t, t + 1'000, t - 1'500);
      t += 2'500;
    }
  const auto step = analyze_steps(b.build()).front();
  EXPECT_EQ(step.steps_by, StepsBy::repetition);
  EXPECT_EQ(step.steps.size(), 4U);
}

TEST(FindSteps, RangesThatTheUserNames) {
  auto b = model_run(3, 2, false);
  b.range("inference", 94'000, 200'000);
  StepAnalysisOptions options;
  options.range = "^infer";
  const auto step = analyze_steps(b.build(), options).front();
  ASSERT_EQ(step.steps.size(), 1U);
  EXPECT_EQ(step.windows, 1U);
  options.range = "nothing like it";
  EXPECT_THROW(analyze_steps(b.build(), options), UsageError);
  options.range = "(";
  EXPECT_THROW(analyze_steps(b.build(), options), UsageError);
}

TEST(FindSteps, RangesOnTheGpuServeWithoutHostCalls) {
  TimelineBuilder b;
  for (int s = 0; s < 4; ++s) {
    b.kernel("a", s * 10'000, s * 10'000 + 4'000).kernel("b", s * 10'000 + 5'000, s * 10'000 + 8'000);
    b.range("ProfilerStep#" + std::to_string(s), s * 10'000, s * 10'000 + 8'000, true);
  }
  const auto step = analyze_steps(b.build()).front();
  EXPECT_EQ(step.steps_by, StepsBy::ranges);
  EXPECT_EQ(step.steps.size(), 4U);
}

TEST(FindSteps, NothingRepeatsNothingIsFound) {
  TimelineBuilder b;
  b.kernel("a", 0, 10).kernel("b", 20, 30).kernel("c", 40, 50);
  const auto step = analyze_steps(b.build()).front();
  EXPECT_EQ(step.steps_by, StepsBy::none);
  EXPECT_EQ(step.counted.wall_ns, step.whole.wall_ns);
  TimelineBuilder same;  // one kernel over and over
  for (int i = 0; i < 50; ++i) same.kernel("k", i * 20, i * 20 + 10);
  EXPECT_EQ(analyze_steps(same.build()).front().steps_by, StepsBy::none);
}

TEST(KernelShares, SumsAndSharesOfTheWindowsThatCount) {
  auto b = model_run(5, 4, true);
  const auto step = analyze_steps(b.build()).front();
  ASSERT_EQ(step.kernels.size(), 5U);
  const auto& gemm = step.kernels.front();
  EXPECT_EQ(gemm.launches, 16U);  // of the four steps that count
  EXPECT_EQ(gemm.total_ns, 48'000);
  EXPECT_EQ(gemm.median_ns, 3'000);
  EXPECT_NEAR(gemm.share_of_wall, 48'000.0 / (4 * 26'400), 1e-12);
  EXPECT_TRUE(gemm.deserves_roofline);
  // The first kernel of the step after the last that counts is none of theirs.
  for (const auto& k : step.kernels)
    if (b.raw().names[k.full_name] == "embedding") {
      EXPECT_EQ(k.launches, 4U);
    }
  double shares = 0;
  for (const auto& k : step.kernels) shares += k.share_of_kernels;
  EXPECT_NEAR(shares, 1, 1e-12);
}

}  // namespace
}  // namespace roofline
