// The weight matrices of a layer, as one GPU holds them.
#pragma once

#include <array>
#include <string_view>

#include "roofline/model.h"

namespace roofline::model {

inline constexpr double kActivationBytes = 2;  // residual stream, biases, and whatever is not quantized: BF16 or FP16

enum class Part : std::uint8_t { attention, mlp, experts, shared_expert, head, unquantized };
bool is_quantized(const QuantizedParts& parts, Part part);

struct Matrix {
  std::string_view name;
  Part part = Part::unquantized;
  Count outputs = 0;  // N
  Count inputs = 0;   // K
  bool bias = false;
  Count copies = 1;  // experts held here
};

// How a layer is spread: attention, dense MLP and shared experts by `tensor`; experts by `expert_tensor` within and by
// `expert_ranks` between them.
struct Split {
  Count tensor = 1;
  Count expert_tensor = 1;
  Count expert_ranks = 1;
};
Split split_of(const StepOptions& options);

Count local_heads(const AttentionShape& a, const Split& split);
Count local_kv_heads(const AttentionShape& a, const Split& split);  // replicated when there are more GPUs than heads

// Bytes that one token leaves in this layer's KV cache on one GPU.
double kv_token_bytes(const AttentionShape& a, const KvFormat& format, const Split& split);

Matrix qkv_matrix(const AttentionShape& a, Count hidden, const Split& split);
Matrix output_matrix(const AttentionShape& a, Count hidden, const Split& split);
// Latent attention.
Matrix latent_a_matrix(const AttentionShape& a, Count hidden, const Split& split);  // q_a and kv_a, or q and kv_a
Matrix latent_q_b_matrix(const AttentionShape& a, const Split& split);
Matrix latent_kv_b_matrix(const AttentionShape& a, const Split& split);

Matrix up_matrix(const MlpShape& mlp, Count hidden, const Split& split);  // gate and up, or up alone
Matrix down_matrix(const MlpShape& mlp, Count hidden, const Split& split);
Matrix router_matrix(const MlpShape& mlp, Count hidden);
Matrix expert_up_matrix(const MlpShape& mlp, Count hidden, const Split& split);
Matrix expert_down_matrix(const MlpShape& mlp, Count hidden, const Split& split);
Matrix shared_up_matrix(const MlpShape& mlp, Count hidden, const Split& split);
Matrix shared_down_matrix(const MlpShape& mlp, Count hidden, const Split& split);
Matrix shared_gate_matrix(Count hidden);

struct MatrixList {
  std::array<Matrix, 10> items;
  std::size_t size = 0;

  void add(const Matrix& matrix) { items[size++] = matrix; }
  const Matrix* begin() const { return items.data(); }
  const Matrix* end() const { return items.data() + size; }
};
MatrixList layer_matrices(const LayerShape& shape, Count hidden, const Split& split);

Count norm_parameters(Norm norm, Count hidden);  // of one norm
// Everything of a layer that is no matrix: norms, sinks, routing offsets.
Count vector_parameters(const LayerShape& shape, Norm norm, Count hidden);

}  // namespace roofline::model
