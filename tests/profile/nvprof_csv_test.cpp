#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "csv_fixture.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

using testing::input_of;
using testing::metric;
using testing::refusal;

constexpr auto kTime = "gpu__time_duration.sum";

Profile read(std::string_view text, const ReadOptions& options = {}) {
  return read_nvprof_csv(input_of(text), options);
}

const std::string kSummary =
    "==308050== NVPROF is profiling process 308050, command: ./app\n==308050== Profiling result:\n"
    "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
    ",%,ms,,ms,us,ms,\n"
    "\"GPU activities\",43.97,2.670947,101,0.026445,25.983000,0.027104,\"f(float*, int)\"\n"
    "\"GPU activities\",43.55,2.645669,2,1.322834,687.129000,1.958540,\"[CUDA memcpy DtoH]\"\n"
    "\"API calls\",97.1,200,3,66,1,2,\"cudaMalloc\"\n";

TEST(NvprofCsv, SummaryWithUnitsPerColumn) {
  EXPECT_TRUE(looks_like_nvprof_csv(kSummary));
  const Profile p =
      read(kSummary + "\n==308050== Unified Memory profiling result:\n\"Device\",\"Count\"\n\"V100 (0)\",12\n");
  ASSERT_EQ(p.launches.size(), 1U);
  EXPECT_EQ(p.format, "nvprof-csv");
  EXPECT_EQ(p.launches[0].name, "f(float*, int)");
  EXPECT_EQ(p.launches[0].count, 101U);
  EXPECT_EQ(metric(p, kTime), 26445.0);
  EXPECT_EQ(p.launches[0].time_basis, TimeBasis::timeline);
}

TEST(NvprofCsv, OldSummaryWithoutTypesPassesOverDriverCalls) {
  const Profile p = read(
      "==1== Profiling "
      "result:\n\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n%,us,,us,us,us,\n99,10,2,5,4,6,\"k("
      "int)\"\n"
      "\n==1== API "
      "calls:\n\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n%,ms,,ms,ms,ms,\n99,10,2,5,4,6,"
      "\"cudaFree\"\n");
  ASSERT_EQ(p.launches.size(), 1U);
  EXPECT_EQ(metric(p, kTime), 5000.0);
}

TEST(NvprofCsv, TraceOfLaunches) {
  const Profile p = read(
      "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block "
      "Z\",\"Device\",\"Context\",\"Stream\",\"Name\"\n"
      "ms,us,,,,,,,,,,\n"
      "1.0,2.5,64,2,1,128,1,1,\"Tesla P100 (1)\",1,7,\"k(int) [107]\"\n"
      "1.5,9.5,,,,,,,\"Tesla P100 (1)\",1,7,\"[CUDA memcpy HtoD]\"\n");
  ASSERT_EQ(p.launches.size(), 1U);
  EXPECT_EQ(p.launches[0].name, "k(int)");
  EXPECT_EQ(p.launches[0].grid, (Dim3{64, 2, 1}));
  EXPECT_EQ(p.launches[0].stream, 7U);
  EXPECT_EQ(metric(p, kTime), 2500.0);
  EXPECT_EQ(p.devices[0].name, "Tesla P100");
  EXPECT_EQ(p.devices[0].id, 1U);
}

TEST(NvprofCsv, MetricsWithGluedUnits) {
  const std::string text =
      "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\",\"Max\",\"Avg\"\n"
      "\"Tesla V100 (0)\",\"f(float*, int)\",101,\"dram_read_transactions\",\"Device Memory Read "
      "Transactions\",1,2,136549\n"
      "\"Tesla V100 (0)\",\"f(float*, int)\",101,\"dram_read_throughput\",\"d\",\"1GB/s\",\"2GB/s\",\"1.1655GB/s\"\n"
      "\"Tesla V100 (0)\",\"f(float*, int)\",101,\"flop_count_sp\",\"d\",1e+06,1e+06,1e+06\n"
      "\"Tesla V100 (0)\",\"g\",2,\"flop_count_sp\",\"d\",\"Idle (0)\",\"Idle (0)\",\"Idle (0)\"\n";
  EXPECT_TRUE(looks_like_nvprof_csv(text));
  const Profile p = read(text);
  ASSERT_EQ(p.launches.size(), 2U);
  EXPECT_EQ(p.launches[0].count, 101U);
  EXPECT_EQ(metric(p, "dram__sectors_read.sum"), 136549.0);
  EXPECT_EQ(metric(p, "dram__bytes_read.sum.per_second"), 1.1655e9);
  EXPECT_EQ(metric(p, "flop_count_sp"), 1e6);
  EXPECT_EQ(metric(p, "flop_count_sp", 1), std::nullopt);
  EXPECT_EQ(p.devices[0].name, "Tesla V100");
  EXPECT_EQ(p.launches[0].time_basis, TimeBasis::profiled);
}

TEST(NvprofCsv, NothingButCopiesIsRefused) {
  const auto problem = refusal([] {
    read(
        "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n,%,ms,,ms,us,ms,\n\"GPU "
        "activities\",1,1,1,1,1,1,\"[CUDA memset]\"\n");
  });
  EXPECT_EQ(problem.kind, "no-rows");
  EXPECT_EQ(problem.line, 1U);
}

TEST(NvprofCsv, OtherTablesAreNotTaken) {
  EXPECT_FALSE(looks_like_nvprof_csv("Time (%),Total Time (ns),Instances,Name\n1,2,3,k\n"));
  EXPECT_FALSE(looks_like_nvprof_csv("kernel,time,flops\nk,1,2\n"));
  EXPECT_FALSE(looks_like_nvprof_csv(testing::kDetailsHeader));
}

TEST(NvprofCsvRealFiles, TransposeOnV100) {
  ROOFLINE_NEEDS_SHARED("data/ncu-csv");
  const auto open = [](const std::string& name) {
    return open_profile(testing::shared_path("data/ncu-csv/Giotyp__GPU-Roofline-Python__" + name).string());
  };
  const Profile times = open("nvprof_hierarchical_timing_transpose.csv");
  EXPECT_EQ(times.format, "nvprof-csv");
  EXPECT_EQ(metric(times, kTime), 26445.0);
  const Profile metrics = open("nvprof_hierarchical_metrics_transpose.csv");
  EXPECT_EQ(metric(metrics, "dram__sectors_read.sum"), 136549.0);
  EXPECT_EQ(metric(metrics, "dram__sectors_write.sum"), 135811.0);
  EXPECT_EQ(metrics.devices[0].name, "Tesla V100S-PCIE-32GB");
  EXPECT_EQ(open("nvprof_multi_kernels_timing.csv").format, "ncu-csv");
}

}  // namespace
}  // namespace roofline
