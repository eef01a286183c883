// The gate over a history: it finds what is a drop, and nothing else.
#include <gmock/gmock.h>

#include <random>

#include "roofline/error.h"
#include "roofline/machines.h"
#include "stores.h"

namespace roofline::testing {
namespace {

using history::Store;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kMachine = "History GPU";

// The machine's file as it is before and after its bandwidth was corrected.
std::string machine_file(double dram_gb_per_s) {
  return "id = \"history-gpu\"\nname = \"History GPU\"\ndriver_name = \"History GPU\"\nvendor = \"Test\"\n"
         "compute_capability = \"9.0\"\ndram = \"" +
         std::to_string(dram_gb_per_s) + " GB/s\"\n\"fp32.vector\" = \"50 TFLOP/s\"\n";
}

// The catalogue of this program knows the corrected bandwidth; old reports were made before.
constexpr double kCorrected = 4400;
constexpr double kOld = 4000;

void load_machine() {
  const MachineFile machine{"history-gpu.toml", machine_file(kCorrected)};
  MachineCatalogue::add_to_instance({&machine, 1});
}

struct Commit {
  double fraction = 0.9;         // of the true 4 TB/s, of the kernel that matters
  std::string suffix = "<128>";  // of its full name
  double clock_hz = 1.5e9;
  double bandwidth = kOld;  // of the machine, as the catalogue of then had it
};

class History : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    if (!IsSkipped()) load_machine();
  }
  // One run: three kernels, each time with 3 % of noise.
  std::string run(const Commit& commit) {
    const auto& catalogue = MachineCatalogue::instance();
    auto machine = *catalogue.find(kMachine);
    machine.ceilings.front().bandwidths.front().bytes_per_s = commit.bandwidth * 1e9;
    ReportBuilder builder;
    builder.report.machines = {machine};
    builder.report.catalogue_version = commit.bandwidth == kOld ? "old" : std::string(catalogue.version());
    const auto add = [&](const std::string& name, double fraction, const std::string& suffix) {
      std::normal_distribution<double> noise(1, 0.03);
      auto& row = add_kernel(builder, name, fraction / noise(random_));
      row.full_name = "void " + name + suffix + "(float*)";
      row.group.placement.clock_hz = commit.clock_hz;
      if (row.datasheet) row.datasheet->clock_hz = commit.clock_hz;
    };
    add("rows_kernel", commit.fraction, commit.suffix);
    add("norm_kernel", 0.7, "<float>");
    add("copy_kernel", 0.85, "<float>");
    return to_json(builder.build());
  }

  std::mt19937 random_{20260131};
};
ROOFLINE_ON_BOTH_STORES(History);

// 200 records: 40 commits of 5 runs each. Before a commit is recorded, it passes the gate.
TEST_P(History, OfTwoHundredRecordsTheGateFindsExactlyTheDrop) {
#ifndef ROOFLINE_TOML
  GTEST_SKIP() << "no TOML: a machine cannot be corrected";
#endif
  constexpr int kCommits = 40;
  constexpr int kRuns = 5;
  constexpr int kRename = 10;
  constexpr int kCorrection = 18;
  constexpr int kDrop = 25;
  constexpr int kClock = 33;
  auto store = Store::open(place(), Store::Access::write);
  std::vector<int> drops, undecided;
  for (int i = 0; i < kCommits; ++i) {
    Commit commit;
    if (i >= kRename) commit.suffix = "<256, 64>";
    if (i >= kCorrection)
      commit.bandwidth = kCorrected;  // the catalogue had been wrong: all fractions fall, no time does
    if (i >= kDrop) commit.fraction = 0.55;
    if (i >= kClock) commit.clock_hz = 1.2e9;
    GateSide candidate;
    std::vector<std::string> reports;
    for (int r = 0; r < kRuns; ++r) {
      reports.push_back(run(commit));
      candidate.repeats.push_back(read_record(reports.back(), "run"));
    }
    if (i > 0) {
      auto baseline = history::find_baseline(store, "latest", candidate.repeats.front(), {});
      ASSERT_THAT(baseline.side.repeats, SizeIs(kRuns)) << i;
      EXPECT_EQ(history::align_catalogues(baseline.side, candidate).done, i == kCorrection) << i;
      const auto result = gate(baseline.side, candidate, {});
      if (result.verdict == GateVerdict::drop) drops.push_back(i);
      if (result.verdict == GateVerdict::inconclusive) undecided.push_back(i);
      if (i == kDrop) {
        EXPECT_EQ(result.findings.front().before_name, "rows_kernel");
        EXPECT_EQ(result.findings.front().verdict, GateVerdict::drop);
      }
    }
    for (const auto& report : reports)
      store.record(new_record(report, {{"commit", std::to_string(i)}}, 1000 * (i + 1)));
  }
  EXPECT_THAT(drops, ElementsAre(kDrop));
  EXPECT_THAT(undecided, ElementsAre(kClock));  // another clock is another roof: said, not guessed
  EXPECT_THAT(store.list(), SizeIs(kCommits * kRuns));
  EXPECT_THAT(store.trend("rows_kernel"), SizeIs(kCommits * kRuns));

  // Without placing the baseline again the correction would look like a change of the program.
  const auto old = store.list({{{"commit", std::to_string(kCorrection - 1)}}, "", {}, 1}).front();
  auto step = store.step(old);
  const auto recorded = *step.kernels.front().fraction;
  EXPECT_EQ(history::recompute(step), 3U);
  EXPECT_NEAR(*step.kernels.front().fraction / recorded, kOld / kCorrected, 1e-9);
  const auto point = store.trend("rows_kernel", {{{"commit", "0"}}, "", {}, 1}).front();
  EXPECT_NEAR(*point.datasheet_now / *point.datasheet_then, kOld / kCorrected, 1e-9);
}

TEST_P(History, LearnsTheNoiseFromItsRecords) {
  std::vector<StepRecord> steps;
  for (int i = 0; i < 40; ++i) {
    Commit commit;
    commit.fraction = i < 20 ? 0.9 : 0.5;  // one jump is no noise
    steps.push_back(read_record(run(commit), "run"));
  }
  const auto noise = history::estimate_noise(steps);
  ASSERT_TRUE(noise);
  EXPECT_NEAR(*noise, 0.03, 0.015);  // of the noisiest of three kernels
  EXPECT_FALSE(history::estimate_noise(std::span(steps).first(10)));
  const std::vector<StepRecord> same(30, steps.front());
  EXPECT_FALSE(history::estimate_noise(same)) << "one run, recorded again and again, says nothing about noise";
}

// It reads many records, so only who needs the noise pays for it.
TEST_P(History, ABaselineKnowsTheNoiseWhereItIsAskedFor) {
  auto store = Store::open(place(), Store::Access::write);
  for (int i = 1; i <= 25; ++i) store.record(new_record(run({}), {}, i));
  const auto candidate = read_record(run({}), "run");
  const auto noise = [&](const char* what, bool learn) {
    return history::find_baseline(store, what, candidate, {}, learn).noise;
  };
  ASSERT_TRUE(noise("latest", true));
  EXPECT_NEAR(*noise("latest", true), 0.03, 0.02);
  EXPECT_FALSE(noise("latest", false));
  EXPECT_FALSE(noise("latest:5", true)) << "repeats tell it themselves";
  // Only the kernels that matter are looked up, and they give what all rows would.
  std::vector<StepRecord> steps;
  auto records = store.list();
  std::reverse(records.begin(), records.end());
  for (const auto& record : records) steps.push_back(store.step(record));
  EXPECT_DOUBLE_EQ(*noise("latest", true), *history::estimate_noise(steps));
  const std::vector<std::string> names = {"rows_kernel", "nothing is called that"};
  const auto times = store.times(std::span(records).first(2), names);
  ASSERT_THAT(times, SizeIs(2));
  for (std::size_t i = 0; i < times.size(); ++i) {
    ASSERT_THAT(times[i].kernels, SizeIs(1));
    EXPECT_EQ(times[i].kernels.front().name, "rows_kernel");
    EXPECT_EQ(times[i].kernels.front().time_s, steps[i].kernels.front().time_s);
    EXPECT_EQ(times[i].kernels.front().launches, steps[i].kernels.front().launches);
  }
}

TEST_P(History, BaselinesAreChosenByWhatTheyAreCalled) {
  auto store = Store::open(place(), Store::Access::write);
  const auto candidate = read_record(run({}), "run");
  EXPECT_TRUE(history::find_baseline(store, "latest", candidate, {}).side.repeats.empty());
  std::vector<std::int64_t> ids;
  const auto add = [&](const history::Labels& labels) {
    ids.push_back(store.record(new_record(run({}), labels, static_cast<history::Time>(ids.size() + 1))).id);
  };
  add({});
  add({});
  add({{"commit", "a"}});
  add({{"commit", "a"}});
  add({{"commit", "a"}, {"branch", "side"}});
  store.record(new_record(small_report(), {}, 100));  // another machine
  const auto records = [&](const char* what, const history::Labels& labels = {}) {
    return history::find_baseline(store, what, candidate, labels).records;
  };
  EXPECT_THAT(records("latest"), ElementsAre(ids[4]));
  EXPECT_THAT(records("latest:2"), ElementsAre(ids[4], ids[3]));
  EXPECT_THAT(records("label:commit=a"), ElementsAre(ids[4], ids[3], ids[2]));
  EXPECT_THAT(records("latest", {{"branch", "side"}}), ElementsAre(ids[4]));
  EXPECT_THAT(records(("@" + std::to_string(ids[0]) + "," + std::to_string(ids[1])).c_str()),
              ElementsAre(ids[0], ids[1]));
  EXPECT_THROW(records("latest:0"), UsageError);
  EXPECT_THROW(records("latest:-1"), UsageError);
  EXPECT_THROW(records("label:x"), UsageError);
  EXPECT_THROW(records("newest"), UsageError);
  EXPECT_THROW(records("999999"), UsageError);
}

// Roofs at a clock come from the run; a new machine in the catalogue must not make them incomparable.
TEST_P(History, ACatalogueThatOnlyGrewChangesNothing) {
  Commit commit;
  commit.bandwidth = kCorrected;
  auto record = read_record(run(commit), "run");
  record.catalogue_version = "an older one";
  for (auto& k : record.kernels) {
    k.ceiling = CeilingKind::at_clock;
    k.fraction_datasheet = k.fraction;
  }
  record.ceiling = CeilingKind::at_clock;
  auto same = record;
  EXPECT_TRUE(history::to_present_catalogue(same));
  EXPECT_EQ(same.catalogue_version, MachineCatalogue::instance().version());
  EXPECT_EQ(*same.kernels.front().fraction, *record.kernels.front().fraction);
  for (auto& k : record.kernels) *k.fraction_datasheet *= kCorrected / kOld;
  EXPECT_FALSE(history::to_present_catalogue(record))
      << "its own entry was corrected: what that does at a clock is not known";
}

// A side whose rows are half under the old catalogue and half under the new one would be neither.
class Realigned : public History {
 protected:
  GateSide side(const Commit& commit) {
    GateSide out;
    for (int i = 0; i < 3; ++i) out.repeats.push_back(read_record(run(commit), "run"));
    return out;
  }
  static Commit now() {
    Commit commit;
    commit.bandwidth = kCorrected;
    return commit;
  }
  // Placed at the clock of the run, by a roof that has moved since.
  static void place_at_clock(KernelRecord& k) {
    k.ceiling = CeilingKind::at_clock;
    k.fraction_datasheet = k.fraction;
  }
};
ROOFLINE_ON_BOTH_STORES(Realigned);

TEST_P(Realigned, RowsThatCannotFollowLoseTheirFractionAndAreNamed) {
#ifndef ROOFLINE_TOML
  GTEST_SKIP() << "no TOML: a machine cannot be corrected";
#endif
  auto before = side({}), after = side(now());
  for (auto* side : {&before, &after})
    for (auto& record : side->repeats) place_at_clock(record.kernels.at(1));
  const auto lost = before.repeats.front().kernels.at(1).name;
  const auto kept = before.repeats.front().kernels.at(0).name;
  const auto aligned = history::align_catalogues(before, after);
  EXPECT_TRUE(aligned.done);
  EXPECT_THAT(aligned.left_out, ElementsAre(lost));
  EXPECT_THAT(history::describe(aligned).back(), HasSubstr(lost));
  for (const auto& record : before.repeats) {
    EXPECT_EQ(record.catalogue_version, MachineCatalogue::instance().version());
    EXPECT_TRUE(record.kernels.at(0).fraction);
    EXPECT_FALSE(record.kernels.at(1).fraction);
    EXPECT_TRUE(record.kernels.at(1).time_s) << "times are what they were";
    EXPECT_FALSE(record.fraction) << "a total without one of its kernels is not comparable";
    EXPECT_LT(record.placed_time_share, 0.99);
  }
  const auto result = gate(before, after, {});
  for (const auto& f : result.findings) {
    if (f.before_name == lost) {
      EXPECT_EQ(f.verdict, GateVerdict::inconclusive);
      EXPECT_THAT(f.reasons.back(), HasSubstr("another version of the machine catalogue"));
    } else if (f.before_name == kept) {
      EXPECT_TRUE(f.fraction.ratio);
    }
  }
  EXPECT_NE(result.verdict, GateVerdict::drop);
}

// The same work under the corrected roof is what a report made now says of it, in all it says.
TEST_P(Realigned, WhatFollowsFromThePlaceFollows) {
#ifndef ROOFLINE_TOML
  GTEST_SKIP() << "no TOML: a machine cannot be corrected";
#endif
  const auto random = random_;
  const Commit old{.fraction = 0.84};
  auto recorded = read_record(run(old), "run");
  random_ = random;  // the same noise
  auto commit = now();
  commit.fraction = old.fraction;
  const auto made_now = read_record(run(commit), "run");
  ASSERT_EQ(recorded.kernels.at(0).position, Position::memory_optimal);
  ASSERT_EQ(made_now.kernels.at(0).position, Position::memory_suboptimal);
  recorded.kernels.at(0).limiter = "l2";  // below its roof for another reason: not any more
  // Below the roof then and now, for a reason that the record does not have the counters of.
  auto& kept = recorded.kernels.at(1);
  ASSERT_EQ(kept.position, Position::memory_suboptimal);
  kept.position = Position::latency_bound;
  kept.reason = "0.30 waves";
  ASSERT_TRUE(history::to_present_catalogue(recorded));
  for (std::size_t i = 0; i < made_now.kernels.size(); ++i) {
    const auto& k = recorded.kernels.at(i);
    const auto& expected = made_now.kernels.at(i);
    EXPECT_NEAR(*k.fraction, *expected.fraction, 1e-12);
    EXPECT_NEAR(*k.roof_time_s, *expected.roof_time_s, 1e-12);
    EXPECT_NEAR(*k.gain_s, *expected.gain_s, 1e-12);
    EXPECT_EQ(k.binding, expected.binding);
    if (i == 1) continue;
    EXPECT_EQ(k.position, expected.position) << i;
    EXPECT_EQ(k.limiter, expected.limiter) << i;
    EXPECT_EQ(k.reason, expected.reason) << i;
  }
  EXPECT_EQ(recorded.kernels.at(1).position, Position::latency_bound);
  EXPECT_EQ(recorded.kernels.at(1).reason, "0.30 waves");
}

// In one repeat only: the others of that side must not stand for it.
TEST_P(Realigned, AFractionThatOneRepeatLostIsMissing) {
#ifndef ROOFLINE_TOML
  GTEST_SKIP() << "no TOML: a machine cannot be corrected";
#endif
  auto before = side({}), after = side(now());
  place_at_clock(before.repeats.at(2).kernels.at(1));
  ASSERT_THAT(history::align_catalogues(before, after).left_out, SizeIs(1));
  const auto comparison = compare(before, after);
  for (const auto& row : comparison.kernels)
    EXPECT_EQ(row.fraction.before.has_value(),
              comparison.before[row.before.front()].name != before.repeats.at(2).kernels.at(1).name);
  const auto lost = std::find_if(comparison.before.begin(), comparison.before.end(),
                                 [](const SideKernel& k) { return !k.mean.fraction; });
  ASSERT_NE(lost, comparison.before.end());
  EXPECT_THAT(lost->mean.reason, HasSubstr("another version of the machine catalogue"));
}

TEST_P(Realigned, AllRepeatsGoOrNone) {
#ifndef ROOFLINE_TOML
  GTEST_SKIP() << "no TOML: a machine cannot be corrected";
#endif
  auto before = side({}), after = side(now());
  before.repeats.at(1).machines = {"A GPU that nobody knows"};
  const auto fraction = before.repeats.front().kernels.front().fraction;
  const auto aligned = history::align_catalogues(before, after);
  EXPECT_FALSE(aligned.done);
  EXPECT_TRUE(history::describe(aligned).empty());
  EXPECT_EQ(before.repeats.front().catalogue_version, "old");
  EXPECT_EQ(before.repeats.front().kernels.front().fraction, fraction);
  EXPECT_EQ(gate(before, after, {}).verdict, GateVerdict::inconclusive);
}

}  // namespace
}  // namespace roofline::testing
