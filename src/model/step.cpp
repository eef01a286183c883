#include "model/step_builder.h"

#include <algorithm>
#include <cmath>

namespace roofline::model {
namespace {

constexpr Precision kVector{NumberType::fp32, Path::vector};

double norm_flops(Norm norm) {
  return norm == Norm::rms ? kRmsNormFlops : kLayerNormFlops + (norm == Norm::layer_with_bias ? kBiasFlops : 0);
}

struct NormNames {
  std::string_view plain, added, quantized, reduced;
};
NormNames norm_names(Norm norm) {
  if (norm == Norm::rms) return {"rms_norm", "add_rms_norm", "add_rms_norm_quant", "all_reduce_add_rms_norm"};
  return {"layer_norm", "add_layer_norm", "add_layer_norm_quant", "all_reduce_add_layer_norm"};
}

}  // namespace

StepBuilder::StepBuilder(const ModelConfig& config, const StepOptions& options, std::vector<Operator>& out)
    : config_(config),
      options_(options),
      scheme_(scheme_of(config, options)),
      kv_(kv_format_of(config, options)),
      split_(split_of(options)),
      out_(out),
      hidden_(static_cast<double>(config.hidden)),
      sequences_(static_cast<double>(options.batch)),
      queries_(static_cast<double>(query_length_of(options))),
      tokens_(sequences_ * queries_),
      tp_(static_cast<double>(options.tp)) {}

void StepBuilder::build() {
  embedding();
  for (std::size_t i = 0; i < config_.kinds.size(); ++i) {
    const auto& kind = config_.kinds[i];
    const auto layers = static_cast<double>(kind.layers);
    kind_ = static_cast<int>(i);
    layer_norms(kind.shape, layers, i == 0);
    attention(kind.shape.attention, layers);
    mlp(kind.shape.mlp, layers);
    // A parallel block adds its two partial results before they are summed over the GPUs.
    if (options_.tp > 1) all_reduces_ += layers * (kind.shape.parallel ? 1 : 2);
  }
  kind_ = -1;
  head();
  collectives();
  sampling();
}

Operator& StepBuilder::add(std::string_view name, OperatorClass kind, double calls) {
  auto& op = out_.emplace_back();
  op.name = name;
  op.kind = kind;
  op.layer_kind = kind_;
  op.calls = calls;
  op.precision = kVector;
  return op;
}

void StepBuilder::elementwise(std::string_view name, double calls, double flops, double read, double write,
                              double launches) {
  auto& op = add(name, OperatorClass::elementwise, calls);
  op.launches = launches;
  op.operations = flops;
  op.read_bytes = read;
  op.write_bytes = write;
}

bool StepBuilder::quantizes(Part part) const {
  return scheme_.quantizes_activations() && is_quantized(config_.parts, part);
}

void StepBuilder::quantize(double calls, double tokens, double columns) {
  elementwise("act_quant", calls, kQuantizeFlops * tokens * columns, tokens * columns * kActivationBytes,
              scheme_.activation_bytes(tokens, columns));
}

// Y[T,N] = X[T,K] W[N,K]^T: 2TNK operations; X, W and their scales read once, Y written once.
void StepBuilder::linear(const Matrix& matrix, const Linear& call) {
  const auto n = static_cast<double>(matrix.outputs);
  const auto k = static_cast<double>(matrix.inputs);
  const bool quantized = is_quantized(config_.parts, matrix.part);
  const bool small_operand = quantizes(matrix.part);
  if (small_operand && !call.prequantized) quantize(call.calls, call.tokens, k);
  auto& op = add(matrix.name, small_operand ? OperatorClass::gemm_8bit : OperatorClass::gemm, call.calls);
  op.precision = quantized ? scheme_.precision : scheme_.base;
  op.operations = 2 * call.tokens * n * k;
  op.weight_bytes =
      (quantized ? scheme_.weight_bytes(n, k) : n * k * kActivationBytes) + (matrix.bias ? n * kActivationBytes : 0);
  op.read_bytes =
      op.weight_bytes + (small_operand ? scheme_.activation_bytes(call.tokens, k) : call.tokens * k * kActivationBytes);
  op.write_bytes = call.tokens * n * call.output_bytes;
  op.m = call.tokens;
  op.n = n;
  op.k = k;
}

// ---------------------------------------------------------------- embedding and norms

void StepBuilder::embedding() {
  // A gather of one row per token; the table itself is not streamed.
  const double row = tokens_ * hidden_ * kActivationBytes;
  elementwise("embedding", 1, 0, row + tokens_ * kIndexBytes, row);
  if (options_.tp > 1) ++all_reduces_;
}

bool StepBuilder::fuses_reduce() const {
  return options_.fusion.all_reduce_norm && options_.tp > 1 &&
         std::all_of(config_.kinds.begin(), config_.kinds.end(),
                     [](const LayerKind& kind) { return kind.shape.norms == 2 && !kind.shape.parallel; });
}

void StepBuilder::norm(const NormCall& call) {
  if (call.calls <= 0) return;
  const auto names = norm_names(config_.norm);
  const double elements = tokens_ * hidden_;
  const double row = elements * kActivationBytes;
  const double weights = static_cast<double>(norm_parameters(config_.norm, config_.hidden)) * kActivationBytes;
  if (call.adds > 0 && !options_.fusion.add_norm)
    elementwise("residual_add", call.calls, call.adds * kAddFlops * elements, (call.adds + 1) * row, row);
  const int adds = options_.fusion.add_norm ? call.adds : 0;
  double flops = (norm_flops(config_.norm) + adds * kAddFlops) * elements;
  double write = adds > 0 ? 2 * row : row;  // the new residual too
  auto name = adds > 0 ? names.added : names.plain;
  if (call.quantize) {
    flops += kAddFlops * elements;
    write += scheme_.activation_bytes(tokens_, hidden_) - row;
    name = names.quantized;
  }
  elementwise(name, call.calls, flops, (adds + 1) * row + weights, write);
  if (!call.reduce || adds == 0) return;
  auto& op = out_.back();
  op.name = names.reduced;
  op.kind = OperatorClass::collective;
  op.operations += (tp_ - 1) * elements;
  op.link_bytes = 2 * (tp_ - 1) / tp_ * row;
  all_reduces_ -= call.calls;
}

// The first norm of the network has no residual to add yet.
void StepBuilder::layer_norms(const LayerShape& shape, double layers, bool first) {
  const bool quantize_input = fuses_quantize();
  const bool quantize_mlp = quantize_input && shape.mlp.experts == 0;
  const int adds = shape.parallel ? 2 : 1;  // attention and MLP outputs meet the residual together
  if (first) norm({1, 0, quantize_input, false});
  norm({layers - (first ? 1 : 0), adds, quantize_input, fuses_reduce()});
  if (shape.parallel) {
    norm({layers * (shape.norms - 1), 0, quantize_mlp, false});
    return;
  }
  norm({layers, 1, quantize_mlp, fuses_reduce()});
  // Gemma norms the outputs of attention and MLP as well, before they are added.
  norm({layers * (shape.norms - 2), 0, false, false});
}

// ---------------------------------------------------------------- head, collectives, sampling

void StepBuilder::head() {
  const bool parallel = !config_.kinds.empty() && config_.kinds.back().shape.parallel;
  norm({1, parallel ? 2 : 1, false, fuses_reduce()});  // engines norm every token, then pick the last ones
  const Count rows = (config_.vocabulary + options_.tp - 1) / options_.tp;
  linear({"lm_head", Part::head, rows, config_.hidden, false}, {1, sequences_});
}

void StepBuilder::collectives() {
  if (options_.tp == 1) return;
  const double elements = tokens_ * hidden_;
  const double payload = elements * kActivationBytes;
  const double remote = (tp_ - 1) / tp_;
  if (all_reduces_ > 0) {
    auto& reduce = add("all_reduce", OperatorClass::collective, all_reduces_);
    reduce.operations = elements * (tp_ - 1) / tp_;
    reduce.read_bytes = payload;
    reduce.write_bytes = payload;
    reduce.link_bytes = 2 * remote * payload;
  }
  const double logits = sequences_ * static_cast<double>(config_.vocabulary) * kActivationBytes;
  auto& gather = add("logits_all_gather", OperatorClass::collective, 1);
  gather.read_bytes = logits / tp_;
  gather.write_bytes = logits;
  gather.link_bytes = remote * logits;
}

void StepBuilder::sampling() {
  if (options_.sampling == Sampling::none) return;
  const double logits = sequences_ * static_cast<double>(config_.vocabulary);
  const double wide = logits * kWideBytes;
  // All variants start with the cast to FP32, and all but the greedy one with the probabilities.
  double flops = 0;
  double read = logits * kActivationBytes;
  double write = wide;
  double launches = 1;
  const auto pass = [&](double operations, double reads, double writes) {
    flops += operations * logits;
    read += reads * wide;
    write += writes * wide;
    ++launches;
  };
  if (options_.sampling == Sampling::greedy) {
    pass(1, 1, 0);
    write += sequences_ * kIndexBytes;
    return elementwise("sampling", 1, flops, read, write, launches);
  }
  pass(kSoftmaxFlops, 2, 1);
  switch (options_.sampling) {
    case Sampling::exponential:
      pass(3, 0, 1);  // noise: random bits, logarithm, scale
      pass(1, 2, 1);  // divide
      pass(1, 1, 0);  // argmax
      break;
    case Sampling::rejection:
      pass(2, 1, 0);  // one round
      break;
    case Sampling::sort:
      for (int digit = 0; digit < 4; ++digit) pass(0, 2, 2);  // 32-bit keys by 8 bits, with their indices
      pass(1, 1, 1);                                          // cumulative sum
      pass(1, 1, 0);                                          // pick
      break;
    default:
      break;
  }
  elementwise("sampling", 1, flops, read, write + sequences_ * kIndexBytes, launches);
}

void build_step(const ModelConfig& config, const StepOptions& options, std::vector<Operator>& out) {
  check_options(config, options);
  out.clear();
  StepBuilder(config, options, out).build();
}

}  // namespace roofline::model
