#include "profile/text_refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "csv_fixture.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

using ::testing::HasSubstr;
using testing::kDetailsHeader;
using testing::read_ncu;
using testing::refusal;

const std::string kConnected = "==PROF== Connected to process 7 (/usr/bin/app)\n";
const std::string kGone = "==PROF== Disconnected from process 7\n";
const std::string kRawHeader = "ID,Kernel Name,gpu__time_duration.sum\n";

// Every kind of refusal of the text readers, with the line it names and a word of its advice. line 0: none.
struct RefusalCase {
  const char* kind;
  std::uint64_t line;
  const char* advice;
  std::string text;
};

std::vector<RefusalCase> cases() {
  return {
      {"no-permission", 2, "NVreg_RestrictProfilingToAdminUsers=0",
       kConnected + "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access counters\n" + kGone},
      {"application-failed", 3, "without ncu",
       kConnected + kGone + "==ERROR== The application returned an error code (1).\n"},
      {"nothing-profiled", 2, "--kernel-name", kConnected + "==WARNING== No kernels were profiled.\n" + kGone},
      {"nothing-profiled", 0, "--target-processes",
       kConnected + "==PROF== Connected to process 8 (/usr/bin/nvidia-smi)\n" + kGone},
      {"profiler-error", 2, "that error", kConnected + "==ERROR== Failed to prepare kernel for profiling\n"},
      {"text-report", 4, "--csv",
       "==PROF== Profiling \"k\" - 0: 0%....100% - 8 passes\n[7] app@127.0.0.1\n  k (1, 1, 1)x(32, 1, 1)\n"
       "    Section: GPU Speed Of Light Throughput\n    Duration  us  6.7\n"},
      {"no-rows", 2, "filters", kConnected + kDetailsHeader + kGone},
      {"rules-only", 1, "--csv",
       kDetailsHeader + "\"0\",\"1\",\"a\",\"h\",\"k\",\"1\",\"7\",\"\",\"\",\"0\",\"8.0\",\"SpeedOfLight_"
                        "RooflineChart\",\"\",\"\",\"\"\n"},
      {"no-units", 2, "derived", kRawHeader + "0,k,5\n"},
      {"no-units", 1, "Metric Unit", "Kernel Name,Metric Name,Metric Value\nk,gpu__time_duration.sum,5\n"},
      {"derived-table", 1, "own export", ",dram__bytes.sum,gpu__time_duration.sum\n0,5,6\n"},
      {"no-header", 0, "--csv", "==PROF== Profiling \"k\" - 0: 0%....100% - 8 passes\n"},
      {"truncated", 2, "--partial",
       kDetailsHeader +
           "\"0\",\"1\",\"a\",\"h\",\"k\",\"1\",\"7\",\"\",\"\",\"0\",\"8.0\",\"S\",\"dram__bytes.sum\",\"by"},
  };
}

TEST(TextRefusals, EachNamesPlaceFindingAndNextStep) {
  for (const RefusalCase& c : cases()) {
    EXPECT_TRUE(looks_like_ncu_csv(c.text)) << c.kind;
    const InputProblem problem = refusal([&] { read_ncu(c.text); });
    EXPECT_EQ(problem.kind, c.kind);
    EXPECT_EQ(problem.line.value_or(0), c.line) << c.kind;
    EXPECT_EQ(problem.path, "test.csv");
    EXPECT_FALSE(problem.found.empty());
    EXPECT_FALSE(problem.action.empty());
    EXPECT_THAT(problem.expected + problem.action + problem.found, HasSubstr(c.advice)) << c.kind;
  }
}

TEST(TextRefusals, TheProfilersWordsAreQuoted) {
  const auto failed = refusal([] { read_ncu(kConnected + "==ERROR== Driver too old\n"); });
  EXPECT_THAT(failed.found, HasSubstr("\"==ERROR== Driver too old\""));
  const auto empty = refusal([] { read_ncu(kDetailsHeader + "==ERROR== Disk is full\n"); });
  EXPECT_THAT(empty.found, HasSubstr("Disk is full"));
  const auto children = refusal([] { read_ncu(kConnected + kConnected + kGone); });
  EXPECT_THAT(children.found, HasSubstr("2 processes, the last one app"));
}

TEST(TextRefusals, LongLinesAreCutBetweenCharacters) {
  std::string line = kConnected + "==ERROR== ";
  for (int i = 0; i < 100; ++i) line += "\xC3\xA9";
  const auto problem = refusal([&] { read_ncu(line); });
  EXPECT_LT(problem.found.size(), 200U);
  EXPECT_THAT(problem.found, HasSubstr("\xC3\xA9...\""));
}

TEST(TextRefusals, OtherTextIsLeftToOthers) {
  for (const char* text : {"", "kernel,flops,bytes,time\nk,1,2,3\n", "| kernel | time |\n|---|---|\n| k | 1 us |\n",
                           "{\"a\": 1}", "plain words\nSection: of a book\n", "Name,Average\nx,1\n"}) {
    EXPECT_FALSE(looks_like_ncu_csv(text)) << text;
  }
}

TEST(TextRefusals, PercentagesAloneAreNotRefused) {
  EXPECT_EQ(read_ncu(kDetailsHeader + testing::row("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "5.25"))
                .launches.size(),
            1U);
}

TEST(TextRefusalsRealFiles, FailuresOfThePublicSet) {
  ROOFLINE_NEEDS_SHARED("data/ncu-csv");
  struct RealCase {
    const char* name;
    const char* kind;
  };
  const RealCase real[] = {
      {"amacharla15__gpu-profiling-cuda-kernels__ncu_text_permission_error.txt", "no-permission"},
      {"gpu-mode__lectures__ncu_text_ncu_logs.txt", "text-report"},
      {"leleucas__Actual-Parameter-Collection-for-Machine-Learning-Operators__roofline_result.csv", "rules-only"},
      {"meinie0826__Roofline-Analysis__flashinfer_paged_decode__gqa_bf16_b64_ctx4k_p64_qh32_kvh8_hd64.ncu.csv",
       "nothing-profiled"},
      {"meinie0826__Roofline-Analysis__flashinfer_paged_decode__gqa_fp16_b64_ctx4k_p64.ncu.csv", "application-failed"},
  };
  for (const RealCase& c : real) {
    const auto path = testing::shared_path(std::string("data/ncu-csv/") + c.name).string();
    EXPECT_EQ(refusal([&] { open_profile(path); }).kind, c.kind) << c.name;
  }
}

}  // namespace
}  // namespace roofline
