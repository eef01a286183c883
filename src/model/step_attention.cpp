#include "model/step_builder.h"

#include <algorithm>
#include <cmath>

namespace roofline::model {
namespace {

// Keys that the first n positions see when each sees at most w: sum of min(p + 1, w) over p < n.
double sliding_pairs(double n, double w) {
  const double ramp = std::min(n, w);
  return ramp * (ramp + 1) / 2 + std::max(0.0, n - w) * w;
}

// The same when each sees the keys of its own chunk of w up to itself.
double chunked_pairs(double n, double w) {
  const double whole = std::floor(n / w);
  const double rest = n - whole * w;
  return whole * w * (w + 1) / 2 + rest * (rest + 1) / 2;
}

OperatorClass attention_class(const KvFormat& kv) {
  return kv.bits <= 8 ? OperatorClass::attention_8bit_kv : OperatorClass::attention;
}

}  // namespace

Attended attended(Count context, Count queries, const Window& window) {
  const auto end = static_cast<double>(context);
  const auto start = static_cast<double>(context - queries);
  const auto w = static_cast<double>(window.size);
  switch (window.kind) {
    case WindowKind::sliding:
      return {sliding_pairs(end, w) - sliding_pairs(start, w), end - std::max(0.0, start - w + 1)};
    case WindowKind::chunked:
      return {chunked_pairs(end, w) - chunked_pairs(start, w), end - std::floor(start / w) * w};
    case WindowKind::none:
      break;
  }
  const auto q = static_cast<double>(queries);
  return {q * start + q * (q + 1) / 2, end};
}

double absorb_break_even(const AttentionShape& a) {
  const auto r = static_cast<double>(a.kv_rank);
  const auto ro = static_cast<double>(a.rope_dim);
  const auto heads = static_cast<double>(a.nope_dim + a.value_dim);
  // Per query, key and head: absorbed 2((r + ro) + r), expanded 2(np + ro + vd); expanding costs 2r(np + vd) per key
  // and head once.
  return 2 * r * heads / (2 * (2 * r + ro) - 2 * (heads + ro));
}

bool StepBuilder::absorbs(const AttentionShape& a) const {
  if (options_.latent != LatentForm::automatic) return options_.latent == LatentForm::absorbed;
  const double limit = absorb_break_even(a);
  return limit <= 0 || queries_ < limit;
}

void StepBuilder::attention(const AttentionShape& a, double layers) {
  if (a.latent) {
    latent_attention(a, layers);
  } else {
    grouped_attention(a, layers);
  }
  linear(output_matrix(a, config_.hidden, split_), {layers, tokens_});
}

// ---------------------------------------------------------------- heads and groups

void StepBuilder::grouped_attention(const AttentionShape& a, double layers) {
  projections(a, layers);
  query_key_norm(a, layers);
  const auto kv_heads = static_cast<double>(local_kv_heads(a, split_));
  rotary(a, static_cast<double>(local_heads(a, split_)) + kv_heads, layers);
  cache_write(a, 2 * kv_heads * static_cast<double>(a.head_dim), layers);
  grouped_core(a, layers);
}

void StepBuilder::projections(const AttentionShape& a, double layers) {
  const Linear call{layers, tokens_, kActivationBytes, fuses_quantize()};
  const auto fused = qkv_matrix(a, config_.hidden, split_);
  if (options_.fusion.qkv) return linear(fused, call);
  auto part = fused;
  part.name = "q_proj";
  part.outputs = local_heads(a, split_) * a.head_dim;
  linear(part, call);
  part.outputs = local_kv_heads(a, split_) * a.head_dim;
  // Three products of one input: it is quantized once.
  const Linear again{layers, tokens_, kActivationBytes, true};
  part.name = "k_proj";
  linear(part, again);
  part.name = "v_proj";
  linear(part, again);
}

void StepBuilder::query_key_norm(const AttentionShape& a, double layers) {
  if (a.query_key_norm == QueryKeyNorm::none) return;
  const auto d = static_cast<double>(a.head_dim);
  const auto heads = static_cast<double>(local_heads(a, split_) + local_kv_heads(a, split_));
  const double elements = tokens_ * heads * d;
  double weights = 2 * d;
  if (a.query_key_norm == QueryKeyNorm::whole) weights = heads * d;
  if (a.query_key_norm == QueryKeyNorm::weightless) weights = 0;
  elementwise("qk_norm", layers, kRmsNormFlops * elements, (elements + weights) * kActivationBytes,
              elements * kActivationBytes);
}

void StepBuilder::rotary(const AttentionShape& a, double heads, double layers) {
  if (a.rotary_dim == 0) return;
  const auto d = static_cast<double>(a.rotary_dim);
  const double elements = tokens_ * heads * d;
  elementwise("rope", layers, kRotaryFlops * elements,
              (elements + tokens_ * d) * kActivationBytes + tokens_ * kIndexBytes,  // cosines and sines, positions
              elements * kActivationBytes);
}

// `width` elements of each token enter the cache.
void StepBuilder::cache_write(const AttentionShape& a, double width, double layers) {
  const double row = tokens_ * width * kActivationBytes;
  const double write = tokens_ * kv_token_bytes(a, kv_, split_);
  if (options_.fusion.rope_kv_write && a.rotary_dim > 0) {
    // Keys pass from the rotation to the cache without a trip to memory and back: only values are read anew.
    auto& rope = out_.back();
    const double keys = a.latent ? tokens_ * static_cast<double>(a.rope_dim) * kActivationBytes : row / 2;
    rope.name = "rope_kv_write";
    rope.read_bytes += row - keys + tokens_ * kIndexBytes;
    rope.write_bytes += write - keys;
    return;
  }
  elementwise("kv_cache_write", layers, 0, row + tokens_ * kIndexBytes, write);
}

void StepBuilder::grouped_core(const AttentionShape& a, double layers) {
  const auto h = static_cast<double>(local_heads(a, split_));
  const auto d = static_cast<double>(a.head_dim);
  const auto seen = attended(options_.context, query_length_of(options_), a.window);
  const double pairs = sequences_ * seen.pairs;
  const double row = tokens_ * h * d * kActivationBytes;
  auto& op = add("attention", attention_class(kv_), layers);
  op.precision = scheme_.base;
  op.operations = 4 * pairs * h * d;  // QK^T and PV
  op.aux_ops = kSoftmaxFlops * pairs * h;
  op.read_bytes = row + sequences_ * seen.keys * kv_token_bytes(a, kv_, split_) +
                  sequences_ * kPageIndexBytes * std::ceil(seen.keys / static_cast<double>(options_.kv_page)) +
                  (a.sinks ? h * kActivationBytes : 0);
  op.write_bytes = row;
  if (!options_.fusion.attention) {
    // Scores written, read by the softmax, written again, read by the second product.
    op.read_bytes += 2 * pairs * h * kActivationBytes;
    op.write_bytes += 2 * pairs * h * kActivationBytes;
    op.launches = 3;
  }
  combine_splits(op, h, d, layers);
}

// Flash-decoding: every split writes its partial result and its sum in FP32; one more kernel merges them.
void StepBuilder::combine_splits(Operator& core, double heads, double value_dim, double layers) {
  if (options_.kv_splits == 1) return;
  const double partial = static_cast<double>(options_.kv_splits) * tokens_ * heads * (value_dim + 1) * kWideBytes;
  const double result = core.write_bytes;
  core.write_bytes = partial;
  auto& op = add("attention_combine", OperatorClass::elementwise, layers);  // invalidates `core`
  op.operations = 2 * partial / kWideBytes;
  op.read_bytes = partial;
  op.write_bytes = result;
}

// ---------------------------------------------------------------- latent attention

void StepBuilder::latent_attention(const AttentionShape& a, double layers) {
  const auto r = static_cast<double>(a.kv_rank);
  const auto ro = static_cast<double>(a.rope_dim);
  const auto q = static_cast<double>(a.q_rank);
  linear(latent_a_matrix(a, config_.hidden, split_), {layers, tokens_, kActivationBytes, fuses_quantize()});
  const double normed = q + r;
  elementwise("mla_norms", layers, kRmsNormFlops * tokens_ * normed, (tokens_ + 1) * normed * kActivationBytes,
              tokens_ * normed * kActivationBytes, a.q_rank > 0 ? 2 : 1);
  if (a.q_rank > 0) linear(latent_q_b_matrix(a, split_), {layers, tokens_});
  rotary(a, static_cast<double>(local_heads(a, split_)) + 1, layers);  // one rotary key for all heads
  cache_write(a, r + ro, layers);
  if (absorbs(a)) {
    latent_absorbed(a, layers);
  } else {
    latent_expanded(a, layers);
  }
}

// Queries are taken into the latent space, and one shared "head" of keys and values serves them all.
void StepBuilder::latent_absorbed(const AttentionShape& a, double layers) {
  const auto h = static_cast<double>(local_heads(a, split_));
  const auto r = static_cast<double>(a.kv_rank);
  const auto key = r + static_cast<double>(a.rope_dim);
  const auto product = [&](std::string_view name, double in, double out) {
    auto& op = add(name, OperatorClass::gemm, layers);
    op.precision = scheme_.base;  // engines keep these weights in 16 bit
    op.operations = 2 * tokens_ * h * in * out;
    op.weight_bytes = h * in * out * kActivationBytes;
    op.read_bytes = op.weight_bytes + tokens_ * h * in * kActivationBytes;
    op.write_bytes = tokens_ * h * out * kActivationBytes;
    op.m = tokens_;
    op.n = out;
    op.k = in;
  };
  product("mla_q_absorb_bmm", static_cast<double>(a.nope_dim), r);
  const auto seen = attended(options_.context, query_length_of(options_), a.window);
  const double pairs = sequences_ * seen.pairs;
  {
    auto& op = add("mla_attention", attention_class(kv_), layers);
    op.precision = scheme_.base;
    op.operations = 2 * pairs * h * (key + r);
    op.aux_ops = kSoftmaxFlops * pairs * h;
    op.read_bytes = tokens_ * h * key * kActivationBytes + sequences_ * seen.keys * kv_token_bytes(a, kv_, split_) +
                    sequences_ * kPageIndexBytes * std::ceil(seen.keys / static_cast<double>(options_.latent_kv_page));
    op.write_bytes = tokens_ * h * r * kActivationBytes;
    combine_splits(op, h, r, layers);
  }
  product("mla_v_up_bmm", r, static_cast<double>(a.value_dim));
}

// Keys and values of every context token are made from the latent, then ordinary attention.
void StepBuilder::latent_expanded(const AttentionShape& a, double layers) {
  const auto h = static_cast<double>(local_heads(a, split_));
  const auto key = static_cast<double>(a.nope_dim + a.rope_dim);
  const auto value = static_cast<double>(a.value_dim);
  const auto seen = attended(options_.context, query_length_of(options_), a.window);
  const double keys = sequences_ * seen.keys;
  const double pairs = sequences_ * seen.pairs;
  linear(latent_kv_b_matrix(a, split_), {layers, keys});
  auto& op = add("mla_attention", OperatorClass::attention, layers);
  op.precision = scheme_.base;
  op.operations = 2 * pairs * h * (key + value);
  op.aux_ops = kSoftmaxFlops * pairs * h;
  op.read_bytes = (tokens_ * h * key + keys * h * (key + value)) * kActivationBytes;
  op.write_bytes = tokens_ * h * value * kActivationBytes;
}

}  // namespace roofline::model
