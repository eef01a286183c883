// Borders of levels in sweeps made up for the purpose.
#include "measure/levels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace roofline::measure {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * 1024;

struct Cache {
  double bytes, latency;
};

// Random loads in a set larger than a cache hit it as often as it holds the set.
double latency_of(double set, const std::vector<Cache>& caches, double memory) {
  double latency = memory;
  for (auto it = caches.rbegin(); it != caches.rend(); ++it) {
    const double hits = std::min(1.0, it->bytes / set);
    latency = hits * it->latency + (1 - hits) * latency;
  }
  return latency;
}

std::vector<LatencyPoint> sweep(const std::vector<Cache>& caches, double memory, double most = 256 * kMiB) {
  std::vector<LatencyPoint> points;
  for (const double bytes : working_sets(4 * kKiB, most, 4, kKiB))
    points.push_back({bytes, latency_of(bytes, caches, memory)});
  return points;
}

const std::vector<Cache> kZen = {{32 * kKiB, 4}, {1 * kMiB, 14}, {32 * kMiB, 55}};

void expect_borders(const std::vector<Plateau>& levels, const std::vector<Cache>& caches, double within = 1.45) {
  ASSERT_EQ(levels.size(), caches.size() + 1);
  for (std::size_t i = 0; i < caches.size(); ++i) {
    EXPECT_GE(levels[i].last_bytes, caches[i].bytes / within) << i;
    EXPECT_LE(levels[i].last_bytes, caches[i].bytes * within) << i;
    EXPECT_NEAR(levels[i].latency, caches[i].latency, 0.25 * caches[i].latency) << i;
  }
}

TEST(Levels, AreFoundWhereTheLatencyRises) {
  const auto levels = find_levels(sweep(kZen, 400));
  expect_borders(levels, kZen);
  EXPECT_DOUBLE_EQ(levels.front().first_bytes, 4 * kKiB);
  EXPECT_GT(levels.back().latency, 300);
}

TEST(Levels, OfOtherProcessors) {
  for (const auto& caches : {
           std::vector<Cache>{{48 * kKiB, 5}, {1280 * kKiB, 14}, {24 * kMiB, 70}},
           std::vector<Cache>{{32 * kKiB, 4}, {256 * kKiB, 12}, {8 * kMiB, 42}},
           std::vector<Cache>{{64 * kKiB, 4}, {512 * kKiB, 13}},
           std::vector<Cache>{{128 * kKiB, 3}, {12 * kMiB, 18}},
           std::vector<Cache>{{32 * kKiB, 3}},
       })
    expect_borders(find_levels(sweep(caches, 350)), caches);
}

// A guest sees the host's 320 MiB and gets a share of 11 MB: only the sweep knows.
TEST(Levels, OfAVirtualMachineWithAnOddShareOfItsHost) {
  const std::vector<Cache> caches = {{32 * kKiB, 4}, {1 * kMiB, 14}, {11.3 * kMiB, 58}};
  expect_borders(find_levels(sweep(caches, 500)), caches);
}

TEST(Levels, SurviveNoise) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> jitter(1.0, 1.04);
    auto points = sweep(kZen, 400);
    for (auto& p : points) {
      p.latency *= jitter(random);
      if (random() % 8 == 0) p.latency *= 2 + static_cast<double>(random() % 20);  // another program
    }
    const auto levels = find_levels(points);
    ASSERT_EQ(levels.size(), 4U) << seed;
    EXPECT_NEAR(std::log2(levels[0].last_bytes), std::log2(32 * kKiB), 0.8) << seed;
    EXPECT_NEAR(std::log2(levels[1].last_bytes), std::log2(1 * kMiB), 0.8) << seed;
    EXPECT_NEAR(std::log2(levels[2].last_bytes), std::log2(32 * kMiB), 1.1) << seed;
  }
}

TEST(Levels, ASweepThatEndsInACacheHasNoMemory) {
  const auto levels = find_levels(sweep(kZen, 400, 512 * kKiB));
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_NEAR(levels[1].latency, 14, 2);
}

TEST(Levels, WhatStillRisesAtTheEndIsALevel) {
  const auto levels = find_levels(sweep({{32 * kKiB, 4}, {1 * kMiB, 14}}, 400, 3 * kMiB));
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_GT(levels.back().latency, 100);
}

TEST(Levels, OneLatencyIsOneLevel) {
  const std::vector<LatencyPoint> flat = {{1024, 10}, {4096, 10}, {16384, 10.5}};
  const auto levels = find_levels(flat);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_DOUBLE_EQ(levels[0].last_bytes, 16384);
}

TEST(Levels, HostileSweeps) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(find_levels({}).empty());
  EXPECT_TRUE(find_levels(std::vector<LatencyPoint>{{1024, 4}}).empty());
  EXPECT_TRUE(find_levels(std::vector<LatencyPoint>{{1024, nan}, {2048, inf}, {4096, -1}, {0, 3}, {nan, 3}}).empty());
  const std::vector<LatencyPoint> falling = {{1024, 40}, {2048, 20}, {4096, 10}, {8192, 5}};
  EXPECT_EQ(find_levels(falling).size(), 1U);
  const std::vector<LatencyPoint> steps = {{1024, 1}, {2048, 10}, {4096, 100}, {8192, 1000}};
  EXPECT_GE(find_levels(steps).size(), 1U);
  const std::vector<LatencyPoint> same = {{1024, 1}, {1024, 2}, {1024, 3}, {1024, 4}};
  EXPECT_GE(find_levels(same).size(), 1U);
}

TEST(Levels, TheOrderOfPointsDoesNotMatter) {
  auto points = sweep(kZen, 400);
  std::shuffle(points.begin(), points.end(), std::mt19937(7));
  expect_borders(find_levels(points), kZen);
}

TEST(Inside, IsAwayFromBothBorders) {
  EXPECT_DOUBLE_EQ(*inside(std::nullopt, 32 * kKiB), 24 * kKiB);
  const auto l2 = inside(32 * kKiB, 1 * kMiB);
  ASSERT_TRUE(l2);
  EXPECT_GT(*l2, 64 * kKiB);
  EXPECT_LT(*l2, 768 * kKiB);
  EXPECT_FALSE(inside(1 * kMiB, 1.375 * kMiB));  // hardly larger than the level below
}

TEST(WorkingSets, GrowByEqualFactorsInWholeSteps) {
  const auto sets = working_sets(4 * kKiB, 64 * kKiB, 4, kKiB);
  EXPECT_DOUBLE_EQ(sets.front(), 4 * kKiB);
  EXPECT_DOUBLE_EQ(sets.back(), 64 * kKiB);
  for (std::size_t i = 1; i < sets.size(); ++i) {
    EXPECT_GT(sets[i], sets[i - 1]);
    EXPECT_DOUBLE_EQ(std::fmod(sets[i], kKiB), 0);
  }
  EXPECT_TRUE(working_sets(8 * kKiB, 4 * kKiB, 4, kKiB).empty());
}

}  // namespace
}  // namespace roofline::measure
