#include "forecast/layer_position.h"

#include <algorithm>

namespace roofline::model {
namespace {

bool is_product(std::string_view name) {
  return name.ends_with("_proj") || name.ends_with("_bmm") || name == "moe_router" || name == "shared_gate_up" ||
         name == "shared_down";
}

std::vector<std::string>& section_of(std::string_view product, bool after_attention, LayerProducts& layer) {
  if (product == "gate_up_proj" || product == "gate_proj" || product == "up_proj" || product == "down_proj")
    return layer.dense;
  if (product == "moe_router" || product == "shared_gate_up" || product == "shared_down") return layer.experts;
  return after_attention ? layer.after_attention : layer.before_attention;
}

// Kernels that reduce over GPUs, add the residual and normalise in one go.
bool normalises(std::string_view name) {
  for (const auto* part : {"allreduce_fusion_kernel", "AllReduceFusionKernel", "rmsNormLamport", "RMSNorm"})
    if (name.find(part) != std::string_view::npos) return true;
  return false;
}

constexpr const char* kByName = "kernel name";
constexpr const char* kByPosition = "position in the layer";

}  // namespace

Operators::Operators(const Forecast& forecast) {
  for (const auto& row : forecast.step.rows) rows_[row.name] = &row;
}

std::string Operators::first_of(std::initializer_list<const char*> names) const {
  for (const auto* name : names)
    if (has(name)) return name;
  return {};
}

LayerProducts products_of_layer(const Forecast& forecast) {
  LayerProducts layer;
  bool after_attention = false;
  for (const auto& row : forecast.step.rows) {
    after_attention |= row.name == "attention" || row.name == "mla_attention";
    if (is_product(row.name)) section_of(row.name, after_attention, layer).push_back(row.name);
  }
  return layer;
}

void LayerPosition::step(Kernel& k, bool experts_follow) {
  const auto& family = k.family;
  if (family == "embedding") {
    enter(Section::embedding, nullptr);
    return named(k, {"embedding"});
  }
  if (family == "rms_norm" || family == "add_rms_norm") return norm(k, experts_follow);
  if (family == "rope") return named(k, {"rope", "rope_kv_write"});
  if (family == "qk_norm_rope") return named(k, {"rope", "qk_norm"});
  if (family == "kv_cache_write") return named(k, {"kv_cache_write", "rope_kv_write"});
  if (starts(family, "attention")) return attention(k);
  if (family == "silu_and_mul") return activation(k);
  if (starts(family, "moe.")) return expert(k);
  if (starts(family, "gemm")) return product(k);
  if (family == "act_quant") return named(k, {"act_quant"});
  if (starts(family, "comm.")) return reduction(k, experts_follow);
  if (family == "sampling") {
    enter(Section::unknown, nullptr);
    return named(k, {"sampling"});
  }
  k.reason = family.empty() ? "no known family of kernels" : "the model has no such operator";
}

void LayerPosition::assign(Kernel& k, std::string op, const char* by) {
  if (op.empty()) {
    k.reason = "the model has no such operator";
    return;
  }
  k.op = std::move(op);
  k.by = by;
}

void LayerPosition::named(Kernel& k, std::initializer_list<const char*> names) const {
  assign(k, operators_.first_of(names), kByName);
}

void LayerPosition::enter(Section section, const std::vector<std::string>* products) {
  section_ = section;
  list_ = products;
  next_ = 0;
  worked_ = false;
  grouped_ = 0;
}

void LayerPosition::enter_mlp(bool experts_follow) {
  const bool experts = !products_.experts.empty() && (products_.dense.empty() || experts_follow);
  enter(Section::mlp, experts ? &products_.experts : &products_.dense);
}

// The norm after attention opens the MLP, any other one the next layer's attention. Some models normalise twice there.
void LayerPosition::pass_norm(bool experts_follow) {
  if (section_ == Section::after_attention) return enter_mlp(experts_follow);
  if (section_ == Section::mlp && !worked_) return;
  enter(Section::before_attention, &products_.before_attention);
}

void LayerPosition::norm(Kernel& k, bool experts_follow) {
  if (section_ == Section::before_attention && worked_)
    if (auto inner = operators_.first_of({"mla_norms", "qk_norm"}); !inner.empty())
      return assign(k, std::move(inner), kByPosition);
  const bool first = section_ == Section::embedding;
  pass_norm(experts_follow);
  assign(k,
         first ? operators_.first_of({"rms_norm", "layer_norm", "add_rms_norm"})
               : operators_.first_of({"add_rms_norm", "rms_norm", "add_layer_norm", "layer_norm"}),
         kByName);
}

void LayerPosition::attention(Kernel& k) {
  if (k.family == "attention.metadata") {
    k.reason = "scheduling of attention, which the model leaves out";
    return;
  }
  if (section_ != Section::after_attention || worked_) enter(Section::after_attention, &products_.after_attention);
  if (k.family == "attention.combine" && operators_.has("attention_combine")) return named(k, {"attention_combine"});
  k.part_of_call = k.family == "attention.combine";
  named(k, {"attention", "mla_attention"});
}

void LayerPosition::activation(Kernel& k) {
  if (section_ == Section::unknown) enter(Section::mlp, &products_.dense);
  if (list_ == &products_.dense) {
    const auto down = std::find(list_->begin(), list_->end(), "down_proj");
    next_ = static_cast<std::size_t>(down - list_->begin());
  }
  worked_ = true;
  named(k, {"silu_and_mul", "gelu_and_mul", "silu_and_mul_quant", "gelu_and_mul_quant", "silu", "gelu"});
}

void LayerPosition::expert(Kernel& k) {
  if (section_ != Section::mlp) enter_mlp(true);
  worked_ = true;
  if (k.family == "moe.routing") return named(k, {"moe_topk"});
  if (k.family == "moe.combine") return named(k, {"moe_combine"});
  const bool down = grouped_++ % 2 == 1;
  assign(k, operators_.first_of({down ? "moe_down" : "moe_gate_up"}), kByPosition);
}

std::string LayerPosition::next_product() {
  worked_ = true;
  if (list_ == nullptr || next_ >= list_->size()) return {};
  return (*list_)[next_++];
}

void LayerPosition::product(Kernel& k) {
  if (k.family == "gemm.splitk_reduce") {
    k.part_of_call = true;
    return assign(k, last_product_, kByPosition);
  }
  if (k.row->group.work.launches != 1) {
    k.reason = "a matrix product among merged launches: its position in the layer is lost";
    return;
  }
  last_product_ = next_product();
  assign(k, last_product_, kByPosition);
  if (last_product_.empty()) k.reason = "a matrix product at an unclear position in the layer";
}

void LayerPosition::reduction(Kernel& k, bool experts_follow) {
  if (k.family == "comm.all_reduce") {
    if (normalises(k.row->full_name)) pass_norm(experts_follow);
    return named(k, {"all_reduce"});
  }
  if (k.family == "comm.all_gather") return named(k, {"logits_all_gather"});
  k.reason = "the model has no such operator";
}

}  // namespace roofline::model
