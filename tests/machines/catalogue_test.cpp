// What the catalogue holds, against figures of vendor documents.
#include <gtest/gtest.h>

#include <set>

#include "roofline/machines.h"

namespace roofline {
namespace {

const MachineCatalogue& catalogue() { return MachineCatalogue::instance(); }

double tera(std::string_view id, std::string_view precision) {
  const auto* machine = catalogue().find(id);
  if (machine == nullptr) return -1;
  const auto peak = machine->ceiling(CeilingKind::datasheet)->peak(*parse_precision(precision));
  return peak ? peak->high / 1e12 : -1;
}

double ridge(std::string_view id, std::string_view precision) {
  const auto* machine = catalogue().find(id);
  if (machine == nullptr) return -1;
  return ridge_point(*machine->ceiling(CeilingKind::datasheet), *parse_precision(precision)).value_or(-1);
}

double giga(std::string_view id, MemoryLevel level, std::string_view definition,
            CeilingKind kind = CeilingKind::datasheet) {
  const auto* ceiling = catalogue().find(id)->ceiling(kind);
  return ceiling == nullptr ? -1 : ceiling->bandwidth(level, definition).value_or(-1e9) / 1e9;
}

const Peak* peak_entry(std::string_view id, std::string_view precision) {
  for (const auto& peak : catalogue().find(id)->ceiling(CeilingKind::datasheet)->peaks)
    if (peak.precision == *parse_precision(precision)) return &peak;
  return nullptr;
}

TEST(Catalogue, HoldsEveryMachineOnce) {
  std::set<std::string> ids;
  for (const auto& machine : catalogue().machines()) {
    EXPECT_TRUE(ids.insert(machine.id).second) << machine.id;
    EXPECT_FALSE(machine.name.empty()) << machine.id;
    EXPECT_FALSE(machine.vendor.empty()) << machine.id;
    EXPECT_NE(machine.ceiling(CeilingKind::datasheet), nullptr) << machine.id;
  }
  EXPECT_EQ(ids.size(), 76U);
  EXPECT_FALSE(catalogue().version().empty());
}

TEST(Catalogue, EveryFigureHasASource) {
  for (const auto& machine : catalogue().machines())
    for (const auto& figure : catalogue().facts(machine).figures)
      if (figure.value) {
        EXPECT_TRUE(figure.derived || !figure.sources.empty()) << machine.id << " " << figure.key;
      }
}

TEST(Catalogue, PeaksAreDense) {
  EXPECT_NEAR(tera("h100-sxm5-80", "bf16.tensor"), 989.4, 0.01);
  EXPECT_NEAR(tera("h100-sxm5-80", "bf16.tensor.sparse"), 1978.8, 0.01);
  EXPECT_NEAR(tera("h100-sxm5-80", "fp8.tensor"), 1978.9, 0.01);
  EXPECT_NEAR(tera("h100-sxm5-80", "fp64.vector"), 33.5, 0.01);
  EXPECT_NEAR(tera("h100-sxm5-80", "fp64.tensor"), 66.9, 0.01);
  EXPECT_NEAR(tera("b200-sxm", "fp4.tensor"), 9000, 0.1);
  EXPECT_NEAR(tera("mi300x", "fp16.tensor"), 1307.4, 0.01);
  EXPECT_NEAR(tera("mi300x", "fp32.tensor"), 163.4, 0.01);
}

TEST(Catalogue, GeForceAccumulatorDecides) {
  EXPECT_NEAR(tera("rtx-4090", "fp16.tensor"), 165.2, 0.01);
  EXPECT_NEAR(tera("rtx-4090", "fp16.acc16.tensor"), 330.3, 0.01);
  EXPECT_NEAR(tera("rtx-4090", "fp16.acc16.tensor.sparse"), 660.6, 0.01);
  EXPECT_NEAR(tera("rtx-4090", "int8.tensor"), 660.6, 0.01);
  EXPECT_NEAR(tera("rtx-a6000", "fp16.tensor"), 154.8, 0.01);  // full rate on the professional part of the same chip
}

TEST(Catalogue, UnknownStaysAbsent) {
  EXPECT_LT(tera("rtx-pro-6000-bw", "tf32.tensor"), 0);
  EXPECT_LT(tera("b200-sxm", "fp16.vector"), 0);
  EXPECT_LT(tera("v100-sxm2-16", "bf16.tensor"), 0);
  EXPECT_LT(tera("v100-sxm2-16", "fp16.tensor.sparse"), 0);
  EXPECT_LT(tera("a100-sxm4-80", "fp8.tensor"), 0);
  EXPECT_LT(tera("h100-sxm5-80", "fp64.tensor.sparse"), 0);
  EXPECT_LT(tera("mi355x", "fp4.tensor.sparse"), 0);
}

TEST(Catalogue, TwoClocksOnOneDatasheet) {
  EXPECT_NEAR(*peak_entry("h100-sxm5-80", "bf16.tensor")->clock_hz, 1.83e9, 1);
  EXPECT_NEAR(*peak_entry("h100-sxm5-80", "fp32.vector")->clock_hz, 1.98e9, 1);
  EXPECT_NEAR(*peak_entry("h100-sxm5-80", "fp64.tensor")->clock_hz, 1.98e9, 1);
  EXPECT_NE(peak_entry("h100-sxm5-80", "bf16.tensor")->source.find("1830 MHz"), std::string::npos);
  EXPECT_NEAR(*peak_entry("a100-sxm4-80", "bf16.tensor")->clock_hz, 1.41e9, 1);
}

TEST(Catalogue, SparsityIsNotAlwaysTwo) {
  EXPECT_NEAR(tera("b300-sxm", "fp4.tensor"), 14000, 0.1);
  EXPECT_NEAR(tera("b300-sxm", "fp4.tensor.sparse"), 18000, 0.1);
  EXPECT_NEAR(tera("trainium2", "bf16.tensor.sparse"), 2563, 0.1);
}

TEST(Catalogue, LinksAreOneDirection) {
  const auto* h100 = catalogue().find("h100-sxm5-80")->ceiling(CeilingKind::datasheet);
  EXPECT_NEAR(*h100->link_bandwidth("nvlink") / 1e9, 450, 0.01);
  EXPECT_NEAR(*h100->link_bandwidth("pcie") / 1e9, 63.0, 0.1);
  EXPECT_FALSE(catalogue().find("l40s")->ceiling(CeilingKind::datasheet)->link_bandwidth("nvlink"));
  for (const auto& link : h100->links)
    if (link.kind == "nvlink") {
      EXPECT_NE(link.source.find("half of the printed total"), std::string::npos);
    }
}

TEST(Catalogue, BandwidthOfEveryLevelCarriesItsDefinition) {
  EXPECT_NEAR(giga("a100-sxm4-80", MemoryLevel::l2, "lts2xbar"), 5120 * 1.41, 0.1);
  EXPECT_LT(giga("a100-sxm4-80", MemoryLevel::l2, "lts_t"), 0);
  EXPECT_NEAR(giga("a100-sxm4-80", MemoryLevel::shared, "shared_wavefronts"), 19492, 1);  // the "19 TB/s" is an A100
  EXPECT_NEAR(giga("h100-sxm5-80", MemoryLevel::shared, "shared_wavefronts"), 33454, 1);
  EXPECT_NEAR(giga("h100-sxm5-80", MemoryLevel::l1, "lsu_writeback"), 33454, 1);
  EXPECT_NEAR(giga("mi300x", MemoryLevel::l2, "tcc"), 34406, 1);
  EXPECT_LT(giga("a40", MemoryLevel::l2, "lts2xbar"), 0);  // only measured, no vendor figure
  EXPECT_NEAR(giga("a40", MemoryLevel::l2, "lts2xbar", CeilingKind::measured), 2430, 0.1);
  EXPECT_NEAR(giga("b300-sxm", MemoryLevel::l2, "lts_t", CeilingKind::measured), 13300, 0.1);
}

// FLOP/byte, each the quotient of the printed peak and bandwidth.
TEST(Catalogue, RidgePoints) {
  EXPECT_NEAR(ridge("h100-sxm5-80", "fp32.vector"), 20.0, 0.05);
  EXPECT_NEAR(ridge("h100-sxm5-80", "bf16.tensor"), 295.2, 0.05);
  EXPECT_NEAR(ridge("h100-sxm5-80", "fp8.tensor"), 590.4, 0.05);
  EXPECT_NEAR(ridge("h100-pcie-80", "bf16.tensor"), 371, 0.1);
  EXPECT_NEAR(ridge("h200-sxm-141", "bf16.tensor"), 206, 0.2);
  EXPECT_NEAR(ridge("h20", "bf16.tensor"), 37, 0.05);
  EXPECT_NEAR(ridge("a100-sxm4-80", "bf16.tensor"), 153.0, 0.05);
  EXPECT_NEAR(ridge("a100-sxm4-40", "bf16.tensor"), 200.6, 0.05);
  EXPECT_NEAR(ridge("a100-pcie-80", "bf16.tensor"), 161.2, 0.05);
  EXPECT_NEAR(ridge("b200-sxm", "bf16.tensor"), 292.2, 0.05);
  EXPECT_NEAR(ridge("b300-sxm", "fp4.tensor"), 1818, 0.5);
  EXPECT_NEAR(ridge("mi300x", "bf16.tensor"), 246.7, 0.05);
  EXPECT_NEAR(ridge("mi250x", "fp16.tensor"), 116.9, 0.05);
  EXPECT_NEAR(ridge("rtx-4090", "fp16.tensor"), 164, 0.2);
  EXPECT_NEAR(ridge("l40s", "bf16.tensor"), 419, 0.2);
  EXPECT_NEAR(ridge("tpu-v6e", "int8.tensor"), 1121, 0.5);
}

TEST(PipeGroups, PerComputeCapability) {
  EXPECT_EQ(pipe_groups("8.0"), (PipeGroups{{"tensor", "fp16", "fp64"}}));
  EXPECT_EQ(pipe_groups("9.0"), (PipeGroups{{"tensor", "fp64"}}));
  EXPECT_EQ(pipe_groups("10.0"), PipeGroups{});
  EXPECT_EQ(pipe_groups("7.0"), PipeGroups{});
  EXPECT_EQ(pipe_groups("8.6"), (PipeGroups{{"fp64", "fp64.tensor"}}));  // DMMA runs on the FP64 pipe
  EXPECT_EQ(pipe_groups("12.0"), (PipeGroups{{"fp64", "fp64.tensor"}}));
  EXPECT_EQ(pipe_groups(""), PipeGroups{});
  EXPECT_EQ(pipe_groups("99.9"), PipeGroups{});
  EXPECT_EQ(catalogue().find("h100")->pipe_groups, pipe_groups("9.0"));
}

TEST(ChipRates, SharedRatesOnlyWhereThePartIsUnknown) {
  const auto* any = chip_rates("8.6");
  ASSERT_NE(any, nullptr);
  EXPECT_EQ(any->rate(*parse_precision("fp32.vector")), 256);
  EXPECT_FALSE(any->rate(*parse_precision("bf16.tensor")));  // 512 on GeForce, 1024 on professional parts
  EXPECT_EQ(catalogue().rates("ga10x-geforce")->rate(*parse_precision("bf16.tensor")), 512);
  EXPECT_EQ(catalogue().rates("ga10x-pro")->rate(*parse_precision("bf16.tensor")), 1024);
  EXPECT_FALSE(chip_rates("9.0")->rate(*parse_precision("fp64.vector")));  // 128 on H100, 4 on H800
  EXPECT_EQ(chip_rates("6.2"), nullptr);
}

}  // namespace
}  // namespace roofline
