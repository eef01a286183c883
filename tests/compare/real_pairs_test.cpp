// Versions of one kernel in real profiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/analysis.h"
#include "roofline/compare.h"
#include "roofline/profile.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::shared_path;

GateSide read(const std::string& relative, const std::string& kernels = "") {
  const std::vector<Profile> profiles = {open_profile(shared_path(relative).string())};
  auto record = record_of(analyze(profiles, {}));
  if (!kernels.empty()) keep_kernels(record, kernels);
  return {{std::move(record)}};
}

void expect_exact_sum(const Comparison& c) {
  double sum = 0;
  for (const auto& row : c.kernels) sum += row.effect.total_s;
  EXPECT_EQ(sum, c.total.total_s);
  EXPECT_NEAR(sum, c.side_after.time_s.value() - c.side_before.time_s.value(), 1e-12);
}

TEST(RealPairs, LibraryProductAndHandWrittenOne) {
  ROOFLINE_NEEDS_SHARED("data/ncu-rep/AveryClapp__ESMM-Research__profile~263b23d.ncu-rep");
  const std::string file = "data/ncu-rep/AveryClapp__ESMM-Research__profile~263b23d.ncu-rep";
  const auto c = compare(read(file, "cutlass_80_simt"), read(file, "^(void )?warptiling"));
  ASSERT_EQ(c.kernels.size(), 1U);
  EXPECT_EQ(c.kernels[0].by, MatchedBy::alone);
  EXPECT_NEAR(c.kernels[0].time_s.ratio.value(), 0.596, 0.002);
  EXPECT_THAT(c.caveats, Contains(HasSubstr("not the same number of steps")));
  expect_exact_sum(c);
}

TEST(RealPairs, TwoSortingLibraries) {
  ROOFLINE_NEEDS_SHARED("data/ncu-rep/algoparc__GPU-MMS__singlepivot.ncu-rep");
  CompareOptions options;
  options.same = {{"DeviceMergeSortMergeKernel", "multimergeLevel"}};
  const auto c = compare(read("data/ncu-rep/algoparc__GPU-MMS__thrust-analysis.ncu-rep"),
                         read("data/ncu-rep/algoparc__GPU-MMS__singlepivot.ncu-rep"), options);
  EXPECT_TRUE(c.comparable);
  EXPECT_EQ(c.kernels[0].kind, MatchKind::split);
  EXPECT_EQ(c.kernels[0].after.size(), 4U);
  EXPECT_NEAR(c.kernels[0].effect.total_s, 16.6e-3, 0.1e-3);
  expect_exact_sum(c);
}

TEST(RealPairs, TheSameRunInTwoFormatsDidNotChange) {
  ROOFLINE_NEEDS_SHARED("data/ncu-rep-pairs/wdmapp__gene-paper-artifacts-pop2020__dram_ncuroof-time-0.ncu-rep");
  const auto c = compare(read("data/ncu-rep-pairs/wdmapp__gene-paper-artifacts-pop2020__dram_ncuroof-time-0.ncu-rep"),
                         read("data/ncu-csv/wdmapp__gene-paper-artifacts-pop2020__dram_ncuroof-time-0.csv"));
  ASSERT_EQ(c.kernels.size(), 2U);
  for (const auto& row : c.kernels) {
    EXPECT_EQ(row.kind, MatchKind::matched);
    EXPECT_NEAR(row.time_s.ratio.value(), 1, 1e-6);
  }
  // The text does not name its GPU.
  EXPECT_FALSE(c.comparable);
  expect_exact_sum(c);
}

TEST(RealPairs, OneAttentionInTwoLibraries) {
  ROOFLINE_NEEDS_SHARED("data/ncu-csv/meinie0826__Roofline-Analysis__torch_sdpa_flash__gqa_bf16_b64_ctx4k_p64.ncu.csv");
  CompareOptions options;
  options.same = {{"BatchDecodeWithPagedKVCacheKernel", "flash_fwd_kernel"}};
  const auto c = compare(
      read("data/ncu-csv/meinie0826__Roofline-Analysis__flashinfer_paged_decode__gqa_bf16_b64_ctx4k_p64.ncu.csv"),
      read("data/ncu-csv/meinie0826__Roofline-Analysis__torch_sdpa_flash__gqa_bf16_b64_ctx4k_p64.ncu.csv"), options);
  EXPECT_EQ(c.kernels[0].by, MatchedBy::request);
  EXPECT_NEAR(c.kernels[0].time_s.ratio.value(), 0.547, 0.01);
  expect_exact_sum(c);
}

}  // namespace
}  // namespace roofline
