// The measurement itself, with tiny budgets: figures are there and sane, whatever the machine does meanwhile.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "measure/arena.h"
#include "measure/kernels.h"
#include "measure/meter.h"
#include "roofline/error.h"
#include "roofline/measure.h"

namespace roofline {
namespace {

using namespace measure;

constexpr std::size_t kMiB = std::size_t{1} << 20;

bool has_kernels() { return *kernel_sets() != nullptr; }

TEST(Chain, VisitsEveryLineOnceHoweverItGrew) {
  Arena arena(kMiB);
  Chain chain(arena.data(), arena.size());
  std::size_t last = 0;
  for (const std::size_t bytes : {64U, 640U, 641U, 4096U, 65536U}) {
    chain.grow(bytes);
    ASSERT_GE(chain.lines(), last);
    last = chain.lines();
    ASSERT_EQ(last, bytes / Chain::kLine);
    std::set<void*> seen;
    void* at = chain.start();
    for (std::size_t i = 0; i < last; ++i) {
      seen.insert(at);
      at = chase(at, 1);
    }
    EXPECT_EQ(at, chain.start());
    EXPECT_EQ(seen.size(), last);
  }
  EXPECT_EQ(chase(chain.start(), last), chain.start());
  chain.grow(std::size_t{1} << 40);  // no farther than the memory
  EXPECT_EQ(chain.lines(), arena.size() / Chain::kLine);
}

TEST(Kernels, DoWhatTheySay) {
  if (!has_kernels()) GTEST_SKIP() << "no kernels for this architecture";
  constexpr std::size_t kBytes = 4 * kBlock;
  Arena arena(kMiB);
  auto* a = reinterpret_cast<double*>(arena.data());
  auto* b = a + kBytes / sizeof(double);
  auto* c = b + kBytes / sizeof(double);
  const auto bytes_of = [](double* p) { return reinterpret_cast<char*>(p); };
  for (const auto* const* set = kernel_sets(); *set != nullptr; ++set) {
    const auto& k = **set;
    for (const bool past : {false, true}) {
      const auto copy = past ? k.copy_nt : k.copy;
      const auto triad = past ? k.triad_nt : k.triad;
      const auto write = past ? k.write_nt : k.write;
      if (copy == nullptr) continue;
      arena.fill();
      copy(bytes_of(a), bytes_of(b), kBytes, 1);
      for (std::size_t i = 0; i < kBytes / sizeof(double); ++i) ASSERT_EQ(a[i], b[i]) << k.isa << i;
      triad(bytes_of(a), bytes_of(b), bytes_of(c), kBytes, 2);
      for (std::size_t i = 0; i < kBytes / sizeof(double); ++i)
        ASSERT_NEAR(a[i], b[i] + 0.42 * c[i], 1e-12) << k.isa << i;
      const double untouched = b[0];
      write(bytes_of(a), kBytes, 1);
      for (std::size_t i = 0; i < kBytes / sizeof(double); ++i) ASSERT_EQ(a[i], 1.5) << k.isa << i;
      EXPECT_EQ(b[0], untouched);
    }
  }
}

TEST(Kernels, CountTheirOperations) {
  for (const auto* const* set = kernel_sets(); *set != nullptr; ++set)
    for (std::size_t i = 0; i < (*set)->compute_count; ++i) {
      const auto& k = (*set)->compute[i];
      EXPECT_TRUE(parse_precision(k.precision)) << k.precision;
      EXPECT_GE(k.operations, 48) << k.what;
      EXPECT_EQ(std::fmod(k.operations, 8), 0) << k.what;
    }
}

TEST(Team, AllMembersWorkEachRound) {
  std::vector<int> cpus = {0, 0, 0};  // more threads than the processor has room for
  Team team(cpus);
  std::vector<int> count(cpus.size(), 0);
  for (int round = 0; round < 20; ++round) {
    const auto timing = team.run([&](std::size_t member) { ++count[member]; });
    EXPECT_GE(timing.seconds, 0);
  }
  for (const int n : count) EXPECT_EQ(n, 20);
}

TEST(Measurement, IsSane) {
  if (!has_kernels()) GTEST_SKIP() << "no kernels for this architecture";
  MeasureOptions options;
  options.quick = true;
  options.threads = 1;
  options.seconds_per_figure = 0.001;
  options.memory_limit = 32 * kMiB;
  std::size_t told = 0;
  options.progress = [&](std::string_view) { ++told; };
  const auto m = measure_cpu(options);
  EXPECT_GT(told, 0U);
  EXPECT_EQ(m.one.cpus.size(), 1U);
  EXPECT_GT(m.one.clock.value, 1e8);
  EXPECT_LT(m.one.clock.value, 1e11);
  // A machine without time to spare may leave no more than a note; it must say so.
  if (m.complete) {
    EXPECT_FALSE(m.one.sweep.empty());
    ASSERT_FALSE(m.one.levels.empty());
    EXPECT_EQ(m.one.levels.back().name, "dram");
    EXPECT_FALSE(m.one.peaks.empty());
    EXPECT_FALSE(m.one.bandwidths.empty());
  } else {
    EXPECT_FALSE(m.notes.empty());
  }
  for (const auto& b : m.one.bandwidths) {
    EXPECT_TRUE(std::isfinite(b.rate.value) && b.rate.value > 0) << b.level;
    EXPECT_LE(b.rate.low, b.rate.value);
    EXPECT_GE(b.rate.high, b.rate.value);
  }
  for (const auto& p : m.one.peaks) EXPECT_TRUE(std::isfinite(p.rate.value) && p.rate.value > 0);
  EXPECT_EQ(m.date.size(), std::string("2026-11-29").size());
}

TEST(Measurement, RefusesMoreThreadsThanCores) {
  if (!has_kernels()) GTEST_SKIP() << "no kernels for this architecture";
  MeasureOptions options;
  options.threads = 100000;
  EXPECT_THROW(measure_cpu(options), UsageError);
}

TEST(AccessPattern, NamesAreReadBack) {
  using enum AccessPattern;
  for (const auto p : {read, write, copy, triad, nt_write, nt_copy, nt_triad})
    EXPECT_EQ(parse_access_pattern(to_string(p)), p);
  EXPECT_FALSE(parse_access_pattern("reed"));
}

TEST(Best, InMemoryOnlyAccessesWhoseBytesAreAllCounted) {
  ThreadedMeasurement t;
  const auto add = [&](const char* level, AccessPattern p, double rate) {
    MeasuredBandwidth b;
    b.level = level;
    b.pattern = p;
    b.rate.value = rate;
    t.bandwidths.push_back(b);
  };
  add("dram", AccessPattern::read, 30);
  add("dram", AccessPattern::triad, 90);  // its stores read the line first
  add("dram", AccessPattern::nt_copy, 45);
  add("l2", AccessPattern::read, 80);
  add("l2", AccessPattern::triad, 85);
  EXPECT_EQ(t.best("dram")->pattern, AccessPattern::nt_copy);
  EXPECT_EQ(t.best("l2")->pattern, AccessPattern::triad);
  EXPECT_EQ(t.best("l3"), nullptr);
}

}  // namespace
}  // namespace roofline
