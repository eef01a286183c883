#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/work_builder.h"
#include "roofline/placement.h"

namespace roofline {
namespace {

using testing::counted;
using ::testing::HasSubstr;
using testing::key;
using testing::unit_ceiling;
using testing::WorkBuilder;

// Kernels of 1 ms: 1e9 bytes are 100 % of the DRAM roof, 1e9 fp32 FLOPs 100 % of the compute roof.
constexpr double kUs = 1000;

Placement at(const Work& work, const PipeGroups& groups = {}) { return place(work, unit_ceiling(), groups, {}); }

TEST(Place, MemoryRegimeTakesTheDramRoof) {
  const auto p = at(WorkBuilder(kUs).flops("fp32.vector", 1e8).dram(9e8));
  EXPECT_EQ(p.position, Position::memory_optimal);
  EXPECT_EQ(p.regime, Regime::memory);
  EXPECT_EQ(p.binding, "dram");
  EXPECT_NEAR(*p.fraction, 0.9, 1e-12);
  EXPECT_NEAR(*p.roof_time_s, 0.9e-3, 1e-15);
  EXPECT_EQ(p.bound, Bound::exact);
  EXPECT_EQ(p.tier, Tier::counted);
}

TEST(Place, ComputeRegimeTakesThePeakOfItsPrecision) {
  const auto p = at(WorkBuilder(kUs).flops("bf16.tensor", 7e9).dram(1e8));
  EXPECT_EQ(p.position, Position::compute_suboptimal);
  EXPECT_EQ(p.binding, "bf16.tensor");
  EXPECT_NEAR(*p.fraction, 0.7, 1e-12);
}

TEST(Place, OptimalStartsAtTheThreshold) {
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 0).dram(8.001e8)).position, Position::memory_optimal);
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 0).dram(7.99e8)).position, Position::memory_suboptimal);
  const auto measured = unit_ceiling(CeilingKind::measured);
  EXPECT_EQ(place(WorkBuilder(kUs).flops("fp32.vector", 0).dram(8.9e8), measured, {}, {}).position,
            Position::memory_suboptimal);
  EXPECT_EQ(place(WorkBuilder(kUs).flops("fp32.vector", 0).dram(9.001e8), measured, {}, {}).position,
            Position::memory_optimal);
}

TEST(Place, ZeroFlopKernelIsPlacedByItsBytes) {
  const auto p = at(WorkBuilder(kUs).dram(8.5e8));
  EXPECT_EQ(p.position, Position::memory_optimal);
  EXPECT_EQ(p.bound, Bound::exact);
  EXPECT_EQ(WorkBuilder(kUs).flops("fp32.vector", 0).dram(8.5e8).get().intensity().value(), 0.0);
}

TEST(Place, PipesRunSideBySideUnlessTheyShareSilicon) {
  const auto work = WorkBuilder(kUs).flops("bf16.tensor", 5e9).flops("fp64.vector", 2e8).dram(1e8);
  EXPECT_NEAR(*at(work).fraction, 0.5, 1e-12);  // max(0.5, 0.4)
  const auto shared = at(work, {{"tensor", "fp64"}});
  EXPECT_NEAR(*shared.fraction, 0.9, 1e-12);  // 0.5 + 0.4
  EXPECT_EQ(shared.binding, "bf16.tensor");
  EXPECT_EQ(shared.position, Position::compute_optimal);
}

TEST(Place, AGroupMayNameAPrecisionInsteadOfAPipe) {
  auto ceiling = unit_ceiling();
  ceiling.peaks.push_back({key("fp64.tensor"), 0.5e12, "test"});
  const auto work = WorkBuilder(kUs).flops("bf16.tensor", 5e9).flops("fp64.tensor", 2e8).dram(1e8);
  EXPECT_NEAR(*place(work, ceiling, {}, {}).fraction, 0.9, 1e-12);  // one tensor pipe
  EXPECT_NEAR(*place(work, ceiling, {{"fp64", "fp64.tensor"}}, {}).fraction, 0.5, 1e-12);
}

TEST(Place, SparseOperationsUseTheSparsePeakOnlyWhereCounted) {
  const auto p = at(WorkBuilder(kUs).flops("bf16.tensor.sparse", 10e9).dram(1e8));
  EXPECT_NEAR(*p.fraction, 0.5, 1e-12);
  EXPECT_NEAR(*at(WorkBuilder(kUs).flops("bf16.tensor", 10e9).dram(1e8)).fraction, 1.0, 1e-12);
}

TEST(Place, IntegerTensorWorkHasARoofButIsNoFlop) {
  const auto work = WorkBuilder(kUs).flops("int8.tensor", 18e9).dram(1e8);
  EXPECT_EQ(at(work).position, Position::compute_optimal);
  EXPECT_FALSE(work.get().flops());
}

TEST(Place, IntegerInstructionsWithoutARoofDoNotMakeTheRowALowerBound) {
  const auto p = at(WorkBuilder(kUs).flops("int32.vector", 1e12).flops("fp32.vector", 1e8).dram(9e8));
  EXPECT_EQ(p.bound, Bound::exact);
  EXPECT_TRUE(p.notes.empty());
}

// FLOPs of which nobody says the precision: at most those of the slowest format, FP64 at 0.5 TFLOP/s here.
TEST(Place, UnknownPrecisionIsBoundedByTheSlowestPeak) {
  auto light = WorkBuilder(kUs).dram(3e8).get();
  light.operations.push_back({Precision{NumberType::unknown, Path::vector}, counted(1e8), std::nullopt});
  const auto p = at(light);  // compute is at 20 % at most, below DRAM's 30 %
  EXPECT_NEAR(*p.fraction, 0.3, 1e-12);
  EXPECT_EQ(p.position, Position::memory_suboptimal);
  light.operations.back().operations = counted(4e8);
  const auto open = at(light);
  EXPECT_EQ(open.position, Position::unplaced);
  EXPECT_NEAR(open.fraction_upper.value_or(0), 0.8, 1e-12);
  EXPECT_THAT(open.reason, HasSubstr("precision"));
  auto bare = unit_ceiling();
  bare.peaks.clear();
  EXPECT_FALSE(place(light, bare, {}, {}).fraction_upper);
}

// Half the DRAM bytes do not lessen what L1 has to move.
TEST(Place, LessWorkEndsAtTheLimiter) {
  const auto work = WorkBuilder(kUs).flops("fp32.vector", 1e6).dram(4e8);
  EXPECT_NEAR(*at(work).gain_less_work_s, 0.5e-3, 1e-9);
  const auto limited =
      WorkBuilder(kUs).flops("fp32.vector", 1e6).dram(4e8).bytes_at(MemoryLevel::l1, 12.8e9, "lsu_writeback");
  EXPECT_EQ(at(limited).limiter, "l1");
  EXPECT_NEAR(*at(limited).gain_less_work_s, 0.2e-3, 1e-9);  // L1 needs 0.8 ms
}

TEST(Place, AMergedCounterIsALowerBoundAtItsFastestMember) {
  const auto p = at(WorkBuilder(kUs).flops("fp4_fp6_fp8.tensor", 20e9).dram(1e8));
  EXPECT_NEAR(*p.fraction, 0.5, 1e-12);  // at the FP4 rate
  EXPECT_EQ(p.bound, Bound::lower);
  EXPECT_EQ(p.position, Position::unplaced);
}

TEST(Place, ThePeakOfAnUnknownAccumulatorIsTheUsualOne) {
  EXPECT_NEAR(*at(WorkBuilder(kUs).flops("bf16.acc32.tensor", 9e9).dram(1e8)).fraction, 0.9, 1e-12);
}

TEST(Place, AMissingPeakMakesALowerBoundAndSaysSo) {
  const auto p = at(WorkBuilder(kUs).flops("tf32.tensor", 1e9).dram(5e8));
  EXPECT_EQ(p.bound, Bound::lower);
  EXPECT_EQ(p.position, Position::unplaced);
  ASSERT_EQ(p.notes.size(), 1U);
  EXPECT_THAT(p.notes[0], HasSubstr("tf32.tensor"));
}

TEST(Place, UnknownFlopsProveOptimalButNeverSuboptimal) {
  const auto good = at(WorkBuilder(kUs).uncounted("tensor").dram(8.5e8));
  EXPECT_EQ(good.position, Position::memory_optimal);
  EXPECT_EQ(good.bound, Bound::lower);
  const auto open = at(WorkBuilder(kUs).flops("fp32.vector", 1e8).uncounted("tensor").dram(4.1e8));
  EXPECT_EQ(open.position, Position::unplaced);
  EXPECT_EQ(open.bound, Bound::lower);
  EXPECT_NEAR(*open.fraction, 0.41, 1e-12);
  EXPECT_FALSE(open.gain_s);
  EXPECT_THAT(open.reason, HasSubstr("not counted"));
}

TEST(Place, IdlePipesBoundUnknownFlopsFromAbove) {
  const auto idle = at(WorkBuilder(kUs).uncounted("tensor").at_most(0.3).dram(6.5e8));
  EXPECT_EQ(idle.bound, Bound::exact);  // 30 % < 65 %: DRAM binds whatever the operations were
  EXPECT_EQ(idle.position, Position::memory_suboptimal);
  const auto open = at(WorkBuilder(kUs).uncounted("tensor").at_most(0.85).dram(6.5e8));
  EXPECT_EQ(open.position, Position::unplaced);
  EXPECT_NEAR(*open.fraction_upper, 0.85, 1e-12);
  EXPECT_THAT(open.reason, HasSubstr("85%"));
  const auto below =
      at(WorkBuilder(kUs).uncounted("tensor").at_most(0.7).busiest("tensor pipe", UnitClass::tensor, 0.7).dram(3e8));
  EXPECT_EQ(below.position, Position::compute_suboptimal);
  EXPECT_THAT(below.reason, HasSubstr("bound by tensor pipe"));
}

TEST(Place, TheBoundNeedsAMargin) {
  // Percentages are rounded: 65 % against 65.5 % decides nothing.
  EXPECT_EQ(at(WorkBuilder(kUs).uncounted("tensor").at_most(0.65).dram(6.55e8)).bound, Bound::lower);
  EXPECT_EQ(at(WorkBuilder(kUs).uncounted("tensor").at_most(0.65).dram(6.85e8)).bound, Bound::exact);
  EXPECT_EQ(at(WorkBuilder(kUs).uncounted("tensor").at_most(0.0004).dram(4e6)).bound, Bound::exact);
}

TEST(Place, AUnitThatComputesNoFlopsIsAVerdictOnceFlopsCannotFillTheRoof) {
  const auto integer = [](double flops_at_most) {
    return at(
        WorkBuilder(kUs).uncounted("all").at_most(flops_at_most).busiest("alu", UnitClass::integer, 0.84).dram(1e8));
  };
  EXPECT_EQ(integer(0.79).position, Position::compute_suboptimal);
  EXPECT_THAT(integer(0.79).reason, HasSubstr("bound by alu"));
  EXPECT_EQ(integer(0.84).position, Position::unplaced);  // the floating-point pipes may be as busy
  const auto loads =
      at(WorkBuilder(kUs).uncounted("all").at_most(0.3).busiest("lsu", UnitClass::memory, 0.9).dram(1e8));
  EXPECT_EQ(loads.position, Position::memory_suboptimal);
}

TEST(Place, AClosedIntervalIsExact) {
  const auto p = at(WorkBuilder(kUs).flops("bf16.tensor", 6.44e9).uncounted("tensor").at_most(0.642).dram(0.9e8));
  EXPECT_EQ(p.bound, Bound::exact);
  EXPECT_EQ(p.position, Position::compute_suboptimal);
  EXPECT_EQ(at(WorkBuilder(kUs).flops("bf16.tensor", 6e9).uncounted("tensor").at_most(0.66).dram(0.9e8)).bound,
            Bound::lower);
}

TEST(Place, TensorKernelIsNeverPlacedAsComputeByItsCudaCoreFlops) {
  const auto p = at(WorkBuilder(kUs)
                        .flops("fp32.vector", 1e8)
                        .uncounted("tensor")
                        .at_most(0.64)
                        .busy(&Activity::sm_throughput, 0.32)
                        .dram(0.89e8));
  EXPECT_NE(p.position, Position::compute_suboptimal);
  EXPECT_NE(p.position, Position::compute_optimal);
  EXPECT_EQ(p.bound, Bound::lower);
}

TEST(Place, AnAssumptionKeepsTheVerdictAndSaysSo) {
  auto work = WorkBuilder(kUs).flops("fp64.vector", 1e8).dram(6.2e8).get();
  work.coverage.assumed_none = {"fp32.vector", "tensor"};
  const auto p = at(work);
  EXPECT_EQ(p.position, Position::memory_suboptimal);
  EXPECT_EQ(p.bound, Bound::lower);
  ASSERT_EQ(p.notes.size(), 1U);
  EXPECT_THAT(p.notes[0], HasSubstr("no tensor cores"));
}

TEST(Place, PercentOnlyRows) {
  const auto percent = [](double dram, double sm) {
    return WorkBuilder(kUs)
        .uncounted("all")
        .at_most(sm)
        .percent(MemoryLevel::dram, dram)
        .busy(&Activity::sm_throughput, sm)
        .busy(&Activity::memory_throughput, dram)
        .get();
  };
  const auto memory = at(percent(0.85, 0.2));
  EXPECT_EQ(memory.position, Position::memory_optimal);
  EXPECT_EQ(memory.tier, Tier::percent);
  EXPECT_NEAR(*memory.roof_time_s, 0.85e-3, 1e-15);
  EXPECT_THAT(memory.reason, HasSubstr("unknown"));
  EXPECT_EQ(at(percent(0.65, 0.2)).position, Position::memory_suboptimal);
  EXPECT_EQ(at(percent(0.5, 0.2)).position, Position::memory_suboptimal);
  // No unit near its limit, and the operations unknown: latency, unless the memory side is unknown too.
  EXPECT_EQ(at(percent(0.1, 0.3)).position, Position::latency_bound);
  auto open = percent(0.1, 0.3);
  open.activity.memory_throughput = {};
  EXPECT_EQ(at(open).position, Position::unplaced);
  EXPECT_THAT(at(open).reason, HasSubstr("below both roofs"));
  auto l1 = percent(0.01, 0.38);
  l1.activity.memory_throughput = Quantity::of(0.8555, Evidence::derived);
  EXPECT_EQ(at(l1).position, Position::memory_suboptimal);
}

TEST(Place, APercentageOfTheClockedPeakIsNoDatasheetFraction) {
  const auto p = place(WorkBuilder(kUs).percent(MemoryLevel::dram, 0.85), unit_ceiling(CeilingKind::datasheet), {}, {});
  EXPECT_FALSE(p.placed());
  EXPECT_EQ(p.position, Position::unplaced);
}

TEST(Place, TimeThatIsZeroNegativeOrMissingIsRefused) {
  for (const double t :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto work = WorkBuilder(kUs).dram(1e8).get();
    work.time = counted(t);
    const auto p = at(work);
    EXPECT_FALSE(p.placed());
    EXPECT_EQ(p.position, Position::unplaced);
    EXPECT_FALSE(p.reason.empty());
  }
}

TEST(Place, WithoutDramTrafficNothingIsPlaced) {
  const auto p = at(WorkBuilder(kUs).flops("fp32.vector", 9e8));
  EXPECT_FALSE(p.placed());
  EXPECT_EQ(p.reason, "no DRAM traffic known");
  ASSERT_NE(p.resource("fp32.vector"), nullptr);
  EXPECT_NEAR(p.resource("fp32.vector")->fraction, 0.9, 1e-12);
}

TEST(Place, ALevelWithoutACeilingOrWithAnotherDefinitionHasNoFraction) {
  const auto p = at(WorkBuilder(kUs).flops("fp32.vector", 0).dram(3e8).bytes_at(MemoryLevel::l2, 3e9, "lts2xbar"));
  EXPECT_EQ(p.resource("l2"), nullptr);
  EXPECT_TRUE(p.limiter.empty());
}

TEST(Place, TheLimiterExplainsButDoesNotAcquit) {
  const auto with = [](double dram, double l2) {
    return at(WorkBuilder(kUs)
                  .flops("fp32.vector", 0)
                  .dram(dram)
                  .bytes_at(MemoryLevel::l2, l2, "lts_t")
                  .busy(&Activity::l2_size, 50e6));  // too small to hold the data
  };
  EXPECT_EQ(with(1e9, 3.6e9).position, Position::memory_optimal);  // DRAM itself is at its roof
  EXPECT_EQ(with(7.5e8, 2.8e9).limiter, "");                       // 70 % of L2 explains no more than 75 % of DRAM
  const auto limited = with(7.0e8, 3.9e9);
  EXPECT_EQ(limited.limiter, "l2");  // 98 % of L2: no acquittal, the required bytes stand at 70 %
  EXPECT_EQ(limited.position, Position::memory_suboptimal);
  EXPECT_EQ(limited.reason, "limited by l2");
}

TEST(Place, LimiterBorders) {
  const auto l2_at = [](double fraction, Bound bound = Bound::exact) {
    return at(WorkBuilder(kUs)
                  .flops("fp32.vector", 0)
                  .dram(5.9e8)
                  .bytes_at(MemoryLevel::l2, fraction * 4e12 * 1e-3 / 2, "lts_t", bound)
                  .bytes_at(MemoryLevel::l1, fraction * 16e12 * 1e-3, "lsu_writeback", bound));
  };
  EXPECT_EQ(l2_at(0.60).limiter, "l1");
  EXPECT_EQ(l2_at(0.599).limiter, "");
  EXPECT_EQ(l2_at(0.95, Bound::upper).limiter, "");
  EXPECT_EQ(l2_at(0.95, Bound::lower).limiter, "l1");
  EXPECT_EQ(l2_at(0.95).position, Position::memory_suboptimal);
  EXPECT_EQ(l2_at(0.95).reason, "limited by l1");
}

TEST(Place, CacheResidentKernelsHaveNoDramPercentage) {
  const auto work = WorkBuilder(kUs).flops("fp32.vector", 1e6).dram(1e8).bytes_at(MemoryLevel::l2, 3.4e9, "lts_t");
  const auto p = at(work);
  EXPECT_TRUE(p.cache_resident);
  EXPECT_FALSE(p.fraction);
  EXPECT_EQ(p.position, Position::memory_suboptimal);  // limited by L2, sector efficiency unknown
  EXPECT_EQ(p.limiter, "l2");
  auto efficient = work.get();
  efficient.activity.sector_efficiency = Quantity::of(0.8, Evidence::derived);
  EXPECT_EQ(at(efficient).position, Position::memory_optimal);
  efficient.activity.sector_efficiency = Quantity::of(0.79, Evidence::derived);
  EXPECT_EQ(at(efficient).position, Position::memory_suboptimal);
  // The goal is the L2 time, not the DRAM time.
  EXPECT_NEAR(*p.gain_s, 1e-3 - 0.85e-3, 1e-12);
}

TEST(Place, ComputeBoundKernelsMayLiveInTheCache) {
  const auto p = at(WorkBuilder(kUs).flops("bf16.tensor", 8.5e9).dram(1e8).bytes_at(MemoryLevel::l2, 2e9, "lts_t"));
  EXPECT_EQ(p.position, Position::compute_optimal);
  EXPECT_FALSE(p.cache_resident);
  EXPECT_NEAR(*p.fraction, 0.85, 1e-12);
}

TEST(Place, ReuseWithUncountedFlopsIsNotResidence) {
  const auto p = at(WorkBuilder(kUs).uncounted("tensor").dram(1e8).bytes_at(MemoryLevel::l2, 2e9, "lts_t"));
  EXPECT_FALSE(p.cache_resident);
  EXPECT_NEAR(*p.fraction, 0.1, 1e-12);
  EXPECT_EQ(p.bound, Bound::lower);
}

TEST(Place, WhatDoesNotFitIntoL2IsNotCacheResident) {
  auto work = WorkBuilder(kUs).flops("fp32.vector", 1e6).dram(1e8).bytes_at(MemoryLevel::l2, 3.4e9, "lts_t");
  EXPECT_FALSE(at(work.busy(&Activity::l2_size, 40e6)).cache_resident);
  EXPECT_TRUE(at(work.busy(&Activity::l2_size, 101e6)).cache_resident);
}

TEST(Place, TrafficUnderOneTransactionIsCacheResident) {
  EXPECT_TRUE(at(WorkBuilder(kUs).dram(0)).cache_resident);
  EXPECT_TRUE(at(WorkBuilder(kUs).dram(63)).cache_resident);
  EXPECT_FALSE(at(WorkBuilder(kUs).dram(64)).cache_resident);
}

TEST(Place, TheL2HitRateStandsInForL2BytesWhereLittleIsWritten) {
  auto work = WorkBuilder(4.7)
                  .dram(32770)
                  .busy(&Activity::l2_hit_rate, 0.8996)
                  .busy(&Activity::grid_blocks, 2)
                  .busy(&Activity::sm_count, 170)
                  .get();
  EXPECT_FALSE(at(work).cache_resident);  // read and write unknown
  work.level(MemoryLevel::dram).read = counted(32770);
  work.level(MemoryLevel::dram).write = counted(0);
  const auto p = at(work);
  EXPECT_TRUE(p.cache_resident);
  EXPECT_FALSE(p.fraction);
  EXPECT_EQ(p.position, Position::latency_bound);
  EXPECT_EQ(p.reason, "2 blocks on 170 SMs");
  work.level(MemoryLevel::dram).write = counted(20000);  // writes always hit
  EXPECT_FALSE(at(work).cache_resident);
}

TEST(Place, LinkBoundKernelsAreCommunication) {
  const auto p = at(WorkBuilder(kUs).link("nvlink", 7e7).dram(1e8));
  EXPECT_EQ(p.position, Position::communication_bound);
  EXPECT_EQ(p.regime, Regime::link);
  EXPECT_EQ(p.binding, "nvlink");
  EXPECT_NEAR(*p.fraction, 0.7, 1e-12);
  EXPECT_TRUE(at(WorkBuilder(kUs).link("nvlink", 7e7)).placed());  // link data alone places
}

TEST(Place, LatencyNeedsEvidence) {
  // Middling intensity, far below both.
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 2e8).dram(3e8)).position, Position::latency_bound);
  // Low intensity and nothing that shows latency: the access pattern is to blame.
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 1e7).dram(3e8)).position, Position::memory_suboptimal);
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 1e7).dram(3e8).busy(&Activity::waves, 0.5)).position,
            Position::latency_bound);
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 1e7).dram(5.3e8).busy(&Activity::issue_active, 0.3)).position,
            Position::memory_suboptimal);  // idle issue slots follow from waiting on memory
  auto small = WorkBuilder(kUs).flops("fp32.vector", 1e7).dram(3e8);
  small.busy(&Activity::grid_blocks, 107).busy(&Activity::sm_count, 108);
  EXPECT_EQ(at(small).position, Position::latency_bound);
  small.busy(&Activity::grid_blocks, 108);
  EXPECT_EQ(at(small).position, Position::memory_suboptimal);
}

TEST(Place, LatencyBorders) {
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 5.99e8).dram(5.99e8)).position, Position::latency_bound);
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 5.99e8).dram(6.0e8)).position, Position::memory_suboptimal);
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 6.0e8).dram(5.99e8)).position, Position::compute_suboptimal);
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 1.0e8).dram(4.0e8)).position, Position::latency_bound);
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 0.99e8).dram(4.0e8)).position, Position::memory_suboptimal);
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 4.04e8).dram(1.0e8)).position, Position::compute_suboptimal);
  // A busy unit excludes latency and names itself.
  const auto busy = at(WorkBuilder(kUs).flops("fp32.vector", 2e8).dram(3e8).busy(&Activity::sm_throughput, 0.6));
  EXPECT_EQ(busy.position, Position::compute_suboptimal);
  EXPECT_THAT(busy.reason, HasSubstr("60% busy"));
  const auto l1 = at(WorkBuilder(kUs).flops("fp32.vector", 2e8).dram(3e8).busy(&Activity::l1_throughput, 0.7));
  EXPECT_EQ(l1.position, Position::memory_suboptimal);
}

TEST(Place, TinyKernelsAreLaunchBound) {
  // 1.05 MB of a fused norm: 1.05 us at this machine's bandwidth, under 3 x 2.2 us.
  const auto p = at(WorkBuilder(6).flops("fp32.vector", 1e3).dram(1.05e6));
  EXPECT_EQ(p.position, Position::latency_bound);
  EXPECT_THAT(p.reason, HasSubstr("launch floor"));
  EXPECT_NEAR(*p.gain_s, 6e-6 - 2.2e-6, 1e-12);
  // Sixty-four of them in one row have sixty-four floors.
  const auto many = at(WorkBuilder(6 * 64).flops("fp32.vector", 64e3).dram(64 * 1.05e6).launches(64));
  EXPECT_EQ(many.position, Position::latency_bound);
  EXPECT_NEAR(*many.gain_s, 64 * (6e-6 - 2.2e-6), 1e-12);
}

TEST(Place, GainsOfFewerBytesStayAtThePresentFraction) {
  const auto p = at(WorkBuilder(kUs).flops("fp32.vector", 1e7).dram(8e8));
  EXPECT_NEAR(*p.gain_s, 0.2e-3, 1e-12);
  EXPECT_NEAR(*p.gain_less_work_s, 0.5e-3, 1e-12);  // half of the bytes at 80 % of the roof
  const auto near_ridge = at(WorkBuilder(kUs).flops("fp32.vector", 6e8).dram(8e8));
  EXPECT_NEAR(*near_ridge.gain_less_work_s, 1e-3 * (1 - 0.6 / 0.8), 1e-12);  // compute takes over
}

TEST(Place, APointAboveTheRoofIsNotClipped) {
  const auto p = at(WorkBuilder(kUs).flops("fp32.vector", 0).dram(1.3e9));
  EXPECT_NEAR(*p.fraction, 1.3, 1e-12);
  EXPECT_EQ(*p.gain_s, 0.0);
  EXPECT_EQ(p.position, Position::unplaced);  // no verdict: something does not belong together
  EXPECT_THAT(p.reason, HasSubstr("above the dram roof"));
  // A boosted clock explains a little.
  EXPECT_EQ(at(WorkBuilder(kUs).flops("fp32.vector", 0).dram(1.05e9)).position, Position::memory_optimal);
}

TEST(Place, ModelledAndGivenWorkHasItsOwnTier) {
  auto work = WorkBuilder(kUs).flops("fp32.vector", 1e8).dram(9e8).get();
  work.level(MemoryLevel::dram).total = Quantity::of(9e8, Evidence::model);
  EXPECT_EQ(at(work).tier, Tier::model);
  work.time = Quantity::of(1e-3, Evidence::given);
  EXPECT_EQ(at(work).tier, Tier::given);
}

// Whatever the numbers, the arithmetic holds.
TEST(PlaceProperty, RoofIsTheMaximumAndFractionsAreTimes) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(3, 12);
  for (int i = 0; i < 2000; ++i) {
    const auto work = WorkBuilder(std::pow(10, exponent(random) - 5))
                          .flops("fp32.vector", std::pow(10, exponent(random)))
                          .flops("bf16.tensor", std::pow(10, exponent(random)))
                          .dram(std::pow(10, exponent(random)))
                          .bytes_at(MemoryLevel::l2, std::pow(10, exponent(random)), "lts_t");
    const auto p = at(work);
    double roof = 0;
    for (const auto& r : p.resources) {
      EXPECT_NEAR(r.fraction * *p.time_s, r.time_s, 1e-9 * r.time_s);
      if (r.required) roof = std::max(roof, r.time_s);
    }
    EXPECT_DOUBLE_EQ(*p.roof_time_s, roof);
    if (p.fraction) {
      EXPECT_NEAR(*p.fraction * *p.time_s, roof, 1e-9 * roof);
    }
    if (p.gain_s) {
      EXPECT_GE(*p.gain_s, 0);
      EXPECT_LE(*p.gain_s, *p.time_s);
    }
    if (is_optimal(p.position) && !p.cache_resident) {
      EXPECT_GE(*p.fraction, 0.8);
    }
  }
}

}  // namespace
}  // namespace roofline
