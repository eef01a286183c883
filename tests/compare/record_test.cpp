#include "roofline/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "roofline/document.h"
#include "roofline/error.h"
#include "support/report_builder.h"

namespace roofline {
namespace {

using ::testing::HasSubstr;

std::string problem_of(const std::string& text) {
  try {
    read_record(text, "x.json");
  } catch (const InputError& e) {
    return e.problem().kind + ": " + e.what();
  }
  return "accepted";
}

const std::string kHead = R"({"schema":"roofline/report/1","kernels":[)";

void expect_equal(const KernelRecord& a, const KernelRecord& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.full_name, b.full_name);
  EXPECT_EQ(a.op, b.op);
  EXPECT_EQ(a.grid, b.grid);
  EXPECT_EQ(a.block, b.block);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.launches, b.launches);
  EXPECT_EQ(a.time_s, b.time_s);
  EXPECT_EQ(a.launch_time_s.has_value(), b.launch_time_s.has_value());
  EXPECT_EQ(a.time_share, b.time_share);
  EXPECT_EQ(a.time_basis, b.time_basis);
  EXPECT_EQ(a.flops, b.flops);
  EXPECT_EQ(a.ops, b.ops);
  EXPECT_EQ(a.dram_bytes, b.dram_bytes);
  EXPECT_EQ(a.flops_bound, b.flops_bound);
  EXPECT_EQ(a.roof_time_s, b.roof_time_s);
  EXPECT_EQ(a.fraction, b.fraction);
  EXPECT_EQ(a.fraction_upper, b.fraction_upper);
  EXPECT_EQ(a.bound, b.bound);
  EXPECT_EQ(a.binding, b.binding);
  EXPECT_EQ(a.regime, b.regime);
  EXPECT_EQ(a.fraction_datasheet, b.fraction_datasheet);
  EXPECT_EQ(a.ceiling, b.ceiling);
  EXPECT_EQ(a.clock_hz, b.clock_hz);
  EXPECT_EQ(a.position, b.position);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.look, b.look);
  EXPECT_EQ(a.gain_s, b.gain_s);
}

TEST(Record, IsTheSameFromMemoryAndFromJson) {
  auto report = testing::decode_step();
  report.rows.front().op = "qkv_proj";
  const auto a = record_of(report);
  const auto b = read_record(to_json(report), "step.json");
  EXPECT_EQ(a.tool_version, b.tool_version);
  EXPECT_EQ(a.catalogue_version, b.catalogue_version);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.machines, b.machines);
  EXPECT_EQ(a.time_s, b.time_s);
  EXPECT_EQ(a.roof_time_s, b.roof_time_s);
  EXPECT_EQ(a.fraction, b.fraction);
  EXPECT_EQ(a.bound, b.bound);
  EXPECT_EQ(a.placed_time_share, b.placed_time_share);
  EXPECT_EQ(a.ceiling, b.ceiling);
  ASSERT_EQ(a.kernels.size(), b.kernels.size());
  for (std::size_t i = 0; i < a.kernels.size(); ++i) expect_equal(a.kernels[i], b.kernels[i]);
  EXPECT_EQ(a.kernels.front().op, "qkv_proj");
  EXPECT_FALSE(a.kernels.front().ops.empty());
}

TEST(Record, AbsentStaysAbsent) {
  const auto record = read_record(kHead + R"({"name":"k","time_s":null,"flops":{"total":null},"bytes":null}]})", "x");
  ASSERT_EQ(record.kernels.size(), 1U);
  const auto& k = record.kernels.front();
  EXPECT_FALSE(k.time_s);
  EXPECT_FALSE(k.flops);
  EXPECT_FALSE(k.dram_bytes);
  EXPECT_FALSE(k.fraction);
  EXPECT_EQ(k.position, Position::unplaced);
  EXPECT_EQ(k.launches, 1U);
  EXPECT_FALSE(record.time_s);
}

TEST(Record, IgnoresWhatALaterMinorVersionAdds) {
  const auto record =
      read_record(R"({"new":[{"x":{}}],"schema":"roofline/report/1","kernels":[{"name":"k","position":"upside-down",)"
                  R"("time_s":1e-6,"more":[1,[2]]}],"total":{"zzz":1}})",
                  "x");
  EXPECT_EQ(record.kernels.at(0).time_s, 1e-6);
  EXPECT_EQ(record.kernels.at(0).position, Position::unplaced);
}

TEST(Record, NamesWhatIsWrongAndWhere) {
  EXPECT_THAT(problem_of(""), HasSubstr("not-json"));
  EXPECT_THAT(problem_of("hello"), HasSubstr("wrong-type"));
  EXPECT_THAT(problem_of("[]"), HasSubstr("wrong-type"));
  EXPECT_THAT(problem_of("{}"), HasSubstr("not-a-report"));
  EXPECT_THAT(problem_of(R"({"schema":"roofline/report/1"})"), HasSubstr("missing-key"));
  EXPECT_THAT(problem_of(R"({"schema":"roofline/report/2","kernels":[]})"), HasSubstr("unknown-schema"));
  EXPECT_THAT(problem_of(R"({"schema":"roofline/tables/1","kernels":[]})"), HasSubstr("not-a-report"));
  EXPECT_THAT(problem_of(kHead + R"({"time_s":"1"}]})"), HasSubstr("kernels[0].time_s"));
  EXPECT_THAT(problem_of(kHead + R"({},{"time_s":-1}]})"), HasSubstr("kernels[1].time_s: -1"));
  EXPECT_THAT(problem_of(kHead + R"({"time_s":1e999}]})"), HasSubstr("not-a-number"));
  EXPECT_THAT(problem_of(kHead + R"({"roof":{"fraction":[1]}}]})"), HasSubstr("kernels[0].roof.fraction"));
  EXPECT_THAT(problem_of(kHead + R"({"grid":[1,2]}]})"), HasSubstr("kernels[0].grid"));
  EXPECT_THAT(problem_of(kHead + R"({"grid":[1,2,3,4]}]})"), HasSubstr("grid"));
  EXPECT_THAT(problem_of(kHead + R"({"launches":1e300}]})"), HasSubstr("out-of-range"));
  EXPECT_THAT(problem_of(R"({"schema":"roofline/report/1","kernels":null})"), HasSubstr("kernels: null"));
  const auto cut = kHead + R"({"name":"k")";
  EXPECT_THAT(problem_of(cut), HasSubstr("byte " + std::to_string(cut.size())));  // not where it began
  EXPECT_THAT(problem_of(kHead + "null]}"), HasSubstr("kernels[0]"));
  EXPECT_THAT(problem_of(kHead + "7]}"), HasSubstr("wrong-type"));
  EXPECT_THAT(problem_of(kHead + "]} {}"), HasSubstr("not-json"));
  EXPECT_THAT(problem_of(kHead + R"({"name":")" + "\xff\xfe" + R"("}]})"), HasSubstr("UTF-8"));
  EXPECT_THAT(problem_of(kHead + R"({"name":7}]})"), HasSubstr("byte "));
}

TEST(Record, NoCutOffReportIsAccepted) {
  const auto text = to_json(testing::decode_step());
  const auto end = text.find_last_of('}');
  for (std::size_t n = 0; n < end; n += n < 600 || n + 600 > end ? 1 : 37)
    EXPECT_THROW(read_record(text.substr(0, n), "cut"), InputError) << n;
}

TEST(Record, DeepNestingIsNoTrouble) {
  const std::string deep(200000, '[');
  EXPECT_THROW(read_record(deep, "x"), InputError);
  EXPECT_THROW(read_record(R"({"schema":"roofline/report/1","a":)" + deep, "x"), InputError);
  EXPECT_THROW(read_record(kHead + R"({"flops":)" + deep, "x"), InputError);
}

TEST(Record, ChangedBytesAreReadOrRefused) {
  const auto text = to_json(testing::decode_step());
  unsigned state = 12345;
  const auto next = [&](std::size_t n) {
    state = state * 1664525U + 1013904223U;
    return static_cast<std::size_t>(state >> 8) % n;
  };
  const std::string signs = "{}[]\",:0-9ent.\\ \x01\xc3";
  std::size_t refused = 0;
  for (int i = 0; i < 2000; ++i) {
    auto hurt = text;
    for (std::size_t n = next(4) + 1; n > 0; --n) hurt[next(hurt.size())] = signs[next(signs.size())];
    try {
      read_record(hurt, "hurt");
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 200U);
}

TEST(Record, AByteOrderMarkIsSkipped) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(read_record(mark + kHead + R"({"name":"k"}]})", "x").kernels.size(), 1U);
  EXPECT_THROW(read_record(mark, "x"), InputError);
  EXPECT_THROW(read_record(mark.substr(0, 2), "x"), InputError);
}

}  // namespace
}  // namespace roofline
