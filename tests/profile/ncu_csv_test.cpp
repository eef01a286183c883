#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "csv_fixture.h"
#include "profile/ncu_csv_identity.h"
#include "profile/ncu_display_names.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

using ::testing::AllOf;
using testing::DetailsRow;
using ::testing::HasSubstr;
using testing::kDetailsHeader;
using testing::metric;
using testing::read_ncu;
using testing::refusal;
using testing::row;
using testing::warning;

constexpr auto kTime = "gpu__time_duration.sum";
constexpr auto kBytes = "dram__bytes.sum";
constexpr auto kSmPercent = "sm__throughput.avg.pct_of_peak_sustained_elapsed";

std::vector<std::uint32_t> runs(const Profile& profile) {
  std::vector<std::uint32_t> found;
  for (const auto& launch : profile.launches) found.push_back(launch.run);
  return found;
}

// --- layouts ---

TEST(NcuCsv, DetailsPage) {
  const Profile p =
      read_ncu(kDetailsHeader + row(kTime, "us", "6.75") + row(kBytes, "Mbyte", "2.33") + row(kTime, "ms", "1.5", "1"));
  ASSERT_EQ(p.launches.size(), 2U);
  EXPECT_EQ(p.format, "ncu-csv");
  EXPECT_EQ(metric(p, kTime), 6750.0);
  EXPECT_EQ(metric(p, kBytes), 2.33e6);
  EXPECT_EQ(metric(p, kTime, 1), 1.5e6);
  EXPECT_EQ(metric(p, kBytes, 1), std::nullopt);
  const Launch& launch = p.launches[0];
  EXPECT_EQ(launch.name, "axpy(float *, int)");
  EXPECT_EQ(launch.block, (Dim3{128, 2, 1}));
  EXPECT_EQ(launch.grid, (Dim3{64, 1, 1}));
  EXPECT_EQ(launch.process, 77U);
  EXPECT_EQ(launch.context, 1U);
  EXPECT_EQ(launch.stream, 7U);
  EXPECT_EQ(launch.time_basis, TimeBasis::profiled);
  EXPECT_EQ(launch.offset, kDetailsHeader.size());
  ASSERT_EQ(p.devices.size(), 1U);
  EXPECT_EQ(p.devices[0].compute_capability, "8.0");
  EXPECT_EQ(p.devices[0].name, "");
  EXPECT_TRUE(p.warnings.empty());
}

TEST(NcuCsv, OldDetailsPageWithRuleColumnsAndRaggedRows) {
  const Profile p = read_ncu(
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\",\"Context\",\"Stream\","
      "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule "
      "Description\"\n"
      "\"0\",\"9\",\"app\",\"h\",\"k(int)\",\"2023-Mar-01 19:10:59\",\"1\",\"13\",\"GPU Speed Of "
      "Light\",\"Duration\",\"nsecond\",\"5,824\",\n"
      "\"0\",\"9\",\"app\",\"h\",\"k(int)\",\"2023-Mar-01 "
      "19:10:59\",\"1\",\"13\",\"SpeedOfLight\",\"\",\"\",\"\",\"SOLBottleneck\",\"WRN\",\"Low, low use\"\n"
      "\"0\",\"9\",\"app\",\"h\",\"k(int)\",\"2023-Mar-01 19:10:59\",\"1\",\"13\",\"GPU Speed Of Light\",\"SM "
      "[%]\",\"%\",\"3.25\",\n");
  ASSERT_EQ(p.launches.size(), 1U);
  EXPECT_EQ(metric(p, kTime), 5824.0);
  EXPECT_EQ(metric(p, kSmPercent), 3.25);
  EXPECT_EQ(p.launches[0].stream, 13U);
  EXPECT_EQ(p.launches[0].grid, Dim3{});
}

TEST(NcuCsv, DetailsWithBodiesTellTheSameLabelApart) {
  const std::string header =
      "\"ID\",\"Kernel Name\",\"CC\",\"Section Name\",\"Body Item Label\",\"Metric Name\",\"Metric Unit\",\"Metric "
      "Value\",\"Rule Name\"\n";
  const auto chart = [](const std::string& item, const std::string& label, const std::string& unit,
                        const std::string& value) {
    return "\"0\",\"k\",\"9.0\",\"GPU Speed Of Light Roofline Chart\",\"" + item + "\",\"" + label + "\",\"" + unit +
           "\",\"" + value + "\",\n";
  };
  const Profile p =
      read_ncu(header + chart("Single Precision Roofline", "SM Frequency", "Ghz", "1.75") +
               chart("Single Precision Achieved Value", "SM Frequency", "Ghz", "1.74") +
               chart("Single Precision Achieved Value", "DRAM Bandwidth", "Gbyte/s", "345.14") +
               chart("Single Precision Roofline", "Theoretical DRAM Bytes Accessible", "byte/cycle", "128"));
  EXPECT_EQ(metric(p, "sm__cycles_elapsed.avg.per_second"), 1.75e9);
  EXPECT_EQ(metric(p, "smsp__cycles_elapsed.avg.per_second"), 1.74e9);
  EXPECT_EQ(metric(p, "dram__bytes.sum.per_second"), 345.14e9);
  EXPECT_EQ(metric(p, "dram__bytes.sum.peak_sustained"), 128.0);
}

TEST(NcuCsv, DoubledChartValuesGiveTheInstructionsOnlyWhereNothingElseDoes) {
  const std::string header =
      "\"ID\",\"Kernel Name\",\"CC\",\"Section Name\",\"Body Item Label\",\"Metric Name\",\"Metric Unit\",\"Metric "
      "Value\"\n";
  const std::string doubled =
      "\"0\",\"k\",\"9.0\",\"GPU Speed Of Light Roofline Chart\",\"Single Precision Achieved Value\",\"Predicated-On "
      "FFMA Operations Per Cycle\",\"inst\",\"158.12\"\n";
  const std::string direct =
      "\"0\",\"k\",\"9.0\",\"GPU Speed Of Light Roofline Chart\",\"\",\"Predicated-On FFMA Thread Instructions "
      "Executed Per Cycle\",\"inst/cycle\",\"79.05\"\n";
  constexpr auto kFfma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed";
  EXPECT_EQ(metric(read_ncu(header + doubled), kFfma), 79.06);
  EXPECT_EQ(metric(read_ncu(header + direct + doubled), kFfma), 79.05);
  EXPECT_EQ(metric(read_ncu(header + doubled + direct), kFfma), 79.05);
}

TEST(NcuCsv, RawPage) {
  const Profile p = read_ncu(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
      "\"device__attribute_display_name\",\"device__attribute_multiprocessor_count\",\"device__attribute_max_gpu_"
      "frequency_khz\","
      "\"nobody__declared_this.sum\",\"dram__bytes.sum\",\"gpu__time_duration.sum\",\"launch__func_cache_config\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"inst\",\"Mbyte\",\"us\",\"\"\n"
      "\"0\",\"5\",\"a<(int)4, float>(T1 *)\",\"7\",\"(256, 1, 1)\",\"(8, 4, 2)\",\"1\",\"9.0\",\"NVIDIA H100 "
      "PCIe\",\"114\",\"1755000\",\"1\",\"12.753920\",\"10.500000\",\"PreferNone\"\n"
      "\"1\",\"5\",\"b\",\"7\",\"(32, 1, 1)\",\"(1, 1, 1)\",\"1\",\"9.0\",\"NVIDIA H100 "
      "PCIe\",\"114\",\"1755000\",\"1\",\"n/a\",\"2\",\"\"\n");
  ASSERT_EQ(p.launches.size(), 2U);
  EXPECT_EQ(metric(p, kBytes), 12753920.0);
  EXPECT_EQ(metric(p, kTime), 10500.0);
  EXPECT_EQ(metric(p, kBytes, 1), std::nullopt);
  EXPECT_EQ(metric(p, kTime, 1), 2000.0);
  EXPECT_EQ(p.launches[0].name, "a<(int)4, float>(T1 *)");
  EXPECT_EQ(p.launches[0].grid, (Dim3{8, 4, 2}));
  ASSERT_EQ(p.devices.size(), 1U);
  EXPECT_EQ(p.devices[0].id, 1U);
  EXPECT_EQ(p.devices[0].name, "NVIDIA H100 PCIe");
  EXPECT_EQ(p.devices[0].sm_count, 114);
  EXPECT_EQ(p.devices[0].max_sm_clock_hz, 1.755e9);
  EXPECT_EQ(p.launches[0].metrics.text(MetricCatalogue::instance().require("launch__func_cache_config")), "PreferNone");
  EXPECT_EQ(p.extra_metrics, nullptr);
}

TEST(NcuCsv, RawPageKeepsUndeclaredMetricsOnDemand) {
  ReadOptions all;
  all.keep_all_metrics = true;
  const Profile p = read_ncu("ID,Kernel Name,nobody__time.sum,nobody__text\n,,us,\n0,k,1.5,hello\n", all);
  ASSERT_NE(p.extra_metrics, nullptr);
  ASSERT_EQ(p.launches[0].metrics.values().size(), 1U);
  EXPECT_EQ(p.metric_name(p.launches[0].metrics.values()[0].first), "nobody__time.sum");
  EXPECT_EQ(p.launches[0].metrics.values()[0].second, 1500.0);
  EXPECT_EQ(p.launches[0].metrics.texts()[0].second, "hello");
}

TEST(NcuCsv, PerKernelSummary) {
  const Profile p = read_ncu(
      "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid "
      "Size\",\"Device\",\"CC\",\"Invocations\","
      "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n"
      "\"76\",\"app\",\"h\",\"B\",\"(1024, 1, 1)\",\"(216, 1, 1)\",\"0\",\"8.0\",\"100\",\"Command line profiler "
      "metrics\",\"dram__sectors_read.sum\",\"sector\",\"402,316.00\",\"402,364.00\",\"402,339.36\"\n"
      "\"76\",\"app\",\"h\",\"B\",\"(1024, 1, 1)\",\"(216, 1, 1)\",\"0\",\"8.0\",\"100\",\"Command line profiler "
      "metrics\",\"gpu__time_duration.sum\",\"nsecond\",\"90,016.00\",\"95,136.00\",\"93,188.16\"\n"
      "\"76\",\"app\",\"h\",\"A\",\"(1024, 1, 1)\",\"(216, 1, 1)\",\"0\",\"8.0\",\"3\",\"Command line profiler "
      "metrics\",\"gpu__time_duration.sum\",\"nsecond\",\"1\",\"3\",\"2\"\n");
  ASSERT_EQ(p.launches.size(), 2U);
  EXPECT_EQ(p.launches[0].count, 100U);
  EXPECT_EQ(p.launches[1].count, 3U);
  EXPECT_EQ(metric(p, "dram__sectors_read.sum"), 402339.36);
  EXPECT_EQ(metric(p, kTime), 93188.16);
  EXPECT_EQ(metric(p, kTime, 1), 2.0);
}

TEST(NcuCsv, ShortenedTablesAreReadByTitleNotByPlace) {
  const Profile seven = read_ncu(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Section\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
      "\"3\",\"1\",\"k\",\"GPU Speed Of Light Throughput\",\"Duration\",\"us\",\"2.50\"\n");
  EXPECT_EQ(metric(seven, kTime), 2500.0);
  const Profile turned = read_ncu(
      "Metric Value,Metric Unit,Metric Name,Kernel Name\n2.5,us,gpu__time_duration.sum,k\n7,byte,dram__bytes.sum,k\n");
  ASSERT_EQ(turned.launches.size(), 1U);
  EXPECT_EQ(metric(turned, kTime), 2500.0);
  EXPECT_EQ(metric(turned, kBytes), 7.0);
}

TEST(NcuCsv, WithoutASectionColumnTheUnitDecides) {
  const std::string header = "Kernel Name,Metric Name,Metric Unit,Metric Value\n";
  const Profile percent = read_ncu(header + "k,Memory Throughput,%,37.26\n");
  EXPECT_EQ(metric(percent, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"), 37.26);
  EXPECT_EQ(metric(percent, "dram__bytes.sum.per_second"), std::nullopt);
  const Profile rate = read_ncu(header + "k,Memory Throughput,Gbyte/s,5.5\nk,Duration,us,1.5\n");
  EXPECT_EQ(metric(rate, "dram__bytes.sum.per_second"), 5.5e9);
  EXPECT_EQ(metric(rate, kTime), 1500.0);
}

TEST(NcuCsv, WithoutNumbersARepeatedMetricStartsTheNextLaunch) {
  const Profile p = read_ncu(
      "Kernel Name,Metric Name,Metric Unit,Metric Value\nk,gpu__time_duration.sum,ns,1\nk,dram__bytes.sum,byte,2\n"
      "k,gpu__time_duration.sum,ns,3\nk,dram__bytes.sum,byte,4\n");
  ASSERT_EQ(p.launches.size(), 2U);
  EXPECT_EQ(metric(p, kTime, 1), 3.0);
  EXPECT_EQ(metric(p, kBytes, 0), 2.0);
}

// --- several runs, and what stands around the tables ---

TEST(NcuCsv, JoinedRunsKeepEqualNumbersApart) {
  const std::string run = kDetailsHeader + row(kTime, "ns", "100") + row(kBytes, "byte", "7");
  const Profile p = read_ncu(run + "==PROF== Disconnected from process 77\n" + run + "\xEF\xBB\xBF" + run);
  ASSERT_EQ(p.launches.size(), 3U);
  EXPECT_EQ(metric(p, kBytes, 2), 7.0);
  EXPECT_EQ(p.launches[2].ordinal, 2U);
  EXPECT_EQ(runs(p), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_THAT(warning(p, "several-runs"), AllOf(HasSubstr("3 runs"), HasSubstr("--merge")));
}

std::string run_of(const std::string& process, const std::string& metric, const std::vector<std::string>& ids) {
  std::string text;
  for (const auto& id : ids) {
    DetailsRow r;
    r.id = id;
    r.process = process;
    r.metric = metric;
    r.unit = metric == kTime ? "ns" : "byte";
    r.value = "1";
    text += r.text();
  }
  return text;
}

TEST(NcuCsv, NumbersThatStartAgainAreAnotherRun) {
  using Runs = std::vector<std::uint32_t>;
  const auto of = [](const std::string& rows) { return runs(read_ncu(kDetailsHeader + rows)); };
  const auto a = run_of("77", kBytes, {"0", "1"});
  EXPECT_EQ(of(a + run_of("78", kTime, {"0", "1"})), (Runs{0, 0, 1, 1}));
  EXPECT_EQ(of(a + kDetailsHeader + run_of("77", kTime, {"0", "1"})), (Runs{0, 0, 1, 1}));
  EXPECT_EQ(of(run_of("77", kBytes, {"4", "5"}) + run_of("78", kBytes, {"2", "3"})), (Runs{0, 0, 1, 1}));
  // Two ranks that print by turns.
  EXPECT_EQ(of(run_of("1", kBytes, {"0"}) + run_of("2", kBytes, {"0"}) + run_of("1", kBytes, {"1"}) +
               run_of("2", kBytes, {"1"})),
            (Runs{0, 1, 0, 1}));
  // One session of two processes, a continued table and a sorted one are one run.
  EXPECT_EQ(of(a + run_of("78", kTime, {"2", "3"})), (Runs{0, 0, 0, 0}));
  EXPECT_EQ(of(a + kDetailsHeader + run_of("77", kTime, {"2", "3"})), (Runs{0, 0, 0, 0}));
  EXPECT_EQ(of(run_of("77", kBytes, {"5", "2", "4"})), (Runs{0, 0, 0}));
}

TEST(NcuCsv, RowsSortedByMetricAreOneRun) {
  const auto p = read_ncu(kDetailsHeader + run_of("77", kBytes, {"0", "1"}) + run_of("77", kTime, {"0", "1"}));
  ASSERT_EQ(p.launches.size(), 2U);
  EXPECT_EQ(metric(p, kTime, 1), 1.0);
  EXPECT_EQ(warning(p, "several-runs"), "(none)");
}

// Containers give each run the same process number; the metric in common need not come first.
TEST(NcuCsv, RunsOfOneProcessNumberDoNotShareALaunch) {
  const auto p = read_ncu(kDetailsHeader + row(kTime, "ns", "1", "0") + row(kTime, "ns", "2", "1") +
                          row(kBytes, "byte", "7", "0") + row(kTime, "ns", "3", "0") + row(kBytes, "byte", "8", "1"));
  ASSERT_EQ(p.launches.size(), 4U);
  EXPECT_EQ(runs(p), (std::vector<std::uint32_t>{0, 0, 1, 1}));
  EXPECT_EQ(metric(p, kBytes, 0), std::nullopt);
  EXPECT_EQ(metric(p, kBytes, 1), std::nullopt);
  EXPECT_EQ(metric(p, kBytes, 2), 7.0);
  EXPECT_EQ(metric(p, kTime, 2), 3.0);
  EXPECT_EQ(metric(p, kBytes, 3), 8.0);
}

TEST(NcuCsv, RawTablesHoldRunsToo) {
  const std::string table = "ID,Process ID,Kernel Name,gpu__time_duration.sum\n,,,us\n0,7,k,5\n1,7,k,6\n";
  const auto p = read_ncu(table + table);
  EXPECT_EQ(runs(p), (std::vector<std::uint32_t>{0, 0, 1, 1}));
  EXPECT_EQ(runs(read_ncu(table)), (std::vector<std::uint32_t>{0, 0}));
}

TEST(NcuCsv, JoinedRunsOfDifferentLayouts) {
  const Profile p =
      read_ncu(kDetailsHeader + row(kTime, "ns", "100") + "ID,Kernel Name,gpu__time_duration.sum\n,,us\n0,k,5\n" +
               kDetailsHeader + row(kTime, "ns", "8"));
  ASSERT_EQ(p.launches.size(), 3U);
  EXPECT_EQ(metric(p, kTime, 1), 5000.0);
  EXPECT_EQ(metric(p, kTime, 2), 8.0);
}

TEST(NcuCsv, ProcessesAndDevicesAreDifferentLaunches) {
  DetailsRow a;
  a.metric = kTime;
  a.unit = "ns";
  a.value = "1";
  DetailsRow b = a;
  b.process = "78";
  DetailsRow c = a;
  c.device = "1";
  c.cc = "9.0";
  DetailsRow late = a;
  late.metric = kBytes;
  late.unit = "byte";
  const Profile p = read_ncu(kDetailsHeader + a.text() + b.text() + c.text() + late.text());
  ASSERT_EQ(p.launches.size(), 3U);
  EXPECT_EQ(metric(p, kBytes, 0), 1.0);
  ASSERT_EQ(p.devices.size(), 2U);
  EXPECT_EQ(p.devices[p.launches[2].device].compute_capability, "9.0");
}

TEST(NcuCsv, OutputBeforeBetweenAndAfter) {
  const Profile p = read_ncu(
      "==PROF== Connected to process 77 (/bin/app)\n\npass 0\ntime = 3.82s, \"quoted\n==WARNING== Unable to lock "
      "clocks\n" +
      kDetailsHeader + "\n" + row(kTime, "ns", "100") + "result: 12, 13\n42\n\n" + row(kBytes, "byte", "7") +
      "==PROF== Disconnected from process 77\n==ERROR== The application returned an error code (1).\n");
  ASSERT_EQ(p.launches.size(), 1U);
  EXPECT_EQ(metric(p, kBytes), 7.0);
  EXPECT_THAT(warning(p, "profiler-warning"), HasSubstr("Unable to lock clocks"));
  EXPECT_THAT(warning(p, "profiler-error"), HasSubstr("returned an error code (1)"));
}

TEST(NcuCsv, GpuNameFromTheProgramsOutputOnlyWhenItNamesOne) {
  const std::string table = kDetailsHeader + row(kTime, "ns", "100");
  EXPECT_EQ(read_ncu("device: NVIDIA GeForce RTX 5070 (sm_120), 48 SMs\n" + table).devices[0].name,
            "NVIDIA GeForce RTX 5070");
  EXPECT_EQ(read_ncu("Device 0: \"Tesla V100-SXM2-16GB\"\n" + table).devices[0].name, "Tesla V100-SXM2-16GB");
  EXPECT_EQ(read_ncu("GPU 0: NVIDIA H100 PCIe\nGPU 1: NVIDIA A100-SXM4-80GB\n" + table).devices[0].name, "");
  EXPECT_EQ(read_ncu("Copyright (c) NVIDIA 2023\nNVIDIA CUDA Compiler\n" + table).devices[0].name, "");
  EXPECT_EQ(read_ncu(table + "NVIDIA H100 PCIe\n").devices[0].name, "");
}

TEST(NcuCsv, GpuNames) {
  EXPECT_EQ(gpu_named_in("using NVIDIA H100 80GB HBM3 with 132 SMs"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu_named_in("NVIDIA TITAN V\nNVIDIA TITAN V"), "NVIDIA TITAN V");
  EXPECT_EQ(gpu_named_in("the NVIDIA driver 535.104"), "");
}

TEST(NcuCsv, MarksLineEndsAndEncodings) {
  const std::string table = kDetailsHeader + row(kTime, "ns", "100");
  std::string crlf;
  std::string utf16 = "\xFF\xFE";
  for (const char c : table) {
    if (c == '\n') crlf += '\r';
    crlf += c;
    utf16.append(1, c).append(1, '\0');
  }
  for (const std::string& text :
       {"\xEF\xBB\xBF" + table, crlf, "\xEF\xBB\xBF==PROF== Connected to process 1\r\n" + crlf, utf16}) {
    EXPECT_TRUE(looks_like_ncu_csv(text));
    const Profile p = read_ncu(text);
    ASSERT_EQ(p.launches.size(), 1U);
    EXPECT_EQ(metric(p, kTime), 100.0);
    EXPECT_EQ(p.launches[0].name, "axpy(float *, int)");
  }
}

TEST(NcuCsv, SpreadsheetsWithSemicolons) {
  const Profile p =
      read_ncu("ID;Kernel Name;Metric Name;Metric Unit;Metric Value\n0;f<1, 2>(int);gpu__time_duration.sum;us;65,77\n");
  EXPECT_EQ(p.launches[0].name, "f<1, 2>(int)");
  EXPECT_EQ(metric(p, kTime), 65770.0);
}

TEST(NcuCsv, KernelNamesOfAnyLengthWithCommasAndQuotes) {
  DetailsRow r;
  r.metric = kTime;
  r.unit = "ns";
  r.value = "1";
  r.kernel = "void f<\"\"x\"\", ";
  for (int i = 0; i < 20000; ++i) r.kernel += "int, ";
  r.kernel += "[lambda() (instance 1)]>(T1 *, <unnamed>::S)";
  const Profile p = read_ncu(kDetailsHeader + r.text());
  EXPECT_EQ(p.launches[0].name.size(), r.kernel.size() - 2);
  EXPECT_EQ(p.launches[0].name.substr(0, 12), "void f<\"x\", ");
}

// --- values ---

TEST(NcuCsv, UnitsPerRow) {
  const Profile p =
      read_ncu(kDetailsHeader + row("dram__bytes_write.sum", "Kbyte", "1.28", "0") +
               row("dram__bytes_write.sum", "Mbyte", "6.02", "1") + row("dram__bytes_write.sum", "byte", "0", "2") +
               row("dram__bytes.sum.per_second", "Tbyte/second", "1.5", "3"));
  EXPECT_EQ(metric(p, "dram__bytes_write.sum", 0), 1280.0);
  EXPECT_EQ(metric(p, "dram__bytes_write.sum", 1), 6.02e6);
  EXPECT_EQ(metric(p, "dram__bytes_write.sum", 2), 0.0);
  EXPECT_EQ(metric(p, "dram__bytes.sum.per_second", 3), 1.5e12);
}

TEST(NcuCsv, AbsentIsNotZeroAndTextIsKept) {
  const Profile p =
      read_ncu(kDetailsHeader + row(kBytes, "", "n/a") + row(kTime, "", "") + row("lts__t_bytes.sum", "byte", "nan") +
               row("dram__bytes_read.sum", "byte", "0") + row("launch__func_cache_config", "", "CachePreferNone"));
  EXPECT_EQ(metric(p, kBytes), std::nullopt);
  EXPECT_EQ(metric(p, kTime), std::nullopt);
  EXPECT_EQ(metric(p, "lts__t_bytes.sum"), std::nullopt);
  EXPECT_EQ(metric(p, "dram__bytes_read.sum"), 0.0);
  EXPECT_EQ(p.launches[0].metrics.text(MetricCatalogue::instance().require("launch__func_cache_config")),
            "CachePreferNone");
  EXPECT_TRUE(p.warnings.empty());
}

TEST(NcuCsv, ArrayMetricsGiveTheirTotal) {
  const Profile p = read_ncu(kDetailsHeader + row(kBytes, "byte", "1,024 (512; 512)"));
  EXPECT_EQ(metric(p, kBytes), 1024.0);
}

TEST(NcuCsv, UnknownMissingAndWrongUnitsDropTheValueAndSaySo) {
  const Profile p = read_ncu(kDetailsHeader + row(kBytes, "furlong", "7") + row(kBytes, "furlong", "8", "1") +
                             row(kTime, "", "5") + row("lts__t_bytes.sum", "ns", "3"));
  EXPECT_EQ(metric(p, kBytes), std::nullopt);
  EXPECT_EQ(metric(p, kTime), std::nullopt);
  EXPECT_EQ(metric(p, "lts__t_bytes.sum"), std::nullopt);
  EXPECT_THAT(warning(p, "unknown-unit"), HasSubstr("line 2: dram__bytes.sum is in \"furlong\""));
  EXPECT_THAT(warning(p, "missing-unit"), HasSubstr("gpu__time_duration.sum has no unit"));
  EXPECT_EQ(p.warnings.size(), 3U);
}

TEST(NcuCsv, NegativeCountsAreDropped) {
  const Profile p = read_ncu(kDetailsHeader + row(kBytes, "byte", "-7") + row(kTime, "ns", "1"));
  EXPECT_EQ(metric(p, kBytes), std::nullopt);
  EXPECT_THAT(warning(p, "negative-value"), HasSubstr("line 2: dram__bytes.sum"));
}

// --- number formats ---

TEST(NcuCsv, ThousandsCommas) {
  const Profile p = read_ncu(kDetailsHeader + row(kBytes, "byte", "690,974,304") +
                             row("dram__cycles_elapsed.avg.per_second", "hz", "4,963,609,951.19"));
  EXPECT_EQ(metric(p, kBytes), 690974304.0);
  EXPECT_EQ(metric(p, "dram__cycles_elapsed.avg.per_second"), 4963609951.19);
  EXPECT_TRUE(p.warnings.empty());
}

TEST(NcuCsv, EuropeanNumbersAreRecognisedFromTheWholeFile) {
  const Profile p = read_ncu(kDetailsHeader + row(kTime, "ns", "117.344") + row(kSmPercent, "%", "65,77"));
  EXPECT_EQ(metric(p, kTime), 117344.0);
  EXPECT_EQ(metric(p, kSmPercent), 65.77);
  EXPECT_THAT(warning(p, "decimal-comma"), HasSubstr("\"65,77\" % in line 3"));
}

TEST(NcuCsv, ALoneSeparatorIsDecidedByItsUnitWithAWarning) {
  const Profile p = read_ncu(kDetailsHeader + row(kTime, "ns", "117.344") + row("launch__block_size", "", "128"));
  EXPECT_EQ(metric(p, kTime), 117344.0);
  EXPECT_THAT(warning(p, "ambiguous-locale"), HasSubstr("\"117.344\" ns in line 2"));
  EXPECT_THAT(warning(p, "ambiguous-locale"), HasSubstr("--locale"));
}

TEST(NcuCsv, TheUserDecidesTheLocale) {
  ReadOptions point;
  point.locale = NumberLocale::point;
  ReadOptions comma;
  comma.locale = NumberLocale::comma;
  const std::string table = kDetailsHeader + row(kTime, "ns", "117.344");
  EXPECT_EQ(metric(read_ncu(table, point), kTime), 117.344);
  EXPECT_EQ(metric(read_ncu(table, comma), kTime), 117344.0);
  EXPECT_TRUE(read_ncu(table, comma).warnings.empty());
  const auto wrong = refusal([&] { read_ncu(kDetailsHeader + row(kTime, "ns", "12.5"), comma); });
  EXPECT_EQ(wrong.kind, "contradictory-locale");
  EXPECT_EQ(wrong.action, "leave out --locale");
}

TEST(NcuCsv, MixedNumberFormatsAreRefused) {
  const auto mixed =
      refusal([] { read_ncu(kDetailsHeader + row(kSmPercent, "%", "65,77") + row(kTime, "us", "12.5")); });
  EXPECT_EQ(mixed.kind, "contradictory-locale");
  EXPECT_EQ(mixed.line, 3U);
  EXPECT_THAT(mixed.found, HasSubstr("\"12.5\""));
  const auto clash =
      refusal([] { read_ncu(kDetailsHeader + row(kTime, "ns", "117.344") + row(kBytes, "byte", "1,024")); });
  EXPECT_EQ(clash.kind, "ambiguous-locale");
  EXPECT_THAT(clash.found, HasSubstr("\"117.344\" ns in line 2 and \"1,024\" byte in line 3"));
}

TEST(NcuCsv, ATableWithoutEvidenceIsWrittenLikeTheOneBefore) {
  const Profile p = read_ncu(kDetailsHeader + row(kSmPercent, "%", "65,77") + kDetailsHeader +
                             row("lts__t_bytes.sum", "Mbyte", "1.234"));
  EXPECT_EQ(metric(p, "lts__t_bytes.sum", 1), 1234e6);
}

TEST(NcuCsv, RawPageInEuropeanNumbers) {
  const Profile p = read_ncu(
      "ID,Kernel "
      "Name,gpu__time_duration.sum,sm__throughput.avg.pct_of_peak_sustained_elapsed\n,,us,%\n0,k,\"1.234,5\",\"65,"
      "77\"\n");
  EXPECT_EQ(metric(p, kTime), 1234500.0);
  EXPECT_EQ(metric(p, kSmPercent), 65.77);
}

// --- faults ---

TEST(NcuCsv, CutFiles) {
  const std::string whole = kDetailsHeader + row(kTime, "ns", "100") + row(kTime, "ns", "200", "1");
  for (const std::size_t less : {3U, 4U, 10U, 60U}) {
    const std::string cut = whole.substr(0, whole.size() - less);
    const auto problem = refusal([&] { read_ncu(cut); });
    EXPECT_EQ(problem.kind, "truncated") << less;
    EXPECT_EQ(problem.line, 3U) << less;
    ReadOptions partial;
    partial.partial = true;
    const Profile p = read_ncu(cut, partial);
    EXPECT_TRUE(p.partial);
    EXPECT_EQ(p.launches.size(), 1U);
    EXPECT_THAT(warning(p, "partial"), HasSubstr("cuts off"));
  }
  // Only the line end is missing: the row is whole.
  EXPECT_EQ(read_ncu(whole.substr(0, whole.size() - 1)).launches.size(), 2U);
}

TEST(NcuCsv, CutRawFiles) {
  const std::string whole =
      "ID,Kernel Name,gpu__time_duration.sum,dram__bytes.sum\n,,ns,byte\n0,k,5,12753920\n1,k,5,12753920";
  EXPECT_EQ(read_ncu(whole).launches.size(), 2U);
  EXPECT_EQ(refusal([&] { read_ncu(whole.substr(0, whole.size() - 9)); }).kind, "truncated");
}

TEST(NcuCsv, ShortRawRowsKeepWhatTheyHave) {
  const Profile p = read_ncu("ID,Kernel Name,gpu__time_duration.sum,dram__bytes.sum\n,,ns,byte\n0,k,5\n1,k,6,7\n");
  ASSERT_EQ(p.launches.size(), 2U);
  EXPECT_EQ(metric(p, kTime), 5.0);
  EXPECT_EQ(metric(p, kBytes), std::nullopt);
}

TEST(NcuCsv, NothingIsReadFromOddBytes) {
  for (const std::string& text :
       {std::string("Kernel Name"), std::string("Kernel Name,Metric Name,Metric Value"),
        std::string("Kernel Name,a__b\n"), kDetailsHeader.substr(0, 40), std::string("\0\0\0", 3)}) {
    EXPECT_NE(refusal([&] { read_ncu(text); }).kind, "") << text;
  }
}

TEST(NcuCsv, SmallParsers) {
  EXPECT_EQ(parse_dim3("(65536, 1, 1)"), (Dim3{65536, 1, 1}));
  EXPECT_EQ(parse_dim3("[128]"), (Dim3{128, 1, 1}));
  EXPECT_EQ(parse_dim3(""), Dim3{});
  EXPECT_EQ(parse_dim3("(99999999999999999999999, 1, 1)"), Dim3{});
  EXPECT_EQ(parse_whole("1,740,670"), 1740670U);
  EXPECT_EQ(parse_whole("12a"), std::nullopt);
  EXPECT_EQ(parse_whole("99999999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_compute_capability("8,9"), 89);
  EXPECT_EQ(parse_compute_capability("12.0"), 120);
  EXPECT_EQ(parse_compute_capability("n/a"), 0);
}

TEST(NcuDisplayNames, CompletePathsAndGenerations) {
  const auto tensor = metrics_of_display_row({"GPU Speed Of Light Hierarchical Roofline Chart (Tensor Core)",
                                              "DRAM Achieved Value (Op:hgmma Src:bf16 Dst:fp32 Sparsity:off)",
                                              "Tensor Operations Per Cycle", Unit{}, 90});
  ASSERT_EQ(tensor.size(), 1U);
  EXPECT_EQ(tensor[0].name, "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum.per_cycle_elapsed");
  const auto l1_of = [](int cc) {
    return metrics_of_display_row({"GPU Speed Of Light Hierarchical Roofline Chart (Single Precision)",
                                   "L1 Achieved Value (Global/Local)", "L1 Cache Bandwidth (Global/Local)",
                                   Unit{Dimension::byte_rate, 9, 1}, cc});
  };
  EXPECT_EQ(l1_of(90).at(0).name, "derived__l1tex__lsu_writeback_bytes_mem_lgds.sum.per_second");
  EXPECT_EQ(l1_of(80).at(0).name, "derived__l1tex__lsu_writeback_bytes_mem_lg.sum.per_second");
  EXPECT_EQ(l1_of(70).at(0).name, "derived__l1tex__lsu_writeback_bytes.sum.per_second");
  EXPECT_TRUE(metrics_of_display_row({"My Own Section", "", "Duration", Unit{Dimension::time, -6, 1}, 90}).empty());
  const auto pascal =
      metrics_of_display_row({"GPU Speed Of Light", "", "SM Frequency", Unit{Dimension::frequency, 9, 1}, 61});
  EXPECT_EQ(pascal.at(0).name, "gpc__frequency");
}

// --- real files ---

Profile read_shared(const std::string& name) {
  return open_profile(testing::shared_path("data/ncu-csv/" + name).string());
}
constexpr auto kShared = "data/ncu-csv";
const std::string kGene = "wdmapp__gene-paper-artifacts-pop2020__";

TEST(NcuCsvRealFiles, GeneBytesAndFlops) {
  ROOFLINE_NEEDS_SHARED(kShared);
  const Profile bytes = read_shared(kGene + "nvroof_ncuroof_region-dgdxy-1.csv");
  ASSERT_EQ(bytes.launches.size(), 16U);
  EXPECT_EQ(metric(bytes, kBytes, 0), 690960320.0);
  EXPECT_EQ(metric(bytes, kBytes, 1), 891760416.0);
  EXPECT_NEAR(*metric(bytes, "sm__cycles_elapsed.avg") / *metric(bytes, "sm__cycles_elapsed.avg.per_second"), 0.923e-3,
              1e-6);
  const Profile flops = read_shared(kGene + "flops_ncuroof-time-0.csv");
  const auto count = [&](std::string_view op) {
    return *metric(flops, "sm__sass_thread_inst_executed_op_" + std::string(op) + "_pred_on.sum");
  };
  EXPECT_EQ(count("dadd") + count("dmul") + 2 * count("dfma"), 330301440.0);
  const Profile fused = read_shared(kGene + "fused-roof2_ncuroof_region-dgdxy-1.csv");
  ASSERT_EQ(fused.launches.size(), 24U);
  const bool found = std::any_of(fused.launches.begin(), fused.launches.end(), [](const Launch& l) {
    return l.metrics.get(MetricCatalogue::instance().require(kBytes)) == 700872736.0;
  });
  EXPECT_TRUE(found);
}

TEST(NcuCsvRealFiles, PicongpuBytesPerLevel) {
  ROOFLINE_NEEDS_SHARED(kShared);
  const Profile p = read_shared("Techercise__AMD-Instruction-Roofline-using-rocProf-Metrics__v100_lw_cc_output.csv");
  ASSERT_EQ(p.launches.size(), 7U);
  EXPECT_EQ(metric(p, kBytes), 139101952.0);
  EXPECT_EQ(metric(p, "lts__t_bytes.sum"), 224106432.0);
  EXPECT_EQ(metric(p, "l1tex__t_bytes.sum"), 366738240.0);
  EXPECT_EQ(metric(p, "sm__cycles_elapsed.avg"), 277581.2);
}

TEST(NcuCsvRealFiles, SaxpyReads) {
  ROOFLINE_NEEDS_SHARED(kShared);
  const Profile p = read_shared("Olajide-Badejo__GPU-Roofline-Profiler__saxpy.csv");
  EXPECT_EQ(metric(p, "dram__bytes_op_read.sum"), 134221568.0);
  EXPECT_EQ(metric(p, "dram__bytes_op_write.sum"), 43631104.0);
  EXPECT_EQ(metric(p, kTime), 292928.0);
  EXPECT_EQ(p.devices[0].name, "NVIDIA GeForce RTX 5070");
  EXPECT_EQ(p.devices[0].compute_capability, "12.0");
}

TEST(NcuCsvRealFiles, DeepSeekOcrKernels) {
  ROOFLINE_NEEDS_SHARED(kShared);
  const std::string start = "CodeGandee__llm-perf-opt__dsocr_k000";
  struct Expected {
    const char* kernel;
    double time_ns, read, write, sm, dram;
  };
  for (const Expected& e :
       {Expected{"1", 6750, 2.33e6, 0, 9.15, 19.66}, Expected{"4", 4700, 32770, 0, 0.02, 0.40},
        Expected{"5", 111810, 17.50e6, 0, 32.10, 8.87}, Expected{"9", 160740, 99.63e6, 6.02e6, 36.75, 37.26}}) {
    const Profile p = read_shared(start + e.kernel + "_ncu.details.csv");
    EXPECT_NEAR(*metric(p, kTime), e.time_ns, 5) << e.kernel;
    EXPECT_NEAR(*metric(p, "dram__bytes_read.sum"), e.read, e.read * 1e-3) << e.kernel;
    EXPECT_EQ(*metric(p, "dram__bytes_write.sum"), e.write) << e.kernel;
    EXPECT_EQ(*metric(p, kSmPercent), e.sm) << e.kernel;
    EXPECT_EQ(*metric(p, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"), e.dram) << e.kernel;
    const Profile chart = read_shared(start + e.kernel + "_ncu.section_SpeedOfLight_RooflineChart.csv");
    EXPECT_TRUE(metric(chart, "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained")) << e.kernel;
  }
}

TEST(NcuCsvRealFiles, EuropeanFile) {
  ROOFLINE_NEEDS_SHARED(kShared);
  const Profile p = read_shared("embedded__id68542449045__european_locale_windows.csv");
  EXPECT_EQ(metric(p, kTime), 117344.0);
  EXPECT_EQ(metric(p, kBytes), 27595520.0);
  EXPECT_EQ(metric(p, kSmPercent), 65.77);
  EXPECT_NE(warning(p, "decimal-comma"), "(none)");
}

TEST(NcuCsvRealFiles, RawPagesOfB200) {
  ROOFLINE_NEEDS_SHARED(kShared);
  const Profile p = read_shared("meinie0826__Roofline-Analysis__torch_sdpa_flash__gqa_bf16_b64_ctx4k_p64.ncu.csv");
  ASSERT_EQ(p.launches.size(), 16U);
  EXPECT_EQ(metric(p, kTime), 687488.0);
  EXPECT_EQ(p.devices[0].name, "NVIDIA B200");
  EXPECT_EQ(p.devices[0].sm_count, 148);
  EXPECT_EQ(p.devices[0].max_sm_clock_hz, 1.965e9);
}

}  // namespace
}  // namespace roofline
