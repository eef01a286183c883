// A measurement keeps to its time whatever the machine does meanwhile, and says what that cost.
#include <gtest/gtest.h>

#include "measure/budget.h"
#include "measure/made_up_machine.h"
#include "measure/meter.h"

namespace roofline::measure {
namespace {

using testing::MadeUpBench;
using testing::MadeUpMachine;
using testing::workplace;

constexpr double kLate = 1.1;  // of the budget

bool has_kernels() { return !candidates().empty(); }

CpuMeasurement measured(MadeUpMachine& machine, bool quick, std::size_t cores) {
  MeasureOptions options;
  options.quick = quick;
  return measure_at(workplace(machine, cores), options);
}

TEST(Budget, SharesTimeOutEvenly) {
  Budget budget(10);
  budget.plan(5);
  EXPECT_DOUBLE_EQ(budget.take(0, 100), 2);
  EXPECT_DOUBLE_EQ(budget.take(1, 100), 9.0 / 4);  // the first took half of its share
  EXPECT_DOUBLE_EQ(budget.take(7, 100), 1);        // the second took too long
  EXPECT_DOUBLE_EQ(budget.take(8, 0.5), 0.5);      // no more than is wanted
  EXPECT_DOUBLE_EQ(budget.take(11, 100), 0);
  EXPECT_DOUBLE_EQ(budget.take(9, 100), 1);  // nothing is left on the plan: all that is left
}

TEST(Meter, StopsEarlyWhereSamplesAgree) {
  if (!has_kernels()) GTEST_SKIP() << "no kernels for this architecture";
  MadeUpMachine machine;
  StopRule rule;
  rule.seconds = 5;
  Meter meter(std::make_unique<MadeUpBench>(machine, 1, std::size_t{1} << 20), rule);
  const double begin = machine.now;
  const auto rate = meter.bandwidth(*candidates().back(), AccessPattern::read, 24 * 1024, false);
  EXPECT_NEAR(rate->value, 236e9, 2e9);
  EXPECT_FALSE(rate->cut_short);
  EXPECT_LT(rate->width, 0.01);
  EXPECT_LT(machine.now - begin, 0.03);
}

TEST(Meter, SaysWhereTimeEndedFirst) {
  if (!has_kernels()) GTEST_SKIP() << "no kernels for this architecture";
  MadeUpMachine machine;
  machine.noise = 0.5;
  StopRule rule;
  rule.agreement = 1e-6;
  Meter meter(std::make_unique<MadeUpBench>(machine, 1, std::size_t{1} << 20), rule);
  const double begin = machine.now;
  meter.set_until(begin + 0.03);
  const auto rate = meter.bandwidth(*candidates().back(), AccessPattern::read, 24 * 1024, false);
  EXPECT_TRUE(rate->cut_short);
  EXPECT_GT(rate->width, 0.02);
  EXPECT_LT(machine.now - begin, 0.035);
}

TEST(Meter, OneSampleAtLeastButNoneAfterTheDeadline) {
  if (!has_kernels()) GTEST_SKIP() << "no kernels for this architecture";
  MadeUpMachine machine;
  Meter meter(std::make_unique<MadeUpBench>(machine, 1, std::size_t{1} << 20), {}, machine.now + 1);
  meter.set_until(machine.now - 1);
  const auto rate = meter.bandwidth(*candidates().back(), AccessPattern::read, 24 * 1024, false);
  EXPECT_EQ(rate->samples, 1U);
  EXPECT_TRUE(rate->cut_short);
  machine.now += 2;
  const double late = machine.now;
  EXPECT_FALSE(meter.latency(1 << 20, 0.01));
  EXPECT_EQ(machine.now, late);
}

TEST(MadeUp, AQuietMachineIsMeasuredRightAndSoon) {
  if (!has_kernels()) GTEST_SKIP() << "no kernels for this architecture";
  for (const bool quick : {false, true}) {
    MadeUpMachine machine;
    machine.noise = 0.004;
    const auto m = measured(machine, quick, 2);
    EXPECT_TRUE(m.complete);
    EXPECT_TRUE(m.missing.empty());
    EXPECT_LT(m.seconds, m.budget_s);
    for (const auto* t : {&m.one, &m.all}) {
      const auto threads = static_cast<double>(t->cpus.size());
      ASSERT_EQ(t->levels.size(), 4U);
      EXPECT_NEAR(t->clock.value, 3.7e9, 3e7);
      for (const char* name : {"l1", "l2", "l3", "dram"})
        ASSERT_NE(t->bandwidth(name, AccessPattern::read), nullptr) << name << quick;
      EXPECT_NEAR(t->bandwidth("l1", AccessPattern::read)->rate.value, threads * 236e9, threads * 3e9);
      EXPECT_NEAR(t->bandwidth("l2", AccessPattern::triad)->rate.value, threads * 118e9, threads * 2e9);
      EXPECT_NEAR(t->bandwidth("dram", AccessPattern::nt_copy)->rate.value, threads * 36e9, threads * 5e8);
      EXPECT_NEAR(t->peak(*parse_precision("fp64.vector"), false)->rate.value, threads * 59e9, threads * 1e9);
      for (const auto& b : t->bandwidths) EXPECT_FALSE(b.rate.cut_short) << figure_name(b);
    }
    EXPECT_NEAR(*m.one.levels[0].bytes, 32 * 1024, 4 * 1024);
    EXPECT_NEAR(*m.one.levels[1].bytes, 1024 * 1024, 128 * 1024);
  }
}

struct Load {
  const char* name;
  double noise, loses, away_s;
  std::size_t cores;
};

class Loaded : public ::testing::TestWithParam<Load> {};

TEST_P(Loaded, KeepsToItsTime) {
  if (!has_kernels()) GTEST_SKIP() << "no kernels for this architecture";
  const auto& load = GetParam();
  for (const bool quick : {false, true})
    for (unsigned seed = 1; seed <= 5; ++seed) {
      MadeUpMachine machine;
      machine.noise = load.noise;
      machine.loses = load.loses;
      machine.away_s = load.away_s;
      machine.random.seed(seed);
      const auto m = measured(machine, quick, load.cores);
      EXPECT_LE(m.seconds, kLate * m.budget_s) << (quick ? "quick" : "full") << seed;
      std::size_t figures = 0;
      for (const auto* t : {&m.one, &m.all}) {
        figures += t->bandwidths.size() + t->peaks.size();
        for (const auto& b : t->bandwidths) EXPECT_TRUE(b.rate.value > 0 && !b.rate.only_disturbed) << figure_name(b);
        for (const auto& p : t->peaks) EXPECT_TRUE(p.rate.value > 0 && !p.rate.only_disturbed) << figure_name(p);
      }
      if (m.complete)
        EXPECT_TRUE(m.missing.empty());
      else
        EXPECT_TRUE(!m.missing.empty() || m.one.levels.size() < 4) << "incomplete without a word";
      // Where no levels were found there are no bandwidths to miss, but peaks are.
      EXPECT_GE(figures + m.missing.size(), m.one.levels.size() < 4 ? 8U : 40U);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Loaded,
                         ::testing::Values(Load{"noisy", 0.5, 0, 0, 2}, Load{"busy", 0.05, 0.3, 0.004, 2},
                                           Load{"very_busy", 0.05, 0.6, 0.012, 2}, Load{"crowded", 0.05, 0.5, 0.03, 2},
                                           Load{"many_cores", 0.05, 0.02, 0.01, 64},
                                           Load{"hopeless", 0.05, 1.0, 0.2, 2}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(MadeUp, WhatIsMissingIsNamed) {
  if (!has_kernels()) GTEST_SKIP() << "no kernels for this architecture";
  MadeUpMachine machine;
  machine.loses = 1;
  machine.away_s = 0.2;
  const auto m = measured(machine, false, 2);
  EXPECT_FALSE(m.complete);
  EXPECT_TRUE(m.one.peaks.empty() && m.all.peaks.empty());
  EXPECT_NE(std::find(m.missing.begin(), m.missing.end(), "fp64.vector, best mix, 1 thread"), m.missing.end());
  ASSERT_FALSE(m.notes.empty());
  EXPECT_NE(m.notes.front().find("the largest working set"), std::string::npos) << m.notes.front();
}

// A figure without one sample that was left alone is tried again when the others are done.
TEST(MadeUp, TimeThatIsLeftGoesToWhatFailed) {
  if (!has_kernels()) GTEST_SKIP() << "no kernels for this architecture";
  MadeUpMachine machine;
  machine.loses = 0.8;
  machine.away_s = 0.0005;
  const auto m = measured(machine, true, 2);
  EXPECT_TRUE(m.complete) << (m.missing.empty() ? "" : m.missing.front());
  EXPECT_LE(m.seconds, kLate * m.budget_s);
  const auto& peaks = m.all.peaks;
  ASSERT_GE(peaks.size(), 4U);
  EXPECT_EQ(to_string(peaks[0].precision), "fp64.vector");
  EXPECT_EQ(to_string(peaks[3].precision), "fp32.vector");
  EXPECT_TRUE(peaks[3].mix);
}

// What a half busy machine costs: figures are wide, none is missing.
TEST(MadeUp, ABusyMachineLacksNothing) {
  if (!has_kernels()) GTEST_SKIP() << "no kernels for this architecture";
  MadeUpMachine machine;
  machine.noise = 0.05;
  machine.loses = 0.3;
  machine.away_s = 0.004;
  const auto m = measured(machine, false, 2);
  EXPECT_TRUE(m.complete);
  EXPECT_EQ(m.notes.size(), 1U);
  EXPECT_NE(m.notes.front().find("cut short"), std::string::npos) << m.notes.front();
  EXPECT_NE(m.notes.front().find("%)"), std::string::npos) << m.notes.front();
  std::size_t cut = 0;
  for (const auto& b : m.all.bandwidths)
    if (b.rate.cut_short) {
      ++cut;
      EXPECT_GT(b.rate.width, 0.0) << figure_name(b);
    }
  EXPECT_GT(cut, 0U);
}

}  // namespace
}  // namespace roofline::measure
