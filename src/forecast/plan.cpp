#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "forecast/cells.h"
#include "roofline/error.h"
#include "roofline/forecast.h"

namespace roofline::model {
namespace {

constexpr double kPlacedForBuying = 0.90;  // share of the time that must be placed
constexpr double kSoftwareLeft = 0.30;     // of the step: with more than this left in software, new hardware waits
constexpr double kUnknownFlops = 0.05;     // of the time in rows of unknown FLOPs, from which they could turn it
const std::vector<std::string> kCommonMachines = {"h100", "h200", "b200"};

// What one step is made of, as far as it is known.
struct Standing {
  bool measured = false;
  double kernels_s = 0;  // kernel time
  double roof_s = 0;     // of the placed kernels
  double placed_share = 0;
  double counted_share = 0;    // of the time placed by counters or the profiler's percentages
  double uncertain_share = 0;  // of the time in rows that are lower bounds
  std::optional<double> wall_s;

  std::optional<double> gaps_s() const { return wall_s ? std::optional(*wall_s - kernels_s) : std::nullopt; }
  double left_in_kernels_s() const { return kernels_s * placed_share - roof_s; }
};

Standing standing_of(const PlanInput& input) {
  Standing s;
  s.wall_s = input.wall_s;
  if (input.measured) {
    const auto& t = input.measured->total;
    s.measured = true;
    s.kernels_s = t.time_s;
    s.roof_s = t.roof_time_s;
    s.placed_share = t.placed_time_share;
    for (const auto& [tier, share] : t.share_by_tier)
      if (tier == Tier::counted || tier == Tier::percent) s.counted_share += share;
    for (const auto& row : input.measured->rows)
      if (row.group.placement.bound == Bound::lower) s.uncertain_share += row.time_share;
  } else if (input.forecast) {
    const auto& t = input.forecast->step.totals;
    s.kernels_s = t.predicted_s;
    s.roof_s = t.roof_s;
    s.placed_share = 1;
  }
  return s;
}

using cells::percent;
using cells::percent_of;

Bullets now(const PlanInput& input, const Standing& s) {
  Bullets out;
  const auto add = [&](std::string text, Tone tone = Tone::normal) { out.items.push_back({std::move(text), tone}); };
  if (s.measured)
    add(fmt::format("Kernels (from the file): {}, {} of it placed, at {} there", si(s.kernels_s, "s"),
                    numbers::share(s.placed_share),
                    input.measured->total.fraction ? percent_of(*input.measured->total.fraction, "the roof")
                                                   : "an unknown share of the roof"));
  else
    add(fmt::format("Kernels (model, not measured): {} predicted, {}", si(s.kernels_s, "s"),
                    percent_of(s.roof_s / s.kernels_s, "the roof")),
        Tone::warn);
  if (s.wall_s)
    add(fmt::format("Step (wall, given): {}: {}", si(*s.wall_s, "s"), percent_of(s.roof_s / *s.wall_s, "the roof")));
  else
    add("Step: wall time not given, so the gaps between kernels are unknown", Tone::warn);
  return out;
}

Bullets software(const Standing& s) {
  Bullets out;
  out.items.push_back(
      {fmt::format("Kernels: {} above their roof; {:.2f}× if all reached it", si(s.left_in_kernels_s(), "s"),
                   s.kernels_s / (s.kernels_s - s.left_in_kernels_s()))});
  if (const auto gaps = s.gaps_s()) {
    if (*gaps < 0)
      out.items.push_back(
          {"The step is shorter than its kernels together: streams overlap, or the two do not belong "
           "together",
           Tone::warn});
    else
      out.items.push_back(
          {fmt::format("Outside the kernels: {} ({} of the step): launches, gaps, the engine's own work",
                       si(*gaps, "s"), percent(*gaps / *s.wall_s))});
    out.items.push_back({fmt::format("Together: {:.2f}× available in software", *s.wall_s / s.roof_s), Tone::strong});
  }
  return out;
}

struct Option {
  std::string what;
  const char* scheme;
  const char* kv;
};

Table option_table(std::string title) {
  using namespace cells;
  Table table;
  table.title = std::move(title);
  table.columns = {words("Change", "change"),       number("Bound", "roof_time_s"),
                   number("Gain", "roof_speed_up"), number("Predicted", "time_s"),
                   number("Gain", "speed_up"),      number("Memory", "memory_bytes"),
                   words("", "memory_fit"),         words("", "note", 2)};
  return table;
}

std::vector<Cell> option_row(const std::string& what, const Forecast& base, const Forecast& f, std::string note) {
  using namespace cells;
  const auto fits = f.fits();
  const auto& a = base.step.totals;
  const auto& b = f.step.totals;
  return {text(what),
          seconds(b.roof_s),
          times(a.roof_s / b.roof_s),
          seconds(b.predicted_s),
          times(a.predicted_s / b.predicted_s),
          amount(f.step.memory.total(), "B"),
          text(fits ? (*fits ? "fits" : "does not fit") : "unknown", fits == false ? Tone::warn : Tone::normal),
          text(std::move(note), Tone::faint)};
}

// The same model with half the key-value heads in every layer that has several; nothing where none has (latent
// attention keeps one).
std::optional<ModelConfig> with_half_the_kv_heads(const ModelConfig& config) {
  auto other = config;
  bool changed = false;
  for (auto& kind : other.kinds) {
    auto& a = kind.shape.attention;
    if (a.latent || a.kv_heads < 2 || a.kv_heads % 2 != 0) continue;
    a.kv_heads /= 2;
    changed = true;
  }
  return changed ? std::optional(std::move(other)) : std::nullopt;
}

void add_option(const std::string& what, const Forecast& base, const ModelConfig& config, const StepOptions& options,
                const char* note, Table& table) {
  try {
    table.rows.push_back(
        option_row(what, base, make_forecast(config, options, base.machine, std::nullopt, base.thresholds), note));
  } catch (const UsageError& e) {
    table.rows.push_back({cells::text(what), {}, {}, {}, {}, {}, cells::text(""), cells::text(e.what())});
  }
}

Table fewer_bytes(const Forecast& base) {
  auto table = option_table("Fewer bytes (model)");
  table.rows.push_back(option_row("as it is", base, base, ""));
  for (const auto& option :
       {Option{"FP8 KV cache", nullptr, "fp8"}, Option{"FP8 weights", "fp8", nullptr},
        Option{"FP8 weights and KV cache", "fp8", "fp8"}, Option{"4-bit weights", "w4a16_g128", nullptr}}) {
    auto options = base.options;
    if (option.scheme != nullptr) options.scheme = find_scheme(option.scheme);
    if (option.kv != nullptr) options.kv = find_kv_format(option.kv);
    if ((option.scheme != nullptr && options.scheme == nullptr) || (option.kv != nullptr && options.kv == nullptr))
      continue;
    add_option(option.what, base, base.config, options, "", table);
  }
  if (const auto fewer = with_half_the_kv_heads(base.config))
    add_option("half the KV heads (GQA)", base, *fewer, base.options, "another model: needs training", table);
  return table;
}

std::optional<double> price_of(const PlanInput& input, const std::string& id) {
  for (const auto& [name, price] : input.prices)
    if (find_machine(name).id == id) return price;
  return std::nullopt;
}

// What a machine may cost at most, per hour, to be the cheaper one per token.
std::string price_note(const PlanInput& input, const Forecast& base, const Forecast& f) {
  if (f.fits() == false) return "pays at no price: the model does not fit";
  const double gain = base.step.totals.predicted_s / f.step.totals.predicted_s;
  const auto own = price_of(input, base.machine.id);
  const auto other = price_of(input, f.machine.id);
  auto note = fmt::format("pays below {:.2f}× the price per hour", gain);
  if (own) note = fmt::format("pays below {:.2f} per hour", gain * *own);
  if (own && other) note += fmt::format("; at {:.2f} tokens cost {:.2f}× as much", *other, *other / *own / gain);
  if (f.calibration.scaled) note += "; constants scaled";
  return note;
}

void other_hardware(const PlanInput& input, const Forecast& base, std::vector<Block>& blocks) {
  auto table = option_table("Other hardware (catalogue, model)");
  table.rows.push_back(option_row(base.machine.id, base, base, "now"));
  Bullets notes;
  for (const auto& name : input.machines.empty() ? kCommonMachines : input.machines) {
    const auto& machine = find_machine(name);
    if (machine.id == base.machine.id) continue;
    try {
      const auto f = make_forecast(base.config, base.options, machine, std::nullopt, base.thresholds);
      table.rows.push_back(option_row(machine.id, base, f, ""));
      notes.items.push_back({fmt::format("{} {}", machine.id, price_note(input, base, f))});
    } catch (const UsageError& e) {
      notes.items.push_back({e.what(), Tone::warn});
    }
  }
  blocks.emplace_back(std::move(table));
  blocks.emplace_back(std::move(notes));
}

}  // namespace

PlanDecision decide(const PlanInput& input) {
  const auto s = standing_of(input);
  const auto undecided = [](std::string why) { return PlanDecision{PlanVerdict::undecided, std::move(why)}; };
  if (!s.wall_s)
    return undecided("Cannot be decided: gaps unknown. Measure the wall time of a step and give it (--step-ms).");
  if (s.roof_s <= 0) return undecided("Cannot be decided: no kernel could be placed under a roof.");
  const double fraction = s.roof_s / *s.wall_s;
  if (fraction > 1)
    return undecided(
        fmt::format("Cannot be decided: the step would run at {}; step time, kernels and machine do "
                    "not belong together.",
                    percent_of(fraction, "its roof")));
  const auto facts = fmt::format("the step runs at {} of its roof", percent(fraction));
  // What is not placed may be at its roof: counted as such, it must still leave enough in software.
  const double unplaced = s.kernels_s * (1 - s.placed_share) + s.kernels_s * s.uncertain_share;
  if ((s.roof_s + unplaced) / *s.wall_s < 1 - kSoftwareLeft)
    return {PlanVerdict::dont_buy_yet,
            fmt::format("Don't buy yet: {}, {:.1f}× is available in software{}.", facts,
                        *s.wall_s / (s.roof_s + unplaced), s.measured ? "" : " (kernels from the model)")};
  if (!s.measured)
    return undecided(fmt::format("Cannot be decided: {}, but its kernels are modelled, not measured.", facts));
  if (s.placed_share < kPlacedForBuying)
    return undecided(
        fmt::format("Cannot be decided: {}, but only {} of the kernel time could be placed (90% are needed).", facts,
                    numbers::share(s.placed_share)));
  if (s.uncertain_share > kUnknownFlops)
    return undecided(fmt::format("Cannot be decided: {}, but {} of the time is in kernels of unknown FLOPs.", facts,
                                 numbers::share(s.uncertain_share)));
  if (s.counted_share < kPlacedForBuying)
    return undecided(
        fmt::format("Cannot be decided: {}, but only {} of the time is placed by counters; a model or typed "
                    "figures are too weak a ground to buy on.",
                    facts, numbers::share(s.counted_share)));
  return {PlanVerdict::buy,
          fmt::format("Buy: {}; what is left in software is {} of the step. First see what fewer bytes bring.", facts,
                      percent(1 - fraction))};
}

Document plan_document(const PlanInput& input) {
  const auto s = standing_of(input);
  Document document;
  document.title = "Plan: software, fewer bytes, or other hardware";
  if (input.forecast) document.title += " · " + forecast_report(*input.forecast).inputs.front().path;
  document.blocks.emplace_back(Paragraph{decide(input).sentence, Tone::strong});
  document.blocks.emplace_back(Heading{"Where the step stands"});
  document.blocks.emplace_back(now(input, s));
  document.blocks.emplace_back(Heading{"Left in software"});
  document.blocks.emplace_back(software(s));
  if (input.forecast) {
    document.blocks.emplace_back(fewer_bytes(*input.forecast));
    other_hardware(input, *input.forecast, document.blocks);
  } else {
    document.blocks.emplace_back(
        Paragraph{"Without --model nothing is said of fewer bytes or other hardware.", Tone::faint});
  }
  return document;
}

}  // namespace roofline::model
