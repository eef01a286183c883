#include "model/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace roofline::model {
namespace {

enum class WindowRule : std::uint8_t {
  never,
  all,      // every layer, where there is a window
  qwen,     // only if use_sliding_window, and from max_window_layers on
  even,     // layers 0, 2, 4, ...
  but_nth,  // all but every sliding_window_pattern-th
  llama4,   // chunked where the layer has a rotary embedding
};
enum class BiasRule : std::uint8_t { none, by_key, query_key_value };
enum class ExpertRule : std::uint8_t { none, every_layer, qwen, llama4 };

// What the published configuration class of a family assumes where the file is silent.
struct Family {
  std::string_view model_type;
  std::string_view architecture;
  Count heads = 0;     // 0: the file must say
  Count kv_heads = 0;  // 0: as many as heads
  Count head_dim = 0;  // 0: hidden_size / heads
  Count vocabulary = 0;
  bool tied = false;
  Norm norm = Norm::rms;
  int norms = 2;
  bool parallel = false;
  Activation activation = Activation::silu;
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  BiasRule bias = BiasRule::none;
  bool bias_default = false;
  WindowRule window = WindowRule::never;
  Count window_size = 0;     // 0: no window where the key is absent
  Count window_pattern = 0;  // of WindowRule::but_nth
  bool rotary_only_in_windows = false;
  ExpertRule experts = ExpertRule::none;
};

// Source: the configuration classes of Hugging Face transformers, and published config.json files.
constexpr std::array kFamilies = {
    Family{.model_type = "llama", .architecture = "LlamaForCausalLM", .bias = BiasRule::by_key},
    Family{.model_type = "mistral",
           .architecture = "MistralForCausalLM",
           .kv_heads = 8,
           .window = WindowRule::all,
           .window_size = 4096},
    Family{.model_type = "mixtral",
           .architecture = "MixtralForCausalLM",
           .kv_heads = 8,
           .window = WindowRule::all,
           .experts = ExpertRule::every_layer},
    Family{.model_type = "qwen2",
           .architecture = "Qwen2ForCausalLM",
           .bias = BiasRule::query_key_value,
           .window = WindowRule::qwen,
           .window_size = 4096},
    Family{.model_type = "qwen2_moe",
           .architecture = "Qwen2MoeForCausalLM",
           .bias = BiasRule::query_key_value,
           .window = WindowRule::qwen,
           .window_size = 4096,
           .experts = ExpertRule::qwen},
    Family{.model_type = "qwen3",
           .architecture = "Qwen3ForCausalLM",
           .head_dim = 128,
           .query_key_norm = QueryKeyNorm::per_head,
           .bias = BiasRule::by_key,
           .window = WindowRule::qwen,
           .window_size = 4096},
    Family{.model_type = "qwen3_moe",
           .architecture = "Qwen3MoeForCausalLM",
           .query_key_norm = QueryKeyNorm::per_head,
           .bias = BiasRule::by_key,
           .window = WindowRule::qwen,
           .window_size = 4096,
           .experts = ExpertRule::qwen},
    Family{.model_type = "gemma",
           .architecture = "GemmaForCausalLM",
           .head_dim = 256,
           .tied = true,
           .activation = Activation::gelu,
           .bias = BiasRule::by_key},
    Family{.model_type = "gemma2",
           .architecture = "Gemma2ForCausalLM",
           .kv_heads = 4,
           .head_dim = 256,
           .tied = true,
           .norms = 4,
           .activation = Activation::gelu,
           .bias = BiasRule::by_key,
           .window = WindowRule::even,
           .window_size = 4096},
    Family{.model_type = "gemma3_text",
           .architecture = "Gemma3ForCausalLM",
           .heads = 8,
           .kv_heads = 4,
           .head_dim = 256,
           .vocabulary = 262208,
           .tied = true,
           .norms = 4,
           .activation = Activation::gelu,
           .query_key_norm = QueryKeyNorm::per_head,
           .bias = BiasRule::by_key,
           .window = WindowRule::but_nth,
           .window_size = 4096,
           .window_pattern = 6},
    Family{.model_type = "phi3", .architecture = "Phi3ForCausalLM", .window = WindowRule::all},
    Family{.model_type = "gpt_oss",
           .architecture = "GptOssForCausalLM",
           .kv_heads = 8,
           .head_dim = 64,
           .bias = BiasRule::by_key,
           .bias_default = true,
           .window = WindowRule::even,
           .window_size = 128,
           .experts = ExpertRule::every_layer},
    Family{.model_type = "cohere",
           .architecture = "CohereForCausalLM",
           .tied = true,
           .norm = Norm::layer,
           .norms = 1,
           .parallel = true,
           .bias = BiasRule::by_key},
    Family{.model_type = "cohere2",
           .architecture = "Cohere2ForCausalLM",
           .tied = true,
           .norm = Norm::layer,
           .norms = 1,
           .parallel = true,
           .bias = BiasRule::by_key,
           .window = WindowRule::but_nth,
           .window_size = 4096,
           .window_pattern = 4,
           .rotary_only_in_windows = true},
    Family{.model_type = "llama4_text",
           .architecture = "Llama4ForCausalLM",
           .kv_heads = 8,
           .head_dim = 128,
           .query_key_norm = QueryKeyNorm::weightless,
           .bias = BiasRule::by_key,
           .window = WindowRule::llama4,
           .window_size = 8192,
           .rotary_only_in_windows = true,
           .experts = ExpertRule::llama4},
};

struct Alias {
  std::string_view name;
  std::string_view model_type;
};
// Families with a reader of their own, and types that share one.
constexpr std::array<Alias, 4> kLatentTypes = {{{"deepseek_v2", "DeepseekV2ForCausalLM"},
                                                {"deepseek_v3", "DeepseekV3ForCausalLM"},
                                                {"kimi_k2", "KimiK2ForCausalLM"},
                                                {"deepseek_v32", "DeepseekV32ForCausalLM"}}};
constexpr std::array<Alias, 4> kComposites = {
    {{"gemma3", "gemma3_text"}, {"llama4", "llama4_text"}, {"mistral3", "mistral"}, {"qwen2_5_vl", "qwen2"}}};

constexpr Count kMaxLayers = 4096;
constexpr double kMaxParameters = 1e15;  // beyond any model; keeps exact counts inside 64 bits

const Family* find_family(std::string_view model_type) {
  const auto* it =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& f) { return f.model_type == model_type; });
  return it == kFamilies.end() ? nullptr : it;
}

// ---------------------------------------------------------------- pieces

void add_layer(ModelConfig& config, const LayerShape& shape) {
  auto it = std::find_if(config.kinds.begin(), config.kinds.end(),
                         [&](const LayerKind& kind) { return kind.shape == shape; });
  if (it == config.kinds.end()) it = config.kinds.insert(it, LayerKind{shape, 0});
  ++it->layers;
  config.layer_kinds.push_back(static_cast<std::uint16_t>(it - config.kinds.begin()));
}

Count read_layers(const JsonKeys& keys, JsonKeys::Names names) {
  const auto layers = keys.required(names);
  if (layers > kMaxLayers)
    refuse(keys.label(), "out-of-range", fmt::format("{} layers", layers), fmt::format("at most {}", kMaxLayers),
           "correct the file");
  return layers;
}

Count derived_head_dim(const JsonKeys& keys, Count hidden, Count heads) {
  if (hidden % heads != 0)
    keys.contradiction(fmt::format("hidden_size {} is no multiple of {} attention heads", hidden, heads),
                       "a head_dim key, or sizes that divide");
  return hidden / heads;
}

void check_heads(const JsonKeys& keys, const AttentionShape& a) {
  if (a.kv_heads > a.heads || a.heads % a.kv_heads != 0)
    keys.contradiction(fmt::format("{} attention heads and {} key-value heads", a.heads, a.kv_heads),
                       "key-value heads that divide the attention heads");
}

Count rotary_dim(const JsonKeys& keys, Count head_dim, double fallback) {
  const double share = keys.number("partial_rotary_factor").value_or(fallback);
  if (!(share > 0 && share <= 1))
    refuse(keys.label(), "out-of-range", fmt::format("\"partial_rotary_factor\" is {}", share), "a share up to 1",
           "correct the file");
  return static_cast<Count>(static_cast<double>(head_dim) * share);
}

Activation read_activation(const JsonKeys& keys, Activation fallback) {
  for (const auto* key : {"hidden_activation", "hidden_act", "activation"}) {
    const auto text = keys.text(key);
    if (!text) continue;
    if (text->find("gelu") != std::string::npos) return Activation::gelu;
    if (text->find("silu") != std::string::npos || text->find("swi") != std::string::npos) return Activation::silu;
    refuse(keys.label(), "out-of-range", fmt::format("\"{}\" is \"{}\"", key, *text), "a silu or gelu activation",
           "the model counts no other activation yet");
  }
  return fallback;
}

// ---------------------------------------------------------------- windows

Window read_window(const JsonKeys& keys, const Family& family) {
  if (family.window == WindowRule::never) return {};
  const bool chunked = family.window == WindowRule::llama4;
  const char* key = chunked ? "attention_chunk_size" : "sliding_window";
  if (family.window == WindowRule::qwen && !keys.flag_or("use_sliding_window", false)) return {};
  if (keys.is_null(key)) return {};  // null switches the window off; absent means the family's default
  const auto size = keys.integer({key}).value_or(family.window_size);
  if (size == 0) return {};
  return {chunked ? WindowKind::chunked : WindowKind::sliding, size};
}

std::vector<bool> listed_windows(const JsonKeys& keys, const std::vector<std::string>& types, Count layers) {
  if (static_cast<Count>(types.size()) != layers)
    keys.contradiction(fmt::format("\"layer_types\" has {} entries", types.size()),
                       fmt::format("one per layer ({})", layers));
  std::vector<bool> windowed;
  for (const auto& type : types) {
    if (type != "full_attention" && type != "sliding_attention" && type != "chunked_attention")
      refuse(keys.label(), "out-of-range", fmt::format("\"layer_types\" holds \"{}\"", type),
             "full_attention, sliding_attention or chunked_attention", "the model knows no other kind of layer");
    windowed.push_back(type != "full_attention");
  }
  return windowed;
}

// Llama 4 lists with 1 the layers that have a rotary embedding; an empty list means every fourth has none.
std::vector<bool> rotary_layers(const JsonKeys& keys, Count layers) {
  const auto listed = keys.integers("no_rope_layers");
  const auto interval = keys.integer_or({"no_rope_layer_interval"}, 4);
  std::vector<bool> rotary;
  if (listed && !listed->empty() && static_cast<Count>(listed->size()) != layers)
    keys.contradiction(fmt::format("\"no_rope_layers\" has {} entries", listed->size()),
                       fmt::format("one per layer ({})", layers));
  for (Count i = 0; i < layers; ++i)
    rotary.push_back(listed && !listed->empty() ? (*listed)[static_cast<std::size_t>(i)] != 0
                                                : (i + 1) % interval != 0);
  return rotary;
}

std::vector<bool> windowed_layers(const JsonKeys& keys, const Family& family, Count layers) {
  if (const auto types = keys.texts("layer_types")) return listed_windows(keys, *types, layers);
  if (family.window == WindowRule::llama4) return rotary_layers(keys, layers);
  const auto pattern =
      family.window == WindowRule::but_nth
          ? keys.integer_or({"sliding_window_pattern", "_sliding_window_pattern"}, family.window_pattern)
          : 1;
  const auto first = family.window == WindowRule::qwen ? keys.integer_or({"max_window_layers"}, 28, 0) : 0;
  std::vector<bool> windowed;
  for (Count i = 0; i < layers; ++i) {
    switch (family.window) {
      case WindowRule::even:
        windowed.push_back(i % 2 == 0);
        break;
      case WindowRule::but_nth:
        windowed.push_back((i + 1) % pattern != 0);
        break;
      default:
        windowed.push_back(family.window != WindowRule::never && i >= first);
    }
  }
  return windowed;
}

// ---------------------------------------------------------------- experts

struct Experts {
  MlpShape shape;            // of an expert layer
  std::vector<bool> layers;  // which layers have them
};

void check_experts(const JsonKeys& keys, const MlpShape& mlp) {
  if (mlp.experts_per_token > mlp.experts)
    keys.contradiction(fmt::format("{} experts per token of {} experts", mlp.experts_per_token, mlp.experts),
                       "no more than there are");
}

std::vector<bool> qwen_expert_layers(const JsonKeys& keys, Count layers) {
  const auto dense = keys.integers("mlp_only_layers").value_or(std::vector<Count>{});
  const auto step = keys.integer_or({"decoder_sparse_step"}, 1);
  std::vector<bool> sparse;
  for (Count i = 0; i < layers; ++i)
    sparse.push_back((i + 1) % step == 0 && std::find(dense.begin(), dense.end(), i) == dense.end());
  for (const auto layer : dense)
    if (layer >= layers)
      keys.contradiction(fmt::format("\"mlp_only_layers\" names layer {}", layer),
                         fmt::format("layers below {}", layers));
  return sparse;
}

std::vector<bool> llama4_expert_layers(const JsonKeys& keys, Count layers) {
  std::vector<bool> sparse(static_cast<std::size_t>(layers), false);
  if (const auto listed = keys.integers("moe_layers")) {
    for (const auto layer : *listed) {
      if (layer >= layers)
        keys.contradiction(fmt::format("\"moe_layers\" names layer {}", layer), fmt::format("layers below {}", layers));
      sparse[static_cast<std::size_t>(layer)] = true;
    }
    return sparse;
  }
  const auto step = keys.integer_or({"interleave_moe_layer_step"}, 1);
  for (Count i = 0; i < layers; ++i) sparse[static_cast<std::size_t>(i)] = (i + 1) % step == 0;
  return sparse;
}

Experts read_experts(const JsonKeys& keys, const Family& family, Count layers, const MlpShape& dense) {
  Experts result{dense, std::vector<bool>(static_cast<std::size_t>(layers), family.experts == ExpertRule::every_layer)};
  auto& mlp = result.shape;
  mlp.bias = family.model_type == "gpt_oss";
  mlp.router_bias = mlp.bias;
  if (family.experts == ExpertRule::qwen) {
    mlp.experts = keys.required({"num_experts"});
    mlp.width = keys.required({"moe_intermediate_size"});
    mlp.shared_width = keys.integer_or({"shared_expert_intermediate_size"}, 0, 0);
    mlp.shared_gate = mlp.shared_width > 0;
    result.layers = qwen_expert_layers(keys, layers);
  } else {
    mlp.experts = keys.required({"num_local_experts"});
    mlp.width = keys.required({"intermediate_size"});
    if (family.experts == ExpertRule::llama4) {
      mlp.shared_width = mlp.width;  // one shared expert, which no key mentions
      result.layers = llama4_expert_layers(keys, layers);
    }
  }
  mlp.experts_per_token = keys.required({"num_experts_per_tok", "experts_per_token"});
  check_experts(keys, mlp);
  return result;
}

// ---------------------------------------------------------------- ordinary decoders

AttentionShape read_attention(const JsonKeys& keys, const Family& family, Count hidden) {
  AttentionShape a;
  a.heads = family.heads > 0 ? keys.integer_or({"num_attention_heads"}, family.heads)
                             : keys.required({"num_attention_heads"});
  // A file that says null means one key-value head per head.
  const auto absent = family.kv_heads > 0 && !keys.present("num_key_value_heads") ? family.kv_heads : a.heads;
  a.kv_heads = keys.integer_or({"num_key_value_heads"}, absent);
  check_heads(keys, a);
  const auto dim = keys.integer({"head_dim"});
  a.head_dim = dim ? *dim : family.head_dim > 0 ? family.head_dim : derived_head_dim(keys, hidden, a.heads);
  a.rotary_dim = rotary_dim(keys, a.head_dim, 1);
  a.query_key_norm = family.query_key_norm;
  if (family.model_type == "cohere" && keys.flag_or("use_qk_norm", false)) a.query_key_norm = QueryKeyNorm::whole;
  if (family.model_type == "llama4_text" && !keys.flag_or("use_qk_norm", true)) a.query_key_norm = QueryKeyNorm::none;
  const bool bias = family.bias == BiasRule::by_key && keys.flag_or("attention_bias", family.bias_default);
  a.qkv_bias = bias || family.bias == BiasRule::query_key_value;
  a.output_bias = bias;
  a.sinks = family.model_type == "gpt_oss";
  return a;
}

MlpShape read_dense_mlp(const JsonKeys& keys, const Family& family) {
  MlpShape mlp;
  mlp.activation = read_activation(keys, family.activation);
  mlp.bias = family.model_type == "llama" && keys.flag_or("mlp_bias", false);
  // Where every layer has experts the dense width is never used.
  if (family.experts == ExpertRule::llama4) {
    mlp.width = keys.integer_or({"intermediate_size_mlp"}, 0);
  } else if (family.experts == ExpertRule::none || family.experts == ExpertRule::qwen) {
    mlp.width = keys.integer_or({"intermediate_size"}, 0);
  }
  return mlp;
}

void read_decoder(const JsonKeys& keys, const Family& family, ModelConfig& config) {
  config.hidden = keys.required({"hidden_size"});
  config.vocabulary =
      family.vocabulary > 0 ? keys.integer_or({"vocab_size"}, family.vocabulary) : keys.required({"vocab_size"});
  config.tied = keys.flag_or("tie_word_embeddings", family.tied);
  config.norm = family.norm;
  const auto layers = read_layers(keys, {"num_hidden_layers"});
  const auto attention = read_attention(keys, family, config.hidden);
  const auto window = read_window(keys, family);
  const auto windowed = windowed_layers(keys, family, layers);
  const auto dense = read_dense_mlp(keys, family);
  Experts experts{dense, std::vector<bool>(static_cast<std::size_t>(layers), false)};
  if (family.experts != ExpertRule::none) experts = read_experts(keys, family, layers, dense);
  for (std::size_t i = 0; i < static_cast<std::size_t>(layers); ++i) {
    LayerShape shape{attention, experts.layers[i] ? experts.shape : dense, family.norms, family.parallel};
    if (windowed[i]) shape.attention.window = window;
    if (!windowed[i] && family.rotary_only_in_windows) {
      shape.attention.rotary_dim = 0;
      if (family.query_key_norm == QueryKeyNorm::weightless) shape.attention.query_key_norm = QueryKeyNorm::none;
    }
    if (shape.mlp.width == 0)
      keys.required({family.experts == ExpertRule::llama4 ? "intermediate_size_mlp" : "intermediate_size"});
    add_layer(config, shape);
  }
}

// ---------------------------------------------------------------- families of their own kind

AttentionShape read_latent_attention(const JsonKeys& keys) {
  AttentionShape a;
  a.latent = true;
  a.heads = keys.required({"num_attention_heads"});
  a.kv_heads = 1;  // num_key_value_heads is not used: all heads share the latent
  if (!keys.is_null("q_lora_rank")) a.q_rank = keys.required({"q_lora_rank"});
  a.kv_rank = keys.required({"kv_lora_rank"});
  a.nope_dim = keys.required({"qk_nope_head_dim"});
  a.rope_dim = keys.required({"qk_rope_head_dim"});
  a.value_dim = keys.required({"v_head_dim"});
  a.head_dim = a.nope_dim + a.rope_dim;
  a.rotary_dim = a.rope_dim;
  a.qkv_bias = a.output_bias = keys.flag_or("attention_bias", false);
  return a;
}

void read_latent(const JsonKeys& keys, ModelConfig& config) {
  config.hidden = keys.required({"hidden_size"});
  config.vocabulary = keys.required({"vocab_size"});
  config.tied = keys.flag_or("tie_word_embeddings", false);
  const auto layers = read_layers(keys, {"num_hidden_layers"});
  const auto attention = read_latent_attention(keys);
  MlpShape dense;
  dense.activation = read_activation(keys, Activation::silu);
  dense.width = keys.required({"intermediate_size"});
  MlpShape sparse = dense;
  sparse.experts = keys.integer_or({"n_routed_experts"}, 0);
  if (sparse.experts > 0) {
    sparse.width = keys.required({"moe_intermediate_size"});
    sparse.experts_per_token = keys.required({"num_experts_per_tok"});
    sparse.shared_width = keys.integer_or({"n_shared_experts"}, 0, 0) * sparse.width;
    sparse.score_correction =
        keys.text_or("topk_method", config.model_type == "deepseek_v2" ? "greedy" : "noaux_tc") == "noaux_tc";
    check_experts(keys, sparse);
  }
  const auto first = keys.integer_or({"first_k_dense_replace"}, 0, 0);
  const auto step = keys.integer_or({"moe_layer_freq"}, 1);
  for (Count i = 0; i < layers; ++i)
    add_layer(config, {attention, sparse.experts > 0 && i >= first && i % step == 0 ? sparse : dense, 2, false});
  if (keys.integer({"num_nextn_predict_layers"}, 0).value_or(0) > 0)
    config.notes.emplace_back("the multi-token-prediction layers are not part of the step, nor of the parameter count");
}

Count falcon_kv_heads(const JsonKeys& keys, Count heads) {
  if (keys.flag_or("new_decoder_architecture", false)) return keys.integer_or({"num_kv_heads", "n_head_kv"}, heads);
  return keys.flag_or("multi_query", true) ? 1 : heads;
}

void read_falcon(const JsonKeys& keys, ModelConfig& config) {
  config.hidden = keys.required({"hidden_size"});
  config.vocabulary = keys.required({"vocab_size"});
  config.tied = keys.flag_or("tie_word_embeddings", true);
  config.norm = Norm::layer_with_bias;
  const auto layers = read_layers(keys, {"num_hidden_layers", "n_layer"});
  const bool bias = keys.flag_or("bias", false);
  const bool newer = keys.flag_or("new_decoder_architecture", false);
  LayerShape shape;
  auto& a = shape.attention;
  a.heads = keys.required({"num_attention_heads", "n_head"});
  a.kv_heads = falcon_kv_heads(keys, a.heads);
  check_heads(keys, a);
  a.head_dim = derived_head_dim(keys, config.hidden, a.heads);
  a.rotary_dim = keys.flag_or("alibi", false) ? 0 : a.head_dim;
  a.qkv_bias = a.output_bias = bias;
  shape.mlp.width = keys.integer({"ffn_hidden_size", "intermediate_size"}).value_or(4 * config.hidden);
  shape.mlp.gated = false;
  shape.mlp.activation = read_activation(keys, Activation::gelu);
  shape.mlp.bias = bias;
  shape.parallel = newer || keys.flag_or("parallel_attn", true);
  // The new architecture norms its input twice, once for attention and once for the MLP, unless told otherwise.
  shape.norms = newer ? static_cast<int>(keys.integer_or({"num_ln_in_parallel_attn"}, 2)) : shape.parallel ? 1 : 2;
  if (shape.norms > 2) keys.contradiction(fmt::format("\"num_ln_in_parallel_attn\" is {}", shape.norms), "1 or 2");
  for (Count i = 0; i < layers; ++i) add_layer(config, shape);
}

void read_chatglm(const JsonKeys& keys, ModelConfig& config) {
  config.hidden = keys.required({"hidden_size"});
  config.vocabulary = keys.required({"padded_vocab_size", "vocab_size"});
  config.tied = keys.flag_or("tie_word_embeddings", false);
  config.norm = keys.flag_or("rmsnorm", true) ? Norm::rms : Norm::layer_with_bias;
  const auto layers = read_layers(keys, {"num_layers", "num_hidden_layers"});
  const bool bias = keys.flag_or("add_bias_linear", false);
  LayerShape shape;
  auto& a = shape.attention;
  a.heads = keys.required({"num_attention_heads"});
  a.kv_heads = keys.flag_or("multi_query_attention", false) ? keys.required({"multi_query_group_num"}) : a.heads;
  check_heads(keys, a);
  const auto dim = keys.integer({"kv_channels"});
  a.head_dim = dim ? *dim : derived_head_dim(keys, config.hidden, a.heads);
  a.rotary_dim = rotary_dim(keys, a.head_dim, 0.5);  // the rotary embedding covers half of each head
  a.qkv_bias = bias || keys.flag_or("add_qkv_bias", false);
  a.output_bias = bias;
  shape.mlp.width = keys.required({"ffn_hidden_size"});
  shape.mlp.bias = bias;
  for (Count i = 0; i < layers; ++i) add_layer(config, shape);
}

std::string known_types() {
  std::string list;
  for (const auto& family : kFamilies) list += std::string(family.model_type) + ", ";
  for (const auto& type : kLatentTypes) list += std::string(type.name) + ", ";
  return list + "falcon or chatglm";
}

void check_size(const JsonKeys& keys, const ModelConfig& config) {
  double sum = 2.0 * static_cast<double>(config.hidden) * static_cast<double>(config.vocabulary);
  for (const auto& kind : config.kinds) {
    const auto& a = kind.shape.attention;
    const auto& m = kind.shape.mlp;
    const double width = static_cast<double>(m.width) * static_cast<double>(std::max<Count>(m.experts, 1)) +
                         static_cast<double>(m.shared_width);
    const double heads = static_cast<double>(a.heads) * static_cast<double>(a.head_dim + a.value_dim);
    const double ranks = static_cast<double>(a.q_rank + a.kv_rank);
    sum += static_cast<double>(kind.layers) *
           (static_cast<double>(config.hidden) * (3 * width + 4 * heads + ranks) + 2 * heads * ranks);
  }
  if (sum > kMaxParameters)
    refuse(keys.label(), "out-of-range", fmt::format("the sizes make a model of {:.1e} parameters", sum),
           fmt::format("at most {:.0e}", kMaxParameters), "correct the file");
}

}  // namespace

std::string model_type_of(std::string_view architecture) {
  for (const auto& family : kFamilies)
    if (family.architecture == architecture) return std::string(family.model_type);
  for (const auto& type : kLatentTypes)
    if (type.model_type == architecture) return std::string(type.name);
  if (architecture == "FalconForCausalLM" || architecture == "RWForCausalLM") return "falcon";
  if (architecture == "ChatGLMModel" || architecture == "ChatGLMForConditionalGeneration") return "chatglm";
  if (architecture == "Gemma3ForConditionalGeneration") return "gemma3_text";
  if (architecture == "Llama4ForConditionalGeneration") return "llama4_text";
  return {};
}

std::string text_model_type(const std::string& model_type) {
  for (const auto& composite : kComposites)
    if (composite.name == model_type) return std::string(composite.model_type);
  return model_type;
}

void read_family(const JsonKeys& keys, ModelConfig& config) {
  const auto& type = config.model_type;
  if (const auto* family = find_family(type)) {
    read_decoder(keys, *family, config);
  } else if (type == "falcon") {
    read_falcon(keys, config);
  } else if (type == "chatglm") {
    read_chatglm(keys, config);
  } else if (std::any_of(kLatentTypes.begin(), kLatentTypes.end(), [&](const Alias& a) { return a.name == type; })) {
    read_latent(keys, config);
  } else {
    refuse(keys.label(), "unknown-model-type", fmt::format("model_type is \"{}\"", type), known_types(),
           "name a model_type of the same architecture, if there is one");
  }
  check_size(keys, config);
}

}  // namespace roofline::model
