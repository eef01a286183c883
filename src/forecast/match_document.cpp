#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "forecast/cells.h"
#include "roofline/forecast.h"

namespace roofline::model {
namespace {

constexpr double kFewerBytes = 0.8;   // counted / model below this: caches, or not the work assumed
constexpr double kFewerFlops = 0.95;  // likewise for operations, which no cache hides
constexpr double kCacheable = 8.0e6;  // bytes per call that an L2 keeps for the next kernel
constexpr std::size_t kMostUnmatched = 8;

std::optional<double> over(const Quantity& counted, double model) {
  if (!counted || model <= 0) return std::nullopt;
  return counted.value() / model;
}

bool above_roof(const MatchedOperator& m, const Thresholds& t) { return m.roof_s > m.time_s * (1 + t.margin); }

std::vector<std::string> flags(const MatchedOperator& m, const Thresholds& t) {
  std::vector<std::string> out;
  if (above_roof(m, t)) out.emplace_back("above the roof: mismatch");
  if (const auto bytes = over(m.bytes, m.model_bytes)) {
    if (*bytes > t.waste) out.push_back(fmt::format("re-reads: {:.2f}× the bytes", *bytes));
    if (*bytes < kFewerBytes && m.bytes.bound() == Bound::exact)
      out.emplace_back(m.model_bytes / m.calls < kCacheable ? "in L2" : "fewer bytes than compulsory: mismatch");
  }
  if (const auto flops = over(m.flops, m.model_flops)) {
    if (*flops > t.waste) out.push_back(fmt::format("padding: {:.2f}× the FLOPs", *flops));
    if (*flops < kFewerFlops && m.flops.bound() == Bound::exact) out.emplace_back("fewer FLOPs than needed: mismatch");
  }
  return out;
}

bool any_counted(const Match& match) {
  return std::any_of(match.operators.begin(), match.operators.end(),
                     [](const MatchedOperator& m) { return m.flops || m.bytes; });
}

Table table_of(const Forecast& f, const Match& match) {
  using namespace cells;
  const bool counters = any_counted(match);
  Table table;
  table.columns = {words("Operator", "operator"),
                   number("Calls", "calls", 6),
                   number("Time", "time_s"),
                   number("Bound", "roof_time_s", 3),
                   number("% of roof", "fraction_of_roof"),
                   number("Predicted", "predicted_s", 2),
                   number("FLOPs", "flops", 4),
                   number("model FLOPs", "model_flops", 4),
                   number("Bytes", "dram_bytes", 4),
                   number("model bytes", "model_bytes", 4),
                   words("", "flags", 1),
                   words("Assigned by", "assigned_by", 7)};
  for (const std::size_t i : {6U, 8U}) table.columns[i].data_only = !counters;
  for (const auto& m : match.operators) {
    const auto found = flags(m, f.thresholds);
    const double fraction = m.roof_s / m.time_s;
    table.rows.push_back({text(m.name),
                          count(m.calls),
                          seconds(m.time_s),
                          seconds(m.roof_s),
                          {percent(fraction), fraction, above_roof(m, f.thresholds) ? Tone::bad : Tone::normal},
                          seconds(m.predicted_s),
                          amount(m.flops.get(), ""),
                          amount(m.model_flops, ""),
                          amount(m.bytes.get(), "B"),
                          amount(m.model_bytes, "B"),
                          text(fmt::format("{}", fmt::join(found, "; ")), Tone::warn),
                          text(m.by, Tone::faint)});
  }
  return table;
}

// Over the operators that were timed.
struct Score {
  std::size_t operators = 0;
  double error = 0;  // mean of |predicted / measured - 1|
  double time_s = 0;
  double predicted_s = 0;
  double roof_s = 0;
};

Score score_of(const Match& match) {
  Score s;
  for (const auto& m : match.operators) {
    if (m.time_modelled) continue;
    ++s.operators;
    s.error += std::abs(m.predicted_s / m.time_s - 1);
    s.time_s += m.time_s;
    s.predicted_s += m.predicted_s;
    s.roof_s += m.roof_s;
  }
  if (s.operators > 0) s.error /= static_cast<double>(s.operators);
  return s;
}

Bullets notes(const Forecast& f, const Match& match) {
  Bullets out;
  const auto add = [&](std::string text, Tone tone = Tone::normal) { out.items.push_back({std::move(text), tone}); };
  const auto s = score_of(match);
  const auto untimed = match.operators.size() - s.operators;
  if (s.operators > 0)
    add(fmt::format("Prediction: {:.2f}× the measured time of these operators; mean error per operator {}{}",
                    s.predicted_s / s.time_s, cells::percent(s.error),
                    untimed > 0 ? fmt::format(" (without {} whose times are modelled)", untimed) : ""));
  add(fmt::format("Measured: about {} step{} of the model's; kernel time alone, gaps between kernels are not in it",
                  numbers::ratio(match.steps), match.steps == 1 ? "" : "s"));
  add(any_counted(match)
          ? "Evidence: FLOPs and bytes counted where shown, beside the model's; % of roof is the model's "
            "work in the measured time"
          : "Evidence: measured times, FLOPs and bytes of the model alone: nothing was counted");
  if (std::any_of(match.operators.begin(), match.operators.end(),
                  [&](const auto& m) { return above_roof(m, f.thresholds); }))
    add("Above 100% of the roof the model is not what ran: batch, context, number format, experts touched, weights "
        "that stay in L2, clocks, or a kernel taken for another operator",
        Tone::warn);
  if (!match.missing.empty())
    add(fmt::format("Of the model but not among the measured kernels: {}", fmt::join(match.missing, ", ")), Tone::warn);
  return out;
}

Bullets unmatched_notes(const Match& match) {
  Bullets out;
  for (std::size_t i = 0; i < std::min(match.unmatched.size(), kMostUnmatched); ++i) {
    const auto& u = match.unmatched[i];
    out.items.push_back({fmt::format("{} ({} launch{}, {}): {}", cut_middle(u.name, 60), numbers::count(u.launches),
                                     u.launches == 1 ? "" : "es", si(u.time_s, "s"), u.reason)});
  }
  if (match.unmatched.size() > kMostUnmatched)
    out.items.push_back({fmt::format("and {} more", match.unmatched.size() - kMostUnmatched)});
  return out;
}

}  // namespace

Document match_document(const Forecast& f, const Report& measured, const Match& match) {
  Document document;
  const auto& input = measured.inputs.empty() ? std::string() : measured.inputs.front().path;
  document.title = fmt::format("{} beside {}", input, forecast_report(f).inputs.front().path);
  if (match.operators.empty()) {
    document.blocks.emplace_back(Paragraph{"None of the measured kernels is an operator of this model.", Tone::strong});
  } else {
    document.blocks.emplace_back(table_of(f, match));
    const auto s = score_of(match);
    const auto measured_text =
        s.operators > 0 ? fmt::format("{} measured in operators of the model: {} that the model's work allows.",
                                      si(s.time_s, "s"), cells::percent_of(s.roof_s / s.time_s, "the roof"))
                        : std::string("No operator of the model was timed: the times are a model's own.");
    document.blocks.emplace_back(Paragraph{measured_text, Tone::strong});
    document.blocks.emplace_back(notes(f, match));
  }
  if (!match.unmatched.empty()) {
    document.blocks.emplace_back(Heading{"Kernels without an operator"});
    document.blocks.emplace_back(unmatched_notes(match));
  }
  return document;
}

}  // namespace roofline::model
