// The table of positions, and the pitfalls of a whole report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/cases.h"

namespace roofline {
namespace {

using ::testing::HasSubstr;
using testing::WorkBuilder;

Position position_of(const Work& work) { return place(work, testing::unit_ceiling(), {}, Thresholds{}).position; }

// Each row of the field's table of five positions.
TEST(PositionAdvice, FollowsThePosition) {
  struct Row {
    Work work;
    Position position;
    const char* action;
    const char* futile;
  };
  const std::vector<Row> rows = {
      {WorkBuilder(100).flops("fp32.vector", 1e6).dram(95e6), Position::memory_optimal, "fewer bytes", "Tuning this"},
      {WorkBuilder(100).flops("fp32.vector", 1e6).dram(30e6), Position::memory_suboptimal, "coalesce", "Fewer FLOPs"},
      {WorkBuilder(100).flops("fp32.vector", 90e6).dram(1e6), Position::compute_optimal, "lower precision",
       "memory access"},
      {WorkBuilder(100).flops("fp32.vector", 40e6).dram(1e6), Position::compute_suboptimal, "tensor cores",
       "Quantizing"},
      {WorkBuilder(100).flops("fp32.vector", 10e6).dram(10e6), Position::latency_bound, "parallelism", "Neither"},
      {WorkBuilder(100).flops("fp32.vector", 1).dram(1).link("nvlink", 9e6), Position::communication_bound, "overlap",
       "computation"},
      {WorkBuilder(100), Position::unplaced, "Collect", "guessing"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(to_string(row.position));
    EXPECT_EQ(position_of(row.work), row.position);
    const auto& advice = position_advice(row.position);
    EXPECT_EQ(advice.position, row.position);
    EXPECT_THAT(std::string(advice.action), HasSubstr(row.action));
    EXPECT_THAT(std::string(advice.futile), HasSubstr(row.futile));
    EXPECT_FALSE(advice.diagnosis.empty());
  }
}

KernelRow row_of(const Work& work) {
  KernelRow row;
  row.name = "kernel";
  const auto placement = place(work, testing::unit_ceiling(), {}, Thresholds{});
  const PlacedWork one{&work, &placement};
  row.group = aggregate({&one, 1}, Thresholds{});
  row.time_basis = TimeBasis::timeline;
  return row;
}

std::vector<std::string> pitfalls(const Report& report, std::span<const Profile> profiles = {}) {
  std::vector<std::string> ids;
  for (const auto& f : report_pitfalls(report, profiles)) {
    EXPECT_EQ(f.kind, "pitfall");
    EXPECT_FALSE(f.action.empty());
    ids.push_back(f.id);
  }
  return ids;
}

Report clean_report() {
  Report report;
  Work work = WorkBuilder(100).flops("fp32.vector", 1e6).dram(50e6).bytes_at(MemoryLevel::l2, 60e6, "lts_t");
  report.rows.push_back(row_of(work));
  return report;
}

TEST(Pitfalls, NoneInACleanReport) {
  EXPECT_THAT(pitfalls(clean_report()), ::testing::IsEmpty());
  EXPECT_THAT(pitfalls(Report{}), ::testing::IsEmpty());
}

TEST(Pitfalls, LockedClocksAndNoTimeline) {
  auto report = clean_report();
  report.rows.front().time_basis = TimeBasis::profiled_locked;
  EXPECT_THAT(pitfalls(report), ::testing::UnorderedElementsAre("clocks-locked", "few-launches", "no-timeline"));
}

TEST(Pitfalls, FlushedCachesUnlessToldNotTo) {
  auto report = clean_report();
  report.inputs.push_back({"a.ncu-rep", "ncu-rep", ""});
  Profile profile;
  profile.command_line = "ncu --set full ./app";
  EXPECT_THAT(pitfalls(report, {&profile, 1}), ::testing::ElementsAre("caches-flushed"));
  profile.command_line = "ncu --cache-control none ./app";
  EXPECT_THAT(pitfalls(report, {&profile, 1}), ::testing::IsEmpty());
}

TEST(Pitfalls, MissingHierarchyAndModelledBytes) {
  Report report;
  Work work = WorkBuilder(100).flops("fp32.vector", 1e6).dram(50e6);
  work.level(MemoryLevel::dram).total = Quantity::of(50e6, Evidence::model);
  report.rows.push_back(row_of(work));
  EXPECT_THAT(pitfalls(report), ::testing::UnorderedElementsAre("missing-hierarchy", "bytes-not-counted"));
}

TEST(Pitfalls, ForgottenWritesWholeModelsAndFailedLaunches) {
  auto report = clean_report();
  auto& row = report.rows.front();
  row.name = "Decode Step";
  row.group.work.level(MemoryLevel::dram).total = {};
  row.group.work.level(MemoryLevel::dram).read = testing::counted(1e6);
  report.failed_launches = 2;
  EXPECT_THAT(pitfalls(report),
              ::testing::UnorderedElementsAre("writes-forgotten", "whole-model-point", "failed-launches"));
}

TEST(Pitfalls, SparsePeakUsedForDenseWork) {
  auto report = clean_report();
  Machine machine;
  machine.ceilings.push_back(testing::unit_ceiling(CeilingKind::datasheet));
  report.machines.push_back(machine);
  auto& row = report.rows.front();
  row.machine = 0;
  EXPECT_THAT(pitfalls(report), ::testing::IsEmpty());
  for (auto& use : row.group.placement.resources)
    if (use.name == "fp32.vector") use.peak *= 2;
  EXPECT_THAT(pitfalls(report), ::testing::ElementsAre("sparse-peak"));
}

TEST(Explain, ShowsPositionLevelsFindingsAndNvidia) {
  auto report = clean_report();
  auto& row = report.rows.front();
  Finding f;
  f.id = "top-stall";
  f.kind = "cause";
  f.title = "What warps wait for";
  f.why = "70 % waiting";
  f.gain_s = 1e-5;
  f.gain_list = "same-work";
  row.findings.push_back(f);
  RuleResult stall;
  stall.rule = "CPIStall";
  stall.messages.push_back({"stalls", "optimization"});
  RuleResult occupancy;
  occupancy.rule = "TheoreticalOccupancy";
  occupancy.messages.push_back({"low", "warning"});
  const std::vector<RuleResult> nvidia = {stall, occupancy};
  const auto text = to_markdown(explain_document(report, 0, nvidia, "ncu --set full ./app"));
  for (const auto* part : {"memory-suboptimal", "50% of the roof", "Will not help", "dram", "l2",
                           "L2 serves 1.20 bytes", "What warps wait for", "worth at most 10.0 µs", "CPIStall", "agrees",
                           "TheoreticalOccupancy", "differs", "ncu --set full ./app"})
    EXPECT_THAT(text, HasSubstr(part));
}

// One kernel, three roofs: the one in use, the datasheet's, and a measured one that nobody asked for.
TEST(Explain, SetsAllCeilingsSideBySide) {
  auto report = clean_report();
  auto& row = report.rows.front();
  Machine machine;
  machine.ceilings = {testing::unit_ceiling(CeilingKind::datasheet), testing::unit_ceiling(CeilingKind::measured)};
  for (auto& b : machine.ceilings.back().bandwidths) b.bytes_per_s *= 0.8;
  report.machines = {machine};
  row.machine = 0;
  const auto document = explain_document(report, 0, {}, "");
  const Table* ceilings = nullptr;
  for (const auto& block : document.blocks)
    if (const auto* table = std::get_if<Table>(&block); table && table->columns.front().key == "ceiling")
      ceilings = table;
  ASSERT_NE(ceilings, nullptr);
  ASSERT_EQ(ceilings->rows.size(), 3u);
  const auto fraction = [&](std::size_t r) { return ceilings->rows[r][5].number.value_or(-1); };
  EXPECT_EQ(ceilings->rows[0][0].text, "at-clock");
  EXPECT_EQ(ceilings->rows[0].back().text, "in use");
  EXPECT_NEAR(fraction(0), row.group.placement.fraction.value(), 1e-12);
  EXPECT_NEAR(fraction(1), 0.5, 1e-12);
  EXPECT_NEAR(fraction(2), 0.5 / 0.8, 1e-12);
  report.machines.front().ceilings.pop_back();
  EXPECT_THAT(to_markdown(explain_document(report, 0, {}, "")), HasSubstr("nobody measured this machine"));
}

}  // namespace
}  // namespace roofline
