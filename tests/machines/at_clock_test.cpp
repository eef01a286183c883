// Roofs at the clocks of a launch.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "roofline/machines.h"
#include "roofline/metrics.h"

namespace roofline {
namespace {

class Builder {
 public:
  Builder& set(std::string_view metric, double value) {
    launch_.metrics.set(MetricCatalogue::instance().require(metric), value);
    return *this;
  }
  Builder& cc(std::string text) {
    device_.compute_capability = std::move(text);
    return *this;
  }
  Builder& sms(int count) {
    device_.sm_count = count;
    return *this;
  }
  Builder& bus(int bits) {
    device_.memory_bus_bits = bits;
    return *this;
  }
  std::optional<Ceiling> build(const Machine* machine = nullptr) {
    launch_.metrics.finish();
    return at_clock_ceiling(launch_, device_, machine);
  }

 private:
  Launch launch_;
  DeviceInfo device_;
};

double peak(const std::optional<Ceiling>& ceiling, std::string_view key) {
  if (!ceiling) return -1;
  const auto value = ceiling->peak(*parse_precision(key));
  return value ? value->high : -1;
}

const Peak& entry(const Ceiling& ceiling, std::string_view key) {
  for (const auto& p : ceiling.peaks)
    if (p.precision == *parse_precision(key)) return p;
  throw std::out_of_range(std::string(key));
}

double bandwidth(const std::optional<Ceiling>& ceiling, MemoryLevel level, std::string_view definition) {
  return ceiling ? ceiling->bandwidth(level, definition).value_or(-1) : -1;
}

const Machine* machine(std::string_view id) { return MachineCatalogue::instance().find(id); }

const std::string kSass = "sm__sass_thread_inst_executed_op_";
const std::string kOps = "sm__ops_path_tensor_";
const std::string kPeak = ".sum.peak_sustained";

TEST(AtClock, NoClockNoCeiling) {
  EXPECT_FALSE(Builder().build());
  EXPECT_FALSE(Builder().set(kSass + "ffma_pred_on" + kPeak, 6912).sms(108).cc("8.0").build(machine("a100")));
  EXPECT_FALSE(Builder().set("sm__cycles_elapsed.avg.per_second", 0).build(machine("a100")));
  EXPECT_FALSE(Builder().set("sm__cycles_elapsed.avg.per_second", std::numeric_limits<double>::infinity()).build());
}

TEST(AtClock, PeaksOfTheReportItself) {
  const auto c = Builder()
                     .set("sm__cycles_elapsed.avg.per_second", 1.09e9)
                     .set("dram__cycles_elapsed.avg.per_second", 1.215e9)
                     .set("lts__cycles_elapsed.avg.per_second", 1.06e9)
                     .set("l1tex__cycles_elapsed.avg.per_second", 1.08e9)
                     .set(kSass + "ffma_pred_on" + kPeak, 6912)
                     .set(kSass + "dfma_pred_on" + kPeak, 3456)
                     .set(kSass + "hfma_pred_on" + kPeak, 13824)
                     .set(kOps + "src_bf16_dst_fp32_sparsity_off" + kPeak, 221184)
                     .set(kOps + "src_bf16_dst_fp32_sparsity_on" + kPeak, 442368)
                     .set("dram__bytes.sum.peak_sustained", 1280)
                     .set("lts__lts2xbar_cycles_active.sum.peak_sustained", 160)
                     .set("l1tex__lsu_writeback_active_mem_lg.sum.peak_sustained", 108)
                     .build();
  EXPECT_DOUBLE_EQ(peak(c, "fp32.vector"), 2 * 6912 * 1.09e9);
  EXPECT_DOUBLE_EQ(peak(c, "fp64.vector"), 2 * 3456 * 1.09e9);
  EXPECT_DOUBLE_EQ(peak(c, "fp16.vector"), 4 * 13824 * 1.09e9);
  EXPECT_DOUBLE_EQ(peak(c, "bf16.tensor"), 221184 * 1.09e9);
  EXPECT_DOUBLE_EQ(peak(c, "bf16.tensor.sparse"), 442368 * 1.09e9);
  EXPECT_LT(peak(c, "tf32.tensor"), 0);
  EXPECT_DOUBLE_EQ(bandwidth(c, MemoryLevel::dram, "dram"), 1280 * 1.215e9);
  EXPECT_DOUBLE_EQ(bandwidth(c, MemoryLevel::l2, "lts2xbar"), 160 * 32 * 1.06e9);
  EXPECT_DOUBLE_EQ(bandwidth(c, MemoryLevel::l1, "lsu_writeback"), 108 * 128 * 1.08e9);
  EXPECT_EQ(c->kind, CeilingKind::at_clock);
  EXPECT_EQ(c->sm_clock_hz, 1.09e9);
  EXPECT_EQ(c->memory_clock_hz, 1.215e9);
  EXPECT_EQ(entry(*c, "fp32.vector").source,
            "2 x sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained x sm__cycles_elapsed.avg.per_second");
}

TEST(AtClock, SmClockInOrder) {
  Builder b;
  b.set("smsp__cycles_elapsed.avg.per_second", 3e9).cc("8.0").sms(100);
  EXPECT_EQ(b.build()->sm_clock_hz, 3e9);
  b.set("gpc__cycles_elapsed.avg.per_second", 1e9);
  EXPECT_EQ(b.build()->sm_clock_hz, 1e9);
  b.set("sm__cycles_elapsed.avg.per_second", 2e9);
  EXPECT_EQ(b.build()->sm_clock_hz, 2e9);
  EXPECT_DOUBLE_EQ(peak(b.build(), "bf16.tensor"), 100 * 2048 * 2e9);
}

TEST(AtClock, HopperTakesItsBestPath) {
  const auto c = Builder()
                     .set("sm__cycles_elapsed.avg.per_second", 1e9)
                     .set(kOps + "op_hmma_src_bf16_dst_fp32_sparsity_off" + kPeak, 360360)
                     .set(kOps + "op_hgmma_src_bf16_dst_fp32_sparsity_off" + kPeak, 540672)
                     .set(kOps + "op_hgmma_src_fp16_sparsity_off" + kPeak, 540672)
                     .set(kOps + "src_fp16" + kPeak, 1081344)  // a parent: its peak is the sparse one
                     .cc("9.0")
                     .sms(132)
                     .build();
  EXPECT_DOUBLE_EQ(peak(c, "bf16.tensor"), 540672e9);
  EXPECT_DOUBLE_EQ(peak(c, "fp16.tensor"), 540672e9);
  EXPECT_DOUBLE_EQ(peak(c, "bf16.tensor.sparse"), 2 * 540672e9);
}

TEST(AtClock, LeavesWithoutSuffixOnlyBeforeSparsity) {
  const auto build = [](const char* cc) {
    return Builder()
        .set("sm__cycles_elapsed.avg.per_second", 1e9)
        .set(kOps + "src_fp16_dst_fp32" + kPeak, 81920)
        .cc(cc)
        .build();
  };
  EXPECT_DOUBLE_EQ(peak(build("7.0"), "fp16.tensor"), 81920e9);
  EXPECT_LT(peak(build("8.6"), "fp16.tensor"), 0);
}

TEST(AtClock, TuringsMergedCounter) {
  const auto c = Builder()
                     .set("sm__cycles_elapsed.avg.per_second", 1e9)
                     .set(kOps + "src_fp16_bf16_tf32_dst_fp32" + kPeak, 40960)
                     .cc("7.5")
                     .build();
  EXPECT_DOUBLE_EQ(peak(c, "fp16_bf16_tf32.tensor"), 40960e9);
  EXPECT_DOUBLE_EQ(peak(c, "fp16.tensor"), 40960e9);
}

TEST(AtClock, BasicSetUsesRatesOfThePart) {
  Builder b;
  b.set("gpc__cycles_elapsed.avg.per_second", 1.5e9).set("dram__cycles_elapsed.avg.per_second", 9.5e9);
  b.cc("8.6").sms(82).bus(384);
  const auto c = b.build(machine("rtx-3090"));
  EXPECT_DOUBLE_EQ(peak(c, "fp32.vector"), 82 * 256 * 1.5e9);
  EXPECT_DOUBLE_EQ(peak(c, "bf16.tensor"), 82 * 512 * 1.5e9);
  EXPECT_DOUBLE_EQ(peak(c, "bf16.tensor.sparse"), 82 * 1024 * 1.5e9);
  EXPECT_DOUBLE_EQ(bandwidth(c, MemoryLevel::dram, "dram"), 96 * 9.5e9);
  EXPECT_DOUBLE_EQ(bandwidth(c, MemoryLevel::shared, "shared_wavefronts"), 82 * 128 * 1.5e9);
  // Without the part only what all parts of the compute capability share.
  const auto unknown = b.build();
  EXPECT_DOUBLE_EQ(peak(unknown, "fp32.vector"), 82 * 256 * 1.5e9);
  EXPECT_LT(peak(unknown, "bf16.tensor"), 0);
}

TEST(AtClock, SmCountOfTheLaunchWins) {
  Builder b;
  b.set("sm__cycles_elapsed.avg.per_second", 1e9).set("launch__sm_count", 66).cc("9.0").sms(132);
  EXPECT_DOUBLE_EQ(peak(b.build(machine("h100")), "bf16.tensor"), 66 * 4096e9);
  b.set(kSass + "ffma_pred_on" + kPeak, 132 * 128);
  const auto c = b.build(machine("h100"));
  EXPECT_DOUBLE_EQ(peak(c, "fp32.vector"), 66 * 256e9);
  EXPECT_NE(entry(*c, "fp32.vector").source.find("66 of 132 SMs"), std::string::npos);
}

TEST(AtClock, SmCountOfTheCatalogueIsLast) {
  Builder b;
  b.set("sm__cycles_elapsed.avg.per_second", 1e9);
  EXPECT_DOUBLE_EQ(peak(b.build(machine("h100-pcie")), "bf16.tensor"), 114 * 4096e9);
  EXPECT_TRUE(b.build()->peaks.empty());
}

TEST(AtClock, DatasheetPeakScaledWhereNoRateIsKnown) {
  Builder b;
  b.set("sm__cycles_elapsed.avg.per_second", 0.928e9).cc("10.3").sms(148);
  const auto c = b.build(machine("b300"));
  EXPECT_NEAR(peak(c, "int8.tensor"), 153.5e12 / 2, 1e9);  // at half of 1856 MHz
  EXPECT_NEAR(peak(c, "fp4.tensor.sparse"), 18000e12 / 2, 1e9);
  EXPECT_NE(entry(*c, "int8.tensor").source.find("scaled"), std::string::npos);
}

TEST(AtClock, DramWithoutMemoryClockKeepsItsRatedBandwidth) {
  Builder b;
  b.set("sm__cycles_elapsed.avg.per_second", 1e9).cc("7.0").sms(80).bus(4096);
  const auto c = b.build(machine("v100"));
  EXPECT_DOUBLE_EQ(bandwidth(c, MemoryLevel::dram, "dram"), 900e9);
  EXPECT_FALSE(c->memory_clock_hz);
  EXPECT_NE(c->bandwidths.back().source.find("no memory clock"), std::string::npos);
  EXPECT_LT(bandwidth(b.build(), MemoryLevel::dram, "dram"), 0);
}

// Reports of 2018 name the data rate of a pin, later ones half of it.
TEST(AtClock, DataRateOfAnOldReportIsNotDoubledAgain) {
  const auto* gtx = machine("gtx-1080");
  ASSERT_NE(gtx, nullptr);
  const auto old = Builder().set("dram__cycles_elapsed.avg.per_second", 9.07e9).bus(256).build(gtx);
  EXPECT_NEAR(bandwidth(old, MemoryLevel::dram, "dram"), 9.07e9 * 32, 1e6);
  EXPECT_NEAR(old->memory_clock_hz.value_or(0), 9.07e9 / 2, 1);
  const auto later = Builder().set("dram__cycles_elapsed.avg.per_second", 9.07e9 / 2).bus(256).build(gtx);
  EXPECT_NEAR(bandwidth(later, MemoryLevel::dram, "dram"), 9.07e9 * 32, 1e6);
}

TEST(AtClock, FailedLaunchZerosAreNoPeaks) {
  Builder b;
  b.set("sm__cycles_elapsed.avg.per_second", 1e9).set("dram__cycles_elapsed.avg.per_second", 1e9);
  b.set("dram__bytes.sum.peak_sustained", 0).set(kSass + "ffma_pred_on" + kPeak, 0).cc("8.0").sms(108).bus(5120);
  const auto c = b.build();
  EXPECT_DOUBLE_EQ(bandwidth(c, MemoryLevel::dram, "dram"), 1280e9);
  EXPECT_DOUBLE_EQ(peak(c, "fp32.vector"), 108 * 128e9);
}

TEST(AtClock, L2ScaledToItsOwnClock) {
  Builder b;
  b.set("sm__cycles_elapsed.avg.per_second", 1e9).set("lts__cycles_elapsed.avg.per_second", 0.8e9).sms(108).cc("8.0");
  EXPECT_NEAR(bandwidth(b.build(machine("a100")), MemoryLevel::l2, "lts2xbar"), 5120 * 0.8e9, 1);
  EXPECT_LT(bandwidth(b.build(), MemoryLevel::l2, "lts2xbar"), 0);
}

TEST(AtClock, NamesItsClockOnEveryPeak) {
  Builder b;
  b.set("sm__cycles_elapsed.avg.per_second", 1.12e9).cc("10.0").sms(148);
  const auto c = b.build(machine("b200"));
  EXPECT_NEAR(peak(c, "bf16.tensor"), 148 * 8192 * 1.12e9, 1);
  for (const auto& p : c->peaks) {
    EXPECT_EQ(p.clock_hz, 1.12e9) << to_string(p.precision);
    EXPECT_FALSE(p.source.empty());
  }
}

}  // namespace
}  // namespace roofline
