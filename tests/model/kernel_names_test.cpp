// From a kernel's name to its operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/error.h"
#include "roofline/model.h"

namespace roofline::model {
namespace {

std::string op_of(std::string_view name) {
  const auto* rule = KernelNames::instance().match(name);
  return rule == nullptr ? "" : rule->op;
}

TEST(KernelNames, EveryRuleRecognisesItsExample) {
  for (const auto& rule : KernelNames::instance().rules()) {
    EXPECT_EQ(op_of(rule.example), rule.op) << "line " << rule.line << ": " << rule.example;
    EXPECT_FALSE(rule.source.empty()) << rule.op;
    EXPECT_FALSE(rule.family.empty()) << rule.op;
  }
  EXPECT_EQ(KernelNames::instance().rules().size(), 36U);
}

TEST(KernelNames, OrderDecides) {
  EXPECT_EQ(op_of("nvjet_tst_128x16_64x11_2x1_v_bz_TNT"), "gemm");
  EXPECT_EQ(op_of("void cublasLt::splitKreduce_kernel<32, 16>(...)"), "gemm.splitk_reduce");
  EXPECT_EQ(op_of("void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(...)"), "add_rms_norm");
  EXPECT_EQ(op_of("void vllm::rms_norm_kernel<c10::BFloat16>(...)"), "rms_norm");
  EXPECT_EQ(op_of("triton_red_fused_fused_add_rms_norm_moe_forward_0"), "rms_norm");
  EXPECT_EQ(op_of("void vllm::paged_attention_v2_reduce_kernel<...>"), "attention.combine");
  EXPECT_EQ(op_of("void vllm::paged_attention_v2_kernel<...>"), "attention.decode");
  EXPECT_EQ(op_of("fmhaSm100aKernel_QE4m3KvE2m1OE4m3H128PagedKvDenseP16VarSeqQ8Kv128PersistentContext"),
            "attention.mixed");
  EXPECT_EQ(op_of("void at::native::vectorized_elementwise_kernel<4, ...>"), "elementwise");
  EXPECT_EQ(op_of("my_kernel"), "");
  EXPECT_EQ(op_of(""), "");
}

TEST(KernelNames, HostileNames) {
  std::string all_bytes;
  for (int i = 0; i < 256; ++i) all_bytes += static_cast<char>(i);
  EXPECT_EQ(op_of(all_bytes), "");
  EXPECT_EQ(op_of(all_bytes + "nvjet_" + all_bytes), "gemm");
  // Backtracking matchers need exponential time or stack for names like these.
  EXPECT_EQ(op_of("nccl" + std::string(1 << 20, 'a')), "");
  EXPECT_EQ(op_of("deep_ep::" + std::string(1 << 20, 'x') + "combine"), "comm.ep_all_to_all");
}

TEST(KernelNames, BadLists) {
  const auto refused = [](const char* csv, const char* kind) {
    try {
      KernelNames::parse(csv, "names.csv");
      ADD_FAILURE() << csv;
    } catch (const InputError& error) {
      EXPECT_EQ(error.problem().kind, kind) << error.what();
    }
  };
  refused("operator,regex,family,example,source\ngemm,(,x,y,z\n", "bad-regex");
  refused("operator,regex,family,example,source\ngemm,,x,y,z\n", "bad-regex");
  refused("operator,regex,family,example\ngemm,a,x,y\n", "missing-column");
  refused("operator,regex,family,example,source\ngemm,a\n", "ragged-row");
  refused("", "no-header");
  const auto own = KernelNames::parse("operator,regex,family,example,source\ngemm,^my_,mine,my_x,me\n", "names.csv");
  ASSERT_NE(own.match("my_gemm"), nullptr);
  EXPECT_EQ(own.match("not my_gemm"), nullptr);
}

}  // namespace
}  // namespace roofline::model
