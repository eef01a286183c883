#include <algorithm>
#include <map>
#include <set>

#include "roofline/forecast.h"

namespace roofline::model {
namespace {

// A measured kernel on its way to an operator.
struct Kernel {
  const KernelRow* row = nullptr;
  std::string family;  // operator of data/kernel_names.csv; empty when no family fits
  std::string op;      // of the model; empty: none
  std::string by;
  std::string reason;         // why it has none
  bool part_of_call = false;  // second kernel of a call: its time counts, its launch does not
};

// The operator names of one forecast.
class Operators {
 public:
  explicit Operators(const Forecast& forecast) {
    for (const auto& row : forecast.step.rows) rows_[row.name] = &row;
  }
  bool has(const std::string& name) const { return rows_.find(name) != rows_.end(); }
  std::string first_of(std::initializer_list<const char*> names) const {
    for (const auto* name : names)
      if (has(name)) return name;
    return {};
  }

 private:
  std::map<std::string, const StepRow*> rows_;
};

bool starts(const std::string& text, std::string_view prefix) { return text.starts_with(prefix); }

// Names of matrix products tell tiles, not operands: which product it is follows from what ran before it. One machine
// per stream.
class LayerPosition {
 public:
  explicit LayerPosition(const Operators& operators) : operators_(operators) {}

  void step(Kernel& k) {
    if (k.family == "embedding") return landmark(k, Place::after_embedding, {"embedding"});
    if (k.family == "rms_norm" || k.family == "add_rms_norm") return norm(k);
    if (k.family == "rope") return landmark(k, Place::before_attention, {"rope", "rope_kv_write"});
    if (k.family == "qk_norm_rope") return landmark(k, Place::before_attention, {"rope", "qk_norm"});
    if (k.family == "kv_cache_write") return landmark(k, Place::before_attention, {"kv_cache_write", "rope_kv_write"});
    if (starts(k.family, "attention")) return attention(k);
    if (k.family == "silu_and_mul") return landmark(k, Place::after_activation, activation_names());
    if (starts(k.family, "moe.")) return experts(k);
    if (starts(k.family, "gemm")) return product(k);
    if (k.family == "sampling") return landmark(k, Place::unknown, {"sampling"});
    elsewhere(k);
  }

 private:
  enum class Place {
    unknown,
    after_embedding,
    attention_norm,
    after_qkv,
    before_attention,
    after_attention,
    after_output,
    mlp_norm,
    after_up,
    after_activation,
    after_down
  };

  static std::initializer_list<const char*> activation_names() {
    static const std::initializer_list<const char*> kNames = {
        "silu_and_mul", "gelu_and_mul", "silu_and_mul_quant", "gelu_and_mul_quant", "silu", "gelu"};
    return kNames;
  }

  void assign(Kernel& k, std::string op, const char* by) {
    if (op.empty()) {
      k.reason = "the model has no such operator";
      return;
    }
    k.op = std::move(op);
    k.by = by;
  }

  void landmark(Kernel& k, Place place, std::initializer_list<const char*> names) {
    place_ = place;
    assign(k, operators_.first_of(names), "kernel name");
  }

  void norm(Kernel& k) {
    if (place_ == Place::after_qkv && operators_.has("qk_norm")) return assign(k, "qk_norm", "position in the layer");
    const bool first = place_ == Place::after_embedding;
    if (place_ == Place::after_output)
      place_ = Place::mlp_norm;
    else if (place_ != Place::mlp_norm)
      place_ = Place::attention_norm;
    const auto op = first ? operators_.first_of({"rms_norm", "layer_norm", "add_rms_norm"})
                          : operators_.first_of({"add_rms_norm", "rms_norm", "add_layer_norm", "layer_norm"});
    assign(k, op, "kernel name");
  }

  void attention(Kernel& k) {
    if (k.family == "attention.metadata") {
      k.reason = "scheduling of attention, which the model leaves out";
      return;
    }
    place_ = Place::after_attention;
    if (k.family == "attention.combine" && operators_.has("attention_combine"))
      return assign(k, "attention_combine", "kernel name");
    k.part_of_call = k.family == "attention.combine";
    assign(k, operators_.first_of({"attention", "mla_attention"}), "kernel name");
  }

  void experts(Kernel& k) {
    if (k.family == "moe.routing") return assign(k, operators_.first_of({"moe_topk"}), "kernel name");
    if (k.family == "moe.combine") return landmark(k, Place::after_down, {"moe_combine"});
    const bool down = place_ == Place::after_activation || place_ == Place::after_up;
    place_ = down ? Place::after_down : Place::after_up;
    assign(k, operators_.first_of({down ? "moe_down" : "moe_gate_up"}), "position in the layer");
  }

  void product(Kernel& k) {
    if (k.family == "gemm.splitk_reduce") {
      k.part_of_call = true;
      return assign(k, last_product_, "position in the layer");
    }
    if (k.row->group.work.launches != 1) {
      k.reason = "a matrix product among merged launches: its position in the layer is lost";
      return;
    }
    const auto op = next_product();
    last_product_ = op;
    assign(k, op, "position in the layer");
    if (op.empty()) k.reason = "a matrix product at an unclear position in the layer";
  }

  std::string next_product() {
    switch (place_) {
      case Place::attention_norm:
        place_ = Place::after_qkv;
        return operators_.first_of({"qkv_proj", "q_proj"});
      case Place::after_qkv:
        return separate_query_key_value();
      case Place::after_attention:
        place_ = Place::after_output;
        return operators_.has("mla_attention") ? std::string() : operators_.first_of({"o_proj"});
      case Place::mlp_norm:
        if (operators_.has("moe_router")) return operators_.first_of({"moe_router"});
        place_ = Place::after_up;
        return operators_.first_of({"gate_up_proj", "gate_proj", "up_proj"});
      case Place::after_up:
        return operators_.has("gate_up_proj") ? std::string() : operators_.first_of({"up_proj"});
      case Place::after_activation:
        place_ = Place::after_down;
        return operators_.first_of({"down_proj"});
      default:
        return {};
    }
  }

  std::string separate_query_key_value() {
    if (!operators_.has("k_proj")) return {};
    return last_product_ == "q_proj" ? "k_proj" : "v_proj";
  }

  void elsewhere(Kernel& k) {
    static const std::map<std::string, const char*> kNames = {
        {"act_quant", "act_quant"}, {"comm.all_reduce", "all_reduce"}, {"comm.all_gather", "logits_all_gather"}};
    if (const auto it = kNames.find(k.family); it != kNames.end())
      return assign(k, operators_.first_of({it->second}), "kernel name");
    k.reason = k.family.empty() ? "no known family of kernels" : "the model has no such operator";
  }

  const Operators& operators_;
  Place place_ = Place::unknown;
  std::string last_product_;
};

// The product after the last norm is the vocabulary's: no attention follows it before sampling, the next step's
// embedding, or the end.
void find_heads(std::vector<Kernel*>& stream, const Operators& operators) {
  if (!operators.has("lm_head")) return;
  bool attention_follows = false;
  for (auto it = stream.rbegin(); it != stream.rend(); ++it) {
    auto& k = **it;
    if (k.family == "sampling" || k.family == "embedding") attention_follows = false;
    if (k.family == "rope" || k.family == "kv_cache_write" || starts(k.family, "attention")) attention_follows = true;
    const bool query = k.op == "qkv_proj" || k.op == "q_proj";
    if (!query || attention_follows || k.by != "position in the layer") continue;
    k.op = "lm_head";
  }
}

std::vector<Kernel> kernels_of(const Report& measured, const Operators& operators) {
  std::vector<Kernel> out;
  const auto& names = KernelNames::instance();
  for (const auto& row : measured.rows) {
    if (!row.group.work.time) continue;
    Kernel k;
    k.row = &row;
    if (const auto* rule = names.match(row.full_name)) k.family = rule->op;
    for (const auto& name : {row.op, row.name})
      if (k.op.empty() && operators.has(name)) {
        k.op = name;
        k.by = "name";
      }
    out.push_back(std::move(k));
  }
  return out;
}

void assign_operators(std::vector<Kernel>& kernels, const Operators& operators) {
  std::map<std::tuple<std::size_t, std::uint32_t, std::uint64_t>, std::vector<Kernel*>> streams;
  for (auto& k : kernels)
    if (k.op.empty()) streams[{k.row->input, k.row->device, k.row->stream}].push_back(&k);
  for (auto& [key, stream] : streams) {
    LayerPosition position(operators);
    for (auto* k : stream) position.step(*k);
    find_heads(stream, operators);
  }
}

// Sum that stays absent once a part is.
class Sum {
 public:
  void add(const Quantity& q) {
    if (!q) {
      complete_ = false;
      return;
    }
    value_ += q.value();
    evidence_ = any_ ? weakest(evidence_, q.evidence()) : q.evidence();
    bound_ = any_ ? combine(bound_, q.bound()) : q.bound();
    any_ = true;
  }
  Quantity get() const { return any_ && complete_ ? Quantity::of(value_, evidence_, nullptr, bound_) : Quantity(); }

 private:
  double value_ = 0;
  Evidence evidence_ = Evidence::absent;
  Bound bound_ = Bound::exact;
  bool any_ = false;
  bool complete_ = true;
};

// Only what was counted is set beside the model: a table's own modelled figures would agree with themselves.
Quantity counted(const Quantity& q) { return q.evidence() == Evidence::model ? Quantity() : q; }

std::optional<MatchedOperator> sum_up(const StepRow& model, const std::vector<Kernel>& kernels) {
  MatchedOperator out;
  out.name = model.name;
  Sum flops;
  Sum bytes;
  double launches = 0;
  for (const auto& k : kernels) {
    if (k.op != model.name) continue;
    const auto& work = k.row->group.work;
    out.time_s += work.time.value();
    if (out.by.empty()) out.by = k.by;
    if (!k.part_of_call) launches += work.launches;
    flops.add(counted(work.flops()));
    bytes.add(counted(work.level(MemoryLevel::dram).total));
  }
  if (launches <= 0) return std::nullopt;
  out.flops = flops.get();
  out.bytes = bytes.get();
  out.calls = launches * model.calls / model.group.work.launches;
  const double share = out.calls / model.calls;  // steps' worth
  for (const auto& op : model.group.work.operations) out.model_flops += share * op.operations.value_or(0);
  out.model_bytes = share * model.group.work.level(MemoryLevel::dram).total.value_or(0);
  out.roof_s = share * model.group.placed_roof_time_s;
  out.predicted_s = share * model.predicted_s;
  return out;
}

std::vector<UnmatchedKernel> unmatched_of(const std::vector<Kernel>& kernels) {
  std::map<std::pair<std::string, std::string>, UnmatchedKernel> sums;
  for (const auto& k : kernels) {
    if (!k.op.empty()) continue;
    auto& sum = sums[{k.row->name, k.reason}];
    sum.name = k.row->name;
    sum.reason = k.reason;
    sum.launches += k.row->group.work.launches;
    sum.time_s += k.row->group.work.time.value();
  }
  std::vector<UnmatchedKernel> out;
  out.reserve(sums.size());
  for (auto& [key, sum] : sums) out.push_back(std::move(sum));
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.time_s > b.time_s; });
  return out;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Match match_kernels(const Forecast& forecast, const Report& measured) {
  const Operators operators(forecast);
  auto kernels = kernels_of(measured, operators);
  assign_operators(kernels, operators);
  Match match;
  std::vector<double> steps;
  for (const auto& row : forecast.step.rows) {
    auto sum = sum_up(row, kernels);
    if (!sum) {
      match.missing.push_back(row.name);
      continue;
    }
    steps.push_back(sum->calls / row.calls);
    match.operators.push_back(std::move(*sum));
  }
  match.steps = median(std::move(steps));
  match.unmatched = unmatched_of(kernels);
  return match;
}

std::vector<Sample> samples_of(const Forecast& forecast, const Match& match) {
  std::vector<Operator> operators;
  build_step(forecast.config, forecast.options, operators);
  std::vector<Sample> out;
  for (const auto& m : match.operators) {
    const auto is_it = [&](const Operator& op) { return op.name == m.name; };
    if (std::count_if(operators.begin(), operators.end(), is_it) != 1) continue;
    out.push_back({*std::find_if(operators.begin(), operators.end(), is_it), m.time_s / m.calls});
  }
  return out;
}

}  // namespace roofline::model
