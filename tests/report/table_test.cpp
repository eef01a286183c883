// What stands in the table of kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/table_reader.h"
#include "roofline/document.h"
#include "support/report_builder.h"

namespace roofline::testing {
namespace {

using ::testing::ElementsAre;

// A kernel of 1 GB and `gflop` GFLOP that reaches `fraction` of the DRAM roof of the test machine.
WorkSpec streaming(double gflop, double fraction) {
  WorkSpec spec;
  spec.operations = {{"fp32.vector", gflop * 1e9}};
  spec.dram_read = 0.75e9;
  spec.dram_write = 0.25e9;
  spec.time_s = 250e-6 / fraction;
  return spec;
}

std::string cell_of(Report report, std::string_view key, TableOptions options = {}) {
  const auto document = report_document(report, options);
  const auto& table = table_of(document);
  return cell(table, table.rows.at(0), key).text;
}

TEST(Table, ShowsAKernelAsTheRooflineDoes) {
  ReportBuilder b;
  b.add("stream", streaming(2, 0.5));
  const auto report = b.build();
  EXPECT_EQ(cell_of(report, "kernel"), "stream");
  EXPECT_EQ(cell_of(report, "launches"), "1");
  EXPECT_EQ(cell_of(report, "flops"), "2.00 G");
  EXPECT_EQ(cell_of(report, "dram_bytes"), "1.00 GB");
  EXPECT_EQ(cell_of(report, "intensity_flop_per_byte"), "2.00");
  EXPECT_EQ(cell_of(report, "achieved_flops_per_s"), "4.00 TF/s");
  EXPECT_EQ(cell_of(report, "fraction_of_roof"), "50%");
  EXPECT_EQ(cell_of(report, "roof"), "dram");
  EXPECT_EQ(cell_of(report, "time_s"), "500 µs");
  EXPECT_EQ(cell_of(report, "time_share"), "100%");
  EXPECT_EQ(cell_of(report, "look"), "← LOOK");
}

TEST(Table, ZeroFlopsIsZeroAndShowsTheByteRate) {
  ReportBuilder b;
  b.add("copy", streaming(0, 0.5));
  const auto report = b.build();
  EXPECT_EQ(cell_of(report, "flops"), "0");
  EXPECT_EQ(cell_of(report, "intensity_flop_per_byte"), "0");
  EXPECT_EQ(cell_of(report, "achieved_flops_per_s"), "2.00 TB/s");
}

TEST(Table, AbsentIsNeverZero) {
  ReportBuilder b;
  WorkSpec bare;
  bare.uncounted = {"tensor"};
  b.add("nothing", bare);
  const auto report = b.build();
  for (const auto* key : {"flops", "dram_bytes", "intensity_flop_per_byte", "achieved_flops_per_s", "time_s",
                          "time_share", "gain_s", "time_min_s"})
    EXPECT_EQ(cell_of(report, key), "") << key;
  EXPECT_EQ(cell_of(report, "fraction_of_roof"), "— [1]");
  const auto document = report_document(report, {});
  const auto& total = table_of(document).footer;
  EXPECT_EQ(cell(table_of(document), total, "time_s").text, "");
  EXPECT_EQ(cell(table_of(document), total, "flops").text, "");
}

TEST(Table, BoundsAreSigned) {
  ReportBuilder b;
  auto spec = streaming(1, 0.41);
  spec.uncounted = {"tensor"};
  b.add("partly_counted", spec);
  const auto report = b.build();
  EXPECT_EQ(cell_of(report, "flops"), "≥ 1.00 G");
  EXPECT_EQ(cell_of(report, "intensity_flop_per_byte"), "≥ 1.00");
  EXPECT_EQ(cell_of(report, "fraction_of_roof"), "≥ 41%");
  const auto document = report_document(report, {});
  const auto& table = table_of(document);
  EXPECT_EQ(cell(table, table.footer, "fraction_of_roof").text, "≥ 41%");
}

TEST(Table, AnUpperBoundIsSignedToo) {
  ReportBuilder b;
  auto& row = b.add("k", streaming(1, 0.5));
  row.group.placement.bound = Bound::upper;
  row.group.work.operations[0].operations = counter(1e9, Bound::upper);
  const auto report = b.build();
  EXPECT_EQ(cell_of(report, "fraction_of_roof"), "≤ 50%");
  EXPECT_EQ(cell_of(report, "flops"), "≤ 1.00 G");
}

TEST(Table, TwoPercentagesGiveARange) {
  ReportBuilder b(CeilingKind::at_clock);
  WorkSpec spec;
  spec.time_s = 1e-3;
  spec.dram_fraction = 0.41;
  spec.uncounted_fraction = 0.85;
  spec.uncounted = {"tensor"};
  b.add("percent", spec);
  EXPECT_EQ(cell_of(b.build(), "fraction_of_roof"), "41–85%");
}

TEST(Table, CacheResidentKernelsHaveNoPercentage) {
  ReportBuilder b;
  auto spec = streaming(0.1, 0.05);
  spec.l2_bytes = 100e9;
  b.add("in_l2", spec);
  const auto report = b.build();
  EXPECT_EQ(cell_of(report, "fraction_of_roof"), "in cache");
  EXPECT_EQ(cell_of(report, "roof"), "cache");
}

TEST(Table, MixedRowsAreMarked) {
  ReportBuilder b;
  b.add("varies", {streaming(1, 0.5), streaming(1, 0.9)});
  b.add("steady", {streaming(1, 0.5), streaming(1, 0.5)});
  const auto document = report_document(b.build(), {});
  const auto& table = table_of(document);
  EXPECT_THAT(column(table, "fraction_of_roof"), ElementsAre("50%", "*64%"));
}

TEST(Table, SortsByEveryKey) {
  ReportBuilder b;
  b.add("bb", streaming(1, 0.9));
  b.add("aa", streaming(3, 0.3));
  WorkSpec bare;
  bare.time_s = 500e-6;
  bare.uncounted = {"all"};
  b.add("cc", bare);
  const auto report = b.build();
  const auto names = [&](SortKey key) {
    TableOptions options;
    options.sort = key;
    const auto document = report_document(report, options);
    return column(table_of(document), "kernel");
  };
  EXPECT_THAT(names(SortKey::time), ElementsAre("aa", "cc", "bb"));
  EXPECT_THAT(names(SortKey::gain), ElementsAre("aa", "bb", "cc"));
  EXPECT_THAT(names(SortKey::fraction), ElementsAre("aa", "bb", "cc"));  // the worst first, unknown last
  EXPECT_THAT(names(SortKey::flops), ElementsAre("aa", "bb", "cc"));
  EXPECT_THAT(names(SortKey::intensity), ElementsAre("aa", "bb", "cc"));
  EXPECT_THAT(names(SortKey::bytes), ElementsAre("bb", "aa", "cc"));  // equal: as in the input
  EXPECT_THAT(names(SortKey::name), ElementsAre("aa", "bb", "cc"));
  EXPECT_THAT(names(SortKey::order), ElementsAre("bb", "aa", "cc"));
}

TEST(Table, SortKeysHaveNames) {
  EXPECT_EQ(parse_sort_key("gain"), SortKey::gain);
  EXPECT_EQ(parse_sort_key("order"), SortKey::order);
  EXPECT_FALSE(parse_sort_key("speed"));
  EXPECT_FALSE(parse_sort_key(""));
}

TEST(Table, TheRestIsOneLineThatAddsUp) {
  ReportBuilder b;
  for (int i = 0; i < 10; ++i) b.add("k" + std::to_string(i), {streaming(1, 0.5), streaming(1, 0.5)});
  TableOptions options;
  options.top = 3;
  const auto document = report_document(b.build(), options);
  const auto& table = table_of(document);
  ASSERT_EQ(table.rows.size(), 4U);
  const auto& rest = table.rows.back();
  EXPECT_EQ(cell(table, rest, "kernel").text, "… 7 more");
  EXPECT_EQ(cell(table, rest, "launches").text, "14");
  EXPECT_EQ(cell(table, rest, "flops").text, "14.0 G");
  EXPECT_EQ(cell(table, rest, "dram_bytes").text, "14.0 GB");
  EXPECT_EQ(cell(table, rest, "fraction_of_roof").text, "50%");
  EXPECT_EQ(cell(table, rest, "time_share").text, "70.0%");
  EXPECT_EQ(cell(table, table.footer, "launches").text, "20");
  double time = 0;
  for (const auto& row : table.rows) time += cell(table, row, "time_s").number.value();
  EXPECT_NEAR(time, cell(table, table.footer, "time_s").number.value(), 1e-12);
}

TEST(Table, TopBeyondTheEndShowsAll) {
  ReportBuilder b;
  b.add("k", streaming(1, 0.5));
  TableOptions options;
  options.top = 5;
  const auto document = report_document(b.build(), options);
  EXPECT_THAT(column(table_of(document), "kernel"), ElementsAre("k"));
}

TEST(Table, BaseUnitsHaveNoPrefix) {
  ReportBuilder b;
  b.add("stream", streaming(2, 0.5));
  TableOptions options;
  options.base_units = true;
  const auto report = b.build();
  EXPECT_EQ(cell_of(report, "flops", options), "2000000000");
  EXPECT_EQ(cell_of(report, "dram_bytes", options), "1000000000 B");
  EXPECT_EQ(cell_of(report, "time_s", options), "0.0005 s");
  EXPECT_EQ(cell_of(report, "achieved_flops_per_s", options), "4000000000000 FLOP/s");
}

TEST(Table, NumbersBehindTheTextAreSi) {
  ReportBuilder b;
  b.add("stream", streaming(2, 0.5));
  const auto document = report_document(b.build(), {});
  const auto& table = table_of(document);
  const auto& row = table.rows.at(0);
  EXPECT_EQ(cell(table, row, "flops").number, 2e9);
  EXPECT_EQ(cell(table, row, "time_s").number, 500e-6);
  EXPECT_EQ(cell(table, row, "dram_bytes_per_s").number, 2e12);
  EXPECT_EQ(cell(table, row, "look").number, 1);
}

TEST(Table, ShapesAreShownWhereNamesRepeat) {
  ReportBuilder b;
  b.add("k", streaming(1, 0.5));
  auto& second = b.add("k", streaming(1, 0.6));
  second.grid = {64, 2, 1};
  const auto document = report_document(b.build(), {});
  const auto& table = table_of(document);
  EXPECT_THAT(column(table, "grid"), ElementsAre("128", "64x2"));
  for (const auto& c : table.columns) EXPECT_FALSE(c.key == "grid" && c.data_only);
}

TEST(Table, TemplateArgumentsTellNamesApart) {
  ReportBuilder b;
  b.add("elementwise_kernel", streaming(1, 0.5)).full_name =
      "void at::elementwise_kernel<4, at::AddFunctor<float>, char*>(int)";
  b.add("elementwise_kernel", streaming(1, 0.6)).full_name =
      "void at::elementwise_kernel<4, at::MulFunctor<float>, char*>(int)";
  b.add("other", streaming(1, 0.7));
  const auto document = report_document(b.build(), {});
  EXPECT_THAT(column(table_of(document), "kernel"),
              ElementsAre("elementwise_kernel [at::AddFunctor]", "elementwise_kernel [at::MulFunctor]", "other"));
}

TEST(Table, VerdictsAreInWords) {
  ReportBuilder b(CeilingKind::at_clock);
  b.add("slow", streaming(1, 0.3));
  const auto report = b.build();
  const auto words = cell_of(report, "verdict");
  EXPECT_EQ(words.rfind(std::string(to_string(report.rows[0].group.placement.position)), 0), 0U) << words;
}

TEST(Table, ARegimeThatDependsOnTheClockIsSaid) {
  ReportBuilder b(CeilingKind::at_clock);
  auto& row = b.add("k", streaming(1, 0.9));
  row.datasheet = row.group.placement;
  row.datasheet->ceiling = CeilingKind::datasheet;
  row.datasheet->regime = Regime::compute;
  EXPECT_EQ(cell_of(b.build(), "verdict"), "memory-optimal, compute-bound under the datasheet's roofs");
}

TEST(Table, OneRowPerLaunchShowsTheLaunch) {
  ReportBuilder b;
  b.add("k", streaming(1, 0.9)).launch_ids = {17};
  TableOptions options;
  options.per_launch = true;
  EXPECT_EQ(cell_of(b.build(), "launch_id", options), "17");
}

}  // namespace
}  // namespace roofline::testing
