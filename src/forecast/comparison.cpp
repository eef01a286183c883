#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "forecast/cells.h"
#include "roofline/forecast.h"

namespace roofline::model {
namespace {

struct Pair {
  std::string name;
  const StepRow* before = nullptr;
  const StepRow* after = nullptr;
};

std::vector<Pair> pairs_of(const Forecast& base, const Forecast& changed) {
  std::vector<Pair> out;
  for (const auto& row : base.step.rows) out.push_back({row.name, &row, nullptr});
  for (const auto& row : changed.step.rows) {
    const auto it = std::find_if(out.begin(), out.end(), [&](const Pair& p) { return p.name == row.name; });
    if (it == out.end())
      out.push_back({row.name, nullptr, &row});
    else
      it->after = &row;
  }
  return out;
}

std::optional<double> roof_of(const StepRow* row) {
  return row == nullptr ? std::nullopt : std::optional(row->group.placed_roof_time_s);
}
std::optional<double> predicted_of(const StepRow* row) {
  return row == nullptr ? std::nullopt : std::optional(row->predicted_s);
}

std::optional<double> speed_up(std::optional<double> before, std::optional<double> after) {
  if (!before || !after || *after <= 0) return std::nullopt;
  return *before / *after;
}

// Operators that the change leaves exactly as they were: their share of the step is what Amdahl's law is about.
bool same(std::optional<double> a, std::optional<double> b) {
  constexpr double kRounding = 1e-9;
  return a && b && std::abs(*a - *b) <= kRounding * *a;
}

struct Untouched {
  double roof_s = 0;
  double predicted_s = 0;
  std::vector<std::string> names;
};

Untouched untouched_by(const std::vector<Pair>& pairs) {
  Untouched out;
  for (const auto& p : pairs) {
    if (!same(roof_of(p.before), roof_of(p.after)) || !same(predicted_of(p.before), predicted_of(p.after))) continue;
    out.roof_s += p.before->group.placed_roof_time_s;
    out.predicted_s += p.before->predicted_s;
    out.names.push_back(p.name);
  }
  return out;
}

Table comparison_table(const std::vector<Pair>& pairs, const Forecast& base, const Forecast& changed) {
  using namespace cells;
  Table table;
  table.columns = {words("Kernel", "kernel"),
                   number("Bound", "roof_time_before_s", 2),
                   number("then", "roof_time_after_s", 2),
                   number("Speed-up", "roof_speed_up"),
                   number("Predicted", "time_before_s", 1),
                   number("then", "time_after_s", 1),
                   number("Speed-up", "speed_up"),
                   words("", "change", 3)};
  for (const auto& p : pairs) {
    std::string note;
    if (p.before == nullptr) note = "added";
    if (p.after == nullptr) note = "gone";
    table.rows.push_back({text(p.name), seconds(roof_of(p.before)), seconds(roof_of(p.after)),
                          times(speed_up(roof_of(p.before), roof_of(p.after))), seconds(predicted_of(p.before)),
                          seconds(predicted_of(p.after)),
                          times(speed_up(predicted_of(p.before), predicted_of(p.after))), text(note, Tone::faint)});
  }
  const auto& a = base.step.totals;
  const auto& b = changed.step.totals;
  table.footer = {text("step"),
                  seconds(a.roof_s),
                  seconds(b.roof_s),
                  times(a.roof_s / b.roof_s),
                  seconds(a.predicted_s),
                  seconds(b.predicted_s),
                  times(a.predicted_s / b.predicted_s),
                  text("")};
  for (auto& cell : table.footer) cell.tone = Tone::strong;
  return table;
}

std::string memory_text(const Forecast& f) {
  auto out = si(f.step.memory.total(), "B");
  if (const auto fits = f.fits()) out += *fits ? " (fits)" : " (does not fit)";
  return out;
}

Bullets notes(const Forecast& base, const Forecast& changed, const std::vector<Pair>& pairs) {
  Bullets out;
  const auto& a = base.step.totals;
  const auto left = untouched_by(pairs);
  if (!left.names.empty()) {
    out.items.push_back(
        {fmt::format("Amdahl: {} of the bound and {} of the prediction is work the change leaves as it is ({})",
                     numbers::share(left.roof_s / a.roof_s), numbers::share(left.predicted_s / a.predicted_s),
                     fmt::join(left.names, ", "))});
    const auto most = [](double whole, double rest) { return rest > 0 ? fmt::format("{:.2f}×", whole / rest) : "any"; };
    out.items.push_back({fmt::format("Were all the rest free, the step would gain {} at the bound, {} as predicted",
                                     most(a.roof_s, left.roof_s), most(a.predicted_s, left.predicted_s))});
  }
  double added = 0;
  for (const auto& p : pairs)
    if (p.before == nullptr) added += p.after->predicted_s;
  if (added > 0)
    out.items.push_back({fmt::format("Kernels that it adds take {}, {} of the new step", si(added, "s"),
                                     numbers::share(added / changed.step.totals.predicted_s))});
  out.items.push_back({fmt::format("Memory per GPU: {}, then {}", memory_text(base), memory_text(changed))});
  out.items.push_back(
      {"Evidence: model. The bound is what the bytes and operations allow; small batches reach the prediction"});
  for (const auto* f : {&base, &changed})
    if (f->calibration.scaled) out.items.push_back({f->machine.id + ": " + f->calibration.note, Tone::warn});
  return out;
}

}  // namespace

Document comparison_document(const Forecast& base, const Forecast& changed, std::string_view change) {
  const auto pairs = pairs_of(base, changed);
  Document document;
  document.title = fmt::format("{} · then {}", forecast_report(base).inputs.front().path, change);
  document.blocks.emplace_back(comparison_table(pairs, base, changed));
  const auto& a = base.step;
  const auto& b = changed.step;
  document.blocks.emplace_back(
      Paragraph{fmt::format("{:.2f}× at the bound, {:.2f}× predicted: {:.0f} tokens/s, then {:.0f} (predicted).",
                            (b.tokens / b.totals.roof_s) / (a.tokens / a.totals.roof_s),
                            b.predicted_tokens_per_s() / a.predicted_tokens_per_s(), a.predicted_tokens_per_s(),
                            b.predicted_tokens_per_s()),
                Tone::strong});
  document.blocks.emplace_back(notes(base, changed, pairs));
  return document;
}

// ---------------------------------------------------------------- measured throughput

Throughput measured_throughput(const Forecast& f, double tokens_per_s) {
  Throughput out;
  out.step_s = f.step.tokens / tokens_per_s;
  out.fraction = f.step.totals.roof_s / out.step_s;
  out.outside_s = out.step_s - f.step.totals.predicted_s;
  return out;
}

Bullets throughput_notes(const Forecast& f, double tokens_per_s) {
  const auto t = measured_throughput(f, tokens_per_s);
  Bullets out;
  out.items.push_back({fmt::format("{:.0f} tokens/s (given) is a step of {}: {}", tokens_per_s, si(t.step_s, "s"),
                                   cells::percent_of(t.fraction, "the whole system's roof")),
                       Tone::strong});
  if (t.fraction > 1) {
    out.items.push_back(
        {fmt::format("Impossible: {} of compulsory bytes per step would have to move at {}, above the {} of {}; check "
                     "batch, context, number format and how many GPUs the throughput is of",
                     si(f.step.totals.bytes, "B"), si(f.step.totals.bytes / t.step_s, "B/s"),
                     si(Roofs(f.ceiling).dram(), "B/s"), f.machine.id),
         Tone::bad});
    return out;
  }
  if (t.outside_s > 0)
    out.items.push_back(
        {fmt::format("{} of the step ({}) is outside the predicted kernel times: gaps, scheduling, "
                     "slower kernels, or batches below the one assumed; a timeline tells which",
                     si(t.outside_s, "s"), numbers::percent(t.outside_s / t.step_s))});
  else
    out.items.push_back(
        {fmt::format("{:.2f}× as fast as predicted: the constants are pessimistic here, or the step "
                     "differs from the one assumed",
                     f.step.totals.predicted_s / t.step_s)});
  out.items.push_back({"Evidence: throughput given, work from the model"});
  return out;
}

}  // namespace roofline::model
