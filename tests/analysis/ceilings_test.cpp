// Which roofs a row is placed under, and what is said of rows above them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/roofs.h"
#include "roofline/analysis.h"
#include "roofline/error.h"
#include "roofline/machines.h"
#include "roofline/metrics.h"

namespace roofline {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Quantity given(double value) { return Quantity::of(value, Evidence::given); }

// One row as a table or a model brings it.
Profile typed(const std::string& machine, double time_s, double bytes, const char* precision = nullptr,
              double flops = 0) {
  Profile p;
  p.path = "table.csv";
  p.format = "table";
  p.machine = machine;
  p.strings = std::make_shared<StringPool>();
  auto work = std::make_shared<Work>();
  work->time = given(time_s);
  auto& dram = work->level(MemoryLevel::dram);
  dram.total = given(bytes);
  dram.definition = "dram";
  if (precision != nullptr) work->operations.push_back({*parse_precision(precision), given(flops), std::nullopt});
  Launch l;
  l.name = p.strings->intern("row");
  l.time_basis = TimeBasis::given;
  l.given = std::move(work);
  p.launches.push_back(std::move(l));
  return p;
}

struct Counters {
  double gigabytes = 1;
  double memory_clock = 1.215e9;
  bool derived = false;
  std::vector<std::pair<const char*, double>> more = {};
};

// 1 ms on an A100 40 GB, 1.555 TB/s at 1.215 GHz.
Profile counted(const Counters& c, const std::string& device = "NVIDIA A100-SXM4-40GB") {
  Profile p;
  p.path = "a.ncu-rep";
  p.format = "ncu-rep";
  p.strings = std::make_shared<StringPool>();
  DeviceInfo info;
  info.name = device;
  info.compute_capability = "8.0";
  info.sm_count = 108;
  p.devices.push_back(info);
  Launch l;
  l.name = p.strings->intern("kernel");
  l.derived = c.derived;
  const auto set = [&](const char* metric, double value) {
    l.metrics.set(MetricCatalogue::instance().require(metric), value);
  };
  set("gpu__time_duration.sum", 1e6);
  set("dram__bytes.sum", c.gigabytes * 1e9);
  set("dram__bytes.sum.peak_sustained", 1280);
  set("sm__cycles_elapsed.avg.per_second", 1.41e9);
  set("dram__cycles_elapsed.avg.per_second", c.memory_clock);
  set("sm__throughput.avg.pct_of_peak_sustained_elapsed", 5);
  for (const auto& [metric, value] : c.more) set(metric, value);
  l.metrics.finish();
  p.launches.push_back(std::move(l));
  return p;
}

Report analyze_one(const Profile& profile, const AnalysisOptions& options = {}) {
  return analyze({&profile, 1}, options);
}

const Finding* above(const KernelRow& row) {
  for (const auto& f : row.findings)
    if (f.id.starts_with("above-roof-")) return &f;
  return nullptr;
}

const Finding& expect_above(const Report& report, const std::string& id) {
  static const Finding none{};
  const auto* f = above(report.rows.at(0));
  EXPECT_NE(f, nullptr) << id;
  if (f == nullptr) return none;
  EXPECT_EQ(f->id, id) << f->why;
  EXPECT_EQ(f->kind, "pitfall");
  EXPECT_FALSE(f->evidence.empty());
  EXPECT_FALSE(f->action.empty());
  return *f;
}

AnalysisOptions with(CeilingChoice choice) {
  AnalysisOptions options;
  options.ceiling = choice;
  return options;
}

// ---------------------------------------------------------------- above a roof

TEST(AboveRoof, NothingIsSaidBelowIt) {
  EXPECT_EQ(above(analyze_one(counted({1.5})).rows.at(0)), nullptr);
  EXPECT_EQ(above(analyze_one(typed("h100", 1e-3, 3.38e9)).rows.at(0)), nullptr);  // 101 %: rounding
}

TEST(AboveRoof, TypedBytesThatFitIntoL2BelongUnderTheRoofOfL2) {
  const auto report = analyze_one(typed("h100", 5e-6, 30e6));
  const auto& f = expect_above(report, "above-roof-cache");
  EXPECT_THAT(f.why, HasSubstr("fit into"));
  EXPECT_THAT(f.action, HasSubstr("The L2 roof applies: 59%"));
}

TEST(AboveRoof, TypedBytesThatFitNoCacheAreNotCacheResident) {
  expect_above(analyze_one(typed("h100", 1e-3, 6e9)), "above-roof-unexplained");
}

TEST(AboveRoof, TypedFlopsThatFitAnotherFormat) {
  // 1500 TFLOP/s of BF16 on an H100: 989 dense, 1979 in FP8 or with sparsity.
  const auto report = analyze_one(typed("h100", 1e-3, 1e6, "bf16.tensor", 1.5e12));
  const auto& f = expect_above(report, "above-roof-precision");
  EXPECT_THAT(f.why, HasSubstr("fp8.tensor (76%)"));
  EXPECT_THAT(f.why, HasSubstr("bf16.tensor.sparse (76%)"));
}

TEST(AboveRoof, ModestExcessWithoutAClockIsBoost) {
  // 247 of 209.5 TFLOP/s on an RTX 5090: boards run at 2.9 GHz, the datasheet assumes 2.4.
  const auto report = analyze_one(typed("rtx-5090", 1e-3, 1e6, "bf16.tensor", 0.247e12));
  const auto& f = expect_above(report, "above-roof-clock-unknown");
  EXPECT_THAT(f.action, HasSubstr("--clock"));
}

TEST(AboveRoof, ClockAboveTheRatedOneExplainsTheDatasheetsPlacement) {
  const auto report = analyze_one(counted({1.7, 1.4e9}));
  ASSERT_TRUE(report.rows.at(0).group.placement.fraction);
  EXPECT_LT(*report.rows.at(0).group.placement.fraction, 1);
  const auto& f = expect_above(report, "above-roof-clock");
  EXPECT_THAT(f.why, HasSubstr("1.40 GHz"));
  EXPECT_THAT(f.why, HasSubstr("95% of the roof"));
  expect_above(analyze_one(counted({1.7, 1.4e9}), with(CeilingChoice::datasheet)), "above-roof-clock");
}

TEST(AboveRoof, CountersAtTheRatedClockAreOfAnotherRun) {
  expect_above(analyze_one(counted({3})), "above-roof-unexplained");
  expect_above(analyze_one(counted({3, 1.215e9, true})), "above-roof-time");
}

// 3 GB in 1 ms of DRAM that moves 1.555: what L2 saw tells why.
TEST(AboveRoof, MoreDramThanL2BytesAreNotOfThisKernelAlone) {
  const auto report = analyze_one(counted({3, 1.215e9, false, {{"lts__t_bytes.sum", 2e9}}}));
  EXPECT_THAT(expect_above(report, "above-roof-bytes").why, HasSubstr("L2 only 2.00 GB"));
  expect_above(analyze_one(counted({3, 1.215e9, false, {{"lts__t_bytes.sum", 3.1e9}}})), "above-roof-unexplained");
}

TEST(AboveRoof, CountedDramBytesOfAKernelThatHitsL2FitIntoIt) {
  // 30 MB in 10 us: 3 TB/s, within the A100's 40 MB of L2, 90 % hits.
  const std::vector<std::pair<const char*, double>> hits = {{"gpu__time_duration.sum", 1e4},
                                                            {"lts__t_sector_hit_rate.pct", 90}};
  EXPECT_THAT(expect_above(analyze_one(counted({0.03, 1.215e9, false, hits})), "above-roof-cache").why,
              HasSubstr("L2 hits: 90%"));
  const std::vector<std::pair<const char*, double>> misses = {{"gpu__time_duration.sum", 1e4},
                                                              {"lts__t_sector_hit_rate.pct", 50}};
  expect_above(analyze_one(counted({0.03, 1.215e9, false, misses})), "above-roof-unexplained");
}

TEST(AboveRoof, BytesOfBothDirectionsOfALink) {
  auto profile = typed("h100", 1e-3, 1e6);
  auto work = *profile.launches.front().given;
  const auto with_link = [&](double bytes) {
    work.link.kind = "nvlink";
    work.link.bus_bytes = given(bytes);
    profile.launches.front().given = std::make_shared<Work>(work);
    return analyze_one(profile);
  };
  EXPECT_THAT(expect_above(with_link(0.8e9), "above-roof-direction").why, HasSubstr("one direction"));
  expect_above(with_link(1.2e9), "above-roof-unexplained");
  EXPECT_EQ(above(with_link(0.4e9).rows.at(0)), nullptr);
}

TEST(AboveRoof, MeasuredRoofIsNoLimit) {
  const auto report = analyze_one(typed("h100", 1e-3, 3.2e9), with(CeilingChoice::measured));
  EXPECT_EQ(report.rows.at(0).group.placement.ceiling, CeilingKind::measured);
  EXPECT_NEAR(*report.rows.at(0).group.placement.fraction, 3.2 / 2.905, 1e-9);
  EXPECT_THAT(expect_above(report, "above-roof-measured").why, HasSubstr("95% of the datasheet's"));
}

// ---------------------------------------------------------------- the choice

TEST(Ceilings, MeasuredOnlyWhereItIsKnown) {
  try {
    analyze_one(typed("h20", 1e-3, 1e9), with(CeilingChoice::measured));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("H20"));
  }
}

TEST(Ceilings, RowSaysWhatTheMeasuredCeilingLacks) {
  const auto report = analyze_one(typed("h100", 1e-3, 1e9, "fp32.vector", 1e9), with(CeilingChoice::measured));
  EXPECT_THAT(report.rows.at(0).group.placement.notes, Contains(HasSubstr("lacks fp32.vector")));
  // A measured matrix product, no bandwidth.
  const auto unplaced = analyze_one(typed("b200", 1e-3, 1e9), with(CeilingChoice::measured));
  EXPECT_FALSE(unplaced.rows.at(0).group.placement.fraction);
  EXPECT_THAT(unplaced.rows.at(0).group.placement.reason, HasSubstr("lacks DRAM bandwidth"));
}

TEST(Ceilings, ClocksAskedForScaleTheRoofs) {
  AnalysisOptions options;
  options.sm_clock_hz = 915e6;
  options.memory_clock_hz = 1309.5e6;
  const auto memory = analyze_one(typed("h100", 1e-3, 0.8e9), options);
  const auto& p = memory.rows.at(0).group.placement;
  EXPECT_EQ(p.ceiling, CeilingKind::at_clock);
  EXPECT_NEAR(*p.fraction, 0.8 / 1.676, 1e-3);
  const auto compute = analyze_one(typed("h100", 1e-3, 1e6, "bf16.tensor", 0.4e12), options);
  EXPECT_NEAR(*compute.rows.at(0).group.placement.fraction, 0.4 / 0.4947, 1e-3);
  EXPECT_EQ(compute.asked_sm_clock_hz, 915e6);
}

TEST(Ceilings, ClockAskedForReplacesTheOneOfTheRun) {
  AnalysisOptions options;
  options.memory_clock_hz = 1.215e9 / 2;
  EXPECT_NEAR(*analyze_one(counted({0.5}), options).rows.at(0).group.placement.fraction, 0.5 / 0.7776, 1e-3);
}

TEST(Ceilings, ClocksDoNotGoWithCeilingsThatHaveTheirOwn) {
  for (const auto choice : {CeilingChoice::datasheet, CeilingChoice::measured}) {
    auto options = with(choice);
    options.sm_clock_hz = 1e9;
    EXPECT_THROW(analyze_one(typed("h100", 1e-3, 1e9), options), UsageError);
  }
}

TEST(Ceilings, RegimeThatDependsOnTheClockIsAWarningOnTheRow) {
  AnalysisOptions options;
  options.sm_clock_hz = 495e6;  // a quarter
  const auto profile = typed("h100", 1e-3, 1e9, "fp32.vector", 10e9);
  const auto report = analyze_one(profile, options);
  EXPECT_EQ(report.rows.at(0).group.placement.regime, Regime::compute);
  EXPECT_EQ(report.rows.at(0).datasheet->regime, Regime::memory);
  ASSERT_THAT(report.warnings, Not(testing::IsEmpty()));
  EXPECT_EQ(report.warnings.back().code, "regime-depends-on-clock");
  EXPECT_EQ(report.warnings.back().kernel, 0U);
  EXPECT_THAT(report.warnings.back().message, HasSubstr("495 of 1980 MHz"));
  for (const auto& w : analyze_one(profile).warnings) EXPECT_NE(w.code, "regime-depends-on-clock");
}

// A CPU as `machine measure` describes it: nobody's datasheet, but ceilings of its own.
Machine measured_cpu() {
  Machine m;
  m.id = "my-cpu";
  m.name = "My CPU";
  m.ceilings.push_back({});
  Ceiling measured;
  measured.kind = CeilingKind::measured;
  measured.sm_clock_hz = 3e9;
  measured.peaks.push_back({*parse_precision("fp64.vector"), 100e9, "measured", 3e9});
  measured.bandwidths.push_back({MemoryLevel::dram, "dram", 50e9, "measured"});
  m.ceilings.push_back(std::move(measured));
  return m;
}

TEST(Ceilings, AMachineThatWasOnlyMeasuredIsUsedAsSuch) {
  const auto cpu = measured_cpu();
  EXPECT_TRUE(only_measured(cpu));
  EXPECT_FALSE(only_measured(*MachineCatalogue::instance().find("h100")));  // which was measured as well
  const auto profile = typed("my-cpu", 1e-3, 25e6, "fp64.vector", 1e6);
  const auto& launch = profile.launches.front();
  const auto roofs = choose_roofs(launch, *launch.given, {}, &cpu, {});
  EXPECT_EQ(roofs.used.kind, CeilingKind::measured);
  EXPECT_DOUBLE_EQ(*roofs.used.bandwidth(MemoryLevel::dram, "dram"), 50e9);
  EXPECT_EQ(roofs.datasheet, nullptr);
  EXPECT_TRUE(choose_roofs(launch, *launch.given, {}, &cpu, with(CeilingChoice::datasheet)).used.peaks.empty());
}

TEST(Ceilings, AMachineWithADatasheetIsNotMeasuredUnlessAsked) {
  const auto* h100 = MachineCatalogue::instance().find("h100");
  const auto profile = typed("h100", 1e-3, 1e9);
  const auto& launch = profile.launches.front();
  EXPECT_EQ(choose_roofs(launch, *launch.given, {}, h100, {}).used.kind, CeilingKind::datasheet);
  EXPECT_EQ(choose_roofs(launch, *launch.given, {}, h100, with(CeilingChoice::measured)).used.kind,
            CeilingKind::measured);
}

#ifdef ROOFLINE_TOML

TEST(Ceilings, AutomaticSaysThatAMachineWasOnlyMeasured) {
  const std::vector<MachineFile> files = {
      {"cpu.toml",
       "id = \"only-measured-cpu\"\nkind = \"cpu\"\nvendor = \"Acme\"\nname = \"Acme CPU\"\n"
       "dram_measured = \"50 GB/s\"\nl2_measured = \"200 GB/s\"\n\"fp64.vector_measured\" = \"100 GFLOP/s\"\n"}};
  MachineCatalogue::add_to_instance(files);
  const auto profile = typed("only-measured-cpu", 1e-3, 25e6, "fp64.vector", 1e6);
  const auto report = analyze_one(profile);
  const auto& placement = report.rows.at(0).group.placement;
  EXPECT_EQ(placement.ceiling, CeilingKind::measured);
  EXPECT_NEAR(*placement.fraction, 0.5, 1e-9);
  EXPECT_FALSE(report.rows.at(0).datasheet);
  ASSERT_THAT(report.warnings, Not(testing::IsEmpty()));
  EXPECT_EQ(report.warnings.back().code, "only-measured");
  EXPECT_THAT(report.warnings.back().message, HasSubstr("only-measured-cpu"));
  for (const auto& w : analyze_one(profile, with(CeilingChoice::measured)).warnings) EXPECT_NE(w.code, "only-measured");
  EXPECT_THROW(analyze_one(profile, with(CeilingChoice::datasheet)), UsageError);
  AnalysisOptions clocks;
  clocks.sm_clock_hz = 1e9;
  EXPECT_THROW(analyze_one(profile, clocks), UsageError);
}

#endif

// A launch of which the profiler says percentages alone.
Profile percent_only(const std::vector<std::pair<const char*, double>>& metrics) {
  auto profile = counted({});
  auto& launch = profile.launches.front();
  launch.metrics = {};
  for (const auto& [metric, value] : metrics) launch.metrics.set(MetricCatalogue::instance().require(metric), value);
  launch.metrics.finish();
  return profile;
}

// The profiler's percentage is of the peak at its clock; the datasheet's placement stands beside it all the same.
TEST(Ceilings, PercentAloneHasADatasheetPlacementToo) {
  const auto profile = percent_only({{"gpu__time_duration.sum", 1e6},
                                     {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 80},
                                     {"dram__bytes.sum.peak_sustained", 1280},
                                     {"sm__cycles_elapsed.avg.per_second", 1.1e9},
                                     {"dram__cycles_elapsed.avg.per_second", 1.215e9 / 2}});
  const auto report = analyze_one(profile);
  const auto& row = report.rows.at(0);
  EXPECT_NEAR(*row.group.placement.fraction, 0.8, 1e-9);
  ASSERT_TRUE(row.datasheet && row.datasheet->fraction);
  EXPECT_NEAR(*row.datasheet->fraction, 0.4, 1e-3);
}

// A percentage is of the peak at the clock of the run. Another clock changes the fraction, never the datasheet's.
TEST(Ceilings, PercentFollowsTheClockAskedFor) {
  const auto profile = percent_only({{"gpu__time_duration.sum", 1e6},
                                     {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 40},
                                     {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 20},
                                     {"dram__bytes.sum.peak_sustained", 1280},
                                     {"sm__cycles_elapsed.avg.per_second", 1.41e9},
                                     {"dram__cycles_elapsed.avg.per_second", 1.215e9}});
  const auto fraction = [&](const AnalysisOptions& options) {
    const auto report = analyze_one(profile, options);
    EXPECT_NEAR(report.rows.at(0).datasheet->fraction.value_or(0), 0.4, 1e-3);
    return report.rows.at(0).group.placement.fraction.value_or(0);
  };
  EXPECT_NEAR(fraction({}), 0.4, 1e-9);
  AnalysisOptions half;
  half.memory_clock_hz = 1.215e9 / 2;
  EXPECT_NEAR(fraction(half), 0.8, 1e-3);
  EXPECT_NEAR(fraction(with(CeilingChoice::datasheet)), 0.4, 1e-3);
  AnalysisOptions slow_sm;
  slow_sm.sm_clock_hz = 0.705e9;
  const auto report = analyze_one(profile, slow_sm);
  const auto& p = report.rows.at(0).group.placement;
  EXPECT_NEAR(p.fraction_upper.value_or(0), 0.4, 1e-3);  // the SMs: 20 % at twice the clock
}

// A slice of the GPU has its share of the datasheet's compute.
TEST(Ceilings, PartOfTheSmsHasPartOfTheDatasheet) {
  const auto placed = [](double sms) {
    std::vector<std::pair<const char*, double>> more = {{"launch__sm_count", sms}};
    for (const auto* op : {"fadd", "fmul", "ffma"})
      more.emplace_back(op == std::string("fadd")   ? "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
                        : op == std::string("fmul") ? "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"
                                                    : "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                        op == std::string("ffma") ? 1e9 : 0);
    return analyze_one(counted({0.01, 1.215e9, false, more})).rows.at(0);
  };
  const auto fraction = [](const KernelRow& row) { return row.datasheet->resource("fp32.vector")->fraction; };
  EXPECT_NEAR(fraction(placed(108)), 2e9 / 19.5e9, 1e-4);
  EXPECT_NEAR(fraction(placed(27)), 4 * fraction(placed(108)), 1e-9);
}

TEST(Ceilings, UnknownGpuHasTheRoofsOfItsReport) {
  const auto report = analyze_one(counted({1}, "NVIDIA Imaginary 1"));
  EXPECT_NEAR(*report.rows.at(0).group.placement.fraction, 1 / 1.5552, 1e-3);
  EXPECT_THAT(report.warnings, Contains(testing::Field(&ReportWarning::message, HasSubstr("roofline machine add"))));
  EXPECT_THAT(analyze_one(counted({1})).warnings,
              Not(Contains(testing::Field(&ReportWarning::code, std::string("unknown-gpu")))));
}

}  // namespace
}  // namespace roofline
