// A comparison as a document: what changed, kernel by kernel, and what to make of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "compare/words.h"
#include "report/labels.h"
#include "report/numbers.h"
#include "roofline/compare.h"

namespace roofline {
namespace {

using namespace comparing;

constexpr std::size_t kMostNotes = 12;  // kernels whose changes are told in words

// Keys of the rows that are shown, and the sum of the others.
struct Shown {
  std::vector<const ComparedKernel*> rows;
  std::size_t others = 0;
  bool others_known = false;
  double others_before = 0, others_after = 0, others_effect = 0;
};

Shown choose(const Comparison& c, const CompareOptions& options) {
  Shown out;
  const double least = options.negligible * c.side_before.time_s.value_or(0);
  for (const auto& row : c.kernels) {
    const bool unimportant = std::abs(row.effect.total_s) < least && row.time_s.before && row.time_s.after &&
                             *row.time_s.before < 10 * least && *row.time_s.after < 10 * least;
    if (unimportant || (options.top > 0 && out.rows.size() >= options.top)) {
      ++out.others;
      if (!row.effect.known) continue;
      out.others_known = true;
      out.others_before += row.time_s.before.value_or(0);
      out.others_after += row.time_s.after.value_or(0);
      out.others_effect += row.effect.total_s;
    } else {
      out.rows.push_back(&row);
    }
  }
  return out;
}

// Names of the kernels of a side, cut, and told apart where several share one.
class Names {
 public:
  // Only the kernels of these rows are named.
  Names(const std::vector<const ComparedKernel*>& rows, std::span<const SideKernel> kernels,
        std::vector<std::size_t> ComparedKernel::*group) {
    constexpr std::size_t kWidth = 60;
    Report report;
    std::vector<std::size_t> indices;
    for (const auto* row : rows)
      for (const auto i : row->*group) {
        indices.push_back(i);
        KernelRow named;
        named.name = kernels[i].name;
        named.full_name = kernels[i].full_name;
        report.rows.push_back(std::move(named));
      }
    const auto labels = report::row_labels(report);
    for (std::size_t i = 0; i < indices.size(); ++i) names_[indices[i]] = cut_middle(labels[i], kWidth);
  }

  std::string of(const std::vector<std::size_t>& group) const {
    std::vector<std::pair<std::string_view, std::size_t>> counted;
    std::unordered_map<std::string_view, std::size_t> places;  // in `counted`
    for (const auto i : group) {
      const std::string_view name = names_.at(i);
      const auto [it, fresh] = places.try_emplace(name, counted.size());
      if (fresh) counted.emplace_back(name, 0);
      ++counted[it->second].second;
    }
    std::vector<std::string> out;
    constexpr std::size_t kMost = 3;
    for (const auto& [name, n] : counted) {
      if (out.size() == kMost) {
        out.push_back(fmt::format("{} more", counted.size() - kMost));
        break;
      }
      out.push_back(n == 1 ? std::string(name) : fmt::format("{} ×{}", name, n));
    }
    return fmt::format("{}", fmt::join(out, " + "));
  }

 private:
  std::map<std::size_t, std::string> names_;
};

class Labels {
 public:
  Labels(const Comparison& c, const std::vector<const ComparedKernel*>& rows)
      : c_(c), before_(rows, c.before, &ComparedKernel::before), after_(rows, c.after, &ComparedKernel::after) {}

  std::string of(const ComparedKernel& row) const {
    if (row.before.empty()) return after_.of(row.after);
    auto before = before_.of(row.before);
    if (row.after.empty()) return before;
    const auto after = after_.of(row.after);
    const auto& op = c_.before[row.before.front()].op;
    if (row.by == MatchedBy::op && !op.empty()) return op;
    return before == after ? before : before + " → " + after;
  }

 private:
  const Comparison& c_;
  Names before_, after_;
};

std::string kind_text(const ComparedKernel& row) {
  switch (row.kind) {
    case MatchKind::matched:
      return "";
    case MatchKind::split:
      return fmt::format("1 → {}", row.after.size());
    case MatchKind::merged:
      return fmt::format("{} → 1", row.before.size());
    case MatchKind::regrouped:
      return fmt::format("{} → {}", row.before.size(), row.after.size());
    case MatchKind::appeared:
      return "new";
    case MatchKind::vanished:
      return "gone";
  }
  return "";
}

Tone tone_of(double change_s, bool sure) {
  if (!sure || change_s == 0) return Tone::normal;
  return change_s < 0 ? Tone::good : Tone::bad;
}

Cell seconds_cell(const std::optional<double>& s, bool there) {
  if (!there) return {"", std::nullopt, Tone::faint};
  return s ? Cell{seconds_text(*s), s} : Cell{};
}

// A change that rounds to nothing is shown as such; CSV and JSON have the digits.
std::string effect_text(double seconds, std::optional<double> ratio) {
  constexpr double kNothing = 0.0005;
  if (ratio && std::abs(*ratio - 1) < kNothing) return seconds == 0 ? "0 s" : "~0 s";
  return signed_seconds_text(seconds);
}

Cell effect_cell(const Effect& e, std::optional<double> ratio, Tone tone) {
  if (!e.known) return {};
  return {effect_text(e.total_s, ratio), e.total_s, tone};
}

Cell part_cell(const ComparedKernel& row, double seconds) {
  if (!row.effect.split_known || row.before.empty() || row.after.empty()) return {};
  return {effect_text(seconds, row.time_s.ratio), seconds};
}

bool within_noise(const Change& change) { return change.interval && !change.significant(); }

Cell change_cell(const ComparedKernel& row) {
  if (!row.time_s.ratio) return {kind_text(row), std::nullopt, Tone::faint};
  const auto mark = within_noise(row.time_s) ? "~" : "";
  return {mark + change_text(*row.time_s.ratio), *row.time_s.ratio - 1,
          within_noise(row.time_s) ? Tone::faint : tone_of(row.effect.total_s, true)};
}

Cell interval_cell(const Change& change) {
  if (!change.interval) return {};
  return {interval_text(*change.interval), std::nullopt, Tone::faint};
}

std::string fraction_of(const std::optional<double>& fraction, Bound bound) {
  if (!fraction) return "—";
  return (bound == Bound::lower ? "≥" : "") + numbers::percent(*fraction);
}

Cell fraction_cell(const ComparedKernel& row) {
  if (!row.fraction.before && !row.fraction.after) return {};
  const auto a = fraction_of(row.fraction.before, row.fraction_bound_before);
  const auto b = fraction_of(row.fraction.after, row.fraction_bound_after);
  if (row.before.empty()) return {b, row.fraction.after};
  if (row.after.empty()) return {a, std::nullopt};
  return {fmt::format("{} {} {}", a, row.fraction_comparable ? "→" : "|", b), row.fraction.after};
}

Table kernel_table(const Comparison& c, const Shown& shown, const Labels& labels) {
  Table t;
  t.columns = {comparing::name_column("Kernel", "kernel", 22),
               {"Match", "match", Align::left, false, 3},
               {"Before", "time_before_s", Align::right, false, 0},
               {"After", "time_after_s", Align::right, false, 0},
               {"Effect", "effect_s", Align::right, false, 0},
               {"Change", "change", Align::right, false, 1},
               {"95%", "interval", Align::left, false, 4},
               {"% of roof", "fraction_after", Align::right, false, 2},
               {"Fraction before", "fraction_before", Align::right, false, 6, true},
               {"of it work", "work_effect_s", Align::right, false, 5},
               {"nearness", "efficiency_effect_s", Align::right, false, 6}};
  if (std::none_of(shown.rows.begin(), shown.rows.end(), [](const auto* r) { return r->time_s.interval.has_value(); }))
    t.columns[6].data_only = true;
  if (std::none_of(shown.rows.begin(), shown.rows.end(),
                   [](const auto* r) { return part_cell(*r, 0).number.has_value(); }))
    for (const std::size_t part : {9, 10}) t.columns[part].data_only = true;
  for (const auto* row : shown.rows) {
    const auto& e = row->effect;
    const bool sure = !within_noise(row->time_s);
    t.rows.push_back({{labels.of(*row)},
                      {kind_text(*row)},
                      seconds_cell(row->time_s.before, !row->before.empty()),
                      seconds_cell(row->time_s.after, !row->after.empty()),
                      effect_cell(e, row->time_s.ratio, tone_of(e.total_s, sure)),
                      change_cell(*row),
                      interval_cell(row->time_s),
                      fraction_cell(*row),
                      row->fraction.before ? Cell{"", row->fraction.before} : Cell{},
                      part_cell(*row, e.work_s),
                      part_cell(*row, e.efficiency_s)});
  }
  if (shown.others > 0)
    t.rows.push_back(
        {{numbers::counted(shown.others, "other"), std::nullopt, Tone::faint},
         {},
         shown.others_known ? Cell{seconds_text(shown.others_before), shown.others_before} : Cell{},
         shown.others_known ? Cell{seconds_text(shown.others_after), shown.others_after} : Cell{},
         shown.others_known ? Cell{signed_seconds_text(shown.others_effect), shown.others_effect} : Cell{}});
  const auto& total = c.time_s;
  t.footer = {
      {"total"},
      {},
      seconds_cell(total.before, true),
      seconds_cell(total.after, true),
      effect_cell(c.total, total.ratio, Tone::normal),
      total.ratio ? Cell{(within_noise(total) ? "~" : "") + change_text(*total.ratio), *total.ratio - 1} : Cell{},
      interval_cell(total),
      c.comparable && c.side_before.fraction && c.side_after.fraction
          ? Cell{fmt::format("{} → {}", fraction_of(c.side_before.fraction, c.side_before.bound),
                             fraction_of(c.side_after.fraction, c.side_after.bound)),
                 c.side_after.fraction}
          : Cell{},
      {},
      c.total.split_known ? Cell{signed_seconds_text(c.total.work_s), c.total.work_s} : Cell{},
      c.total.split_known ? Cell{signed_seconds_text(c.total.efficiency_s), c.total.efficiency_s} : Cell{}};
  for (auto& row : t.rows) row.resize(t.columns.size());
  for (auto& cell : t.footer)
    if (cell.tone == Tone::normal) cell.tone = Tone::strong;
  return t;
}

// ---------------------------------------------------------------- sentences

std::string headline(const Comparison& c) {
  const auto& t = c.time_s;
  if (!t.before || !t.after) return "The times of a side are not known: nothing can be said of the change.";
  auto out = fmt::format("{} → {}", seconds_text(*t.before), seconds_text(*t.after));
  if (t.ratio) out += ": " + change_text(*t.ratio);
  if (t.interval) out += fmt::format(" (95%: {})", interval_text(*t.interval));
  if (within_noise(t)) out += ", within the noise";
  return out + ".";
}

std::string fraction_line(const Comparison& c) {
  const auto& a = c.side_before;
  const auto& b = c.side_after;
  if (!a.fraction && !b.fraction) return {};
  const auto before = fraction_of(a.fraction, a.bound), after = fraction_of(b.fraction, b.bound);
  if (!c.comparable)
    return fmt::format("Share of the roof: {} before, {} after. These are not to be compared, see below.", before,
                       after);
  return fmt::format("Share of the roof: {} → {}, over {} and {} of the time.", before, after,
                     numbers::share(a.placed_time_share), numbers::share(b.placed_time_share));
}

std::string found_by(const ComparedKernel& row) {
  if (row.kind == MatchKind::appeared || row.kind == MatchKind::vanished) return {};
  if (row.by == MatchedBy::identity || row.by == MatchedBy::request || row.by == MatchedBy::alone) return {};
  return fmt::format("matched by {}", to_string(row.by));
}

Bullets kernel_notes(const Shown& shown, const Labels& labels) {
  Bullets out;
  for (const auto* row : shown.rows) {
    if (out.items.size() >= kMostNotes) break;
    auto parts = row->what_changed;
    // Whoever put two kernels side by side knows that they are two.
    if (row->by == MatchedBy::alone || row->by == MatchedBy::request)
      std::erase_if(parts, [](const std::string& p) { return p.starts_with("another kernel"); });
    if (!row->worthless.empty()) parts.push_back(row->worthless);
    if (auto by = found_by(*row); !by.empty()) parts.push_back(std::move(by));
    if (parts.empty()) continue;
    out.items.push_back({fmt::format("{}: {}", labels.of(*row), fmt::join(parts, "; "))});
  }
  return out;
}

Bullets caveats(const Comparison& c, const Shown& shown) {
  Bullets out;
  for (const auto& text : c.caveats) out.items.push_back({text, Tone::faint});
  const auto any = [&](auto test) { return std::any_of(shown.rows.begin(), shown.rows.end(), test); };
  if (any([](const auto* r) { return within_noise(r->time_s); }))
    out.items.push_back({"~: within the noise, nothing is known to have changed", Tone::faint});
  if (any([](const auto* r) { return r->fraction.before && r->fraction.after && !r->fraction_comparable; }))
    out.items.push_back({"|: shares of different roofs, not to be compared", Tone::faint});
  if (any([](const auto* r) { return r->effect.split_known && !r->before.empty() && !r->after.empty(); }))
    out.items.push_back(
        {"effects add up to the total; each is work (the roof time changed, at the old share of the "
         "roof) plus nearness (the rest)",
         Tone::faint});
  return out;
}

std::string inputs(const ComparedSide& side) {
  if (side.inputs.empty()) return "unnamed";
  if (side.inputs.size() == 1) return side.inputs.front();
  return fmt::format("{} and {} more", side.inputs.front(), side.inputs.size() - 1);
}

}  // namespace

Document comparison_document(const Comparison& c, const CompareOptions& options) {
  Document out;
  out.title = fmt::format("{} → {}", inputs(c.side_before), inputs(c.side_after));
  const auto shown = choose(c, options);
  const Labels labels(c, shown.rows);
  out.blocks.emplace_back(Paragraph{headline(c), Tone::strong});
  if (const auto line = fraction_line(c); !line.empty()) out.blocks.emplace_back(Paragraph{line});
  out.blocks.emplace_back(kernel_table(c, shown, labels));
  if (auto notes = kernel_notes(shown, labels); !notes.items.empty()) {
    out.blocks.emplace_back(Heading{"What changed"});
    out.blocks.emplace_back(std::move(notes));
  }
  if (auto notes = caveats(c, shown); !notes.items.empty()) out.blocks.emplace_back(std::move(notes));
  return out;
}

}  // namespace roofline
