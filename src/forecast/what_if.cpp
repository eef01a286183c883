#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "forecast/cells.h"
#include "roofline/forecast.h"

namespace roofline::model {
namespace {

struct Effect {
  std::string name;
  std::string regime;
  double launches = 0;
  double before_s = 0;
  double after_s = 0;
  bool unknown = false;  // its FLOPs are not known, or it has no roof
};

double scaled(const ResourceUse& use, const WorkChange& change) {
  switch (use.regime) {
    case Regime::compute:
      return change.flops * use.time_s;
    case Regime::memory:
      return change.bytes * use.time_s;
    case Regime::link:
      return change.link_bytes * use.time_s;
    case Regime::unknown:
      break;
  }
  return use.time_s;
}

Effect effect_of(const KernelRow& row, const WorkChange& change, const Thresholds& thresholds) {
  const auto& p = row.group.placement;
  Effect e;
  e.name = row.name;
  e.launches = row.group.work.launches;
  e.before_s = e.after_s = row.group.work.time.value_or(0);
  e.regime = p.binding.empty() ? "not placed" : fmt::format("{} ({})", to_string(p.regime), p.binding);
  double old_roof = 0;
  double new_roof = 0;
  for (const auto& use : p.resources) {
    if (!use.required) continue;
    old_roof = std::max(old_roof, use.time_s);
    new_roof = std::max(new_roof, scaled(use, change));
  }
  e.unknown = !p.fraction || old_roof <= 0 || (p.bound == Bound::lower && change.flops != 1);
  if (e.unknown) return e;
  if (new_roof == old_roof) return e;  // exactly nothing, not a rounding error
  const double floor = e.launches * thresholds.launch_floor_s;
  // A kernel of a few launch floors is bound by its launch: less work does not make it faster.
  if (old_roof < thresholds.launch_bound * floor && new_roof <= old_roof) {
    e.regime = "launch";
    return e;
  }
  e.after_s = std::max(e.before_s * new_roof / old_roof, std::min(e.before_s, floor));
  return e;
}

std::vector<Effect> merged(const Report& report, const WorkChange& change) {
  std::vector<Effect> out;
  std::map<std::string, std::size_t> index;
  for (const auto& row : report.rows) {
    if (!row.group.work.time) continue;
    auto e = effect_of(row, change, report.thresholds);
    const auto [it, fresh] = index.try_emplace(e.name + '\n' + e.regime, out.size());
    if (fresh) {
      out.push_back(std::move(e));
      continue;
    }
    auto& sum = out[it->second];
    sum.launches += e.launches;
    sum.before_s += e.before_s;
    sum.after_s += e.after_s;
    sum.unknown |= e.unknown;
  }
  std::stable_sort(out.begin(), out.end(), [](const Effect& a, const Effect& b) { return a.before_s > b.before_s; });
  return out;
}

std::string percent_change(double factor) { return fmt::format("{:+.0f}%", 100 * (factor - 1)); }

std::string describe(const WorkChange& change) {
  std::vector<std::string> parts;
  if (change.flops != 1) parts.push_back("FLOPs " + percent_change(change.flops));
  if (change.bytes != 1) parts.push_back("DRAM bytes " + percent_change(change.bytes));
  if (change.link_bytes != 1) parts.push_back("link bytes " + percent_change(change.link_bytes));
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

}  // namespace

Document what_if_document(const Report& report, const WorkChange& change) {
  using namespace cells;
  const auto effects = merged(report, change);
  Table table;
  table.columns = {words("Kernel", "kernel"), number("N", "launches", 3),     words("Bound by", "regime", 2),
                   number("Time", "time_s"),  number("then", "time_after_s"), number("Saved", "saved_s")};
  double before = 0;
  double after = 0;
  double unknown = 0;
  for (const auto& e : effects) {
    table.rows.push_back({text(e.name), count(e.launches), text(e.regime), seconds(e.before_s),
                          e.unknown ? Cell{} : seconds(e.after_s),
                          e.unknown ? Cell{"unknown", std::nullopt, Tone::warn} : seconds(e.before_s - e.after_s)});
    before += e.before_s;
    after += e.after_s;
    if (e.unknown) unknown += e.before_s;
  }
  table.footer = {text("total"), text(" "), text(""), seconds(before), seconds(after), seconds(before - after)};
  for (auto& cell : table.footer) cell.tone = Tone::strong;
  Document document;
  document.title = "What if: " + describe(change);
  document.blocks.emplace_back(std::move(table));
  const double saved = before - after;
  auto sentence = saved > 0 ? fmt::format("Worth {} of {} ({:.2f}×).", si(saved, "s"), si(before, "s"), before / after)
                  : saved < 0 ? fmt::format("Costs {} on top of {}.", si(-saved, "s"), si(before, "s"))
                              : std::string("Worth nothing: what it changes does not bind any of these kernels.");
  document.blocks.emplace_back(Paragraph{std::move(sentence), Tone::strong});
  Bullets notes;
  notes.items.push_back({"Each kernel keeps its present fraction of the roof; its time falls with its roof time"});
  if (unknown > 0)
    notes.items.push_back(
        {fmt::format("{} of the time has no complete roof and is taken as unchanged", si(unknown, "s")), Tone::warn});
  document.blocks.emplace_back(std::move(notes));
  return document;
}

}  // namespace roofline::model
