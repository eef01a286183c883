// Real reports: which rules fire where, and where they stay silent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/analysis.h"
#include "roofline/diagnosis.h"
#include "roofline/profile.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

Report report_of(const std::string& file) {
  const std::vector<Profile> profiles = {open_profile(testing::shared_path("data/" + file).string())};
  AnalysisOptions options;
  options.per_launch = true;
  return analyze(profiles, options);
}

std::vector<std::string> findings_of(const Report& report, std::string_view kernel) {
  std::vector<std::string> ids;
  for (const auto& row : report.rows)
    if (row.name.find(kernel) != std::string::npos) {
      for (const auto& f : row.findings) ids.push_back(f.id);
      break;
    }
  return ids;
}

constexpr const char* kWeather = "ncu-rep/NCAR__GPU_workshop__MW_Baseline.ncu-rep";

TEST(RealReports, WeatherKernelsWaitForMemoryAndDoNotFuse) {
  ROOFLINE_NEEDS_SHARED(std::string("data/") + kWeather);
  const auto report = report_of(kWeather);
  const auto ids = findings_of(report, "compute_tendencies_x_309");
  for (const auto* id : {"issue-slots", "top-stall", "excessive-sectors", "low-theoretical-occupancy",
                         "unfused-multiply-add", "fewer-bytes"})
    EXPECT_THAT(ids, ::testing::Contains(id));
  for (const auto* id : {"divergence", "imbalance", "small-grid", "local-memory", "launch-bound"})
    EXPECT_THAT(ids, ::testing::Not(::testing::Contains(id)));
}

TEST(RealReports, GainsStayWithinTheirBounds) {
  ROOFLINE_NEEDS_SHARED(std::string("data/") + kWeather);
  for (const auto& row : report_of(kWeather).rows)
    for (const auto& f : row.findings) {
      if (!f.gain_s) continue;
      EXPECT_LE(*f.gain_s, row.group.work.time.value());
      if (f.gain_list == "same-work") {
        EXPECT_LE(*f.gain_s, row.group.placement.gain_s.value() * (1 + 1e-9)) << row.name << ' ' << f.id;
      }
    }
}

TEST(RealReports, DivergentCodeIsNamed) {
  ROOFLINE_NEEDS_SHARED("data/ncu-rep/bwd29__self-join-MiSTIC__profileSUSYNODE.out.ncu-rep");
  EXPECT_THAT(findings_of(report_of("ncu-rep/bwd29__self-join-MiSTIC__profileSUSYNODE.out.ncu-rep"), "nodeByPoint5"),
              ::testing::Contains("divergence"));
}

TEST(RealReports, AReferenceGemmReadsUncoalesced) {
  ROOFLINE_NEEDS_SHARED("data/ncu-rep/panjd123__cutlass__report-s8.ncu-rep");
  const auto ids = findings_of(report_of("ncu-rep/panjd123__cutlass__report-s8.ncu-rep"), "ReferenceGemm_kernel");
  EXPECT_THAT(ids, ::testing::Contains("uncoalesced-global-loads"));
  EXPECT_THAT(ids, ::testing::Contains("partial-sectors"));
}

// Nine versions of one reduction, from neighboured pairs to unrolled warps. The file names no GPU, so the roof of one
// of its generation stands in: the order does not depend on it.
TEST(RealReports, VersionsOfOneReductionRankInTheOrderOfTheirTuning) {
  const std::string file = "data/ncu-csv/Lashi0812__CudaProgramming__ncu_reduceInteger.csv";
  ROOFLINE_NEEDS_SHARED(file);
  const std::vector<Profile> profiles = {open_profile(testing::shared_path(file).string())};
  AnalysisOptions options;
  options.machine = "rtx-4080";
  const auto report = analyze(profiles, options);
  double last = 0;
  for (const auto* version : {"reduceInterleaved", "reduceUnroll2", "reduceUnroll4", "reduceUnroll8"}) {
    const auto row =
        std::find_if(report.rows.begin(), report.rows.end(), [&](const auto& r) { return r.name == version; });
    ASSERT_NE(row, report.rows.end()) << version;
    const auto& p = row->group.placement;
    ASSERT_TRUE(p.fraction) << version;
    EXPECT_EQ(p.bound, Bound::lower) << version;  // integer work: FLOPs were not collected
    EXPECT_GT(*p.fraction, 1.3 * last) << version;
    last = *p.fraction;
  }
  const auto slow = findings_of(report, "reduceNeighbored");
  const auto fast = findings_of(report, "reduceCompleteUnroll");
  EXPECT_GT(report.rows.front().group.work.time.value(), 6 * report.rows.back().group.work.time.value());
  EXPECT_GE(slow.size(), fast.size());
}

}  // namespace
}  // namespace roofline
