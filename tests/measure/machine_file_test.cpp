// A measurement becomes a machine's file, and the file the same machine again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/figures.h"
#include "roofline/error.h"
#include "roofline/measure.h"

namespace roofline {
namespace {

#ifdef ROOFLINE_TOML

using testing::HasSubstr;

MeasuredValue value(double v) {
  MeasuredValue out;
  out.value = v;
  out.median = 0.9 * v;
  out.low = 0.5 * v;
  out.high = v;
  out.samples = 9;
  return out;
}

ThreadedMeasurement threads(int count) {
  ThreadedMeasurement t;
  for (int i = 0; i < count; ++i) t.cpus.push_back(i);
  t.clock = value(3.7e9);
  t.levels = {{"l1", 32 * 1024.0, 32 * 1024.0, 1.1e-9},
              {"l2", 1024 * 1024.0, 1024 * 1024.0, 3.8e-9},
              {"l3", 11.5 * 1024 * 1024, 32 * 1024 * 1024.0, 15e-9},
              {"dram", std::nullopt, std::nullopt, 140e-9}};
  double rate = 236e9 * count;
  for (const auto* level : {"l1", "l2", "l3", "dram"}) {
    for (const auto pattern : {AccessPattern::read, AccessPattern::triad, AccessPattern::nt_write})
      t.bandwidths.push_back({level, pattern, 24 * 1024.0, "AVX2", value(rate)});
    rate /= 2;
  }
  t.peaks.push_back({*parse_precision("fp64.vector"), false, "FMA", "AVX2", value(59.1e9 * count)});
  t.peaks.push_back({*parse_precision("fp64.vector"), true, "1 FMA : 1 ADD", "AVX2", value(88.7e9 * count)});
  t.peaks.push_back({*parse_precision("int8.vector"), false, "dot", "AVX-512", value(473e9 * count)});
  return t;
}

CpuMeasurement measurement() {
  CpuMeasurement m;
  m.cpu.name = "Acme \"One\" \\ 3\t";  // as hostile as firmware may be
  m.cpu.vendor = "AMD";                // whose GPUs have other tags
  m.cpu.detail = "family 25, model 17";
  m.cpu.architecture = "x86_64";
  m.cpu.cores = 2;
  m.version = "0.1.0";
  m.date = "2026-11-29";
  m.notes = {"a note", "another \"note\""};
  m.one = threads(1);
  m.all = threads(2);
  return m;
}

MachineCatalogue with(const MeasuredMachine& made) {
  Machine named;
  named.id = made.machine.id;
  const std::vector<MachineFile> files = {{"x.toml", to_toml(named, made.facts)}};
  return MachineCatalogue::built_in().with(files);
}

TEST(MeasuredMachine, RoundTripsThroughItsFile) {
  const auto made = measured_machine(measurement(), true, "my-cpu");
  const auto catalogue = with(made);
  const auto* m = catalogue.find("my-cpu");
  ASSERT_NE(m, nullptr);
  const auto* c = m->ceiling(CeilingKind::measured);
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->kind, CeilingKind::measured);
  EXPECT_NEAR(*c->sm_clock_hz, 3.7e9, 1e6);
  EXPECT_NEAR(c->peak(*parse_precision("fp64.vector"))->high, 118.2e9, 0.1e9);  // the multiply-adds, not the mix
  EXPECT_NEAR(c->peak(*parse_precision("int8.vector"))->high, 946e9, 1e9);
  EXPECT_NEAR(*c->bandwidth(MemoryLevel::l1, "load_store"), 472e9, 1e9);
  EXPECT_NEAR(*c->bandwidth(MemoryLevel::l2, "load_store"), 236e9, 1e9);
  EXPECT_NEAR(*c->bandwidth(MemoryLevel::dram, "dram"), 59e9, 0.1e9);
  EXPECT_FALSE(c->bandwidth(MemoryLevel::l2, "tcc"));
  EXPECT_EQ(m->vendor, "AMD");
  EXPECT_THAT(m->name, HasSubstr("Acme \"One\" \\ 3"));
  EXPECT_TRUE(m->ceiling(CeilingKind::datasheet)->peaks.empty());
}

TEST(MeasuredMachine, KeepsWhatCeilingsHaveNoPlaceFor) {
  const auto catalogue = with(measured_machine(measurement(), true, "my-cpu"));
  const auto& facts = catalogue.facts(*catalogue.find("my-cpu"));
  EXPECT_NEAR(*facts.value("l3_measured"), 118e9, 0.1e9);
  EXPECT_NEAR(*facts.value("l3_read_measured"), 118e9, 0.1e9);
  EXPECT_NEAR(*facts.value("fp64.vector_mix_measured"), 177.4e9, 0.1e9);
  EXPECT_NEAR(*facts.value("l2_latency_measured"), 3.8e-9, 0.01e-9);
  EXPECT_NEAR(*facts.value("l3_size_measured"), 11.5 * 1024 * 1024, 1024);
  EXPECT_DOUBLE_EQ(*facts.value("threads_measured"), 2);
  EXPECT_THAT(facts.find("l3_size_measured")->note, HasSubstr("the system reports 32768 KiB"));
  EXPECT_THAT(std::string(facts.text("measured_with")), HasSubstr("roofline 0.1.0 on 2026-11-29"));
  EXPECT_THAT(facts.find("l1_measured")->note, HasSubstr("in 9 samples"));
  EXPECT_THAT(std::string(facts.text("note")), HasSubstr("another \"note\""));
}

TEST(MeasuredMachine, OneThreadIsAMachineOfItsOwn) {
  const auto made = measured_machine(measurement(), false, "my-cpu-1t");
  EXPECT_NEAR(made.machine.ceiling(CeilingKind::measured)->peak(*parse_precision("fp64.vector"))->high, 59.1e9, 1e8);
  EXPECT_THAT(made.machine.name, HasSubstr("one thread"));
}

TEST(MeasuredMachine, ReadsSmallAndLargeFigures) {
  for (const double v : {1.234e6, 9.99e8, 1.0e9, 123.456e9, 7.5e12, 9.9e15}) {
    const auto f = measure::bandwidth_figure("dram_measured", v);
    EXPECT_NEAR(std::stod(f.text) * 1e9, v, 0.001 * v + 1e6) << f.text;
    EXPECT_EQ(f.text.find('e'), std::string::npos) << f.text;
  }
}

TEST(MeasuredMachine, FilesThatMeanSomethingElseAreRefused) {
  const auto read = [](const std::string& line) {
    const std::vector<MachineFile> files = {{"x.toml", "id = \"x\"\nvendor = \"A\"\nname = \"B\"\n" + line}};
    return MachineCatalogue::built_in().with(files).machines().size();
  };
  EXPECT_GT(read("l1_read_measured = \"5 GB/s\"\n"), 0U);
  EXPECT_GT(read("\"fp16.vector_measured\" = \"5 GFLOP/s\"\n"), 0U);
  for (const auto* bad : {"l9_measured = \"5 GB/s\"", "l1_reed_measured = \"5 GB/s\"", "l1_measured = \"5 GFLOP/s\"",
                          "\"fp64.vector_measured\" = \"5 GOP/s\"", "\"int8.vector_measured\" = \"5 GFLOP/s\"",
                          "\"fp64.vektor_measured\" = \"5 GFLOP/s\"", "l1_latency_measured = \"5 GB/s\"",
                          "dram_measured = \"-5 GB/s\"", "clock_measured = \"0 MHz\"", "_measured = \"5 GB/s\"",
                          "measured_with = \"a tool, and no figure\"", "threads_measured = \"2 GB\""})
    EXPECT_THROW(read(bad), InputError) << bad;
}

#endif

}  // namespace
}  // namespace roofline
