// How close a prediction came.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compare/records.h"
#include "roofline/compare.h"

namespace roofline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::KernelSpec;
using Specs = std::vector<KernelSpec>;

StepRecord predicted() {
  auto r = testing::record(
      Specs{{.name = "qkv_proj", .time_s = 600e-6, .launches = 32, .op = "qkv_proj"},
            {.name = "o_proj", .time_s = 400e-6, .launches = 32, .op = "o_proj"},
            {.name = "attention", .time_s = 3000e-6, .launches = 32, .op = "attention"},
            {.name = "rope", .time_s = 80e-6, .launches = 32, .op = "rope", .precision = "fp32.vector"},
            {.name = "sampling", .time_s = 20e-6, .launches = 2, .op = "sampling", .precision = "fp32.vector"}});
  for (auto& k : r.kernels) k.time_basis = TimeBasis::model;
  return r;
}

TEST(Prediction, IsRecognised) {
  EXPECT_TRUE(is_prediction(predicted()));
  EXPECT_FALSE(is_prediction(testing::record(Specs{{"k"}})));
  EXPECT_FALSE(is_prediction(StepRecord()));
}

TEST(Prediction, OperatorByOperatorForAsManyCalls) {
  // Two steps were measured.
  const auto s = score_prediction(
      predicted(), {{testing::record(Specs{{.name = "x", .time_s = 1500e-6, .launches = 64, .op = "qkv_proj"},
                                           {.name = "y", .time_s = 1000e-6, .launches = 64, .op = "o_proj"},
                                           {.name = "z", .time_s = 6000e-6, .launches = 64, .op = "attention"},
                                           {.name = "other", .time_s = 500e-6, .launches = 7}})}});
  EXPECT_EQ(s.steps, 2);
  ASSERT_EQ(s.kernels.size(), 3U);
  EXPECT_EQ(s.kernels[0].name, "attention");
  EXPECT_NEAR(s.kernels[1].predicted_s.value(), 1200e-6, 1e-12);
  EXPECT_NEAR(s.kernels[1].bound_s.value(), 1200e-6 * 0.9, 1e-12);
  // |1200 - 1500| + |800 - 1000| + 0 of 8500
  EXPECT_NEAR(s.mean_error.value(), 500.0 / 8500, 1e-12);
  EXPECT_NEAR(s.total_ratio.value(), 8000.0 / 8500, 1e-12);
  EXPECT_NEAR(s.matched_time_share, 8500.0 / 9000, 1e-12);
  EXPECT_THAT(s.only_predicted, ElementsAre("rope", "sampling"));
  EXPECT_THAT(s.only_measured, ElementsAre("other"));
}

TEST(Prediction, TheSecondKernelOfACallIsNoCall) {
  const auto s = score_prediction(
      predicted(),
      {{testing::record(
          Specs{{.name = "nvjet_tst_64x16_TNT", .time_s = 500e-6, .launches = 32, .op = "o_proj"},
                {.name = "cublasLt::splitKreduce_kernel", .time_s = 50e-6, .launches = 32, .op = "o_proj"},
                {.name = "flash_fwd_splitkv_kernel", .time_s = 2900e-6, .launches = 32, .op = "attention"},
                {.name = "flash_fwd_splitkv_combine_kernel", .time_s = 100e-6, .launches = 32, .op = "attention"}})}});
  EXPECT_EQ(s.steps, 1);
  ASSERT_EQ(s.kernels.size(), 2U);
  EXPECT_EQ(s.kernels[0].calls, 32);
  EXPECT_NEAR(s.kernels[0].measured_s, 3000e-6, 1e-12) << "but its time is the call's";
  EXPECT_NEAR(s.kernels[0].predicted_s.value(), 3000e-6, 1e-12);
  EXPECT_NEAR(s.kernels[1].predicted_s.value(), 400e-6, 1e-12);
}

TEST(Prediction, KernelNamesTellTheOperatorAndProductsAreOneSum) {
  const auto s = score_prediction(
      predicted(),
      {{testing::record(Specs{{.name = "nvjet_tst_64x16_TNT", .time_s = 700e-6, .launches = 32},
                              {.name = "nvjet_tst_128x16_TNT", .time_s = 500e-6, .launches = 32},
                              {.name = "cublasLt::splitKreduce_kernel", .time_s = 50e-6, .launches = 32},
                              {.name = "flash::FlashAttnFwdSm90<x>", .time_s = 3300e-6, .launches = 32},
                              {.name = "vllm::rotary_embedding_kernel<x>", .time_s = 100e-6, .launches = 32}})}});
  ASSERT_EQ(s.kernels.size(), 3U);
  EXPECT_EQ(s.kernels[1].name, "matrix products");
  EXPECT_NEAR(s.kernels[1].measured_s, 1250e-6, 1e-12);
  EXPECT_NEAR(s.kernels[1].predicted_s.value(), 1000e-6, 1e-12);
  EXPECT_EQ(s.kernels[1].by, MatchedBy::operator_class);
}

TEST(Prediction, AModelIsNoMeasurement) {
  auto measured = testing::record(Specs{{.name = "x", .time_s = 700e-6, .launches = 32, .op = "qkv_proj"},
                                        {.name = "rope", .time_s = 80e-6, .launches = 32, .op = "rope"}});
  measured.kernels[1].time_basis = TimeBasis::model;
  const auto s = score_prediction(predicted(), {{measured}});
  ASSERT_EQ(s.kernels.size(), 1U);
  EXPECT_NEAR(s.mean_error.value(), 1.0 / 7, 1e-9);
  EXPECT_EQ(s.matched_time_share, 1);
  EXPECT_THAT(s.caveats, Contains(::testing::HasSubstr("times of rope are a model's themselves")));
}

TEST(Prediction, NothingInCommon) {
  const auto s = score_prediction(predicted(), {{testing::record(Specs{{"foo"}})}});
  EXPECT_FALSE(s.mean_error);
  EXPECT_THAT(to_terminal(prediction_document(s), {80, false, true}), ::testing::HasSubstr("No measured kernel"));
  EXPECT_EQ(nlohmann::json::parse(prediction_json(s)).at("schema"), "roofline/prediction/1");
}

}  // namespace
}  // namespace roofline
