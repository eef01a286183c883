// Kernel names across versions.
#include "compare/families.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>

#include "roofline/compare.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

TEST(NameFamily, EveryRuleExplainsItself) {
  ASSERT_GT(comparing::family_rules().size(), 15U);
  for (const auto& rule : comparing::family_rules()) {
    EXPECT_EQ(name_family(rule.example), rule.family) << "line " << rule.line << " of data/name_families.csv";
    EXPECT_NE(rule.example, rule.family) << rule.line;
  }
}

// Names as profilers wrote them, from public traces: two versions of one kernel, and pairs that are not.
TEST(NameFamily, VersionsOfOneKernel) {
  const auto same = [](const char* a, const char* b) { EXPECT_EQ(name_family(a), name_family(b)) << a << "\n" << b; };
  same("void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*)",
       "void vllm::rms_norm_kernel<c10::Half, 8>(c10::Half*)");
  same("nvjet_tst_64x16_64x16_2x1_v_bz_splitK_TNT", "nvjet_tst_128x16_64x11_2x1_v_bz_TNT");
  same("nvjet_sm100_tst_64x16_64x16_2x1_v_bz_TNT", "nvjet_tst_64x16_64x16_2x1_2cta_h_bz_TNT");
  same("ampere_sgemm_128x64_tn", "volta_sgemm_32x128_tn");
  same("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_stage4_warpsize2x2x1_tensor16x8x16_kernel",
       "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage3_warpsize2x2x1_tensor16x8x16_kernel");
  same("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_32x3_tn_align8>(Params)",
       "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_64x6_tn_align8>(Params)");
  same("void marlin::Marlin<(long)1125899906910725, (long)1125899906843648, 256, 4>(int4 const*)",
       "void marlin::Marlin<(long)1125899906910725, (long)1125899906843648, 128, 1>(int4 const*)");
  same("triton_poi_fused_mul_silu_2", "triton_poi_fused_mul_silu_11");
  same("_ZN4vllm15rms_norm_kernelIN3c108BFloat16EEEvPT_", "void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*)");
  same("fmhaSm100aKernel_QE4m3KvE2m1OE4m3H128PagedKvDenseP16VarSeqQ8Kv128PersistentSwapsAbForGen",
       "fmhaSm103aKernel_QE4m3KvE2m1OE4m3H128PagedKvDenseP32VarSeqQ16Kv128PersistentSwapsAbForGen");
  EXPECT_EQ(name_family("void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::Coll"),
            "FlashAttnFwd");
  EXPECT_EQ(name_family("void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<int, float>>(Params)"),
            "GemmUniversal");
  same("void vllm::paged_attention_v1_kernel<x>(y)", "void vllm::paged_attention_v2_kernel<x>(y)");
}

TEST(NameFamily, DifferentKernelsStayApart) {
  const auto apart = [](const char* a, const char* b) { EXPECT_NE(name_family(a), name_family(b)) << a << "\n" << b; };
  apart("void vllm::rms_norm_kernel<bf16>(x)", "void vllm::fused_add_rms_norm_kernel<bf16>(x)");
  apart("ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_nn");
  apart("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, x>(int)",
        "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, MulFunctor>, x>(int)");
  apart("triton_poi_fused_mul_silu_2", "triton_poi_fused_add_mul_2");
  apart("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", "ncclDevKernel_AllGather_RING_LL(x)");
  apart("nvjet_tst_64x16_64x16_2x1_v_bz_TNT", "nvjet_qqtst_64x16_64x16_2x1_v_bz_TNT");
}

TEST(NameFamily, AnyBytes) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_NO_THROW(name_family(all));
  EXPECT_NO_THROW(name_family("_Z" + std::string(100000, '9')));
  EXPECT_NO_THROW(name_family(std::string(1 << 20, '<')));
  EXPECT_NO_THROW(name_family(std::string(1 << 20, '_') + "1"));
  EXPECT_EQ(name_family(""), "");
  EXPECT_EQ(name_family("_Z"), "_Z");
  EXPECT_FALSE(name_family("3").empty());
}

// Rules must not swallow names: every real example keeps a family of its own, with a letter in it.
TEST(NameFamily, RealNamesKeepAName) {
  ROOFLINE_NEEDS_SHARED("facts/kernel-names.tsv");
  std::ifstream in(testing::shared_path("facts/kernel-names.tsv"));
  std::string line;
  std::map<std::string, std::string> operator_of;
  std::size_t names = 0;
  while (std::getline(in, line)) {
    const auto last = line.rfind('\t');
    if (line.empty() || line[0] == '#' || last == std::string::npos || line.size() < last + 4) continue;
    const auto op = line.substr(0, line.find('\t'));
    const auto family = name_family(line.substr(last + 3));  // after the mark of where it was seen
    EXPECT_GE(std::count_if(family.begin(), family.end(), [](char c) { return std::isalpha(c) != 0; }), 4) << line;
    const auto [it, fresh] = operator_of.emplace(family, op);
    EXPECT_TRUE(fresh || it->second == op) << family << " is " << it->second << " and " << op;
    ++names;
  }
  EXPECT_GT(names, 30U);
}

}  // namespace
}  // namespace roofline
