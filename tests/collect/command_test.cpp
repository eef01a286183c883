// Command lines: which options, which runs, and words that survive a shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "collect/fixtures.h"
#include "roofline/error.h"

namespace roofline::collect {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Request request() {
  Request r;
  r.target = testing::gh100();
  r.output = "out";
  r.command = {"./app"};
  return r;
}

std::vector<std::string> arguments(const Request& r, const NcuOptions& options = {}) {
  return plan(r, options).runs.back().arguments;
}

// The word behind `option`; empty when the option is not there.
std::string value(const std::vector<std::string>& words, const std::string& option) {
  const auto it = std::find(words.begin(), words.end(), option);
  return it == words.end() || it + 1 == words.end() ? std::string() : *(it + 1);
}

struct Row {
  const char* name;
  void (*change)(Request&);
  std::vector<std::string> expected;  // neighbours in the command line
};

class CommandLine : public ::testing::TestWithParam<Row> {};

TEST_P(CommandLine, HasTheWords) {
  auto r = request();
  GetParam().change(r);
  const auto words = arguments(r);
  const auto& expected = GetParam().expected;
  EXPECT_NE(std::search(words.begin(), words.end(), expected.begin(), expected.end()), words.end())
      << shell_line(words);
}

INSTANTIATE_TEST_SUITE_P(
    All, CommandLine,
    ::testing::Values(Row{"children", [](Request&) {}, {"ncu", "--target-processes", "all"}},
                      Row{"graphs", [](Request&) {}, {"--graph-profiling", "node"}},
                      Row{"controls", [](Request&) {}, {"--clock-control", "none", "--cache-control", "none"}},
                      Row{"locked", [](Request& r) { r.lock_clocks = true; }, {"--clock-control", "base"}},
                      Row{"flushed", [](Request& r) { r.flush_caches = true; }, {"--cache-control", "all"}},
                      Row{"kernel",
                          [](Request& r) { r.kernel = "gemm<.*, 4>|a b"; },
                          {"--kernel-name-base", "demangled", "--kernel-name", "regex:gemm<.*, 4>|a b"}},
                      Row{"window",
                          [](Request& r) { r.launch_skip = 7, r.launch_count = 20; },
                          {"--launch-skip", "7", "--launch-count", "20"}},
                      Row{"nvtx",
                          [](Request& r) {
                            r.nvtx = {"decode/", "x y]"};
                          },
                          {"--nvtx", "--nvtx-include", "decode/", "--nvtx-include", "x y]"}},
                      Row{"force", [](Request& r) { r.overwrite = true; }, {"--force-overwrite", "--export", "out"}},
                      Row{"percent", [](Request& r) { r.output = "a%p"; }, {"--export", "a%%p", "./app"}},
                      Row{"arguments",
                          [](Request& r) { r.command = {"./app", "a b", "", "it's", "x\ny", "[1,2]", "--flag"}; },
                          {"./app", "a b", "", "it's", "x\ny", "[1,2]", "--flag"}},
                      Row{"elsewhere", [](Request& r) { r.ncu = "/opt/n cu"; }, {"/opt/n cu", "--target-processes"}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(CommandLine, OldProfilersGetNoNewOptions) {
  auto r = request();
  r.kernel = "gemm";
  const auto old = NcuOptions::parse("Version 2021.1.0.0 (build 1)", "--kernel-name --metrics");
  EXPECT_EQ(old.version, "2021.1.0.0");
  const auto all = plan(r, old);
  EXPECT_EQ(all.runs.size(), 1U) << "the first run needs --kernel-id";
  EXPECT_THAT(all.runs.back().arguments, Not(Contains("--graph-profiling")));
  EXPECT_THAT(all.runs.back().arguments, Not(Contains("--kernel-name-base")));
  EXPECT_THAT(all.runs.back().arguments, Contains("regex:gemm"));
}

TEST(CommandLine, RefusesWhatNcuWouldMisread) {
  for (const auto& change : std::vector<std::function<void(Request&)>>{
           [](Request& r) { r.command = {}; }, [](Request& r) { r.command = {""}; },
           [](Request& r) { r.command = {"-x"}; }, [](Request& r) { r.output = ""; },
           [](Request& r) { r.output = "folder/"; }, [](Request& r) { r.output = "."; },
           [](Request& r) { r.output = "folder/.."; }, [](Request& r) { r.output = "-x"; },
           [](Request& r) { r.kernel = "("; }, [](Request& r) { r.launch_count = 0; },
           [](Request& r) {
             r.nvtx = {"decode/", ""};
           }}) {
    auto r = request();
    change(r);
    EXPECT_THROW(plan(r, {}), UsageError);
  }
  auto r = request();
  for (const char* expression : {"gemm(?!v)", "(?i)gemm"}) {  // one grammar's or the other's
    r.kernel = expression;
    EXPECT_NO_THROW(plan(r, {})) << expression;
  }
}

TEST(Plan, AShortRunFindsTheNumberFormats) {
  auto r = request();
  r.kernel = "gemm";
  r.launch_skip = 100;
  r.nvtx = {"decode/"};
  const auto runs = plan(r, {}).runs;
  ASSERT_EQ(runs.size(), 2U);
  const auto& types = runs.front();
  EXPECT_EQ(value(types.arguments, "--kernel-id"), ":::1");
  EXPECT_EQ(value(types.arguments, "--kernel-name"), "regex:gemm");
  EXPECT_EQ(value(types.arguments, "--export"), "out.types");
  EXPECT_THAT(types.arguments, Not(Contains("--launch-skip")));
  EXPECT_THAT(types.arguments, Not(Contains("--nvtx")));
  EXPECT_EQ(types.report, "out.types.ncu-rep");
  EXPECT_EQ(types.passes->count, 7);
  EXPECT_THAT(types.metrics, Contains("sm__ops_path_tensor_src_fp8_sparsity_off.sum"));
  EXPECT_THAT(runs.back().metrics, Not(Contains(HasSubstr("ops_path"))));
  EXPECT_EQ(runs.back().report, "out.ncu-rep");
}

TEST(Plan, OneRunWhereAFirstSavesNothing) {
  auto r = request();
  r.target = *find_target("GV100");
  EXPECT_EQ(plan(r, {}).runs.size(), 1U) << "Volta counts them in the same passes";
  EXPECT_EQ(plan(r, {}).leaves.size(), 2U);
  r = request();
  r.launch_count = 2;
  EXPECT_EQ(plan(r, {}).runs.size(), 1U);
  r = request();
  r.tensor = TensorCounters::every;
  EXPECT_EQ(plan(r, {}).leaves.size(), leaves_of(r.target, "all").size());
  r.tensor = TensorCounters::none;
  EXPECT_THAT(plan(r, {}).runs.back().metrics, Not(Contains(HasSubstr("ops_path"))));
  r = request();
  r.target = {};
  EXPECT_EQ(plan(r, {}).runs.size(), 1U);
}

TEST(Plan, TheSecondRunTakesWhatTheFirstFound) {
  const auto r = request();
  const std::vector<std::string> leaves = {"sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum"};
  const auto run = measuring_run(r, {}, leaves);
  EXPECT_THAT(run.metrics, Contains(leaves.front()));
  EXPECT_THAT(value(run.arguments, "--metrics"), HasSubstr(leaves.front()));
  EXPECT_LE(run.passes->count, 3);
}

TEST(Shell, WordsSurvive) {
  EXPECT_EQ(shell_quote("plain-word_1.2/x"), "plain-word_1.2/x");
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quote("a\nb"), "'a\nb'");
  EXPECT_EQ(shell_quote("$HOME `x` \"y\" *"), "'$HOME `x` \"y\" *'");
  EXPECT_EQ(shell_quote("~x"), "'~x'");
}

TEST(Shell, AShellGivesTheSameWordsBack) {
  const std::vector<std::string> words = {"printf", "%s\\0", "a b",   "",  "it's", "x\ny",
                                          "$HOME",  "*",     "[1,2]", "~", "!"};
  const std::vector<std::string> shell = {"sh", "-c", shell_line(words)};
  std::string text;
  run_program(shell, [&](std::string_view line) { (text += line) += '\n'; });
  text.pop_back();
  std::string expected;
  for (std::size_t i = 2; i < words.size(); ++i) (expected += words[i]) += '\0';
  EXPECT_EQ(text, expected);
}

TEST(Rocprof, CommandsByChip) {
  auto r = request();
  r.output = "amd out";
  r.kernel = "gemm";
  const auto text = to_markdown(rocprof_document("gfx942", r));
  EXPECT_THAT(text, HasSubstr("rocprof-compute profile --name amd_out --roof-only --kernel gemm -- ./app"));
  EXPECT_THAT(text, HasSubstr("--output-directory 'amd out'"));
  EXPECT_THAT(text, HasSubstr("TCC_EA0_RDREQ_sum"));
  EXPECT_THAT(text, HasSubstr("SQ_INSTS_VALU_MFMA_MOPS_F8"));
  EXPECT_THAT(to_markdown(rocprof_document("gfx90a", r)), HasSubstr("TCC_EA_RDREQ_sum"));
  EXPECT_THAT(to_markdown(rocprof_document("gfx908", r)), Not(HasSubstr("rocprof-compute profile")));
  EXPECT_THROW(rocprof_document("gfx1100", r), UsageError);
}

// rocprof-compute 3.2 and before refuse other names.
TEST(Rocprof, NamesOfWorkloadsAreLettersDigitsAndNotLong) {
  auto r = request();
  r.output = "runs/decode-1.5b " + std::string(40, 'x');
  EXPECT_THAT(to_markdown(rocprof_document("gfx942", r)),
              HasSubstr("--name decode_1_5b_" + std::string(35 - 12, 'x') + " --roof-only"));
}

// The counters of the chip's first, exact recipe of DRAM bytes, and of every number format that is counted there.
TEST(Rocprof, CountersAreThoseOfTheRecipes) {
  std::ifstream file(std::string(ROOFLINE_SOURCE_DIR) + "/data/amd_recipes.json");
  const auto recipes = nlohmann::json::parse(file);
  const std::map<std::string, std::pair<std::string, std::string>> chips = {
      {"gfx90a", {"-gfx90a", "gfx90a"}},
      {"gfx942", {"gfx940-gfx942", "gfx940-gfx942"}},
      {"gfx950", {"gfx950-", "gfx950"}}};
  for (const auto& [chip, ranges] : chips) {
    const auto text = to_markdown(rocprof_document(chip, request())) + " ";
    std::size_t found = 0;
    for (const auto& recipe : recipes.at("dram").at("total")) {
      if (!recipe.contains("cc") || recipe.at("cc").at(0) != ranges.first) continue;
      ++found;
      for (const auto& [counter, factor] : recipe.at("terms").items())
        EXPECT_THAT(text, HasSubstr(" " + counter + " ")) << chip;
    }
    for (const auto& row : recipes.at("chips")) {
      if (row.at("cc").at(0) != ranges.second) continue;
      ++found;
      for (const auto& format : row.at("operations"))
        for (const auto& [counter, factor] :
             recipes.at("operations").at(format.get<std::string>()).at(0).at("terms").items())
          EXPECT_THAT(text, HasSubstr(" " + counter + " ")) << chip;
    }
    EXPECT_EQ(found, 2U) << chip;
  }
}

TEST(Rocprof, RefusesWindowsThatItDoesNotHave) {
  for (const auto& change : std::vector<std::function<void(Request&)>>{
           [](Request& r) { r.launch_skip = 5; }, [](Request& r) { r.launch_count = 5; },
           [](Request& r) { r.nvtx = {"decode/"}; }, [](Request& r) { r.kernel = "("; }}) {
    auto r = request();
    change(r);
    EXPECT_THROW(rocprof_document("gfx942", r), UsageError);
  }
}

}  // namespace
}  // namespace roofline::collect
