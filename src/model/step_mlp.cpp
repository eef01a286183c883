#include "model/step_builder.h"

#include <algorithm>
#include <cmath>

namespace roofline::model {
namespace {

// DeepEP sends 8-bit activations with an FP32 scale per 128, and brings results back in 16 bit.
constexpr double kDispatchGroup = 128;
constexpr double kRoutingLaunches = 2;  // top-k, and sorting tokens by expert

}  // namespace

double distinct_experts(double experts, double experts_per_token, double tokens) {
  return experts * (1 - std::pow(1 - experts_per_token / experts, tokens));
}

void StepBuilder::mlp(const MlpShape& shape, double layers) {
  if (shape.experts == 0) return dense_mlp(shape, layers);
  expert_mlp(shape, layers);
}

void StepBuilder::activate(const MlpShape& shape, double layers, double tokens, double width, bool quantize) {
  const bool silu = shape.activation == Activation::silu;
  const double inputs = shape.gated ? 2 : 1;
  const double elements = tokens * width;
  double flops = ((silu ? kSiluFlops : kGeluFlops) + (shape.gated ? kGateFlops : 0)) * elements;
  double write = elements * kActivationBytes;
  std::string_view name = shape.gated ? (silu ? "silu_and_mul" : "gelu_and_mul") : (silu ? "silu" : "gelu");
  if (quantize) {
    flops += kQuantizeFlops * elements;
    write = scheme_.activation_bytes(tokens, width);
    name = silu ? "silu_and_mul_quant" : "gelu_and_mul_quant";
  }
  elementwise(name, layers, flops, inputs * elements * kActivationBytes, write);
}

void StepBuilder::dense_mlp(const MlpShape& shape, double layers) {
  const auto up = up_matrix(shape, config_.hidden, split_);
  const auto down = down_matrix(shape, config_.hidden, split_);
  const bool fused = fuses_quantize();
  if (shape.gated && !options_.fusion.gate_up) {
    auto half = up;
    half.outputs /= 2;
    half.name = "gate_proj";
    linear(half, {layers, tokens_, kActivationBytes, fused});
    half.name = "up_proj";
    linear(half, {layers, tokens_, kActivationBytes, true});
  } else {
    linear(up, {layers, tokens_, kActivationBytes, fused});
  }
  activate(shape, layers, tokens_, static_cast<double>(down.inputs), fused);
  linear(down, {layers, tokens_, kActivationBytes, fused});
}

// ---------------------------------------------------------------- experts

double StepBuilder::distinct_local_experts(const MlpShape& shape, double tokens) const {
  const auto experts = static_cast<double>(shape.experts);
  const auto k = static_cast<double>(shape.experts_per_token);
  const auto ranks = static_cast<double>(options_.ep);
  if (!options_.expert_probability.empty()) {
    double sum = 0;
    for (const double p : options_.expert_probability) sum += 1 - std::pow(1 - p, tokens);
    return sum / ranks;
  }
  if (options_.routing == Routing::balanced) return std::min(tokens * k, experts) / ranks;
  return experts / ranks * (1 - std::pow(1 - k / experts, tokens));
}

// `source_rows` activations are gathered from memory, `rows` (token, expert) pairs multiplied.
void StepBuilder::grouped_product(const Matrix& matrix, double layers, double source_rows, double rows,
                                  double distinct) {
  const auto n = static_cast<double>(matrix.outputs);
  const auto k = static_cast<double>(matrix.inputs);
  const bool quantized = is_quantized(config_.parts, Part::experts);
  const bool small_operand = quantizes(Part::experts);
  if (small_operand) quantize(layers, source_rows, k);
  auto& op = add(matrix.name, small_operand ? OperatorClass::grouped_gemm_8bit : OperatorClass::grouped_gemm, layers);
  op.precision = quantized ? scheme_.precision : scheme_.base;
  op.operations = 2 * rows * n * k;
  op.weight_bytes = distinct * ((quantized ? scheme_.weight_bytes(n, k) : n * k * kActivationBytes) +
                                (matrix.bias ? n * kActivationBytes : 0));
  op.read_bytes =
      op.weight_bytes + (small_operand ? scheme_.activation_bytes(source_rows, k) : source_rows * k * kActivationBytes);
  op.write_bytes = rows * n * kActivationBytes;
  op.m = rows;
  op.n = n;
  op.k = k;
}

void StepBuilder::expert_mlp(const MlpShape& shape, double layers) {
  const auto k = static_cast<double>(shape.experts_per_token);
  const auto experts = static_cast<double>(shape.experts);
  const double everywhere = tokens_ * static_cast<double>(options_.dp);  // tokens that meet these experts
  const double rows = everywhere * k / static_cast<double>(options_.ep);
  const double distinct = distinct_local_experts(shape, everywhere);
  linear(router_matrix(shape, config_.hidden), {layers, tokens_, kWideBytes});
  elementwise("moe_topk", layers, kSoftmaxFlops * tokens_ * experts, tokens_ * experts * kWideBytes,
              tokens_ * k * 2 * kWideBytes, kRoutingLaunches);  // expert and weight per pick
  if (options_.dp > 1) exchange(shape, layers);
  const auto up = expert_up_matrix(shape, config_.hidden, split_);
  const auto down = expert_down_matrix(shape, config_.hidden, split_);
  grouped_product(up, layers, options_.ep == 1 ? tokens_ : rows, rows, distinct);
  activate(shape, layers, rows, static_cast<double>(down.inputs), false);
  grouped_product(down, layers, rows, rows, distinct);
  elementwise("moe_combine", layers, 2 * tokens_ * k * hidden_,
              tokens_ * k * hidden_ * kActivationBytes + tokens_ * k * kWideBytes,
              tokens_ * hidden_ * kActivationBytes);
  if (shape.shared_width > 0) shared_mlp(shape, layers);
}

void StepBuilder::shared_mlp(const MlpShape& shape, double layers) {
  const auto down = shared_down_matrix(shape, config_.hidden, split_);
  linear(shared_up_matrix(shape, config_.hidden, split_), {layers, tokens_});
  activate(shape, layers, tokens_, static_cast<double>(down.inputs), false);
  linear(down, {layers, tokens_});
  if (shape.shared_gate) linear(shared_gate_matrix(config_.hidden), {layers, tokens_});
}

// Tokens travel to the GPUs of their experts and back; the share (ep - 1)/ep of them crosses the link.
void StepBuilder::exchange(const MlpShape& shape, double layers) {
  const auto ranks = static_cast<double>(options_.ep);
  const double own = tokens_ / tp_;  // tensor-parallel GPUs share the sending of the tokens they hold in common
  const double remote = own * static_cast<double>(shape.experts_per_token) * (ranks - 1) / ranks;
  const double sent =
      quantizes(Part::experts) ? hidden_ + kWideBytes * hidden_ / kDispatchGroup : hidden_ * kActivationBytes;
  add("ep_dispatch", OperatorClass::collective, layers).link_bytes = remote * sent;
  add("ep_combine", OperatorClass::collective, layers).link_bytes = remote * hidden_ * kActivationBytes;
}

}  // namespace roofline::model
