#include "roofline/counting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "counting/launches.h"

namespace roofline {
namespace {

using ::testing::Contains;
using testing::count_on;
using testing::device_of;
using ::testing::ElementsAre;
using testing::find_operations;
using testing::has_warning;
using ::testing::HasSubstr;
using testing::launch_with;
using testing::operations;
using testing::sass;

constexpr const char* kTime = "gpu__time_duration.sum";

// --- time ---

TEST(CountTime, DurationWinsOverEverythingElse) {
  const auto counted = count_on("7.0", {{kTime, 2000},
                                        {"gpu__time_active.avg", 1900},
                                        {"sm__cycles_elapsed.avg", 2000},
                                        {"sm__cycles_elapsed.avg.per_second", 1e9}});
  EXPECT_DOUBLE_EQ(counted.work.time.value(), 2e-6);
  EXPECT_EQ(counted.work.time.evidence(), Evidence::counter);
  EXPECT_EQ(counted.work.time.recipe(), "duration");
  EXPECT_THAT(counted.work.time.provenance()->metrics, ElementsAre(kTime));
  EXPECT_TRUE(counted.warnings.empty());
}

TEST(CountTime, CyclesOverClockIsDerived) {
  const auto counted =
      count_on("7.0", {{"sm__cycles_elapsed.avg", 1.2e6}, {"sm__cycles_elapsed.avg.per_second", 1.2e9}});
  EXPECT_DOUBLE_EQ(counted.work.time.value(), 1e-3);
  EXPECT_EQ(counted.work.time.evidence(), Evidence::derived);
  EXPECT_THAT(counted.work.time.provenance()->metrics,
              ElementsAre("sm__cycles_elapsed.avg", "sm__cycles_elapsed.avg.per_second"));
}

TEST(CountTime, PascalNameIsTheSameMetric) {
  Launch launch;
  launch.metrics.set(*MetricCatalogue::instance().find("gpu__time_duration"), 5e6);
  launch.metrics.finish();
  EXPECT_DOUBLE_EQ(count(launch, device_of("6.1")).work.time.value(), 5e-3);
}

TEST(CountTime, AbsentZeroAndNotANumber) {
  EXPECT_FALSE(count_on("7.0", {}).work.time);
  EXPECT_FALSE(count_on("7.0", {{kTime, 0}}).work.time);
  EXPECT_EQ(count_on("7.0", {{kTime, 0}}).work.time.note(), "the duration is 0");
  EXPECT_FALSE(count_on("7.0", {{kTime, std::nan("")}}).work.time);
  EXPECT_FALSE(count_on("7.0", {{kTime, std::numeric_limits<double>::infinity()}}).work.time);
  EXPECT_FALSE(count_on("7.0", {{"sm__cycles_elapsed.avg", 1}, {"sm__cycles_elapsed.avg.per_second", 0}}).work.time);
  EXPECT_FALSE(count_on("7.0", {{kTime, -5}}).work.time);
}

TEST(CountTime, PassesThatDidNotRunAlikeAreNamed) {
  const auto off =
      count_on("7.0", {{kTime, 1e6}, {"sm__cycles_elapsed.avg", 148e6}, {"sm__cycles_elapsed.avg.per_second", 1e9}});
  EXPECT_DOUBLE_EQ(off.work.time.value(), 1e-3);
  ASSERT_TRUE(has_warning(off, "times-disagree"));
  EXPECT_THAT(off.warnings.front().message, HasSubstr("0.148 s by sm-cycles"));
  EXPECT_FALSE(has_warning(
      count_on("7.0", {{kTime, 1e6}, {"sm__cycles_elapsed.avg", 1.05e6}, {"sm__cycles_elapsed.avg.per_second", 1e9}}),
      "times-disagree"));
}

TEST(CountTime, TheCyclesOfARunThatCountedInstructionsAreDoubted) {
  const auto counted = count_on("7.0", {{"sm__cycles_elapsed.avg", 148e6},
                                        {"sm__cycles_elapsed.avg.per_second", 1e9},
                                        {sass("dadd", "sm"), 1},
                                        {sass("dmul", "sm"), 1},
                                        {sass("dfma", "sm"), 1}});
  EXPECT_TRUE(has_warning(counted, "time-of-counting-run"));
  const auto bytes = count_on(
      "7.0", {{"sm__cycles_elapsed.avg", 148e6}, {"sm__cycles_elapsed.avg.per_second", 1e9}, {"dram__bytes.sum", 1e6}});
  EXPECT_FALSE(has_warning(bytes, "time-of-counting-run"));
}

TEST(CountTime, MediansOfSeveralRunsAreDerived) {
  auto launch = launch_with({{"gpu__time_duration.sum", 1000}, {"dram__bytes.sum", 64}});
  launch.derived = true;
  const auto work = count(launch, device_of("7.0")).work;
  EXPECT_EQ(work.time.evidence(), Evidence::derived);
  EXPECT_EQ(work.level(MemoryLevel::dram).total.evidence(), Evidence::derived);
}

// --- CUDA-core operations ---

TEST(CountVector, WeightsPerPrecision) {
  const auto work = count_on("7.0", {{sass("dadd"), 100},
                                     {sass("dmul"), 10},
                                     {sass("dfma"), 1},
                                     {sass("fadd"), 200},
                                     {sass("fmul"), 20},
                                     {sass("ffma"), 2},
                                     {sass("hadd"), 300},
                                     {sass("hmul"), 30},
                                     {sass("hfma"), 3}})
                        .work;
  EXPECT_DOUBLE_EQ(operations(work, "fp64.vector"), 112);
  EXPECT_DOUBLE_EQ(operations(work, "fp32.vector"), 224);
  EXPECT_DOUBLE_EQ(operations(work, "fp16.vector"), 2 * 300 + 2 * 30 + 4 * 3);
  EXPECT_EQ(find_operations(work, "fp32.vector")->operations.evidence(), Evidence::counter);
  EXPECT_THAT(find_operations(work, "fp32.vector")->operations.provenance()->metrics,
              ElementsAre(sass("fadd"), sass("fmul"), sass("ffma")));
  EXPECT_THAT(work.coverage.assumed_none,
              ElementsAre("tensor"));  // nothing was collected about it, no name hints at it
  EXPECT_EQ(work.flops().bound(), Bound::lower);
}

TEST(CountVector, BothSpellingsAndTheirOrder) {
  const auto sm = count_on("7.0", {{sass("fadd", "sm"), 1}, {sass("fmul", "sm"), 2}, {sass("ffma", "sm"), 3}}).work;
  EXPECT_DOUBLE_EQ(operations(sm, "fp32.vector"), 9);
  EXPECT_EQ(find_operations(sm, "fp32.vector")->operations.recipe(), "sm-sass");
  const auto both = count_on("7.0", {{sass("fadd", "sm"), 1},
                                     {sass("fmul", "sm"), 2},
                                     {sass("ffma", "sm"), 3},
                                     {sass("fadd"), 1},
                                     {sass("fmul"), 2},
                                     {sass("ffma"), 3}})
                        .work;
  EXPECT_EQ(find_operations(both, "fp32.vector")->operations.recipe(), "smsp-sass");
}

TEST(CountVector, PerCycleTimesClockTimesTime) {
  const auto work = count_on("9.0", {{kTime, 51930592},
                                     {"smsp__cycles_elapsed.avg.per_second", 1094959253.750812},
                                     {sass("fadd", "smsp", ".sum.per_cycle_elapsed"), 0},
                                     {sass("fmul", "smsp", ".sum.per_cycle_elapsed"), 0},
                                     {sass("ffma", "smsp", ".sum.per_cycle_elapsed"), 1208.5332739771948}})
                        .work;
  const auto* fp32 = find_operations(work, "fp32.vector");
  ASSERT_NE(fp32, nullptr);
  EXPECT_NEAR(fp32->operations.value(), 2.0 * 4096 * 4096 * 4096, 1.0);
  EXPECT_EQ(fp32->operations.evidence(), Evidence::derived);
  EXPECT_THAT(fp32->operations.provenance()->metrics, Contains("smsp__cycles_elapsed.avg.per_second"));
}

TEST(CountVector, ARateWithoutATimeIsNothing) {
  const auto work = count_on("9.0", {{"smsp__cycles_elapsed.avg.per_second", 1e9},
                                     {sass("fadd", "smsp", ".sum.per_cycle_elapsed"), 1},
                                     {sass("fmul", "smsp", ".sum.per_cycle_elapsed"), 1},
                                     {sass("ffma", "smsp", ".sum.per_cycle_elapsed"), 1}})
                        .work;
  EXPECT_EQ(find_operations(work, "fp32.vector"), nullptr);
  EXPECT_THAT(work.coverage.uncounted, Contains("fp32.vector"));
}

TEST(CountVector, ChartOfTheDetailsPage) {
  const auto work = count_on("12.0", {{kTime, 6750},
                                      {"sm__cycles_elapsed.avg.per_second", 2.15e9},
                                      {"derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2", 158.12},
                                      {sass("fadd", "smsp", ".sum.per_cycle_elapsed"), 1.97},
                                      {sass("fmul", "smsp", ".sum.per_cycle_elapsed"), 0}})
                        .work;
  EXPECT_NEAR(operations(work, "fp32.vector") / work.time.value(), 344.2e9, 0.1e9);
}

TEST(CountVector, PackedFp32CountsOnBlackwell) {
  const auto all = count_on("10.0", {{sass("fadd"), 1},
                                     {sass("fmul"), 1},
                                     {sass("ffma"), 1},
                                     {sass("fadd2"), 10},
                                     {sass("fmul2"), 100},
                                     {sass("ffma2"), 1000}})
                       .work;
  EXPECT_DOUBLE_EQ(operations(all, "fp32.vector"), 4 + 20 + 200 + 4000);
  EXPECT_EQ(find_operations(all, "fp32.vector")->operations.bound(), Bound::exact);

  const auto some = count_on("10.3", {{sass("fadd"), 1}, {sass("fmul"), 1}, {sass("ffma"), 1}}).work;
  EXPECT_EQ(find_operations(some, "fp32.vector")->operations.bound(), Bound::lower);
  EXPECT_THAT(some.coverage.uncounted, Contains("fp32.vector"));
  EXPECT_THAT(some.coverage.reason, HasSubstr("FFMA2"));
  // Other chips do not have the packed instructions: nothing is missing there.
  EXPECT_EQ(
      find_operations(count_on("9.0", {{sass("fadd"), 1}, {sass("fmul"), 1}, {sass("ffma"), 1}}).work, "fp32.vector")
          ->operations.bound(),
      Bound::exact);
}

TEST(CountVector, NvprofCountsComeWeighted) {
  const auto work = count_on("7.0", {{"flop_count_sp", 1000}, {"flop_count_dp", 10}, {"flop_count_hp", 7}}).work;
  EXPECT_DOUBLE_EQ(operations(work, "fp32.vector"), 1000);
  EXPECT_DOUBLE_EQ(operations(work, "fp64.vector"), 10);
  EXPECT_DOUBLE_EQ(operations(work, "fp16.vector"), 7);
  EXPECT_FALSE(fp16_with_scalar_weights(work));
}

TEST(CountVector, APartOfTheInstructionsIsALowerBound) {
  const auto work = count_on("7.0", {{sass("ffma"), 50}}).work;
  const auto* fp32 = find_operations(work, "fp32.vector");
  ASSERT_NE(fp32, nullptr);
  EXPECT_DOUBLE_EQ(fp32->operations.value(), 100);
  EXPECT_EQ(fp32->operations.bound(), Bound::lower);
  EXPECT_THAT(fp32->operations.provenance()->metrics, ElementsAre(sass("ffma")));
  EXPECT_THAT(work.coverage.uncounted, Contains("fp32.vector"));
}

TEST(CountVector, ZeroIsCountedAndAbsentIsNot) {
  const auto zero = count_on("6.1", {{sass("fadd"), 0}, {sass("fmul"), 0}, {sass("ffma"), 0}}).work;
  ASSERT_TRUE(zero.flops());
  EXPECT_EQ(zero.flops().value(), 0);
  EXPECT_EQ(zero.flops().bound(), Bound::exact);
  EXPECT_THAT(zero.coverage.assumed_none, ElementsAre("fp64.vector", "fp16.vector"));
  EXPECT_TRUE(zero.coverage.complete());

  const auto absent = count_on("6.1", {}).work;
  EXPECT_FALSE(absent.flops());
  EXPECT_THAT(absent.coverage.uncounted, ElementsAre("fp64.vector", "fp32.vector", "fp16.vector"));
  EXPECT_FALSE(absent.coverage.reason.empty());
}

TEST(CountVector, CountersOfTwoPassesThatDisagreeAreNamed) {
  const auto counted = count_on("7.0", {{sass("fadd"), 1e6},
                                        {sass("fmul"), 0},
                                        {sass("ffma"), 0},
                                        {sass("fadd", "sm"), 1.03e6},
                                        {sass("fmul", "sm"), 0},
                                        {sass("ffma", "sm"), 0}});
  ASSERT_TRUE(has_warning(counted, "passes-disagree"));
  EXPECT_THAT(counted.warnings.front().message, HasSubstr("2.9 % apart"));
}

TEST(CountVector, TheClockOfAnotherPassIsNamed) {
  const auto counted = count_on("12.0", {{kTime, 6750},
                                         {"sm__cycles_elapsed.avg.per_second", 2.15e9},
                                         {"gpc__cycles_elapsed.avg.per_second", 1.99e9},
                                         {sass("fadd", "smsp", ".sum.per_cycle_elapsed"), 1},
                                         {sass("fmul", "smsp", ".sum.per_cycle_elapsed"), 1},
                                         {sass("ffma", "smsp", ".sum.per_cycle_elapsed"), 1}});
  ASSERT_TRUE(has_warning(counted, "clocks-disagree"));
  EXPECT_THAT(counted.warnings.front().message, HasSubstr("8.0 % off"));
}

TEST(CountVector, Fp16UnderTheOlderWeights) {
  const auto work = count_on("8.0", {{sass("hadd"), 5}, {sass("hmul"), 7}, {sass("hfma"), 11}}).work;
  EXPECT_DOUBLE_EQ(operations(work, "fp16.vector"), 68);
  EXPECT_DOUBLE_EQ(fp16_with_scalar_weights(work).value(), 5 + 7 + 22);
  EXPECT_FALSE(fp16_with_scalar_weights(Work{}));
}

// --- DRAM ---

const LevelTraffic& dram(const Work& work) { return work.level(MemoryLevel::dram); }

TEST(CountDram, InOrderOfDirectness) {
  const auto all = count_on("7.0", {{kTime, 1e6},
                                    {"dram__bytes.sum", 1000e3},
                                    {"dram__bytes_read.sum", 700e3},
                                    {"dram__bytes_write.sum", 300e3},
                                    {"dram__bytes.sum.per_second", 1e9}});
  EXPECT_DOUBLE_EQ(dram(all.work).total.value(), 1000e3);
  EXPECT_EQ(dram(all.work).total.recipe(), "dram-bytes");
  EXPECT_DOUBLE_EQ(dram(all.work).read.value(), 700e3);
  EXPECT_DOUBLE_EQ(dram(all.work).write.value(), 300e3);
  EXPECT_EQ(dram(all.work).definition, "dram");
  EXPECT_TRUE(all.warnings.empty());
}

TEST(CountDram, EverySpelling) {
  const auto total = [](testing::Metrics metrics) { return dram(count_on("7.0", metrics).work).total; };
  EXPECT_DOUBLE_EQ(total({{"dram__bytes_read.sum", 5}, {"dram__bytes_write.sum", 6}}).value(), 11);
  EXPECT_DOUBLE_EQ(total({{"dram__bytes_op_read.sum", 5}, {"dram__bytes_op_write.sum", 6}}).value(), 11);
  EXPECT_DOUBLE_EQ(total({{"fbpa__dram_read_bytes.sum", 5}, {"fbpa__dram_write_bytes.sum", 6}}).value(), 11);
  EXPECT_DOUBLE_EQ(total({{"dram__sectors_read.sum", 5}, {"dram__sectors_write.sum", 6}}).value(), 11 * 32);
  EXPECT_DOUBLE_EQ(total({{"dram__sectors.sum", 3}}).value(), 96);
  const auto rate = total({{kTime, 2e9}, {"dram__bytes.sum.per_second", 5}});
  EXPECT_DOUBLE_EQ(rate.value(), 10);
  EXPECT_EQ(rate.evidence(), Evidence::derived);
  EXPECT_DOUBLE_EQ(
      total({{kTime, 2e9}, {"dram__bytes_read.sum.per_second", 5}, {"dram__bytes_write.sum.per_second", 1}}).value(),
      12);
}

TEST(CountDram, PascalNames) {
  Launch launch;
  const auto& catalogue = MetricCatalogue::instance();
  launch.metrics.set(*catalogue.find("dram__read_bytes"), 100);
  launch.metrics.set(*catalogue.find("dram__write_bytes"), 11);
  launch.metrics.finish();
  EXPECT_DOUBLE_EQ(dram(count(launch, device_of("6.1")).work).total.value(), 111);
}

TEST(CountDram, ReadsAloneAreALowerBound) {
  const auto work = count_on("7.0", {{"dram__bytes_read.sum", 5}}).work;
  EXPECT_EQ(dram(work).total.bound(), Bound::lower);
  EXPECT_DOUBLE_EQ(dram(work).total.value(), 5);
  EXPECT_FALSE(dram(work).write);
}

TEST(CountDram, PercentOfPeakNeedsNoPeak) {
  const auto work =
      count_on("9.0", {{kTime, 1e6}, {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 41.5}}).work;
  EXPECT_FALSE(dram(work).total);
  EXPECT_FALSE(dram(work).total.note().empty());
  EXPECT_DOUBLE_EQ(dram(work).direct_fraction.value(), 0.415);
  EXPECT_EQ(dram(work).direct_fraction.evidence(), Evidence::derived);
  EXPECT_EQ(dram(work).definition, "dram");
  // ... and stands beside the bytes where both are there.
  const auto both =
      count_on("9.0", {{"dram__bytes.sum", 7}, {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 3}}).work;
  EXPECT_DOUBLE_EQ(dram(both).direct_fraction.value(), 0.03);
  EXPECT_DOUBLE_EQ(dram(both).total.value(), 7);
}

TEST(CountDram, ARateOfAnotherPassIsNamed) {
  const auto counted =
      count_on("7.0", {{kTime, 1e6}, {"dram__bytes.sum", 1e6}, {"dram__bytes.sum.per_second", 1.02e9}});
  ASSERT_TRUE(has_warning(counted, "passes-disagree"));
  EXPECT_THAT(counted.warnings.front().message, HasSubstr("dram-rate"));
  EXPECT_FALSE(
      has_warning(count_on("7.0", {{kTime, 1e6}, {"dram__bytes.sum", 1e6}, {"dram__bytes.sum.per_second", 1.005e9}}),
                  "passes-disagree"));
}

// --- caches ---

const LevelTraffic& l2(const Work& work) { return work.level(MemoryLevel::l2); }
const LevelTraffic& l1(const Work& work) { return work.level(MemoryLevel::l1); }

TEST(CountL2, ExactOnOnePartitionUpperOnTwo) {
  for (const std::string cc : {"7.0", "7.5", "8.6", "8.9", "12.0"}) {
    const auto work = count_on(cc, {{"lts__t_bytes.sum", 1000}}).work;
    EXPECT_EQ(l2(work).total.bound(), Bound::exact) << cc;
    EXPECT_EQ(l2(work).definition, "lts_t");
  }
  for (const std::string cc : {"8.0", "9.0", "10.0", "10.3", ""}) {
    const auto work = count_on(cc, {{"lts__t_bytes.sum", 1000}}).work;
    EXPECT_EQ(l2(work).total.bound(), Bound::upper) << cc;
  }
}

TEST(CountL2, FabricTrafficIsTakenOff) {
  const auto work = count_on("8.0", {{"lts__t_bytes.sum", 1000}, {"lts__t_sectors_srcunit_ltcfabric.sum", 10}}).work;
  EXPECT_DOUBLE_EQ(l2(work).total.value(), 680);
  EXPECT_EQ(l2(work).total.bound(), Bound::exact);
  EXPECT_EQ(l2(work).total.evidence(), Evidence::derived);
  // Passes that disagree must not make it negative.
  EXPECT_EQ(
      l2(count_on("8.0", {{"lts__t_bytes.sum", 10}, {"lts__t_sectors_srcunit_ltcfabric.sum", 10}}).work).total.value(),
      0);
}

TEST(CountL2, SectorsAreThirtyTwoBytes) {
  EXPECT_DOUBLE_EQ(l2(count_on("7.0", {{"lts__t_sectors.sum", 4}}).work).total.value(), 128);
  const auto rate = l2(count_on("7.0", {{kTime, 1e9}, {"lts__t_sectors.sum.per_second", 4}}).work).total;
  EXPECT_DOUBLE_EQ(rate.value(), 128);
  EXPECT_EQ(rate.evidence(), Evidence::derived);
}

TEST(CountL2, WhatLeavesForTheSmsHasNoWrites) {
  const auto work = count_on("8.0", {{kTime, 1e9}, {"derived__lts__lts2xbar_bytes.sum.per_second", 500}}).work;
  EXPECT_DOUBLE_EQ(l2(work).total.value(), 500);
  EXPECT_EQ(l2(work).definition, "lts2xbar");
  EXPECT_EQ(l2(work).total.bound(), Bound::lower);
}

TEST(CountL2, TheFractionBelongsToTheSameDefinition) {
  const auto work = count_on("7.0", {{"lts__t_bytes.sum", 1000},
                                     {"lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed", 50}})
                        .work;
  EXPECT_EQ(l2(work).definition, "lts_t");
  EXPECT_FALSE(l2(work).direct_fraction);  // 50 % is of another traffic
  const auto alone = count_on("7.0", {{"lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed", 50}}).work;
  EXPECT_DOUBLE_EQ(l2(alone).direct_fraction.value(), 0.5);
  EXPECT_EQ(l2(alone).definition, "lts2xbar");
  EXPECT_EQ(l2(alone).direct_fraction.bound(), Bound::lower);
}

TEST(CountL1, TmaPassesBesideTheCounter) {
  EXPECT_EQ(l1(count_on("8.9", {{"l1tex__t_bytes.sum", 64}}).work).total.bound(), Bound::exact);
  EXPECT_EQ(l1(count_on("9.0", {{"l1tex__t_bytes.sum", 64}}).work).total.bound(), Bound::lower);
  EXPECT_EQ(l1(count_on("", {{"l1tex__t_bytes.sum", 64}}).work).total.bound(), Bound::lower);
  const auto none = count_on("9.0", {{"l1tex__t_bytes.sum", 64}, {"smsp__inst_executed_op_tma_ld.sum", 0}}).work;
  EXPECT_EQ(l1(none).total.bound(), Bound::exact);
  EXPECT_THAT(none.level(MemoryLevel::l1).total.note(), HasSubstr("smsp__inst_executed_op_tma_ld.sum is 0"));
  const auto some = count_on("9.0", {{"l1tex__t_bytes.sum", 64}, {"smsp__inst_executed_op_tma_ld.sum", 1}}).work;
  EXPECT_EQ(l1(some).total.bound(), Bound::lower);
}

TEST(CountL1, WritebackPerChip) {
  const auto total = [](const std::string& cc, const std::string& name) {
    return l1(count_on(cc, {{name, 10}}).work).total;
  };
  EXPECT_DOUBLE_EQ(total("9.0", "l1tex__lsu_writeback_active_mem_lgds.sum").value(), 1280);
  EXPECT_DOUBLE_EQ(total("8.6", "l1tex__lsu_writeback_active_mem_lg.sum").value(), 1280);
  EXPECT_DOUBLE_EQ(total("7.5", "l1tex__lsu_writeback_active_mem_lg.sum").value(), 1280);
  EXPECT_DOUBLE_EQ(total("7.0", "l1tex__lsu_writeback_active.sum").value(), 1280);
  EXPECT_FALSE(total("8.6", "l1tex__lsu_writeback_active.sum"));  // holds more than global and local loads there
  EXPECT_EQ(l1(count_on("7.0", {{"l1tex__lsu_writeback_active.sum", 1}}).work).definition, "lsu_writeback");
}

TEST(CountShared, WavefrontsAreAnUpperBound) {
  const auto work = count_on("8.0", {{"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 3},
                                     {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 2},
                                     {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 1}})
                        .work;
  const auto& shared = work.level(MemoryLevel::shared);
  EXPECT_DOUBLE_EQ(shared.total.value(), 384);
  EXPECT_DOUBLE_EQ(shared.read.value(), 256);
  EXPECT_DOUBLE_EQ(shared.write.value(), 128);
  EXPECT_EQ(shared.total.bound(), Bound::upper);
  EXPECT_EQ(shared.definition, "shared_wavefronts");
}

// --- activity ---

TEST(CountActivity, FractionsAndShapes) {
  const auto work = count_on("8.0", {{"sm__throughput.avg.pct_of_peak_sustained_elapsed", 70},
                                     {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 40},
                                     {"lts__throughput.avg.pct_of_peak_sustained_elapsed", 30},
                                     {"smsp__issue_active.avg.per_cycle_active", 0.25},
                                     {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 16},
                                     {"launch__waves_per_multiprocessor", 0.5},
                                     {"launch__grid_size", 54},
                                     {"launch__sm_count", 100},
                                     {"device__attribute_multiprocessor_count", 108}})
                        .work;
  const auto& a = work.activity;
  EXPECT_DOUBLE_EQ(a.sm_throughput.value(), 0.70);
  EXPECT_DOUBLE_EQ(a.memory_throughput.value(), 0.40);
  EXPECT_DOUBLE_EQ(a.l2_throughput.value(), 0.30);
  EXPECT_DOUBLE_EQ(a.issue_active.value(), 0.25);
  EXPECT_DOUBLE_EQ(a.sector_efficiency.value(), 0.5);
  EXPECT_DOUBLE_EQ(a.waves.value(), 0.5);
  EXPECT_DOUBLE_EQ(a.grid_blocks.value(), 54);
  EXPECT_DOUBLE_EQ(a.sm_count.value(), 100);  // a green context or MIG slice, not the whole device
  EXPECT_FALSE(a.l1_throughput);
}

TEST(CountActivity, ShapesFromTheLaunchRecord) {
  Launch launch;
  launch.grid = {8, 4, 2};
  auto device = device_of("8.0");
  device.sm_count = 108;
  const auto a = count(launch, device).work.activity;
  EXPECT_DOUBLE_EQ(a.grid_blocks.value(), 64);
  EXPECT_DOUBLE_EQ(a.sm_count.value(), 108);
}

TEST(CountActivity, TheBusiestUnitOfTheBreakdown) {
  auto launch = launch_with({{"sm__throughput.avg.pct_of_peak_sustained_elapsed", 70},
                             {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 40},
                             {"sm__issue_active.avg.pct_of_peak_sustained_elapsed", 12},
                             {"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed", 70}});
  launch.metrics.set_text(
      MetricCatalogue::instance().require("breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed"),
      "sm__issue_active.avg.pct_of_peak_sustained_elapsed, sm__unheard_of.avg, ,"
      "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed");
  launch.metrics.finish();
  const auto a = count(launch, device_of("8.0")).work.activity;
  EXPECT_EQ(a.busiest_unit, "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed");
  EXPECT_EQ(a.busiest_class, UnitClass::integer);
}

// --- whole launches ---

TEST(Count, GivenWorkPassesThrough) {
  Launch launch = launch_with({{kTime, 5}});
  auto work = std::make_shared<Work>();
  work->time = Quantity::of(1.5, Evidence::given);
  launch.given = work;
  EXPECT_DOUBLE_EQ(count(launch, {}).work.time.value(), 1.5);
}

TEST(Count, AFailedLaunchHasNothing) {
  Launch launch = launch_with({{kTime, 5}, {"dram__bytes.sum", 7}});
  launch.failed = true;
  const auto work = count(launch, device_of("7.0")).work;
  EXPECT_FALSE(work.time);
  EXPECT_FALSE(work.level(MemoryLevel::dram).total);
  EXPECT_FALSE(work.flops());
  EXPECT_THAT(std::string(work.time.note()), HasSubstr("failed"));
}

TEST(Count, MeansOfManyLaunchesBecomeSums) {
  Launch launch = launch_with({{kTime, 1000},
                               {"dram__bytes.sum", 7},
                               {"flop_count_sp", 3},
                               {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 50}});
  launch.count = 100;
  const auto work = count(launch, device_of("6.0")).work;
  EXPECT_DOUBLE_EQ(work.launches, 100);
  EXPECT_DOUBLE_EQ(work.time.value(), 1e-4);
  EXPECT_DOUBLE_EQ(work.level(MemoryLevel::dram).total.value(), 700);
  EXPECT_DOUBLE_EQ(operations(work, "fp32.vector"), 300);
  EXPECT_DOUBLE_EQ(work.activity.sm_throughput.value(), 0.5);
}

TEST(Count, EvidenceIsShared) {
  const auto a = count_on("7.0", {{kTime, 5}}).work;
  const auto b = count_on("7.0", {{kTime, 6}}).work;
  EXPECT_EQ(a.time.provenance(), b.time.provenance());
}

TEST(Count, OneLaunchLeavesNoTraceInTheNext) {
  count_on("7.0", {{kTime, 5}, {"dram__bytes.sum", 7}});
  EXPECT_FALSE(count_on("7.0", {{kTime, 5}}).work.level(MemoryLevel::dram).total);
}

TEST(Count, ManyThreads) {
  std::vector<std::thread> threads;
  std::array<double, 4> times{};
  for (std::size_t i = 0; i < times.size(); ++i)
    threads.emplace_back([&times, i] {
      for (int n = 0; n < 200; ++n)
        times[i] = count_on("7.0", {{kTime, 1e9 * static_cast<double>(i + 1)}}).work.time.value();
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_DOUBLE_EQ(times[i], static_cast<double>(i + 1));
}

TEST(Count, AbsurdValuesStayWithinTheirFields) {
  const double huge = std::numeric_limits<double>::max();
  const auto work = count_on("9.0", {{kTime, huge},
                                     {"dram__bytes.sum.per_second", huge},
                                     {"lts__t_bytes.sum", -5},
                                     {sass("fadd"), huge},
                                     {sass("fmul"), huge},
                                     {sass("ffma"), huge}})
                        .work;
  EXPECT_FALSE(work.level(MemoryLevel::dram).total);  // infinite: no number
  EXPECT_EQ(find_operations(work, "fp32.vector"), nullptr);
  EXPECT_EQ(work.level(MemoryLevel::l2).total.value(), 0);
}

}  // namespace
}  // namespace roofline
