#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "roofline/error.h"
#include "roofline/model.h"

namespace roofline::model {
namespace {

constexpr Count kMaxOption = Count{1} << 30;

constexpr std::array<std::string_view, kOperatorClasses> kClassNames = {
    "gemm",         "gemm-8bit",         "attention",   "attention-8bit-kv",
    "grouped-gemm", "grouped-gemm-8bit", "elementwise", "collective"};
constexpr std::array<std::string_view, 5> kSamplingNames = {"none", "greedy", "exponential", "rejection", "sort"};

[[noreturn]] void wrong(const std::string& text) { throw UsageError(text); }

void check_range(const char* name, Count value) {
  if (value < 1 || value > kMaxOption)
    wrong(fmt::format("{} is {}; expected a whole number from 1 to {}", name, value, kMaxOption));
}

void check_lengths(const ModelConfig& config, const StepOptions& o) {
  check_range("batch", o.batch);
  check_range("context", o.context);
  check_range("tp", o.tp);
  check_range("dp", o.dp);
  check_range("ep", o.ep);
  check_range("KV page", o.kv_page);
  check_range("KV page", o.latent_kv_page);
  check_range("KV splits", o.kv_splits);
  const auto queries = query_length_of(o);
  check_range("query length", queries);
  if (queries > o.context)
    wrong(fmt::format("query length {} exceeds context {}: the context includes the new tokens", queries, o.context));
  if (config.max_positions && o.context > *config.max_positions && !o.beyond_context)
    wrong(fmt::format("context {} is beyond the {} positions of {}; shorten it", o.context, *config.max_positions,
                      config.name));
}

void check_divides(const char* what, Count size, Count parts) {
  if (size % parts != 0) wrong(fmt::format("tp {} does not divide {} {}; choose a tp that does", parts, size, what));
}

void check_split(const LayerShape& shape, const StepOptions& o) {
  const auto& a = shape.attention;
  const auto& mlp = shape.mlp;
  check_divides("attention heads", a.heads, o.tp);
  if (!a.latent && a.kv_heads % o.tp != 0 && o.tp % a.kv_heads != 0)
    wrong(fmt::format("tp {} and {} key-value heads: neither divides the other", o.tp, a.kv_heads));
  if (mlp.experts == 0) return check_divides("MLP columns", mlp.width, o.tp);
  if (o.ep == 1) check_divides("columns of an expert", mlp.width, o.tp);
  if (mlp.shared_width > 0) check_divides("columns of the shared expert", mlp.shared_width, o.tp);
  if (mlp.experts % o.ep != 0) wrong(fmt::format("ep {} does not divide {} experts", o.ep, mlp.experts));
}

void check_parallel(const ModelConfig& config, const StepOptions& o) {
  const bool experts = std::any_of(config.kinds.begin(), config.kinds.end(),
                                   [](const LayerKind& kind) { return kind.shape.mlp.experts > 0; });
  if (!experts && o.ep > 1) wrong(fmt::format("ep {}: {} has no experts", o.ep, config.name));
  if (o.dp > 1 && o.ep == 1) wrong("dp without ep is independent copies of the model: model one of them with dp 1");
  if (o.ep > 1 && o.ep != o.tp * o.dp)
    wrong(fmt::format("ep {}: experts spread over all tp x dp = {} GPUs, or (ep 1) over none", o.ep, o.tp * o.dp));
  for (const auto& kind : config.kinds) check_split(kind.shape, o);
}

void check_probabilities(const ModelConfig& config, const StepOptions& o) {
  if (o.expert_probability.empty()) return;
  for (const auto& kind : config.kinds) {
    const auto& mlp = kind.shape.mlp;
    if (mlp.experts == 0) continue;
    if (static_cast<Count>(o.expert_probability.size()) != mlp.experts)
      wrong(fmt::format("{} expert probabilities for {} experts", o.expert_probability.size(), mlp.experts));
  }
  for (const double p : o.expert_probability)
    if (!(p >= 0 && p <= 1)) wrong(fmt::format("expert probability {} is not between 0 and 1", p));
}

void check_kv(const ModelConfig& config, const StepOptions& o) {
  const auto& kv = kv_format_of(config, o);
  if (!kv.latent_only) return;
  for (const auto& kind : config.kinds)
    if (!kind.shape.attention.latent)
      wrong(fmt::format("KV format {} is for latent attention, which {} does not have", kv.name, config.name));
}

}  // namespace

void check_options(const ModelConfig& config, const StepOptions& options) {
  check_lengths(config, options);
  check_parallel(config, options);
  check_probabilities(config, options);
  check_kv(config, options);
}

const Scheme& scheme_of(const ModelConfig& config, const StepOptions& options) {
  static const Scheme* const kDefault = find_scheme("bf16");
  if (options.scheme != nullptr) return *options.scheme;
  return config.checkpoint ? *config.checkpoint : *kDefault;
}

const KvFormat& kv_format_of(const ModelConfig& config, const StepOptions& options) {
  static const KvFormat* const kDefault = find_kv_format("bf16");
  if (options.kv != nullptr) return *options.kv;
  const auto& scheme = scheme_of(config, options);
  if (!scheme.kv.empty())
    if (const auto* format = find_kv_format(scheme.kv)) return *format;
  return config.checkpoint_kv != nullptr && options.scheme == nullptr ? *config.checkpoint_kv : *kDefault;
}

Count query_length_of(const StepOptions& options) {
  if (options.query_length > 0) return options.query_length;
  return options.phase == Phase::decode ? 1 : options.context;
}

std::optional<Sampling> parse_sampling(std::string_view name) {
  const auto* it = std::find(kSamplingNames.begin(), kSamplingNames.end(), name);
  if (it == kSamplingNames.end()) return std::nullopt;
  return static_cast<Sampling>(it - kSamplingNames.begin());
}

std::string_view to_string(Sampling sampling) { return kSamplingNames[static_cast<std::size_t>(sampling)]; }
std::string_view to_string(OperatorClass kind) { return kClassNames[static_cast<std::size_t>(kind)]; }

std::optional<OperatorClass> parse_operator_class(std::string_view name) {
  const auto* it = std::find(kClassNames.begin(), kClassNames.end(), name);
  if (it == kClassNames.end()) return std::nullopt;
  return static_cast<OperatorClass>(it - kClassNames.begin());
}

}  // namespace roofline::model
