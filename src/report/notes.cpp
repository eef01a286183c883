#include "report/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <set>

#include "report/bounds.h"
#include "report/labels.h"
#include "report/numbers.h"

namespace roofline::report {
namespace {

using numbers::counted;

constexpr std::size_t kMostGroups = 8;  // footnotes shown one by one
constexpr std::size_t kNameWidth = 40;  // of a kernel in running text

std::string rows_and_share(std::size_t rows, double share) {
  if (share <= 0) return counted(rows, "row");
  return fmt::format("{}, {} of the time", counted(rows, "row"), numbers::share(share));
}

std::string rows_and_share(const RowGroup& g) { return rows_and_share(g.rows, g.share); }

Paragraph note(std::string_view label, std::string_view text, Tone tone = Tone::normal) {
  return {fmt::format("{}: {}", label, text), tone};
}

// "text (3 rows, 1.2% of the time); text (...)", the groups with most time first.
std::string listed(const RowGroups& groups) {
  std::string out;
  std::size_t shown = 0;
  std::size_t more = 0;
  for (const auto i : groups.by_share()) {
    if (shown++ >= kMostGroups) {
      ++more;
      continue;
    }
    const auto& g = groups.groups()[i];
    out += fmt::format("{}{} ({})", out.empty() ? "" : "; ", g.text, rows_and_share(g));
  }
  if (more > 0) out += fmt::format("; and {}", counted(more, "other reason"));
  return out;
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ") {
  return fmt::format("{}", fmt::join(parts, separator));
}

// ---------------------------------------------------------------- roofs

std::string_view ceiling_words(CeilingKind kind) {
  switch (kind) {
    case CeilingKind::datasheet:
      return "datasheet, the vendor's limits at boost clock";
    case CeilingKind::at_clock:
      return "at-clock, the chip's limits at the clock each launch really ran at";
    case CeilingKind::measured:
      return "measured, what microbenchmarks reached";
  }
  return "";
}

std::string asked_words(const Report& report) {
  std::vector<std::string> clocks;
  if (report.asked_sm_clock_hz) clocks.push_back("SM " + si(*report.asked_sm_clock_hz, "Hz"));
  if (report.asked_memory_clock_hz) clocks.push_back("memory " + si(*report.asked_memory_clock_hz, "Hz"));
  return fmt::format("the chip's limits at the clocks asked for, {}", joined(clocks));
}

// Floating-point precisions that the rows of one machine used, most operations first.
std::vector<Precision> used_precisions(const Report& report, std::size_t machine) {
  std::map<Precision, double> sums;
  for (const auto& row : report.rows) {
    if (row.machine != machine) continue;
    for (const auto& op : row.group.work.operations)
      if (!is_integer(op.precision.type) && op.operations && op.operations.value() > 0)
        sums[op.precision] += op.operations.value();
  }
  std::vector<Precision> out;
  out.reserve(sums.size());
  for (const auto& [precision, sum] : sums) out.push_back(precision);
  std::stable_sort(out.begin(), out.end(), [&](const Precision& a, const Precision& b) { return sums[a] > sums[b]; });
  return out;
}

std::string roof_text(const Ceiling& ceiling, const std::vector<Precision>& precisions) {
  constexpr std::size_t kMostPeaks = 3;
  std::vector<std::string> parts;
  for (const auto& precision : precisions) {
    const auto peak = ceiling.peak(precision);
    if (!peak || parts.size() >= kMostPeaks) continue;
    const auto high = si(peak->high, "F/s");
    parts.push_back(peak->low < peak->high
                        ? fmt::format("{} {} to {}", to_string(precision), si(peak->low, "F/s"), high)
                        : fmt::format("{} {}", to_string(precision), high));
  }
  if (const auto dram = ceiling.bandwidth(MemoryLevel::dram, "dram"))
    parts.push_back(fmt::format("DRAM {}", si(*dram, "B/s")));
  for (const auto& precision : precisions)
    if (const auto ridge = ridge_point(ceiling, precision)) {
      parts.push_back(fmt::format("ridge {} FLOP/B", numbers::ratio(*ridge)));
      break;
    }
  return joined(parts);
}

// ---------------------------------------------------------------- notes one by one

using Notes = std::vector<Paragraph>;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  void add(std::optional<double> v) {
    if (!v) return;
    low = std::min(low, *v);
    high = std::max(high, *v);
  }
  bool empty() const { return low > high; }
};

std::string clock_text(const Report& report) {
  Range sm;
  Range memory;
  for (const auto& row : report.rows)
    if (row.group.placement.ceiling == report.total.ceiling) sm.add(row.group.placement.clock_hz);
  for (const auto& machine : report.machines)
    if (const auto* c = machine.ceiling(report.total.ceiling)) memory.add(c->memory_clock_hz);
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, const Range& r) {
    if (r.empty()) return;
    const auto low = si(r.low, "Hz");
    const auto high = si(r.high, "Hz");
    parts.push_back(low == high ? fmt::format("{} {}", name, low) : fmt::format("{} {} to {}", name, low, high));
  };
  add("SM", sm);
  add("memory", memory);
  return joined(parts);
}

bool any_sparse(const Report& report) {
  return std::any_of(report.rows.begin(), report.rows.end(), [](const KernelRow& row) {
    const auto& ops = row.group.work.operations;
    return std::any_of(ops.begin(), ops.end(),
                       [](const OperationCount& op) { return op.precision.sparse && op.operations.value_or(0) > 0; });
  });
}

void add_ceiling(const Report& report, Notes& out) {
  if (!report.total.fraction) return;
  const bool asked = report.asked_sm_clock_hz || report.asked_memory_clock_hz;
  std::string text(asked ? asked_words(report) : ceiling_words(report.total.ceiling));
  if (const auto clocks = clock_text(report); !clocks.empty()) text += fmt::format(" ({})", clocks);
  text += any_sparse(report) ? "; sparse peaks for the sparse operations counted, else dense ones"
                             : "; dense peaks, without the doubling for sparse matrices";
  out.push_back(note("Roof", text));
  if (report.total.other_ceiling_time_s > 0 && report.total.time_s > 0)
    out.push_back(note("Left out of the fraction",
                       fmt::format("{} of the time, placed under another kind of roof",
                                   numbers::share(report.total.other_ceiling_time_s / report.total.time_s)),
                       Tone::warn));
}

// The same rows against the vendor's limits, where another roof is in use.
void add_datasheet(const Report& report, Notes& out) {
  if (report.total.ceiling == CeilingKind::datasheet || !report.total.fraction) return;
  double time = 0;
  double roof = 0;
  bool lower = false;
  for (const auto& row : report.rows) {
    const auto& d = row.datasheet;
    if (!d || !d->fraction || !d->time_s || !d->roof_time_s || !row.group.placement.fraction) continue;
    time += *d->time_s;
    roof += *d->roof_time_s;
    lower |= d->bound == Bound::lower;
  }
  if (time <= 0) return;
  auto text = bounded_percent(roof / time, lower ? Bound::lower : Bound::exact) + " of the vendor's limits";
  const double share = report.total.time_s > 0 ? time / report.total.time_s : 1;
  if (share < 0.9995) text += fmt::format(", over {} of the time", numbers::share(share));
  out.push_back(note("Under the datasheet's roofs", text));
}

std::string_view basis_words(TimeBasis basis) {
  switch (basis) {
    case TimeBasis::profiled_locked:
      return "profiled with clocks locked: profiled µs, not those of production";
    case TimeBasis::profiled:
      return "profiled, kernel by kernel";
    case TimeBasis::timeline:
      return "from a timeline";
    case TimeBasis::given:
      return "as given in the input";
    case TimeBasis::model:
      return "modelled, not measured";
    case TimeBasis::unknown:
      break;
  }
  return "profiled; whether clocks were locked is unknown";
}

std::string time_text(const Report& report) {
  std::map<TimeBasis, RowGroup> groups;
  for (const auto& row : report.rows) {
    if (!row.group.work.time) continue;
    auto& g = groups[row.time_basis];
    ++g.rows;
    g.share += row.time_share;
  }
  std::vector<std::string> parts;
  parts.reserve(groups.size());
  for (const auto& [basis, group] : groups)
    parts.push_back(groups.size() == 1 ? std::string(basis_words(basis))
                                       : fmt::format("{} ({})", basis_words(basis), rows_and_share(group)));
  return joined(parts, "; ");
}

std::string_view tier_words(Tier tier) {
  switch (tier) {
    case Tier::counted:
      return "counted by the hardware";
    case Tier::percent:
      return "from the profiler's percentages";
    case Tier::model:
      return "modelled";
    case Tier::given:
      return "given in the input";
    case Tier::unplaced:
      break;
  }
  return "not placed";
}

// Rows of the percent tier may still have counted bytes: what they lack is a bandwidth to divide by.
bool percentages_alone(const Report& report) {
  return std::none_of(report.rows.begin(), report.rows.end(), [](const KernelRow& row) {
    return row.group.placement.tier == Tier::percent && row.group.work.level(MemoryLevel::dram).total;
  });
}

std::string evidence_text(const Report& report) {
  std::vector<std::string> parts;
  for (const auto& [tier, share] : report.total.share_by_tier) {
    if (tier == Tier::unplaced || share <= 0) continue;
    const std::string_view of = parts.empty() ? " of the time" : "";
    const std::string_view alone = tier == Tier::percent && percentages_alone(report) ? " alone" : "";
    parts.push_back(fmt::format("{}{} {}{}", numbers::share(share), of, tier_words(tier), alone));
  }
  return joined(parts);
}

void add_evidence(const Report& report, Notes& out) {
  const auto time = time_text(report);
  const auto evidence = evidence_text(report);
  if (time.empty()) return;
  out.push_back(note("Time", evidence.empty() ? time : fmt::format("{}. Evidence: {}", time, evidence)));
}

void add_unplaced(const Report& report, const Unplaced& unplaced, Notes& out) {
  RowGroups cache;
  RowGroups undecided;
  for (const auto& row : report.rows) {
    const auto& p = row.group.placement;
    if (!p.fraction && p.cache_resident) cache.add("", row.time_share);
    // What was not counted is a note of its own.
    if (p.fraction && p.position == Position::unplaced && row.group.work.coverage.complete())
      undecided.add(p.reason, row.time_share);
  }
  RowGroup others{"other reasons, see the verdicts", 0, 0};
  std::size_t shown = 0;
  const auto footnote = [&](std::string_view mark, const RowGroup& g) {
    out.push_back({fmt::format("{} not placed: {} ({})", mark, g.text, rows_and_share(g)), Tone::warn});
  };
  for (const auto i : unplaced.reasons.by_share()) {
    const auto& g = unplaced.reasons.groups()[i];
    if (shown++ < kMostGroups) {
      footnote(unplaced.reason_marks[i], g);
      continue;
    }
    others.rows += g.rows;
    others.share += g.share;
  }
  if (others.rows > 0) footnote(fmt::format("[{}]", kMostGroups + 1), others);
  if (!cache.empty())
    out.push_back(note("in cache", fmt::format("the data stays in L2, so a share of the DRAM roof would mislead ({})",
                                               rows_and_share(cache.groups().front()))));
  if (!undecided.empty()) out.push_back(note("Undecided", listed(undecided)));
}

std::string uncounted_text(const FlopCoverage& coverage) {
  return coverage.reason.empty() ? joined(coverage.uncounted) : coverage.reason;
}

void add_uncounted(const Report& report, Notes& out) {
  RowGroups uncounted;
  RowGroups assumed;
  RowGroup undecided;
  for (const auto& row : report.rows) {
    const auto& p = row.group.placement;
    const auto& coverage = row.group.work.coverage;
    if (!coverage.assumed_none.empty()) assumed.add(joined(coverage.assumed_none), row.time_share);
    if (coverage.complete()) continue;
    uncounted.add(uncounted_text(coverage), row.time_share);
    if (!p.fraction || p.position != Position::unplaced) continue;
    ++undecided.rows;
    undecided.share += row.time_share;
  }
  auto text = listed(uncounted);
  if (undecided.rows > 0) text += fmt::format(". That leaves {} undecided", rows_and_share(undecided));
  if (!uncounted.empty()) out.push_back(note("FLOPs not fully counted", text));
  if (!assumed.empty()) out.push_back(note("Assumed to be none, as never collected", listed(assumed)));
}

std::string report_fraction(const Report& report) {
  const auto& t = report.total;
  const bool upper = std::all_of(report.rows.begin(), report.rows.end(),
                                 [&](const KernelRow& row) { return has_known_upper(row.group.placement, t.ceiling); });
  if (upper && t.fraction_upper) return numbers::percent_range(*t.fraction, *t.fraction_upper);
  return bounded_percent(*t.fraction, t.bound);
}

// The signs that stand in the numbers of the table or in the report fraction.
struct Signs {
  bool lower = false;
  bool upper = false;
  bool range = false;
  void read(std::string_view text) {
    lower |= text.find("≥") != std::string_view::npos;
    upper |= text.find("≤") != std::string_view::npos;
    range |= text.find("–") != std::string_view::npos;
  }
};

Signs signs_in(const Table& table, const std::string& fraction) {
  Signs signs;
  signs.read(fraction);
  const auto read = [&](const std::vector<Cell>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c)
      if (table.columns[c].align == Align::right && !table.columns[c].data_only) signs.read(cells[c].text);
  };
  for (const auto& cells : table.rows) read(cells);
  read(table.footer);
  return signs;
}

void add_signs(const Report& report, const Table& table, Notes& out) {
  const auto signs = signs_in(table, report.total.fraction ? report_fraction(report) : std::string());
  std::vector<std::string> parts;
  if (signs.lower) parts.emplace_back("≥ at least this, as not all was counted");
  if (signs.upper) parts.emplace_back("≤ at most this");
  if (signs.range) parts.emplace_back("a–b% at least what was counted, at most what the busy pipes leave room for");
  RowGroups mixed;
  for (const auto& row : report.rows)
    if (row.group.mixed) mixed.add("", row.time_share);
  if (!mixed.empty())
    parts.push_back(fmt::format("* launches of one row differ by more than {} in time or bytes ({})",
                                numbers::percent(report.thresholds.mixed), rows_and_share(mixed.groups().front())));
  if (!parts.empty()) out.push_back(note("Signs", joined(parts, "; ")));
}

void add_caveats(const Report& report, Notes& out) {
  RowGroups caveats;
  for (const auto& row : report.rows)
    for (const auto& text : row.group.placement.notes) caveats.add(text, row.time_share);
  if (!caveats.empty()) out.push_back(note("Caveats", listed(caveats)));
}

// Why rows are above a roof: each in a line of its own, as each has its own evidence.
void add_above_roof(const Report& report, Notes& out) {
  std::vector<std::pair<double, std::string>> lines;
  for (const auto& row : report.rows)
    for (const auto& f : row.findings)
      if (f.id.starts_with("above-roof-"))
        lines.emplace_back(row.time_share,
                           fmt::format("{}, {}: {}. {}", cut_middle(row.name, kNameWidth), f.title, f.why, f.action));
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < std::min(lines.size(), kMostGroups); ++i)
    out.push_back(note("Above the roof", lines[i].second, Tone::warn));
  if (lines.size() > kMostGroups)
    out.push_back(note("Above the roof", fmt::format("{} more, see --json", counted(lines.size() - kMostGroups, "row")),
                       Tone::warn));
}

void add_failed(const Report& report, Notes& out) {
  if (report.failed_launches > 0)
    out.push_back(
        note("Failed",
             fmt::format("{} {}", report.failed_launches, report.failed_launches == 1 ? "launch" : "launches") +
                 " without usable values, left out",
             Tone::warn));
}

Paragraph look_sentence(const Report& report) {
  std::size_t looks = 0;
  double gain = 0;
  bool locked = false;
  for (const auto& row : report.rows) {
    if (!row.group.placement.look) continue;
    ++looks;
    gain += row.group.placement.gain_s.value_or(0);
    locked |= row.time_basis == TimeBasis::profiled_locked;
  }
  if (looks == 0)
    return {
        fmt::format("No kernel is known to be worth a look: what each could gain is under {:g}% of the time, or it is "
                    "done or undecided.",
                    100 * report.thresholds.look_share)};
  return {fmt::format("← LOOK: {} could do the same work in {} less{} ({} of all).", counted(looks, "row"),
                      si(gain, "s"), locked ? " profiled time" : " time", numbers::share(gain / report.total.time_s))};
}

// What is missing and no command collects.
void add_unavailable(const Report& report, Notes& out) {
  RowGroups groups;
  for (const auto& row : report.rows)
    for (const auto& m : row.missing)
      if (m.collect.empty() && m.reason != uncounted_text(row.group.work.coverage))
        groups.add(fmt::format("{}: {}", m.quantity, m.reason), row.time_share);
  if (!groups.empty()) out.push_back(note("Missing", listed(groups)));
}

}  // namespace

Unplaced unplaced_rows(const Report& report) {
  Unplaced out;
  std::vector<std::size_t> group_of(report.rows.size(), 0);
  const auto needs_reason = [](const Placement& p) { return !p.fraction && !p.cache_resident; };
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const auto& p = report.rows[i].group.placement;
    if (needs_reason(p))
      group_of[i] = out.reasons.add(p.reason.empty() ? "no reason given" : p.reason, report.rows[i].time_share);
  }
  out.reason_marks.resize(out.reasons.groups().size());
  std::size_t number = 0;
  for (const auto i : out.reasons.by_share())
    out.reason_marks[i] = fmt::format("[{}]", number < kMostGroups ? ++number : kMostGroups + 1);
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const auto& p = report.rows[i].group.placement;
    std::string mark;
    if (needs_reason(p))
      mark = "— " + out.reason_marks[group_of[i]];
    else if (!p.fraction)
      mark = "in cache";
    out.row_marks.push_back(std::move(mark));
  }
  return out;
}

std::vector<Block> roof_lines(const Report& report) {
  std::set<std::size_t> used;
  for (const auto& row : report.rows)
    if (row.machine && *row.machine < report.machines.size()) used.insert(*row.machine);
  std::vector<Block> out;
  for (const auto i : used) {
    const auto* ceiling = report.machines[i].ceiling(report.total.ceiling);
    if (ceiling == nullptr) continue;
    const auto text = roof_text(*ceiling, used_precisions(report, i));
    if (text.empty()) continue;
    const auto label = used.size() == 1 ? std::string(to_string(ceiling->kind)) + " roof"
                                        : fmt::format("{}, {} roof", report.machines[i].name, to_string(ceiling->kind));
    out.emplace_back(Paragraph{fmt::format("{}: {}", label, text), Tone::faint});
  }
  return out;
}

std::vector<Block> summary(const Report& report) {
  std::vector<Block> out;
  const auto& t = report.total;
  if (!t.fraction) {
    out.emplace_back(Paragraph{"No kernel could be placed under a roof.", Tone::strong});
    return out;
  }
  const auto placed = numbers::share(t.placed_time_share);
  out.emplace_back(
      Paragraph{fmt::format("{} of the roof, over {}.", report_fraction(report),
                            placed == "100%" ? "all of the time"
                                             : fmt::format("the {} of the time that could be placed", placed)),
                Tone::strong});
  out.emplace_back(look_sentence(report));
  return out;
}

Bullets reading_notes(const Report& report, const Unplaced& unplaced, const Table& table) {
  Bullets out;
  add_ceiling(report, out.items);
  add_datasheet(report, out.items);
  add_evidence(report, out.items);
  add_unplaced(report, unplaced, out.items);
  add_uncounted(report, out.items);
  add_signs(report, table, out.items);
  add_unavailable(report, out.items);
  add_caveats(report, out.items);
  add_above_roof(report, out.items);
  add_failed(report, out.items);
  return out;
}

std::vector<Block> warnings(const Report& report) {
  // Per code. What contradicts itself in a typed table is named row by row.
  const auto most = [](std::string_view code) { return code == "contradiction" ? SIZE_MAX : std::size_t{2}; };
  std::vector<std::string> codes;
  std::map<std::string, std::vector<std::string>> distinct;
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const auto& w : report.warnings) {
    if (distinct.find(w.code) == distinct.end()) codes.push_back(w.code);
    auto& messages = distinct[w.code];
    if (counts[{w.code, w.message}]++ == 0) messages.push_back(w.message);
  }
  Bullets list;
  for (const auto& code : codes) {
    const auto& messages = distinct[code];
    for (std::size_t i = 0; i < std::min(messages.size(), most(code)); ++i) {
      const auto n = counts[{code, messages[i]}];
      list.items.push_back({n > 1 ? fmt::format("{} (×{})", messages[i], n) : messages[i], Tone::warn});
    }
    if (messages.size() > most(code))
      list.items.push_back(
          {fmt::format("and {} ({})", counted(messages.size() - most(code), "more message"), code), Tone::warn});
  }
  if (list.items.empty()) return {};
  return {Heading{"Warnings"}, list};
}

std::vector<Block> collect_commands(const Report& report) {
  struct Need {
    std::vector<std::string> quantities;
    std::size_t rows = 0;
    double share = 0;
  };
  std::vector<std::string> order;
  std::map<std::string, Need> needs;
  for (const auto& row : report.rows) {
    std::set<std::string> seen;
    for (const auto& m : row.missing) {
      if (m.collect.empty()) continue;
      const auto [it, is_new] = needs.try_emplace(m.collect);
      if (is_new) order.push_back(m.collect);
      auto& need = it->second;
      if (std::find(need.quantities.begin(), need.quantities.end(), m.quantity) == need.quantities.end())
        need.quantities.push_back(m.quantity);
      if (!seen.insert(m.collect).second) continue;
      ++need.rows;
      need.share += row.time_share;
    }
  }
  std::vector<Block> out;
  if (!order.empty()) out.emplace_back(Heading{"To collect what is missing"});
  for (const auto& command : order) {
    const auto& need = needs[command];
    out.emplace_back(
        Paragraph{fmt::format("{} ({}):", joined(need.quantities), rows_and_share(need.rows, need.share))});
    out.emplace_back(Command{command});
  }
  return out;
}

}  // namespace roofline::report
