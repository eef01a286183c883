#include "roofline/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/error.h"
#include "roofline/metrics.h"

namespace roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A profile of launches on an A100, each with the metrics a test gives it.
class ProfileBuilder {
 public:
  explicit ProfileBuilder(const std::string& device = "NVIDIA A100-SXM4-40GB") {
    profile_.path = "a.ncu-rep";
    profile_.format = "ncu-rep";
    profile_.strings = std::make_shared<StringPool>();
    DeviceInfo info;
    info.name = device;
    info.compute_capability = device.empty() ? "" : "8.0";
    profile_.devices.push_back(info);
  }

  // 1 ms at 1.41 GHz and 1.215 GHz memory clock, `gigabytes` of DRAM traffic, no operations on an idle SM.
  ProfileBuilder& launch(const char* name, double gigabytes, double ms = 1, Dim3 grid = {4096, 1, 1}) {
    Launch l;
    l.name = profile_.strings->intern(name);
    l.grid = grid;
    l.block = {256, 1, 1};
    l.ordinal = profile_.launches.size();
    l.time_basis = TimeBasis::profiled_locked;
    set(l, "gpu__time_duration.sum", ms * 1e6);
    set(l, "dram__bytes.sum", gigabytes * 1e9);
    set(l, "sm__cycles_elapsed.avg.per_second", 1.41e9);
    set(l, "dram__cycles_elapsed.avg.per_second", 1.215e9);
    set(l, "sm__throughput.avg.pct_of_peak_sustained_elapsed", 5);
    l.metrics.finish();
    profile_.launches.push_back(std::move(l));
    return *this;
  }
  static void set(Launch& l, const char* metric, double value) {
    l.metrics.set(MetricCatalogue::instance().require(metric), value);
  }
  Profile& get() { return profile_; }

 private:
  Profile profile_;
};

Report analyze_one(ProfileBuilder& builder, const AnalysisOptions& options = {}) {
  return analyze({&builder.get(), 1}, options);
}

TEST(Analyze, NothingGivesAnEmptyReport) {
  const auto report = analyze({}, {});
  EXPECT_TRUE(report.rows.empty());
  EXPECT_FALSE(report.total.fraction);
}

TEST(Analyze, LaunchesOfOneKernelAndShapeAreOneRow) {
  ProfileBuilder b;
  b.launch("void copy<float>(float *)", 1.0).launch("void copy<float>(float *)", 1.0);
  b.launch("void copy<double>(double *)", 1.0).launch("void copy<float>(float *)", 1.0, 1, {8, 1, 1});
  const auto report = analyze_one(b);
  ASSERT_THAT(report.rows, SizeIs(3));
  EXPECT_EQ(report.rows[0].name, "copy");
  EXPECT_THAT(report.rows[0].launch_ids, ElementsAre(0, 1));
  EXPECT_EQ(report.rows[0].group.work.launches, 2);
  EXPECT_NEAR(report.rows[0].time_share, 0.5, 1e-12);
  AnalysisOptions per_launch;
  per_launch.per_launch = true;
  EXPECT_THAT(analyze_one(b, per_launch).rows, SizeIs(4));
}

TEST(Analyze, PlacesUnderTheClockOfTheRunAndTheDatasheet) {
  ProfileBuilder b;
  b.launch("copy", 1.3);
  const auto report = analyze_one(b);
  const auto& row = report.rows.at(0);
  EXPECT_EQ(row.group.placement.ceiling, CeilingKind::at_clock);
  EXPECT_NEAR(*row.group.placement.fraction, 1.3e12 / (1280 * 1.215e9), 1e-3);
  ASSERT_TRUE(row.datasheet);
  EXPECT_EQ(row.datasheet->ceiling, CeilingKind::datasheet);
  ASSERT_TRUE(row.machine);
  const auto& machine = report.machines.at(*row.machine);
  EXPECT_EQ(machine.id, "a100-sxm4-40");
  EXPECT_NE(machine.ceiling(CeilingKind::at_clock), nullptr);
  AnalysisOptions datasheet;
  datasheet.ceiling = CeilingChoice::datasheet;
  EXPECT_EQ(analyze_one(b, datasheet).rows[0].group.placement.ceiling, CeilingKind::datasheet);
}

TEST(Analyze, AnUnknownMachineIsAUsageErrorWithHelp) {
  ProfileBuilder b;
  b.launch("copy", 1);
  AnalysisOptions options;
  options.machine = "h10";
  try {
    analyze_one(b, options);
    FAIL() << "no error";
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(), HasSubstr("h10"));
    EXPECT_THAT(e.what(), HasSubstr("h100"));
  }
}

TEST(Analyze, AnotherGpuThanTheMeasuredOneIsRefused) {
  ProfileBuilder b;
  b.launch("copy", 1);
  AnalysisOptions options;
  options.machine = "h100-sxm5-80";
  EXPECT_THROW(analyze_one(b, options), UsageError);
  options.machine = "a100-sxm4-40";
  EXPECT_NO_THROW(analyze_one(b, options));
}

TEST(Analyze, TheMachineOptionCompletesAnOldExport) {
  ProfileBuilder b("");  // neither name nor compute capability
  b.launch("copy", 0.7);
  EXPECT_FALSE(analyze_one(b).rows[0].group.placement.placed());
  AnalysisOptions options;
  options.machine = "v100-sxm2-16";
  const auto report = analyze_one(b, options);
  EXPECT_TRUE(report.rows[0].group.placement.placed());
}

TEST(Analyze, FiltersByExpressionAsTheProfilerDoes) {
  ProfileBuilder b;
  b.launch("void copy<float>(float *)", 1).launch("gemm", 1);
  AnalysisOptions options;
  options.filter = "regex:^void copy";
  EXPECT_THAT(analyze_one(b, options).rows, SizeIs(1));
  options.filter = "nothing like it";
  EXPECT_TRUE(analyze_one(b, options).rows.empty());
  options.filter = "(";
  EXPECT_THROW(analyze_one(b, options), UsageError);
  // A hostile name and a greedy expression stay linear.
  ProfileBuilder hostile;
  hostile.launch(std::string(100000, 'a').c_str(), 1);
  options.filter = "(a*)*b";
  EXPECT_TRUE(analyze_one(hostile, options).rows.empty());
}

TEST(Analyze, FailedLaunchesAreCountedAndLeftOut) {
  ProfileBuilder b;
  b.launch("copy", 1).launch("copy", 1);
  b.get().launches[1].failed = true;
  const auto report = analyze_one(b);
  EXPECT_EQ(report.failed_launches, 1U);
  EXPECT_EQ(report.rows[0].group.work.launches, 1);
  b.get().launches[0].failed = true;
  const auto none = analyze_one(b);
  EXPECT_FALSE(none.rows[0].group.placement.placed());
  EXPECT_THAT(none.rows[0].group.placement.reason, HasSubstr("failed"));
}

TEST(Analyze, SaysWhatIsMissingAndHowToCollectIt) {
  ProfileBuilder b;
  Launch l;
  l.name = l.function = b.get().strings->intern("gemm");
  ProfileBuilder::set(l, "gpu__time_duration.sum", 1e6);
  ProfileBuilder::set(l, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 85);
  ProfileBuilder::set(l, "sm__throughput.avg.pct_of_peak_sustained_elapsed", 20);
  l.metrics.finish();
  b.get().launches.push_back(std::move(l));
  const auto report = analyze_one(b);
  const auto& row = report.rows.at(0);
  EXPECT_EQ(row.group.placement.position, Position::memory_optimal);
  EXPECT_EQ(row.group.placement.tier, Tier::percent);
  ASSERT_THAT(row.missing, SizeIs(2));
  EXPECT_EQ(row.missing[0].quantity, "dram");
  EXPECT_EQ(row.missing[1].quantity, "flops");
  EXPECT_THAT(row.missing[0].collect, HasSubstr("ncu --metrics "));
  EXPECT_THAT(row.missing[0].collect, HasSubstr("dram__bytes"));
}

TEST(Analyze, WarningsOfAFileFindTheirRow) {
  ProfileBuilder b;
  b.launch("a", 1).launch("b", 1);
  b.get().warnings.push_back({"contradiction", "row 2 contradicts itself", 1});
  const auto report = analyze_one(b);
  ASSERT_THAT(report.warnings, SizeIs(1));
  EXPECT_EQ(report.warnings[0].kernel, 1U);
}

TEST(Analyze, SeveralFilesKeepTheirOrigin) {
  ProfileBuilder a, b;
  a.launch("copy", 1);
  b.launch("copy", 1);
  b.get().path = "b.ncu-rep";
  const std::vector<Profile> profiles = {a.get(), b.get()};
  const auto report = analyze(profiles, {});
  ASSERT_THAT(report.rows, SizeIs(2));
  EXPECT_EQ(report.rows[0].input, 0U);
  EXPECT_EQ(report.rows[1].input, 1U);
  EXPECT_THAT(report.machines, SizeIs(1));
}

TEST(Analyze, LinesOfATypedTableStayApart) {
  ProfileBuilder b;
  auto work = std::make_shared<Work>();
  work->time = Quantity::of(1e-3, Evidence::given);
  work->level(MemoryLevel::dram).total = Quantity::of(1e9, Evidence::given);
  for (int i = 0; i < 2; ++i) {
    Launch l;
    l.name = b.get().strings->intern("qkv_proj GEMM");
    l.given = work;
    l.ordinal = static_cast<std::uint64_t>(i);
    b.get().launches.push_back(l);
  }
  const auto report = analyze_one(b);
  ASSERT_THAT(report.rows, SizeIs(2));
  EXPECT_EQ(report.rows[0].name, "qkv_proj GEMM");
  EXPECT_EQ(report.rows[0].group.placement.tier, Tier::given);
}

TEST(Analyze, RunsOfOneFileAreRowsOfTheirOwn) {
  ProfileBuilder b;
  b.launch("k", 1).launch("k", 1).launch("k", 1);
  b.get().launches[2].run = 1;
  const auto report = analyze_one(b);
  ASSERT_THAT(report.rows, SizeIs(2));
  EXPECT_THAT(report.rows[0].launch_ids, ElementsAre(0, 1));
  EXPECT_THAT(report.rows[1].launch_ids, ElementsAre(2));
}

TEST(Analyze, JoinedFilesAreAnInputEach) {
  ProfileBuilder joined;
  joined.launch("k", 1);
  joined.get().path = "a + b";
  joined.get().merged_paths = {"a", "b"};
  ProfileBuilder other;
  other.launch("l", 1);
  other.get().warnings.push_back({"w", "about l", 0});
  const std::vector<Profile> profiles = {joined.get(), other.get()};
  const auto report = analyze(profiles, {});
  ASSERT_THAT(report.inputs, SizeIs(3));
  EXPECT_EQ(report.inputs[1].path, "b");
  EXPECT_EQ(report.inputs[1].format, "ncu-rep");
  EXPECT_EQ(report.rows[0].input, 0U);
  EXPECT_EQ(report.rows[1].input, 2U);
  for (const auto& w : report.warnings) {
    if (w.code == "w") {
      EXPECT_EQ(w.kernel, report.rows[1].id);
    }
  }
}

}  // namespace
}  // namespace roofline
