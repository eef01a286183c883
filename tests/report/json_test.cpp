// The JSON contract: valid by schema/report-1.json, in the contract's order, honest about what is not known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "report/build_kind.h"
#include "report/hostile.h"
#include "report/text.h"
#include "roofline/document.h"
#include "support/report_builder.h"

namespace roofline::testing {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SchemaValidator {
 public:
  SchemaValidator() {
    std::ifstream in(std::string(ROOFLINE_SOURCE_DIR) + "/schema/report-1.json");
    const auto document = Json::parse(in);
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::NlohmannJsonAdapter(document), schema_);
  }

  // Where and why `json` breaks the schema; empty when it does not.
  std::string errors(const Json& json) const {
    valijson::ValidationResults results;
    valijson::Validator validator;
    const valijson::adapters::NlohmannJsonAdapter target(json);
    if (validator.validate(schema_, target, &results)) return {};
    std::string out;
    for (valijson::ValidationResults::Error e; results.popError(e);) {
      for (const auto& part : e.context) out += part;
      out += ": " + e.description + "\n";
    }
    return out;
  }

 private:
  valijson::Schema schema_;
};

const SchemaValidator& validator() {
  static const SchemaValidator instance;
  return instance;
}

std::vector<std::string> keys(const OrderedJson& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) out.push_back(key);
  return out;
}

Report all_unplaced() {
  ReportBuilder b;
  WorkSpec bare;
  bare.uncounted = {"all"};
  b.add("a", bare);
  return b.build();
}

Report with_findings() {
  auto report = decode_step();
  auto& row = report.rows.front();
  auto& finding = row.findings.emplace_back();
  finding.id = "uncoalesced-global-loads";
  finding.kind = "cause";
  finding.evidence = {{"sectors", 32.0, ""}, {"requests", std::nullopt, ""}};
  finding.threshold = 0.8;
  finding.action = "Load neighbouring elements from neighbouring threads.";
  finding.gain_s = 1e-4;
  row.datasheet = row.group.placement;
  row.nvtx = {"step", "layer 0"};
  row.group.work.link = {"nvlink", counter(1e6), counter(2e6)};
  row.group.work.operations.push_back({{NumberType::int8, Path::tensor}, counter(5e9), std::nullopt});
  report.machines.front().ceilings.front().links = {{"nvlink", 450e9, "test"}};
  report.warnings.push_back({"code", "message", 0});
  return report;
}

TEST(JsonSchema, ReportsAreValid) {
  for (const auto& report : {decode_step(), with_findings(), all_unplaced(), hostile_report(), Report{}})
    EXPECT_EQ(validator().errors(Json::parse(to_json(report))), "");
}

// "findings" of the report and "diagnosed_launch" came after the first version: older programs' reports lack them.
TEST(JsonSchema, AReportWithoutAFieldIsNot) {
  const auto whole = Json::parse(to_json(decode_step()));
  for (const auto& [key, value] : whole.items()) {
    auto broken = whole;
    broken.erase(key);
    EXPECT_EQ(validator().errors(broken).empty(), key == "findings") << key;
  }
  for (const auto& [key, value] : whole["kernels"][0].items()) {
    auto broken = whole;
    broken["kernels"][0].erase(key);
    EXPECT_EQ(validator().errors(broken).empty(), key == "diagnosed_launch") << "kernels/" << key;
  }
  for (const auto& [key, value] : whole["total"].items()) {
    auto broken = whole;
    broken["total"].erase(key);
    EXPECT_NE(validator().errors(broken), "") << "total/" << key;
  }
}

TEST(JsonSchema, WrongValuesAreNot) {
  const auto whole = Json::parse(to_json(decode_step()));
  const auto breaks = [&](const std::string& pointer, const Json& value) {
    auto broken = whole;
    broken[Json::json_pointer(pointer)] = value;
    EXPECT_NE(validator().errors(broken), "") << pointer;
  };
  breaks("/schema", "roofline/report/2");
  breaks("/kernels/0/position", "fast");
  breaks("/kernels/0/time_s", "1 ms");
  breaks("/kernels/0/grid", Json::array({1, 1}));
  breaks("/kernels/0/roof/bound", "maybe");
  breaks("/kernels/0/roof/regime", "disk");
  breaks("/kernels/0/evidence/flops/kind", "guess");
  breaks("/kernels/0/look", 1);
  breaks("/inputs/0/format", "pdf");
  breaks("/machines/0/ceilings/0/kind", "best");
  breaks("/total/fraction", -1);
  breaks("/kernels/0/launches", nullptr);
}

TEST(JsonSchema, ReadersIgnoreUnknownFields) {
  auto json = Json::parse(to_json(decode_step()));
  json["new"] = 1;
  json["kernels"][0]["newer"] = "x";
  EXPECT_EQ(validator().errors(json), "");
}

TEST(Json, KeysComeInTheContractsOrder) {
  const auto json = OrderedJson::parse(to_json(decode_step()));
  EXPECT_THAT(keys(json), ElementsAre("schema", "tool", "options", "inputs", "machines", "kernels", "total", "warnings",
                                      "failed_launches", "findings"));
  const auto kernel = keys(json["kernels"][0]);
  const std::vector<std::string> contract = {"id",
                                             "input",
                                             "machine",
                                             "name",
                                             "full_name",
                                             "operator",
                                             "grid",
                                             "block",
                                             "device",
                                             "stream",
                                             "rank",
                                             "nvtx",
                                             "launch_ids",
                                             "launches",
                                             "weight",
                                             "time_s",
                                             "time_share",
                                             "time_stats",
                                             "time_basis",
                                             "clock_hz",
                                             "mixed",
                                             "flops",
                                             "ops",
                                             "bytes",
                                             "intensity",
                                             "reuse",
                                             "achieved",
                                             "roof",
                                             "roof_datasheet",
                                             "limiter",
                                             "position",
                                             "look",
                                             "gain_s",
                                             "gain_less_work_s",
                                             "findings",
                                             "diagnosed_launch",
                                             "evidence",
                                             "missing"};
  ASSERT_GE(kernel.size(), contract.size());
  EXPECT_EQ(std::vector<std::string>(kernel.begin(), kernel.begin() + static_cast<std::ptrdiff_t>(contract.size())),
            contract);
}

TEST(Json, HoldsTheNumbers) {
  const auto json = Json::parse(to_json(decode_step()));
  const auto& k = json["kernels"][4];
  EXPECT_EQ(k["name"], "fused_add_rms_norm_kernel");
  EXPECT_EQ(k["launches"], 64);
  EXPECT_EQ(k["flops"]["total"], 1'280'000'000);
  EXPECT_EQ(k["flops"]["by_precision"]["fp32.vector"], 1'280'000'000);
  EXPECT_EQ(k["bytes"]["dram"]["read"], 51'200'000'000);
  EXPECT_NEAR(k["roof"]["fraction"].get<double>(), 0.33, 1e-9);
  EXPECT_EQ(k["roof"]["binding"], "dram");
  EXPECT_EQ(k["look"], true);
  EXPECT_NEAR(k["reuse"]["l2_per_dram"].get<double>(), 1.5, 1e-12);
  EXPECT_EQ(k["evidence"]["flops"]["metrics"][0], "test__metric.sum");
  EXPECT_EQ(json["machines"][0]["ceilings"][0]["memory"]["dram"], 4'000'000'000'000);
}

TEST(Json, IntegerOperationsAreNotFlops) {
  const auto json = Json::parse(to_json(with_findings()));
  const auto& k = json["kernels"][0];
  EXPECT_EQ(k["ops"]["int8.tensor"], 5'000'000'000);
  EXPECT_FALSE(k["flops"]["by_precision"].contains("int8.tensor"));
}

// A product and its bias may be of one precision.
TEST(Json, APrecisionThatComesTwiceIsAddedUp) {
  auto report = with_findings();
  auto& operations = report.rows.front().group.work.operations;
  const Precision fp32;
  operations = {{fp32, Quantity::of(5, Evidence::model), std::nullopt},
                {fp32, Quantity::of(2, Evidence::model), std::nullopt}};
  const auto json = Json::parse(to_json(report));
  EXPECT_EQ(json["kernels"][0]["flops"]["by_precision"]["fp32.vector"], 7);
  EXPECT_EQ(json["kernels"][0]["flops"]["total"], 7);
}

TEST(Json, WhatIsNotKnownIsNull) {
  const auto json = Json::parse(to_json(all_unplaced()));
  const auto& k = json["kernels"][0];
  for (const auto* path : {"/time_s", "/time_share", "/time_stats/min", "/flops/total", "/bytes/dram/total",
                           "/intensity/dram", "/achieved/flops_per_s", "/roof/fraction", "/roof/time_s",
                           "/roof/binding", "/gain_s", "/reuse/l2_per_dram", "/operator", "/rank", "/limiter"})
    EXPECT_TRUE(k[Json::json_pointer(path)].is_null()) << path;
  EXPECT_TRUE(json["total"]["time_s"].is_null());
  EXPECT_TRUE(json["total"]["fraction"].is_null());
  EXPECT_EQ(k["evidence"]["flops"]["kind"], "absent");
}

TEST(Json, NonFiniteNumbersAreNull) {
  auto report = decode_step();
  report.rows[0].time_share = std::nan("");
  report.rows[0].group.placement.fraction = HUGE_VAL;
  report.total.roof_time_s = -HUGE_VAL;
  const auto out = to_json(report);
  EXPECT_TRUE(Json::parse(out)["kernels"][0]["roof"]["fraction"].is_null());
  EXPECT_THAT(out, Not(HasSubstr("nan")));
  EXPECT_THAT(out, Not(HasSubstr("inf,")));
}

TEST(Json, HostileNamesAreValidText) {
  const auto out = to_json(hostile_report());
  EXPECT_EQ(text::valid_utf8(out), out);
  for (const char c : out) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  const auto json = Json::parse(out);
  const auto names = hostile_names();
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(json["kernels"][i]["name"], text::valid_utf8(names[i])) << i;
}

TEST(Json, ManyRowsAreQuick) {
  auto report = decode_step();
  const auto row = report.rows.front();
  for (std::size_t i = report.rows.size(); i < kManyRows; ++i) {
    report.rows.push_back(row);
    report.rows.back().id = i;
  }
  const CpuTimer timer;
  const auto size = to_json(report).size();
  EXPECT_LT(timer.seconds(), kPatience_s);
  EXPECT_GT(size, 1'000 * kManyRows);
}

}  // namespace
}  // namespace roofline::testing
