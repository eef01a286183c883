#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/timeline_join.h"
#include "timeline/timeline_builder.h"

namespace roofline {
namespace {

using testing::TimelineBuilder;

KernelRow row_of(const std::string& name, Dim3 grid, double time_s, double roof_s, double launches, TimeBasis basis) {
  KernelRow row;
  row.full_name = name;
  row.name = name;
  row.grid = grid;
  row.block = {1, 1, 1};
  row.time_basis = basis;
  row.group.work.time = Quantity::of(time_s * launches, Evidence::counter);
  row.group.work.launches = launches;
  row.group.time_s = {time_s, time_s, time_s};
  row.group.placement.time_s = time_s * launches;
  row.group.placement.roof_time_s = roof_s * launches;
  row.group.placement.fraction = roof_s / time_s;
  return row;
}

TimelineBuilder step_of_two() {
  TimelineBuilder b;
  b.kernel("void gemm<float>(float *, int)", 0, 10'000);
  b.last().grid = {8, 1, 1};
  b.kernel("void gemm<float>(float *, int)", 10'000, 14'000);
  b.last().grid = {2, 1, 1};
  b.kernel("norm", 14'000, 18'000).kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 18'000, 20'000);
  return b;
}

DeviceStep analyze(const Timeline& t) {
  StepAnalysisOptions options;
  options.by_shape = true;
  return analyze_steps(t, options).front();
}

TEST(TimelineJoin, ByNameGridAndBlock) {
  auto b = step_of_two();
  const auto t = b.build();
  Report report;
  report.rows = {row_of("gemm<float>(float*, int)", {2, 1, 1}, 6e-6, 3e-6, 1, TimeBasis::profiled_locked),
                 row_of("gemm<float>(float*, int)", {8, 1, 1}, 10.5e-6, 5e-6, 2, TimeBasis::profiled_locked),
                 row_of("other", {1, 1, 1}, 1e-6, 1e-6, 1, TimeBasis::profiled)};
  const auto step = analyze(t);
  const auto join = join_report(t, step, report);
  ASSERT_EQ(join.kernels.size(), 2U);
  const auto& large = join.kernels[0];
  EXPECT_EQ(large.row, 1U);
  EXPECT_NEAR(large.share_of_wall, 0.5, 1e-12);
  EXPECT_NEAR(large.step_time_s, 10e-6, 1e-15);
  EXPECT_TRUE(large.difference.empty());  // 5 %
  EXPECT_NEAR(*large.step_fraction, 0.5, 1e-12);
  const auto& small = join.kernels[1];
  EXPECT_EQ(small.row, 0U);
  EXPECT_THAT(small.difference, ::testing::HasSubstr("locked the clocks"));
  EXPECT_NEAR(*small.fraction, 0.5, 1e-12);        // as profiled
  EXPECT_NEAR(*small.step_fraction, 0.75, 1e-12);  // in the step
  ASSERT_EQ(join.unmatched.size(), 1U);            // communication is none of them
  EXPECT_EQ(t.names[step.kernels[join.unmatched[0]].full_name], "norm");
  EXPECT_EQ(join.unused, (std::vector<std::size_t>{2}));
  EXPECT_NEAR(join.matched_share, 14.0 / 18, 1e-12);
  EXPECT_NEAR(join.wall_s, 20e-6, 1e-15);
  EXPECT_NEAR(*join.step_fraction, 8.0 / 20, 1e-12);
  add_wall_time(report, join);
  EXPECT_EQ(report.wall_s, join.wall_s);
  EXPECT_EQ(report.step_fraction, join.step_fraction);
}

TEST(TimelineJoin, AnotherShapeIsAnotherKernel) {
  auto b = step_of_two();
  const auto t = b.build();
  Report report;
  report.rows = {row_of("gemm<float>(float*, int)", {3, 1, 1}, 6e-6, 3e-6, 1, TimeBasis::profiled)};
  const auto join = join_report(t, analyze(t), report);
  EXPECT_TRUE(join.kernels.empty());
  EXPECT_FALSE(join.step_fraction);
  EXPECT_THAT(to_markdown(join_document(t, analyze(t), report, join)),
              ::testing::HasSubstr("No kernel of the step is in the report"));
}

TEST(TimelineJoin, WithoutShapesByNameWhereThatIsClear) {
  TimelineBuilder b;
  b.kernel("norm", 0, 4'000).kernel("gemm", 4'000, 8'000);
  for (auto& a : b.raw().activities) a.grid = a.block = {};
  const auto t = b.build();
  Report report;
  report.rows = {row_of("norm", {1, 1, 1}, 4e-6, 2e-6, 1, TimeBasis::profiled),
                 row_of("gemm", {1, 1, 1}, 4e-6, 2e-6, 1, TimeBasis::profiled),
                 row_of("gemm", {2, 1, 1}, 4e-6, 2e-6, 1, TimeBasis::profiled)};
  const auto join = join_report(t, analyze(t), report);
  ASSERT_EQ(join.kernels.size(), 1U);
  EXPECT_EQ(join.kernels[0].by, "name");
}

TEST(TimelineJoin, SlowerInTheStepHasItsReasonToo) {
  TimelineBuilder b;
  b.kernel("norm", 0, 8'000).kernel("gemm", 4'000, 12'000, -1, 9);
  const auto t = b.build();
  Report report;
  report.rows = {row_of("norm", {1, 1, 1}, 4e-6, 2e-6, 1, TimeBasis::profiled)};
  const auto join = join_report(t, analyze(t), report);
  EXPECT_THAT(join.kernels.at(0).difference, ::testing::HasSubstr("share the GPU"));
}

}  // namespace
}  // namespace roofline
