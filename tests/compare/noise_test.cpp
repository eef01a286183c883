// The statistics, against published values.
#include "compare/noise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compare/records.h"

namespace roofline::comparing {
namespace {

TEST(Noise, StudentsDistribution) {
  // Tables of the t distribution, one-sided.
  EXPECT_NEAR(student_quantile_above(0.025, 8), 2.306, 5e-4);
  EXPECT_NEAR(student_quantile_above(0.001, 8), 4.501, 5e-4);
  EXPECT_NEAR(student_quantile_above(0.05, 1), 6.314, 5e-4);
  EXPECT_NEAR(student_quantile_above(0.025, INFINITY), 1.960, 5e-4);
  EXPECT_NEAR(student_above(2.306, 8), 0.025, 5e-5);
}

TEST(Noise, IntervalOfTwoSides) {
  // Logarithms 0, 0.02, 0.04 and 0.10, 0.12, 0.14: variance 0.0004, standard error 0.016330, t(4) = 2.776.
  const auto c = change_of({1.0, std::exp(0.02), std::exp(0.04)}, {std::exp(0.10), std::exp(0.12), std::exp(0.14)}, {});
  EXPECT_NEAR(std::log(*c.ratio), 0.10, 1e-12);
  EXPECT_NEAR(*c.noise, 0.02, 1e-12);
  EXPECT_EQ(c.freedom, 4);
  EXPECT_NEAR(std::log(c.interval->low), 0.10 - 2.7764 * 0.0163299, 1e-5);
  EXPECT_NEAR(std::log(c.interval->high), 0.10 + 2.7764 * 0.0163299, 1e-5);
}

TEST(Noise, OneRunAgainstSeveral) {
  const auto c = change_of({1.0, std::exp(0.02), std::exp(0.04)}, {1.5}, {});
  EXPECT_EQ(c.freedom, 2);
  EXPECT_NEAR(c.scale, 1.0 / 3 + 1, 1e-12);
  EXPECT_TRUE(c.interval);
}

TEST(Noise, EachSideHasItsOwn) {
  // Standard deviations 0.01 of ten runs and 0.06 of three: by Welch's and Satterthwaite's formulae.
  const auto c = unpooled(0.1, noise_of_side(0.01, 10), noise_of_side(0.06, 3));
  const double a = 1e-4 / 10, b = 36e-4 / 3;
  EXPECT_NEAR(c.variance * c.scale, a + b, 1e-15);
  EXPECT_NEAR(c.scale, 1.0 / 10 + 1.0 / 3, 1e-15);
  EXPECT_NEAR(c.freedom, (a + b) * (a + b) / (a * a / 9 + b * b / 2), 1e-9);
  EXPECT_EQ(c.difference, 0.1);
  // Equal ones are what pooling makes of them.
  const auto equal = unpooled(0, noise_of_side(0.02, 3), noise_of_side(0.02, 3));
  EXPECT_NEAR(equal.variance, 4e-4, 1e-15);
  EXPECT_NEAR(equal.freedom, 4, 1e-12);
}

TEST(Noise, ASideThatTellsNothingFollowsTheOther) {
  const auto c = unpooled(0, noise_of_side(0.02, 5), noise_of_side(std::nullopt, 1));
  EXPECT_NEAR(c.variance, 4e-4, 1e-15);
  EXPECT_EQ(c.freedom, 4);
  EXPECT_NEAR(c.scale, 1.2, 1e-15);
  EXPECT_EQ(unpooled(0, noise_of_side({}, 3), noise_of_side({}, 3)).freedom, 0);
  const auto sides = change_of({1.0, 1.1}, {1.2, 1.2}, {});
  EXPECT_NEAR(*sides.noise_before, std::log(1.1) / std::sqrt(2), 1e-12);
  EXPECT_FALSE(sides.noise_after) << "equal to the last bit: one run, given twice";
  EXPECT_FALSE(change_of({1.0, 1.1}, {1.2, 1.3}, 0.03).noise_before) << "it was given";
}

// Equal to the last bit: one run, whatever the noise is taken to be.
TEST(Noise, OneRunGivenSeveralTimesCountsOnce) {
  const auto one_before = change_of({1.0, 1.0, 1.0, 1.0, 1.0}, {1.0, 1.02, 1.04}, {});
  const auto as_one = change_of({1.0}, {1.0, 1.02, 1.04}, {});
  EXPECT_NEAR(one_before.scale, 1 + 1.0 / 3, 1e-12);
  EXPECT_NEAR(one_before.interval->low, as_one.interval->low, 1e-12);
  EXPECT_NEAR(one_before.interval->high, as_one.interval->high, 1e-12);
  EXPECT_NEAR(change_of({1.0, 1.0, 1.0}, {1.1, 1.1}, 0.03).scale, 2, 1e-12);
  EXPECT_EQ(noise_of_side(std::nullopt, 5).scale, 1);
  EXPECT_EQ(noise_of_side(0.02, 5).scale, 0.2);
}

TEST(Noise, NothingFromNothing) {
  EXPECT_FALSE(change_of({1.0}, {2.0}, {}).interval);
  EXPECT_EQ(change_of({1.0}, {2.0}, {}).ratio, 2.0);
  EXPECT_FALSE(change_of({1.0, std::nullopt}, {2.0}, {}).ratio);
  EXPECT_FALSE(change_of({0.0}, {2.0}, {}).ratio);
  EXPECT_FALSE(change_of({}, {}, {}).ratio);
  EXPECT_FALSE(change_of({1.0, 1.0}, {2.0, 2.0}, {}).interval);
  EXPECT_TRUE(change_of({1.0}, {2.0}, 0.03).interval);
}

TEST(Noise, Holm) {
  const auto p = holm(std::vector<double>{0.01, 0.04, 0.03});
  EXPECT_NEAR(p[0], 0.03, 1e-12);
  EXPECT_NEAR(p[2], 0.06, 1e-12);
  EXPECT_NEAR(p[1], 0.06, 1e-12);  // never below one that was smaller
  EXPECT_TRUE(holm({}).empty());
}

std::vector<LogChange> sampled(std::size_t n, double spread, std::uint64_t seed) {
  testing::Random random(seed);
  std::vector<LogChange> out;
  for (std::size_t i = 0; i < n; ++i) {
    const double sigma = 0.03 * std::exp(spread * random.normal());
    double chi2 = 0;
    for (int d = 0; d < 8; ++d) chi2 += std::pow(random.normal(), 2);
    out.push_back({0, sigma * sigma * chi2 / 8, 8, 0.4});
  }
  return out;
}

std::vector<LogChange> moderated(std::vector<LogChange> changes) {
  std::vector<LogChange*> pointers;
  for (auto& c : changes) pointers.push_back(&c);
  moderate(pointers);
  return changes;
}

TEST(Noise, ModerationBorrowsAsFarAsKernelsAreAlike) {
  // All alike: every variance comes near to the common one.
  for (const auto& c : moderated(sampled(200, 0, 1))) {
    EXPECT_NEAR(std::sqrt(c.variance), 0.03, 0.005);
    EXPECT_EQ(c.freedom, 3 * 8) << "noise that all share has no more of it for being seen often";
  }
  // Very different: each keeps nearly its own.
  const auto raw = sampled(200, 2, 1);
  const auto shrunk = moderated(raw);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    EXPECT_LT(shrunk[i].freedom, 10);
    if (raw[i].variance < 0.03 * 0.03) continue;  // those far below the common one are lifted
    EXPECT_NEAR(std::log(shrunk[i].variance), std::log(raw[i].variance), 0.5);
  }
  // Two kernels say nothing about what kernels have in common.
  const auto two = sampled(2, 0, 1);
  EXPECT_EQ(moderated(two)[0].variance, two[0].variance);
}

}  // namespace
}  // namespace roofline::comparing
