#include <gtest/gtest.h>

#include "core/work_builder.h"
#include "roofline/placement.h"

namespace roofline {
namespace {

using testing::unit_ceiling;
using testing::WorkBuilder;

struct Launches {
  std::vector<Work> works;
  std::vector<Placement> placements;

  void add(const Work& work, const Ceiling& ceiling = unit_ceiling()) {
    works.push_back(work);
    placements.push_back(place(work, ceiling, {}, {}));
  }
  PlacementGroup group() const {
    std::vector<PlacedWork> pairs;
    for (std::size_t i = 0; i < works.size(); ++i) pairs.push_back({&works[i], &placements[i]});
    return aggregate(pairs, {});
  }
};

TEST(Aggregate, NothingIsAnEmptyRow) { EXPECT_FALSE(aggregate({}, {}).placement.placed()); }

TEST(Aggregate, SumsTimesRoofsAndGains) {
  Launches l;
  l.add(WorkBuilder(1000).flops("fp32.vector", 1e7).dram(9e8));
  l.add(WorkBuilder(5000).flops("fp32.vector", 1e7).dram(9e8));  // the same kernel, five times slower
  const auto row = l.group();
  EXPECT_NEAR(*row.placement.time_s, 6e-3, 1e-12);
  EXPECT_NEAR(*row.placement.roof_time_s, 1.8e-3, 1e-12);
  EXPECT_NEAR(*row.placement.fraction, 0.3, 1e-12);
  EXPECT_NEAR(*row.placement.gain_s, 0.1e-3 + 4.1e-3, 1e-12);
  EXPECT_EQ(row.placement.position, Position::memory_suboptimal);  // most time is in the slow one
  EXPECT_TRUE(row.mixed);
  EXPECT_NEAR(row.time_s.min, 1e-3, 1e-15);
  EXPECT_NEAR(row.time_s.median, 3e-3, 1e-15);
  EXPECT_NEAR(row.time_s.max, 5e-3, 1e-15);
  EXPECT_NEAR(row.work.level(MemoryLevel::dram).total.value(), 1.8e9, 1);
  EXPECT_EQ(row.work.launches, 2);
}

TEST(Aggregate, PlacesEachLaunchUnderItsOwnCeiling) {
  auto slow_clock = unit_ceiling();
  for (auto& b : slow_clock.bandwidths) b.bytes_per_s /= 2;
  slow_clock.sm_clock_hz = 0.5e9;
  Launches l;
  l.add(WorkBuilder(1000).flops("fp32.vector", 1e7).dram(8e8));
  l.add(WorkBuilder(2000).flops("fp32.vector", 1e7).dram(8e8), slow_clock);
  const auto row = l.group();
  EXPECT_NEAR(*row.placement.fraction, 0.8, 1e-12);  // both are at 80 % of what their clock allowed
  EXPECT_EQ(row.placement.position, Position::memory_optimal);
  EXPECT_NEAR(*row.placement.clock_hz, (1e9 * 1 + 0.5e9 * 2) / 3, 1);
}

TEST(Aggregate, MixedBorders) {
  const auto with = [](double second) {
    Launches l;
    l.add(WorkBuilder(1000).flops("fp32.vector", 0).dram(5e8));
    l.add(WorkBuilder(second).flops("fp32.vector", 0).dram(5e8));
    return l.group().mixed;
  };
  EXPECT_FALSE(with(1090));
  EXPECT_TRUE(with(1120));
}

TEST(Aggregate, BytesThatVaryMakeARowMixed) {
  Launches l;
  l.add(WorkBuilder(1000).flops("fp32.vector", 0).dram(5e8));
  l.add(WorkBuilder(1000).flops("fp32.vector", 0).dram(6e8));
  EXPECT_TRUE(l.group().mixed);
}

TEST(Aggregate, AMissingPartIsNotZero) {
  Launches l;
  l.add(WorkBuilder(1000).flops("fp32.vector", 1e8).dram(5e8));
  l.add(WorkBuilder(1000).flops("fp32.vector", 1e8));
  const auto row = l.group();
  const auto& bytes = row.work.level(MemoryLevel::dram).total;
  EXPECT_NEAR(bytes.value(), 5e8, 1);
  EXPECT_EQ(bytes.bound(), Bound::lower);
  EXPECT_FALSE(row.placement.roof_time_s);
  EXPECT_NEAR(*row.placement.fraction, 0.5, 1e-12);  // of the placed launch alone
  EXPECT_NEAR(row.placed_time_s, 1e-3, 1e-12);
}

TEST(Aggregate, EvidenceIsTheWeakestOfTheParts) {
  Launches l;
  l.add(WorkBuilder(1000).dram(5e8));
  auto modelled = WorkBuilder(1000).dram(5e8).get();
  modelled.level(MemoryLevel::dram).total = Quantity::of(5e8, Evidence::model);
  l.add(modelled);
  EXPECT_EQ(l.group().work.level(MemoryLevel::dram).total.evidence(), Evidence::model);
}

TEST(Aggregate, LowerBoundsStayLowerBounds) {
  Launches l;
  l.add(WorkBuilder(1000).flops("fp32.vector", 1e8).dram(9e8));
  l.add(WorkBuilder(1000).flops("fp32.vector", 1e8).uncounted("tensor").dram(9e8));
  const auto row = l.group();
  EXPECT_EQ(row.placement.bound, Bound::lower);
  EXPECT_EQ(row.work.flops().bound(), Bound::lower);
  EXPECT_EQ(row.work.coverage.uncounted, std::vector<std::string>{"tensor"});
}

Total total_of(const std::vector<PlacementGroup>& rows) {
  std::vector<const PlacementGroup*> pointers;
  for (const auto& row : rows) pointers.push_back(&row);
  return total(pointers);
}

void mark_look_each(std::vector<PlacementGroup>& rows, double total_time_s) {
  for (auto& row : rows) mark_look(row, total_time_s, {});
}

TEST(Total, IsTheRatioOfSumsOverPlacedRows) {
  Launches a, b, c;
  a.add(WorkBuilder(1000).flops("fp32.vector", 0).dram(9e8));
  b.add(WorkBuilder(3000).flops("fp32.vector", 0).dram(9e8));
  c.add(WorkBuilder(1000).flops("fp32.vector", 5e8));  // no bytes: not placed
  const std::vector<PlacementGroup> rows = {a.group(), b.group(), c.group()};
  const auto t = total_of(rows);
  EXPECT_NEAR(*t.fraction, 1.8 / 4, 1e-12);
  EXPECT_NEAR(t.time_s, 5e-3, 1e-12);
  EXPECT_NEAR(t.placed_time_share, 0.8, 1e-12);
  EXPECT_EQ(t.flops.value(), 5e8);
  EXPECT_EQ(t.bound, Bound::exact);
}

TEST(Total, NeverMixesKindsOfCeiling) {
  Launches a, b;
  a.add(WorkBuilder(3000).flops("fp32.vector", 0).dram(9e8));
  b.add(WorkBuilder(1000).flops("fp32.vector", 0).dram(9e8), unit_ceiling(CeilingKind::datasheet));
  const std::vector<PlacementGroup> rows = {a.group(), b.group()};
  const auto t = total_of(rows);
  EXPECT_EQ(t.ceiling, CeilingKind::at_clock);
  EXPECT_NEAR(*t.fraction, 0.3, 1e-12);
  EXPECT_NEAR(t.other_ceiling_time_s, 1e-3, 1e-12);
}

TEST(Total, OfNothingIsAbsent) {
  EXPECT_FALSE(total({}).fraction);
  Launches unplaced;
  unplaced.add(WorkBuilder(1000).flops("fp32.vector", 1));
  const std::vector<PlacementGroup> rows = {unplaced.group()};
  EXPECT_FALSE(total_of(rows).fraction);
}

TEST(Look, NeedsGainAndAReason) {
  Launches optimal, fixable, tiny, unknown;
  optimal.add(WorkBuilder(1000).flops("fp32.vector", 0).dram(8.5e8));
  fixable.add(WorkBuilder(1000).flops("fp32.vector", 0).dram(3e8));
  tiny.add(WorkBuilder(3).flops("fp32.vector", 0).dram(1e5));
  unknown.add(WorkBuilder(1000).uncounted("tensor").dram(3e8));
  std::vector<PlacementGroup> rows = {optimal.group(), fixable.group(), tiny.group(), unknown.group()};
  mark_look_each(rows, 3.003e-3);
  EXPECT_FALSE(rows[0].placement.look);
  EXPECT_TRUE(rows[1].placement.look);
  EXPECT_FALSE(rows[2].placement.look);  // 0.8 us of 3 ms is under 0.25 %
  EXPECT_FALSE(rows[3].placement.look);  // nobody knows
}

TEST(Look, AnOptimalKernelThatWastesSectorsDeservesOne) {
  Launches l;
  l.add(WorkBuilder(1000).flops("fp32.vector", 0).dram(8.5e8).busy(&Activity::sector_efficiency, 0.5));
  std::vector<PlacementGroup> rows = {l.group()};
  mark_look_each(rows, 1e-3);
  EXPECT_TRUE(rows[0].placement.look);
}

TEST(Look, GainBorder) {
  Launches l;
  l.add(WorkBuilder(1000).flops("fp32.vector", 0).dram(5e8));
  std::vector<PlacementGroup> rows = {l.group()};
  mark_look_each(rows, 0.5e-3 / 0.0025);
  EXPECT_TRUE(rows[0].placement.look);
  mark_look_each(rows, 0.51e-3 / 0.0025);
  EXPECT_FALSE(rows[0].placement.look);
}

}  // namespace
}  // namespace roofline
