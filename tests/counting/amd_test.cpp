#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "counting/launches.h"
#include "counting/recipes.h"
#include "roofline/profile.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

using ::testing::Contains;
using testing::count_on;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::operations;

std::map<std::string, double> complete(double value) {
  std::map<std::string, double> metrics{{"rocprof__duration", 1000}};
  for (const char* type : {"F16", "F32", "F64"})
    for (const char* kind : {"ADD", "MUL", "FMA", "TRANS"})
      metrics[std::string("SQ_INSTS_VALU_") + kind + "_" + type] = value;
  for (const char* type : {"F16", "BF16", "F32", "F64", "I8", "F8", "XF32"})
    metrics[std::string("SQ_INSTS_VALU_MFMA_MOPS_") + type] = value;
  return metrics;
}

Counted count_map(const std::string& chip, const std::map<std::string, double>& metrics) {
  Launch launch;
  for (const auto& [name, value] : metrics) testing::add(launch, name, value);
  launch.metrics.finish();
  return count(launch, testing::device_of(chip));
}

TEST(AmdCounting, VectorLanesAndMatrixOperations) {
  const auto counted = count_map("gfx942", complete(10));
  const auto& work = counted.work;
  EXPECT_DOUBLE_EQ(work.time.value(), 1e-6);
  // Three kinds at 1, multiply-adds at 2, 64 lanes each.
  for (const char* key : {"fp16.vector", "fp32.vector", "fp64.vector"}) EXPECT_EQ(operations(work, key), 5 * 10 * 64);
  for (const char* key : {"fp16.tensor", "bf16.tensor", "fp32.tensor", "fp64.tensor", "tf32.tensor", "fp8.tensor"})
    EXPECT_EQ(operations(work, key), 10 * 512) << key;
  EXPECT_EQ(operations(work, "int8.tensor"), 10 * 512);
  EXPECT_EQ(work.flops().value(), 3 * 5 * 10 * 64 + 6 * 10 * 512);  // integers are no FLOPs
  EXPECT_TRUE(work.coverage.complete());
  EXPECT_THAT(work.coverage.assumed_none, IsEmpty());
}

TEST(AmdCounting, WhatWasNotCountedIsSaid) {
  auto metrics = complete(0);
  metrics.erase("SQ_INSTS_VALU_MFMA_MOPS_F8");
  // Chips before CDNA 3 have no FP8.
  EXPECT_THAT(count_map("gfx90a", metrics).work.coverage.assumed_none, Not(Contains("fp8.tensor")));
  EXPECT_THAT(count_map("gfx942", metrics).work.coverage.assumed_none, Contains("fp8.tensor"));
  for (const char* type : {"F16", "BF16", "F32", "F64", "I8", "XF32"})
    metrics.erase(std::string("SQ_INSTS_VALU_MFMA_MOPS_") + type);
  const auto no_matrix = count_map("gfx90a", metrics).work.coverage;
  EXPECT_THAT(no_matrix.uncounted, Contains("tensor"));
  EXPECT_THAT(no_matrix.reason, HasSubstr("MFMA_MOPS"));
  const auto nothing = count_on("gfx90a", {{"rocprof__duration", 1000}, {"TCC_HIT_sum", 1}}).work;
  EXPECT_FALSE(nothing.flops());
  EXPECT_THAT(nothing.coverage.uncounted, Contains("fp32.vector"));
}

// One kind of instructions missing: the sum would be too low without anybody seeing it.
TEST(AmdCounting, AllKindsOfATypeOrNone) {
  auto metrics = complete(10);
  metrics.erase("SQ_INSTS_VALU_TRANS_F32");
  const auto work = count_map("gfx90a", metrics).work;
  EXPECT_EQ(testing::find_operations(work, "fp32.vector"), nullptr);
  EXPECT_THAT(work.coverage.assumed_none, Contains("fp32.vector"));
}

TEST(AmdCounting, BytesOfMemoryByRequestSize) {
  // 100 reads, of which 10 of 32 bytes; 50 writes, of which 40 of 64 bytes.
  const auto gfx90a = count_on("gfx90a", {{"TCC_EA_RDREQ_sum", 100},
                                          {"TCC_EA_RDREQ_32B_sum", 10},
                                          {"TCC_EA_WRREQ_sum", 50},
                                          {"TCC_EA_WRREQ_64B_sum", 40}});
  const auto& dram = gfx90a.work.level(MemoryLevel::dram);
  EXPECT_EQ(dram.total.value(), 90 * 64 + 10 * 32 + 40 * 64 + 10 * 32);
  EXPECT_EQ(dram.read.value(), 90 * 64 + 10 * 32);
  EXPECT_EQ(dram.write.value(), 40 * 64 + 10 * 32);
  EXPECT_EQ(dram.total.bound(), Bound::exact);
  EXPECT_EQ(dram.definition, "dram");
  // 30 more of the reads are of 128 bytes.
  const testing::Metrics ea0 = {{"TCC_EA0_RDREQ_sum", 100},
                                {"TCC_EA0_RDREQ_32B_sum", 10},
                                {"TCC_BUBBLE_sum", 30},
                                {"TCC_EA0_WRREQ_sum", 50},
                                {"TCC_EA0_WRREQ_64B_sum", 40}};
  EXPECT_EQ(count_on("gfx942", ea0).work.level(MemoryLevel::dram).total.value(),
            30 * 128 + 10 * 32 + 60 * 64 + 40 * 64 + 10 * 32);
  // TCC_BUBBLE counts something else on gfx950: without the sizes the reads are of 64 bytes at least.
  const auto unsure = count_on("gfx950", ea0).work.level(MemoryLevel::dram).total;
  EXPECT_EQ(unsure.value(), 90 * 64 + 10 * 32 + 40 * 64 + 10 * 32);
  EXPECT_EQ(unsure.bound(), Bound::lower);
  const auto sizes = count_on("gfx950", {{"TCC_EA0_RDREQ_sum", 100},
                                         {"TCC_EA0_RDREQ_32B_sum", 10},
                                         {"TCC_EA0_RDREQ_64B_sum", 20},
                                         {"TCC_EA0_RDREQ_128B_sum", 70},
                                         {"TCC_EA0_WRREQ_sum", 50},
                                         {"TCC_EA0_WRREQ_64B_sum", 40}})
                         .work.level(MemoryLevel::dram)
                         .total;
  EXPECT_EQ(sizes.value(), 10 * 32 + 20 * 64 + 70 * 128 + 40 * 64 + 10 * 32);
  EXPECT_EQ(sizes.bound(), Bound::exact);
  // An unknown chip: the same caution.
  EXPECT_EQ(count_on("", ea0).work.level(MemoryLevel::dram).total.bound(), Bound::lower);
  EXPECT_EQ(count_on("", {{"FETCH_SIZE", 2}, {"WRITE_SIZE", 1}}).work.level(MemoryLevel::dram).total.value(), 3 * 1024);
}

TEST(AmdCounting, Caches) {
  const testing::Metrics metrics = {{"TCP_TCC_READ_REQ_sum", 10},
                                    {"TCP_TCC_WRITE_REQ_sum", 4},
                                    {"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 1},
                                    {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 2},
                                    {"TCP_TOTAL_CACHE_ACCESSES_sum", 100},
                                    {"SQ_LDS_IDX_ACTIVE", 50},
                                    {"SQ_LDS_BANK_CONFLICT", 20},
                                    {"TCC_HIT_sum", 3},
                                    {"TCC_MISS_sum", 1}};
  const auto cdna2 = count_on("gfx90a", metrics).work;
  EXPECT_EQ(cdna2.level(MemoryLevel::l2).total.value(), 64 * (10 + 4 + 1 + 2));
  EXPECT_EQ(cdna2.level(MemoryLevel::l2).definition, "tcc");
  EXPECT_EQ(cdna2.level(MemoryLevel::l1).total.value(), 6400);
  EXPECT_EQ(cdna2.level(MemoryLevel::l1).total.bound(), Bound::upper);
  EXPECT_EQ(cdna2.level(MemoryLevel::shared).total.value(), 30 * 128);
  EXPECT_EQ(cdna2.activity.l2_hit_rate.value(), 0.75);
  EXPECT_EQ(count_on("gfx942", metrics).work.level(MemoryLevel::l2).total.value(), 128 * 10 + 64 * (4 + 1 + 2));
  EXPECT_EQ(count_on("", metrics).work.level(MemoryLevel::l2).total.bound(), Bound::lower);
}

TEST(AmdCounting, CapabilitiesOfBothMakers) {
  EXPECT_EQ(counting::capability_number("9.0"), 90);
  EXPECT_EQ(counting::capability_number("gfx90a"), 0x90a);
  EXPECT_EQ(counting::capability_number("gfx1100"), 0x1100);
  EXPECT_EQ(counting::capability_number("gfx"), std::nullopt);
  EXPECT_EQ(counting::capability_number("gfx7"), std::nullopt);
  EXPECT_EQ(counting::capability_number("gfx90z"), std::nullopt);
  EXPECT_TRUE(counting::ChipSet({"gfx940-gfx942"}).holds(0x942));
  EXPECT_FALSE(counting::ChipSet({"gfx940-gfx942"}).holds(0x950));
}

// vecCopy moves 2^20 doubles there and back: 8,388,608 bytes each way.
TEST(AmdCounting, CopyOfKnownSizeOnTwoChips) {
  constexpr double kEachWay = 8'388'608;
  for (const char* chip : {"MI200", "MI300X"}) {
    SCOPED_TRACE(chip);
    const auto file = std::string("data/rocprof/ROCm__rocprofiler-compute__vcopy_") + chip + "_pmc_perf.csv";
    ROOFLINE_NEEDS_SHARED(file);
    const auto profile = open_profile(testing::shared_path(file).string());
    for (const auto& launch : profile.launches) {
      const auto work = count(launch, profile.devices[launch.device]).work;
      const auto& dram = work.level(MemoryLevel::dram);
      EXPECT_NEAR(dram.read.value(), kEachWay, 0.005 * kEachWay);
      // Later launches find room for a part of their writes in the L2.
      if (launch.ordinal == 0) {
        EXPECT_NEAR(dram.write.value(), kEachWay, 0.005 * kEachWay);
      }
      EXPECT_LE(dram.write.value(), 1.005 * kEachWay);
      EXPECT_EQ(dram.total.evidence(), Evidence::counter);
      EXPECT_EQ(work.level(MemoryLevel::l2).total.value(), 2 * kEachWay);
      EXPECT_EQ(work.flops().value(), 0);
    }
  }
}

}  // namespace
}  // namespace roofline
