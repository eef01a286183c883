// From samples to a figure, and when to stop sampling.
#include "measure/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace roofline::measure {
namespace {

std::vector<Sample> quiet(const std::vector<double>& rates) {
  std::vector<Sample> out;
  for (const double r : rates) out.push_back({r, false});
  return out;
}

TEST(Median, OfOddAndEvenNumbers) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median({7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Summary, TakesTheMedianOfTheBestThird) {
  const auto v = summarize(quiet({1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_DOUBLE_EQ(v.value, 8);  // of 7, 8, 9
  EXPECT_DOUBLE_EQ(v.median, 5);
  EXPECT_DOUBLE_EQ(v.low, 1);
  EXPECT_DOUBLE_EQ(v.high, 9);
  EXPECT_EQ(v.samples, 9U);
  EXPECT_EQ(v.disturbed, 0U);
  EXPECT_DOUBLE_EQ(v.spread(), 1);
}

TEST(Summary, TellsHowFarTheBestThirdLiesApart) {
  EXPECT_DOUBLE_EQ(summarize(quiet({50, 50, 50, 50, 50, 50, 99, 100, 101})).width, 0.02);
  EXPECT_DOUBLE_EQ(summarize(quiet({98, 99, 100})).width, 0.02);  // too few for a third
  EXPECT_DOUBLE_EQ(summarize(quiet({100})).width, 0);
}

TEST(Summary, IsCutShortWhereSamplesAreFewOrDisagree) {
  const StopRule rule;
  EXPECT_TRUE(cut_short(summarize(quiet({100, 100})), rule));
  EXPECT_FALSE(cut_short(summarize(quiet({100, 100, 100})), rule));
  EXPECT_TRUE(cut_short(summarize(quiet({97, 99, 100})), rule));
  EXPECT_FALSE(cut_short(summarize(quiet({50, 50, 50, 50, 50, 50, 99.5, 100, 100})), rule));
  EXPECT_TRUE(cut_short(summarize(quiet({50, 50, 50, 50, 50, 50, 95, 100, 100})), rule));
  EXPECT_TRUE(cut_short(summarize(std::vector<Sample>(20, {100, true})), rule));
}

TEST(Summary, OneLuckySampleMakesNoCeiling) {
  std::vector<double> rates(30, 100);
  rates.push_back(1000);
  EXPECT_DOUBLE_EQ(summarize(quiet(rates)).value, 100);
}

TEST(Summary, SlowSamplesLowerTheMedianButNotTheCeiling) {
  std::vector<double> rates(10, 100);
  rates.insert(rates.end(), 12, 20);
  const auto v = summarize(quiet(rates));
  EXPECT_DOUBLE_EQ(v.value, 100);
  EXPECT_DOUBLE_EQ(v.median, 20);
}

TEST(Summary, LeavesInterruptedSamplesOut) {
  auto samples = quiet({10, 11, 12});
  samples.push_back({500, true});
  samples.push_back({1, true});
  const auto v = summarize(samples);
  EXPECT_DOUBLE_EQ(v.value, 12);
  EXPECT_DOUBLE_EQ(v.low, 10);
  EXPECT_DOUBLE_EQ(v.high, 12);
  EXPECT_EQ(v.samples, 3U);
  EXPECT_EQ(v.disturbed, 2U);
  EXPECT_FALSE(v.only_disturbed);
}

TEST(Summary, SaysWhereItHasInterruptedSamplesOnly) {
  const std::vector<Sample> samples = {{5, true}, {6, true}};
  const auto v = summarize(samples);
  EXPECT_TRUE(v.only_disturbed);
  EXPECT_DOUBLE_EQ(v.value, 6);
  EXPECT_EQ(v.samples, 2U);
}

TEST(Summary, WithoutSamplesThereIsNoFigure) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& samples : {quiet({}), quiet({inf, nan, 0, -3})}) {
    const auto v = summarize(samples);
    EXPECT_EQ(v.samples, 0U);
    EXPECT_DOUBLE_EQ(v.value, 0);
    EXPECT_DOUBLE_EQ(v.spread(), 0);
    EXPECT_FALSE(v.only_disturbed);
  }
}

const StopRule kRule = {9, 50, 0.01, 0.1, 0.15};

TEST(Stopping, WaitsForEnoughSamplesThatAgree) {
  EXPECT_FALSE(enough(quiet(std::vector<double>(8, 100)), 0.01, kRule));
  EXPECT_TRUE(enough(quiet(std::vector<double>(9, 100)), 0.01, kRule));
  // The best third is 100, 103, 106.
  EXPECT_FALSE(enough(quiet({50, 50, 50, 50, 50, 50, 100, 103, 106}), 0.01, kRule));
  EXPECT_TRUE(enough(quiet({50, 50, 50, 50, 50, 50, 100, 100.4, 100.9}), 0.01, kRule));
}

TEST(Stopping, EndsWithTheTime) {
  const auto noisy = quiet({50, 50, 50, 50, 50, 50, 100, 103, 106});
  EXPECT_FALSE(enough(noisy, 0.0999, kRule));
  EXPECT_TRUE(enough(noisy, 0.1, kRule));
}

TEST(Stopping, GoesOnForUndisturbedSamplesButNotForEver) {
  const std::vector<Sample> disturbed(40, {100, true});
  EXPECT_FALSE(enough(disturbed, 0.2, kRule));
  EXPECT_TRUE(enough(disturbed, 0.25, kRule));
  EXPECT_TRUE(enough(std::vector<Sample>(50, {100, true}), 0, kRule));
  EXPECT_FALSE(enough({}, 0, kRule));
  EXPECT_TRUE(enough({}, 0.25, kRule));
}

}  // namespace
}  // namespace roofline::measure
