// Whole pictures, in tests/chart/golden. ROOFLINE_UPDATE_GOLDEN=1 writes them anew, and PNGs of them to the folder that
// ROOFLINE_CHART_PICTURES names: look at those.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "chart/fixtures.h"
#include "support/golden.h"
#include "support/report_builder.h"

namespace roofline::testing {
namespace {

const std::string kFolder = "chart/golden/";

void expect_golden_chart(const std::string& name, const Chart& chart) {
  if (const char* folder = std::getenv("ROOFLINE_CHART_PICTURES"))
    std::ofstream(std::string(folder) + "/" + name + ".png", std::ios::binary) << to_png(chart, 1.6);
  expect_golden_picture(kFolder + name + ".svg", to_svg(chart));
  expect_golden_picture(kFolder + name + "-100.txt", to_terminal(chart, {100, false, true}));
  expect_golden_picture(kFolder + name + "-72-ascii.txt", to_terminal(chart, {72, false, false}));
}

TEST(Golden, DecodeStep) { expect_golden_chart("decode", report_chart(llama_step())); }
TEST(Golden, MixedEvidence) { expect_golden_chart("mixed", report_chart(decode_step())); }
TEST(Golden, Hierarchical) { expect_golden_chart("hierarchical", hierarchical_chart(tiled_gemm(), 0)); }
TEST(Golden, ThreeHundredKernels) { expect_golden_chart("crowd", report_chart(crowded_step(300))); }
TEST(Golden, Trajectory) {
  const auto sweep = batch_sweep();
  expect_golden_chart("trajectory", trajectory_chart("up_proj over batch sizes", sweep_steps(sweep)));
}
TEST(Golden, Comparison) {
  expect_golden_chart("comparison", comparison_chart(before_change(), after_change(), matches()));
}
TEST(Golden, Colour) {
  expect_golden_picture(kFolder + "decode-colour.txt", to_terminal(report_chart(llama_step()), {100, true, true}));
}
TEST(Golden, Empty) { expect_golden_chart("empty", report_chart(Report{})); }

}  // namespace
}  // namespace roofline::testing
