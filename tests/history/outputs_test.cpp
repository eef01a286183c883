// What leaves a history: metrics, CSV, the gate's reports, documents; and what users type.
#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "roofline/error.h"
#include "stores.h"

namespace roofline::testing {
namespace {

using history::Store;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class HistoryOutput : public StoreTest {
 protected:
  Store made() { return Store::open(place(), Store::Access::write); }
};
ROOFLINE_ON_BOTH_STORES(HistoryOutput);

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::vector<std::string> samples(const std::string& text, const std::string& metric) {
  std::vector<std::string> out;
  for (const auto& line : lines_of(text))
    if (line.starts_with(metric + "{")) out.push_back(line);
  return out;
}

TEST_P(HistoryOutput, MetricsAreOfTheNewestRecordOfEachCombination) {
  auto store = made();
  store.record(new_record(small_report(0.5), {{"branch", "main"}, {"commit", "a"}}, 1000000));
  store.record(new_record(small_report(0.8), {{"branch", "main"}, {"commit", "b"}}, 2000000));
  store.record(new_record(small_report(0.4), {{"branch", "side"}}, 3000000));
  const auto text = export_openmetrics(store, {}, {{"branch"}, 20});
  EXPECT_TRUE(text.ends_with("# EOF\n"));
  EXPECT_THAT(samples(text, "roofline_kernel_fraction_of_roof_ratio"), SizeIs(4));
  EXPECT_THAT(
      samples(text, "roofline_record_timestamp_seconds"),
      ElementsAre(
          "roofline_record_timestamp_seconds{machine=\"Test GPU 100\",ceiling=\"datasheet\",branch=\"side\"} 3",
          "roofline_record_timestamp_seconds{machine=\"Test GPU 100\",ceiling=\"datasheet\",branch=\"main\"} 2"));
  EXPECT_THAT(text, HasSubstr("branch=\"main\",kernel=\"scale_kernel\",operator=\"scale\"} 0.8"));
  EXPECT_THAT(text, Not(HasSubstr("commit")));  // a series for each commit would fill any database
  EXPECT_THAT(text, Not(HasSubstr("<float>")));
}

TEST_P(HistoryOutput, MetricsKeepSamplesOfAFamilyTogetherAndUnique) {
  auto store = made();
  ReportBuilder builder;
  for (const auto* name : {"a\"b\\c\nd", "norm_kernel", "norm_kernel"}) add_kernel(builder, name, 0.5, "o\"p");
  store.record(new_record(to_json(builder.build()), {{"9 x", "v\"\\\n"}}));
  const auto text = export_openmetrics(store, {}, {{"9 x"}, 0});
  std::set<std::string> seen, closed;
  std::string family;
  for (const auto& line : lines_of(text)) {
    if (line.starts_with("#")) continue;
    const auto brace = line.find('{');
    ASSERT_NE(brace, std::string::npos) << line;
    const auto name = line.substr(0, brace);
    const bool group = name != family;
    EXPECT_TRUE(!group || closed.insert(name).second) << "a second group of " << name;
    family = name;
    EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second) << line;
    EXPECT_THAT(line, HasSubstr("label_9_x=\"v\\\"\\\\\\n\""));
  }
  EXPECT_THAT(text, HasSubstr("operator=\"o\\\"p\""));
}

TEST_P(HistoryOutput, MetricsLimitTheKernels) {
  auto store = made();
  ReportBuilder builder;
  for (int i = 0; i < 30; ++i)
    add_kernel(builder, "kernel_" + std::string(1, static_cast<char>('a' + i % 26)) + (i < 26 ? "x" : "y"), 0.5);
  store.record(new_record(to_json(builder.build())));
  const auto text = export_openmetrics(store, {}, {{}, 10});
  const auto launches = samples(text, "roofline_kernel_launches");
  ASSERT_THAT(launches, SizeIs(11));
  EXPECT_THAT(launches.back(), HasSubstr("kernel=\"(other)\""));
  EXPECT_TRUE(launches.back().ends_with(" 20")) << launches.back();
}

TEST_P(HistoryOutput, MetricsRefuseLabelsThatCollide) {
  auto store = made();
  EXPECT_THROW(export_openmetrics(store, {}, {{"a-b", "a.b"}, 20}), UsageError);
  EXPECT_EQ(export_openmetrics(store, {}, {}).find("roofline_step_time_seconds{"), std::string::npos);
}

// le and quantile mean buckets and quantiles to every reader; a gauge that bears them is refused.
TEST_P(HistoryOutput, MetricsRenameLabelsThatTheFormatKeeps) {
  auto store = made();
  store.record(new_record(small_report(), {{"le", "1"}, {"quantile", "2"}}));
  const auto text = export_openmetrics(store, {}, {{"le", "quantile"}, 20});
  EXPECT_THAT(text, HasSubstr(",label_le=\"1\",label_quantile=\"2\""));
  EXPECT_THAT(text, Not(HasSubstr(",le=")));
}

TEST_P(HistoryOutput, CsvGuardsAgainstFormulasAndHasOneHeader) {
  auto store = made();
  for (int i = 0; i < 2; ++i) {
    ReportBuilder builder;
    add_kernel(builder, "=HYPERLINK(\"http://x\")", 0.5, "@SUM(A1)");
    store.record(new_record(to_json(builder.build()), {{"note", "-1+2"}, {"+cmd", "x"}}));
  }
  std::ostringstream out;
  export_csv(store, {}, out);
  const auto lines = lines_of(out.str());
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_TRUE(lines[0].starts_with("recorded_at,uid,machine"));
  EXPECT_THAT(lines[1], HasSubstr("\"'=HYPERLINK(\"\"http://x\"\")\""));
  EXPECT_THAT(lines[1], HasSubstr(",'@SUM(A1),"));
  EXPECT_THAT(lines[1], HasSubstr(",'+cmd=x note=-1+2,"));
  for (const char start : {'=', '@', '+'}) EXPECT_THAT(lines[1], Not(HasSubstr(std::string(",") + start)));
}

TEST_P(HistoryOutput, TrendShowsTheCurveAndWhatChangedOnTheWay) {
  auto store = made();
  for (int i = 0; i < 3; ++i) {
    ReportBuilder builder;
    add_kernel(builder, "norm_kernel",
               i == 0   ? 0.9
               : i == 1 ? 0.6
                        : 0.5)
        .full_name = i == 2 ? "void norm_kernel<2>()" : "void norm_kernel<1>()";
    auto report = builder.build();
    report.catalogue_version = i == 0 ? "aaaa" : "bbbb";
    store.record(new_record(to_json(report), {}, 60000000 * (i + 1)));
  }
  const auto points = store.trend("norm_kernel");
  const auto text = to_terminal(trend_document("norm_kernel", points, {}), {100, false, true});
  EXPECT_THAT(text, HasSubstr("% of roof █▃▁ (50% to 90%)"));
  EXPECT_THAT(text, HasSubstr("-33.3%"));
  EXPECT_THAT(text, HasSubstr("another machine catalogue"));
  EXPECT_THAT(text, HasSubstr("1970-01-01 00:03"));
}

TEST(Sparkline, SpansLowToHigh) {
  const std::vector<std::optional<double>> values = {0.0, 0.5, std::nullopt, 1.0};
  EXPECT_EQ(history::sparkline(values, true), "▁▅ █");
  EXPECT_EQ(history::sparkline(values, false),
            "_="
            " #");
  const std::vector<std::optional<double>> same = {2.0, 2.0};
  EXPECT_EQ(history::sparkline(same, true), "▄▄");
  EXPECT_EQ(history::sparkline({}, true), "");
}

// ---------------------------------------------------------------- the gate's reports

GateResult hostile_result() {
  GateResult result;
  result.verdict = GateVerdict::drop;
  result.sentence = "drop: 90% -> 55%\r\n::error::injected";
  GateFinding drop;
  drop.verdict = GateVerdict::drop;
  drop.before_name = "a<b>&\"c\"\x01:,%\n]]>\xFF";
  drop.fraction.before = 0.9;
  drop.fraction.after = 0.55;
  drop.reasons = {"50% slower"};
  GateFinding open;
  open.verdict = GateVerdict::inconclusive;
  open.before_name = "other";
  GateFinding fine;
  fine.before_name = "fine";
  result.findings = {drop, open, fine};
  return result;
}

TEST(GateOutput, GithubAnnotationsCannotBeInjected) {
  const auto lines = lines_of(history::gate_github(hostile_result(), {"new.json", "record 1", 0.05}));
  ASSERT_THAT(lines, SizeIs(3));  // passes are not annotated
  EXPECT_EQ(lines[0].rfind("::error title=roofline gate%3A drop::drop: 90%25 -> 55%25%0D%0A::error::injected", 0), 0U);
  EXPECT_EQ(lines[1].rfind("::error title=a<b>&\"c\"\x01%3A%2C%25%0A]]>\xEF\xBF\xBD%3A drop::", 0), 0U);
  EXPECT_TRUE(lines[2].starts_with("::warning title=other%3A inconclusive::"));
}

TEST(GateOutput, GithubSaysWhatIsDifferentAboutAPass) {
  GateResult result;
  GateFinding renamed;
  renamed.before_name = "gemm";
  renamed.what_changed = {"another kernel: gemm -> other"};
  GateFinding slower;
  slower.before_name = "attn";
  slower.verdict = GateVerdict::inconclusive;
  slower.what_changed = {"FLOPs +50%"};
  slower.reasons = {"slower at the same share of the roof: FLOPs +50%"};
  result.findings = {renamed, slower};
  const auto lines = lines_of(history::gate_github(result, {"new.json", "record 1", 0.05}));
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0], HasSubstr("gemm: pass; another kernel: gemm -> other"));
  EXPECT_EQ(lines[1].find("FLOPs"), lines[1].rfind("FLOPs"));  // once
}

TEST(GateOutput, JunitCountsAndEscapes) {
  const auto text = history::gate_junit(hostile_result(), {"new.json", "record 1", 0.05});
  EXPECT_THAT(text, HasSubstr("tests=\"3\" failures=\"1\" errors=\"1\" skipped=\"0\""));
  EXPECT_THAT(text, HasSubstr("name=\"a&lt;b&gt;&amp;&quot;c&quot;\xEF\xBF\xBD:,%&#10;]]&gt;\xEF\xBF\xBD\""));
  EXPECT_THAT(text, HasSubstr("<error type=\"inconclusive\""));
  EXPECT_THAT(text, Not(HasSubstr("\x01")));
}

TEST(GateOutput, AnInconclusiveWholeIsNoPass) {
  GateResult result;
  result.verdict = GateVerdict::inconclusive;
  result.sentence = "inconclusive: no baseline";
  const auto text = history::gate_junit(result, {"new.json", "", 0.05});
  EXPECT_THAT(text, HasSubstr("tests=\"1\" failures=\"0\" errors=\"1\""));
  EXPECT_THAT(history::gate_github(result, {}), HasSubstr("::warning title=roofline gate%3A inconclusive"));
  EXPECT_THAT(history::gate_json(result, {}), HasSubstr("\"verdict\": \"inconclusive\""));
}

// ---------------------------------------------------------------- what users type

TEST(Budget, ReadsLimitsAndNamesTheLineOfAFault) {
#ifndef ROOFLINE_TOML
  GTEST_SKIP() << "no TOML";
#endif
  const auto budget = history::read_budget(
      "[default]\nmax_drop = \"4%\"\n[kernel.\"rms_norm\"]\nmin_fraction = 0.6\nmax_time = \"12 us\"\n", "b.toml");
  EXPECT_EQ(budget.fallback->max_drop, 0.04);
  EXPECT_EQ(budget.kernels.at("rms_norm").min_fraction, 0.6);
  EXPECT_NEAR(*budget.kernels.at("rms_norm").max_time_s, 12e-6, 1e-12);
  for (const auto* bad :
       {"x = 1", "\n[kernel.a]\nmax_drop = \"five\"", "[kernel.a]\nmax_time = \"12 h\"", "[kernel.a]\nmin_fraction = 2",
        "[kernel.a]\nmax_dorp = 1", "[kernel]\na = 1", "[", "default = 3", "[default]\nmax_drop = \"0%\"",
        "[kernel.a]\nmax_drop = 1.0", "[default]\nmin_fraction = 0.5", "[default]\nmax_time = 1"}) {
    try {
      history::read_budget(bad, "b.toml");
      ADD_FAILURE() << bad;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("b.toml:")) << bad;
      EXPECT_TRUE(error.problem().line) << bad;
    }
  }
}

TEST(Times, AreReadAndWrittenInUtc) {
  EXPECT_EQ(history::parse_time("1970-01-02"), 86400000000);
  EXPECT_EQ(history::parse_time("1970-01-01T00:00:01.5Z"), 1500000);
  EXPECT_EQ(history::parse_time("1970-01-01 02:00+02:00"), 0);
  EXPECT_EQ(history::format_time(history::parse_time("2026-02-28T23:59:59.000001Z")), "2026-02-28T23:59:59.000001Z");
  EXPECT_EQ(history::format_time(-1), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(history::format_time(history::parse_time("1969-12-31")), "1969-12-31T00:00:00Z");
  for (const auto* bad : {"", "2026", "2026-02-30", "2026-13-01", "2026-01-01T25:00Z", "2026-01-01T10:61Z",
                          "-026-01-01", "2026-01-01T10:00:00+2", "2026-01-01Tx", "2026-01-01T10:00:00Zx"})
    EXPECT_THROW(history::parse_time(bad), UsageError) << bad;
  EXPECT_EQ(history::parse_duration("90d"), 90 * 86400000000);
  EXPECT_EQ(history::parse_duration("2w"), 14 * 86400000000);
  for (const auto* bad : {"", "d", "90", "-1d", "1y", "9999999999d", "1.5d"})
    EXPECT_THROW(history::parse_duration(bad), UsageError) << bad;
}

TEST(Labels, SplitAtTheFirstEqualsSign) {
  EXPECT_EQ(history::parse_label("a=b=c"), std::pair(std::string("a"), std::string("b=c")));
  EXPECT_EQ(history::parse_label("a="), std::pair(std::string("a"), std::string()));
  EXPECT_THROW(history::parse_label("a"), UsageError);
  EXPECT_THROW(history::parse_label("=b"), UsageError);
}

}  // namespace
}  // namespace roofline::testing
