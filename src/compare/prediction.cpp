// How close a prediction of the model came to a measurement.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compare/compare_sides.h"
#include "compare/side.h"
#include "compare/words.h"
#include "core/median.h"
#include "report/numbers.h"
#include "roofline/compare.h"
#include "roofline/machines.h"
#include "roofline/model.h"

namespace roofline {
namespace comparing {
namespace {

constexpr std::string_view kProducts = "matrix products";

// Operators of a prediction, or measured kernels, that are set against each other.
struct Bundle {
  std::string name;
  MatchedBy by = MatchedBy::op;
  double calls = 0, time_s = 0;
  std::optional<double> roof_s = 0;
};

void add(const KernelRecord& k, Bundle& b) {
  b.calls += static_cast<double>(k.launches);
  b.time_s += k.time_s.value_or(0);
  b.roof_s = b.roof_s && k.roof_time_s ? std::optional(*b.roof_s + *k.roof_time_s) : std::nullopt;
}

using Bundles = std::map<std::string, Bundle>;

// "attention.decode" is the model's "attention", "gemm.fp8" a product.
std::string first_part(const std::string& op) { return op.substr(0, op.find('.')); }

bool is_product(const KernelRecord& k) {
  return std::any_of(k.ops.begin(), k.ops.end(),
                     [](const auto& op) { return op.first.find(".tensor") != op.first.npos; }) &&
         !first_part(k.op.empty() ? k.name : k.op).starts_with("attention");
}

// The second kernel of a call: its time is the call's, its launch is none.
bool ends_a_call(const SideKernel& k) {
  const auto* rule = model::KernelNames::instance().match(k.full_name);
  return rule != nullptr && (rule->op == "attention.combine" || rule->op == "gemm.splitk_reduce");
}

struct Sorted {
  Bundles predicted, measured;
  std::map<std::string, double> unknown;  // measured, nobody knows what: name and time
  std::vector<std::string> modelled;      // rows of the measurement whose time nobody measured
};

// Which predicted operator a measured kernel is; empty where it is none.
std::string operator_of(const SideKernel& k, const std::set<std::string>& known, bool& by_name) {
  by_name = false;
  if (!k.op.empty()) {
    if (known.contains(k.op)) return k.op;
    if (known.contains(first_part(k.op))) return first_part(k.op);
  }
  if (known.contains(k.name)) return k.name;
  by_name = true;
  const auto* rule = model::KernelNames::instance().match(k.full_name);
  if (rule == nullptr) return {};
  if (known.contains(rule->op)) return rule->op;
  auto part = first_part(rule->op);
  if (known.contains(part)) return part;
  // The name of a product does not say which one it is: all that are not named are set against all that are left.
  return part == "gemm" ? std::string(kProducts) : std::string();
}

Sorted sort_kernels(const std::vector<SideKernel>& prediction, const std::vector<SideKernel>& measured) {
  Sorted out;
  std::set<std::string> known;
  for (const auto& k : prediction) known.insert(k.op.empty() ? k.name : k.op);
  for (const auto& k : measured) {
    if (!k.mean.time_s) continue;
    if (k.mean.time_basis == TimeBasis::model) {
      out.modelled.push_back(k.name);
      continue;
    }
    bool by_name = false;
    const auto op = operator_of(k, known, by_name);
    if (op.empty()) {
      out.unknown[k.name] += *k.mean.time_s;
      continue;
    }
    auto& bundle = out.measured[op];
    bundle.name = op;
    if (by_name) bundle.by = MatchedBy::operator_class;
    add(k.mean, bundle);
    if (op != "attention_combine" && ends_a_call(k)) bundle.calls -= static_cast<double>(k.mean.launches);
  }
  for (const auto& k : prediction) {
    const auto name = k.op.empty() ? k.name : k.op;
    const bool product =
        is_product(k.mean) && !out.measured.contains(name) && out.measured.contains(std::string(kProducts));
    const auto key = product ? std::string(kProducts) : name;
    auto& bundle = out.predicted[key];
    bundle.name = key;
    add(k.mean, bundle);
  }
  return out;
}

// Steps that were measured. Helper kernels (a sum over splits) make calls of products uncertain.
double steps_of(const Sorted& sorted) {
  std::vector<double> ratios;
  for (const auto& [name, m] : sorted.measured)
    if (const auto it = sorted.predicted.find(name); it != sorted.predicted.end() && name != kProducts)
      if (it->second.calls > 0 && m.calls > 0) ratios.push_back(m.calls / it->second.calls);
  if (ratios.empty())
    for (const auto& [name, m] : sorted.measured)
      if (const auto it = sorted.predicted.find(name);
          it != sorted.predicted.end() && it->second.calls > 0 && m.calls > 0)
        ratios.push_back(m.calls / it->second.calls);
  return median(std::move(ratios)).value_or(1);
}

void score_errors(PredictionScore& s) {
  double measured = 0, predicted = 0, error = 0, bound_error = 0;
  bool bounds = true;
  for (const auto& k : s.kernels) {
    measured += k.measured_s;
    predicted += *k.predicted_s;
    error += std::abs(*k.predicted_s - k.measured_s);
    bounds = bounds && k.bound_s.has_value();
    if (k.bound_s) bound_error += std::abs(*k.bound_s - k.measured_s);
  }
  if (measured <= 0) return;
  s.mean_error = error / measured;
  if (bounds) s.mean_bound_error = bound_error / measured;
  s.total_ratio = predicted / measured;
}

void add_kernels(const Sorted& sorted, PredictionScore& s) {
  for (const auto& [name, m] : sorted.measured) {
    const auto it = sorted.predicted.find(name);
    if (it == sorted.predicted.end() || m.time_s <= 0) {
      s.only_measured.push_back(name);
      continue;
    }
    const auto& p = it->second;
    PredictedKernel k;
    k.name = name;
    k.by = m.by;
    k.calls = m.calls;
    k.measured_s = m.time_s;
    // Products by their names are compared step by step: kernels of a split would be counted as calls.
    const bool by_calls = name != kProducts && p.calls > 0 && m.calls > 0;
    const double factor = by_calls ? m.calls / p.calls : s.steps;
    k.predicted_s = p.time_s * factor;
    if (p.roof_s) k.bound_s = *p.roof_s * factor;
    s.kernels.push_back(k);
  }
  const auto modelled = [&](const std::string& name) {
    return std::find(sorted.modelled.begin(), sorted.modelled.end(), name) != sorted.modelled.end();
  };
  for (const auto& [name, p] : sorted.predicted)
    if (!sorted.measured.contains(name) && !modelled(name)) s.only_predicted.push_back(name);
  std::stable_sort(s.kernels.begin(), s.kernels.end(),
                   [](const auto& a, const auto& b) { return a.measured_s > b.measured_s; });
}

void add_caveats(const ComparedSide& predicted, const ComparedSide& measured, PredictionScore& s) {
  const auto& catalogue = MachineCatalogue::instance();
  const auto same = [&](const std::string& a, const std::string& b) {
    return a == b || (catalogue.find(a) != nullptr && catalogue.find(a) == catalogue.find(b));
  };
  if (predicted.machines.size() == 1 && measured.machines.size() == 1 &&
      !same(predicted.machines.front(), measured.machines.front()))
    s.caveats.push_back(
        fmt::format("predicted for {}, measured on {}", predicted.machines.front(), measured.machines.front()));
  if (measured.time_basis == TimeBasis::profiled_locked)
    s.caveats.emplace_back("measured at the clock that the profiler locked; predictions are for the datasheet's");
  if (measured.repeats == 1)
    s.caveats.emplace_back("one run: the noise of the measurement is unknown");
  else
    s.caveats.push_back(fmt::format("measured: mean of {} runs", measured.repeats));
}

}  // namespace
}  // namespace comparing

bool is_prediction(const StepRecord& record) {
  return !record.kernels.empty() && std::all_of(record.kernels.begin(), record.kernels.end(),
                                                [](const KernelRecord& k) { return k.time_basis == TimeBasis::model; });
}

PredictionScore score_prediction(const StepRecord& prediction, const GateSide& measured) {
  using namespace comparing;
  const GateSide predicted{{prediction}};
  const auto p = kernels_of(predicted);
  const auto m = kernels_of(measured);
  const auto sorted = sort_kernels(p, m);
  PredictionScore s;
  s.steps = steps_of(sorted);
  add_kernels(sorted, s);
  double all = 0, matched = 0;
  for (const auto& k : m)
    if (k.mean.time_basis != TimeBasis::model) all += k.mean.time_s.value_or(0);
  for (const auto& k : s.kernels) matched += k.measured_s;
  for (const auto& [name, time] : sorted.unknown) s.only_measured.push_back(name);
  s.matched_time_share = all > 0 ? matched / all : 0;
  score_errors(s);
  add_caveats(describe(predicted, p), describe(measured, m), s);
  if (!sorted.modelled.empty())
    s.caveats.push_back(
        fmt::format("times of {} are a model's themselves and are not scored", fmt::join(sorted.modelled, ", ")));
  return s;
}

Document prediction_document(const PredictionScore& s) {
  using namespace comparing;
  Document out;
  out.title = "Predicted and measured";
  if (s.mean_error)
    out.blocks.emplace_back(Paragraph{
        fmt::format(
            "Mean error of the prediction {}, weighted by measured time; predicted / measured {} over the {} of "
            "the time that was matched.",
            numbers::percent(*s.mean_error), numbers::ratio(*s.total_ratio), numbers::share(s.matched_time_share)),
        Tone::strong});
  else
    out.blocks.emplace_back(Paragraph{"No measured kernel is one of the predicted operators.", Tone::warn});
  Table t;
  t.columns = {comparing::name_column("Operator", "operator", 12),
               {"N", "calls", Align::right, false, 3},
               {"Measured", "measured_s"},
               {"Predicted", "predicted_s"},
               {"Error", "error"},
               {"Bound", "bound_s", Align::right, false, 2},
               {"of bound", "bound_share", Align::right, false, 1},
               {"Matched by", "matched_by", Align::left, false, 4}};
  for (const auto& k : s.kernels) {
    const auto share = k.bound_s && k.measured_s > 0 ? std::optional(*k.bound_s / k.measured_s) : std::nullopt;
    const double ratio = *k.predicted_s / k.measured_s;
    t.rows.push_back({{k.name},
                      {numbers::count(k.calls), k.calls},
                      {seconds_text(k.measured_s), k.measured_s},
                      {seconds_text(*k.predicted_s), k.predicted_s},
                      {change_text(ratio), ratio - 1},
                      k.bound_s ? Cell{seconds_text(*k.bound_s), k.bound_s} : Cell{},
                      share ? Cell{numbers::percent(*share), share} : Cell{},
                      {std::string(to_string(k.by))}});
  }
  out.blocks.emplace_back(std::move(t));
  Bullets notes;
  notes.items.push_back(
      {fmt::format("{} measured; predictions are for as many calls",
                   numbers::counted(static_cast<std::size_t>(std::max(1.0, std::round(s.steps))), "step"))});
  if (s.mean_bound_error)
    notes.items.push_back({fmt::format("mean error of the bound {}: how far the kernels are from their roofs",
                                       numbers::percent(*s.mean_bound_error))});
  if (!s.only_predicted.empty())
    notes.items.push_back({fmt::format("predicted, not measured: {}", fmt::join(s.only_predicted, ", "))});
  if (!s.only_measured.empty())
    notes.items.push_back({fmt::format("measured, not predicted: {}", fmt::join(s.only_measured, ", "))});
  for (const auto& text : s.caveats) notes.items.push_back({text, Tone::faint});
  out.blocks.emplace_back(std::move(notes));
  return out;
}

}  // namespace roofline
