// Machines that users describe in TOML: they take part in every look-up, and faulty files are refused whole.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "roofline/error.h"
#include "roofline/machines.h"

namespace roofline {
namespace {

#ifdef ROOFLINE_TOML

using testing::HasSubstr;

const MachineCatalogue& ours() { return MachineCatalogue::instance(); }

MachineCatalogue with(const std::string& text) {
  const std::vector<MachineFile> files = {{"my.toml", text}};
  return ours().with(files);
}

const std::string kHead = "id = \"my-gpu\"\nvendor = \"Acme\"\nname = \"Acme One\"\n";
const std::string kGood = kHead +
                          "driver_name = \"ACME Accelerator 1\"\n"
                          "alias = [\"one\", \"acme first\"]\n"
                          "sm_count = 10\n"
                          "boost_clock = \"2 GHz\"\n"
                          "dram = { value = 1.5, unit = \"TB/s\", source = \"sheet of 2025\", note = \"read\" }\n"
                          "dram_measured = \"1300GB/s\"\n"
                          "\"bf16.tensor\" = \"61 TFLOP/s\"\n"
                          "\"bf16.tensor.sparse\" = \"122 TFLOP/s\"\n";

TEST(UserMachine, GivesCeilingsWithTheFileAsTheirSource) {
  const auto catalogue = with(kGood);
  const auto* m = catalogue.find("my-gpu");
  ASSERT_NE(m, nullptr);
  const auto* c = m->ceiling(CeilingKind::datasheet);
  EXPECT_DOUBLE_EQ(c->peak(*parse_precision("bf16.tensor"))->high, 61e12);
  EXPECT_DOUBLE_EQ(*c->bandwidth(MemoryLevel::dram, "dram"), 1.5e12);
  EXPECT_EQ(c->bandwidths.at(0).source, "user file my.toml [sheet of 2025]");
  EXPECT_THAT(c->peaks.at(0).source, HasSubstr("user file my.toml"));
  const auto* measured = m->ceiling(CeilingKind::measured);
  ASSERT_NE(measured, nullptr);
  EXPECT_DOUBLE_EQ(*measured->bandwidth(MemoryLevel::dram, "dram"), 1.3e12);
  EXPECT_EQ(catalogue.facts(*m).origin, "user file my.toml");
  EXPECT_EQ(catalogue.machines().size(), ours().machines().size() + 1);
  EXPECT_NE(catalogue.version(), ours().version());
}

TEST(UserMachine, TakesPartInEveryLookUp) {
  const auto catalogue = with(kGood);
  const auto* m = catalogue.find("my-gpu");
  for (const auto* name : {"acme-one", "one", "acme first", "ACME Accelerator 1"})
    EXPECT_EQ(catalogue.find(name), m) << name;
  EXPECT_THAT(catalogue.suggestions("my-gpo"), testing::Contains("my-gpu"));
  DeviceInfo device;
  device.name = "ACME Accelerator 1";
  device.compute_capability = "9.9";  // the file does not say: no contradiction
  EXPECT_EQ(catalogue.match(device), m);
  EXPECT_EQ(catalogue.find("h100")->id, "h100-sxm5-80");
}

TEST(UserMachine, WinsById) {
  const auto catalogue = with("id = \"h100-sxm5-80\"\nvendor = \"NVIDIA\"\nname = \"capped\"\ndram = \"3000 GB/s\"\n");
  EXPECT_EQ(catalogue.machines().size(), ours().machines().size());
  EXPECT_DOUBLE_EQ(
      *catalogue.find("h100-sxm5-80")->ceiling(CeilingKind::datasheet)->bandwidth(MemoryLevel::dram, "dram"), 3e12);
}

TEST(UserMachine, ItsNamesWin) {
  const auto catalogue =
      with(kHead + "driver_name = \"NVIDIA H100 80GB HBM3\"\nshort_name = [\"h100\"]\ndram = \"3 TB/s\"\n");
  DeviceInfo device;
  device.name = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(catalogue.match(device)->id, "my-gpu");
  EXPECT_EQ(catalogue.find("h100")->id, "my-gpu");
  EXPECT_EQ(catalogue.find("h100-sxm5-80")->id, "h100-sxm5-80");
}

TEST(UserMachine, UnnamedDeviceThatFitsItAndOneOfOurs) {
  const auto& h100 = *ours().find("h100-sxm5-80");
  const auto& facts = ours().facts(h100);
  DeviceInfo device;
  device.compute_capability = "9.0";
  device.sm_count = h100.sm_count;
  device.max_memory_clock_hz = *facts.value("pin_rate") / 2;
  device.memory_bus_bits = static_cast<int>(*facts.value("bus_width"));
  const auto catalogue = with(kHead +
                              "compute_capability = \"9.0\"\nsm_count = 132\nbus_width = \"5120 bit\"\npin_rate = "
                              "\"5.238 Gbit/s\"\ndram = \"3.3 TB/s\"\n");
  ASSERT_NE(catalogue.match(device), nullptr);
  EXPECT_EQ(catalogue.match(device)->id, "my-gpu");
}

void expect_equal(const Ceiling& a, const Ceiling& b, const std::string& id) {
  ASSERT_EQ(a.peaks.size(), b.peaks.size()) << id;
  for (std::size_t i = 0; i < a.peaks.size(); ++i) {
    EXPECT_EQ(a.peaks[i].precision, b.peaks[i].precision) << id;
    EXPECT_DOUBLE_EQ(a.peaks[i].ops_per_s, b.peaks[i].ops_per_s) << id;
  }
  ASSERT_EQ(a.bandwidths.size(), b.bandwidths.size()) << id;
  for (std::size_t i = 0; i < a.bandwidths.size(); ++i)
    EXPECT_DOUBLE_EQ(a.bandwidths[i].bytes_per_s, b.bandwidths[i].bytes_per_s) << id;
  EXPECT_EQ(a.links.size(), b.links.size()) << id;
}

TEST(UserMachine, EveryMachineOfOursSurvivesBeingWrittenAndRead) {
  for (const auto& m : ours().machines()) {
    const auto catalogue = with(to_toml(m, ours().facts(m)));
    const auto* again = catalogue.find(m.id);
    ASSERT_NE(again, nullptr) << m.id;
    EXPECT_EQ(again->name, m.name);
    EXPECT_EQ(catalogue.facts(*again).figures.size(), ours().facts(m).figures.size()) << m.id;
    ASSERT_EQ(again->ceilings.size(), m.ceilings.size()) << m.id;
    for (std::size_t i = 0; i < m.ceilings.size(); ++i) expect_equal(again->ceilings[i], m.ceilings[i], m.id);
  }
}

struct Fault {
  std::string text;
  std::string kind;
  std::uint64_t line;
  std::string found;
};

class FaultyFile : public testing::TestWithParam<Fault> {};

TEST_P(FaultyFile, IsOneClearLineAndNothingIsLoaded) {
  const auto& fault = GetParam();
  const std::vector<MachineFile> files = {
      {"good.toml", "id = \"other\"\nvendor = \"A\"\nname = \"B\"\ndram = \"1 TB/s\"\n"}, {"my.toml", fault.text}};
  const auto before = ours().machines().size();
  try {
    MachineCatalogue::add_to_instance(files);
    FAIL() << "accepted: " << fault.text;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
    EXPECT_EQ(error.problem().kind, fault.kind) << error.what();
    EXPECT_EQ(error.problem().line, fault.line) << error.what();
    EXPECT_EQ(error.problem().path, "my.toml");
    EXPECT_THAT(error.problem().found, HasSubstr(fault.found));
    EXPECT_FALSE(error.problem().action.empty());
  }
  EXPECT_EQ(ours().machines().size(), before);
  EXPECT_EQ(ours().find("other"), nullptr);
  EXPECT_EQ(ours().find("my-gpu"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(
    All, FaultyFile,
    testing::Values(
        Fault{kHead + "dram = \"1 TB/s\"\nbandwith = \"1 TB/s\"\n", "unknown-key", 5, "bandwith"},
        Fault{kHead + "[peaks]\n\"bf16.tensor\" = \"1 TFLOP/s\"\n", "unknown-key", 5, "peaks.bf16.tensor"},
        Fault{kHead + "[empty]\n", "unknown-key", 4, "empty"},
        Fault{kHead + "dram = { value = \"1 TB/s\", origin = \"x\" }\n", "unknown-key", 4, "dram.origin"},
        Fault{kHead + "\"bf16.tensor\" = \"-61 TFLOP/s\"\n", "not-positive", 4, "bf16.tensor = -61"},
        Fault{kHead + "\n# a comment\n\"bf16.tensor\" = \"0 TFLOP/s\"\n", "not-positive", 6, "= 0"},
        Fault{kHead + "dram = 3352\n", "missing-unit", 4, "dram = 3352 without a unit"},
        Fault{kHead + "dram = \"3352\"\n", "missing-unit", 4, "dram"},
        Fault{kHead + "dram = { value = 3352 }\n", "missing-unit", 4, "dram"},
        Fault{kHead + "dram = { value = \"3 TB/s\", unit = \"GB/s\" }\n", "bad-value", 4, "two units"},
        Fault{kHead + "dram = \"3 TFLOP/s\"\n", "wrong-unit", 4, "dram in 'TFLOP/s'"},
        Fault{kHead + "dram = \"3,352 GB/s\"\n", "not-a-number", 4, "3,352"},
        Fault{kHead + "dram = { value = inf, unit = \"GB/s\" }\n", "not-a-number", 4, "inf"},
        Fault{kHead + "dram = { value = nan, unit = \"GB/s\" }\n", "not-a-number", 4, "nan"},
        Fault{kHead + "dram = true\n", "bad-value", 4, "dram"},
        Fault{kHead + "dram = [1, 2]\n", "bad-value", 4, "dram is a list"},
        Fault{kHead + "alias = []\ndram = \"1 TB/s\"\n", "bad-value", 4, "alias"},
        Fault{kHead + "\"bf16.tensor\" = \"61 TFLOP/s\"\n\"bf16.tensor.sparse\" = \"183 TFLOP/s\"\n",
              "sparse-above-dense", 5, "bf16.tensor.sparse = 183"},
        Fault{kHead + "\"bf16.tensor.sparse\" = \"183 TFLOP/s\"\n", "missing-key", 4, "without bf16.tensor"},
        Fault{kHead + "\"bf16.tensor\" = \"183 TFLOP/s\"\n\"bf16.tensor.sparse\" = \"91 TFLOP/s\"\n",
              "sparse-below-dense", 5, "bf16.tensor.sparse = 91"},
        Fault{kHead +
                  "rates = \"gh100\"\nsm_count = 132\nboost_clock = \"1830 MHz\"\n\"bf16.tensor\" = \"1979 TFLOP/s\"\n",
              "sparse-as-dense", 7, "bf16.tensor = 1979"},
        Fault{kHead + "bus_width = \"5120 bit\"\npin_rate = \"5 Gbit/s\"\ndram = \"335 GB/s\"\n", "contradiction", 6,
              "dram = 335"},
        Fault{kHead + "dram = \"1e308 TB/s\"\n", "too-large", 4, "1e308"},
        Fault{kHead + "boost_clock = \"1755 GHz\"\ndram = \"1 TB/s\"\n", "too-large", 4, "1755 GHz"},
        Fault{kHead + "compute_capability = 9.0\ndram = \"1 TB/s\"\n", "bad-value", 4, "compute_capability"},
        Fault{kHead + "rates = \"gh999\"\ndram = \"1 TB/s\"\n", "unknown-rates", 4, "gh999"},
        Fault{kHead + "sm_count = 1.5\ndram = \"1 TB/s\"\n", "bad-value", 4, "sm_count"},
        Fault{kHead + "dram = \"1 TB/s\"\ndram = \"2 TB/s\"\n", "bad-toml", 5, "dram"},
        Fault{kHead + "dram = 1 TB/s\n", "bad-toml", 4, ""}, Fault{kHead, "missing-key", 1, "neither dram nor a peak"},
        Fault{"vendor = \"A\"\nname = \"B\"\ndram = \"1 TB/s\"\n", "missing-key", 1, "no id"},
        Fault{"id = \"x\"\nname = \"B\"\ndram = \"1 TB/s\"\n", "missing-key", 2, "vendor"},
        Fault{"id = \"../x\"\n", "bad-value", 1, "../x"}, Fault{"id = 7\n", "bad-value", 1, "id"},
        Fault{"id = \"other\"\nvendor = \"A\"\nname = \"B\"\ndram = \"1 TB/s\"\n", "duplicate", 2, "other"},
        Fault{kHead + "alias = [\"other\"]\ndram = \"1 TB/s\"\n", "duplicate", 2, "other"},
        Fault{"\"a\\nb\" = 1\n", "unknown-key", 1, "a?b"}, Fault{"\xff\xfe", "bad-toml", 1, ""},
        Fault{"", "missing-key", 1, "no id"}));

TEST(UserMachine, HostileSizes) {
  EXPECT_THROW(with(std::string(2 << 20, '#')), InputError);
  EXPECT_THROW(with("x = " + std::string(100000, '[')), InputError);
  EXPECT_THROW(with("x = " + std::string(100000, '{')), InputError);
  // A parser recurses once for each part of a key.
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "a.";
  EXPECT_THROW(with(deep + "b = 1\n"), InputError);
  EXPECT_THROW(with("[" + deep + "b]\n"), InputError);
}

#else

TEST(UserMachine, WithoutToml) {
  const std::vector<MachineFile> files = {{"my.toml", "id = \"x\"\n"}};
  EXPECT_THROW(MachineCatalogue::instance().with(files), InputError);
}

#endif

const Ceiling& datasheet(std::string_view id) {
  return *MachineCatalogue::instance().find(id)->ceiling(CeilingKind::datasheet);
}

TEST(AtClocks, PeaksFollowTheSmClockAndDramTheMemoryClock) {
  const auto& rated = datasheet("h100-sxm5-80");
  const auto bf16 = *parse_precision("bf16.tensor");
  const auto fp32 = *parse_precision("fp32.vector");
  const auto c = at_clocks(rated, 990e6, 1309.5e6);
  EXPECT_EQ(c.kind, CeilingKind::at_clock);
  // Each peak by the clock that it assumes: tensor figures are at 1830 MHz, FP32 at 1980.
  EXPECT_NEAR(c.peak(bf16)->high, 989.4e12 * 990 / 1830, 1e6);
  EXPECT_NEAR(c.peak(fp32)->high, 66.9e12 / 2, 1e6);
  EXPECT_NEAR(*c.bandwidth(MemoryLevel::dram, "dram"), 3352e9 / 2, 1);
  EXPECT_NEAR(*c.bandwidth(MemoryLevel::shared, "shared_wavefronts"),
              *rated.bandwidth(MemoryLevel::shared, "shared_wavefronts") / 2, 1e3);
  EXPECT_EQ(c.sm_clock_hz, 990e6);
  EXPECT_EQ(c.memory_clock_hz, 1309.5e6);
  EXPECT_THAT(c.peaks.front().source, testing::HasSubstr("scaled to 990 MHz"));
}

TEST(AtClocks, OneClockLeavesWhatFollowsTheOther) {
  const auto& rated = datasheet("h100-sxm5-80");
  const auto c = at_clocks(rated, std::nullopt, 1309.5e6);
  EXPECT_EQ(c.peak(*parse_precision("bf16.tensor"))->high, rated.peak(*parse_precision("bf16.tensor"))->high);
  EXPECT_EQ(c.sm_clock_hz, rated.sm_clock_hz);
  const auto d = at_clocks(rated, 990e6, std::nullopt);
  EXPECT_EQ(d.bandwidth(MemoryLevel::dram, "dram"), rated.bandwidth(MemoryLevel::dram, "dram"));
}

TEST(AtClocks, WhatNamesNoClockIsNotScaledInSilence) {
  Ceiling rated;
  rated.peaks.push_back({*parse_precision("bf16.tensor"), 1e12, "sheet", std::nullopt});
  rated.bandwidths.push_back({MemoryLevel::dram, "dram", 1e12, "sheet"});
  const auto c = at_clocks(rated, 1e9, 1e9);
  EXPECT_TRUE(c.peaks.empty());
  EXPECT_EQ(c.bandwidths.front().bytes_per_s, 1e12);
  EXPECT_THAT(c.bandwidths.front().source, testing::HasSubstr("not scaled"));
}

}  // namespace
}  // namespace roofline
