#include <algorithm>

#include "model/matrices.h"

namespace roofline::model {
namespace {

Count live_tokens(Count context, const Window& window) {
  return window.kind == WindowKind::none ? context : std::min(context, window.size);
}

void add_layer_weights(const ModelConfig& config, const LayerShape& shape, double layers, const StepOptions& options,
                       Footprint& out) {
  const auto& scheme = scheme_of(config, options);
  for (const auto& m : layer_matrices(shape, config.hidden, split_of(options))) {
    const auto n = static_cast<double>(m.outputs);
    const auto k = static_cast<double>(m.inputs);
    const double copies = layers * static_cast<double>(m.copies);
    if (m.bias) out.other += copies * n * kActivationBytes;
    if (m.part == Part::unquantized || m.name == "kv_b_proj") {
      // Engines keep the second half of the latent's expansion in 16 bit, absorbed into queries and outputs.
      out.other += copies * n * k * kActivationBytes;
    } else {
      out.linears +=
          copies * (is_quantized(config.parts, m.part) ? scheme.weight_bytes(n, k) : n * k * kActivationBytes);
    }
  }
  out.other += layers * static_cast<double>(vector_parameters(shape, config.norm, config.hidden)) * kActivationBytes;
}

}  // namespace

double kv_token_bytes(const AttentionShape& a, const KvFormat& format, const Split& split) {
  if (a.latent) {
    // Keys and values are the same bytes, and every tensor-parallel GPU holds all of them.
    const auto whole_groups = format.latent_group > 0 ? (a.kv_rank + format.latent_group - 1) / format.latent_group : 0;
    const auto groups = static_cast<double>(whole_groups);
    return static_cast<double>(a.kv_rank) * format.bits / 8 + static_cast<double>(a.rope_dim) * format.rope_bits / 8 +
           groups * format.latent_scale_bytes;
  }
  const auto heads = static_cast<double>(local_kv_heads(a, split));
  return 2 * heads * (static_cast<double>(a.head_dim) * format.bits / 8 + format.head_scale_bytes);
}

Count parameter_count(const ModelConfig& config) {
  Count sum = config.hidden * config.vocabulary * (config.tied ? 1 : 2) + norm_parameters(config.norm, config.hidden);
  for (const auto& kind : config.kinds) {
    Count layer = vector_parameters(kind.shape, config.norm, config.hidden);
    for (const auto& m : layer_matrices(kind.shape, config.hidden, {}))
      layer += m.copies * m.outputs * (m.inputs + (m.bias ? 1 : 0));
    sum += kind.layers * layer;
  }
  return sum;
}

Footprint footprint(const ModelConfig& config, const StepOptions& options) {
  Footprint out;
  const auto& kv = kv_format_of(config, options);
  const Count rows = (config.vocabulary + options.tp - 1) / options.tp;
  out.embedding = static_cast<double>(config.hidden * rows) * kActivationBytes * (config.tied ? 1 : 2);
  out.other = static_cast<double>(norm_parameters(config.norm, config.hidden)) * kActivationBytes;
  const auto split = split_of(options);
  for (const auto& kind : config.kinds) {
    const auto layers = static_cast<double>(kind.layers);
    add_layer_weights(config, kind.shape, layers, options, out);
    const auto live = static_cast<double>(live_tokens(options.context, kind.shape.attention.window));
    out.kv_cache +=
        layers * static_cast<double>(options.batch) * live * kv_token_bytes(kind.shape.attention, kv, split);
  }
  return out;
}

double kv_bytes_per_token(const ModelConfig& config, const KvFormat& format, Count tp) {
  double sum = 0;
  for (const auto& kind : config.kinds)
    sum += static_cast<double>(kind.layers) * kv_token_bytes(kind.shape.attention, format, {tp, tp, 1});
  return sum;
}

Count largest_batch(const ModelConfig& config, StepOptions options, double memory_bytes, double usable) {
  options.batch = 1;
  const auto one = footprint(config, options);
  const double room = memory_bytes * usable - one.weights();
  if (room < one.kv_cache) return 0;
  return static_cast<Count>(room / one.kv_cache);
}

}  // namespace roofline::model
