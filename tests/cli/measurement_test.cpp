// What `machine measure --json` prints is read back as the same machine, and only that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/measure_view.h"
#include "roofline/error.h"
#include "roofline/measure.h"

namespace roofline::cli {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

MeasuredValue value(double v) {
  MeasuredValue out;
  out.value = out.high = v;
  out.median = 0.9 * v;
  out.low = 0.5 * v;
  out.samples = 9;
  out.width = 0.034;
  out.cut_short = true;
  return out;
}

ThreadedMeasurement threads(int count) {
  ThreadedMeasurement t;
  for (int i = 0; i < count; ++i) t.cpus.push_back(i);
  t.clock = value(3.7e9);
  t.levels = {{"l1", 32768.0, 32768.0, 1.1e-9}, {"dram", std::nullopt, std::nullopt, 1.4e-7}};
  t.sweep = {{4096, 1.1e-9, 2e11}, {1e8, 1.4e-7, std::nullopt}};
  t.bandwidths.push_back({"l1", AccessPattern::triad, 24576, "AVX2", value(333e9 * count)});
  t.bandwidths.push_back({"dram", AccessPattern::nt_copy, 2.6e8, "AVX2", value(44e9 * count)});
  t.peaks.push_back({*parse_precision("fp64.vector"), false, "FMA", "AVX2", value(59.1e9 * count)});
  t.peaks.push_back({*parse_precision("fp64.vector"), true, "1 FMA : 1 ADD", "AVX2", value(88.7e9 * count)});
  t.peaks.push_back({*parse_precision("int8.vector"), false, "dot", "AVX-512", value(473e9 * count)});
  return t;
}

CpuMeasurement measurement() {
  CpuMeasurement m;
  m.cpu.name = "Acme \"One\" \\ 3\t\xff";  // as hostile as firmware may be
  m.cpu.vendor = "AMD";
  m.cpu.architecture = "x86_64";
  m.cpu.cores = 2;
  m.version = "0.1.0";
  m.date = "2026-11-29";
  m.budget_s = 18;
  m.notes = {"a note"};
  m.one = threads(1);
  m.all = threads(2);
  return m;
}

ImportOptions named(std::size_t device) {
  ImportOptions options;
  options.id = "lab";
  options.device = device;
  return options;
}

TEST(Measurement, JsonIsReadBackAsTheSameMachine) {
  auto m = measurement();
  const auto json = measurement_json(m);
  m.cpu.name = "Acme \"One\" \\ 3\t\xEF\xBF\xBD";
  for (const std::size_t device : {0U, 1U}) {
    const auto expected = measured_machine(m, device == 0, "lab");
    const auto read = import_ceilings(json, "m.json", named(device));
    ASSERT_EQ(read.facts.figures.size(), expected.facts.figures.size());
    for (std::size_t i = 0; i < read.facts.figures.size(); ++i) {
      EXPECT_EQ(read.facts.figures[i].key, expected.facts.figures[i].key);
      EXPECT_EQ(read.facts.figures[i].text, expected.facts.figures[i].text);
      EXPECT_EQ(read.facts.figures[i].note, expected.facts.figures[i].note);
    }
    EXPECT_TRUE(read.warnings.empty());
  }
}

TEST(Measurement, SaysWhatWasCutShortAndWhatIsMissing) {
  auto m = measurement();
  m.complete = false;
  m.missing = {"l3 copy, 2 threads"};
  const auto json = Json::parse(measurement_json(m));
  EXPECT_EQ(json.at("missing").at(0), "l3 copy, 2 threads");
  const auto& rate = json.at("one_thread").at("bandwidths").at(0).at("bytes_per_s");
  EXPECT_TRUE(rate.at("cut_short").get<bool>());
  EXPECT_DOUBLE_EQ(rate.at("best_third_width").get<double>(), 0.034);
  EXPECT_FALSE(import_ceilings(json.dump(), "m.json", named(0)).warnings.empty());
  const auto text = to_markdown(measurement_document(m));
  EXPECT_THAT(text, HasSubstr("~333 GB/s"));
}

TEST(Measurement, InterruptedSamplesAndAClockThatWasNotSeenComeBack) {
  auto m = measurement();
  m.one.clock.only_disturbed = true;
  m.all.clock = {};
  const auto json = measurement_json(m);
  const auto text = [&](std::size_t device) {
    const auto made = import_ceilings(json, "m.json", named(device));
    return to_toml(made.machine, made.facts);
  };
  EXPECT_THAT(text(1), HasSubstr("all interrupted"));
  EXPECT_THAT(text(0), Not(HasSubstr("clock_measured")));
}

TEST(Measurement, RefusesWhatIsNoMeasurement) {
  const auto whole = Json::parse(measurement_json(measurement()));
  const auto refused = [](const std::string& text) {
    try {
      import_ceilings(text, "m.json", named(0));
    } catch (const InputError& error) {
      return error.problem().kind;
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused(whole.dump()), "taken");
  const auto changed = [&](const char* pointer, const Json& with) {
    auto copy = whole;
    copy[Json::json_pointer(pointer)] = with;
    return refused(copy.dump());
  };
  EXPECT_EQ(changed("/schema", "roofline/measurement/2"), "unknown-format");
  EXPECT_EQ(changed("/one_thread/levels/0/level", "l1\"]\nx"), "unknown-format");
  EXPECT_EQ(changed("/one_thread/bandwidths/0/access", "reed"), "unknown-format");
  EXPECT_EQ(changed("/one_thread/peaks/0/precision", "fp65"), "unknown-format");
  EXPECT_EQ(changed("/one_thread/peaks/0/ops_per_s/value", -1), "not-positive");
  EXPECT_EQ(changed("/one_thread/peaks/0/ops_per_s/value", 0), "not-positive");
  EXPECT_EQ(changed("/one_thread/peaks/0/ops_per_s/value", 1e300), "not-positive");
  EXPECT_EQ(changed("/one_thread/cpus", Json::array()), "unknown-format");
  auto bare = whole;
  bare["all_threads"]["bandwidths"] = bare["all_threads"]["peaks"] = Json::array();
  EXPECT_EQ(refused(bare.dump()), "unknown-format");
  EXPECT_EQ(changed("/cpu", nullptr), "unknown-format");
  EXPECT_EQ(changed("/all_threads/bandwidths", 7), "unknown-format");
  const auto text = whole.dump();
  for (std::size_t i = 40; i < text.size(); i += 97) EXPECT_EQ(refused(text.substr(0, i)), "truncated") << i;
  EXPECT_THROW(import_ceilings(text, "m.json", named(2)), UsageError);
  Machine base;
  auto options = named(0);
  options.base = &base;
  EXPECT_THROW(import_ceilings(text, "m.json", options), UsageError);
}

}  // namespace
}  // namespace roofline::cli
