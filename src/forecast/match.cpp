#include <algorithm>
#include <map>
#include <set>

#include "core/median.h"
#include "forecast/layer_position.h"
#include "roofline/forecast.h"

namespace roofline::model {
namespace {

// The product after the last norm is the vocabulary's: no attention follows it before sampling, the next step's
// embedding, or the end.
void find_heads(std::vector<Kernel*>& stream, const Operators& operators, const std::string& first_product) {
  if (!operators.has("lm_head") || first_product.empty()) return;
  bool attention_follows = false;
  for (auto it = stream.rbegin(); it != stream.rend(); ++it) {
    auto& k = **it;
    if (k.family == "sampling" || k.family == "embedding") attention_follows = false;
    if (k.family == "rope" || k.family == "kv_cache_write" || starts(k.family, "attention")) attention_follows = true;
    if (k.op != first_product || attention_follows || k.by != "position in the layer") continue;
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

// For each kernel whether experts run before the next attention: where a model has dense layers too, that tells them.
std::vector<bool> experts_follow(const std::vector<Kernel*>& stream) {
  std::vector<bool> follow(stream.size());
  bool ahead = false;
  for (std::size_t i = stream.size(); i-- > 0;) {
    if (starts(stream[i]->family, "attention")) ahead = false;
    if (starts(stream[i]->family, "moe.")) ahead = true;
    follow[i] = ahead;
  }
  return follow;
}

void assign_operators(std::vector<Kernel>& kernels, const Operators& operators, const LayerProducts& layer) {
  std::map<std::tuple<std::size_t, std::uint32_t, std::uint64_t>, std::vector<Kernel*>> streams;
  for (auto& k : kernels)
    if (k.op.empty()) streams[{k.row->input, k.row->device, k.row->stream}].push_back(&k);
  for (auto& [key, stream] : streams) {
    LayerPosition position(operators, layer);
    const auto experts = experts_follow(stream);
    for (std::size_t i = 0; i < stream.size(); ++i) position.step(*stream[i], experts[i]);
    find_heads(stream, operators, layer.before_attention.empty() ? "" : layer.before_attention.front());
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
  out.time_modelled = true;
  for (const auto& k : kernels) {
    if (k.op != model.name) continue;
    const auto& work = k.row->group.work;
    out.time_modelled &= k.row->time_basis == TimeBasis::model;
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

}  // namespace

Match match_kernels(const Forecast& forecast, const Report& measured) {
  const Operators operators(forecast);
  auto kernels = kernels_of(measured, operators);
  assign_operators(kernels, operators, products_of_layer(forecast));
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
  match.steps = median(std::move(steps)).value_or(0);
  match.assigned.resize(measured.rows.size());
  for (auto& k : kernels) match.assigned[static_cast<std::size_t>(k.row - measured.rows.data())] = k.op;
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
