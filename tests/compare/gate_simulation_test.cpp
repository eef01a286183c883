// The gate against histories whose truth is known: how often it cries wolf, and how often it sleeps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compare/records.h"
#include "roofline/compare.h"

namespace roofline {
namespace {

using testing::Random;

struct Noise {
  double of_kernel = 0.03;  // standard deviation of one run, relative
  double of_run = 0;        // shared by all kernels of a run
  double uneven = 1;        // the noisiest kernel has of_kernel x uneven, the quietest of_kernel / uneven
};

StepRecord step() {
  using Specs = std::vector<testing::KernelSpec>;
  return testing::record(Specs{{"gate_up_proj", 400e-6, 0.90},
                               {"attention", 300e-6, 0.85},
                               {"down_proj", 200e-6, 0.88},
                               {"qkv_proj", 120e-6, 0.75},
                               {"o_proj", 80e-6, 0.70},
                               {"rms_norm", 30e-6, 0.50},
                               {"rope", 20e-6, 0.40},
                               {"silu_and_mul", 20e-6, 0.60}});
}

GateSide runs(std::size_t n, const Noise& noise, Random& random, double slow_down) {
  GateSide side;
  for (std::size_t r = 0; r < n; ++r) {
    auto s = step();
    const double common = noise.of_run * random.normal();
    for (std::size_t k = 0; k < s.kernels.size(); ++k) {
      const double place = 2.0 * static_cast<double>(k) / static_cast<double>(s.kernels.size() - 1) - 1;
      const double deviation = noise.of_kernel * std::pow(noise.uneven, place);
      testing::take(s.kernels[k], std::exp(common + deviation * random.normal()));
    }
    testing::take(s.kernels.front(), slow_down);
    side.repeats.push_back(std::move(s));
  }
  return side;
}

struct Counts {
  std::size_t drop = 0, inconclusive = 0, improved = 0, pass = 0;
};

struct Runs {
  std::size_t n = 5;
  Noise noise = {};
};

std::string described(const Runs& runs) {
  return fmt::format("{}_runs_noise_{}_{}_{}", runs.n, runs.noise.of_kernel, runs.noise.of_run, runs.noise.uneven);
}

Counts simulate(std::size_t trials, const Runs& one, const Runs& other, double slow_down, std::uint64_t seed) {
  Counts out;
  Random random(seed);
  for (std::size_t i = 0; i < trials; ++i) {
    const auto before = runs(one.n, one.noise, random, 1);
    const auto after = runs(other.n, other.noise, random, slow_down);
    const auto verdict = gate(before, after, {}).verdict;
    if (verdict == GateVerdict::drop)
      ++out.drop;
    else if (verdict == GateVerdict::inconclusive)
      ++out.inconclusive;
    else if (verdict == GateVerdict::improved)
      ++out.improved;
    else
      ++out.pass;
  }
  // The figures of docs/compare.md: test_compare --gtest_filter='GateSimulation*' --gtest_output=xml
  const auto label = fmt::format("{}_then_{}_time_{:.3f}", described(one), described(other), slow_down);
  ::testing::Test::RecordProperty(label, fmt::format("of {}: drop {}, inconclusive {}, improved {}, pass {}", trials,
                                                     out.drop, out.inconclusive, out.improved, out.pass));
  return out;
}

Counts simulate(std::size_t trials, std::size_t repeats, const Noise& noise, double slow_down, std::uint64_t seed) {
  return simulate(trials, {repeats, noise}, {repeats, noise}, slow_down, seed);
}

constexpr std::size_t kTrials = 1000;
constexpr double kDrop55 = 90.0 / 55;  // of the time, where the share of the roof falls from 90 to 55 %
constexpr double kDrop10 = 1 / 0.9;

TEST(GateSimulation, FiveRunsRarelyCryWolf) {
  const auto c = simulate(kTrials, 5, {}, 1, 1);
  EXPECT_LE(c.drop, 10U);
  EXPECT_LE(c.improved, 10U);
  EXPECT_LE(c.inconclusive, 50U);  // a gate that never decides is of no use either
}

TEST(GateSimulation, FiveRunsFindTenPercent) {
  const auto c = simulate(kTrials, 5, {}, kDrop10, 2);
  EXPECT_GE(c.drop, 900U);
}

TEST(GateSimulation, FiveRunsFind90To55) {
  const auto c = simulate(kTrials, 5, {}, kDrop55, 3);
  EXPECT_GE(c.drop, 990U);
  EXPECT_EQ(c.pass + c.improved, 0U);
}

TEST(GateSimulation, FiveRunsSeeTenPercentLess) { EXPECT_GE(simulate(200, 5, {}, 0.9, 4).improved, 140U); }

// Nothing changed, and it says neither the one nor the other: however much kernels, or sides, differ in their noise.
TEST(GateSimulation, UnevenNoiseIsNeitherDropNorImprovement) {
  const Noise quiet = {0.01, 0, 1}, loud = {0.06, 0, 1}, uneven = {0.01, 0, 1.0 / 3};
  std::uint64_t seed = 31;
  for (const auto& [one, other] :
       {std::pair(Runs{5, uneven}, Runs{5, uneven}), std::pair(Runs{5, quiet}, Runs{5, loud}),
        std::pair(Runs{5, loud}, Runs{5, quiet}), std::pair(Runs{10, quiet}, Runs{3, loud}),
        std::pair(Runs{3, loud}, Runs{10, quiet})}) {
    const auto c = simulate(kTrials, one, other, 1, seed++);
    EXPECT_LE(c.drop, 12U) << described(one) << described(other);  // 0.5 % are promised: 5 of these, and chance
    EXPECT_LE(c.improved, 10U) << described(one) << described(other);
  }
}

// Most of `trials` that a chance of 1 % makes in 99 of 100 cases: one-sided, binomial. More says that the chance is
// above.
std::size_t most_of_one_percent(std::size_t trials) {
  const auto n = static_cast<double>(trials);
  double term = std::pow(0.99, n), sum = term;  // of exactly `k`; of at most `k`
  std::size_t k = 0;
  while (sum < 0.99) {
    term *= (n - static_cast<double>(k)) / static_cast<double>(k + 1) * (0.01 / 0.99);
    sum += term;
    ++k;
  }
  return k;
}

// Few runs on a side, sides of different noise, and noise that all kernels of a run share, which moderation takes for
// that of independent kernels.
TEST(GateSimulation, FewRunsAndSharedNoiseRarelyCryWolf) {
  constexpr std::size_t kMany = 1000;
  ASSERT_EQ(most_of_one_percent(kMany), 18U);
  const Noise one = {0.01, 0, 1}, three = {0.03, 0, 1}, six = {0.06, 0, 1};
  const Noise shared = {0.005, 0.03, 1}, shared_one = {0.005, 0.01, 1}, shared_six = {0.005, 0.06, 1};
  std::uint64_t seed = 51;
  for (const auto& [before, after] :
       {std::pair(Runs{5, three}, Runs{2, six}), std::pair(Runs{2, one}, Runs{2, six}),
        std::pair(Runs{5, three}, Runs{2, three}), std::pair(Runs{5, three}, Runs{1, six}),
        std::pair(Runs{3, three}, Runs{3, three}), std::pair(Runs{3, shared}, Runs{3, shared}),
        std::pair(Runs{10, shared}, Runs{3, shared}), std::pair(Runs{10, shared_one}, Runs{3, shared_six})})
    EXPECT_LE(simulate(kMany, before, after, 1, seed++).drop, most_of_one_percent(kMany))
        << described(before) << described(after);
}

// What the method does not assume: all kernels of a run slow together, or one is far noisier than the others.
TEST(GateSimulation, SharedAndUnevenNoise) {
  constexpr std::size_t kFew = 200;
  const Noise shared = {0, 0.03, 1}, mixed = {0.02, 0.02, 1}, one_is_noisy = {0.01, 0, 1.0 / 3}, large = {0.08, 0, 1};
  std::uint64_t seed = 11;
  for (const auto& noise : {shared, mixed, one_is_noisy, large}) {
    const auto c = simulate(kFew, 5, noise, 1, seed++);
    EXPECT_LE(c.drop, kFew * 2 / 100);
    EXPECT_LE(c.improved, kFew * 2 / 100);
  }
  for (const auto& noise : {shared, mixed, one_is_noisy})
    EXPECT_GE(simulate(kFew, 5, noise, kDrop10, seed++).drop, kFew * 85 / 100);
  EXPECT_GE(simulate(kFew, 5, large, 1, seed++).inconclusive, kFew * 80 / 100);
}

}  // namespace
}  // namespace roofline
