// What a step of a language model has to do, from its configuration alone.
//
// Everything here is of evidence `model`: operations and compulsory DRAM bytes (every operand read once, every result
// written once, nothing kept in a cache between kernels), per GPU. docs/model.md states every formula.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/machine.h"
#include "roofline/placement.h"
#include "roofline/precision.h"
#include "roofline/thresholds.h"
#include "roofline/work.h"

namespace roofline::model {

using Count = std::int64_t;

// ---------------------------------------------------------------- number formats

// Bytes of scale factors: one of `bytes` per tile of `rows` x `columns`; 0 rows or columns: the whole dimension.
struct ScaleLayout {
  double bytes = 0;  // per tile; 0: no scales
  Count rows = 1;
  Count columns = 0;
  double tensor_bytes = 0;  // once per matrix
  double zero_bits = 0;     // zero point per tile, bits

  double bytes_of(double matrix_rows, double matrix_columns) const;
  bool operator==(const ScaleLayout&) const = default;
};

// How weights and activations are stored, and which units multiply them. data/quantization.json lists the known ones.
struct Scheme {
  std::string name;         // "bf16", "fp8", "w4a16_g128"
  double weight_bits = 16;  // of quantized matrices
  ScaleLayout weight_scale;
  double activation_bits = 16;   // operand of quantized matrix products; below 16 a quantize kernel comes first
  ScaleLayout activation_scale;  // rows are tokens
  Precision precision;           // of quantized matrix products
  Precision base;                // of the others and of attention: bf16.tensor or fp16.tensor
  std::string kv;                // KV-cache format that belongs to the scheme; empty: 16 bit
  std::string source;

  bool quantizes_activations() const { return activation_bits < 16; }
  // A matrix of `rows` outputs and `columns` inputs, with its scales.
  double weight_bytes(double rows, double columns) const;
  double activation_bytes(double tokens, double columns) const;  // with scales
};

// How one cached key or value is stored.
struct KvFormat {
  std::string name;             // "bf16", "fp8", "fp8_ds_mla"
  double bits = 16;             // per element
  double head_scale_bytes = 0;  // per token, head, and of K and V each
  double rope_bits = 16;        // latent attention: of the shared rotary part
  Count latent_group = 0;       // latent attention: elements per scale; 0: none
  double latent_scale_bytes = 0;
  bool latent_only = false;
  std::string source;
};

const Scheme* find_scheme(std::string_view name);       // nullptr when unknown
const KvFormat* find_kv_format(std::string_view name);  // nullptr when unknown
std::span<const Scheme> schemes();
std::span<const KvFormat> kv_formats();

// ---------------------------------------------------------------- architecture

enum class WindowKind : std::uint8_t { none, sliding, chunked };
struct Window {
  WindowKind kind = WindowKind::none;
  Count size = 0;  // tokens
  bool operator==(const Window&) const = default;
};

enum class QueryKeyNorm : std::uint8_t {
  none,
  per_head,    // one weight vector of head_dim for all heads (Qwen3, Gemma 3)
  whole,       // one weight per head and element (Command R+)
  weightless,  // Llama 4
};
enum class Norm : std::uint8_t { rms, layer, layer_with_bias };
enum class Activation : std::uint8_t { silu, gelu };

struct AttentionShape {
  bool latent = false;  // DeepSeek's multi-head latent attention
  Count heads = 0;
  Count kv_heads = 0;
  Count head_dim = 0;
  Count rotary_dim = 0;  // 0: no rotary embedding in this layer
  Count q_rank = 0;      // latent only, as are the next four; 0: queries are not compressed
  Count kv_rank = 0;
  Count nope_dim = 0;
  Count rope_dim = 0;
  Count value_dim = 0;
  Window window;
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  bool qkv_bias = false;
  bool output_bias = false;
  bool sinks = false;  // one learned logit per head
  bool operator==(const AttentionShape&) const = default;
};

struct MlpShape {
  Count width = 0;    // of one expert where there are experts
  bool gated = true;  // gate and up
  Activation activation = Activation::silu;
  bool bias = false;
  Count experts = 0;  // 0: dense
  Count experts_per_token = 0;
  Count shared_width = 0;  // of all shared experts together
  bool shared_gate = false;
  bool router_bias = false;
  bool score_correction = false;  // DeepSeek-V3: one learned offset per expert
  bool operator==(const MlpShape&) const = default;
};

struct LayerShape {
  AttentionShape attention;
  MlpShape mlp;
  int norms = 2;          // per layer
  bool parallel = false;  // attention and MLP read the same normed input; one residual add of three operands
  bool operator==(const LayerShape&) const = default;
};

struct LayerKind {
  LayerShape shape;
  Count layers = 0;
};

// Which matrices a scheme applies to. Embedding, router, norms and attention itself are never quantized.
struct QuantizedParts {
  bool attention = true;
  bool mlp = true;
  bool experts = true;
  bool shared_expert = true;
  bool head = false;
};

struct ModelConfig {
  std::string name;  // preset name or the file's label
  std::string model_type;
  Count hidden = 0;
  Count vocabulary = 0;
  bool tied = false;  // lm_head shares the embedding's weights
  Norm norm = Norm::rms;
  std::vector<LayerKind> kinds;            // distinct layers, in order of first use
  std::vector<std::uint16_t> layer_kinds;  // per layer: index into kinds
  std::optional<Count> max_positions;
  std::optional<Scheme> checkpoint;         // how the published weights are stored, where the file says so
  const KvFormat* checkpoint_kv = nullptr;  // likewise
  QuantizedParts parts;
  std::vector<std::string> notes;  // what the file says that the model does not follow

  Count layers() const { return static_cast<Count>(layer_kinds.size()); }
};

// A Hugging Face config.json. Absent keys take the family's published default where it has one; null switches a
// feature off. `label` names the file in errors. Throws InputError (kinds "not-json", "duplicate-key",
// "unknown-model-type", "missing-key", "wrong-type", "out-of-range", "contradiction", "unknown-quantization").
ModelConfig parse_config(std::string_view json, const std::string& label);
// The second file of NVIDIA's checkpoints (hf_quant_config.json), applied to `config`.
void apply_quantization_file(ModelConfig& config, std::string_view json, const std::string& label);
// Reads `path`, and hf_quant_config.json beside it where there is one.
ModelConfig load_config(const std::string& path);

struct Preset {
  std::string name;                  // "llama-3-8b"
  std::vector<std::string> aliases;  // "meta-llama/Meta-Llama-3-8B"
  Count parameters = 0;              // as computed from the configuration, kept as a check
  std::string source;
  std::string json;  // the configuration in Hugging Face keys
};
std::span<const Preset> presets();
const Preset* find_preset(std::string_view name);  // by name or alias, any case; nullptr when unknown
// A preset by name, else a file. Throws UsageError, naming close presets, when it is neither.
ModelConfig resolve_config(const std::string& preset_or_path);

// ---------------------------------------------------------------- the step

enum class Phase : std::uint8_t { decode, prefill };
enum class LatentForm : std::uint8_t {
  automatic,  // absorbed below the number of new tokens at which expanding becomes cheaper
  absorbed,   // attention over the latent itself
  expanded,   // keys and values of every context token are made anew
};
enum class Sampling : std::uint8_t {
  none,
  greedy,       // cast to FP32, argmax
  exponential,  // PyTorch: cast, softmax, exponential noise, divide, argmax
  rejection,    // FlashInfer: cast, softmax, one rejection round (a lower bound)
  sort,         // cast, softmax, radix sort of all logits, cumulative sum, pick
};
std::optional<Sampling> parse_sampling(std::string_view name);
std::string_view to_string(Sampling sampling);
enum class Routing : std::uint8_t {
  uniform,   // expected number of distinct experts of independent uniform routing
  balanced,  // as many distinct experts as there are (token, expert) pairs, up to all
};

struct Fusion {
  bool add_norm = true;          // residual add inside the norm
  bool qkv = true;               // one product for Q, K and V
  bool gate_up = true;           // one product for gate and up
  bool attention = true;         // scores never leave the chip
  bool quantize = false;         // activations quantized by the norm or activation function before (dense layers)
  bool rope_kv_write = false;    // rotary embedding and KV write in one kernel
  bool all_reduce_norm = false;  // all-reduce, residual add and norm in one kernel (layers with two norms)
};

struct StepOptions {
  Phase phase = Phase::decode;
  Count batch = 1;                 // sequences on this GPU
  Count context = 1;               // KV tokens each sequence attends, its new ones included
  Count query_length = 0;          // new tokens per sequence; 0: 1 for decode, `context` for prefill
  const Scheme* scheme = nullptr;  // nullptr: the checkpoint's, else bf16
  const KvFormat* kv = nullptr;    // nullptr: the scheme's, else the checkpoint's, else 16 bit
  Count tp = 1;                    // tensor parallel
  Count dp = 1;                    // data parallel attention around shared experts (needs ep)
  Count ep = 1;                    // expert parallel: 1 (experts are split by tp) or tp * dp (whole experts are spread)
  LatentForm latent = LatentForm::automatic;
  Sampling sampling = Sampling::greedy;
  Routing routing = Routing::uniform;
  // Probability per expert that a token picks it (sums to experts per token), instead of `routing`; not owned.
  std::span<const double> expert_probability;
  Fusion fusion;
  Count kv_page = 16;           // tokens per page: vLLM's default
  Count latent_kv_page = 64;    // FlashMLA's
  Count kv_splits = 1;          // flash-decoding splits; more than 1 adds the combine kernel
  bool beyond_context = false;  // allow a context above the model's own limit
};

enum class OperatorClass : std::uint8_t {
  gemm,
  gemm_8bit,  // activations of 8 bits or fewer
  attention,
  attention_8bit_kv,
  grouped_gemm,
  grouped_gemm_8bit,
  elementwise,
  collective,
};
inline constexpr std::size_t kOperatorClasses = 8;
std::string_view to_string(OperatorClass kind);
std::optional<OperatorClass> parse_operator_class(std::string_view name);

// One kernel (or a fixed group of kernels) of the step; quantities are per call. Expected values may be fractional.
struct Operator {
  std::string_view name;  // static storage
  OperatorClass kind = OperatorClass::elementwise;
  int layer_kind = -1;  // index into ModelConfig::kinds; -1 outside the layers
  double calls = 1;     // per step
  double launches = 1;  // kernels per call
  Precision precision;
  double operations = 0;  // FLOPs, 2 per multiply-add (integer operations for int8.tensor)
  double aux_ops = 0;     // softmax internals; never in the roof
  double read_bytes = 0;
  double write_bytes = 0;
  double link_bytes = 0;       // that cross this GPU's link
  double weight_bytes = 0;     // share of read_bytes that does not grow with the batch
  double m = 0, n = 0, k = 0;  // of a matrix product: tokens, outputs, inputs; 0 otherwise

  double bytes() const { return read_bytes + write_bytes; }
};

// Fills `out` with the operators of one step on one GPU, reusing its memory. The same name may occur several times
// (one entry per distinct shape). Throws UsageError for options that do not fit the model.
void build_step(const ModelConfig& config, const StepOptions& options, std::vector<Operator>& out);
// Throws UsageError with what is wrong and what would do; build_step() calls it.
void check_options(const ModelConfig& config, const StepOptions& options);
const Scheme& scheme_of(const ModelConfig& config, const StepOptions& options);
const KvFormat& kv_format_of(const ModelConfig& config, const StepOptions& options);
Count query_length_of(const StepOptions& options);

// (query, key) pairs and distinct keys of the last `queries` positions of a causal context.
struct Attended {
  double pairs = 0;
  double keys = 0;
};
Attended attended(Count context, Count queries, const Window& window);
// Expected number of distinct experts that `tokens` independent tokens pick.
double distinct_experts(double experts, double experts_per_token, double tokens);
// New tokens per sequence from which expanding the latent costs fewer operations than absorbing (DeepSeek-V3: 171).
double absorb_break_even(const AttentionShape& attention);

// ---------------------------------------------------------------- sizes

// Exact number of parameters: matrices, norms, biases, sinks; without multi-token-prediction layers.
Count parameter_count(const ModelConfig& config);

struct Footprint {       // bytes on one GPU
  double linears = 0;    // quantizable matrices with their scales
  double embedding = 0;  // embedding and lm_head, 16 bit; a tied one counted once
  double other = 0;      // norms, biases, routers, absorbed latent products
  double kv_cache = 0;   // batch x context, windows respected
  double weights() const { return linears + embedding + other; }
  double total() const { return weights() + kv_cache; }
};
Footprint footprint(const ModelConfig& config, const StepOptions& options);
// Per token of context while no window is full, on one GPU.
double kv_bytes_per_token(const ModelConfig& config, const KvFormat& format, Count tp = 1);
// The largest batch whose weights and KV cache fit into `memory_bytes` x `usable`; 0 when not even one does.
Count largest_batch(const ModelConfig& config, StepOptions options, double memory_bytes, double usable);

// ---------------------------------------------------------------- times

// The limits of a machine, looked up once.
class Roofs {
 public:
  // Throws UsageError when the ceiling has no DRAM bandwidth.
  explicit Roofs(const Ceiling& ceiling);
  // Seconds per call. Throws UsageError, naming the precision, where the machine has no peak for it.
  double compute_time(const Operator& op) const;
  double memory_time(const Operator& op) const { return op.bytes() / dram_; }
  double link_time(const Operator& op) const;
  double roof_time(const Operator& op) const;
  double peak(const Precision& precision) const;  // ops/s; throws as compute_time()
  bool has_peak(const Precision& precision) const;
  double dram() const { return dram_; }
  const std::string& link_kind() const { return link_kind_; }

 private:
  static constexpr std::size_t kTypes = 16;
  std::array<double, 2 * kTypes> peaks_{};
  double dram_ = 0;
  double link_ = 0;
  std::string link_kind_ = "nvlink";
};

// What kernels of one class reach in practice: t = launches x launch_s + max(ops / (fraction x peak), bytes / rate).
struct ClassConstants {
  double launch_s = 0;
  double bytes_per_s = 0;  // DRAM; for collectives the link
  double peak_fraction = 1;
  std::string source;
};
struct Calibration {
  std::string machine;  // catalogue id the constants were fitted on
  std::array<ClassConstants, kOperatorClasses> classes;
  bool scaled = false;  // fitted elsewhere, rates scaled by the bandwidths of the two machines
  std::string note;

  const ClassConstants& of(OperatorClass kind) const { return classes[static_cast<std::size_t>(kind)]; }
  double time(const Operator& op, const Roofs& roofs) const;  // seconds per call
};
// Constants of data/calibration.json for this machine, or those of the reference machine scaled to its ceiling.
Calibration calibration_for(const Machine& machine, const Ceiling& ceiling);
Calibration parse_calibration(std::string_view json, std::string_view machine, const std::string& label);

// One measured kernel time, to fit constants from.
struct Sample {
  Operator op;
  double seconds = 0;  // per call
};
// Least squares of launch floor and rates per class, weighted by 1 / time^2; classes without enough memory-bound
// samples (two different sizes) keep `start`'s constants.
Calibration fit_calibration(std::span<const Sample> samples, const Roofs& roofs, Calibration start);

struct StepTotals {
  double launches = 0;
  double operations = 0;  // all precisions
  double bytes = 0;
  double link_bytes = 0;
  double roof_s = 0;       // sum of roof times, never the maximum of sums
  double predicted_s = 0;  // calibrated; 0 without a calibration
};
StepTotals totals(std::span<const Operator> operators, const Roofs& roofs, const Calibration* calibration);

// For sweeps: keeps its operator list, so that a point allocates nothing once the list has grown.
class Evaluator {
 public:
  // `config` must outlive the evaluator.
  Evaluator(const ModelConfig& config, Roofs roofs, std::optional<Calibration> calibration);
  StepTotals evaluate(const StepOptions& options);
  std::span<const Operator> operators() const { return operators_; }  // of the last evaluate()

 private:
  const ModelConfig& config_;
  Roofs roofs_;
  std::optional<Calibration> calibration_;
  std::vector<Operator> operators_;
};

// Work of all calls of an operator in the step, as place() takes it. `seconds` is its whole time.
Work work_of(const Operator& op, double seconds, const std::string& link_kind);

struct StepRow {
  std::string name;
  OperatorClass kind = OperatorClass::elementwise;
  double calls = 0;
  double aux_ops = 0;
  double predicted_s = 0;
  PlacementGroup group;  // sums over the shapes of this name; its time is the predicted one
};
struct StepPrediction {
  std::vector<StepRow> rows;  // in order of first use
  StepTotals totals;
  Footprint memory;
  double tokens = 0;  // that the step produces (decode) or reads (prefill), on this GPU
  double bound_tokens_per_s() const { return tokens / totals.roof_s; }
  double predicted_tokens_per_s() const { return tokens / totals.predicted_s; }
};
// Places every operator under `ceiling` at its calibrated time. For prefill, the step time is the time to first token.
StepPrediction predict_step(const ModelConfig& config, const StepOptions& options, const Ceiling& ceiling,
                            const PipeGroups& groups, const Calibration& calibration, const Thresholds& thresholds);

// Tokens at which an operator that streams a fixed weight reaches its ridge:
//   M* = R w / (f - R b),  R = peak / bandwidth, w weight bytes, f operations per token, b other bytes per token.
// nullopt when it never does.
std::optional<double> ridge_tokens(const Operator& op, const Roofs& roofs);
// The smallest batch up to `limit` at which the operators of this name are compute-bound together; nullopt: none.
std::optional<Count> ridge_batch(const ModelConfig& config, StepOptions options, const Roofs& roofs,
                                 std::string_view name, Count limit);

// ---------------------------------------------------------------- measured kernels

struct NameRule {
  std::string op;      // "gemm", "attention.decode", "comm.all_reduce"
  std::string family;  // "cuBLAS >= 12.6 on SM90+"
  std::string regex;
  std::string example;
  std::string source;  // where names like this were seen
  std::uint64_t line = 0;
};

// data/kernel_names.csv: ordered regular expressions, the first that occurs in the name wins.
class KernelNames {
 public:
  static const KernelNames& instance();
  // Throws InputError ("bad-regex", "missing-column", those of the table).
  static KernelNames parse(std::string_view csv, const std::string& label);
  ~KernelNames();
  KernelNames(KernelNames&&) noexcept;
  KernelNames& operator=(KernelNames&&) noexcept;

  const NameRule* match(std::string_view kernel_name) const;  // nullptr when none fits; any bytes, linear time
  std::span<const NameRule> rules() const;

 private:
  struct Impl;
  explicit KernelNames(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roofline::model
