// Running: words, lines, codes and signals; and what a made-up ncu says when it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "collect/fixtures.h"
#include "roofline/error.h"
#include "roofline/metrics.h"
#include "support/golden.h"

namespace roofline::collect {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Scratch;

const std::string kFake = std::string(ROOFLINE_SOURCE_DIR) + "/tests/collect/fake-ncu.sh";

Exit run(std::vector<std::string> words, std::vector<std::string>* lines = nullptr) {
  return run_program(words, [&](std::string_view line) {
    if (lines != nullptr) lines->emplace_back(line);
  });
}

TEST(Running, HandsOnLinesAndTheCode) {
  std::vector<std::string> lines;
  const auto exit = run({"sh", "-c", "echo one; printf 'two\\r\\n' >&2; printf three; exit 7"}, &lines);
  EXPECT_THAT(lines, ElementsAre("one", "two", "three"));
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.signal, 0);
}

TEST(Running, ArgumentsAreNotSplit) {
  std::vector<std::string> lines;
  run({"printf", "<%s>\n", "a b", "", "it's", "x\ny", "$HOME", "*"}, &lines);
  EXPECT_THAT(lines, ElementsAre("<a b>", "<>", "<it's>", "<x", "y>", "<$HOME>", "<*>"));
}

TEST(Running, AProgramThatIsNotThere) {
  EXPECT_THROW(run({"/no/such/program"}), UsageError);
  try {
    run({"/no/such/program"});
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/such/program"));
    EXPECT_THAT(error.what(), HasSubstr("No such file"));
  }
}

TEST(Running, LongOutputWithoutLineEnds) {
  std::size_t bytes = 0;
  const std::vector<std::string> words = {"head", "-c", "5000000", "/dev/zero"};
  run_program(words, [&](std::string_view line) { bytes += line.size(); });
  EXPECT_EQ(bytes, 5'000'000U);
}

TEST(Running, ChildrenThatStayDoNotHoldUs) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run({"sh", "-c", "sleep 30 & exit 3"}).code, 3);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Running, EndedByASignal) { EXPECT_EQ(run({"sh", "-c", "kill -9 $$"}).signal, SIGKILL); }

// A signal that we get ends the program and what it started.
TEST(Running, ASignalEndsTheWholeGroup) {
  const Scratch scratch;
  const auto file = scratch.file("pid");
  const auto script = "sh -c 'echo $$ > " + file + ".new; mv " + file + ".new " + file + "; sleep 60' & wait";
  std::thread sender([&] {
    for (int i = 0; i < 500 && !testing::fs::exists(file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kill(getpid(), SIGINT);
  });
  const auto exit = run({"sh", "-c", script});
  sender.join();
  EXPECT_EQ(exit.interrupted_by, SIGINT);
  const auto grandchild = std::stoi(roofline::testing::slurp(file));
  bool gone = false;
  for (int i = 0; i < 100 && !gone; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto status = roofline::testing::slurp("/proc/" + std::to_string(grandchild) + "/stat");
    gone = status.empty() || status.find(") Z") != std::string::npos;
  }
  EXPECT_TRUE(gone) << "a child of the program still runs";
}

// --- what ncu says ---

class FakeNcu : public ::testing::Test {
 protected:
  ~FakeNcu() override {
    for (const char* name : {"FAKE_NCU", "FAKE_REPORT", "FAKE_TYPES", "FAKE_ARGUMENTS"}) unsetenv(name);
  }

  Request request() const {
    Request r;
    r.target = testing::gh100();
    r.output = scratch_.file("out");
    r.command = {"true"};
    r.ncu = kFake;
    return r;
  }
  std::optional<Failure> failure(const char* mode) {
    setenv("FAKE_NCU", mode, 1);
    setenv("FAKE_REPORT", scratch_.write("fixture", "report").c_str(), 1);
    auto r = request();
    r.tensor = TensorCounters::none;
    const auto run = plan(r, {}).runs.back();
    log_ = NcuLog();
    const auto exit = run_program(run.arguments, [&](std::string_view line) { log_.line(line); });
    return log_.failure(exit, testing::fs::exists(run.report));
  }

  Scratch scratch_;
  NcuLog log_;
};

TEST_F(FakeNcu, EveryFailureIsRecognised) {
  const std::vector<std::tuple<const char*, const char*, const char*>> expected = {
      {"permission", "no-permission", "ERR_NVGPUCTRPERM"},
      {"application", "application-failed", "code 3"},
      {"no-kernels", "nothing-profiled", "no kernels were profiled"},
      {"children", "children", "/usr/bin/nvidia-smi"},
      {"exists", "file-exists", "already"},
      {"busy", "counters-in-use", "counters"},
      {"none-through", "replay-failed", "could not be replayed"},
      {"silent", "nothing-profiled", ""},
      {"unknown", "ncu-error", "The moon is in the wrong house"},
      {"killed", "killed", "signal 9"}};
  for (const auto& [mode, id, words] : expected) {
    const auto found = failure(mode);
    ASSERT_TRUE(found) << mode;
    if (std::string(mode) == "silent") {
      EXPECT_EQ(found->id, "no-report");
      EXPECT_THAT(found->finding, HasSubstr("code 5"));
      continue;
    }
    EXPECT_EQ(found->id, id) << mode;
    EXPECT_THAT(found->finding, HasSubstr(words)) << mode;
    EXPECT_FALSE(found->remedy.empty()) << mode;
  }
}

TEST_F(FakeNcu, ProgramsThatEndBadly) {
  setenv("FAKE_REPORT", scratch_.write("fixture", "report").c_str(), 1);
  auto r = request();
  r.tensor = TensorCounters::none;
  const auto finding = [&](const char* script) {
    r.command = {"sh", "-c", script};
    NcuLog log;
    const auto exit = run_program(plan(r, {}).runs.back().arguments, [&](std::string_view line) { log.line(line); });
    const auto found = log.failure(exit, testing::fs::exists(r.output + ".ncu-rep"));
    return found ? found->id + ": " + found->finding : std::string();
  };
  EXPECT_EQ(finding("exit 3"), "application-failed: the program ended with code 3 before a kernel was profiled");
  EXPECT_THAT(finding("kill -9 $$"), HasSubstr("code 137, which stands for signal 9"));
  EXPECT_THAT(finding("kill -SEGV $$"), HasSubstr("signal 11"));
  EXPECT_EQ(finding("sleep 20 & exit 0"), "") << "what it leaves running is not waited for";
}

// Millions of lines are handed on in pieces, and none is lost.
TEST(Running, ManyLinesComeInPieces) {
  std::size_t lines = 0, pauses = 0;
  const std::vector<std::string> words = {"sh", "-c", "yes | head -n 300000; echo end >&2"};
  std::string last;
  run_program(
      words,
      [&](std::string_view line) {
        ++lines;
        last = line;
      },
      [&] { ++pauses; });
  EXPECT_EQ(lines, 300'001U);
  EXPECT_EQ(last, "end");
  EXPECT_GE(pauses, 1U);
  EXPECT_LT(pauses, lines / 100);
}

TEST_F(FakeNcu, AProgramThatFailsLateWasMeasured) {
  EXPECT_FALSE(failure("late-application"));
  EXPECT_EQ(log_.application_code(), 7);
  EXPECT_EQ(log_.profiled(), 1U);
  EXPECT_EQ(log_.passes(), 3);
}

TEST_F(FakeNcu, WarningsDoNotRefuseAReport) {
  EXPECT_FALSE(failure("warned"));
  EXPECT_THAT(log_.warnings(), ElementsAre(HasSubstr("not compatible with"), HasSubstr("already exists")));
  EXPECT_TRUE(log_.errors().empty());
}

TEST_F(FakeNcu, KernelsThatFailLeaveTheOthers) {
  EXPECT_FALSE(failure("partly"));
  EXPECT_THAT(log_.errors(), ElementsAre("Failed to profile \"foo\" in process 100"));
  EXPECT_TRUE(log_.warnings().empty());
}

TEST_F(FakeNcu, InterruptionsAreNamed) {
  const NcuLog log;
  EXPECT_EQ(log.failure({0, SIGINT, 0}, true)->id, "interrupted");
  EXPECT_EQ(log.failure({1, 0, SIGTERM}, true)->id, "interrupted");
  EXPECT_EQ(log.failure({0, SIGSEGV, 0}, true)->id, "killed");
}

TEST_F(FakeNcu, WhatTheProgramPrintsIsNoError) {
  NcuLog log;
  for (const char* line : {"==PROF== Connected to process 1 (app)", "my log: ==ERROR== ERR_NVGPUCTRPERM",
                           "ERR_NVGPUCTRPERM", "==PROF== Profiling \"k\" - 0: 100% - 12 passes"})
    log.line(line);
  EXPECT_FALSE(log.failure({0, 0, 0}, true));
  EXPECT_EQ(log.passes(), 12);
}

constexpr const char* kBf16 = "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum";

// Two kernels: one with tensor operations, one without.
std::string types_report() {
  testing::Values gemm = {{"sm__inst_executed_pipe_tensor.sum", 64}}, norm = {{"sm__inst_executed_pipe_tensor.sum", 0}};
  for (const auto& leaf : leaves_of(testing::gh100(), "all")) {
    gemm[leaf] = leaf == kBf16 ? 4096 : 0;
    norm[leaf] = 0;
  }
  return testing::report_of({{"gemm", gemm}, {"norm", norm}});
}
std::string measured_report() {
  return testing::report_of({{"gemm", {{"gpu__time_duration.sum", 1000}, {kBf16, 4096}}},
                             {"norm", {{"gpu__time_duration.sum", 500}, {kBf16, 0}}},
                             {"late", {{"gpu__time_duration.sum", 500}, {kBf16, 0}}}});
}

TEST_F(FakeNcu, TwoRunsFromThePlanToTheProfile) {
  setenv("FAKE_TYPES", scratch_.write("types", types_report()).c_str(), 1);
  setenv("FAKE_REPORT", scratch_.write("measured", measured_report()).c_str(), 1);
  const auto r = request();
  const auto runs = plan(r, {}).runs;
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(run(runs.front().arguments).code, 0);
  const auto types = open_profile(runs.front().report);
  const auto found = leaves_found(r.target, types);
  EXPECT_THAT(found, ElementsAre(kBf16));
  const auto last = measuring_run(r, {}, found);
  EXPECT_EQ(run(last.arguments).code, 0);

  std::size_t filled = 0;
  const auto complete = with_types(open_profile(last.report), types, r.target, filled);
  EXPECT_EQ(filled, 2U) << "the kernel that the first run did not see stays as it is";
  const auto fp8 = MetricCatalogue::instance().require("sm__ops_path_tensor_src_fp8_sparsity_off.sum");
  EXPECT_EQ(complete.launches.at(0).metrics.get(fp8), 0);
  EXPECT_EQ(complete.launches.at(2).metrics.get(fp8), std::nullopt);
  // Operations are complete where the first run looked, and a lower bound elsewhere.
  const auto& device = complete.devices.at(0);
  EXPECT_THAT(count(complete.launches.at(0), device).work.coverage.uncounted, Not(Contains("tensor")));
  EXPECT_THAT(count(complete.launches.at(2), device).work.coverage.uncounted, Contains("tensor"));
}

TEST_F(FakeNcu, WhatWasFoundInUseIsNeverTakenAsZero) {
  const auto types = read_profile(types_report(), "types");
  std::size_t filled = 0;
  const auto without = with_types(read_profile(testing::report_of({{"gemm", {{"gpu__time_duration.sum", 1000}}}}), "m"),
                                  types, testing::gh100(), filled);
  EXPECT_EQ(without.launches.at(0).metrics.get(MetricCatalogue::instance().require(kBf16)), std::nullopt);
}

TEST_F(FakeNcu, WhatWasMeasuredIsKept) {
  const auto types = read_profile(types_report(), "types");
  const std::string fp8 = "sm__ops_path_tensor_src_fp8_sparsity_off.sum";
  std::size_t filled = 0;
  const auto measured =
      with_types(read_profile(testing::report_of({{"gemm", {{fp8, 77}}}}), "m"), types, testing::gh100(), filled);
  EXPECT_EQ(measured.launches.at(0).metrics.get(MetricCatalogue::instance().require(fp8)), 77);
}

TEST_F(FakeNcu, ArgumentsReachTheProgramUnchanged) {
  const auto list = scratch_.file("arguments");
  setenv("FAKE_ARGUMENTS", list.c_str(), 1);
  setenv("FAKE_REPORT", scratch_.write("measured", measured_report()).c_str(), 1);
  auto r = request();
  r.tensor = TensorCounters::none;
  r.kernel = "a b|c'd";
  const auto copy = scratch_.file("copy of it");
  r.command = {"sh", "-c", "printf '%s|' \"$@\" > '" + copy + "'", "sh", "x y", "it's", "", "p\nq", "--flag"};
  EXPECT_EQ(run(plan(r, {}).runs.back().arguments).code, 0);
  EXPECT_EQ(roofline::testing::slurp(copy), "x y|it's||p\nq|--flag|");
  EXPECT_THAT(roofline::testing::slurp(list), HasSubstr("\nregex:a b|c'd\n"));
}

}  // namespace
}  // namespace roofline::collect
