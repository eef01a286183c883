// Tensor operations and what makes the count of operations complete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "counting/launches.h"
#include "counting/recipes.h"
#include "roofline/counting.h"

namespace roofline {
namespace {

using testing::add;
using ::testing::Contains;
using testing::count_on;
using testing::device_of;
using ::testing::ElementsAre;
using testing::find_operations;
using testing::has_warning;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::operations;
using testing::sass;

constexpr const char* kTime = "gpu__time_duration.sum";
const std::string kOps = "sm__ops_path_tensor_";
const std::string kPipe = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";

// FP32 counted (so that only the tensor part is open), the time, and what the test adds. The name makes tensor work
// likely.
Launch base() {
  Launch launch;
  launch.name = "void some_gemm<float>(float *)";
  add(launch, kTime, 1e6);
  add(launch, sass("fadd"), 0);
  add(launch, sass("fmul"), 0);
  add(launch, sass("ffma"), 50);
  return launch;
}

Counted count_with(const std::string& cc, std::initializer_list<std::pair<std::string, double>> metrics,
                   const std::string& name = {}) {
  auto launch = base();
  for (const auto& [metric, value] : metrics) add(launch, metric, value);
  launch.metrics.finish();
  return count(launch, device_of(cc, name));
}

const counting::TensorChip& chip(const std::string& cc) {
  return *counting::tensor_chip(counting::capability_number(cc), "", std::nullopt);
}

// All leaves of the chip, each with its own value, and `more`.
Counted count_leaves(const std::string& cc, double each,
                     std::initializer_list<std::pair<std::string, double>> more = {}) {
  auto launch = base();
  for (const auto& counter : chip(cc).counters)
    if (counter.children.empty()) add(launch, kOps + counter.name + ".sum", each);
  for (const auto& [metric, value] : more) add(launch, metric, value);
  launch.metrics.finish();
  return count(launch, device_of(cc));
}

double tensor_total(const Work& work) {
  double sum = 0;
  for (const auto& entry : work.operations)
    if (entry.precision.path == Path::tensor) sum += entry.operations.value();
  return sum;
}

const char* const kAllChips[] = {"7.0", "7.2",  "7.5",  "8.0",  "8.6",  "8.7", "8.9",
                                 "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"};

TEST(CountTensor, AFullLeafSetIsComplete) {
  for (const std::string cc : kAllChips) {
    const auto work = count_leaves(cc, 1000).work;
    EXPECT_DOUBLE_EQ(tensor_total(work), 1000.0 * static_cast<double>(chip(cc).leaves)) << cc;
    EXPECT_THAT(work.coverage.uncounted, Not(Contains("tensor"))) << cc;
  }
}

TEST(CountTensor, AddsToTheCudaCoreOperations) {
  const auto work = count_leaves("7.0", 1000).work;
  EXPECT_DOUBLE_EQ(work.flops().value(), 100 + 2000);
  EXPECT_EQ(work.flops().bound(), Bound::exact);
}

TEST(CountTensor, IntegersAreNoFlops) {
  const auto work = count_leaves("7.5", 1000).work;
  EXPECT_DOUBLE_EQ(work.flops().value(), 100 + 2000);  // two of the five leaves are floating-point
  EXPECT_DOUBLE_EQ(operations(work, "int8.tensor"), 1000);
}

// Whatever part of the tree is there: no counter is added to one that contains it.
TEST(CountTensor, AParentIsNeverAddedToWhatItContains) {
  std::mt19937 random(7);
  for (const std::string cc : kAllChips) {
    const auto& counters = chip(cc).counters;
    // Consistent values: each leaf 1000, each parent the sum of its leaves.
    const std::function<double(std::size_t)> value = [&](std::size_t i) {
      if (counters[i].children.empty()) return 1000.0;
      double sum = 0;
      for (const auto child : counters[i].children) sum += value(child);
      return sum;
    };
    const double most = 1000.0 * static_cast<double>(chip(cc).leaves);
    for (int round = 0; round < 200; ++round) {
      auto launch = base();
      for (std::size_t i = 0; i < counters.size(); ++i)
        if (random() % 3 != 0) add(launch, kOps + counters[i].name + ".sum", value(i));
      launch.metrics.finish();
      const auto counted = count(launch, device_of(cc));
      EXPECT_LE(tensor_total(counted.work), most) << cc;
      EXPECT_FALSE(has_warning(counted, "tensor-counters-disagree")) << cc;
      const auto& coverage = counted.work.coverage;
      const auto names_tensor = [](const auto& list) { return !list.empty() && list.back() == "tensor"; };
      const bool open = names_tensor(coverage.uncounted) || names_tensor(coverage.assumed_none);
      EXPECT_EQ(open, tensor_total(counted.work) < most) << cc;
    }
  }
}

TEST(CountTensor, SparseStandsApart) {
  const auto work = count_leaves("8.0", 0,
                                 {{kOps + "src_bf16_dst_fp32_sparsity_on.sum", 64},
                                  {kOps + "src_bf16_dst_fp32_sparsity_off.sum", 32}})
                        .work;
  EXPECT_DOUBLE_EQ(operations(work, "bf16.tensor"), 32);
  EXPECT_DOUBLE_EQ(operations(work, "bf16.tensor.sparse"), 64);
  EXPECT_EQ(find_operations(work, "fp16.tensor"), nullptr);  // zeros are not listed beside others
}

TEST(CountTensor, LeavesWinOverTheirParent) {
  const auto work = count_leaves("8.0", 10, {{kOps + "src_bf16_dst_fp32.sum", 20}}).work;
  EXPECT_DOUBLE_EQ(tensor_total(work), 140);
  EXPECT_EQ(find_operations(work, "bf16.tensor")->operations.recipe(), "tensor-leaf");
}

TEST(CountTensor, AllParentsMakeAFullSetToo) {
  auto launch = base();
  for (const auto root : chip("9.0").roots) add(launch, kOps + chip("9.0").counters[root].name + ".sum", 100);
  launch.metrics.finish();
  const auto work = count(launch, device_of("9.0")).work;
  EXPECT_DOUBLE_EQ(tensor_total(work), 100.0 * static_cast<double>(chip("9.0").roots.size()));
  EXPECT_TRUE(work.coverage.complete());
  EXPECT_EQ(find_operations(work, "fp16.tensor")->operations.recipe(), "tensor-parent");
  EXPECT_FALSE(find_operations(work, "fp16.tensor")->path_peak);  // a parent's peak is the sparse one
}

TEST(CountTensor, ASingleCounterIsNotAllOfThem) {
  const auto zero = count_with("12.0", {{kOps + "src_bf16_dst_fp32.sum", 0}}).work;
  EXPECT_THAT(zero.coverage.uncounted, ElementsAre("tensor"));
  EXPECT_THAT(zero.coverage.reason, HasSubstr("tensor operations not counted: only src_bf16_dst_fp32"));
  EXPECT_EQ(zero.flops().bound(), Bound::lower);

  const auto some = count_with("12.0", {{kOps + "src_bf16_dst_fp32.sum", 12532580352}}).work;
  EXPECT_THAT(some.coverage.uncounted, ElementsAre("tensor"));
  EXPECT_DOUBLE_EQ(operations(some, "bf16.tensor"), 12532580352);
  EXPECT_EQ(some.flops().bound(), Bound::lower);
}

TEST(CountTensor, ParentAndLeavesThatDifferAreNamed) {
  const auto counted =
      count_leaves("12.0", 0, {{kOps + "src_fp4_dst_fp32.sum", 16384}, {kOps + "src_bf16_dst_fp32.sum", 0}});
  EXPECT_TRUE(has_warning(counted, "tensor-counters-disagree"));
  EXPECT_FALSE(
      has_warning(count_leaves("12.0", 8192, {{kOps + "src_fp4_dst_fp32.sum", 16384}}), "tensor-counters-disagree"));
}

TEST(CountTensor, PerCycleAndRates) {
  auto launch = base();
  add(launch, "sm__cycles_elapsed.avg.per_second", 1e9);
  add(launch, kOps + "src_fp16_dst_fp16.sum.per_cycle_elapsed", 2048);
  add(launch, kOps + "src_fp16_dst_fp32.sum.per_second", 3e9);
  add(launch, kOps + "src_fp16_dst_fp16.sum.peak_sustained", 81920);
  launch.metrics.finish();
  const auto work = count(launch, device_of("7.0")).work;
  EXPECT_DOUBLE_EQ(operations(work, "fp16.acc16.tensor"), 2048e6);
  EXPECT_DOUBLE_EQ(operations(work, "fp16.tensor"), 3e6);
  EXPECT_EQ(find_operations(work, "fp16.tensor")->operations.evidence(), Evidence::derived);
  EXPECT_DOUBLE_EQ(find_operations(work, "fp16.acc16.tensor")->path_peak.value(), 81920e9);
  EXPECT_FALSE(find_operations(work, "fp16.tensor")->path_peak);
  EXPECT_TRUE(work.coverage.complete());
}

TEST(CountTensor, TwoPathsOfOnePrecisionKeepTheirPeaks) {
  const auto work = count_leaves("9.0", 0,
                                 {{kOps + "op_hgmma_src_bf16_dst_fp32_sparsity_off.sum", 4096},
                                  {kOps + "op_hmma_src_bf16_dst_fp32_sparsity_off.sum", 1024},
                                  {kOps + "op_hgmma_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained", 4},
                                  {kOps + "op_hmma_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained", 3},
                                  {"sm__cycles_elapsed.avg.per_second", 10}})
                        .work;
  EXPECT_DOUBLE_EQ(operations(work, "bf16.tensor"), 5120);
  std::vector<double> peaks;
  for (const auto& entry : work.operations)
    if (entry.path_peak) peaks.push_back(*entry.path_peak);
  EXPECT_THAT(peaks, ::testing::UnorderedElementsAre(40, 30));
}

TEST(CountTensor, OnlyZerosAreStillCounted) {
  Launch launch;
  add(launch, kTime, 1e6);
  for (const auto& counter : chip("8.0").counters)
    if (counter.children.empty()) add(launch, kOps + counter.name + ".sum", 0);
  launch.metrics.finish();
  const auto work = count(launch, device_of("8.0")).work;
  ASSERT_TRUE(work.flops());
  EXPECT_EQ(work.flops().value(), 0);
  EXPECT_EQ(work.flops().bound(), Bound::lower);  // the CUDA cores were not counted
  EXPECT_THAT(work.coverage.uncounted, ElementsAre("fp64.vector", "fp32.vector", "fp16.vector"));
}

TEST(CountTensor, CountersOfAnUnknownChipDecideByThemselves) {
  auto launch = base();
  for (const auto& counter : chip("9.0").counters)
    if (counter.children.empty()) add(launch, kOps + counter.name + ".sum", 5);
  launch.metrics.finish();
  const auto work = count(launch, device_of("")).work;
  EXPECT_DOUBLE_EQ(tensor_total(work), 5.0 * 23);
  EXPECT_TRUE(work.coverage.complete());
}

TEST(CountTensor, TheReportItselfNamesTheChip) {
  const auto work = count_with("", {{"device__attribute_compute_capability_major", 6},
                                    {"device__attribute_compute_capability_minor", 1}})
                        .work;
  EXPECT_TRUE(work.coverage.complete());  // Pascal has no tensor cores
}

// --- proof that there was none ---

TEST(TensorIdle, NothingKnownIsUncounted) {
  for (const std::string cc : kAllChips) {
    const auto work = count_with(cc, {}).work;
    EXPECT_THAT(work.coverage.uncounted, Contains("tensor")) << cc;
    EXPECT_THAT(work.coverage.reason, HasSubstr("tensor operations not counted")) << cc;
    EXPECT_EQ(work.flops().bound(), Bound::lower) << cc;
  }
}

TEST(TensorIdle, ChipsWithoutTensorCores) {
  EXPECT_TRUE(count_with("6.1", {}).work.coverage.complete());
  EXPECT_TRUE(count_with("7.5", {}, "NVIDIA GeForce GTX 1650").work.coverage.complete());
  EXPECT_TRUE(count_with("7.5", {{"device__attribute_chip", 0x168}}).work.coverage.complete());
  EXPECT_FALSE(count_with("7.5", {}, "Tesla T4").work.coverage.complete());
}

TEST(TensorIdle, AnIdlePipeProvesIt) {
  for (const std::string cc : {"7.0", "7.5", "8.0", "8.6", "9.0", "12.0"})
    EXPECT_THAT(count_with(cc, {{kPipe, 0}}).work.coverage.uncounted, Not(Contains("tensor"))) << cc;
  // On Ada this name is deprecated, on Blackwell tcgen05 has a pipe of its own: no proof.
  EXPECT_THAT(count_with("8.9", {{kPipe, 0}}).work.coverage.uncounted, Contains("tensor"));
  EXPECT_THAT(count_with("10.0", {{kPipe, 0}}).work.coverage.uncounted, Contains("tensor"));
  EXPECT_THAT(count_with("8.9", {{"sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_elapsed", 0}})
                  .work.coverage.uncounted,
              IsEmpty());
  EXPECT_THAT(count_with("10.0", {{kPipe, 0}, {"sm__pipe_tc_cycles_active.avg.pct_of_peak_sustained_elapsed", 0}})
                  .work.coverage.uncounted,
              Not(Contains("tensor")));
}

TEST(TensorIdle, Fp64MatricesOnTheFp64PipeStayAssumed) {
  EXPECT_THAT(count_with("8.6", {{kPipe, 0}}).work.coverage.assumed_none, Contains("fp64.tensor"));
  EXPECT_THAT(count_with("8.6", {{kPipe, 0}, {"sm__inst_executed_pipe_fp64.sum", 0}}).work.coverage.assumed_none,
              Not(Contains("fp64.tensor")));
  EXPECT_THAT(count_with("8.0", {{kPipe, 0}}).work.coverage.assumed_none, Not(Contains("fp64.tensor")));
}

TEST(TensorIdle, OperationsOneByOne) {
  const std::string hmma = "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active";
  const std::string imma = "sm__inst_executed_pipe_tensor_op_imma.avg.pct_of_peak_sustained_active";
  const std::string dmma = "sm__inst_executed_pipe_tensor_op_dmma.avg.pct_of_peak_sustained_active";
  EXPECT_TRUE(count_with("7.0", {{hmma, 0}}).work.coverage.complete());
  EXPECT_FALSE(count_with("7.5", {{hmma, 0}}).work.coverage.complete());
  EXPECT_TRUE(count_with("7.5", {{hmma, 0}, {imma, 0}}).work.coverage.complete());
  EXPECT_FALSE(count_with("8.0", {{hmma, 0}, {imma, 0}}).work.coverage.complete());
  EXPECT_TRUE(count_with("8.0", {{hmma, 0}, {imma, 0}, {dmma, 0}}).work.coverage.complete());
  EXPECT_FALSE(count_with("8.0", {{hmma, 3}, {imma, 0}, {dmma, 0}}).work.coverage.complete());
}

TEST(TensorIdle, HalfPrecisionInstructionsOnThatPipeAreNoTensorWork) {
  const std::string all = "sm__inst_executed_pipe_tensor.sum";
  const std::string hfma2 = "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum";
  EXPECT_FALSE(count_with("9.0", {{all, 500}}).work.coverage.complete());
  EXPECT_TRUE(count_with("9.0", {{all, 500}, {hfma2, 500}}).work.coverage.complete());
  EXPECT_FALSE(count_with("9.0", {{all, 501}, {hfma2, 500}}).work.coverage.complete());
  EXPECT_FALSE(count_with("8.6", {{all, 500}, {hfma2, 500}}).work.coverage.complete());
}

TEST(TensorIdle, ABusyPipeBoundsWhatWasNotCounted) {
  const auto work = count_with("9.0", {{kPipe, 3}, {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 66}}).work;
  EXPECT_THAT(work.coverage.uncounted, ElementsAre("tensor"));
  EXPECT_DOUBLE_EQ(work.coverage.uncounted_fraction.value(), 0.03);
  EXPECT_EQ(work.coverage.uncounted_fraction.bound(), Bound::upper);
  EXPECT_THAT(work.coverage.reason, HasSubstr("tensor pipe 3 % busy"));
  const auto open = count_on("9.0", {{kTime, 1e6}, {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 66}}).work;
  EXPECT_DOUBLE_EQ(open.coverage.uncounted_fraction.value(), 0.66);
  EXPECT_FALSE(count_on("9.0", {{kTime, 1e6}}).work.coverage.uncounted_fraction);
}

TEST(TensorIdle, ANearlyIdlePipeChangesNothing) {
  const auto work = count_with("9.0", {{kPipe, 0.004}}).work;
  EXPECT_TRUE(work.coverage.complete());
  EXPECT_EQ(work.flops().bound(), Bound::exact);
}

// Consumer chips run FP32-accumulating tensor work at half of the rate that the pipe's percentage is of: a pipe 32 %
// busy may fill 64 % of that roof, as a counted BF16 GEMM on an RTX 5090 does.
TEST(TensorIdle, AHalfRateRoofFillsTwiceAsFast) {
  EXPECT_DOUBLE_EQ(count_with("12.0", {{kPipe, 32.1}}).work.coverage.uncounted_fraction.value(), 0.642);
  EXPECT_DOUBLE_EQ(count_with("8.6", {{kPipe, 60}}).work.coverage.uncounted_fraction.value(), 1.0);
  EXPECT_DOUBLE_EQ(count_with("8.0", {{kPipe, 32.1}}).work.coverage.uncounted_fraction.value(), 0.321);
}

// The report names the units behind the SM's percentage: load/store and integer units compute no FLOPs.
TEST(TensorIdle, OnlyUnitsThatComputeBoundWhatWasNotCounted) {
  const std::string sm = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
  const std::string lsu = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed";
  const std::string fma = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
  auto launch = testing::launch_with({{kTime, 1e6}, {sm, 90}, {lsu, 90}, {fma, 12}, {kPipe, 0}});
  EXPECT_DOUBLE_EQ(count(launch, device_of("9.0")).work.coverage.uncounted_fraction.value(), 0.90);
  launch.metrics.set_text(MetricCatalogue::instance().require("breakdown:" + sm), lsu + ", " + fma);
  launch.metrics.finish();
  EXPECT_DOUBLE_EQ(count(launch, device_of("9.0")).work.coverage.uncounted_fraction.value(), 0.12);
  // A unit without a value may have been the busiest.
  launch.metrics.set_text(MetricCatalogue::instance().require("breakdown:" + sm),
                          lsu + ", " + fma + ", sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed");
  launch.metrics.finish();
  EXPECT_DOUBLE_EQ(count(launch, device_of("9.0")).work.coverage.uncounted_fraction.value(), 0.90);
}

TEST(TensorIdle, WithoutAnyHintItIsAssumedNone) {
  auto launch = base();
  launch.name = "void stencil<double>(double *)";
  launch.metrics.finish();
  const auto work = count(launch, device_of("7.0")).work;
  EXPECT_TRUE(work.coverage.complete());
  EXPECT_THAT(work.coverage.assumed_none, Contains("tensor"));
  EXPECT_EQ(work.flops().bound(), Bound::lower);
  // A busy SM is a hint: then it stays open, with that bound.
  auto busy = base();
  busy.name = launch.name;
  add(busy, "sm__throughput.avg.pct_of_peak_sustained_elapsed", 66);
  busy.metrics.finish();
  EXPECT_THAT(count(busy, device_of("7.0")).work.coverage.uncounted, ElementsAre("tensor"));
}

TEST(TensorIdle, ABusyPipeWhoseCountersReadZeroIsNotZero) {
  const auto busy = count_leaves("12.0", 0, {{kPipe, 32}}).work;
  EXPECT_THAT(busy.coverage.uncounted, ElementsAre("tensor"));
  EXPECT_THAT(busy.coverage.reason, HasSubstr("all counters read 0"));
  EXPECT_TRUE(count_leaves("12.0", 0, {{kPipe, 4}}).work.coverage.complete());
  EXPECT_TRUE(count_leaves("12.0", 10, {{kPipe, 32}}).work.coverage.complete());
  // HFMA2.MMA of counted half-precision work keeps this pipe busy on GA100 and GH100.
  EXPECT_TRUE(count_leaves("8.0", 0, {{kPipe, 32}, {sass("hadd"), 0}, {sass("hmul"), 0}, {sass("hfma"), 9}})
                  .work.coverage.complete());
}

TEST(TensorInstructions, AreNotCountableWhereTheirSizeVaries) {
  const std::string count = "sm__inst_executed_pipe_tensor.sum";
  const auto hopper = count_with("9.0", {{count, 1e6}}).work;
  EXPECT_EQ(tensor_total(hopper), 0);
  EXPECT_THAT(hopper.coverage.reason, HasSubstr("wgmma"));
  EXPECT_THAT(count_with("10.0", {{count, 1e6}}).work.coverage.reason, HasSubstr("tcgen05"));
  EXPECT_THAT(count_with("8.0", {{count, 1e6}}).work.coverage.reason, HasSubstr("HFMA2.MMA"));
  EXPECT_THAT(count_with("8.9", {{count, 1e6}}).work.coverage.reason, HasSubstr("deprecated"));
  EXPECT_TRUE(count_with("8.6", {{count, 0}}).work.coverage.complete());
}

TEST(TensorInstructions, DmmaHasOneShapeOnAmpere) {
  const auto work = count_with("8.0", {{"sm__inst_executed_pipe_tensor_op_dmma.sum", 10}}).work;
  EXPECT_DOUBLE_EQ(operations(work, "fp64.tensor"), 5120);
  EXPECT_THAT(work.coverage.uncounted, ElementsAre("tensor"));  // the other operations are still open
  EXPECT_EQ(tensor_total(count_with("9.0", {{"sm__inst_executed_pipe_tensor_op_dmma.sum", 10}}).work), 0);
  const auto other = count_with("8.6", {{"sm__inst_executed_pipe_fp64_op_dmma.sum", 3}, {kPipe, 0}}).work;
  EXPECT_DOUBLE_EQ(operations(other, "fp64.tensor"), 1536);
  EXPECT_TRUE(other.coverage.complete());
}

}  // namespace
}  // namespace roofline
