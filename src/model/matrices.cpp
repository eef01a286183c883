#include "model/matrices.h"

#include <algorithm>

namespace roofline::model {

bool is_quantized(const QuantizedParts& parts, Part part) {
  switch (part) {
    case Part::attention:
      return parts.attention;
    case Part::mlp:
      return parts.mlp;
    case Part::experts:
      return parts.experts;
    case Part::shared_expert:
      return parts.shared_expert;
    case Part::head:
      return parts.head;
    case Part::unquantized:
      break;
  }
  return false;
}

Split split_of(const StepOptions& options) { return {options.tp, options.ep > 1 ? 1 : options.tp, options.ep}; }

Count local_heads(const AttentionShape& a, const Split& split) { return a.heads / split.tensor; }

Count local_kv_heads(const AttentionShape& a, const Split& split) {
  return std::max<Count>(1, a.kv_heads / split.tensor);
}

Matrix qkv_matrix(const AttentionShape& a, Count hidden, const Split& split) {
  const Count heads = local_heads(a, split) + 2 * local_kv_heads(a, split);
  return {"qkv_proj", Part::attention, heads * a.head_dim, hidden, a.qkv_bias};
}

Matrix output_matrix(const AttentionShape& a, Count hidden, const Split& split) {
  const Count width = a.latent ? a.value_dim : a.head_dim;
  return {"o_proj", Part::attention, hidden, local_heads(a, split) * width, a.output_bias};
}

Matrix latent_a_matrix(const AttentionShape& a, Count hidden, const Split& split) {
  // The compressions are small and stay whole on every GPU; uncompressed queries are split.
  const Count queries = a.q_rank > 0 ? a.q_rank : local_heads(a, split) * (a.nope_dim + a.rope_dim);
  return {"qkv_a_proj", Part::attention, queries + a.kv_rank + a.rope_dim, hidden, a.qkv_bias};
}

Matrix latent_q_b_matrix(const AttentionShape& a, const Split& split) {
  return {"q_b_proj", Part::attention, local_heads(a, split) * (a.nope_dim + a.rope_dim), a.q_rank, false};
}

Matrix latent_kv_b_matrix(const AttentionShape& a, const Split& split) {
  return {"kv_b_proj", Part::attention, local_heads(a, split) * (a.nope_dim + a.value_dim), a.kv_rank, false};
}

Matrix up_matrix(const MlpShape& mlp, Count hidden, const Split& split) {
  const Count width = mlp.width / split.tensor;
  return {mlp.gated ? "gate_up_proj" : "up_proj", Part::mlp, mlp.gated ? 2 * width : width, hidden, mlp.bias};
}

Matrix down_matrix(const MlpShape& mlp, Count hidden, const Split& split) {
  return {"down_proj", Part::mlp, hidden, mlp.width / split.tensor, mlp.bias};
}

Matrix router_matrix(const MlpShape& mlp, Count hidden) {
  return {"moe_router", Part::unquantized, mlp.experts, hidden, mlp.router_bias};
}

Matrix expert_up_matrix(const MlpShape& mlp, Count hidden, const Split& split) {
  const Count width = mlp.width / split.expert_tensor;
  return {"moe_gate_up", Part::experts, mlp.gated ? 2 * width : width,
          hidden,        mlp.bias,      mlp.experts / split.expert_ranks};
}

Matrix expert_down_matrix(const MlpShape& mlp, Count hidden, const Split& split) {
  return {
      "moe_down", Part::experts, hidden, mlp.width / split.expert_tensor, mlp.bias, mlp.experts / split.expert_ranks};
}

Matrix shared_up_matrix(const MlpShape& mlp, Count hidden, const Split& split) {
  const Count width = mlp.shared_width / split.tensor;
  return {"shared_gate_up", Part::shared_expert, mlp.gated ? 2 * width : width, hidden, false};
}

Matrix shared_down_matrix(const MlpShape& mlp, Count hidden, const Split& split) {
  return {"shared_down", Part::shared_expert, hidden, mlp.shared_width / split.tensor, false};
}

Matrix shared_gate_matrix(Count hidden) { return {"shared_gate", Part::unquantized, 1, hidden, false}; }

MatrixList layer_matrices(const LayerShape& shape, Count hidden, const Split& split) {
  MatrixList list;
  const auto& a = shape.attention;
  const auto& mlp = shape.mlp;
  if (a.latent) {
    list.add(latent_a_matrix(a, hidden, split));
    if (a.q_rank > 0) list.add(latent_q_b_matrix(a, split));
    list.add(latent_kv_b_matrix(a, split));
  } else {
    list.add(qkv_matrix(a, hidden, split));
  }
  list.add(output_matrix(a, hidden, split));
  if (mlp.experts == 0) {
    list.add(up_matrix(mlp, hidden, split));
    list.add(down_matrix(mlp, hidden, split));
    return list;
  }
  list.add(router_matrix(mlp, hidden));
  list.add(expert_up_matrix(mlp, hidden, split));
  list.add(expert_down_matrix(mlp, hidden, split));
  if (mlp.shared_width > 0) {
    list.add(shared_up_matrix(mlp, hidden, split));
    list.add(shared_down_matrix(mlp, hidden, split));
  }
  if (mlp.shared_gate) list.add(shared_gate_matrix(hidden));
  return list;
}

Count norm_parameters(Norm norm, Count hidden) { return norm == Norm::layer_with_bias ? 2 * hidden : hidden; }

Count vector_parameters(const LayerShape& shape, Norm norm, Count hidden) {
  const auto& a = shape.attention;
  Count sum = shape.norms * norm_parameters(norm, hidden);
  if (a.latent) sum += a.q_rank + a.kv_rank;
  if (a.query_key_norm == QueryKeyNorm::per_head) sum += 2 * a.head_dim;
  if (a.query_key_norm == QueryKeyNorm::whole) sum += (a.heads + a.kv_heads) * a.head_dim;
  if (a.sinks) sum += a.heads;
  if (shape.mlp.score_correction) sum += shape.mlp.experts;
  return sum;
}

}  // namespace roofline::model
