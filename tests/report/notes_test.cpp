// What the report says beside its table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/table_reader.h"
#include "roofline/document.h"
#include "support/report_builder.h"

namespace roofline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string prose_of(const Report& report) { return prose(report_document(report, {})); }

WorkSpec placed(double fraction = 0.5, double scale = 1) {
  WorkSpec spec;
  spec.operations = {{"bf16.tensor", 2e9 * scale}};
  spec.dram_read = 1e9 * scale;
  spec.dram_write = 0;
  spec.time_s = 250e-6 * scale / fraction;
  return spec;
}

WorkSpec bare(double time_s) {
  WorkSpec spec;
  spec.time_s = time_s;
  return spec;
}

TEST(Notes, TitleNamesInputsAndMachine) {
  ReportBuilder b;
  b.input("/some/where/a.ncu-rep").input("b.csv").input("c.csv").input("d.csv");
  b.add("k", placed());
  EXPECT_EQ(report_document(b.build(), {}).title, "a.ncu-rep, b.csv and 2 more · Test GPU 100 (CC 9.0, 100 SMs)");
}

TEST(Notes, RoofsAreInNumbersWithTheRidgePoint) {
  ReportBuilder b;
  b.add("k", placed());
  EXPECT_THAT(prose_of(b.build()),
              HasSubstr("datasheet roof: bf16.tensor 1.00 PF/s, DRAM 4.00 TB/s, ridge 250 FLOP/B"));
}

TEST(Notes, TheReportFractionComesWithThePlacedShare) {
  ReportBuilder b;
  b.add("k", placed(0.5));
  b.add("bare", bare(500e-6));
  EXPECT_THAT(prose_of(b.build()), HasSubstr("50% of the roof, over the 50.0% of the time that could be placed."));
}

TEST(Notes, LookSaysWhatCanBeGained) {
  ReportBuilder b;
  b.add("slow", placed(0.25));
  b.add("done", placed(0.95));
  EXPECT_THAT(prose_of(b.build()), HasSubstr("← LOOK: 1 row could do the same work in 750 µs less time"));
}

TEST(Notes, LockedClocksMakeProfiledTime) {
  ReportBuilder b(CeilingKind::at_clock);
  b.add("slow", placed(0.25));
  const auto text = prose_of(b.build());
  EXPECT_THAT(text, HasSubstr("750 µs less profiled time"));
  EXPECT_THAT(text, HasSubstr("profiled µs"));
  EXPECT_THAT(text, HasSubstr("SM 1.50 GHz, memory 2.60 GHz"));
}

TEST(Notes, WhenAllIsDoneItSaysSo) {
  ReportBuilder b;
  b.add("done", placed(0.95));
  EXPECT_THAT(prose_of(b.build()), HasSubstr("No kernel is known to be worth a look"));
}

TEST(Notes, UnplacedRowsAreGroupedByReasonMostTimeFirst) {
  ReportBuilder b;
  b.add("a", placed());
  b.add("b", bare(1e-5)).group.placement.reason = "rare reason";
  b.add("c", bare(2e-4)).group.placement.reason = "common reason";
  b.add("d", bare(3e-4)).group.placement.reason = "common reason";
  const auto document = report_document(b.build(), {});
  const auto text = prose(document);
  EXPECT_THAT(text, HasSubstr("[1] not placed: common reason (2 rows, 49.5% of the time)"));
  EXPECT_THAT(text, HasSubstr("[2] not placed: rare reason (1 row, 1.0% of the time)"));
  EXPECT_THAT(column(table_of(document), "fraction_of_roof"), ::testing::ElementsAre("50%", "— [1]", "— [1]", "— [2]"));
}

TEST(Notes, ManyReasonsEndInOneFootnote) {
  ReportBuilder b;
  for (char c = 'a'; c < 'a' + 20; ++c) b.add(std::string(1, c), bare(1e-4)).group.placement.reason = std::string(3, c);
  const auto document = report_document(b.build(), {});
  const auto text = prose(document);
  EXPECT_THAT(text, HasSubstr("[8] not placed: hhh"));
  EXPECT_THAT(text, HasSubstr("[9] not placed: other reasons, see the verdicts (12 rows, 60.0% of the time)"));
  EXPECT_THAT(text, Not(HasSubstr("[10]")));
}

TEST(Notes, AllUnplacedHasNoFraction) {
  ReportBuilder b;
  b.add("a", bare(1e-3));
  const auto text = prose_of(b.build());
  EXPECT_THAT(text, HasSubstr("No kernel could be placed under a roof."));
  EXPECT_THAT(text, Not(HasSubstr("LOOK")));
  EXPECT_THAT(text, Not(HasSubstr("dense")));
}

TEST(Notes, AnEmptyReportSaysSo) {
  const auto document = report_document(Report{}, {});
  EXPECT_THAT(prose(document), HasSubstr("No kernels to show."));
  EXPECT_FALSE(to_terminal(document, {}).empty());
  EXPECT_EQ(to_csv(document).rfind("id,", 0), 0U);
}

TEST(Notes, EvidenceOfThePlacedShareIsSplit) {
  ReportBuilder b(CeilingKind::at_clock);
  b.add("counted", placed(0.5));
  WorkSpec percent = bare(500e-6);
  percent.dram_fraction = 0.9;
  b.add("percent", percent);
  EXPECT_THAT(
      prose_of(b.build()),
      HasSubstr("Evidence: 50.0% of the time counted by the hardware, 50.0% from the profiler's percentages alone"));
}

TEST(Notes, BytesThatWereCountedAreMoreThanPercentages) {
  ReportBuilder b(CeilingKind::at_clock);
  WorkSpec percent = bare(500e-6);
  percent.dram_fraction = 0.9;
  b.add("percent", percent);
  auto& both = b.add("both", placed(0.5));
  both.group.placement.tier = Tier::percent;
  const auto text = prose_of(b.build());
  EXPECT_THAT(text, HasSubstr("from the profiler's percentages"));
  EXPECT_THAT(text, Not(HasSubstr("percentages alone")));
}

TEST(Notes, WhatWasNotCountedIsSaidOnce) {
  ReportBuilder b;
  auto spec = placed(0.5);
  spec.uncounted = {"tensor"};
  spec.uncounted_reason = "wgmma is not countable";
  b.add("a", spec);
  b.add("b", spec);
  const auto text = prose_of(b.build());
  EXPECT_THAT(text, HasSubstr("FLOPs not fully counted: wgmma is not countable (2 rows, 100% of the time)"));
  EXPECT_THAT(text, HasSubstr("Signs: ≥ at least this, as not all was counted"));
  EXPECT_THAT(text, Not(HasSubstr("a–b%")));
}

TEST(Notes, OnlySignsOfTheTableAreExplained) {
  ReportBuilder b(CeilingKind::at_clock);
  WorkSpec spec;
  spec.time_s = 1e-3;
  spec.dram_fraction = 0.41;
  spec.uncounted_fraction = 0.85;
  spec.uncounted = {"tensor"};
  b.add("range", spec);
  const auto range = prose_of(b.build());
  EXPECT_THAT(range, HasSubstr("Signs: a–b% at least what was counted"));
  EXPECT_THAT(range, Not(HasSubstr("≥")));

  ReportBuilder exact(CeilingKind::at_clock);
  exact.add("counted", placed(0.5));
  EXPECT_THAT(prose_of(exact.build()), Not(HasSubstr("Signs")));

  ReportBuilder collapsed(CeilingKind::at_clock);
  spec.uncounted_fraction = 0.4101;
  collapsed.add("both ends read the same", spec);
  EXPECT_THAT(prose_of(collapsed.build()), Not(HasSubstr("a–b%")));
}

TEST(Notes, WhatIsMissingIsNotSaidTwice) {
  ReportBuilder b;
  auto spec = placed(0.5);
  spec.uncounted = {"tensor"};
  spec.uncounted_reason = "wgmma is not countable";
  b.add("a", spec).missing = {{"flops", "wgmma is not countable", ""}};
  const auto text = prose_of(b.build());
  EXPECT_EQ(text.find("wgmma"), text.rfind("wgmma"));
  EXPECT_THAT(text, HasSubstr("That leaves 1 row, 100% of the time undecided"));
}

TEST(Notes, AssumedPrecisionsCaveatsAndFailuresAreTold) {
  ReportBuilder b;
  auto& row = b.add("a", placed(0.5));
  row.group.work.coverage.assumed_none = {"fp64.vector", "fp16.vector"};
  row.group.placement.notes = {"no peak known for fp6.tensor"};
  b.report.failed_launches = 1;
  const auto text = prose_of(b.build());
  EXPECT_THAT(text, HasSubstr("Assumed to be none, as never collected: fp64.vector, fp16.vector (1 row"));
  EXPECT_THAT(text, HasSubstr("Caveats: no peak known for fp6.tensor (1 row"));
  EXPECT_THAT(text, HasSubstr("Failed: 1 launch without usable values, left out"));
}

TEST(Notes, SparsePeaksAreUsedOnlyForSparseOperations) {
  ReportBuilder b;
  b.add("dense", placed(0.5));
  EXPECT_THAT(prose_of(b.build()), HasSubstr("; dense peaks, without the doubling for sparse matrices\n"));
  auto spec = placed(0.5);
  spec.operations = {{"bf16.tensor.sparse", 1e9}};
  b.add("sparse", spec);
  EXPECT_THAT(prose_of(b.build()), HasSubstr("sparse peaks for the sparse operations counted, else dense ones"));
}

TEST(Notes, WarningsAreGroupedAndCounted) {
  ReportBuilder b;
  b.add("a", placed());
  for (int i = 0; i < 5; ++i) b.warn("clock", "clocks moved");
  b.warn("units", "odd unit A").warn("units", "odd unit B").warn("units", "odd unit C").warn("units", "odd unit D");
  const auto text = prose_of(b.build());
  EXPECT_THAT(text, HasSubstr("clocks moved (×5)\n"));
  EXPECT_THAT(text, HasSubstr("odd unit A\nodd unit B\nand 2 more messages (units)\n"));
}

TEST(Notes, EachCommandIsPrintedOnce) {
  ReportBuilder b;
  for (int i = 0; i < 3; ++i)
    b.add("k" + std::to_string(i), bare(1e-3)).missing = {{"flops", "none", "ncu --metrics f,d ./app"},
                                                          {"dram", "none", "ncu --metrics f,d ./app"}};
  b.add("x", bare(1e-3)).missing = {{"time", "no duration", ""}};
  const auto text = prose_of(b.build());
  EXPECT_THAT(text, HasSubstr("flops, dram (3 rows, 75.0% of the time):\n$ ncu --metrics f,d ./app\n"));
  EXPECT_EQ(text.find("$ ncu"), text.rfind("$ ncu"));
  EXPECT_THAT(text, HasSubstr("Missing: time: no duration (1 row"));
}

TEST(Notes, OtherCeilingsStayOutOfTheFraction) {
  ReportBuilder b;
  b.add("a", placed(0.5));
  b.add("b", placed(0.5)).group.placement.ceiling = CeilingKind::at_clock;
  b.add("c", placed(0.5));
  EXPECT_THAT(prose_of(b.build()),
              HasSubstr("Left out of the fraction: 33.3% of the time, placed under another kind of roof"));
}

}  // namespace
}  // namespace roofline::testing
