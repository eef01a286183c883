#include "roofline/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>

#include "roofline/error.h"

namespace roofline::model {
namespace {

Forecast llama(std::string_view dtype = "bf16", Count batch = 32) {
  StepOptions options;
  options.batch = batch;
  options.context = 2048;
  options.scheme = &named_scheme(dtype);
  return make_forecast(resolve_config("llama-3-8b"), options, find_machine("h100"), std::nullopt, {});
}

SweepInput sweep_input() {
  const auto f = llama();
  return {f.config, f.options, f.machine, std::nullopt, {}};
}

// A launch as a profiler names it, with a time and, if given, counted bytes.
KernelRow launch(const std::string& name, double seconds, std::optional<double> bytes = std::nullopt) {
  KernelRow row;
  row.name = row.full_name = name;
  row.group.work.time = Quantity::of(seconds, Evidence::counter);
  if (bytes) row.group.work.level(MemoryLevel::dram).total = Quantity::of(*bytes, Evidence::counter);
  return row;
}

const MatchedOperator* find(const Match& match, std::string_view name) {
  const auto it =
      std::find_if(match.operators.begin(), match.operators.end(), [&](const auto& m) { return m.name == name; });
  return it == match.operators.end() ? nullptr : &*it;
}

// Two layers, then the head, as an engine launches them.
Report two_layers() {
  Report r;
  r.rows.push_back(launch("indexSelectSmallIndex", 2e-6));
  for (int layer = 0; layer < 2; ++layer) {
    r.rows.push_back(launch("vllm::fused_add_rms_norm_kernel<bf16>", 3e-6));
    r.rows.push_back(launch("nvjet_tst_64x16_v_bz_TNT", 21e-6, 51e6));
    r.rows.push_back(launch("vllm::rotary_embedding_kernel<bf16>", 2e-6));
    r.rows.push_back(launch("vllm::reshape_and_cache_flash_kernel<bf16>", 2e-6));
    r.rows.push_back(launch("flash::FlashAttnFwdSm90<x>", 100e-6));
    r.rows.push_back(launch("nvjet_tst_64x16_v_bz_splitK_TNT", 15e-6));
    r.rows.push_back(launch("cublasLt::splitKreduce_kernel<x>", 1e-6));
    r.rows.push_back(launch("vllm::fused_add_rms_norm_kernel<bf16>", 3e-6));
    r.rows.push_back(launch("nvjet_tst_128x16_v_bz_TNT", 95e-6));
    r.rows.push_back(launch("vllm::act_and_mul_kernel<bf16>", 3e-6));
    r.rows.push_back(launch("nvjet_tst_64x16_v_bz_splitK_TNT", 44e-6));
  }
  r.rows.push_back(launch("vllm::fused_add_rms_norm_kernel<bf16>", 3e-6));
  r.rows.push_back(launch("nvjet_tst_128x32_v_bz_TNT", 400e-6));
  r.rows.push_back(launch("at::native::reduce_kernel<ArgMaxOps<float>>", 10e-6));
  r.rows.push_back(launch("my_own_kernel", 5e-6));
  return r;
}

TEST(Forecast, BoundAndPredictionOfTheKnownStep) {
  const auto f = llama();
  EXPECT_NEAR(f.step.totals.roof_s, 7.163e-3, 1e-5);
  EXPECT_NEAR(f.step.totals.predicted_s, 9.161e-3, 1e-6);
  EXPECT_EQ(f.fits(), true);
  EXPECT_EQ(llama("bf16", 256).fits(), false);
}

TEST(Forecast, ReportIsOfTheModelAlone) {
  const auto report = forecast_report(llama());
  ASSERT_EQ(report.rows.size(), llama().step.rows.size());
  EXPECT_NEAR(report.total.time_s, 9.161e-3, 1e-6);
  EXPECT_NEAR(report.total.roof_time_s, 7.163e-3, 1e-5);
  for (const auto& row : report.rows) {
    EXPECT_EQ(row.group.work.time.evidence(), Evidence::model) << row.name;
    EXPECT_EQ(row.time_basis, TimeBasis::model);
  }
}

TEST(Forecast, RefusesWhatTheMachineLacks) {
  StepOptions options;
  options.scheme = &named_scheme("fp8");
  EXPECT_THROW(make_forecast(resolve_config("llama-3-8b"), options, find_machine("a100"), std::nullopt, {}),
               UsageError);
  EXPECT_THROW(named_scheme("fp7"), UsageError);
  EXPECT_THROW(find_machine("no-such-machine"), UsageError);
  EXPECT_EQ(named_scheme("w4a16").name, "w4a16_g128");
}

TEST(Sweep, AxesMultiplyAndTheLastRunsFastest) {
  const auto sweep = run_sweep(sweep_input(), std::vector{parse_axis("batch=1,8"), parse_axis("dtype=bf16,fp8")});
  ASSERT_EQ(sweep.points.size(), 4U);
  EXPECT_THAT(sweep.points[1].at, testing::ElementsAre("1", "fp8"));
  EXPECT_THAT(sweep.points[2].at, testing::ElementsAre("8", "bf16"));
  EXPECT_NEAR(sweep.points[2].totals.roof_s, 5.15e-3, 1e-5);
}

TEST(Sweep, APointThatCannotBeSaysWhy) {
  const auto sweep = run_sweep(sweep_input(), std::vector{parse_axis("tp=1,3")});
  EXPECT_TRUE(sweep.points[0].problem.empty());
  EXPECT_THAT(sweep.points[1].problem, testing::HasSubstr("does not divide"));
  EXPECT_THROW(run_sweep(sweep_input(), std::vector{parse_axis("tp=3,5")}), UsageError);
}

TEST(Sweep, RefusesBadAxes) {
  for (const auto* text : {"", "batch", "batch=", "batch=0", "batch=-1", "batch=1,,2", "batch=x", "batch=1.5", "bath=1",
                           "dtype=fp7", "machine=none", "batch=99999999999999999999"})
    EXPECT_THROW(parse_axis(text), UsageError) << text;
  EXPECT_THROW(run_sweep(sweep_input(), std::vector{parse_axis("batch=1"), parse_axis("batch=2")}), UsageError);
}

TEST(Throughput, MoreThanTheRoofAllowsIsImpossible) {
  const auto f = llama();
  EXPECT_NEAR(measured_throughput(f, 2234).fraction, 0.5, 0.001);
  EXPECT_GT(measured_throughput(f, 6000).fraction, 1);
  EXPECT_THAT(throughput_notes(f, 6000).items.back().text, testing::HasSubstr("Impossible"));
}

TEST(Match, ProductsAreToldByTheirPlaceInTheLayer) {
  const auto f = llama();
  const auto match = match_kernels(f, two_layers());
  for (const auto* name : {"qkv_proj", "attention", "o_proj", "gate_up_proj", "silu_and_mul", "down_proj", "rope"}) {
    ASSERT_NE(find(match, name), nullptr) << name;
    EXPECT_EQ(find(match, name)->calls, 2) << name;
  }
  ASSERT_NE(find(match, "lm_head"), nullptr);
  EXPECT_EQ(find(match, "lm_head")->calls, 1);
  EXPECT_NEAR(find(match, "qkv_proj")->time_s, 42e-6, 1e-12);
  EXPECT_NEAR(find(match, "o_proj")->time_s, 32e-6, 1e-12) << "the split-K pass belongs to it";
  ASSERT_EQ(match.unmatched.size(), 1U);
  EXPECT_EQ(match.unmatched[0].name, "my_own_kernel");
}

TEST(Match, TheReportSaysWhatWasAssigned) {
  const auto f = llama();
  const auto report = two_layers();
  const auto match = match_kernels(f, report);
  ASSERT_EQ(match.assigned.size(), report.rows.size());
  EXPECT_EQ(match.assigned[2], "qkv_proj");
  EXPECT_EQ(match.assigned[7], "o_proj") << "the split-K pass";
  EXPECT_EQ(match.assigned.back(), "") << "nobody's kernel";
  const auto json = nlohmann::json::parse(match_json(f, report, match));
  EXPECT_EQ(json["schema"], "roofline/report/1");
  EXPECT_EQ(json["kernels"].size(), report.rows.size());
  const auto& model = json["model"];
  EXPECT_EQ(model["dtype"], "bf16");
  EXPECT_EQ(model["operators"].size(), match.operators.size());
  const auto& operators = model["operators"];
  const auto o_proj =
      std::find_if(operators.begin(), operators.end(), [](const auto& o) { return o["name"] == "o_proj"; });
  ASSERT_NE(o_proj, operators.end());
  EXPECT_EQ((*o_proj)["calls"], 2);
  EXPECT_TRUE((*o_proj)["dram_bytes"].is_null()) << "not counted is not zero";
  EXPECT_EQ(model["unmatched"][0]["name"], "my_own_kernel");
}

TEST(Throughput, FarAboveTheRoofIsAFactor) {
  EXPECT_THAT(throughput_notes(llama(), 1e6).items.front().text, testing::HasSubstr("× the whole system's roof"));
}

// A dense layer, then one with experts, of a model with latent attention; the reductions over GPUs normalise too.
Report deepseek_layers() {
  Report r;
  const auto add = [&](const char* name) { r.rows.push_back(launch(name, 10e-6)); };
  const char* reduce =
      "flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<kARResidualRMSNorm>";
  add("vectorized_gather_kernel");
  for (const bool experts : {false, true}) {
    if (!experts) add("vllm::rms_norm_kernel<bf16>");
    add("nvjet_tst_1");  // qkv_a_proj
    add("vllm::rms_norm_kernel<bf16>");
    add("vllm::rms_norm_kernel<bf16>");
    add("nvjet_tst_2");  // q_b_proj
    add("vllm::rotary_embedding_kernel<bf16>");
    add("vllm::concat_and_cache_mla_kernel<bf16>");
    add("nvjet_tst_3");  // mla_q_absorb_bmm
    add("flash_fwd_splitkv_mla_kernel<x>");
    add("nvjet_tst_4");  // mla_v_up_bmm
    add("nvjet_tst_5");  // o_proj
    add(reduce);
    add("nvjet_tst_6");  // gate_up_proj, or moe_router
    if (experts) {
      add("grouped_topk_kernel<x>");
      add("nvjet_tst_7");  // shared_gate_up
      add("vllm::act_and_mul_kernel<bf16>");
      add("nvjet_tst_8");  // shared_down
      add("fused_moe_kernel");
      add("vllm::act_and_mul_kernel<bf16>");
      add("fused_moe_kernel");
      add("moe_sum_kernel<x>");
    } else {
      add("vllm::act_and_mul_kernel<bf16>");
      add("nvjet_tst_9");  // down_proj
    }
    add(reduce);
  }
  add("nvjet_tst_10");  // lm_head
  return r;
}

TEST(Match, LatentAttentionExpertsAndFusedReductions) {
  StepOptions options;
  options.batch = 32;
  options.context = 2048;
  options.tp = 8;
  const auto f = make_forecast(resolve_config("deepseek-v3"), options, find_machine("h200"), std::nullopt, {});
  const auto match = match_kernels(f, deepseek_layers());
  const std::map<std::string, double> launches = {
      {"qkv_a_proj", 2},   {"mla_norms", 4},      {"q_b_proj", 2},     {"mla_q_absorb_bmm", 2}, {"mla_attention", 2},
      {"mla_v_up_bmm", 2}, {"o_proj", 2},         {"gate_up_proj", 1}, {"down_proj", 1},        {"moe_router", 1},
      {"moe_topk", 1},     {"shared_gate_up", 1}, {"shared_down", 1},  {"moe_gate_up", 1},      {"moe_down", 1},
      {"moe_combine", 1},  {"all_reduce", 4},     {"lm_head", 1}};
  for (const auto& [name, count] : launches) {
    ASSERT_NE(find(match, name), nullptr) << name;
    EXPECT_NEAR(find(match, name)->time_s, count * 10e-6, 1e-12) << name;
  }
  EXPECT_TRUE(match.unmatched.empty()) << match.unmatched.front().name << ": " << match.unmatched.front().reason;
}

TEST(Match, CountedStandsBesideModelled) {
  const auto match = match_kernels(llama(), two_layers());
  const auto* qkv = find(match, "qkv_proj");
  ASSERT_NE(qkv, nullptr);
  EXPECT_NEAR(qkv->bytes.value(), 102e6, 1);
  EXPECT_NEAR(qkv->model_bytes, 2 * 1.632e9 / 32, 1e5);
  EXPECT_FALSE(find(match, "o_proj")->bytes) << "not counted is not zero";
}

TEST(Match, AProductWithoutNeighboursStaysUnassigned) {
  Report r;
  r.rows.push_back(launch("nvjet_tst_64x16_v_bz_TNT", 21e-6));
  const auto match = match_kernels(llama(), r);
  EXPECT_TRUE(match.operators.empty());
  EXPECT_THAT(match.unmatched.at(0).reason, testing::HasSubstr("unclear position"));
}

TEST(WhatIf, FewerOperationsAreWorthNothingAtTheMemoryRoof) {
  const auto report = forecast_report(llama());
  const auto fewer_flops = what_if_document(report, {0.6, 1, 1});
  EXPECT_EQ(std::get<Table>(fewer_flops.blocks.front()).footer.back().number, 0.0);
  const auto fewer_bytes = what_if_document(report, {1, 0.5, 1});
  EXPECT_GT(*std::get<Table>(fewer_bytes.blocks.front()).footer.back().number, 3e-3);
}

// Measured rows at this share of a memory roof of 1 ms.
Report measured(double kernel_s, double roof_s, Tier tier = Tier::counted) {
  Report r;
  r.total.time_s = r.total.placed_time_s = kernel_s;
  r.total.roof_time_s = roof_s;
  r.total.placed_time_share = 1;
  r.total.fraction = roof_s / kernel_s;
  r.total.share_by_tier = {{tier, 1.0}};
  return r;
}

PlanVerdict verdict(Report report, std::optional<double> wall_s) {
  PlanInput input;
  input.measured = std::move(report);
  input.wall_s = wall_s;
  return decide(input).verdict;
}

TEST(Plan, BuysOnlyOnFirmGround) {
  EXPECT_EQ(verdict(measured(1e-3, 0.94e-3), std::nullopt), PlanVerdict::undecided) << "gaps unknown";
  EXPECT_EQ(verdict(measured(1e-3, 0.94e-3), 1.05e-3), PlanVerdict::buy);
  EXPECT_EQ(verdict(measured(1e-3, 0.94e-3), 3e-3), PlanVerdict::dont_buy_yet) << "the gaps are software";
  EXPECT_EQ(verdict(measured(1e-3, 0.3e-3), 1.05e-3), PlanVerdict::dont_buy_yet);
  EXPECT_EQ(verdict(measured(1e-3, 0.94e-3, Tier::model), 1.05e-3), PlanVerdict::undecided);
  EXPECT_EQ(verdict(measured(1e-3, 0.94e-3), 0.5e-3), PlanVerdict::undecided) << "above the roof";
  auto partly = measured(1e-3, 0.75e-3);
  partly.total.placed_time_share = 0.8;
  EXPECT_EQ(verdict(partly, 1.05e-3), PlanVerdict::undecided);
  auto unknown = measured(1e-3, 0.94e-3);
  unknown.rows.emplace_back();
  unknown.rows.back().group.placement.bound = Bound::lower;
  unknown.rows.back().time_share = 0.2;
  EXPECT_EQ(verdict(unknown, 1.05e-3), PlanVerdict::undecided);
}

}  // namespace
}  // namespace roofline::model
