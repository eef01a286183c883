// Ceilings of other tools: what is taken over, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "roofline/error.h"
#include "roofline/measure.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

#ifdef ROOFLINE_TOML

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kErt =
    "{\"empirical\": {\"gbytes\": {\"data\": [[\"L1\", 1000.5], [\"L2\", 500.25], [\"L3\", 290], [\"DRAM\", 68.75]]},\n"
    " \"gflops\": {\"data\": [[\"GFLOPs\", 288.5]]},\n"
    " \"metadata\": {\"HOSTNAME\": [\"secret-host\", [], [\"10.0.0.1\"]], \"CONFIG\": {\"ERT_GPU\": [false]}}},\n"
    " \"spec\": {}}\n";
const std::string kRocprof =
    "device,HBMBw,HBMBwLow,hbmBwHigh,L2Bw,L1Bw,LDSBw,FP32Flops,FP64Flops,MFMAF16Flops,MFMAI8Ops,MFMAFI8OpsLow,New\r\n"
    "0,1400,1399,1401,5000,9200,17700,21000,20000,165000,166000,165000,7\r\n"
    "1,1300,1299,1301,5100,9100,17600,21100,20100,165100,166100,165100,8\r\n";

ImportOptions named(const std::string& id) {
  ImportOptions options;
  options.id = id;
  return options;
}

const Ceiling& measured(const MeasuredMachine& m) { return *m.machine.ceiling(CeilingKind::measured); }

TEST(ImportErt, TakesLevelsAndPeak) {
  const auto made = import_ceilings(kErt, "roofline.json", named("lab"));
  const auto& c = measured(made);
  EXPECT_NEAR(*c.bandwidth(MemoryLevel::dram, "dram"), 68.75e9, 1e7);
  EXPECT_NEAR(*c.bandwidth(MemoryLevel::l1, "load_store"), 1000.5e9, 1e9);
  EXPECT_NEAR(*c.bandwidth(MemoryLevel::l2, "load_store"), 500.25e9, 1e8);
  EXPECT_NEAR(*made.facts.value("l3_measured"), 290e9, 1e8);
  EXPECT_NEAR(c.peak(*parse_precision("fp64.vector"))->high, 288.5e9, 1e8);
  EXPECT_THAT(made.warnings, Contains(HasSubstr("names no precision")));
  for (const auto& f : made.facts.figures) EXPECT_THAT(f.text + f.note, Not(HasSubstr("secret")));
}

TEST(ImportErt, PrecisionAsSaidByLabelOrPerson) {
  auto options = named("lab");
  options.precision = parse_precision("fp32.vector");
  EXPECT_TRUE(measured(import_ceilings(kErt, "r.json", options)).peak(*parse_precision("fp32.vector")));
  auto labelled = kErt;
  labelled.replace(labelled.find("GFLOPs"), 6, "FP16 GFLOPs");
  const auto made = import_ceilings(labelled, "r.json", options);
  EXPECT_TRUE(measured(made).peak(*parse_precision("fp16.vector")));
  EXPECT_FALSE(measured(made).peak(*parse_precision("fp32.vector")));
}

TEST(ImportErt, GpuRunsHaveGpuTags) {
  auto text = kErt;
  text.replace(text.find("[false]"), 7, "[\"True\"]");
  EXPECT_TRUE(measured(import_ceilings(text, "r.json", named("lab"))).bandwidth(MemoryLevel::l1, "lsu_writeback"));
}

TEST(ImportRocprof, TakesTheMeansOfOneDevice) {
  const auto made = import_ceilings(kRocprof, "roofline.csv", named("lab"));
  const auto& c = measured(made);
  EXPECT_NEAR(*c.bandwidth(MemoryLevel::dram, "dram"), 1400e9, 1e9);
  EXPECT_NEAR(*c.bandwidth(MemoryLevel::l2, "tcc"), 5000e9, 1e9);
  EXPECT_NEAR(*c.bandwidth(MemoryLevel::l1, "tcp"), 9200e9, 1e9);
  EXPECT_NEAR(*c.bandwidth(MemoryLevel::shared, "lds"), 17700e9, 1e9);
  EXPECT_NEAR(c.peak(*parse_precision("fp16.tensor"))->high, 165e12, 1e10);
  EXPECT_NEAR(c.peak(*parse_precision("int8.tensor"))->high, 166e12, 1e10);
  EXPECT_NEAR(c.peak(*parse_precision("fp64.vector"))->high, 20e12, 1e10);
  EXPECT_THAT(made.warnings, Contains(HasSubstr("2 devices")));
  EXPECT_THAT(made.warnings, Contains(HasSubstr("New")));
  auto options = named("lab");
  options.device = 1;
  EXPECT_NEAR(*measured(import_ceilings(kRocprof, "r.csv", options)).bandwidth(MemoryLevel::dram, "dram"), 1300e9, 1e9);
  options.device = 2;
  EXPECT_THROW(import_ceilings(kRocprof, "r.csv", options), UsageError);
}

TEST(ImportRocprof, JoinsTheFiguresOfAKnownMachineAndIsComparedWithThem) {
  const auto& catalogue = MachineCatalogue::built_in();
  auto options = named("mi210");
  options.base = catalogue.find("mi210");
  ASSERT_NE(options.base, nullptr);
  options.facts = &catalogue.facts(*options.base);
  const auto made = import_ceilings(kRocprof, "r.csv", options);
  EXPECT_FALSE(made.machine.ceiling(CeilingKind::datasheet)->peaks.empty());
  EXPECT_NEAR(*measured(made).bandwidth(MemoryLevel::dram, "dram"), 1400e9, 1e9);
  for (const auto& w : made.warnings) EXPECT_THAT(w, Not(HasSubstr("datasheet's figures")));
  // One of the two dies of an MI250X, and a file in other units.
  options.base = catalogue.find("mi250x");
  options.facts = &catalogue.facts(*options.base);
  EXPECT_THAT(import_ceilings(kRocprof, "r.csv", options).warnings, Contains(HasSubstr("one die or one partition")));
  auto large = kRocprof;
  large.replace(large.find("0,1400,"), 7, "0,14000,");
  EXPECT_THAT(import_ceilings(large, "r.csv", options).warnings, Contains(HasSubstr("are the units")));
}

TEST(ImportRocprof, EmptyAndZeroCellsAreAbsent) {
  const auto made = import_ceilings("device,HBMBw,FP32Flops,MFMAF8Flops\n0,1400,,0\n", "r.csv", named("lab"));
  EXPECT_TRUE(measured(made).peaks.empty());
}

std::string kind_of(const std::string& text) {
  try {
    static_cast<void>(import_ceilings(text, "x", named("lab")));
  } catch (const InputError& error) {
    return error.problem().kind;
  }
  return "";
}

TEST(Import, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(kind_of(""), "truncated");
  EXPECT_EQ(kind_of(" \n\n"), "truncated");
  EXPECT_EQ(kind_of("id = \"x\"\n"), "unknown-format");
  EXPECT_EQ(kind_of("{}"), "unknown-format");
  EXPECT_EQ(kind_of("{\"empirical\": 3}"), "no-figures");
  EXPECT_EQ(kind_of("{\"empirical\": {\"gbytes\": {\"data\": []}}}"), "no-figures");
  EXPECT_EQ(kind_of("{\"empirical\": {\"gbytes\": {\"data\": [[\"L1\"]]}}}"), "not-a-number");
  EXPECT_EQ(kind_of("{\"empirical\": {\"gbytes\": {\"data\": [[\"L1\", \"fast\"]]}}}"), "not-a-number");
  EXPECT_EQ(kind_of("{\"empirical\": {\"gbytes\": {\"data\": [[\"L1\", -3]]}}}"), "not-positive");
  EXPECT_EQ(kind_of("{\"empirical\": {\"gbytes\": {\"data\": [[\"L1\", 1e400]]}}}"), "bad-json");
  EXPECT_EQ(kind_of("{nonsense}"), "bad-json");
  EXPECT_EQ(kind_of("device,HBMBw\n"), "truncated");
  EXPECT_EQ(kind_of("device,HBMBw\n0,fast\n"), "not-a-number");
  EXPECT_EQ(kind_of("device,HBMBw\n0,inf\n"), "not-positive");
  EXPECT_EQ(kind_of("device,HBMBw\n0,-4\n"), "not-positive");
  EXPECT_EQ(kind_of("device,HBMBw,L2Bw\n0,4\n"), "truncated");
  EXPECT_EQ(kind_of("device,HBMBw,L2Bw\n0,4\n1,2,3\n"), "ragged-row");
  EXPECT_EQ(kind_of("device,HBMBwLow\n0,4\n"), "no-figures");
  EXPECT_EQ(kind_of(std::string("device,HBMBw\n0,\x01\x02\n", 18)), "not-a-number");
}

// Cut anywhere, a file yields figures that stand whole before the cut, or a reason.
TEST(Import, CutFilesEndInAReasonOrInFewerFigures) {
  for (const auto* whole : {&kErt, &kRocprof})
    for (std::size_t n = 0; n < whole->size(); ++n) {
      try {
        static_cast<void>(import_ceilings(whole->substr(0, n), "x", named("lab")));
      } catch (const InputError& error) {
        EXPECT_FALSE(error.problem().kind.empty());
      } catch (const UsageError&) {
      }
    }
  for (std::size_t n = 1; n + 2 < kErt.size(); ++n) EXPECT_NE(kind_of(kErt.substr(0, n)), "") << n;
}

TEST(Import, DeepJsonIsNoProblem) { EXPECT_NE(kind_of("{\"empirical\": " + std::string(100000, '[')), ""); }

std::string text_of(const std::string& relative) {
  std::ifstream in(testing::shared_path(relative), std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Import, RealFileOfErt) {
  const std::string path = "data/other/ebugger__Empirical-Roofline-Toolkit__ert_p100_Run018_roofline.json";
  ROOFLINE_NEEDS_SHARED(path);
  const auto made = import_ceilings(text_of(path), path, named("lab"));
  EXPECT_NEAR(*measured(made).bandwidth(MemoryLevel::dram, "dram"), 68.76e9, 1e7);
  EXPECT_NEAR(measured(made).peak(*parse_precision("fp64.vector"))->high, 288.33e9, 1e8);
  EXPECT_EQ(std::string(made.facts.text("kind")), "cpu");  // although the run is called p100
}

TEST(Import, RealFileOfRocprof) {
  const std::string path = "data/rocprof/ROCm__rocprofiler-compute__vcopy_MI200_roofline.csv";
  ROOFLINE_NEEDS_SHARED(path);
  const auto made = import_ceilings(text_of(path), path, named("lab"));
  EXPECT_NEAR(*measured(made).bandwidth(MemoryLevel::dram, "dram"), 1388.9e9, 1e9);
  EXPECT_NEAR(measured(made).peak(*parse_precision("int8.tensor"))->high, 166.4e12, 1e11);
  EXPECT_NEAR(measured(made).peak(*parse_precision("fp64.tensor"))->high, 41.5e12, 1e11);
}

#endif

}  // namespace
}  // namespace roofline
