// Parameter counts, bytes of weights and KV cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "roofline/error.h"
#include "roofline/model.h"

namespace roofline::model {
namespace {

using ::testing::HasSubstr;

// Totals as the checkpoints' metadata and model cards state them (DeepSeek-V3 without its multi-token prediction).
struct Published {
  const char* preset;
  Count parameters;
};
constexpr Published kPublished[] = {
    {"llama-2-7b", 6738415616},
    {"llama-2-13b", 13015864320},
    {"llama-2-70b", 68976648192},
    {"llama-3-8b", 8030261248},
    {"llama-3-70b", 70553706496},
    {"llama-3.1-405b", 405853388800},
    {"llama-3.2-1b", 1235814400},
    {"llama-3.2-3b", 3212749824},
    {"mistral-7b-v0.1", 7241732096},
    {"mistral-7b-v0.3", 7248023552},
    {"mistral-nemo-12b", 12247782400},
    {"mixtral-8x7b", 46702792704},
    {"mixtral-8x22b", 140620634112},
    {"qwen2.5-0.5b", 494032768},
    {"qwen2.5-7b", 7615616512},
    {"qwen2.5-72b", 72706203648},
    {"qwen3-0.6b", 596049920},
    {"qwen3-1.7b", 1720574976},
    {"qwen3-8b", 8190735360},
    {"qwen3-32b", 32762123264},
    {"qwen3-30b-a3b", 30532122624},
    {"qwen3-235b-a22b", 235093634560},
    {"qwen1.5-moe-a2.7b", 14315784192},
    {"deepseek-v2-lite", 15706484224},
    {"deepseek-v2", 235741434880},
    {"deepseek-v3", 671026419200},
    {"gemma-2b", 2506172416},
    {"gemma-7b", 8537680896},
    {"gemma-2-2b", 2614341888},
    {"gemma-2-9b", 9241705984},
    {"gemma-2-27b", 27227128320},
    {"gemma-3-1b", 999885952},
    {"phi-3-mini-4k", 3821079552},
    {"phi-3-medium-4k", 13960238080},
    {"phi-4", 14659507200},
    {"phi-4-mini", 3836021760},
    {"gpt-oss-20b", 20914757184},
    {"gpt-oss-120b", 116829156672},
    {"falcon-7b", 6921720704},
    {"falcon-40b", 41303293952},
    {"command-r", 34980831232},
    {"chatglm3-6b", 6243584000},
    {"glm-4-9b", 9399951360},
    {"llama-4-scout", 107769861120},
    {"llama-4-maverick", 400711848960},
};

TEST(ParameterCount, EqualsThePublishedTotals) {
  for (const auto& expected : kPublished)
    EXPECT_EQ(parameter_count(resolve_config(expected.preset)), expected.parameters) << expected.preset;
}

TEST(ParameterCount, Gemma3IsTheWholeModelWithoutItsVisionTower) {
  // The vision tower (SigLIP, 416,866,032) and the projection 1152 x hidden with its norm are in the published total.
  const auto text = [](const char* preset) { return parameter_count(resolve_config(preset)); };
  EXPECT_EQ(text("gemma-3-4b"), 4300079472 - 416866032 - 1152 * 2560 - 1152);
  EXPECT_EQ(text("gemma-3-12b"), 12187325040 - 416866032 - 1152 * 3840 - 1152);
  EXPECT_EQ(text("gemma-3-27b"), 27432406640 - 416866032 - 1152 * 5376 - 1152);
}

TEST(Presets, CarryWhatTheyAddUpTo) {
  EXPECT_GE(presets().size(), 60U);
  for (const auto& preset : presets()) {
    const auto config = parse_config(preset.json, preset.name);
    EXPECT_EQ(parameter_count(config), preset.parameters) << preset.name;
    EXPECT_FALSE(preset.source.empty());
    EXPECT_EQ(find_preset(preset.name), &preset) << "two presets are called " << preset.name;
    for (const auto& alias : preset.aliases) EXPECT_EQ(find_preset(alias), &preset) << alias;
  }
}

TEST(Presets, AreFoundInAnyCaseAndSuggestedWhenMissed) {
  EXPECT_EQ(find_preset("META-llama/Meta-Llama-3-8b"), find_preset("llama-3-8b"));
  EXPECT_EQ(find_preset(""), nullptr);
  try {
    resolve_config("llama3.1-7b");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("llama-3.1-8b"));
  }
}

// ---------------------------------------------------------------- KV cache

TEST(KvBytes, PerToken) {
  const auto& bf16 = *find_kv_format("bf16");
  EXPECT_EQ(kv_bytes_per_token(resolve_config("llama-3-8b"), bf16), 131072);
  EXPECT_EQ(kv_bytes_per_token(resolve_config("llama-3-70b"), bf16), 327680);
  EXPECT_EQ(kv_bytes_per_token(resolve_config("llama-3-70b"), bf16, 8), 40960);
  EXPECT_EQ(kv_bytes_per_token(resolve_config("mixtral-8x7b"), bf16), 131072);
  EXPECT_EQ(kv_bytes_per_token(resolve_config("qwen3-30b-a3b"), bf16), 98304);
  EXPECT_EQ(kv_bytes_per_token(resolve_config("deepseek-v3"), bf16), 70272);
}

TEST(KvBytes, LatentIsNotSplitAndHeadsAreReplicated) {
  const auto& bf16 = *find_kv_format("bf16");
  EXPECT_EQ(kv_bytes_per_token(resolve_config("deepseek-v3"), bf16, 8), 70272);
  EXPECT_EQ(kv_bytes_per_token(resolve_config("falcon-7b"), bf16, 71), 32 * 2 * 64 * 2);  // one head, on every GPU
}

TEST(KvBytes, FormatsWithScales) {
  EXPECT_EQ(kv_bytes_per_token(resolve_config("deepseek-v3"), *find_kv_format("fp8_ds_mla")), 61 * 656);
  const auto llama = resolve_config("llama-3-8b");
  EXPECT_EQ(kv_bytes_per_token(llama, *find_kv_format("fp8")), 65536);
  EXPECT_EQ(kv_bytes_per_token(llama, *find_kv_format("int8_head")), 32 * 2 * 8 * (128 + 4));
  EXPECT_EQ(kv_bytes_per_token(llama, *find_kv_format("int4")), 32 * 2 * 8 * (64 + 4));
}

// ---------------------------------------------------------------- weights

TEST(Schemes, EffectiveBytesPerWeight) {
  const auto per_weight = [](const char* scheme) {
    return find_scheme(scheme)->weight_bytes(4096, 4096) / 4096 / 4096;
  };
  EXPECT_EQ(per_weight("bf16"), 2);
  EXPECT_DOUBLE_EQ(per_weight("fp8"), 1 + 4.0 / 4096);
  EXPECT_DOUBLE_EQ(per_weight("fp8_block"), 1.000244140625);
  EXPECT_DOUBLE_EQ(per_weight("w4a16_g128"), 0.515625);
  EXPECT_DOUBLE_EQ(per_weight("w4a16_g128_zp"), 0.51953125);
  EXPECT_DOUBLE_EQ(per_weight("w4a16_g32"), 0.5625);
  EXPECT_DOUBLE_EQ(per_weight("mxfp4"), 0.53125);
  EXPECT_DOUBLE_EQ(per_weight("mxfp8"), 1.03125);
  EXPECT_DOUBLE_EQ(per_weight("q8_0"), 1.0625);
  EXPECT_DOUBLE_EQ(per_weight("nvfp4"), 0.5625 + 4.0 / 4096 / 4096);
}

TEST(Schemes, TilesAreRoundedUp) {
  const auto& block = *find_scheme("fp8_block");
  EXPECT_EQ(block.weight_bytes(129, 257), 129 * 257 + 4 * 2 * 3);
  EXPECT_EQ(find_scheme("w4a16_g128")->weight_bytes(3, 129), 3 * 129 / 2.0 + 2 * 3 * 2);
  EXPECT_EQ(block.activation_bytes(5, 257), 5 * 257 + 4 * 5 * 3);
  EXPECT_EQ(find_scheme("fp8")->activation_bytes(5, 257), 5 * 257 + 4 * 5);
  EXPECT_EQ(find_scheme("fp8_tensor")->activation_bytes(5, 257), 5 * 257);
}

TEST(Schemes, AllAreNamedSourcedAndConsistent) {
  for (const auto& scheme : schemes()) {
    EXPECT_FALSE(scheme.source.empty()) << scheme.name;
    EXPECT_EQ(find_scheme(scheme.name), &scheme);
    if (!scheme.kv.empty()) {
      EXPECT_NE(find_kv_format(scheme.kv), nullptr) << scheme.name;
    }
    // Only a small operand uses the small units.
    EXPECT_EQ(scheme.quantizes_activations(), scheme.precision != scheme.base) << scheme.name;
  }
  EXPECT_EQ(find_scheme("fp7"), nullptr);
}

TEST(Footprint, SplitsExactlyOverTensorParallelGpus) {
  for (const auto* preset : {"llama-3-70b", "mixtral-8x7b", "qwen2.5-72b", "gemma-2-27b", "llama-4-scout"}) {
    const auto config = resolve_config(preset);
    StepOptions whole;
    whole.scheme = find_scheme("bf16");
    for (const Count tp : {2, 4, 8}) {
      auto part = whole;
      part.tp = tp;
      if (config.kinds.front().shape.attention.heads % tp != 0) continue;
      EXPECT_EQ(static_cast<double>(tp) * footprint(config, part).linears, footprint(config, whole).linears)
          << preset << " tp " << tp;
      EXPECT_EQ(static_cast<double>(tp) * footprint(config, part).kv_cache, footprint(config, whole).kv_cache)
          << preset << " tp " << tp;
    }
  }
}

TEST(Footprint, IsTheParameterCountIn16Bit) {
  StepOptions options;
  options.scheme = find_scheme("bf16");
  for (const auto& preset : presets()) {
    const auto config = parse_config(preset.json, preset.name);
    EXPECT_EQ(footprint(config, options).weights(), 2.0 * static_cast<double>(preset.parameters)) << preset.name;
  }
}

TEST(Footprint, WindowsBoundTheCache) {
  const auto config = resolve_config("gpt-oss-20b");
  StepOptions options;
  options.batch = 3;
  options.context = 8192;
  EXPECT_EQ(footprint(config, options).kv_cache, 3.0 * 12 * (8192 + 128) * 2 * 8 * 64 * 2);
}

TEST(Footprint, LargestBatch) {
  const auto config = resolve_config("llama-3-8b");
  StepOptions options;
  options.context = 8192;
  const double weights = footprint(config, options).weights();
  const double sequence = 8192.0 * 131072;
  EXPECT_EQ(largest_batch(config, options, weights + 5.5 * sequence, 1), 5);
  EXPECT_EQ(largest_batch(config, options, weights + 0.5 * sequence, 1), 0);
  EXPECT_EQ(largest_batch(config, options, 1e9, 1), 0);
}

}  // namespace
}  // namespace roofline::model
