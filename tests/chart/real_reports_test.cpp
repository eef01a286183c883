// Pictures of real reports.
#include <gtest/gtest.h>

#include "roofline/analysis.h"
#include "roofline/chart.h"
#include "roofline/profile.h"
#include "support/golden.h"
#include "support/shared_data.h"

namespace roofline::testing {
namespace {

Report report_of(const std::string& file) {
  const std::vector<Profile> profiles = {open_profile(shared_path("data/" + file).string())};
  return analyze(profiles, {});
}

// A matrix product of 137 GFLOP on an H100 PCIe, with all memory levels.
TEST(RealPictures, AGemmAtAllLevels) {
  const std::string file = "ncu-rep/ScalingIntelligence__KernelBench__matmul_kernel.ncu-rep";
  ROOFLINE_NEEDS_SHARED("data/" + file);
  const auto report = report_of(file);
  ASSERT_EQ(report.rows.size(), 1u);
  const auto chart = hierarchical_chart(report, 0);
  if (const char* folder = std::getenv("ROOFLINE_CHART_PICTURES"))
    std::ofstream(std::string(folder) + "/real-gemm.png", std::ios::binary) << to_png(chart, 1.6);
  expect_golden_picture("chart/golden/real-gemm.svg", to_svg(chart));
  expect_golden_picture("chart/golden/real-gemm-100.txt", to_terminal(chart, {100, false, true}));
}

}  // namespace
}  // namespace roofline::testing
