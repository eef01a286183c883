// Reading configurations: families, absent and null, and files that are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "roofline/error.h"
#include "roofline/model.h"
#include "support/shared_data.h"

namespace roofline::model {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json tiny() {
  return json::parse(R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4,
    "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 1000, "tie_word_embeddings": false})");
}

ModelConfig parse(const json& config) { return parse_config(config.dump(), "config.json"); }

json with(json config, const char* key, json value) {
  config[key] = std::move(value);
  return config;
}

json without(json config, const char* key) {
  config.erase(key);
  return config;
}

void expect_refused(const std::string& text, const char* kind, const char* part) {
  try {
    parse_config(text, "config.json");
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InputError& error) {
    EXPECT_EQ(error.problem().kind, kind) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(part));
    EXPECT_THAT(error.what(), HasSubstr("config.json"));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}
void expect_refused(const json& config, const char* kind, const char* part) {
  expect_refused(config.dump(), kind, part);
}

const AttentionShape& attention(const ModelConfig& config, std::size_t layer) {
  return config.kinds[config.layer_kinds[layer]].shape.attention;
}
const MlpShape& mlp(const ModelConfig& config, std::size_t layer) {
  return config.kinds[config.layer_kinds[layer]].shape.mlp;
}

// ---------------------------------------------------------------- families

TEST(Config, ReadsALlama) {
  const auto config = parse(tiny());
  EXPECT_EQ(config.hidden, 64);
  EXPECT_EQ(config.layers(), 4);
  ASSERT_EQ(config.kinds.size(), 1U);
  EXPECT_EQ(attention(config, 0).head_dim, 8);
  EXPECT_EQ(attention(config, 0).kv_heads, 2);
  EXPECT_EQ(mlp(config, 0).width, 128);
  EXPECT_FALSE(config.checkpoint.has_value());
}

TEST(Config, HeadDimNeedNotBeHiddenOverHeads) {
  EXPECT_EQ(attention(parse(with(tiny(), "head_dim", 32)), 0).head_dim, 32);
  EXPECT_EQ(attention(resolve_config("mistral-nemo-12b"), 0).head_dim, 128);
  auto qwen = with(tiny(), "model_type", "qwen3");
  EXPECT_EQ(attention(parse(qwen), 0).head_dim, 128);  // the class's default, not 64 / 8
}

TEST(Config, KeyValueHeads) {
  EXPECT_EQ(attention(parse(without(tiny(), "num_key_value_heads")), 0).kv_heads, 8);
  EXPECT_EQ(attention(parse(with(tiny(), "num_key_value_heads", nullptr)), 0).kv_heads, 8);
  auto mistral = with(with(tiny(), "model_type", "mistral"), "num_attention_heads", 32);
  EXPECT_EQ(attention(parse(without(mistral, "num_key_value_heads")), 0).kv_heads, 8);
  EXPECT_EQ(attention(parse(with(mistral, "num_key_value_heads", nullptr)), 0).kv_heads, 32);
}

TEST(Config, AbsentIsNotNull) {
  const auto mistral = with(tiny(), "model_type", "mistral");
  EXPECT_EQ(attention(parse(mistral), 0).window, (Window{WindowKind::sliding, 4096}));
  EXPECT_EQ(attention(parse(with(mistral, "sliding_window", nullptr)), 0).window, Window{});
  EXPECT_EQ(attention(parse(with(mistral, "sliding_window", 256)), 0).window.size, 256);
}

TEST(Config, TiedByDefaultWhereTheFamilyIs) {
  EXPECT_FALSE(parse(without(tiny(), "tie_word_embeddings")).tied);
  EXPECT_TRUE(parse(with(without(tiny(), "tie_word_embeddings"), "model_type", "gemma2")).tied);
  EXPECT_TRUE(parse(with(without(tiny(), "tie_word_embeddings"), "model_type", "cohere")).tied);
}

TEST(Config, WindowPatterns) {
  const auto gemma2 = resolve_config("gemma-2-2b");
  EXPECT_EQ(attention(gemma2, 0).window.size, 4096);
  EXPECT_EQ(attention(gemma2, 1).window, Window{});
  const auto gemma3 = resolve_config("gemma-3-4b");
  for (std::size_t i = 0; i < 34; ++i) EXPECT_EQ(attention(gemma3, i).window.size, (i + 1) % 6 == 0 ? 0 : 1024) << i;
  const auto oss = resolve_config("gpt-oss-20b");
  EXPECT_EQ(attention(oss, 0).window.size, 128);
  EXPECT_EQ(attention(oss, 1).window.size, 0);
  const auto cohere = resolve_config("command-r7b");
  EXPECT_EQ(attention(cohere, 0).window.size, 4096);
  EXPECT_EQ(attention(cohere, 3).window.size, 0);
  EXPECT_EQ(attention(cohere, 3).rotary_dim, 0);  // no rotary embedding in the full layers
  const auto scout = resolve_config("llama-4-scout");
  EXPECT_EQ(attention(scout, 0).window, (Window{WindowKind::chunked, 8192}));
  EXPECT_EQ(attention(scout, 3).window, Window{});
}

TEST(Config, LayerTypesRule) {
  auto config = with(with(tiny(), "model_type", "gpt_oss"), "num_local_experts", 4);
  config["num_experts_per_tok"] = 2;
  config["sliding_window"] = 16;
  config["layer_types"] = {"full_attention", "full_attention", "sliding_attention", "full_attention"};
  const auto parsed = parse(config);
  EXPECT_EQ(attention(parsed, 0).window.size, 0);
  EXPECT_EQ(attention(parsed, 2).window.size, 16);
  config["layer_types"] = {"full_attention"};
  expect_refused(config, "contradiction", "layer_types");
  config["layer_types"] = {"full_attention", "linear_attention", "full_attention", "full_attention"};
  expect_refused(config, "out-of-range", "linear_attention");
}

TEST(Config, QwenUsesItsWindowOnlyWhenTold) {
  auto config = with(with(tiny(), "model_type", "qwen2"), "sliding_window", 32);
  EXPECT_EQ(attention(parse(config), 3).window, Window{});
  config["use_sliding_window"] = true;
  config["max_window_layers"] = 2;
  EXPECT_EQ(attention(parse(config), 1).window, Window{});
  EXPECT_EQ(attention(parse(config), 2).window.size, 32);
  EXPECT_TRUE(attention(parse(config), 0).qkv_bias);  // no key says so
  EXPECT_FALSE(attention(parse(config), 0).output_bias);
}

TEST(Config, ExpertLayers) {
  auto config = with(tiny(), "model_type", "qwen3_moe");
  config.update({{"num_experts", 8},
                 {"num_experts_per_tok", 2},
                 {"moe_intermediate_size", 48},
                 {"decoder_sparse_step", 2},
                 {"mlp_only_layers", {3}}});
  const auto parsed = parse(config);
  EXPECT_EQ(mlp(parsed, 0).experts, 0);
  EXPECT_EQ(mlp(parsed, 0).width, 128);
  EXPECT_EQ(mlp(parsed, 1).experts, 8);
  EXPECT_EQ(mlp(parsed, 1).width, 48);
  EXPECT_EQ(mlp(parsed, 3).experts, 0);
  EXPECT_EQ(parsed.kinds.size(), 2U);
  const auto deepseek = resolve_config("deepseek-v3");
  EXPECT_EQ(mlp(deepseek, 2).experts, 0);
  EXPECT_EQ(mlp(deepseek, 3).experts, 256);
  EXPECT_EQ(mlp(deepseek, 3).shared_width, 2048);
  const auto maverick = resolve_config("llama-4-maverick");
  EXPECT_EQ(mlp(maverick, 0).width, 16384);
  EXPECT_EQ(mlp(maverick, 1).experts, 128);
}

TEST(Config, QueryRankNullMeansUncompressed) {
  EXPECT_EQ(attention(resolve_config("deepseek-v2-lite"), 0).q_rank, 0);
  const auto text = find_preset("deepseek-v2-lite")->json;
  expect_refused(without(json::parse(text), "q_lora_rank"), "missing-key", "q_lora_rank");
}

TEST(Config, FalconNames) {
  const auto seven = resolve_config("falcon-7b");
  EXPECT_EQ(attention(seven, 0).kv_heads, 1);
  EXPECT_EQ(mlp(seven, 0).width, 4 * 4544);
  EXPECT_FALSE(mlp(seven, 0).gated);
  EXPECT_TRUE(seven.kinds.front().shape.parallel);
  const auto older = parse_config(R"({"model_type": "falcon", "hidden_size": 64, "n_layer": 2, "n_head": 4,
    "vocab_size": 100, "multi_query": false})",
                                  "old");
  EXPECT_EQ(older.layers(), 2);
  EXPECT_EQ(attention(older, 0).kv_heads, 4);
}

TEST(Config, NestedTextModel) {
  json outer = {{"model_type", "gemma3"}, {"text_config", json::parse(R"({"hidden_size": 2560,
    "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024})")}};
  outer["quantization_config"] = {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 128}};
  const auto config = parse(outer);
  EXPECT_EQ(config.model_type, "gemma3_text");
  EXPECT_EQ(config.vocabulary, 262208);
  EXPECT_EQ(attention(config, 0).heads, 8);
  ASSERT_TRUE(config.checkpoint.has_value());
  EXPECT_DOUBLE_EQ(config.checkpoint->weight_bytes(128, 128) / 128 / 128, 0.515625);
}

TEST(Config, ArchitectureStandsInForTheType) {
  auto config = without(tiny(), "model_type");
  config["architectures"] = {"MistralForCausalLM"};
  EXPECT_EQ(parse(config).model_type, "mistral");
  config["architectures"] = {"MambaForCausalLM"};
  expect_refused(config, "unknown-model-type", "MambaForCausalLM");
  config.erase("architectures");
  expect_refused(config, "missing-key", "model_type");
}

// ---------------------------------------------------------------- quantization

ModelConfig quantized(const json& quantization) { return parse(with(tiny(), "quantization_config", quantization)); }

TEST(Quantization, Fp8) {
  const auto block =
      quantized({{"quant_method", "fp8"}, {"weight_block_size", {64, 32}}, {"activation_scheme", "dynamic"}});
  EXPECT_EQ(block.checkpoint->weight_bytes(128, 64), 128 * 64 + 4 * 2 * 2);
  EXPECT_EQ(block.checkpoint->activation_bytes(3, 64), 3 * 64 + 4 * 3 * 2);
  const auto tensor = quantized({{"quant_method", "fp8"}, {"activation_scheme", "static"}});
  EXPECT_EQ(tensor.checkpoint->weight_bytes(128, 64), 128 * 64 + 4);
  EXPECT_EQ(tensor.checkpoint->activation_bytes(3, 64), 3 * 64);
}

TEST(Quantization, CompressedTensorsSayTheirBits) {
  const auto group = [](json weights, json inputs) {
    return json{
        {"quant_method", "compressed-tensors"},
        {"config_groups", {{"group_0", {{"weights", std::move(weights)}, {"input_activations", std::move(inputs)}}}}}};
  };
  const auto fp8 = quantized(group({{"num_bits", 8}, {"type", "float"}, {"strategy", "channel"}},
                                   {{"num_bits", 8}, {"type", "float"}, {"dynamic", true}}));
  EXPECT_EQ(fp8.checkpoint->precision, *parse_precision("fp8.tensor"));
  EXPECT_EQ(fp8.checkpoint->weight_bytes(128, 64), 128 * 64 + 4 * 128);
  const auto int8 = quantized(group({{"num_bits", 8}, {"type", "int"}, {"strategy", "channel"}},
                                    {{"num_bits", 8}, {"type", "int"}, {"dynamic", true}}));
  EXPECT_EQ(int8.checkpoint->precision, *parse_precision("int8.tensor"));
  const auto w4 =
      quantized(group({{"num_bits", 4}, {"type", "int"}, {"strategy", "group"}, {"group_size", 32}}, nullptr));
  EXPECT_EQ(w4.checkpoint->weight_bytes(1, 64), 32 + 2 * 2);
  EXPECT_FALSE(w4.checkpoint->quantizes_activations());
}

TEST(Quantization, ExpertsOnly) {
  const auto config = resolve_config("gpt-oss-120b");
  EXPECT_EQ(config.checkpoint->name, "mxfp4");
  EXPECT_FALSE(config.parts.attention);
  EXPECT_TRUE(config.parts.experts);
}

TEST(Quantization, SecondFileOfModelopt) {
  auto config = parse(tiny());
  apply_quantization_file(config, R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8",
    "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}})",
                          "hf_quant_config.json");
  EXPECT_EQ(config.checkpoint->name, "fp8_tensor");
  ASSERT_NE(config.checkpoint_kv, nullptr);
  EXPECT_EQ(config.checkpoint_kv->name, "fp8");
  EXPECT_THROW(apply_quantization_file(config, "{}", "x"), InputError);
}

TEST(Quantization, UnknownIsRefused) {
  expect_refused(with(tiny(), "quantization_config", {{"quant_method", "aqlm"}}), "unknown-quantization", "aqlm");
  expect_refused(with(tiny(), "quantization_config", json::object()), "unknown-quantization", "quant_method");
  expect_refused(with(tiny(), "quantization_config", {{"quant_method", "gptq"}, {"bits", 99}}), "unknown-quantization",
                 "99 bits");
  expect_refused(with(tiny(), "quantization_config", {{"quant_method", "gptq"}}), "missing-key", "bits");
}

// ---------------------------------------------------------------- wrong files

TEST(BadConfig, NotJson) {
  const auto text = tiny().dump();
  for (std::size_t length = 0; length < text.size(); ++length)
    expect_refused(text.substr(0, length), "not-json", "byte");
  expect_refused(std::string("\x89PNG\r\n"), "not-json", "config.json");
  expect_refused(std::string("[1, 2]"), "wrong-type", "array");
  expect_refused(std::string(R"({"hidden_size": 1, "hidden_size": 2})"), "duplicate-key", "hidden_size");
  expect_refused(std::string(100000, '['), "not-json", "nesting");
}

TEST(BadConfig, NamesTheKey) {
  for (const auto* key :
       {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size"}) {
    expect_refused(without(tiny(), key), "missing-key", key);
    expect_refused(with(tiny(), key, nullptr), "missing-key", key);
    expect_refused(with(tiny(), key, "64"), "wrong-type", key);
    expect_refused(with(tiny(), key, 64.5), "wrong-type", key);
    expect_refused(with(tiny(), key, 0), "out-of-range", key);
    expect_refused(with(tiny(), key, -1), "out-of-range", key);
    expect_refused(with(tiny(), key, 1e18), "out-of-range", key);
  }
  expect_refused(with(tiny(), "tie_word_embeddings", 1), "wrong-type", "tie_word_embeddings");
  expect_refused(with(tiny(), "model_type", "mamba"), "unknown-model-type", "mamba");
  expect_refused(with(tiny(), "text_config", 3), "wrong-type", "text_config");
}

TEST(BadConfig, Contradictions) {
  expect_refused(with(tiny(), "num_attention_heads", 6), "contradiction", "heads");
  expect_refused(with(tiny(), "num_key_value_heads", 3), "contradiction", "key-value heads");
  expect_refused(with(tiny(), "num_key_value_heads", 16), "contradiction", "key-value heads");
  auto moe = with(tiny(), "model_type", "mixtral");
  moe.update({{"num_local_experts", 4}, {"num_experts_per_tok", 5}});
  expect_refused(moe, "contradiction", "experts");
  moe["num_experts_per_tok"] = 2;
  moe["experts_per_token"] = 3;
  expect_refused(moe, "contradiction", "experts_per_token");
  auto huge = tiny();
  huge.update({{"hidden_size", 1 << 24}, {"intermediate_size", 1 << 24}, {"num_hidden_layers", 4000}});
  expect_refused(huge, "out-of-range", "parameters");
}

// Whatever is done to a configuration, it is read or refused: never another exception, never a crash.
TEST(BadConfig, EveryMutationIsReadOrRefused) {
  const std::vector<json> values = {
      nullptr, "x", -1, 0, 1, 3, 1e300, true, json::array(), json::object(), json::array({1, "a"}), 1 << 24};
  std::size_t refused = 0;
  for (const auto& preset : presets()) {
    const auto original = json::parse(preset.json);
    const bool nested = original.contains("text_config");
    const auto object = nested ? original.at("text_config") : original;
    for (const auto& [key, ignored] : object.items()) {
      for (std::size_t i = 0; i <= values.size(); ++i) {
        auto changed = i == 0 ? without(object, key.c_str()) : with(object, key.c_str(), values[i - 1]);
        if (nested) changed = with(original, "text_config", changed);
        try {
          const auto config = parse(changed);
          EXPECT_GT(parameter_count(config), 0) << preset.name << " " << key;
          StepOptions options;
          std::vector<Operator> operators;
          build_step(config, options, operators);
        } catch (const InputError&) {
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(refused, 2000U);
}

TEST(LoadConfig, MissingFileAndDirectory) {
  EXPECT_THROW(load_config("/nonexistent/config.json"), InputError);
  EXPECT_THROW(load_config("/"), InputError);
}

TEST(LoadConfig, RealFiles) {
  ROOFLINE_NEEDS_SHARED("data/llm-config");
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(roofline::testing::shared_path("data/llm-config"))) {
    const auto config = load_config(entry.path().string());
    EXPECT_GT(parameter_count(config), 1000000000) << entry.path();
    ++read;
  }
  std::cout << read << " real configurations read\n";
  EXPECT_GE(read, 18U);
}

// A preset and the published file of the same model must describe the same layers.
TEST(LoadConfig, RealFilesEqualThePresets) {
  ROOFLINE_NEEDS_SHARED("data/llm-config");
  const std::vector<std::pair<const char*, const char*>> pairs = {
      {"ai-dynamo__aiconfigurator__Qwen--Qwen3-235B-A22B_config.json", "qwen3-235b-a22b"},
      {"ai-dynamo__aiconfigurator__Qwen--Qwen3-30B-A3B_config.json", "qwen3-30b-a3b"},
      {"ai-dynamo__aiconfigurator__Qwen--Qwen3-8B_config.json", "qwen3-8b"},
      {"ai-dynamo__aiconfigurator__Qwen--Qwen3-32B-FP8_config.json", "qwen3-32b"},
      {"ai-dynamo__aiconfigurator__deepseek-ai--DeepSeek-V3_config.json", "deepseek-v3"},
      {"ai-dynamo__aiconfigurator__meta-llama--Meta-Llama-3.1-405B_config.json", "llama-3.1-405b"},
      {"ai-dynamo__aiconfigurator__meta-llama--Meta-Llama-3.1-70B_config.json", "llama-3.1-70b"},
      {"ai-dynamo__aiconfigurator__meta-llama--Meta-Llama-3.1-8B_config.json", "llama-3.1-8b"},
      {"ai-dynamo__aiconfigurator__mistralai--Mixtral-8x7B-v0.1_config.json", "mixtral-8x7b"},
      {"ai-dynamo__aiconfigurator__openai--gpt-oss-120b_config.json", "gpt-oss-120b"},
      {"inference-sim__inference-sim__deepseek-v2-lite_config.json", "deepseek-v2-lite"},
      {"inference-sim__inference-sim__llama-2-7b-hf_config.json", "llama-2-7b"},
      {"inference-sim__inference-sim__mistral-nemo-instruct-2407_config.json", "mistral-nemo-12b"},
      {"inference-sim__inference-sim__qwen2.5-7b-instruct_config.json", "qwen2.5-7b"},
      {"ThanatosShinji__onnx-tool__gemma2b_from_py.json", "gemma-2-2b"}};
  for (const auto& [file, preset] : pairs) {
    const auto real = load_config(roofline::testing::shared_path(std::string("data/llm-config/") + file).string());
    const auto typed = resolve_config(preset);
    EXPECT_EQ(parameter_count(real), parameter_count(typed)) << file;
    EXPECT_EQ(real.layer_kinds, typed.layer_kinds) << file;
    ASSERT_EQ(real.kinds.size(), typed.kinds.size()) << file;
    for (std::size_t i = 0; i < real.kinds.size(); ++i) EXPECT_EQ(real.kinds[i].shape, typed.kinds[i].shape) << file;
  }
}

}  // namespace
}  // namespace roofline::model
