#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/chart.h"

namespace roofline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Ceiling ceiling(CeilingKind kind, double factor) {
  Ceiling out;
  out.kind = kind;
  const auto peak = [&](std::string_view key, double value) {
    Peak p;
    p.precision = *parse_precision(key);
    p.ops_per_s = value * factor;
    out.peaks.push_back(p);
  };
  peak("fp32.vector", 50e12);
  peak("bf16.tensor", 800e12);
  peak("fp16.tensor", 800e12);
  peak("int8.tensor", 1600e12);
  out.bandwidths.push_back({MemoryLevel::dram, "dram", 2e12, "test"});
  out.bandwidths.push_back({MemoryLevel::l2, "lts_t", 9e12, "test"});
  out.bandwidths.push_back({MemoryLevel::l2, "lts2xbar", 6e12, "test"});
  return out;
}

std::vector<std::string> labels(const Chart& chart, ChartRoof::Role role) {
  std::vector<std::string> out;
  for (const auto& roof : chart.roofs)
    if (roof.role == role) out.push_back(roof.label);
  return out;
}

TEST(MachineChart, EqualPeaksAreOneRoofAndIntegersNone) {
  Machine machine;
  machine.name = "Test GPU";
  machine.ceilings = {ceiling(CeilingKind::datasheet, 1)};
  const auto chart = machine_chart(machine, machine.ceilings.front());
  EXPECT_EQ(chart.title, "Test GPU");
  EXPECT_THAT(labels(chart, ChartRoof::Role::in_use),
              ElementsAre("DRAM 2.00 TB/s", "L2 (lts2xbar) 6.00 TB/s", "fp32.vector 50.0 TF/s",
                          "bf16.tensor, fp16.tensor 800 TF/s"));
  EXPECT_THAT(labels(chart, ChartRoof::Role::datasheet), IsEmpty());
  ASSERT_EQ(chart.ridges.size(), 2U);
  EXPECT_DOUBLE_EQ(chart.ridges.back().intensity, 400);
  EXPECT_THAT(chart.points, IsEmpty());
}

TEST(MachineChart, AnotherCeilingHasTheDatasheetBesideIt) {
  Machine machine;
  machine.ceilings = {ceiling(CeilingKind::datasheet, 1)};
  const auto chart = machine_chart(machine, ceiling(CeilingKind::at_clock, 0.5));
  EXPECT_THAT(labels(chart, ChartRoof::Role::in_use), ::testing::Contains("fp32.vector 25.0 TF/s"));
  EXPECT_THAT(labels(chart, ChartRoof::Role::datasheet), ::testing::Contains("fp32.vector 50.0 TF/s datasheet"));
}

}  // namespace
}  // namespace roofline::testing
