// What the parts of a step share while they are being listed.
#pragma once

#include "model/matrices.h"

namespace roofline::model {

inline constexpr double kIndexBytes = 8;      // int64 token ids and cache slots
inline constexpr double kPageIndexBytes = 4;  // int32 block tables
inline constexpr double kWideBytes = 4;       // FP32 or INT32: router logits, routing weights, sampler's logits

// FLOPs per element of elementwise kernels: nominal CUDA-core counts, one per arithmetic operation.
inline constexpr double kRmsNormFlops = 4;    // square, sum, scale, weight
inline constexpr double kLayerNormFlops = 6;  // also mean and its subtraction
inline constexpr double kBiasFlops = 1;
inline constexpr double kAddFlops = 1;
inline constexpr double kQuantizeFlops = 2;  // scale, round
inline constexpr double kRotaryFlops = 3;    // 4 multiplications and 2 additions per pair
inline constexpr double kSoftmaxFlops = 5;   // scale, max, subtract, exp, sum
inline constexpr double kSiluFlops = 4;
inline constexpr double kGeluFlops = 9;  // tanh form
inline constexpr double kGateFlops = 1;

class StepBuilder {
 public:
  StepBuilder(const ModelConfig& config, const StepOptions& options, std::vector<Operator>& out);
  void build();

 private:
  struct Linear {
    double calls = 1;
    double tokens = 0;
    double output_bytes = kActivationBytes;  // per element
    bool prequantized = false;               // the kernel before has quantized the input
  };
  struct NormCall {
    double calls = 1;
    int adds = 0;           // residual operands added first
    bool quantize = false;  // the result feeds a quantized product
    bool reduce = false;    // the all-reduce before is part of it
  };

  // step.cpp
  void embedding();
  void head();
  void collectives();
  void sampling();
  Operator& add(std::string_view name, OperatorClass kind, double calls);
  void elementwise(std::string_view name, double calls, double flops, double read, double write, double launches = 1);
  void linear(const Matrix& matrix, const Linear& call);
  void quantize(double calls, double tokens, double columns);
  void norm(const NormCall& call);
  void layer_norms(const LayerShape& shape, double layers, bool first);
  bool quantizes(Part part) const;
  // Only where attention and MLP are quantized alike: a norm writes its result in one format.
  bool fuses_quantize() const { return options_.fusion.quantize && quantizes(Part::attention) && quantizes(Part::mlp); }
  bool fuses_reduce() const;

  // step_attention.cpp
  void attention(const AttentionShape& a, double layers);
  void grouped_attention(const AttentionShape& a, double layers);
  void projections(const AttentionShape& a, double layers);
  void query_key_norm(const AttentionShape& a, double layers);
  void rotary(const AttentionShape& a, double heads, double layers);
  void cache_write(const AttentionShape& a, double heads, double layers);
  void grouped_core(const AttentionShape& a, double layers);
  void latent_attention(const AttentionShape& a, double layers);
  void latent_absorbed(const AttentionShape& a, double layers);
  void latent_expanded(const AttentionShape& a, double layers);
  void combine_splits(Operator& core, double heads, double value_dim, double layers);
  bool absorbs(const AttentionShape& a) const;

  // step_mlp.cpp
  void mlp(const MlpShape& shape, double layers);
  void dense_mlp(const MlpShape& shape, double layers);
  void expert_mlp(const MlpShape& shape, double layers);
  void shared_mlp(const MlpShape& shape, double layers);
  void grouped_product(const Matrix& matrix, double layers, double source_rows, double rows, double distinct);
  void activate(const MlpShape& shape, double layers, double tokens, double width, bool quantize);
  void exchange(const MlpShape& shape, double layers);
  double distinct_local_experts(const MlpShape& shape, double tokens) const;

  const ModelConfig& config_;
  const StepOptions& options_;
  const Scheme& scheme_;
  const KvFormat& kv_;
  const Split split_;
  std::vector<Operator>& out_;
  int kind_ = -1;
  const double hidden_;
  const double sequences_;
  const double queries_;  // new tokens per sequence
  const double tokens_;   // new tokens on this GPU
  const double tp_;
  double all_reduces_ = 0;
};

}  // namespace roofline::model
