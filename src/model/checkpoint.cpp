#include "model/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>

namespace roofline::model {
namespace {

constexpr double kScale32 = 4;  // bytes of an FP32 scale
constexpr double kScale16 = 2;
constexpr Count kFewestBits = 2;  // of a weight
constexpr Count kMostBits = 16;

Scheme named(const char* name) {
  const auto* scheme = find_scheme(name);
  if (scheme == nullptr) throw std::logic_error(std::string("quantization.json lacks ") + name);
  return *scheme;
}

[[noreturn]] void unknown(const JsonKeys& keys, const std::string& found) {
  refuse(keys.label(), "unknown-quantization", found,
         "fp8, mxfp4, gptq, awq, compressed-tensors, modelopt, fbgemm_fp8 "
         "or bitsandbytes",
         "choose the number format by option, or remove quantization_config");
}

// A pattern such as "model.layers.*.self_attn" names parts of every layer; one with a layer's number does not.
bool names_one_layer(const std::string& pattern) {
  const auto at = pattern.find("layers.");
  return at != std::string::npos && at + 7 < pattern.size() && pattern[at + 7] >= '0' && pattern[at + 7] <= '9';
}

void exclude(ModelConfig& config, const std::vector<std::string>& patterns) {
  bool partial = false;
  for (const auto& pattern : patterns) {
    const auto has = [&](const char* part) { return pattern.find(part) != std::string::npos; };
    if (names_one_layer(pattern)) {
      partial = true;
    } else if (has("shared_expert")) {
      config.parts.shared_expert = false;
    } else if (has("experts")) {
      config.parts.experts = false;
    } else if (has("attn")) {
      config.parts.attention = false;
    } else if (has("mlp") && !has("router") && !has("gate")) {
      config.parts.mlp = false;
    }
  }
  if (partial)
    config.notes.emplace_back(
        "matrices that the checkpoint leaves unquantized in single layers are modelled as quantized");
}

Scheme integer_scheme(const JsonKeys& keys, const char* family, Count bits, Count group, bool zero_points) {
  if (bits < kFewestBits || bits > kMostBits) unknown(keys, fmt::format("{} weights of {} bits", family, bits));
  Scheme scheme = named("bf16");
  scheme.name =
      fmt::format("w{}a16_{}{}", bits, group > 0 ? fmt::format("g{}", group) : "channel", zero_points ? "_zp" : "");
  scheme.weight_bits = static_cast<double>(bits);
  scheme.weight_scale.bytes = kScale16;
  scheme.weight_scale.columns = std::max<Count>(group, 0);
  scheme.weight_scale.zero_bits = zero_points ? static_cast<double>(bits) : 0;
  scheme.source = fmt::format("quantization_config ({})", family);
  return scheme;
}

// GPTQ writes group_size -1 for one scale per output channel.
Count group_size(const JsonKeys& keys, const char* key) {
  const auto group = keys.number(key);
  if (!group || *group < 0) return 0;
  return *keys.integer({key}, 0);
}

Scheme fp8_scheme(const JsonKeys& keys) {
  const bool dynamic = keys.text_or("activation_scheme", "dynamic") == "dynamic";
  if (const auto block = keys.integers("weight_block_size")) {
    if (block->size() != 2 || block->front() == 0 || block->back() == 0)
      keys.wrong_type("weight_block_size", "two positive whole numbers");
    auto scheme = named("fp8_block");
    scheme.weight_scale.rows = block->front();
    scheme.weight_scale.columns = block->back();
    scheme.activation_scale.columns = block->back();
    return scheme;
  }
  auto scheme = named("fp8_tensor");
  if (dynamic) scheme.activation_scale = named("fp8").activation_scale;
  return scheme;
}

ScaleLayout weight_scale(const JsonKeys& keys, const JsonKeys& weights, bool floating) {
  ScaleLayout scale;
  const auto strategy = weights.text_or("strategy", "tensor");
  scale.bytes = floating ? kScale32 : kScale16;
  if (strategy == "tensor") {
    scale = ScaleLayout{};
    scale.tensor_bytes = kScale32;
  } else if (strategy == "group" || strategy == "tensor_group") {
    scale.columns = weights.required({"group_size"});
  } else if (strategy == "block") {
    const auto block = weights.integers("block_structure");
    if (!block || block->size() != 2 || block->front() == 0 || block->back() == 0)
      refuse(keys.label(), "wrong-type", "\"block_structure\" is not two positive whole numbers", "rows and columns",
             "correct the file");
    scale.rows = block->front();
    scale.columns = block->back();
  } else if (strategy != "channel") {
    unknown(weights, fmt::format("weights.strategy is \"{}\"", strategy));
  }
  if (!weights.flag_or("symmetric", true)) scale.zero_bits = static_cast<double>(weights.required({"num_bits"}));
  return scale;
}

Scheme compressed_activations(Scheme scheme, const JsonKeys& inputs, const JsonKeys& weights) {
  const Count bits = inputs.required({"num_bits"});
  const bool floating = inputs.text_or("type", "int") == "float";
  scheme.activation_bits = static_cast<double>(bits);
  if (bits >= 16) return scheme;
  if (bits == 8) {
    scheme.precision = *parse_precision(floating ? "fp8.tensor" : "int8.tensor");
    if (inputs.flag_or("dynamic", false)) scheme.activation_scale = named("fp8").activation_scale;
    if (const auto group = inputs.integer({"group_size"})) scheme.activation_scale.columns = *group;
  } else if (bits == 4 && floating) {
    scheme.precision = *parse_precision("fp4.tensor");
    scheme.activation_scale = named("nvfp4").activation_scale;
  } else {
    unknown(weights, fmt::format("input_activations of {} bits", bits));
  }
  return scheme;
}

Scheme compressed_scheme(const JsonKeys& keys) {
  const auto* groups = keys.child("config_groups");
  if (groups == nullptr || groups->empty() || !groups->begin()->is_object())
    refuse(keys.label(), "missing-key", "\"config_groups\" is missing or empty", "the groups of compressed-tensors",
           "choose the number format by option");
  const JsonKeys group(*groups->begin(), keys.label());
  const auto* w = group.child("weights");
  if (w == nullptr)
    refuse(keys.label(), "missing-key", "\"weights\" is missing in config_groups", "bits and type of the weights",
           "choose the number format by option");
  const JsonKeys weights(*w, keys.label());
  const bool floating = weights.text_or("type", "int") == "float";
  const Count bits = weights.required({"num_bits"});
  if (bits < kFewestBits || bits > kMostBits) unknown(keys, fmt::format("weights of {} bits", bits));
  Scheme scheme = bits == 4 && floating ? named("nvfp4_wo") : named("bf16");
  scheme.weight_bits = static_cast<double>(bits);
  if (bits != 4 || !floating) scheme.weight_scale = weight_scale(keys, weights, floating);
  scheme.name = fmt::format("compressed_w{}", bits);
  scheme.source = "quantization_config (compressed-tensors)";
  const auto* inputs = group.child("input_activations");
  if (inputs == nullptr) return scheme;
  scheme = compressed_activations(std::move(scheme), JsonKeys(*inputs, keys.label()), weights);
  scheme.name += fmt::format("a{:.0f}", scheme.activation_bits);
  return scheme;
}

// The names that NVIDIA's modelopt writes.
std::optional<Scheme> modelopt_scheme(const JsonKeys& keys, const std::string& algorithm) {
  if (algorithm == "FP8") return named("fp8_tensor");
  if (algorithm == "FP8_PER_CHANNEL_PER_TOKEN") return named("fp8");
  if (algorithm == "NVFP4") return named("nvfp4");
  if (algorithm == "W4A16_AWQ") return integer_scheme(keys, "modelopt", 4, group_size(keys, "group_size"), false);
  if (algorithm == "W8A16") return named("int8_wo");
  if (algorithm == "W8A8_SQ_PER_CHANNEL") return named("int8");
  return std::nullopt;
}

void apply_modelopt(ModelConfig& config, const JsonKeys& keys) {
  if (const auto algorithm = keys.text("quant_algo")) {
    config.checkpoint = modelopt_scheme(keys, *algorithm);
    if (!config.checkpoint) unknown(keys, fmt::format("quant_algo is \"{}\"", *algorithm));
  }
  if (const auto kv = keys.text("kv_cache_quant_algo")) {
    if (*kv != "FP8" && *kv != "INT8" && *kv != "NVFP4")
      unknown(keys, fmt::format("kv_cache_quant_algo is \"{}\"", *kv));
    config.checkpoint_kv = find_kv_format(*kv == "FP8" ? "fp8" : *kv == "INT8" ? "int8" : "nvfp4");
  }
  if (const auto excluded = keys.texts("exclude_modules")) exclude(config, *excluded);
}

Scheme bitsandbytes_scheme(const JsonKeys& keys) {
  if (keys.flag_or("load_in_4bit", false)) {
    auto scheme = integer_scheme(keys, "bitsandbytes", 4, 64, false);  // its block size; one FP32 maximum per block
    scheme.weight_scale.bytes = kScale32;
    return scheme;
  }
  if (keys.flag_or("load_in_8bit", false)) return named("int8_wo");
  unknown(keys, "bitsandbytes with neither load_in_4bit nor load_in_8bit");
}

}  // namespace

void apply_quantization(ModelConfig& config, const JsonKeys& keys) {
  const auto method = keys.text("quant_method");
  if (!method) {
    if (keys.present("quant_algo")) return apply_modelopt(config, keys);
    unknown(keys, "quantization_config has no quant_method");
  }
  if (*method == "modelopt") return apply_modelopt(config, keys);
  if (*method == "fp8") {
    config.checkpoint = fp8_scheme(keys);
  } else if (*method == "fbgemm_fp8") {
    config.checkpoint = named("fp8");
  } else if (*method == "mxfp4") {
    config.checkpoint = named("mxfp4");
  } else if (*method == "gptq") {
    config.checkpoint = integer_scheme(keys, "gptq", keys.required({"bits"}), group_size(keys, "group_size"),
                                       !keys.flag_or("sym", true));
  } else if (*method == "awq") {
    config.checkpoint = integer_scheme(keys, "awq", keys.required({"bits", "w_bit"}),
                                       group_size(keys, keys.present("q_group_size") ? "q_group_size" : "group_size"),
                                       keys.flag_or("zero_point", true));
  } else if (*method == "compressed-tensors") {
    config.checkpoint = compressed_scheme(keys);
  } else if (*method == "bitsandbytes") {
    config.checkpoint = bitsandbytes_scheme(keys);
  } else {
    unknown(keys, fmt::format("quant_method is \"{}\"", *method));
  }
  for (const auto* list : {"ignore", "modules_to_not_convert", "exclude_modules"})
    if (const auto patterns = keys.texts(list)) exclude(config, *patterns);
}

void apply_quantization_file(ModelConfig& config, std::string_view json, const std::string& label) {
  const auto root = parse_object(json, label);
  const auto* quantization = JsonKeys(root, label).child("quantization");
  if (quantization == nullptr)
    refuse(label, "missing-key", "\"quantization\" is missing", "quant_algo and its companions",
           "choose the number format by option");
  apply_modelopt(config, JsonKeys(*quantization, label));
}

}  // namespace roofline::model
