// One kernel on one page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/bounds.h"
#include "report/labels.h"
#include "report/numbers.h"
#include "roofline/diagnosis.h"
#include "roofline/document.h"

namespace roofline {
namespace {

using Blocks = std::vector<Block>;

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

// ---------------------------------------------------------------- numbers

std::string evidence_text(const Quantity& q) {
  if (!q) return std::string(q.note());
  std::string text(to_string(q.evidence()));
  if (!q.recipe().empty()) text += fmt::format(": {}", q.recipe());
  if (q.provenance() && !q.provenance()->metrics.empty()) {
    constexpr std::size_t kShown = 2;
    auto names = q.provenance()->metrics;
    const auto more = names.size() > kShown ? names.size() - kShown : 0;
    names.resize(names.size() - more);
    text += fmt::format(" ({}{})", joined(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
  }
  return text;
}

std::string bounded(const Quantity& q, std::string text) {
  if (q.bound() == Bound::lower) return "≥ " + text;
  if (q.bound() == Bound::upper) return "≤ " + text;
  return text;
}

void number_row(Table& table, std::string_view name, const Quantity& q, std::string_view unit) {
  table.rows.push_back({Cell{std::string(name)}, q ? Cell{bounded(q, si(q.value(), unit)), q.value()} : Cell{},
                        Cell{evidence_text(q), {}, Tone::faint}});
}

Table numbers_table(const Work& work) {
  Table t;
  t.columns = {
      {"Quantity", "quantity", Align::left, true}, {"Value", "value"}, {"Evidence", "evidence", Align::left, true}};
  number_row(t, "time", work.time, "s");
  for (const auto& op : work.operations)
    if (op.operations.value_or(0) > 0)
      number_row(t, to_string(op.precision), op.operations, is_integer(op.precision.type) ? "op" : "FLOP");
  if (!work.coverage.complete()) {
    const auto absent = Quantity::absent(work.coverage.reason);
    number_row(t, joined(work.coverage.uncounted, " and ") + " operations", absent, "FLOP");
  }
  const auto& dram = work.level(MemoryLevel::dram);
  number_row(t, "DRAM reads", dram.read, "B");
  number_row(t, "DRAM writes", dram.write, "B");
  number_row(t, "DRAM bytes", dram.total, "B");
  if (work.link.bus_bytes) number_row(t, "link bytes", work.link.bus_bytes, "B");
  return t;
}

// ---------------------------------------------------------------- levels

std::string bar(double fraction) {
  constexpr int kCells = 20;
  const int full = std::clamp(static_cast<int>(std::lround(fraction * kCells)), 0, kCells);
  return std::string(static_cast<std::size_t>(full), '#') + std::string(static_cast<std::size_t>(kCells - full), '.');
}

std::string role(const Placement& p, const ResourceUse& use) {
  std::vector<std::string> words;
  if (use.name == p.binding) words.emplace_back("the roof");
  if (use.name == p.limiter) words.emplace_back("the limiter");
  if (use.bound == Bound::lower) words.emplace_back("incomplete: at least this");
  if (use.bound == Bound::upper) words.emplace_back("at most this");
  return joined(words, ", ");
}

std::optional<MemoryLevel> level_of(std::string_view name) {
  for (const auto level : kMemoryLevels)
    if (to_string(level) == name) return level;
  return std::nullopt;
}

Table levels_table(const KernelRow& row) {
  Table t;
  t.columns = {{"Resource", "resource", Align::left},
               {"Bytes", "bytes"},
               {"FLOP/B", "intensity"},
               {"Peak", "peak", Align::right, false, 3},
               {"Time at peak", "time_s"},
               {"Of the time", "fraction"},
               {"", "bar", Align::left, false, 2},
               {"", "role", Align::left, true},
               {"Counted as", "definition", Align::left, false, 1}};
  const auto& p = row.group.placement;
  const auto& work = row.group.work;
  for (const auto& use : p.resources) {
    const auto level = level_of(use.name);
    const auto bytes = level ? work.level(*level).total : Quantity{};
    const auto intensity = level ? work.intensity(*level) : Quantity{};
    const bool percent = use.definition == "percent";
    t.rows.push_back({Cell{use.name}, bytes ? Cell{si(bytes.value(), "B"), bytes.value()} : Cell{},
                      intensity ? Cell{numbers::ratio(intensity.value()), intensity.value()} : Cell{},
                      use.peak > 0 ? Cell{si(use.peak, level ? "B/s" : "F/s"), use.peak} : Cell{},
                      Cell{si(use.time_s, "s"), use.time_s}, Cell{numbers::percent(use.fraction), use.fraction},
                      Cell{bar(use.fraction)}, Cell{role(p, use)},
                      Cell{level ? percent ? "the profiler's percentage" : use.definition : "", {}, Tone::faint}});
  }
  return t;
}

std::string reuse_text(const Work& work) {
  const auto& dram = work.level(MemoryLevel::dram).total;
  if (!dram || dram.value() <= 0) return {};
  std::vector<std::string> parts;
  for (const auto level : {MemoryLevel::l1, MemoryLevel::l2})
    if (const auto& bytes = work.level(level).total)
      parts.push_back(fmt::format("{} serves {} bytes per byte of DRAM", level == MemoryLevel::l1 ? "L1" : "L2",
                                  bounded(bytes, numbers::ratio(bytes.value() / dram.value()))));
  return parts.empty() ? std::string() : "Reuse: " + joined(parts, ", ") + ".";
}

// Which roof of the hierarchy is the relevant one, and why.
std::string hierarchy_text(const KernelRow& row) {
  const auto& p = row.group.placement;
  if (!p.limiter.empty())
    return fmt::format("The relevant roof is that of {}: it is busier than {} and explains the gap.", p.limiter,
                       p.binding);
  if (p.cache_resident)
    return "The data stays in L2: DRAM's roof does not apply, and a low DRAM percentage is no fault.";
  const auto* shared = p.resource("shared");
  const auto* dram = p.resource("dram");
  if (shared != nullptr && dram != nullptr && shared->fraction > 2 * dram->fraction && p.regime == Regime::compute)
    return "It works from shared memory, as tiled kernels do: judge it by compute and shared memory, not by DRAM.";
  return {};
}

// ---------------------------------------------------------------- ceilings

// The kernel under one kind of ceiling: as the report placed it, else placed here. Nothing where the machine lacks it.
std::optional<Placement> placed_under(CeilingKind kind, const KernelRow& row, const Machine& machine,
                                      const Thresholds& thresholds) {
  if (row.group.placement.ceiling == kind) return row.group.placement;
  if (kind == CeilingKind::datasheet && row.datasheet) return row.datasheet;
  const auto* ceiling = machine.ceiling(kind);
  if (ceiling == nullptr) return std::nullopt;
  return place(row.group.work, *ceiling, machine.pipe_groups, thresholds);
}

std::string_view why_absent(CeilingKind kind) {
  if (kind == CeilingKind::at_clock) return "no clock in the input";
  return kind == CeilingKind::measured ? "nobody measured this machine" : "not in the catalogue";
}

// The compute roof that this kernel uses most, under a ceiling.
Cell compute_roof(const KernelRow& row, const Ceiling& ceiling) {
  const ResourceUse* most = nullptr;
  for (const auto& use : row.group.placement.resources)
    if (use.regime == Regime::compute && (most == nullptr || use.fraction > most->fraction)) most = &use;
  const auto precision = most == nullptr ? std::nullopt : parse_precision(most->name);
  const auto peak = precision ? ceiling.peak(*precision) : std::nullopt;
  return peak ? Cell{si(peak->high, is_integer(precision->type) ? "OP/s" : "F/s"), peak->high} : Cell{};
}

std::vector<Cell> ceiling_row(CeilingKind kind, const KernelRow& row, const Machine& machine,
                              const Thresholds& thresholds) {
  const auto p = placed_under(kind, row, machine, thresholds);
  const auto* ceiling = machine.ceiling(kind);
  std::string note = p && p->placed() ? "" : std::string(why_absent(kind));
  if (p && !p->placed()) note = p->reason;
  if (kind == row.group.placement.ceiling && row.group.placement.placed()) note = "in use";
  const auto clock = p && p->clock_hz ? p->clock_hz : std::nullopt;
  const auto dram = ceiling == nullptr ? std::nullopt : ceiling->bandwidth(MemoryLevel::dram, "dram");
  return {Cell{std::string(to_string(kind))},
          clock ? Cell{si(*clock, "Hz"), clock} : Cell{},
          ceiling == nullptr ? Cell{} : compute_roof(row, *ceiling),
          dram ? Cell{si(*dram, "B/s"), dram} : Cell{},
          p && p->roof_time_s ? Cell{si(*p->roof_time_s, "s"), p->roof_time_s} : Cell{},
          p && p->fraction ? Cell{report::bounded_percent(*p->fraction, p->bound), p->fraction} : Cell{},
          Cell{p && p->placed() ? p->binding : ""},
          Cell{std::move(note), {}, Tone::faint}};
}

// The same kernel under every kind of ceiling.
Table ceilings_table(const Report& report, const KernelRow& row) {
  Table t;
  if (!row.machine || !row.group.work.time) return t;
  t.columns = {{"Ceiling", "ceiling", Align::left},
               {"SM clock", "sm_clock_hz", Align::right, false, 2},
               {"Compute", "compute_per_s", Align::right, false, 1},
               {"DRAM", "dram_bytes_per_s", Align::right, false, 1},
               {"Roof time", "roof_time_s"},
               {"% of roof", "fraction"},
               {"Binds", "binding", Align::left},
               {"", "note", Align::left, true, 0, false, true}};
  for (const auto kind : {CeilingKind::at_clock, CeilingKind::datasheet, CeilingKind::measured})
    t.rows.push_back(ceiling_row(kind, row, report.machines.at(*row.machine), report.thresholds));
  return t;
}

// ---------------------------------------------------------------- verdict

std::string fraction_text(const Placement& p) {
  if (!p.fraction) return {};
  if (p.fraction_upper) return numbers::percent_range(*p.fraction, *p.fraction_upper) + " of the roof";
  return report::bounded_percent(*p.fraction, p.bound) + " of the roof";
}

void add_verdict(const KernelRow& row, Blocks& out) {
  const auto& p = row.group.placement;
  const auto& advice = position_advice(p.position);
  std::vector<std::string> head = {std::string(to_string(p.position))};
  if (const auto f = fraction_text(p); !f.empty()) head.push_back(f);
  if (!p.reason.empty()) head.push_back(p.reason);
  out.emplace_back(Heading{"Position"});
  out.emplace_back(Paragraph{joined(head, " · "), is_optimal(p.position) ? Tone::good : Tone::strong});
  Bullets list;
  list.items.push_back({std::string(advice.diagnosis)});
  list.items.push_back({"Do: " + std::string(advice.action)});
  list.items.push_back({"Will not help: " + std::string(advice.futile)});
  if (p.gain_s)
    list.items.push_back({fmt::format("The same work at the roof would save at most {}.", si(*p.gain_s, "s"))});
  if (p.gain_less_work_s && p.position != Position::latency_bound)
    list.items.push_back(
        {fmt::format("Half the DRAM bytes at this fraction would save {}.", si(*p.gain_less_work_s, "s"))});
  for (const auto& note : p.notes) list.items.push_back({note, Tone::faint});
  out.emplace_back(std::move(list));
}

// ---------------------------------------------------------------- findings

std::string value_text(const FindingEvidence& e) {
  if (!e.value) return e.metric;
  if (e.unit == "%") return fmt::format("{} {:.1f} %", e.metric, *e.value);
  if (e.unit.empty()) return fmt::format("{} {}", e.metric, numbers::ratio(*e.value));
  return fmt::format("{} {}", e.metric, numbers::base(*e.value, e.unit));
}

Paragraph evidence_line(const Finding& f) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> parts;
  for (const auto& e : f.evidence)
    if (parts.size() < kShown && e.value.value_or(0) != 0) parts.push_back(value_text(e));
  std::string text = fmt::format("Rule: {} [{}]", f.condition, f.source);
  if (!parts.empty()) text += "; measured: " + joined(parts, ", ");
  return {std::move(text), Tone::faint};
}

void add_finding(const Finding& f, std::size_t number, Blocks& out) {
  std::string head = fmt::format("{}. {}", number, f.title);
  if (f.gain_s)
    head += fmt::format(" · {} {}", f.gain_list == "less-work" ? "less work saves up to" : "worth at most",
                        si(*f.gain_s, "s"));
  out.emplace_back(Paragraph{std::move(head), f.kind == "cause" ? Tone::strong : Tone::normal});
  Bullets list;
  list.items.push_back({f.why});
  list.items.push_back({"Do: " + f.action});
  if (!f.next.empty()) list.items.push_back({"Next: " + f.next});
  list.items.push_back(evidence_line(f));
  out.emplace_back(std::move(list));
}

void add_list(const KernelRow& row, std::string_view heading, std::string_view list, Blocks& out) {
  std::size_t number = 0;
  for (const auto& f : row.findings) {
    if (f.gain_list != list) continue;
    if (number == 0) out.emplace_back(Heading{std::string(heading)});
    add_finding(f, ++number, out);
  }
}

void add_findings(const KernelRow& row, Blocks& out) {
  if (row.findings.empty()) {
    out.emplace_back(Heading{"Causes"});
    out.emplace_back(Paragraph{"No rule fired; rules whose metrics were not collected say nothing."});
    return;
  }
  add_list(row, "Causes: the same work, done better (estimates overlap: never add them up)", "same-work", out);
  add_list(row, "Less work", "less-work", out);
  add_list(row, "Also seen", "", out);
}

// ---------------------------------------------------------------- NVIDIA's own rules

bool fired(const KernelRow& row, std::span<const std::string_view> ids) {
  return std::any_of(row.findings.begin(), row.findings.end(),
                     [&](const Finding& f) { return std::find(ids.begin(), ids.end(), f.id) != ids.end(); });
}

std::string agreement(const KernelRow& row, const RuleResult& rule) {
  const auto ours = counterparts(rule.rule);
  if (ours.empty()) return "no rule of ours";
  const bool agree = fired(row, ours) == nvidia_objects(rule);
  if (agree) return "agrees";
  return is_optimal(row.group.placement.position) ? "ours is silent: the kernel is done" : "differs";
}

void add_nvidia(const KernelRow& row, std::span<const RuleResult> rules, Blocks& out) {
  if (rules.empty()) return;
  Table t;
  t.title = "Rule results of Nsight Compute in this file";
  t.columns = {{"Rule", "rule", Align::left, true},
               {"Says", "says", Align::left},
               {"Speedup", "speedup_percent"},
               {"Beside ours", "agreement", Align::left}};
  for (const auto& r : rules) {
    const bool objects = nvidia_objects(r);
    t.rows.push_back({Cell{r.title.empty() ? r.rule : r.title}, Cell{objects ? "to improve" : "fine"},
                      r.speedup_percent > 0
                          ? Cell{fmt::format("{:.1f}% {}", r.speedup_percent, r.speedup_type), r.speedup_percent}
                          : Cell{},
                      Cell{agreement(row, r)}});
  }
  out.emplace_back(std::move(t));
}

void add_next(const KernelRow& row, std::string_view collect, Blocks& out) {
  std::vector<std::string> commands;
  for (const auto& m : row.missing)
    if (!m.collect.empty() && std::find(commands.begin(), commands.end(), m.collect) == commands.end())
      commands.push_back(m.collect);
  if (!collect.empty()) commands.emplace_back(collect);
  if (commands.empty()) return;
  out.emplace_back(Heading{"To collect next"});
  for (const auto& m : row.missing)
    out.emplace_back(Paragraph{fmt::format("{}: {}", m.quantity, m.reason), Tone::faint});
  for (auto& c : commands) out.emplace_back(Command{std::move(c)});
}

std::string subject(const KernelRow& row) {
  std::vector<std::string> parts;
  const auto shape = [&](std::string_view name, const Dim3& d) {
    if (const auto text = report::dimensions(d); !text.empty()) parts.push_back(fmt::format("{} {}", name, text));
  };
  shape("grid", row.grid);
  shape("block", row.block);
  parts.push_back(
      fmt::format("{} launch{}", numbers::count(row.group.work.launches), row.group.work.launches == 1 ? "" : "es"));
  if (row.group.work.time) parts.push_back(si(row.group.work.time.value(), "s"));
  if (row.time_share > 0) parts.push_back(numbers::share(row.time_share) + " of the time");
  if (row.group.mixed) parts.emplace_back("launches differ by more than 10%");
  return joined(parts, " · ");
}

}  // namespace

bool nvidia_objects(const RuleResult& rule) {
  return std::any_of(rule.messages.begin(), rule.messages.end(),
                     [](const auto& m) { return m.type == "warning" || m.type == "optimization"; });
}

Document explain_document(const Report& report, std::size_t index, std::span<const RuleResult> nvidia,
                          std::string_view collect) {
  const auto& row = report.rows.at(index);
  Document d;
  d.title = row.name.empty() ? "kernel" : row.name;
  if (row.full_name != row.name) d.blocks.emplace_back(Paragraph{row.full_name, Tone::faint});
  d.blocks.emplace_back(Paragraph{subject(row)});
  add_verdict(row, d.blocks);
  if (auto levels = levels_table(row); !levels.rows.empty()) d.blocks.emplace_back(std::move(levels));
  if (auto ceilings = ceilings_table(report, row); !ceilings.rows.empty()) d.blocks.emplace_back(std::move(ceilings));
  for (auto text : {hierarchy_text(row), reuse_text(row.group.work)})
    if (!text.empty()) d.blocks.emplace_back(Paragraph{std::move(text)});
  add_findings(row, d.blocks);
  d.blocks.emplace_back(Heading{"Numbers"});
  d.blocks.emplace_back(numbers_table(row.group.work));
  add_nvidia(row, nvidia, d.blocks);
  add_next(row, collect, d.blocks);
  return d;
}

}  // namespace roofline
