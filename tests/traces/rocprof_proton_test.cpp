// Tables of ROCm's profilers and trees of Proton, made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "roofline/error.h"
#include "timeline/readers.h"

namespace roofline {
namespace {

using ::testing::HasSubstr;

using Read = Timeline (*)(const TimelineSource&, const TimelineOptions&);

Timeline read(Read reader, const std::string& text, bool partial = false) {
  TimelineSource source;
  source.label = "input";
  source.file = copy_bytes(text);
  source.head = source.file->bytes();
  TimelineOptions options;
  options.partial = partial;
  return reader(source, options);
}

InputProblem refusal(Read reader, const std::string& text) {
  try {
    read(reader, text);
  } catch (const InputError& error) {
    return error.problem();
  }
  return {};
}

TEST(RocprofTrace, ColumnsByNameInAnyOrder) {
  const std::string text =
      "\xEF\xBB\xBF\"End_Timestamp\",\"Kernel_Name\",\"Start_Timestamp\",\"Stream_Id\",\"Agent_Id\",\"Correlation_Id\","
      "\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_"
      "Z\"\r\n"
      "300,\"void add<float>(float*, \"\"x\"\")\",200,3,\"Agent 2\",9,64,2,1,130,4,1\r\n"
      "150,late.kd,100,3,\"Agent 7\",8,64,1,1,64,1,1\r\n\r\n";
  ASSERT_TRUE(looks_like_rocprof_trace(text));
  const auto timeline = read(read_rocprof_trace, text);
  ASSERT_EQ(timeline.activities.size(), 2);
  EXPECT_EQ(timeline.names[timeline.activities[0].full_name], "late");  // by start
  const auto& add = timeline.activities[1];
  EXPECT_EQ(timeline.names[add.name], "add");
  EXPECT_EQ(add.span.length(), 100);
  EXPECT_EQ(add.grid, (Dim3{3, 2, 1}));
  EXPECT_EQ(add.block, (Dim3{64, 2, 1}));
  EXPECT_EQ(add.stream, 3);
  EXPECT_EQ(add.correlation, 9);
  EXPECT_EQ(timeline.devices[add.device].id, 2);
}

TEST(RocprofTrace, Copies) {
  const auto timeline = read(read_rocprof_trace,
                             "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Start_Timestamp\","
                             "\"End_Timestamp\"\n\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",0,4,10,30\n");
  ASSERT_EQ(timeline.activities.size(), 1);
  EXPECT_EQ(timeline.activities[0].work, GpuWork::copy);
  EXPECT_EQ(timeline.activities[0].copy, CopyKind::host_to_device);
  EXPECT_EQ(timeline.devices[0].id, 4);
}

TEST(RocprofTrace, RowsWithoutTimesAreCounted) {
  const std::string header = "Kernel_Name,Start_Timestamp,End_Timestamp\n";
  const auto timeline = read(read_rocprof_trace, header + "k,1,2\nk,5,\nk,9,3\nk,,\n");
  EXPECT_EQ(timeline.activities.size(), 1);
  ASSERT_EQ(timeline.warnings.size(), 1);
  EXPECT_THAT(timeline.warnings[0].message, HasSubstr("3 rows"));
  EXPECT_EQ(refusal(read_rocprof_trace, header + "k,9,3\n").kind, "bad-times");
  EXPECT_EQ(refusal(read_rocprof_trace, header).kind, "no-gpu-work");
  const auto problem = refusal(read_rocprof_trace, header + "k,1,2\nk,one,2\n");
  EXPECT_EQ(problem.kind, "not-a-number");
  EXPECT_EQ(problem.line, 3U);
  EXPECT_EQ(read(read_rocprof_trace, header + "k,1,2\nk,one,2\n", true).activities.size(), 1);
}

TEST(RocprofTrace, Statistics) {
  const std::string text =
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\",\"StdDev\"\n"
      "\"k(int)\",4,8000,2000.0,80.0,1000,3000,5.0\n\"m\",1,2000,2000.0,20.0,2000,2000,0.0\n";
  ASSERT_TRUE(looks_like_rocprof_trace(text));
  const auto timeline = read(read_rocprof_trace, text);
  ASSERT_EQ(timeline.totals.size(), 2);
  EXPECT_EQ(timeline.totals[0].launches, 4);
  EXPECT_DOUBLE_EQ(timeline.totals[0].total_s, 8e-6);
  EXPECT_DOUBLE_EQ(*timeline.totals[0].max_s, 3e-6);
  EXPECT_FALSE(timeline.has_times());
}

TEST(RocprofTrace, CounterTablesAreNotTraces) {
  EXPECT_FALSE(looks_like_rocprof_trace("Kernel_Name,SQ_WAVES,Start_Timestamp,End_Timestamp\n"));
  EXPECT_FALSE(looks_like_rocprof_trace("Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n"));
  EXPECT_FALSE(looks_like_rocprof_trace("kernel,flops,bytes,time\n"));
}

std::string node(const std::string& name, const std::string& metrics, const std::string& children = "") {
  return R"({"children":[)" + children + R"(],"frame":{"name":")" + name + R"("},"metrics":{)" + metrics + "}}";
}
const std::string kTimed = R"~("count":5,"device_id":"0","device_type":"CUDA","time (ns)":1000)~";

TEST(Proton, AScopeTakesTheKernelsInIt) {
  const auto text =
      "\n[" +
      node("ROOT", "\"count\":0,\"time (ns)\":0",
           node("scope", R"("flops16":1e9,"bytes":1e6)", node("gemm", kTimed) + "," + node("reduce", kTimed)) + "," +
               node("alone", kTimed) + "," + node("__proton_launch_metadata", "", node("hidden", kTimed)) + "," +
               node("unused", "\"bytes\":5")) +
      R"(,{"CUDA":{"0":{"arch":"100","num_sms":148,"bus_width":8192}},"HIP":{}}])";
  ASSERT_TRUE(looks_like_proton(text));
  const auto timeline = read(read_proton, text);
  ASSERT_EQ(timeline.totals.size(), 2);
  EXPECT_EQ(timeline.names[timeline.totals[0].name], "scope");
  EXPECT_DOUBLE_EQ(timeline.totals[0].total_s, 2e-6);
  EXPECT_EQ(timeline.totals[0].launches, 5);
  EXPECT_EQ(timeline.totals[0].flops, 1e9);
  EXPECT_EQ(timeline.names[timeline.totals[1].name], "alone");
  EXPECT_FALSE(timeline.totals[1].flops);
  EXPECT_EQ(timeline.devices[0].compute_capability, "10.0");
  ASSERT_EQ(timeline.warnings.size(), 1);
  EXPECT_EQ(timeline.warnings[0].code, "declared-without-time");
}

TEST(Proton, TwoDeclarationsOfOneWorkCountOnce) {
  const auto text =
      "[" + node("ROOT", "", node("outer", "\"flops8\":7e9", node("k", kTimed + ",\"flops8\":7e9"))) + ",{}]";
  const auto timeline = read(read_proton, text);
  ASSERT_EQ(timeline.totals.size(), 1);
  EXPECT_EQ(timeline.names[timeline.totals[0].name], "k");
}

TEST(Proton, EmptyRunsAndDamage) {
  EXPECT_EQ(refusal(read_proton, "[" + node("ROOT", "") + ",{}]").kind, "no-gpu-work");
  EXPECT_EQ(refusal(read_proton, "[]").kind, "bad-hatchet");
  EXPECT_EQ(refusal(read_proton, "[{\"frame\":").kind, "bad-json");
  EXPECT_EQ(refusal(read_proton, "[" + node("ROOT", "\"time (ns)\":-5,\"count\":1") + "]").kind, "no-gpu-work");
  std::string deep = node("k", kTimed);
  for (int i = 0; i < 3000; ++i) deep = node("s", "", deep);
  EXPECT_EQ(refusal(read_proton, "[" + deep + "]").kind, "too-deep");
}

}  // namespace
}  // namespace roofline
