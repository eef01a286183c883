#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "roofline/metrics.h"
#include "roofline/profile.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Metrics = std::vector<std::pair<std::string, double>>;

constexpr const char* kCycles = "sm__cycles_elapsed.avg";
constexpr const char* kClock = "sm__cycles_elapsed.avg.per_second";
constexpr const char* kDram = "dram__bytes.sum";
constexpr const char* kFfma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
constexpr const char* kFfmaRate = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed";
constexpr const char* kDramShare = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";

// A profile as readers build it. Metrics that nobody declared get ids of the profile's own.
class Builder {
 public:
  explicit Builder(std::string path) {
    profile_.path = std::move(path);
    profile_.format = "ncu-csv";
    profile_.strings = std::make_shared<StringPool>();
    profile_.devices.push_back({});
  }
  Launch& add(const std::string& name, const Metrics& metrics, Dim3 grid = {8, 1, 1}) {
    Launch launch;
    launch.name = profile_.strings->intern(name);
    launch.grid = grid;
    launch.block = {128, 1, 1};
    launch.stream = 7;
    launch.ordinal = profile_.launches.size();
    launch.process = next_process++;
    for (const auto& [metric, value] : metrics) launch.metrics.set(id(metric), value);
    launch.metrics.finish();
    return profile_.launches.emplace_back(std::move(launch));
  }
  Profile build() {
    profile_.extra_metrics = std::make_shared<const std::vector<std::string>>(extra_);
    return profile_;
  }

 private:
  MetricId id(const std::string& name) {
    if (const auto known = MetricCatalogue::instance().find(name)) return *known;
    extra_.push_back(name);
    return static_cast<MetricId>(MetricCatalogue::instance().size() + extra_.size() - 1);
  }

  inline static std::uint64_t next_process = 100;
  Profile profile_;
  std::vector<std::string> extra_;
};

std::optional<double> value(const Profile& profile, std::size_t launch, const std::string& name) {
  for (const auto& [id, v] : profile.launches.at(launch).metrics.values()) {
    if (profile.metric_name(id) == name) return v;
  }
  return std::nullopt;
}

bool warned(const Profile& profile, const std::string& code) {
  for (const auto& w : profile.warnings) {
    if (w.code == code) return true;
  }
  return false;
}

Profile merge(std::vector<Profile> profiles, MergeMode mode = MergeMode::launch_by_launch) {
  return merge_profiles(profiles, mode);
}

std::string refusal(std::vector<Profile> profiles) {
  try {
    merge_profiles(profiles, MergeMode::launch_by_launch);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

Profile bytes_run(double cycles = 1.2e6) {
  Builder b("bytes.csv");
  b.add("k", {{kDram, 691e6}, {kCycles, cycles}, {kClock, 1.31e9}, {"mine.sum", 1}});
  b.add("l", {{kDram, 892e6}, {kCycles, cycles}, {kClock, 1.31e9}});
  return b.build();
}

Profile flops_run(double cycles = 180e6) {
  Builder b("flops.csv");
  b.add("k", {{"yours.sum", 3}, {"mine.sum", 1}, {kFfma, 137e6}, {kCycles, cycles}, {kClock, 1.312e9}});
  b.add("l", {{kFfma, 27e6}, {kCycles, cycles}, {kClock, 1.312e9}});
  return b.build();
}

TEST(Merge, TakesTimeFromTheRunThatIsNotSlowedDown) {
  for (const bool slow_first : {false, true}) {
    const auto m = slow_first ? merge({flops_run(), bytes_run()}) : merge({bytes_run(), flops_run()});
    ASSERT_THAT(m.launches, SizeIs(2));
    EXPECT_EQ(value(m, 0, kDram), 691e6);
    EXPECT_EQ(value(m, 0, kFfma), 137e6);
    EXPECT_EQ(value(m, 0, kCycles), 1.2e6);
    EXPECT_EQ(value(m, 0, kClock), 1.31e9);
    EXPECT_EQ(value(m, 1, kFfma), 27e6);
    EXPECT_TRUE(warned(m, "merge-slow-run"));
    EXPECT_FALSE(warned(m, "merge-slow-time"));
    EXPECT_FALSE(m.launches[0].derived);
    EXPECT_EQ(m.path, slow_first ? "flops.csv + bytes.csv" : "bytes.csv + flops.csv");
  }
}

TEST(Merge, KeepsMetricsOfTheirOwnApart) {
  const auto m = merge({bytes_run(), flops_run()});
  EXPECT_EQ(value(m, 0, "mine.sum"), 1);
  EXPECT_EQ(value(m, 0, "yours.sum"), 3);
}

TEST(Merge, OnlyTimeIsUsedEvenIfSlow) {
  Builder b("bytes.csv");
  b.add("k", {{kDram, 691e6}});
  b.add("l", {{kDram, 892e6}});
  const auto m = merge({b.build(), flops_run()});
  EXPECT_EQ(value(m, 0, kCycles), 180e6);
  EXPECT_TRUE(warned(m, "merge-slow-time"));
}

TEST(Merge, RatesOfASlowedRunKeepTheirCount) {
  Builder fast("fast.csv");
  fast.add("k", {{kCycles, 1e6}});
  Builder slow("slow.csv");
  slow.add("k", {{kCycles, 100e6}, {kFfmaRate, 2.0}, {kDramShare, 0.5}});
  const auto m = merge({slow.build(), fast.build()});
  EXPECT_EQ(value(m, 0, kFfmaRate), 200.0);
  EXPECT_EQ(value(m, 0, kDramShare), std::nullopt);  // a share of the slowed run's time
}

TEST(Merge, NamesTheFirstMismatch) {
  const auto with = [](const auto& change) {
    Builder b("other.csv");
    b.add("k", {{kFfma, 1}});
    change(b.add("l", {{kFfma, 1}}));
    return b.build();
  };
  EXPECT_EQ(refusal({bytes_run(), with([](Launch&) {})}), "");
  EXPECT_EQ(refusal({bytes_run(), with([](Launch& l) {
                       l.process = 9;
                       l.context = 4;
                     })}),
            "");
  EXPECT_THAT(refusal({bytes_run(), with([](Launch& l) { l.stream = 13; })}),
              AllOf(HasSubstr("other.csv"), HasSubstr("launch 1"), HasSubstr("stream 13"), HasSubstr("expected 7")));
  EXPECT_THAT(refusal({bytes_run(), with([](Launch& l) {
                         l.grid = {4, 2, 1};
                       })}),
              AllOf(HasSubstr("grid 4x2x1"), HasSubstr("8x1x1 as in bytes.csv")));
  EXPECT_THAT(refusal({bytes_run(), with([](Launch& l) { l.block = {}; })}), HasSubstr("block unknown"));
  EXPECT_THAT(refusal({bytes_run(), with([](Launch& l) { l.name = "m"; })}), HasSubstr("name m; expected l"));
  EXPECT_THAT(refusal({bytes_run(), with([](Launch& l) { l.ordinal = 5; })}), HasSubstr("ordinal 5"));
  EXPECT_THAT(refusal({bytes_run(), with([](Launch& l) { l.device = 3; })}), HasSubstr("device 3"));
  Builder fewer("fewer.csv");
  fewer.add("k", {});
  EXPECT_THAT(refusal({bytes_run(), fewer.build()}), AllOf(HasSubstr("1 launch;"), HasSubstr("expected 2")));
}

TEST(Merge, QuantitiesInBothMustAgreeWithinFivePercent) {
  const auto with = [](double bytes, double cycles) {
    Builder b("again.csv");
    b.add("k", {{kDram, bytes}, {kCycles, cycles}});
    b.add("l", {{kDram, 892e6}, {kCycles, 1.2e6}});
    return b.build();
  };
  EXPECT_EQ(refusal({bytes_run(), with(691e6 * 1.04, 9e6)}), "");  // time may differ
  EXPECT_EQ(value(merge({bytes_run(), with(691e6 * 1.04, 9e6)}), 0, kDram), 691e6);
  EXPECT_THAT(refusal({bytes_run(), with(691e6 * 1.07, 1.2e6)}),
              AllOf(HasSubstr("launch 0 (k)"), HasSubstr(kDram), HasSubstr("within 5 %"), HasSubstr("bytes.csv")));
  EXPECT_THAT(refusal({bytes_run(), with(0, 1.2e6)}), HasSubstr(kDram));
}

TEST(Merge, ByShapeJoinsMedians) {
  Builder bytes("bytes.csv");
  for (const double b : {100e6, 300e6, 200e6}) bytes.add("k", {{kDram, b}, {kCycles, b / 100}});
  bytes.add("k", {{kDram, 7e6}, {kCycles, 1}}, {1, 1, 1});
  Builder flops("flops.csv");
  for (const double f : {1e6, 2e6, 3e6, 4e6}) flops.add("k", {{kFfma, f}, {kCycles, 5e8}});
  EXPECT_THAT(refusal({bytes.build(), flops.build()}), HasSubstr("--merge=by-shape"));
  const auto m = merge({bytes.build(), flops.build()}, MergeMode::by_shape);
  ASSERT_THAT(m.launches, SizeIs(2));
  EXPECT_EQ(value(m, 0, kDram), 200e6);
  EXPECT_EQ(value(m, 0, kFfma), 2.5e6);
  EXPECT_EQ(value(m, 0, kCycles), 2e6);
  EXPECT_EQ(m.launches[0].count, 3U);  // of the run that gives the time
  EXPECT_TRUE(m.launches[0].derived);
  EXPECT_EQ(value(m, 1, kDram), 7e6);
  EXPECT_EQ(value(m, 1, kFfma), std::nullopt);
  EXPECT_TRUE(warned(m, "merge-missing-shape"));
  EXPECT_TRUE(warned(m, "merge-by-shape"));
}

TEST(Merge, ByShapeSaysWhenMediansDisagree) {
  Builder a("a.csv");
  a.add("k", {{kDram, 100e6}});
  Builder b("b.csv");
  b.add("k", {{kDram, 200e6}});
  EXPECT_TRUE(warned(merge({a.build(), b.build()}, MergeMode::by_shape), "merge-spread"));
}

TEST(Merge, FailedLaunchesGiveNothing) {
  auto flops = flops_run();
  flops.launches[0].failed = true;
  const auto m = merge({bytes_run(), flops});
  EXPECT_FALSE(m.launches[0].failed);
  EXPECT_EQ(value(m, 0, kFfma), std::nullopt);
  EXPECT_TRUE(warned(m, "merge-failed-launch"));
  auto bytes = bytes_run();
  bytes.launches[0].failed = true;
  EXPECT_TRUE(merge({bytes, flops}).launches[0].failed);
}

TEST(Merge, OutlivesItsParts) {
  Profile m;
  {
    std::vector<Profile> parts = {bytes_run(), flops_run()};
    m = merge_profiles(parts, MergeMode::launch_by_launch);
  }
  EXPECT_EQ(m.launches[1].name, "l");
}

TEST(Merge, OneRunAloneAndTablesAreRefused) {
  EXPECT_THROW(merge({bytes_run()}), UsageError);
  EXPECT_THAT(merge({bytes_run()}, MergeMode::by_shape).launches, SizeIs(2));
  EXPECT_THROW(merge({}), UsageError);
  auto table = bytes_run();
  table.launches[0].given = std::make_shared<const Work>();
  EXPECT_THAT(refusal({bytes_run(), table}), HasSubstr("without --merge"));
}

// Both runs in one profile, as a file that was joined by hand gives them.
Profile two_runs() {
  auto file = bytes_run();
  auto second = flops_run();
  file.path = "both.csv";
  std::vector<std::string> names;
  for (const auto* extra : {&file.extra_metrics, &second.extra_metrics})
    names.insert(names.end(), (*extra)->begin(), (*extra)->end());
  const auto first_of_second = static_cast<MetricId>((*file.extra_metrics).size());
  for (const auto& from : second.launches) {
    auto launch = from;
    launch.metrics = MetricSet();
    for (const auto& [id, v] : from.metrics.values()) {
      const bool own = id >= MetricCatalogue::instance().size();
      launch.metrics.set(own ? static_cast<MetricId>(id + first_of_second) : id, v);
    }
    launch.metrics.finish();
    launch.name = file.strings->intern(from.name);
    launch.ordinal = file.launches.size();
    launch.run = 1;
    file.launches.push_back(std::move(launch));
  }
  file.extra_metrics = std::make_shared<const std::vector<std::string>>(std::move(names));
  file.warnings = {
      {"several-runs", "2 runs", std::nullopt}, {"about-file", "x", std::nullopt}, {"about-launch", "y", 3}};
  return file;
}

TEST(Merge, RunsOfOneFileJoin) {
  const auto m = merge({two_runs()});
  ASSERT_THAT(m.launches, SizeIs(2));
  EXPECT_EQ(value(m, 0, kDram), 691e6);
  EXPECT_EQ(value(m, 0, kFfma), 137e6);
  EXPECT_EQ(value(m, 1, kFfma), 27e6);
  EXPECT_EQ(value(m, 0, kCycles), 1.2e6);
  EXPECT_EQ(value(m, 0, "yours.sum"), 3);
  EXPECT_EQ(m.launches[1].run, 0U);
  EXPECT_EQ(m.launches[1].ordinal, 1U);
  EXPECT_EQ(m.path, "both.csv");
  EXPECT_THAT(m.merged_paths, ElementsAre("both.csv"));
  EXPECT_FALSE(warned(m, "several-runs"));  // settled
  EXPECT_TRUE(warned(m, "about-file"));
  for (const auto& w : m.warnings) {
    if (w.code == "about-launch") {
      EXPECT_EQ(w.launch, 1U);  // the second launch of its run
    }
  }
  EXPECT_TRUE(warned(m, "about-launch"));
  EXPECT_THAT(merge({two_runs()}, MergeMode::by_shape).launches, SizeIs(2));
}

TEST(Merge, RunsOfOneFileThatDoNotMatchAreNamed) {
  auto file = two_runs();
  file.launches[3].grid = {9, 1, 1};
  EXPECT_THAT(refusal({file}), AllOf(HasSubstr("both.csv (run 2)"), HasSubstr("both.csv (run 1)"), HasSubstr("9x1x1")));
  file.launches.pop_back();
  EXPECT_THAT(refusal({file}), AllOf(HasSubstr("1 launch"), HasSubstr("both.csv (run 2)")));
}

TEST(Merge, FilesWithOneAndWithSeveralRunsJoin) {
  const auto m = merge({bytes_run(), two_runs()});
  EXPECT_THAT(m.launches, SizeIs(2));
  EXPECT_TRUE(m.merged());
  EXPECT_THAT(m.merged_paths, ElementsAre("bytes.csv", "both.csv"));
  EXPECT_FALSE(bytes_run().merged());
}

// --- real runs ---

std::vector<Profile> open(const std::vector<std::string>& names) {
  std::vector<Profile> profiles;
  for (const auto& name : names) profiles.push_back(open_profile(testing::shared_path(name).string()));
  return profiles;
}

// Profiled once for bytes and once for FLOPs; the second one ran 148 times longer.
TEST(Merge, GeneRunsJoin) {
  const std::string base = "data/ncu-csv/wdmapp__gene-paper-artifacts-pop2020__";
  ROOFLINE_NEEDS_SHARED(base + "dram_ncuroof-time-0.csv");
  const auto m = merge(open({base + "dram_ncuroof-time-0.csv", base + "flops_ncuroof-time-0.csv"}));
  ASSERT_THAT(m.launches, SizeIs(8));
  EXPECT_EQ(value(m, 0, kDram), 690974304);
  EXPECT_EQ(value(m, 0, kCycles), 1209826.20);
  const std::string dfma = "sm__sass_thread_inst_executed_op_dfma_pred_on.sum";
  EXPECT_EQ(value(m, 0, dfma), 137625600);
  EXPECT_EQ(value(m, 1, dfma), 27525120);
  EXPECT_TRUE(warned(m, "merge-slow-run"));
}

// One file with the run that counted bytes and the one that counted FLOPs, one below the other.
TEST(Merge, GeneRunsOfOneFileJoin) {
  const std::string base = "data/ncu-csv/wdmapp__gene-paper-artifacts-pop2020__";
  ROOFLINE_NEEDS_SHARED(base + "nvroof_ncuroof_region-dzv_ak-1.csv");
  const auto files = open({base + "nvroof_ncuroof_region-dzv_ak-1.csv"});
  ASSERT_THAT(files[0].launches, SizeIs(8));
  EXPECT_TRUE(warned(files[0], "several-runs"));
  const auto m = merge(files);
  ASSERT_THAT(m.launches, SizeIs(4));
  EXPECT_EQ(value(m, 3, kDram), 663933344);
  EXPECT_EQ(value(m, 3, "sm__sass_thread_inst_executed_op_dfma_pred_on.sum"), 330301440);
  EXPECT_EQ(value(m, 3, kCycles), 1552382.02);
  for (const std::string name : {"nvroof_ncuroof_region-dgdxy-1.csv", "fused-roof2_ncuroof_region-dgdxy-1.csv"}) {
    const auto other = open({base + name});
    EXPECT_EQ(2 * merge(other).launches.size(), other[0].launches.size()) << name;
  }
}

// Two exports of one kernel from two processes.
TEST(Merge, DeepSeekExportsJoin) {
  for (const std::string kernel : {"0001", "0004", "0005", "0009"}) {
    SCOPED_TRACE(kernel);
    const std::string base = "data/ncu-csv/CodeGandee__llm-perf-opt__dsocr_k" + kernel + "_ncu.";
    ROOFLINE_NEEDS_SHARED(base + "details.csv");
    const auto parts = open({base + "details.csv", base + "section_SpeedOfLight_RooflineChart.csv"});
    const auto m = merge_profiles(parts, MergeMode::launch_by_launch);
    EXPECT_THAT(m.launches, SizeIs(parts[0].launches.size()));
    EXPECT_GT(m.launches[0].metrics.size(), parts[0].launches[0].metrics.size());
  }
}

}  // namespace
}  // namespace roofline
