// Faulty machine files: one clear line each, and nothing half-loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machines/entry.h"
#include "machines/table.h"
#include "roofline/error.h"
#include "roofline/machines.h"

namespace roofline {
namespace {

constexpr std::string_view kChips =
    "id,compute_capability,default,chips,pipe_groups,sparsity,shared,l1,fp32.vector,bf16.tensor,source,note\n"
    "x1,9.9,yes,X1,tensor fp64,2:4 bf16,128,,256,4096,DOC,\n";
constexpr std::string_view kSources = "key,citation\nDOC,a datasheet\n";
const std::string kHead =
    "machine,key,value,unit,source,note\n"
    "m,vendor,Acme,,,\n"
    "m,name,Acme One,,,\n";

MachineCatalogue parse(const std::string& lines) {
  return MachineCatalogue::parse(kHead + lines, kChips, kSources, "mine.csv");
}

InputProblem problem_of(const std::string& lines) {
  try {
    parse(lines);
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
    return error.problem();
  }
  ADD_FAILURE() << "accepted: " << lines;
  return {};
}

void expect_problem(const std::string& lines, const std::string& kind, std::uint64_t line, const std::string& found) {
  const auto problem = problem_of(lines);
  EXPECT_EQ(problem.kind, kind) << lines;
  EXPECT_EQ(problem.line, line) << lines;
  EXPECT_EQ(problem.path, "mine.csv");
  EXPECT_THAT(problem.found, testing::HasSubstr(found));
  EXPECT_FALSE(problem.expected.empty());
  EXPECT_FALSE(problem.action.empty());
}

TEST(MachineFile, GoodFileGivesCeilings) {
  const auto catalogue = parse(
      "m,compute_capability,9.9,,,\nm,rates,x1,,,\nm,sm_count,10,,DOC,\nm,boost_clock,2,GHz,DOC,\n"
      "m,tensor_clock,1500,MHz,DOC,\nm,dram,1.5,TB/s,DOC,\nm,l2_rate,1000,B/clk,DOC,\nm,bf16.tensor,61,TFLOP/s,DOC,\n"
      "m,link_kind,nvlink,,,\nm,link_both_directions,100,GB/s,DOC,\nm,pcie,4 x8,,DOC,\n");
  const auto& machine = catalogue.machines().at(0);
  const auto& ceiling = machine.ceilings.at(0);
  EXPECT_DOUBLE_EQ(ceiling.peak(*parse_precision("bf16.tensor"))->high, 61e12);
  EXPECT_DOUBLE_EQ(ceiling.peak(*parse_precision("bf16.tensor.sparse"))->high, 122e12);
  EXPECT_DOUBLE_EQ(ceiling.peak(*parse_precision("fp32.vector"))->high, 10 * 256 * 2e9);  // from the rates
  EXPECT_DOUBLE_EQ(*ceiling.bandwidth(MemoryLevel::dram, "dram"), 1.5e12);
  EXPECT_DOUBLE_EQ(*ceiling.bandwidth(MemoryLevel::l2, "lts2xbar"), 2e12);
  EXPECT_DOUBLE_EQ(*ceiling.link_bandwidth("nvlink"), 50e9);
  EXPECT_NEAR(*ceiling.link_bandwidth("pcie"), 15.75e9, 0.01e9);
  EXPECT_EQ(catalogue.find("acme one"), &machine);
}

TEST(MachineFile, UnknownKey) { expect_problem("m,drum,3,TB/s,DOC,\n", "unknown-key", 4, "drum"); }

TEST(MachineFile, MisspelledPrecision) {
  expect_problem("m,bf16.tensr,3,TFLOP/s,DOC,\n", "unknown-key", 4, "bf16.tensr");
  expect_problem("m,bf16,3,TFLOP/s,DOC,\n", "unknown-key", 4, "bf16");
}

TEST(MachineFile, NegativeZeroAndUnreadableNumbers) {
  expect_problem("m,bf16.tensor,-1,TFLOP/s,DOC,\n", "not-positive", 4, "-1");
  expect_problem("m,bf16.tensor,0,TFLOP/s,DOC,\n", "not-positive", 4, "= 0");
  for (const auto* text : {"nan", "inf", "1e999", "1,000", "12x", "about 3", "0x10"})
    expect_problem("m,dram,\"" + std::string(text) + "\",GB/s,DOC,\n", "not-a-number", 4, text);
  expect_problem("m,dram,,GB/s,DOC,\n", "bad-value", 4, "empty");
  expect_problem("m,sm_count,13.5,,DOC,\n", "bad-value", 4, "13.5");
}

TEST(MachineFile, Units) {
  expect_problem("m,dram,3.35,,DOC,\n", "missing-unit", 4, "without a unit");
  expect_problem("m,dram,3.35,TFLOP/s,DOC,\n", "wrong-unit", 4, "TFLOP/s");
  expect_problem("m,boost_clock,1980,,DOC,\n", "missing-unit", 4, "boost_clock");
  expect_problem("m,bf16.tensor,900,TOP/s,DOC,\n", "wrong-unit", 4, "TOP/s");
  expect_problem("m,int8.tensor,900,TFLOP/s,DOC,\n", "wrong-unit", 4, "TFLOP/s");
  expect_problem("m,sm_count,900,MHz,DOC,\n", "wrong-unit", 4, "MHz");
  expect_problem("m,chip,GH100,MHz,DOC,\n", "wrong-unit", 4, "MHz");
  EXPECT_THAT(problem_of("m,dram,3.35,,DOC,\n").expected, testing::HasSubstr("TB/s"));
}

TEST(MachineFile, SparseAboveTwiceDense) {
  expect_problem("m,bf16.tensor,100,TFLOP/s,DOC,\nm,bf16.tensor.sparse,400,TFLOP/s,DOC,\n", "sparse-above-dense", 5,
                 "bf16.tensor.sparse");
  expect_problem("m,bf16.tensor.sparse,400,TFLOP/s,DOC,\n", "missing-key", 4, "without bf16.tensor");
  EXPECT_NO_THROW(parse("m,bf16.tensor,100,TFLOP/s,DOC,\nm,bf16.tensor.sparse,200,TFLOP/s,DOC,\n"));
  // A chip with 4:16 sparsity may.
  EXPECT_NO_THROW(parse("m,sparsity,4:16,,,\nm,bf16.tensor,100,TFLOP/s,DOC,\nm,bf16.tensor.sparse,400,TFLOP/s,DOC,\n"));
  expect_problem("m,sparsity,4:2,,,\n", "bad-value", 4, "4:2");
  expect_problem("m,sparsity,0:4,,,\n", "bad-value", 4, "0:4");
}

TEST(MachineFile, DuplicatesAndReferences) {
  expect_problem("m,dram,3,TB/s,DOC,\nm,dram,4,TB/s,DOC,\n", "duplicate", 5, "dram");
  expect_problem("n,vendor,A,,,\nn,name,N,,,\nm,dram,3,TB/s,DOC,\n", "duplicate", 6, "again");
  expect_problem("n,vendor,A,,,\nn,name,N,,,\nn,alias,m,,,\n", "duplicate", 4, "'m'");
  expect_problem("m,rates,nope,,,\n", "unknown-rates", 4, "nope");
  expect_problem("m,dram,3,TB/s,HEARSAY,\n", "unknown-source", 4, "HEARSAY");
  expect_problem("n,vendor,A,,,\n", "missing-key", 4, "no name");
  expect_problem("m,link_both_directions,3,GB/s,DOC,\n", "missing-key", 4, "link_kind");
  for (const auto* text : {"5", "7 x16", "4 x3", "x16 4", "44 x16"})
    expect_problem("m,pcie," + std::string(text) + ",,DOC,\n", "bad-value", 4, text);
}

TEST(MachineFile, Shape) {
  expect_problem("m,dram,3\n", "ragged-row", 4, "3 cells");
  expect_problem("m,note,\"open,,,\n", "unclosed-quote", 4, "open");
  expect_problem("m,note,\"a\"b,,,\n", "ragged-row", 4, "b");
  expect_problem(",dram,3,TB/s,DOC,\n", "missing-key", 4, "without machine");
  EXPECT_THROW(MachineCatalogue::parse("", kChips, kSources, "mine.csv"), InputError);
  EXPECT_THROW(MachineCatalogue::parse("id,dram\nm,3\n", kChips, kSources, "mine.csv"), InputError);
  EXPECT_NO_THROW(parse("\n# a remark\nm,note,\"one, \"\"two\"\"\",,,\r\n"));
}

TEST(ChipFile, Faults) {
  const auto kind = [](std::string_view text) {
    try {
      machines::read_chips(text, "chips.csv");
    } catch (const InputError& error) {
      return error.problem().kind;
    }
    return std::string("accepted");
  };
  EXPECT_EQ(kind("id,fp32.vectr\na,1\n"), "unknown-key");
  EXPECT_EQ(kind("id,fp32.vector\na,-1\n"), "not-positive");
  EXPECT_EQ(kind("id,fp32.vector\na,1\na,1\n"), "duplicate");
  EXPECT_EQ(kind("id,fp32.vector\n,1\n"), "missing-key");
  EXPECT_EQ(kind("id,sparsity\na,2:4 bf17\n"), "bad-value");
  EXPECT_EQ(kind("id,sparsity\na,half bf16\n"), "bad-value");
  EXPECT_EQ(kind("id,fp32.vector\na,256\n"), "accepted");
}

}  // namespace
}  // namespace roofline
