#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chart/fixtures.h"
#include "roofline/error.h"
#include "support/report_builder.h"

namespace roofline::testing {
namespace {

const ChartPoint& point(const Chart& c, std::string_view label) {
  for (const auto& p : c.points)
    if (p.label == label) return p;
  throw std::out_of_range(std::string(label));
}

std::vector<std::string> roofs(const Chart& c, ChartRoof::Role role) {
  std::vector<std::string> out;
  for (const auto& r : c.roofs)
    if (r.role == role) out.push_back(r.label);
  return out;
}

TEST(ReportChart, PlacesKernelsByIntensityAndRate) {
  const auto c = report_chart(llama_step());
  ASSERT_EQ(c.points.size(), 13U);
  const auto& a = point(c, "attention");
  EXPECT_EQ(a.number, 1U);
  EXPECT_NEAR(*a.intensity, 34.36e9 / 8.607189e9, 1e-3);
  EXPECT_NEAR(*a.flops_per_s, 34.36e9 / 3224.3e-6, 1e9);
  EXPECT_NEAR(*a.roof_flops_per_s, *a.intensity * 3.352e12, 1e10);
  EXPECT_TRUE(a.look);
  EXPECT_GT(*a.gain_s, 600e-6);
}

TEST(ReportChart, KernelsWithoutFlopsStandOnTheStrip) {
  const auto chart = report_chart(llama_step());
  const auto& copy = point(chart, "kv_cache_write");
  EXPECT_FALSE(copy.intensity || copy.flops_per_s);
  EXPECT_FALSE(copy.flops_unknown);
  EXPECT_NEAR(*copy.dram_fraction, 8.396e6 / 3.352e12 / 73.76e-6, 1e-6);
}

TEST(ReportChart, RoofsAreThoseInUse) {
  using ::testing::ElementsAre;
  const auto c = report_chart(llama_step());
  EXPECT_THAT(roofs(c, ChartRoof::Role::in_use),
              ElementsAre("DRAM 3.35 TB/s", "fp32.vector 66.9 TF/s", "bf16.tensor 989 TF/s"));
  EXPECT_TRUE(roofs(c, ChartRoof::Role::datasheet).empty());
  ASSERT_EQ(c.ridges.size(), 2U);
  EXPECT_NEAR(c.ridges[1].intensity, 989.4 / 3.352, 1e-9);

  const auto profiled = report_chart(tiled_gemm());
  EXPECT_THAT(
      roofs(profiled, ChartRoof::Role::in_use),
      ElementsAre("DRAM 3.20 TB/s", "L2 (lts_t) 7.20 TB/s", "L1 (lsu_writeback) 26.9 TB/s", "fp32.vector 53.7 TF/s"));
  EXPECT_THAT(roofs(profiled, ChartRoof::Role::datasheet),
              ElementsAre("DRAM 3.35 TB/s datasheet", "fp32.vector 66.9 TF/s datasheet"));
}

// A bandwidth of another definition is no roof of these bytes.
TEST(ReportChart, CacheRoofsNeedTheSameDefinition) {
  auto report = tiled_gemm();
  report.rows.front().group.work.level(MemoryLevel::l2).definition = "lts2xbar";
  for (const auto& r : report_chart(report).roofs)
    EXPECT_FALSE(r.kind == ChartRoof::Kind::memory && r.level == MemoryLevel::l2);
}

// Kernels of one machine may be judged by different ceilings; its datasheet is one roof all the same.
TEST(ReportChart, TheDatasheetStandsThereOnce) {
  auto report = tiled_gemm();
  report.rows.push_back(report.rows.front());
  report.rows.back().group.placement.ceiling = CeilingKind::datasheet;
  report.rows.front().time_share = report.rows.back().time_share = 0.5;
  const auto c = report_chart(report);
  EXPECT_FALSE(roofs(c, ChartRoof::Role::datasheet).empty());
  EXPECT_TRUE(roofs(c, ChartRoof::Role::other).empty());
}

TEST(ReportChart, UnknownFlopsAreNeverARate) {
  const auto c = report_chart(decode_step());
  const auto& percent = point(c, "vectorized_elementwise_kernel");
  EXPECT_FALSE(percent.intensity.has_value());
  EXPECT_TRUE(percent.flops_unknown);
  EXPECT_NEAR(*percent.dram_fraction, 0.41, 1e-9);
  // Its DRAM traffic says nothing: it stands where its L2 traffic puts it.
  const auto& resident = point(c, "softmax_warp_forward (L2)");
  EXPECT_NEAR(*resident.intensity, 0.1, 1e-9);
  EXPECT_FALSE(resident.roof_flops_per_s.has_value());
}

TEST(ReportChart, CountsWhatItCannotShow) {
  const auto c = report_chart(decode_step());
  EXPECT_THAT(c.notes, ::testing::Contains(::testing::HasSubstr("Not shown: 1 kernel")));
}

TEST(ReportChart, LowerBoundsPointUp) {
  const auto c = report_chart(crowded_step(300));
  std::size_t up = 0;
  for (const auto& p : c.points) {
    if (p.toward != Toward::up) continue;
    ++up;
    EXPECT_THAT(p.label, ::testing::HasSubstr("cutlass_gemm_unknown"));
  }
  EXPECT_GT(up, 10U);
}

TEST(ReportChart, EqualNamesGetDifferentLabels) {
  const auto sweep = batch_sweep();
  std::set<std::string> labels;
  for (const auto& p : report_chart(sweep).points) labels.insert(p.label);
  EXPECT_EQ(labels.size(), sweep.rows.size());
}

TEST(ReportChart, OddNumbersDoNoHarm) {
  auto report = llama_step();
  auto& work = report.rows[3].group.work;
  work.time = Quantity::of(0, Evidence::counter);
  auto& other = report.rows[6].group.work.level(MemoryLevel::dram);
  other.total = Quantity::of(0, Evidence::counter);
  report.rows[8].machine = 99;
  report.rows[9].machine.reset();
  report.rows[10].time_share = 7;
  EXPECT_NO_THROW(to_svg(report_chart(report)));
  report.machines.clear();
  const auto c = report_chart(report);
  EXPECT_TRUE(c.roofs.empty());
  EXPECT_NO_THROW(to_terminal(c, {80, false, true}));
}

TEST(HierarchicalChart, OnePointPerLevelAllAtOneRate) {
  const auto c = hierarchical_chart(tiled_gemm(), 0);
  ASSERT_EQ(c.points.size(), 3U);
  EXPECT_EQ(c.links.size(), 2U);
  EXPECT_NEAR(*c.points[0].intensity, 137.4 / 0.97, 1e-6);
  EXPECT_NEAR(*c.points[1].intensity, 137.4 / 27.5, 1e-6);
  EXPECT_NEAR(*c.points[2].intensity, 137.4 / 104, 1e-6);
  for (const auto& p : c.points) EXPECT_DOUBLE_EQ(*p.flops_per_s, *c.points[0].flops_per_s);
  // Bytes that are too many make an intensity that is too small.
  EXPECT_EQ(c.points[1].toward, Toward::right);
  EXPECT_EQ(c.points[2].toward, Toward::nowhere);
  EXPECT_THAT(c.points[2].label, ::testing::HasSubstr("the limiter"));
  EXPECT_TRUE(c.points[2].look);
  EXPECT_THAT(c.notes, ::testing::Contains("No intensity at: shared."));
}

TEST(HierarchicalChart, RefusesARowThatIsNotThere) { EXPECT_THROW(hierarchical_chart(tiled_gemm(), 1), UsageError); }

TEST(BestChart, IsHierarchicalForOneCountedKernel) {
  EXPECT_EQ(best_chart(tiled_gemm()).links.size(), 2U);
  EXPECT_TRUE(best_chart(llama_step()).links.empty());
}

TEST(TrajectoryChart, JoinsTheStepsInOrder) {
  const auto sweep = batch_sweep();
  const auto c = trajectory_chart("up_proj", sweep_steps(sweep));
  ASSERT_EQ(c.points.size(), 5U);
  EXPECT_EQ(c.points[1].label, "batch 8");
  for (std::size_t i = 0; i + 1 < c.points.size(); ++i) {
    EXPECT_EQ(c.links[i].from, i);
    EXPECT_LT(*c.points[i].intensity, *c.points[i + 1].intensity);
  }
}

TEST(ComparisonChart, ArrowsGoFromBeforeToAfter) {
  const auto c = comparison_chart(before_change(), after_change(), matches());
  EXPECT_EQ(c.points.size(), 9U);
  ASSERT_EQ(c.links.size(), 4U);
  for (const auto& l : c.links) {
    EXPECT_TRUE(c.points[l.from].past);
    EXPECT_TRUE(c.points[l.from].label.empty());
    EXPECT_FALSE(c.points[l.to].past);
  }
  EXPECT_NO_THROW(point(c, "silu (gone)"));
  EXPECT_NO_THROW(point(c, "qkv_proj −49%"));
  EXPECT_EQ(roofs(c, ChartRoof::Role::in_use).size(), 3U);
}

}  // namespace
}  // namespace roofline::testing
