#include "roofline/operator_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace roofline {
namespace {

using ::testing::HasSubstr;

const std::string kBf16Pair = R"(["c10::BFloat16","c10::BFloat16"])";

TEST(OperatorWork, MatrixProduct) {
  const auto work = operator_work("aten::mm", "[[8,16],[16,4]]", kBf16Pair, "");
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops(), 2 * 8 * 16 * 4);
  EXPECT_EQ(work->bytes, 2 * (8 * 16 + 16 * 4 + 8 * 4));
  ASSERT_EQ(work->parts.size(), 1);
  EXPECT_EQ(to_string(work->parts[0].precision), "bf16.tensor");
  EXPECT_EQ(work->shape, "8x16 . 16x4");
  EXPECT_FALSE(work->lower_bound);
}

TEST(OperatorWork, BiasIsAddedOnVectorUnits) {
  const auto work = operator_work("aten::addmm", "[[4],[8,16],[16,4],[],[]]",
                                  R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar"])", "");
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops(), 2 * 8 * 16 * 4 + 8 * 4);
  EXPECT_EQ(work->bytes, 2 * (8 * 16 + 16 * 4 + 8 * 4 + 4));
  ASSERT_EQ(work->parts.size(), 2);
  EXPECT_EQ(to_string(work->parts[1].precision), "fp32.vector");
}

TEST(OperatorWork, LinearHasItsWeightTransposed) {
  const auto work = operator_work("aten::linear", "[[2,5,16],[4,16]]", R"(["c10::Half","c10::Half"])", "");
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops(), 2 * 2 * 5 * 16 * 4);
  EXPECT_EQ(to_string(work->parts[0].precision), "fp16.tensor");
}

TEST(OperatorWork, BatchesStretch) {
  const auto work = operator_work("aten::matmul", "[[3,1,8,16],[2,16,4]]", R"(["float","float"])", "");
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops(), 3.0 * 2 * 2 * 8 * 16 * 4);
  EXPECT_EQ(to_string(work->parts[0].precision), "fp32.vector");
  EXPECT_FALSE(operator_work("aten::matmul", "[[3,8,16],[2,16,4]]", R"(["float","float"])", ""));
}

TEST(OperatorWork, CausalAttentionIsHalfAndSaysSo) {
  const std::string shapes = "[[2,4,6,8],[2,4,6,8],[2,4,6,8],[],[],[],[]]";
  const std::string types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar","Scalar",""])";
  const std::string name = "aten::_scaled_dot_product_flash_attention";
  const auto full = operator_work(name, shapes, types, R"(["","","","0.","False","False",""])");
  const auto causal = operator_work(name, shapes, types, R"(["","","","0.","True","False",""])");
  const auto unknown = operator_work(name, shapes, types, "");
  ASSERT_TRUE(full && causal && unknown);
  EXPECT_EQ(full->flops(), 4.0 * 2 * 4 * 6 * 6 * 8);
  EXPECT_EQ(causal->flops(), full->flops() / 2);
  EXPECT_THAT(causal->note, HasSubstr("half"));
  // One new token over a cache sees all of it.
  const std::string decode = "[[2,4,1,8],[2,4,6,8],[2,4,6,8],[],[],[],[]]";
  const auto step = operator_work(name, decode, types, R"(["","","","0.","True","False",""])");
  ASSERT_TRUE(step);
  EXPECT_EQ(step->flops(), 4.0 * 2 * 4 * 1 * 6 * 8);
  EXPECT_THAT(step->note, HasSubstr("another length"));
  EXPECT_EQ(unknown->flops(), full->flops());
  EXPECT_THAT(unknown->note, HasSubstr("does not say"));
  EXPECT_EQ(full->bytes, 4 * 2.0 * 2 * 4 * 6 * 8);
}

TEST(OperatorWork, GroupedQueryAttentionReadsFewerHeads) {
  const auto work =
      operator_work("aten::_scaled_dot_product_flash_attention", "[[1,8,1,64],[1,2,100,64],[1,2,100,64],[],[],[],[]]",
                    R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar",""])",
                    R"(["","","","0.","False","False",""])");
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops(), 4.0 * 8 * 100 * 64);
  EXPECT_EQ(work->bytes, 2.0 * (2 * 8 * 64 + 2 * 2 * 100 * 64));
}

TEST(OperatorWork, Convolution) {
  const std::string types =
      R"(["float","float","float","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])";
  const auto work = operator_work("aten::convolution", "[[1,3,8,8],[5,3,3,3],[5],[],[],[],[],[],[]]", types,
                                  R"(["","","","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1"])");
  ASSERT_TRUE(work);
  const double results = 5 * 4 * 4;
  EXPECT_EQ(work->flops(), 2 * results * 3 * 3 * 3 + results);
  EXPECT_EQ(work->bytes, 4 * (3 * 8 * 8 + 5 * 3 * 3 * 3 + results + 5));
  // Without the stride the size of the result would be a guess.
  EXPECT_FALSE(operator_work("aten::convolution", "[[1,3,8,8],[5,3,3,3],[5],[],[],[],[],[],[]]", types, ""));
}

TEST(OperatorWork, ElementwiseByBytes) {
  const auto add = operator_work("aten::add", "[[16,8],[8],[]]", R"(["c10::BFloat16","c10::BFloat16","Scalar"])", "");
  ASSERT_TRUE(add);
  EXPECT_EQ(add->bytes, 2 * (16 * 8 + 8 + 16 * 8));
  EXPECT_EQ(add->flops(), 16 * 8);
  EXPECT_FALSE(add->lower_bound);
  const auto silu = operator_work("aten::silu", "[[16,8]]", R"(["c10::BFloat16"])", "");
  ASSERT_TRUE(silu);
  EXPECT_EQ(silu->flops(), 16 * 8);
  EXPECT_TRUE(silu->lower_bound);  // it costs more than one operation
  const auto copy = operator_work("aten::copy_", "[[4,4],[4,4],[]]", R"(["float","c10::BFloat16","Scalar"])", "");
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->bytes, 16 * (4 + 2));
  EXPECT_EQ(copy->flops(), 0);
  EXPECT_FALSE(copy->lower_bound);
  const auto compare = operator_work("aten::eq", "[[4,4],[]]", R"(["long int","Scalar"])", "");
  ASSERT_TRUE(compare);
  EXPECT_EQ(compare->bytes, 16 * (8 + 1));
  const auto scalar_tensor = operator_work("aten::mul", "[[4,4],[]]", R"(["float","double"])", "");
  ASSERT_TRUE(scalar_tensor);
  EXPECT_EQ(scalar_tensor->bytes, 16 * 4 + 8 + 16 * 4);  // a scalar does not widen the result
}

TEST(OperatorWork, ReductionOverNamedDimensions) {
  const auto work = operator_work("aten::mean", "[[4,8,16],[],[],[]]", R"(["float","ScalarList","Scalar",""])",
                                  R"(["","[-1]","True",""])");
  ASSERT_TRUE(work);
  EXPECT_EQ(work->bytes, 4.0 * (4 * 8 * 16 + 4 * 8));
}

TEST(OperatorWork, EmbeddingReadsOnlyTheRowsThatAreAskedFor) {
  const auto work = operator_work("aten::embedding", "[[50000,64],[2,3],[],[],[]]",
                                  R"(["c10::BFloat16","long int","Scalar","Scalar","Scalar"])", "");
  ASSERT_TRUE(work);
  EXPECT_EQ(work->bytes, 6 * 8 + 2 * 6 * 64 * 2);
}

TEST(OperatorWork, WhatIsNotKnownIsNotModelled) {
  EXPECT_FALSE(operator_work("aten::topk", "[[4]]", R"(["float"])", ""));
  EXPECT_FALSE(operator_work("aten::mm", "", "", ""));
  EXPECT_FALSE(operator_work("aten::mm", "[[8,16],[16,4]]", R"(["c10::Mystery","c10::Mystery"])", ""));
  EXPECT_FALSE(operator_work("aten::mm", "[[8,16],[17,4]]", kBf16Pair, ""));
  EXPECT_FALSE(operator_work("aten::cat", "[[[4,4],[4,4]],[]]", R"(["TensorList","Scalar"])", ""));
}

TEST(OperatorWork, HostileArgumentsGiveNothing) {
  for (const std::string shapes : {"[[1e300,1e300],[1e300,1e300]]", "[[-4,16],[16,4]]", "[[\"a\",16],[16,4]]", "[",
                                   "{}", "null", "[[],[]]", "[[8,16],[16,4]", "[[1e400,2],[2,2]]"}) {
    const auto work = operator_work("aten::mm", shapes, kBf16Pair, "");
    EXPECT_FALSE(work) << shapes;
  }
  const std::string bomb(100'000, '[');
  EXPECT_FALSE(operator_work("aten::mm", bomb, kBf16Pair, bomb));
}

// --- joining ---

class JoinTest : public ::testing::Test {
 protected:
  Timeline timeline_;
  NameTable names_{timeline_.names};

  void add_operator(const char* name, std::int64_t start, std::int64_t end, const char* shapes, std::uint64_t id = 0,
                    const char* types = R"(["c10::BFloat16","c10::BFloat16"])") {
    OperatorCall call;
    call.span = {start, end};
    call.name = names_.intern(name);
    call.thread = 1;
    call.external_id = id;
    if (*shapes != '\0') {
      call.shapes = names_.intern(shapes);
      call.types = names_.intern(types);
    }
    timeline_.operators.push_back(call);
  }
  void add_call(std::int64_t start, std::uint64_t correlation, HostCallKind kind = HostCallKind::launch) {
    timeline_.calls.push_back({{start, start + 1}, names_.intern("cudaLaunchKernel"), 1, correlation, kind});
  }
  void add_kernel(std::int64_t start, std::int64_t length, std::uint64_t correlation, const char* name = "gemm",
                  std::uint64_t external_id = 0) {
    GpuActivity activity;
    activity.span = {start, start + length};
    activity.name = activity.full_name = names_.intern(name);
    activity.correlation = correlation;
    activity.external_id = external_id;
    timeline_.activities.push_back(activity);
  }
};

TEST_F(JoinTest, InnermostModelledOperatorTakesTheKernels) {
  add_operator("aten::linear", 0, 100, "[[8,16],[4,16]]");
  add_operator("aten::mm", 10, 90, "[[8,16],[16,4]]");
  add_operator("aten::empty", 20, 30, "");
  add_call(25, 1);
  add_call(50, 2);
  add_kernel(1000, 10, 1, "memset");
  add_kernel(1010, 100, 2);
  const auto join = join_operators(timeline_);
  ASSERT_EQ(join.modelled.size(), 1);
  EXPECT_EQ(join.modelled[0].call, 1);
  EXPECT_EQ(join.modelled[0].busy_ns, 110);
  EXPECT_EQ(join.modelled[0].main_activity, 1);
  EXPECT_EQ(join.call_of[0], 2);  // the operator right around the launch
  EXPECT_EQ(join.kernel_ns, 110);
  EXPECT_EQ(join.modelled_ns, 110);
  EXPECT_EQ(join.shapeless_ns, 0);
}

TEST_F(JoinTest, AnOperatorThatEndedDoesNotTakeLaterKernels) {
  add_operator("aten::mm", 0, 50, "[[8,16],[16,4]]");
  add_call(50, 1);
  add_kernel(1000, 10, 1);
  const auto join = join_operators(timeline_);
  EXPECT_TRUE(join.modelled.empty());
  EXPECT_EQ(join.shapeless_ns, 10);
}

TEST_F(JoinTest, KernelsOfAGraphHaveNoShape) {
  add_operator("aten::mm", 0, 100, "[[8,16],[16,4]]");
  add_call(10, 1, HostCallKind::graph_launch);
  add_kernel(1000, 10, 1);
  add_kernel(1010, 10, 1);
  const auto join = join_operators(timeline_);
  EXPECT_TRUE(join.modelled.empty());
  EXPECT_EQ(join.shapeless_ns, 20);
  EXPECT_EQ(join.graph_ns, 20);
}

TEST_F(JoinTest, ExternalIdWhereTheCallIsMissing) {
  add_operator("aten::mm", 0, 100, "[[8,16],[16,4]]", 77);
  add_kernel(1000, 10, 5, "gemm", 77);
  add_kernel(2000, 10, 77, "gemm", 77);  // the correlation number written twice: no operator's id
  const auto join = join_operators(timeline_);
  ASSERT_EQ(join.modelled.size(), 1);
  EXPECT_EQ(join.modelled[0].activities, std::vector<std::uint32_t>{0});
  EXPECT_EQ(join.shapeless_ns, 10);
}

TEST_F(JoinTest, TheKernelsNameTellsTf32) {
  add_operator("aten::mm", 0, 100, "[[8,16],[16,4]]", 0, R"(["float","float"])");
  add_call(10, 1);
  add_kernel(1000, 10, 1, "ampere_sgemm_tf32_s1688_128x64");
  const auto join = join_operators(timeline_);
  ASSERT_EQ(join.modelled.size(), 1);
  EXPECT_EQ(to_string(join.modelled[0].work.parts[0].precision), "tf32.tensor");
}

}  // namespace
}  // namespace roofline
