// Roofs, calibrated times, sweeps and ridges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "model/allocation_count.h"
#include "roofline/error.h"
#include "roofline/machines.h"
#include "roofline/model.h"
#include "support/shared_data.h"

namespace roofline::model {
namespace {

using ::testing::HasSubstr;

const Machine& machine(const char* name) { return *MachineCatalogue::instance().find(name); }
const Ceiling& ceiling(const char* name) { return *machine(name).ceiling(CeilingKind::datasheet); }

StepOptions decode(Count batch, Count context, const char* scheme = "bf16") {
  StepOptions o;
  o.batch = batch;
  o.context = context;
  o.scheme = find_scheme(scheme);
  o.beyond_context = true;
  return o;
}

// ---------------------------------------------------------------- roofs

TEST(RoofTimes, AreThoseOfPlace) {
  for (const auto* preset : {"llama-3-70b", "deepseek-v3", "gpt-oss-120b"}) {
    const auto config = resolve_config(preset);
    auto options = decode(37, 3000, "fp8");
    options.tp = 8;
    const Roofs roofs(ceiling("h100"));
    std::vector<Operator> operators;
    build_step(config, options, operators);
    for (const auto& op : operators) {
      const auto placed = place(work_of(op, 1, roofs.link_kind()), ceiling("h100"), machine("h100").pipe_groups, {});
      ASSERT_TRUE(placed.roof_time_s.has_value()) << op.name;
      EXPECT_DOUBLE_EQ(*placed.roof_time_s, op.calls * roofs.roof_time(op)) << op.name;
      EXPECT_EQ(placed.tier, Tier::model) << op.name;
    }
  }
}

TEST(RoofTimes, MissingUnitsAreNamed) {
  const auto config = resolve_config("llama-3-8b");
  const Roofs a100(ceiling("a100-sxm4-80"));
  std::vector<Operator> operators;
  build_step(config, decode(1, 100, "fp8"), operators);
  try {
    totals(operators, a100, nullptr);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("fp8.tensor"));
    EXPECT_THAT(error.what(), HasSubstr("weight-only"));
  }
  build_step(config, decode(1, 100, "fp8_wo"), operators);
  EXPECT_GT(totals(operators, a100, nullptr).roof_s, 0);
  EXPECT_THROW(Roofs(Ceiling{}), UsageError);
}

TEST(Prediction, RowsAddUpToTheStep) {
  const auto config = resolve_config("gpt-oss-20b");
  const auto options = decode(16, 4000);
  const auto& h100 = machine("h100");
  const auto p =
      predict_step(config, options, ceiling("h100"), h100.pipe_groups, calibration_for(h100, ceiling("h100")), {});
  double roof = 0, predicted = 0, launches = 0;
  for (const auto& row : p.rows) {
    roof += *row.group.placement.roof_time_s;
    predicted += row.group.work.time.value();
    launches += row.group.work.launches;
    EXPECT_EQ(row.group.work.time.evidence(), Evidence::model);
    EXPECT_LE(*row.group.placement.roof_time_s, row.predicted_s) << row.name;
  }
  EXPECT_NEAR(roof, p.totals.roof_s, 1e-12);
  EXPECT_NEAR(predicted, p.totals.predicted_s, 1e-12);
  EXPECT_DOUBLE_EQ(launches, p.totals.launches);
  EXPECT_EQ(p.tokens, 16);
  EXPECT_DOUBLE_EQ(p.bound_tokens_per_s(), 16 / p.totals.roof_s);
}

TEST(Prediction, SmallKernelsAreLatencyBound) {
  const auto& h100 = machine("h100");
  const auto p = predict_step(resolve_config("llama-3-8b"), decode(32, 2048), ceiling("h100"), h100.pipe_groups,
                              calibration_for(h100, ceiling("h100")), {});
  for (const auto& row : p.rows) {
    if (row.name == "add_rms_norm" || row.name == "rope") {
      EXPECT_EQ(row.group.placement.position, Position::latency_bound) << row.name;
    }
    if (row.name == "gate_up_proj") {
      EXPECT_EQ(row.group.placement.position, Position::memory_optimal);
    }
  }
}

TEST(Prediction, CommunicationBoundRows) {
  const auto& h100 = machine("h100");
  auto options = decode(64, 2048);
  options.tp = 8;
  const auto p = predict_step(resolve_config("llama-3-70b"), options, ceiling("h100"), h100.pipe_groups,
                              calibration_for(h100, ceiling("h100")), {});
  const auto row = std::find_if(p.rows.begin(), p.rows.end(), [](const StepRow& r) { return r.name == "all_reduce"; });
  ASSERT_NE(row, p.rows.end());
  EXPECT_EQ(row->group.placement.position, Position::communication_bound);
}

// ---------------------------------------------------------------- calibration

TEST(Calibrated, OtherMachinesAreScaled) {
  const auto fitted = calibration_for(machine("h100"), ceiling("h100"));
  EXPECT_FALSE(fitted.scaled);
  const auto a100 = calibration_for(machine("a100-sxm4-80"), ceiling("a100-sxm4-80"));
  EXPECT_TRUE(a100.scaled);
  EXPECT_THAT(a100.note, HasSubstr("not measured"));
  EXPECT_EQ(a100.of(OperatorClass::gemm).launch_s, fitted.of(OperatorClass::gemm).launch_s);
  EXPECT_NEAR(a100.of(OperatorClass::gemm).bytes_per_s / 2.95e12, 2039.0 / 3350, 0.01);
}

TEST(Calibrated, FitRecoversConstants) {
  const Roofs roofs(ceiling("h100"));
  auto truth = calibration_for(machine("h100"), ceiling("h100"));
  for (auto& c : truth.classes) c = {c.launch_s * 1.7, c.bytes_per_s * 0.8, c.peak_fraction * 0.9, ""};
  std::vector<Sample> samples;
  std::vector<Operator> operators;
  const auto config = resolve_config("llama-3-8b");
  for (const Count batch : {1, 16, 64}) {
    build_step(config, decode(batch, 4096), operators);
    for (const auto& op : operators) samples.push_back({op, truth.time(op, roofs)});
  }
  auto prefill = decode(4, 8192);
  prefill.phase = Phase::prefill;
  build_step(config, prefill, operators);
  for (const auto& op : operators) samples.push_back({op, truth.time(op, roofs)});
  const auto fitted = fit_calibration(samples, roofs, calibration_for(machine("h100"), ceiling("h100")));
  for (const auto kind : {OperatorClass::gemm, OperatorClass::attention, OperatorClass::elementwise}) {
    EXPECT_NEAR(fitted.of(kind).launch_s / truth.of(kind).launch_s, 1, 0.01) << to_string(kind);
    EXPECT_NEAR(fitted.of(kind).bytes_per_s / truth.of(kind).bytes_per_s, 1, 0.01) << to_string(kind);
  }
  EXPECT_NEAR(fitted.of(OperatorClass::gemm).peak_fraction, 0.63, 0.005);
  EXPECT_NEAR(fitted.of(OperatorClass::attention).peak_fraction, 0.558, 0.005);
  // Nothing was measured of these.
  EXPECT_EQ(fitted.of(OperatorClass::collective).bytes_per_s, 170e9);
}

TEST(Calibrated, FitKeepsWhatSamplesCannotTell) {
  const Roofs roofs(ceiling("h100"));
  const auto start = calibration_for(machine("h100"), ceiling("h100"));
  Operator op;
  op.kind = OperatorClass::gemm;
  op.read_bytes = 1e9;
  const std::vector<Sample> same = {{op, 1e-3}, {op, 1.1e-3}, {op, -1}, {op, 0}};
  EXPECT_EQ(fit_calibration(same, roofs, start).of(OperatorClass::gemm).bytes_per_s,
            start.of(OperatorClass::gemm).bytes_per_s);
}

TEST(Calibrated, FilesAreChecked) {
  const auto refused = [](const char* json, const char* kind) {
    try {
      parse_calibration(json, "x", "constants.json");
      ADD_FAILURE() << json;
    } catch (const InputError& error) {
      EXPECT_EQ(error.problem().kind, kind) << error.what();
    }
  };
  refused("{}", "missing-key");
  refused(R"({"machines": []})", "unknown-machine");
  refused(R"({"machines": [{"machine": "x"}]})", "missing-key");
  refused(
      R"({"machines": [{"machine": "x", "classes": {"gemm": {"launch_s": -1, "bytes_per_s": 1, "peak_fraction": 1}}}]})",
      "out-of-range");
}

// The constants against kernel times that others published: the composed step of Llama-3-8B on H100 and H200.
TEST(Calibrated, StepsAgainstPublishedKernels) {
  ROOFLINE_NEEDS_SHARED("oracle/llm/llama3-8b-measured-kernels.csv");
  std::ifstream file(roofline::testing::shared_path("oracle/llm/llama3-8b-measured-kernels.csv"));
  const auto config = resolve_config("llama-3-8b");
  std::map<std::string, std::pair<double, int>> mean;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    if (cells.size() < 7 || cells[4] != "STEP") continue;
    const char* gpu = cells[0] == "H200-SXM" ? "h200" : "h100";
    const auto* scheme = find_scheme(cells[1]);
    if (scheme == nullptr) continue;
    Evaluator evaluator(config, Roofs(ceiling(gpu)), calibration_for(machine(gpu), ceiling(gpu)));
    const auto t = evaluator.evaluate(decode(std::stol(cells[2]), std::stol(cells[3]), cells[1].c_str()));
    const double measured = std::stod(cells[6]) * 1e-6;
    EXPECT_LT(t.roof_s, measured) << line;
    EXPECT_NEAR(t.predicted_s / measured, 0.95, 0.2) << line;
    auto& m = mean[cells[0] + " " + cells[1]];
    m.first += t.predicted_s / measured;
    ++m.second;
  }
  ASSERT_GE(mean.size(), 6U);
  for (const auto& [name, m] : mean) {
    std::cout << name << ": predicted / composed of measured kernels " << m.first / m.second << " over " << m.second
              << " steps\n";
    EXPECT_NEAR(m.first / m.second, 0.95, 0.05) << name;
  }
}

// ---------------------------------------------------------------- ridges

double tokens_at_ridge(const char* preset, const char* scheme, std::string_view name, const char* gpu = "h100") {
  std::vector<Operator> operators;
  build_step(resolve_config(preset), decode(1, 2048, scheme), operators);
  for (const auto& op : operators)
    if (op.name == name) return ridge_tokens(op, Roofs(ceiling(gpu))).value_or(0);
  return -1;
}

TEST(Ridge, TokensOfLlama8B) {
  // Expected figures are for 3.35 TB/s; the catalogue's H100 has 3.352.
  const std::map<std::string, std::array<double, 3>> expected = {{"qkv_proj", {336, 366, 87}},
                                                                 {"o_proj", {345, 377, 89}},
                                                                 {"gate_up_proj", {322, 349, 83}},
                                                                 {"down_proj", {326, 333, 84}}};
  for (const auto& [name, tokens] : expected) {
    EXPECT_NEAR(tokens_at_ridge("llama-3-8b", "bf16", name), tokens[0], 1) << name;
    EXPECT_NEAR(tokens_at_ridge("llama-3-8b", "fp8", name), tokens[1], 1) << name;
    EXPECT_NEAR(tokens_at_ridge("llama-3-8b", "w4a16_g128", name), tokens[2], 1) << name;
  }
  EXPECT_NEAR(tokens_at_ridge("llama-3-8b", "bf16", "lm_head"), 319, 1);
  EXPECT_NEAR(tokens_at_ridge("llama-3-8b", "bf16", "o_proj", "h200"), 229, 1);
}

TEST(Ridge, SearchAgreesWithTheClosedForm) {
  const auto config = resolve_config("llama-3-8b");
  const Roofs roofs(ceiling("h100"));
  for (const auto* scheme : {"bf16", "fp8", "fp8_block", "w4a16_g128"})
    for (const auto* name : {"qkv_proj", "o_proj", "gate_up_proj", "down_proj", "lm_head"}) {
      const auto found = ridge_batch(config, decode(1, 2048, scheme), roofs, name, 1 << 16);
      ASSERT_TRUE(found.has_value()) << name;
      EXPECT_EQ(*found, static_cast<Count>(std::ceil(tokens_at_ridge("llama-3-8b", scheme, name)))) << scheme << name;
    }
}

TEST(Ridge, AttentionNeverGetsThere) {
  const Roofs roofs(ceiling("h100"));
  EXPECT_EQ(ridge_batch(resolve_config("llama-3-8b"), decode(1, 2048), roofs, "attention", 1 << 20), std::nullopt);
  EXPECT_EQ(ridge_batch(resolve_config("llama-3-8b"), decode(1, 2048), roofs, "no such", 1 << 20), std::nullopt);
}

TEST(Ridge, ExpertsNeedTheGlobalBatch) {
  const Roofs roofs(ceiling("h100"));
  // Without activations: 295 x experts / experts per token; activations add to it.
  const auto mixtral = ridge_batch(resolve_config("mixtral-8x7b"), decode(1, 512), roofs, "moe_gate_up", 1 << 20);
  ASSERT_TRUE(mixtral.has_value());
  EXPECT_GT(*mixtral, 1181);
  EXPECT_LT(*mixtral, 1181 * 1.25);
}

// ---------------------------------------------------------------- sweeps

TEST(Sweep, PointsAllocateNothing) {
  if (!roofline::testing::allocations_are_counted()) GTEST_SKIP() << "the sanitizer has an allocator of its own";
  const auto config = resolve_config("deepseek-v3");
  Evaluator evaluator(config, Roofs(ceiling("h200")), calibration_for(machine("h200"), ceiling("h200")));
  auto options = decode(1, 4096, "fp8_block");
  options.tp = 8;
  evaluator.evaluate(options);
  const auto before = roofline::testing::allocation_count();
  double sum = 0;
  for (options.batch = 1; options.batch <= 1000; ++options.batch) sum += evaluator.evaluate(options).predicted_s;
  EXPECT_EQ(roofline::testing::allocation_count(), before);
  EXPECT_GT(sum, 0);
}

TEST(Sweep, HundredThousandPointsASecond) {
#ifndef NDEBUG
  GTEST_SKIP() << "timed in release builds only";
#endif
  const auto config = resolve_config("llama-3-8b");
  Evaluator evaluator(config, Roofs(ceiling("h100")), calibration_for(machine("h100"), ceiling("h100")));
  auto options = decode(1, 2048);
  double sum = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100000; ++i) {
    options.batch = 1 + i % 512;
    options.context = 128 + i / 512;
    sum += evaluator.evaluate(options).roof_s;
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::cout << "100000 points in " << elapsed.count() << " s\n";
  EXPECT_GT(sum, 0);
  EXPECT_LT(elapsed.count(), 1.0);
}

}  // namespace
}  // namespace roofline::model
