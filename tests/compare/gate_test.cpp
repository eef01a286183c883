// Verdicts of the regression gate, one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compare/records.h"
#include "roofline/compare.h"
#include "roofline/error.h"

namespace roofline {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::KernelSpec;
using Specs = std::vector<KernelSpec>;

// Five runs that differ by about 1 %.
GateSide runs(const Specs& specs, std::size_t n = 5) {
  constexpr std::array kNoise = {1.0, 1.012, 0.991, 1.004, 0.985, 1.009, 0.996};
  GateSide side;
  for (std::size_t r = 0; r < n; ++r) {
    auto record = testing::record(specs);
    for (std::size_t k = 0; k < record.kernels.size(); ++k) testing::take(record.kernels[k], kNoise[(r + 3 * k) % 7]);
    side.repeats.push_back(std::move(record));
  }
  return side;
}

const Specs kStep = {{"gemm", 400e-6, 0.90}, {"attention", 300e-6, 0.85}, {"norm", 100e-6, 0.88}};

Specs with(std::size_t i, KernelSpec spec) {
  auto out = kStep;
  out[i] = std::move(spec);
  return out;
}

const GateFinding& finding(const GateResult& result, const std::string& name) {
  for (const auto& f : result.findings)
    if (f.before_name == name) return f;
  throw std::runtime_error("no finding about " + name);
}

GateResult judged(const GateSide& a, const GateSide& b, const GateOptions& options = {}) { return gate(a, b, options); }

TEST(Gate, NoChangeIsAPass) {
  const auto r = judged(runs(kStep), runs(kStep, 4));
  EXPECT_EQ(r.verdict, GateVerdict::pass);
  EXPECT_EQ(r.judged, 3U);
  EXPECT_NEAR(r.judged_time_share, 1, 1e-9);
  EXPECT_THAT(r.sentence, HasSubstr("pass: no drop of more than 5.0% in 3 kernels"));
}

TEST(Gate, ADropIsNamedWithWhatChanged) {
  // 90 % to 55 %: the bytes grew, and it is farther from the roof, too.
  const auto after =
      runs(with(0, {.name = "gemm", .time_s = 400e-6 * 90 / 55 * 1.3, .fraction = 0.55, .intensity = 10 / 1.3}));
  const auto r = judged(runs(kStep), after);
  EXPECT_EQ(r.verdict, GateVerdict::drop);
  EXPECT_EQ(r.findings.front().before_name, "gemm");
  EXPECT_EQ(r.findings.front().verdict, GateVerdict::drop);
  EXPECT_LE(r.findings.front().chance.value(), 0.005);
  EXPECT_THAT(r.findings.front().what_changed, Contains("memory-optimal → memory-suboptimal"));
  EXPECT_THAT(r.findings.front().what_changed, Contains(HasSubstr("DRAM bytes +30%")));
  EXPECT_THAT(r.sentence, HasSubstr("drop: gemm: share of the roof 90% → 55%"));
  EXPECT_EQ(finding(r, "attention").verdict, GateVerdict::pass);
}

TEST(Gate, ASmallDropIsLetPass) {
  EXPECT_EQ(judged(runs(kStep), runs(with(0, {"gemm", 400e-6 / 0.98, 0.9 * 0.98}))).verdict, GateVerdict::pass);
  GateOptions strict;
  strict.max_drop = 0.01;
  EXPECT_NE(judged(runs(kStep), runs(with(0, {"gemm", 400e-6 / 0.96, 0.9 * 0.96})), strict).verdict, GateVerdict::pass);
}

TEST(Gate, FasterWithALowerShareOpensHeadroom) {
  // FP8: half of the bytes, in 60 % of the time.
  const auto after = runs(with(0, {.name = "gemm", .time_s = 240e-6, .fraction = 0.75, .precision = "fp8.tensor"}));
  const auto r = judged(runs(kStep), after);
  EXPECT_EQ(r.verdict, GateVerdict::improved);
  EXPECT_THAT(finding(r, "gemm").reasons, Contains(HasSubstr("headroom opened")));
}

TEST(Gate, LessWorkInTheSameTimeIsADrop) {
  // Half of the bytes, but no faster: the share fell, and the time did not.
  const auto r = judged(runs(kStep), runs(with(0, {.name = "gemm", .time_s = 400e-6, .fraction = 0.45})));
  EXPECT_EQ(finding(r, "gemm").verdict, GateVerdict::drop);
}

TEST(Gate, OneRunEachIsNeverMoreThanInconclusive) {
  for (const double slower : {1.0, 1.6, 10.0}) {
    const auto r = judged(runs(kStep, 1), runs(with(0, {"gemm", 400e-6 * slower, 0.9 / slower}), 1));
    EXPECT_EQ(r.verdict, GateVerdict::inconclusive) << slower;
    EXPECT_THAT(r.reasons, Contains(HasSubstr("one run each: noise unknown")));
  }
}

TEST(Gate, KnownNoiseMakesSingleRunsDecidable) {
  GateOptions options;
  options.noise = 0.01;
  EXPECT_EQ(judged(runs(kStep, 1), runs(kStep, 1), options).verdict, GateVerdict::pass);
  const auto slow = runs(with(0, {"gemm", 400e-6 * 90 / 55, 0.55}), 1);
  EXPECT_EQ(judged(runs(kStep, 1), slow, options).verdict, GateVerdict::drop);
}

// What noise a side of one or two runs had, other runs do not tell for certain.
TEST(Gate, FewerThanThreeRunsAccuseNobody) {
  const auto slow = with(0, {"gemm", 400e-6 * 90 / 55, 0.55});
  for (const std::size_t few : {1U, 2U}) {
    for (const auto& r : {judged(runs(kStep), runs(slow, few)), judged(runs(kStep, few), runs(slow))}) {
      EXPECT_EQ(r.verdict, GateVerdict::inconclusive) << few;
      EXPECT_THAT(finding(r, "gemm").reasons.back(), HasSubstr("fewer than 3 runs")) << few;
    }
    GateOptions given;
    given.noise = 0.01;
    EXPECT_EQ(judged(runs(kStep), runs(slow, few), given).verdict, GateVerdict::drop) << few;
  }
  EXPECT_EQ(judged(runs(kStep, 3), runs(slow, 3)).verdict, GateVerdict::drop);
  GateOptions budget;
  budget.budget["gemm"].max_time_s = 500e-6;
  EXPECT_EQ(judged(runs(kStep), runs(slow, 2), budget).verdict, GateVerdict::inconclusive);
  EXPECT_EQ(judged(runs(kStep, 2), runs(slow, 5), budget).verdict, GateVerdict::drop) << "the budget needs no baseline";
}

TEST(Gate, GivenNoiseOfOneRunGivenFiveTimesIsThatOfOne) {
  GateOptions given;
  given.noise = 0.03;
  const auto one = testing::record(kStep), slow = testing::record(with(0, {"gemm", 400e-6 / 0.88, 0.9 * 0.88}));
  const auto chance = [&](std::size_t n) {
    return finding(judged({std::vector(n, one)}, {std::vector(n, slow)}, given), "gemm").chance;
  };
  EXPECT_EQ(chance(1), chance(5));
  given.budget["gemm"].max_time_s = 430e-6;
  EXPECT_EQ(judged({std::vector(1, one)}, {std::vector(5, slow)}, given).verdict, GateVerdict::inconclusive);
}

TEST(Gate, OneRunGivenFiveTimesIsOneRun) {
  const auto one = testing::record(kStep), slow = testing::record(with(0, {"gemm", 800e-6, 0.45}));
  EXPECT_EQ(judged({{one, one, one, one, one}}, {{slow, slow, slow, slow, slow}}).verdict, GateVerdict::inconclusive);
}

TEST(Gate, NoiseAboveTheLimitIsInconclusive) {
  GateSide a, b;
  for (const double x : {0.8, 1.0, 1.25, 0.9, 1.1}) {
    auto r = testing::record(kStep), s = testing::record(kStep);
    for (auto& k : r.kernels) testing::take(k, x);
    for (auto& k : s.kernels) testing::take(k, 1.01 / x);
    a.repeats.push_back(r);
    b.repeats.push_back(s);
  }
  const auto r = judged(a, b);
  EXPECT_EQ(r.verdict, GateVerdict::inconclusive);
  EXPECT_THAT(r.findings.front().reasons, Contains(HasSubstr("could pass unnoticed")));
}

TEST(Gate, OtherMachineClockRoofOrCatalogueIsInconclusive) {
  const auto verdict = [](auto change) {
    auto after = runs(with(0, {"gemm", 400e-6 * 90 / 55, 0.55}));
    auto before = runs(kStep);
    for (auto& r : before.repeats) r.catalogue_version = "1";
    for (auto& r : after.repeats) {
      r.catalogue_version = "1";
      change(r);
    }
    return judged(before, after);
  };
  EXPECT_EQ(verdict([](StepRecord&) {}).verdict, GateVerdict::drop);
  auto r = verdict([](StepRecord& s) { s.machines = {"Other"}; });
  EXPECT_EQ(r.verdict, GateVerdict::inconclusive);
  EXPECT_THAT(r.reasons, Contains(HasSubstr("another machine")));
  r = verdict([](StepRecord& s) {
    for (auto& k : s.kernels) k.clock_hz = *k.clock_hz * 0.8;
  });
  EXPECT_EQ(r.verdict, GateVerdict::inconclusive);
  EXPECT_THAT(r.reasons, Contains(HasSubstr("another clock")));
  r = verdict([](StepRecord& s) { s.catalogue_version = "2"; });
  EXPECT_EQ(r.verdict, GateVerdict::inconclusive);
  r = verdict([](StepRecord& s) {
    s.ceiling = CeilingKind::datasheet;
    for (auto& k : s.kernels) k.ceiling = CeilingKind::datasheet;
  });
  EXPECT_EQ(r.verdict, GateVerdict::inconclusive);
}

TEST(Gate, ARenameIsFollowed) {
  const auto after = runs(with(0, {"gemm_of_a_new_library", 400e-6 * 90 / 55, 0.90 * 55 / 90}));
  const auto r = judged(runs(kStep), after);
  EXPECT_EQ(r.verdict, GateVerdict::drop);
  EXPECT_EQ(r.findings.front().after_name, "gemm_of_a_new_library");
  EXPECT_THAT(r.findings.front().what_changed, Contains(HasSubstr("library or compiler update")));
  EXPECT_EQ(judged(runs(kStep), runs(with(0, {"gemm_of_a_new_library", 400e-6, 0.90}))).verdict, GateVerdict::pass);
}

TEST(Gate, AKernelThatIsNotFoundIsInconclusive) {
  auto specs = kStep;
  specs.erase(specs.begin());
  const auto r = judged(runs(kStep), runs(specs));
  EXPECT_EQ(r.verdict, GateVerdict::inconclusive);
  EXPECT_THAT(finding(r, "gemm").reasons, Contains("not found in the candidate"));
}

TEST(Gate, MissingCountersAreInconclusive) {
  auto after = runs(kStep);
  for (auto& r : after.repeats) {
    r.kernels[0].fraction.reset();
    r.kernels[0].reason = "no DRAM traffic known";
  }
  const auto r = judged(runs(kStep), after);
  EXPECT_EQ(r.verdict, GateVerdict::inconclusive);
  EXPECT_THAT(finding(r, "gemm").reasons, Contains(HasSubstr("in the candidate: no DRAM traffic known")));
  EXPECT_EQ(judged(after, runs(kStep)).verdict, GateVerdict::inconclusive);
}

TEST(Gate, UnknownFlopsOfTheSameLaunchAreTheSame) {
  auto before = runs(kStep), after = runs(with(0, {"gemm", 400e-6 * 90 / 55, 0.55}));
  for (auto* side : {&before, &after})
    for (auto& r : side->repeats) {
      r.kernels[0].bound = r.kernels[0].flops_bound = Bound::lower;
      r.kernels[0].flops.reset();
    }
  EXPECT_EQ(judged(before, after).verdict, GateVerdict::drop);
  // Other bytes: nobody knows what else is different.
  for (auto& r : after.repeats) r.kernels[0].dram_bytes = *r.kernels[0].dram_bytes * 1.5;
  EXPECT_EQ(judged(before, after).verdict, GateVerdict::inconclusive);
}

TEST(Gate, AnotherProblemIsNotARegression) {
  // Another batch: another shape and four times the work in four times the time and more.
  const auto r =
      judged(runs(kStep), runs(with(0, {.name = "gemm", .time_s = 2400e-6, .fraction = 0.6, .grid = {512, 1, 1}})));
  EXPECT_EQ(finding(r, "gemm").verdict, GateVerdict::inconclusive);
  EXPECT_THAT(finding(r, "gemm").reasons, Contains(HasSubstr("not the same problem")));
}

TEST(Gate, OnlyTheTopIsJudged) {
  GateOptions options;
  options.top = 2;
  const auto after = runs(with(2, {"norm", 200e-6, 0.44}));
  EXPECT_EQ(judged(runs(kStep), after, options).verdict, GateVerdict::pass);
  options.top = 0;
  EXPECT_EQ(judged(runs(kStep), after, options).verdict, GateVerdict::drop);
}

TEST(Gate, Budgets) {
  GateOptions options;
  options.top = 1;
  options.budget["norm"].max_drop = 0.6;
  const auto after = runs(with(2, {"norm", 200e-6, 0.44}));
  EXPECT_EQ(judged(runs(kStep), after, options).verdict, GateVerdict::pass);  // half is within its budget
  options.budget["norm"].min_fraction = 0.7;
  auto r = judged(runs(kStep), after, options);
  EXPECT_EQ(r.verdict, GateVerdict::drop);
  EXPECT_THAT(r.findings.front().reasons, Contains(HasSubstr("below its budget of 70%")));
  options.budget["norm"] = {};
  options.budget["norm"].max_time_s = 90e-6;
  EXPECT_EQ(judged(runs(kStep), runs(kStep, 4), options).verdict, GateVerdict::drop);
  options.budget.clear();
  options.budget["no_such"].min_fraction = 0.5;
  r = judged(runs(kStep), runs(kStep, 4), options);
  EXPECT_EQ(r.verdict, GateVerdict::inconclusive);
  EXPECT_THAT(finding(r, "no_such").reasons, Contains(HasSubstr("no such kernel")));
}

TEST(Gate, AllBudgetsOfAKernelHold) {
  auto specs = kStep;
  specs[1].op = "op_attn";
  GateOptions options;
  options.budget["attention"].max_drop = 0.5;
  options.budget["op_attn"].min_fraction = 0.99;
  const auto r = judged(runs(specs), runs(specs, 4), options);
  EXPECT_EQ(r.verdict, GateVerdict::drop);
  EXPECT_EQ(r.findings.size(), 3U);
  EXPECT_THAT(r.findings.front().reasons, Contains(HasSubstr("below its budget of 99%")));
  // Of two limits of one kind the stricter one.
  options.budget["op_attn"] = {};
  options.budget["op_attn"].max_drop = 0.04;
  const auto slower =
      runs({specs[0], {.name = "attention", .time_s = 300e-6 / 0.8, .fraction = 0.85 * 0.8, .op = "op_attn"}});
  EXPECT_EQ(judged(runs(specs), slower, options).verdict, GateVerdict::drop);
}

TEST(Gate, ABudgetSaysNothingOfAnotherMachine) {
  GateOptions options;
  options.budget["norm"].max_time_s = 10e-6;
  auto after = runs(kStep, 4);
  EXPECT_EQ(judged(runs(kStep), after, options).verdict, GateVerdict::drop);
  for (auto& r : after.repeats) r.machines = {"Other"};
  const auto r = judged(runs(kStep), after, options);
  EXPECT_EQ(r.verdict, GateVerdict::inconclusive);
  EXPECT_THAT(finding(r, "norm").reasons, Contains(HasSubstr("above its budget")));
  EXPECT_THAT(finding(r, "norm").reasons, Contains(HasSubstr("another machine: Test GPU 100 before, Other after")));
}

TEST(Gate, RepeatsOfSeveralThingsAreInconclusive) {
  const auto slow = runs(with(0, {"gemm", 400e-6 * 90 / 55, 0.55}));
  const auto verdict = [&](auto change) {
    auto before = runs(kStep);
    change(before.repeats.back());
    return judged(before, slow).verdict;
  };
  EXPECT_EQ(verdict([](StepRecord&) {}), GateVerdict::drop);
  EXPECT_EQ(verdict([](StepRecord& r) { r.machines = {"Other"}; }), GateVerdict::inconclusive);
  EXPECT_EQ(verdict([](StepRecord& r) {
              for (auto& k : r.kernels) k.clock_hz = 1.8e9;
            }),
            GateVerdict::inconclusive);
  // A candidate under a new catalogue, a baseline under both: all fractions fell, no time did.
  auto before = runs(kStep), after = runs(kStep, 4);
  for (auto& r : before.repeats) r.catalogue_version = "old";
  before.repeats.back().catalogue_version = "new";
  for (auto& r : after.repeats) {
    r.catalogue_version = "new";
    for (auto& k : r.kernels) k.fraction = *k.fraction * 0.7;
  }
  EXPECT_EQ(judged(before, after).verdict, GateVerdict::inconclusive);
}

// ---------------------------------------------------------------- an operator in other kernels

TEST(Gate, FewerShapesOfOneFunctionAreNoImprovement) {
  const Specs before = {{.name = "mm", .time_s = 500e-6, .launches = 4, .op = "linear", .grid = {1, 1, 1}},
                        {.name = "mm", .time_s = 300e-6, .launches = 3, .op = "linear", .grid = {2, 1, 1}},
                        {.name = "mm", .time_s = 200e-6, .launches = 3, .op = "linear", .grid = {3, 1, 1}}};
  const Specs after = {{.name = "mm", .time_s = 1500e-6, .fraction = 0.6, .launches = 10, .op = "linear"}};
  const auto r = judged(runs(before), runs(after));
  EXPECT_EQ(r.verdict, GateVerdict::drop) << r.sentence;
}

TEST(Gate, AProductThatWasSplitAndGotSlowerIsADrop) {
  const Specs before = {{.name = "gemm", .time_s = 1000e-6, .launches = 10, .op = "linear"}};
  Specs after = {{.name = "splitk", .time_s = 900e-6, .fraction = 0.5, .launches = 10, .op = "linear"},
                 {.name = "reduce", .time_s = 910e-6, .fraction = 0.5, .launches = 40, .op = "linear"}};
  const auto r = judged(runs(before), runs(after));
  EXPECT_EQ(r.verdict, GateVerdict::drop) << r.sentence;
  EXPECT_THAT(r.sentence, HasSubstr("time per call 99.8 µs → 181 µs"));
  // All of them launched more often: whether that is more steps or more tiles cannot be told.
  after[0].launches = 40;
  EXPECT_EQ(judged(runs(before), runs(after)).verdict, GateVerdict::inconclusive);
  // Faster, however it is counted.
  for (auto& k : after) k.time_s /= 4;
  after[0].launches = 10;
  EXPECT_EQ(judged(runs(before), runs(after)).verdict, GateVerdict::improved);
}

// ---------------------------------------------------------------- changes at the same share of the roof

TEST(Gate, SlowerAtTheSameShareIsNoPass) {
  const auto after = runs(with(0, {.name = "gemm", .time_s = 3200e-6, .fraction = 0.9, .precision = "fp32.vector"}));
  const auto r = judged(runs(kStep), after);
  EXPECT_EQ(r.verdict, GateVerdict::inconclusive);
  EXPECT_THAT(r.sentence, HasSubstr("gemm: slower at the same share of the roof"));
  EXPECT_THAT(r.sentence, HasSubstr("bf16.tensor 100% → fp32.vector 100%: it left the tensor cores"));
  // Within the limit it passes.
  EXPECT_EQ(judged(runs(kStep), runs(with(0, {"gemm", 408e-6, 0.9}))).verdict, GateVerdict::pass);
}

TEST(Gate, WhatIsDifferentAboutAPassIsSaid) {
  const auto r = judged(runs(kStep), runs(with(0, {"gemm_of_a_new_library", 400e-6, 0.90})));
  EXPECT_EQ(r.verdict, GateVerdict::pass);
  EXPECT_THAT(to_terminal(gate_document(r), {0, false, true}),
              HasSubstr("gemm: another kernel: gemm → gemm_of_a_new_library"));
}

TEST(Gate, NewKernelsAreNamed) {
  auto specs = kStep;
  specs.push_back({.name = "quantize", .time_s = 15e-6, .fraction = 0.3, .grid = {77, 1, 1}});
  auto r = judged(runs(kStep), runs(specs));
  EXPECT_EQ(r.verdict, GateVerdict::pass) << r.sentence;
  EXPECT_THAT(r.reasons, Contains(HasSubstr("quantize: new, with nothing to judge it by")));
  specs.back().time_s = 5e-3;
  r = judged(runs(kStep), runs(specs));
  EXPECT_EQ(r.verdict, GateVerdict::inconclusive);
  EXPECT_EQ(r.findings.size(), 4U);
  EXPECT_THAT(r.sentence, HasSubstr("quantize: new, with nothing to judge it by"));
  EXPECT_THAT(to_terminal(gate_document(r), {0, false, true}), HasSubstr("quantize"));
}

TEST(Gate, OptionsOutOfRangeAreRefused) {
  GateOptions options;
  for (const double bad : {0.0, 1.0, -0.1, std::nan("")}) {
    options.max_drop = bad;
    EXPECT_THROW(judged(runs(kStep), runs(kStep), options), UsageError) << bad;
  }
  options.max_drop = 0.05;
  options.noise = 0.0;
  EXPECT_THROW(judged(runs(kStep), runs(kStep), options), UsageError);
  EXPECT_THROW(judged({}, runs(kStep)), UsageError);
}

TEST(Gate, AnEmptyBaselineIsInconclusive) {
  EXPECT_EQ(judged({{StepRecord()}}, {{StepRecord()}}).verdict, GateVerdict::inconclusive);
}

}  // namespace
}  // namespace roofline
