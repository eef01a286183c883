#include <cmath>
#include <limits>

#include "profile/rep_fixtures.h"
#include "roofline/metrics.h"

namespace roofline::testing {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Profile read(const NcuRepWriter& writer) { return read_profile(writer.bytes(), "test.ncu-rep", keep_all()); }

TEST(NcuRep, ReadsLaunchesWithNamesShapesAndPlaces) {
  NcuRepWriter writer;
  writer.session({.devices = {report_device({})}, .command_line = "ncu --set full ./a.out"});
  auto kernel = saxpy();
  kernel.stream = 13;
  kernel.context = 3;
  writer.process(77).result(kernel);
  const auto profile = read(writer);
  EXPECT_EQ(profile.path, "test.ncu-rep");
  EXPECT_EQ(profile.format, "ncu-rep");
  EXPECT_EQ(profile.producer, "Nsight Compute 2025.1.0.0");
  EXPECT_EQ(profile.command_line, "ncu --set full ./a.out");
  EXPECT_TRUE(profile.warnings.empty());
  ASSERT_EQ(profile.launches.size(), 1U);
  const auto& launch = profile.launches[0];
  EXPECT_EQ(launch.name, "saxpy(int, float)");
  EXPECT_EQ(launch.function, "saxpy");
  EXPECT_EQ(launch.mangled, "_Z5saxpyif");
  EXPECT_EQ(launch.grid, (Dim3{4096, 2, 1}));
  EXPECT_EQ(launch.block, (Dim3{256, 1, 1}));
  EXPECT_EQ(launch.process, 77U);
  EXPECT_EQ(launch.context, 3U);
  EXPECT_EQ(launch.stream, 13U);
  EXPECT_FALSE(launch.failed);
  EXPECT_EQ(number(profile, 0, "gpu__time_duration.sum"), 12345.0);
  EXPECT_EQ(number(profile, 0, "launch__grid_size"), 8192.0);
  EXPECT_EQ(text(profile, 0, "breakdown:sm__throughput"), "a,b");
}

// The first versions wrote the grid in threads; the metric counts blocks.
TEST(NcuRep, AGridInThreadsIsReadAsBlocks) {
  const auto grid_of = [](Dim3 grid, std::uint64_t blocks) {
    auto kernel = saxpy();
    kernel.grid = grid;
    kernel.block = {16, 16, 1};
    for (auto& m : kernel.metrics)
      if (m.name == "launch__grid_size") m.value = blocks;
    NcuRepWriter writer;
    writer.result(kernel);
    return read(writer).launches.at(0).grid;
  };
  EXPECT_EQ(grid_of({1120, 384, 32}, 53760), (Dim3{70, 24, 32}));
  EXPECT_EQ(grid_of({70, 24, 32}, 53760), (Dim3{70, 24, 32}));
  EXPECT_EQ(grid_of({1120, 384, 32}, 7), (Dim3{1120, 384, 32}));  // neither: left as it is
  EXPECT_EQ(grid_of({1121, 384, 32}, 53760), (Dim3{1121, 384, 32}));
}

TEST(NcuRep, DeclaredMetricsHaveCatalogueIdsAndOthersAreDropped) {
  auto kernel = saxpy();
  kernel.metrics.push_back({"nobody__declared_this.sum", 1.0});
  NcuRepWriter writer;
  writer.result(kernel);
  const auto profile = read_profile(writer.bytes(), "test.ncu-rep");
  const auto time = MetricCatalogue::instance().find("gpu__time_duration.sum");
  ASSERT_TRUE(time);
  EXPECT_EQ(profile.launches[0].metrics.get(*time), 12345.0);
  EXPECT_EQ(number(profile, 0, "nobody__declared_this.sum"), std::nullopt);
  EXPECT_EQ(profile.extra_metrics, nullptr);
  const auto all = read(writer);
  EXPECT_EQ(number(all, 0, "nobody__declared_this.sum"), 1.0);
  ASSERT_NE(all.extra_metrics, nullptr);
}

TEST(NcuRep, NamesMayStandInALaterBlock) {
  for (const auto names : {Names::later, Names::two_pieces}) {
    NcuRepWriter writer;
    writer.result(saxpy(), names).result(saxpy(2.0));
    const auto profile = read(writer);
    EXPECT_EQ(number(profile, 0, "gpu__time_duration.sum"), 12345.0);
    EXPECT_EQ(number(profile, 1, "gpu__time_duration.sum"), 2.0);
  }
}

TEST(NcuRep, LaterResultsAddNames) {
  NcuRepWriter writer;
  auto second = saxpy();
  second.metrics.push_back({"late__metric", 5.0});
  writer.result(saxpy()).result(second);
  const auto profile = read(writer);
  EXPECT_EQ(number(profile, 0, "late__metric"), std::nullopt);
  EXPECT_EQ(number(profile, 1, "late__metric"), 5.0);
}

TEST(NcuRep, LastDuplicateWins) {
  auto kernel = saxpy(1.0);
  kernel.metrics.push_back({"gpu__time_duration.sum", 2.0});
  kernel.metrics.push_back({"gpu__time_duration.sum", 3.0});
  kernel.metrics.push_back({"launch__grid_size", ReportValue()});  // a late "not collected" counts as well
  NcuRepWriter writer;
  writer.result(kernel).result(saxpy(9.0));
  const auto profile = read(writer);
  EXPECT_EQ(number(profile, 0, "gpu__time_duration.sum"), 3.0);
  EXPECT_EQ(number(profile, 0, "launch__grid_size"), std::nullopt);
  EXPECT_EQ(profile.launches[0].metrics.duplicates(), 3U);
  EXPECT_TRUE(warns(profile, "duplicate-metrics"));
  EXPECT_EQ(number(profile, 1, "gpu__time_duration.sum"), 9.0);
  EXPECT_EQ(profile.launches[1].metrics.duplicates(), 0U);
}

TEST(NcuRep, ValuesOfOneResultDoNotLeakIntoTheNext) {
  auto first = saxpy();
  first.metrics.push_back({"only__first", 1.0});
  first.metrics.push_back({"only__first_text", std::string("x")});
  NcuRepWriter writer;
  writer.result(first).result(saxpy());
  const auto profile = read(writer);
  EXPECT_EQ(number(profile, 0, "only__first"), 1.0);
  EXPECT_EQ(number(profile, 1, "only__first"), std::nullopt);
  EXPECT_EQ(text(profile, 1, "only__first_text"), "(none)");
}

TEST(NcuRep, NaNAndMissingValuesAreAbsent) {
  auto kernel = saxpy();
  kernel.metrics.push_back({"is__nan", kNaN});
  kernel.metrics.push_back({"is__missing", ReportValue()});
  kernel.metrics.push_back({"is__zero", 0.0});
  NcuRepWriter writer;
  writer.result(kernel);
  const auto profile = read(writer);
  EXPECT_EQ(number(profile, 0, "is__nan"), std::nullopt);
  EXPECT_EQ(number(profile, 0, "is__missing"), std::nullopt);
  EXPECT_EQ(number(profile, 0, "is__zero"), 0.0);
}

TEST(NcuRep, FailedLaunchesAreMarked) {
  NcuRepWriter writer;
  auto failed = saxpy(kNaN);
  failed.grid = failed.block = {0, 0, 0};
  auto without_time = failed;
  without_time.metrics = {{"launch__grid_size", std::uint64_t{0}}};
  auto range = failed;
  range.function = "range";
  auto timed = failed;  // a zero grid with a time is odd, but it ran
  timed.metrics = saxpy().metrics;
  auto untimed = saxpy(kNaN);  // a grid without time: not collected, not failed
  writer.result(failed).result(without_time).result(range).result(timed).result(untimed);
  const auto profile = read(writer);
  ASSERT_EQ(profile.launches.size(), 5U);
  EXPECT_TRUE(profile.launches[0].failed);
  EXPECT_TRUE(profile.launches[1].failed);
  EXPECT_FALSE(profile.launches[2].failed);
  EXPECT_FALSE(profile.launches[3].failed);
  EXPECT_FALSE(profile.launches[4].failed);
  EXPECT_TRUE(warns(profile, "failed-launch"));
  EXPECT_EQ(profile.warnings[0].launch, 0U);
}

TEST(NcuRep, InstancesDoNotDisturbValues) {
  auto kernel = saxpy();
  std::vector<std::pair<ReportValue, ReportValue>> instances;
  for (std::uint64_t i = 0; i < 100; ++i) instances.emplace_back(i, static_cast<double>(i));
  kernel.metrics.push_back({"with__value", 4950.0, instances});
  kernel.metrics.push_back({"by__opcode", ReportValue(), {{std::string("FFMA"), 3.0}}});
  kernel.metrics.push_back({"after__both", 7.0});
  NcuRepWriter writer;
  writer.result(kernel);
  const auto profile = read(writer);
  EXPECT_EQ(number(profile, 0, "with__value"), 4950.0);
  EXPECT_EQ(number(profile, 0, "by__opcode"), std::nullopt);
  EXPECT_EQ(number(profile, 0, "after__both"), 7.0);
}

TEST(NcuRep, ClockLockDecidesTheTimeBasis) {
  NcuRepWriter writer;
  auto kernel = saxpy();
  writer.result(kernel);
  kernel.clock_lock = {{0, 0}};
  writer.result(kernel);
  kernel.clock_lock = std::nullopt;
  writer.result(kernel);
  kernel.clock_lock = {{1, 0}};
  writer.result(kernel);
  const auto profile = read(writer);
  EXPECT_EQ(profile.launches[0].time_basis, TimeBasis::profiled_locked);
  EXPECT_EQ(profile.launches[1].time_basis, TimeBasis::profiled);
  EXPECT_EQ(profile.launches[2].time_basis, TimeBasis::profiled);
  EXPECT_EQ(profile.launches[3].time_basis, TimeBasis::unknown);
}

TEST(NcuRep, NvtxRangesAreThoseOfTheLaunchingThread) {
  NcuRepWriter writer;
  auto kernel = saxpy();
  kernel.thread = 4711;
  kernel.nvtx = {"step", "layer 3", "attention"};
  kernel.other_nvtx = {"loader"};
  writer.result(kernel);
  const auto profile = read(writer);
  EXPECT_EQ(profile.launches[0].nvtx, (std::vector<std::string_view>{"step", "layer 3", "attention"}));
}

TEST(NcuRep, DevicesComeFromTheResults) {
  NcuRepWriter writer;
  const ReportGpu h100;
  const ReportGpu t4{.id = 1, .name = "Tesla T4", .cc_major = 7, .cc_minor = 5, .sm_count = 40, .sm_khz = 1'590'000};
  writer.session({.devices = {report_device(h100), report_device(t4)}});
  auto kernel = saxpy();
  auto other = saxpy();
  other.metrics = gpu_metrics(t4);
  writer.result(other).result(kernel).result(other);
  const auto profile = read(writer);
  ASSERT_EQ(profile.devices.size(), 2U);
  EXPECT_EQ(profile.launches[0].device, 0U);
  EXPECT_EQ(profile.launches[1].device, 1U);
  EXPECT_EQ(profile.launches[2].device, 0U);
  const auto& device = profile.devices[0];
  EXPECT_EQ(device.id, 1U);
  EXPECT_EQ(device.name, "Tesla T4");
  EXPECT_EQ(device.compute_capability, "7.5");
  EXPECT_EQ(device.sm_count, 40);
  EXPECT_EQ(device.max_sm_clock_hz, 1.59e9);
  EXPECT_EQ(device.max_memory_clock_hz, 1.593e9);
  EXPECT_EQ(device.memory_bus_bits, 5120);
  EXPECT_EQ(device.l2_bytes, 52'428'800.0);
}

TEST(NcuRep, LaunchDeviceIdDecidesAndTheSessionFillsGaps) {
  NcuRepWriter writer;
  const ReportGpu second{.id = 1, .name = "NVIDIA L4", .cc_major = 8, .cc_minor = 9};
  writer.session({.devices = {report_device({}), report_device(second)}});
  ReportResult bare = saxpy();
  bare.metrics = {{"launch__device_id", std::uint64_t{1}}, {"gpu__time_duration.sum", 5.0}};
  writer.result(bare);
  const auto profile = read(writer);
  ASSERT_EQ(profile.devices.size(), 1U);
  EXPECT_EQ(profile.devices[0].name, "NVIDIA L4");
  EXPECT_EQ(profile.devices[0].compute_capability, "8.9");
}

TEST(NcuRep, AReportWithoutLaunchesNamesItsDevices) {
  NcuRepWriter writer;
  writer.session({.devices = {report_device({})}});
  const auto profile = read(writer);
  EXPECT_TRUE(profile.launches.empty());
  EXPECT_TRUE(warns(profile, "no-launches"));
  ASSERT_EQ(profile.devices.size(), 1U);
  EXPECT_EQ(profile.devices[0].name, "NVIDIA H100 PCIe");
}

TEST(NcuRep, UnknownFieldsVersionsAndEntriesAreTolerated) {
  NcuRepWriter writer(8);
  auto kernel = saxpy();
  kernel.unknown_fields = true;
  writer.result(kernel);
  std::vector<std::string> names;
  const auto whole = writer.encode(saxpy(99.0), names);
  ASSERT_TRUE(names.empty());
  writer.extra_entry("\x01\x02 no message").extra_entry(whole).extra_entry("");
  const auto profile = read(writer);
  EXPECT_TRUE(warns(profile, "unknown-version"));
  EXPECT_TRUE(warns(profile, "extra-entries"));
  ASSERT_EQ(profile.launches.size(), 2U);  // the extra entry that is a result counts
  EXPECT_EQ(number(profile, 1, "gpu__time_duration.sum"), 99.0);
  EXPECT_EQ(profile.launches[1].ordinal, 1U);
}

TEST(NcuRep, LargeIntegersAreRoundedWithAWarning) {
  auto kernel = saxpy();
  kernel.metrics.push_back({"big__exact", std::uint64_t{1} << 60U});
  NcuRepWriter exact;
  exact.result(kernel);
  EXPECT_FALSE(warns(read(exact), "inexact-integers"));
  kernel.metrics.push_back({"big__odd", (std::uint64_t{1} << 60U) + 1});
  kernel.metrics.push_back({"big__all", ~std::uint64_t{0}});
  NcuRepWriter rounded;
  rounded.result(kernel);
  const auto profile = read(rounded);
  EXPECT_TRUE(warns(profile, "inexact-integers"));
  EXPECT_EQ(number(profile, 0, "big__odd"), 0x1p60);
  EXPECT_EQ(number(profile, 0, "big__all"), 0x1p64);
}

TEST(NcuRep, InvalidUtf8BecomesReplacementCharacters) {
  auto kernel = saxpy();
  kernel.demangled = "k\xC3\xA4se \xFF\xED\xA0\x80 \xF0\x9F\x98\x80";
  kernel.metrics.push_back({"odd__text", std::string("\xC0")});
  NcuRepWriter writer;
  writer.result(kernel);
  const auto profile = read(writer);
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(profile.launches[0].name, "k\xC3\xA4se " + bad + bad + bad + bad + " \xF0\x9F\x98\x80");
  EXPECT_EQ(text(profile, 0, "odd__text"), bad);
}

TEST(NcuRep, UnnamedResultsFallBackToWhatTheyHave) {
  NcuRepWriter writer;
  auto kernel = saxpy();
  kernel.demangled = "";
  writer.result(kernel);
  EXPECT_EQ(read(writer).launches[0].name, "saxpy");
}

TEST(NcuRep, ProgressEndsAtTheWhole) {
  auto options = keep_all();
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_LE(last, done);
    last = done;
    total = all;
  };
  const auto bytes = small_report().bytes();
  read_profile(bytes, "x", options);
  EXPECT_EQ(last, bytes.size());
  EXPECT_EQ(total, bytes.size());
}

// --- rules and section charts ---

TEST(NcuRepExtras, RulesAreReadOnDemand) {
  auto kernel = saxpy();
  kernel.rules = {{"SOLBottleneck", "Bottleneck", "SpeedOfLight", {{"Memory is busy", 2}, {"all fine", 1}}, 2, 12.5},
                  {"Empty", "Nothing", "Launch", {}, 0, 0}};
  NcuRepWriter writer;
  writer.result(saxpy()).result(kernel);
  const auto profile = read(writer);
  EXPECT_TRUE(rule_results(profile, profile.launches[0]).empty());
  const auto rules = rule_results(profile, profile.launches[1]);
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].rule, "SOLBottleneck");
  EXPECT_EQ(rules[0].section, "SpeedOfLight");
  ASSERT_EQ(rules[0].messages.size(), 2U);
  EXPECT_EQ(rules[0].messages[0].text, "Memory is busy");
  EXPECT_EQ(rules[0].messages[0].type, "warning");
  EXPECT_EQ(rules[0].messages[1].type, "ok");
  EXPECT_EQ(rules[0].speedup_type, "global");
  EXPECT_EQ(rules[0].speedup_percent, 12.5);
  EXPECT_EQ(rules[1].speedup_type, "");
}

ReportResult with_chart() {
  auto kernel = saxpy();
  kernel.metrics.push_back({"add.per_cycle", 10.0});
  kernel.metrics.push_back({"cycles.per_second", 1e9});
  kernel.metrics.push_back({"bytes.per_second", 5e11});
  kernel.metrics.push_back({"fma.per_cycle", 20.0});
  ReportSection section{.id = "Roofline", .title = "Roofline chart", .chart = "FP32"};
  section.roofs = {{"peak", {{"add.per_cycle", "derived__fma_x2"}, "cycles.per_second"}, {{"bytes.per_second"}, ""}}};
  section.points = {{"achieved", {{"absent.metric"}, "cycles.per_second"}, {{"bytes.per_second"}, ""}}};
  section.derived = {{"derived__fma_x2", "fma.per_cycle * 2"}};
  kernel.sections = {section};
  return kernel;
}

TEST(NcuRepExtras, SectionRooflinesAreEvaluated) {
  NcuRepWriter writer;
  writer.result(with_chart());
  const auto profile = read(writer);
  const auto lines = section_rooflines(profile, profile.launches[0]);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].section, "Roofline");
  EXPECT_EQ(lines[0].chart, "FP32");
  EXPECT_EQ(lines[0].label, "peak");
  EXPECT_TRUE(lines[0].roof);
  EXPECT_DOUBLE_EQ(lines[0].work, 50e9);
  EXPECT_DOUBLE_EQ(lines[0].traffic, 5e11);
  EXPECT_EQ(lines[0].work_expression, "(add.per_cycle + derived__fma_x2) * cycles.per_second");
  EXPECT_FALSE(lines[1].roof);
  EXPECT_TRUE(std::isnan(lines[1].work));
}

TEST(NcuRepExtras, StoredValuesWinOverFormulas) {
  auto kernel = with_chart();
  kernel.metrics.push_back({"derived__fma_x2", 41.0});
  NcuRepWriter writer;
  writer.result(kernel);
  const auto profile = read(writer);
  EXPECT_DOUBLE_EQ(section_rooflines(profile, profile.launches[0])[0].work, 51e9);
}

TEST(NcuRepExtras, FormulasInARingHaveNoValue) {
  auto kernel = with_chart();
  kernel.sections[0].derived = {{"derived__fma_x2", "derived__a + derived__a"}, {"derived__a", "derived__fma_x2 * 2"}};
  NcuRepWriter writer;
  writer.result(kernel);
  const auto profile = read(writer);
  EXPECT_TRUE(std::isnan(section_rooflines(profile, profile.launches[0])[0].work));
}

TEST(NcuRepExtras, OtherProfilesHaveNone) {
  const Profile profile;
  const Launch launch;
  EXPECT_TRUE(rule_results(profile, launch).empty());
  EXPECT_TRUE(section_rooflines(profile, launch).empty());
}

}  // namespace
}  // namespace roofline::testing
