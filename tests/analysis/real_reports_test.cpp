// Whole reports of real files: what a user would read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "roofline/analysis.h"
#include "roofline/error.h"
#include "roofline/profile.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

using ::testing::HasSubstr;

Report report_of(const std::vector<std::string>& files, const AnalysisOptions& options = {}) {
  std::vector<std::string> paths;
  for (const auto& f : files) paths.push_back(testing::shared_path(f).string());
  return analyze(open_profiles(paths), options);
}

TEST(RealReports, TheTiledGemmIsLimitedByL1) {
  const std::string file = "data/ncu-rep/ScalingIntelligence__KernelBench__matmul_kernel.ncu-rep";
  ROOFLINE_NEEDS_SHARED(file);
  const auto report = report_of({file});
  const auto& row = report.rows.at(0);
  EXPECT_NEAR(row.group.work.flops().value(), 2.0 * 4096 * 4096 * 4096, 1);
  EXPECT_EQ(row.group.work.flops().bound(), Bound::exact);
  EXPECT_EQ(row.group.placement.position, Position::memory_suboptimal);
  EXPECT_EQ(row.group.placement.limiter, "l1");
  EXPECT_TRUE(row.group.placement.look);
}

TEST(RealReports, InferenceKernelsAreNeverPlacedByTheirFp32Count) {
  const std::string k = "data/ncu-csv/CodeGandee__llm-perf-opt__dsocr_k";
  ROOFLINE_NEEDS_SHARED(k + "0001_ncu.details.csv");
  for (const std::string kernel : {"0005", "0009"})
    for (const std::string page : {"details", "section_SpeedOfLight_RooflineChart"}) {
      const auto report = report_of({k + kernel + "_ncu." + page + ".csv"});
      const auto& row = report.rows.at(0);
      const auto& p = row.group.placement;
      EXPECT_THAT(row.group.work.coverage.reason, HasSubstr("tensor operations not counted")) << kernel << page;
      // The chart's page alone has rates and no time: then there is no count at all.
      if (row.group.work.flops()) {
        EXPECT_EQ(row.group.work.flops().bound(), Bound::lower) << kernel << page;
      }
      EXPECT_NE(p.position, Position::compute_optimal);
      EXPECT_NE(p.position, Position::compute_suboptimal);
      if (p.placed()) {
        EXPECT_EQ(p.bound, Bound::lower) << kernel << page;
      }
    }
  const auto copy = report_of({k + "0004_ncu.details.csv"});
  EXPECT_TRUE(copy.rows.at(0).group.placement.cache_resident);
  EXPECT_FALSE(copy.rows.at(0).group.placement.fraction);
}

TEST(RealReports, RunsOfOneProgramMergeAndTakeTheTimeOfTheUndisturbedOne) {
  const std::string folder = "data/ncu-csv/wdmapp__gene-paper-artifacts-pop2020__";
  ROOFLINE_NEEDS_SHARED(folder + "dram_ncuroof-time-0.csv");
  const auto profiles =
      open_profiles(std::vector<std::string>{testing::shared_path(folder + "dram_ncuroof-time-0.csv").string(),
                                             testing::shared_path(folder + "flops_ncuroof-time-0.csv").string()});
  const std::vector<Profile> merged = {merge_profiles(profiles, MergeMode::launch_by_launch)};
  const auto report = analyze(merged, {});
  for (const auto& row : report.rows) {
    ASSERT_TRUE(row.group.work.time);
    EXPECT_LT(row.group.time_s.max, 2e-3) << row.name;  // 0.92 and 1.06 ms, not 137 ms
    EXPECT_TRUE(row.group.work.flops()) << row.name;
    EXPECT_TRUE(row.group.work.level(MemoryLevel::dram).total) << row.name;
  }
}

// Every timed launch of every handed report that carries both percentages gets a position or a reason.
TEST(RealReports, PercentagesDecideMostRows) {
  ROOFLINE_NEEDS_SHARED("data/ncu-rep");
  std::map<std::string, std::size_t> positions;
  AnalysisOptions options;
  options.per_launch = true;
  for (const auto& entry : std::filesystem::directory_iterator(testing::shared_path("data/ncu-rep"))) {
    const std::vector<Profile> profiles = {open_profile(entry.path().string())};
    for (const auto& row : analyze(profiles, options).rows) {
      ++positions[std::string(to_string(row.group.placement.position))];
      if (row.group.placement.position == Position::unplaced) {
        EXPECT_FALSE(row.group.placement.reason.empty()) << entry.path() << " " << row.name;
      }
    }
  }
  std::size_t total = 0;
  for (const auto& [name, n] : positions) {
    std::printf("  %4zu %s\n", n, name.c_str());
    total += n;
  }
  EXPECT_LT(positions["unplaced"] * 2, total);
}

}  // namespace
}  // namespace roofline
