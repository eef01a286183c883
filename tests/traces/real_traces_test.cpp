// Every trace among the real files is read with the counts that an independent look gave, or refused for its reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "roofline/error.h"
#include "roofline/timeline.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

using ::testing::HasSubstr;
using testing::shared_path;

std::size_t kernels(const Timeline& timeline) {
  return static_cast<std::size_t>(std::count_if(timeline.activities.begin(), timeline.activities.end(),
                                                [](const auto& a) { return a.work == GpuWork::kernel; }));
}
std::size_t shaped_kernels(const Timeline& timeline) {
  return static_cast<std::size_t>(
      std::count_if(timeline.activities.begin(), timeline.activities.end(),
                    [](const auto& a) { return a.work == GpuWork::kernel && a.grid.count() > 0; }));
}
std::size_t linked_kernels(const Timeline& timeline) {
  return static_cast<std::size_t>(
      std::count_if(timeline.activities.begin(), timeline.activities.end(),
                    [](const auto& a) { return a.work == GpuWork::kernel && a.external_id > 0; }));
}

InputProblem refusal(const std::string& path) {
  try {
    open_timeline(path);
  } catch (const InputError& error) {
    return error.problem();
  }
  return {};
}

#define OPEN(variable, file)   \
  ROOFLINE_NEEDS_SHARED(file); \
  const auto variable = open_timeline(shared_path(file).string())

TEST(RealTraces, VllmDecodeHas425KernelsFourOfThemWithShapes) {
  OPEN(timeline, "data/torch/AMD-AGI__TraceLens__vllm_decode_full_graph_execution.json.gz");
  EXPECT_EQ(timeline.format, "torch-trace");
  EXPECT_EQ(timeline.producer, "PyTorch (Kineto, roctracer 4.1)");
  EXPECT_EQ(kernels(timeline), 425);
  EXPECT_EQ(shaped_kernels(timeline), 4);
  EXPECT_EQ(linked_kernels(timeline), 4);
  EXPECT_EQ(timeline.activities.size(), 425 + 9);
  EXPECT_EQ(timeline.operators.size(), 100);
  EXPECT_EQ(timeline.calls.size(), 20);
  EXPECT_EQ(timeline.ranges.size(), 1);
  ASSERT_EQ(timeline.devices.size(), 1);  // of eight listed
  EXPECT_EQ(timeline.devices[0].sm_count, 304);
  EXPECT_EQ(timeline.devices[0].compute_capability, "gfx942");
}

TEST(RealTraces, SglangDecodeHas555KernelsEightOfThemFromOperators) {
  OPEN(timeline, "data/torch/AMD-AGI__TraceLens__sglang_Qwen3-8B_decode.json.gz");
  EXPECT_EQ(kernels(timeline), 555);
  EXPECT_EQ(linked_kernels(timeline), 8);
  EXPECT_EQ(shaped_kernels(timeline), 11);  // three more launched outside of any operator
  ASSERT_EQ(timeline.devices.size(), 1);
  EXPECT_EQ(timeline.devices[0].id, 9);  // the trace counts nodes, its list of devices counts from 0
  EXPECT_EQ(timeline.devices[0].name, "AMD Instinct MI300X");
  EXPECT_EQ(timeline.rank, 0);
  EXPECT_EQ(timeline.world_size, 1);
}

TEST(RealTraces, HuggingFaceRunOnH100) {
  OPEN(timeline, "data/torch/AMD-AGI__TraceLens__h100_Qwen1.5-0.5B-Chat.json.gz");
  EXPECT_EQ(kernels(timeline), 1465);
  EXPECT_EQ(linked_kernels(timeline), 1029);
  EXPECT_EQ(timeline.operators.size(), 4186);
  EXPECT_EQ(timeline.calls.size(), 1921 + 1);
  ASSERT_TRUE(timeline.recorded);
  EXPECT_EQ(timeline.recorded->length(), 49'840'032);
  ASSERT_EQ(timeline.devices.size(), 1);
  EXPECT_EQ(timeline.devices[0].name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(timeline.devices[0].compute_capability, "9.0");
  // To the nanosecond: "ts": 1428625731622.25, "dur": 18.112
  EXPECT_EQ(timeline.activities.front().span.start_ns, 1'428'625'731'622'250);
  EXPECT_EQ(timeline.activities.front().span.length(), 18'112);
}

TEST(RealTraces, EagerRunOnB200WithCollectives) {
  OPEN(timeline, "data/torch/AMD-AGI__TraceLens__b200_eager_trace.json.gz");
  EXPECT_EQ(kernels(timeline), 768);
  EXPECT_EQ(timeline.calls.size(), 1151 + 221);
  const auto with_collective = std::count_if(timeline.activities.begin(), timeline.activities.end(),
                                             [](const auto& a) { return a.collective != kNone; });
  EXPECT_EQ(with_collective, 1);
  ASSERT_FALSE(timeline.collectives.empty());
  const auto& call = timeline.collectives[0];
  EXPECT_EQ(timeline.names[call.name], "_allgather_base");
  EXPECT_EQ(timeline.names[call.type], "BFloat16");
  EXPECT_EQ(call.elements_in, 25'136);
  EXPECT_EQ(call.elements_out, 201'088);
  EXPECT_EQ(call.group_size, 8);
}

TEST(RealTraces, SampledRank) {
  OPEN(timeline, "data/torch/facebookresearch__HolisticTraceAnalysis__sampled_rank-0.json.gz");
  EXPECT_EQ(kernels(timeline), 1154);
  EXPECT_EQ(timeline.rank, 0);
  EXPECT_EQ(timeline.world_size, 128);
  EXPECT_EQ(timeline.producer, "PyTorch (Kineto)");
  ASSERT_EQ(timeline.devices.size(), 1);
  EXPECT_TRUE(timeline.devices[0].name.empty());  // the file lists no devices
}

TEST(RealTraces, TracesWithoutUsableKernelsAreRefused) {
  const struct {
    const char* file;
    const char* kind;
    const char* words;
  } cases[] = {
      {"data/torch/facebookresearch__HolisticTraceAnalysis__rank_non_gpu.json.gz", "no-gpu-work", "2424 operators"},
      {"data/torch/facebookresearch__HolisticTraceAnalysis__cupti_profiler_trace.json.gz", "false-durations",
       "77 profiler ranges"},
      {"data/torch/gau-nernst__learn-cuda__intra_kernel_trace_v6.json.gz", "not-a-gpu-trace", "103544 spans"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.file);
    ROOFLINE_NEEDS_SHARED(c.file);
    const auto problem = refusal(shared_path(c.file).string());
    EXPECT_EQ(problem.kind, c.kind);
    EXPECT_THAT(problem.found, HasSubstr(c.words));
    EXPECT_FALSE(problem.action.empty());
  }
}

TEST(RealTraces, RocprofKernelTraces) {
  OPEN(old, "data/rocprof/ROCm__rocprofiler-sdk__kernel_trace.csv");
  EXPECT_EQ(old.format, "rocprof-csv");
  EXPECT_EQ(old.activities.size(), 7);
  EXPECT_EQ(old.activities[0].span.length(), 48'744);
  EXPECT_EQ(old.activities[0].grid, (Dim3{16, 1024, 1}));
  EXPECT_EQ(old.activities[0].block, (Dim3{64, 1, 1}));
  OPEN(newer, "data/rocprof/ROCm__rocm-systems__newer_kernel_trace.csv");
  EXPECT_EQ(newer.activities.size(), 9);
  ASSERT_EQ(newer.devices.size(), 1);
  EXPECT_EQ(newer.devices[0].id, 4);  // "Agent 4"
  EXPECT_EQ(newer.names[newer.activities[0].name], "addition_kernel");
  OPEN(timestamps, "data/rocprof/ROCm__rocprofiler-compute__vcopy_MI200_timestamps.csv");
  EXPECT_EQ(timestamps.activities.size(), 3);
  EXPECT_EQ(timestamps.activities[0].span.length(), 20'480);
}

TEST(RealTraces, ProtonMatmul) {
  OPEN(timeline, "data/other/Tianshi-Xu__assignment2-systems__matmul.hatchet");
  EXPECT_EQ(timeline.format, "proton");
  ASSERT_EQ(timeline.totals.size(), 4);
  const struct {
    const char* name;
    double microseconds, teraflops;
  } expected[] = {{"cublas [M=8192, N=8192, K=512]", 382.04, 179.9},
                  {"matmul_kernel [M=8192, N=8192, K=512]", 402.87, 170.6},
                  {"matmul_kernel_persistent [M=8192, N=8192, K=512]", 429.94, 159.8},
                  {"torch [M=8192, N=8192, K=512]", 382.56, 179.6}};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& row = timeline.totals[i];
    EXPECT_EQ(timeline.names[row.name], expected[i].name);
    ASSERT_EQ(row.launches, 10'000);
    ASSERT_TRUE(row.flops && row.bytes);
    EXPECT_NEAR(*row.flops / 1e4 / 1e9, 68.719, 0.001);
    EXPECT_NEAR(*row.bytes / 1e4 / 1e6, 150.995, 0.001);
    EXPECT_NEAR(row.total_s / 1e4 * 1e6, expected[i].microseconds, 0.01);
    EXPECT_NEAR(*row.flops / row.total_s / 1e12, expected[i].teraflops, 0.1);
    EXPECT_EQ(row.flops_kind, "flops16");
  }
  ASSERT_EQ(timeline.devices.size(), 1);
  EXPECT_EQ(timeline.devices[0].compute_capability, "8.0");
  EXPECT_EQ(timeline.devices[0].sm_count, 108);
  EXPECT_EQ(timeline.devices[0].memory_bus_bits, 5120);
}

TEST(RealTraces, ProtonOfTwoDevices) {
  OPEN(timeline, "data/other/triton-lang__triton__proton_cuda.json");
  ASSERT_EQ(timeline.totals.size(), 2);
  ASSERT_EQ(timeline.devices.size(), 2);
  EXPECT_EQ(timeline.devices[timeline.totals[0].device].compute_capability, "9.0");
  EXPECT_EQ(timeline.devices[timeline.totals[1].device].compute_capability, "8.9");
  EXPECT_EQ(timeline.totals[0].flops_kind, "flops8");
}

}  // namespace
}  // namespace roofline
