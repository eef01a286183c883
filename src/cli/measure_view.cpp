#include "cli/measure_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/letter_case.h"
#include "measure/cpu.h"

namespace roofline::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kKiB = 1024;
constexpr double kPercent = 100;

std::string size_text(double bytes) {
  constexpr double kManyKiB = 4096;
  return bytes / kKiB < kManyKiB ? fmt::format("{:.0f} KiB", bytes / kKiB)
                                 : fmt::format("{:.0f} MiB", bytes / kKiB / kKiB);
}

std::string threads_text(const ThreadedMeasurement& t) {
  return t.cpus.size() == 1 ? "one thread" : fmt::format("{} threads", t.cpus.size());
}

bool has_two(const CpuMeasurement& m) { return m.all.cpus.size() > m.one.cpus.size(); }

std::string pattern_text(AccessPattern pattern) {
  std::string text(to_string(pattern));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text.starts_with("nt ") ? "NT " + text.substr(3) : text;
}

// ---------------------------------------------------------------- tables

Column text_column(std::string title, std::string key, int drop_order = 0) {
  return {std::move(title), std::move(key), Align::left, false, drop_order, false};
}
Column number_column(std::string title, std::string key, int drop_order = 0) {
  return {std::move(title), std::move(key), Align::right, false, drop_order, false};
}

Cell text_cell(std::string text) { return {std::move(text), std::nullopt, Tone::normal}; }
Cell size_cell(std::optional<double> bytes) { return bytes ? Cell{size_text(*bytes), *bytes, Tone::normal} : Cell{}; }
Cell plain_cell(double value, std::string_view format) { return {fmt::format(fmt::runtime(format), value), value}; }

// The ceiling, what half of the samples reached, and how far they lie apart.
void add_value(const MeasuredValue* v, std::string_view unit, std::vector<Cell>& row) {
  if (v == nullptr) {
    row.resize(row.size() + 3);
    return;
  }
  row.push_back({(v->cut_short ? "~" : "") + si(v->value, unit), v->value, Tone::normal});
  row.push_back({si(v->median, unit), v->median, Tone::normal});
  row.push_back({fmt::format("{:.1f}%", kPercent * v->spread()), v->spread(), Tone::normal});
}

void add_value_columns(const CpuMeasurement& m, std::string_view unit, std::vector<Column>& columns) {
  for (const auto* t : {&m.one, &m.all}) {
    if (t == &m.all && !has_two(m)) break;
    const auto key = t == &m.one ? "one" : "all";
    columns.push_back(number_column(threads_text(*t), fmt::format("{}_{}", key, unit)));
    columns.push_back(number_column("median", fmt::format("{}_median_{}", key, unit), 2));
    columns.push_back(number_column("spread", fmt::format("{}_spread", key), 1));
  }
}

Table level_table(const CpuMeasurement& m) {
  Table table;
  table.title = "Levels of memory, as a sweep of working sets finds them";
  table.columns = {text_column("Level", "level"), number_column("Holds", "bytes"),
                   number_column("System says", "reported_bytes"), number_column("Latency", "latency_s"),
                   number_column("cycles", "latency_cycles")};
  if (has_two(m)) table.columns.push_back(number_column("Holds, per thread of all", "all_bytes", 1));
  for (const auto& level : m.one.levels) {
    std::vector<Cell> row = {text_cell(upper(level.name)), size_cell(level.bytes), size_cell(level.reported_bytes),
                             Cell{si(level.latency_s, "s"), level.latency_s, Tone::normal},
                             plain_cell(level.latency_s * m.one.clock.value, "{:.1f}")};
    if (has_two(m)) {
      const auto it = std::find_if(m.all.levels.begin(), m.all.levels.end(),
                                   [&](const MeasuredLevel& l) { return l.name == level.name; });
      row.push_back(it == m.all.levels.end() ? Cell{} : size_cell(it->bytes));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table bandwidth_table(const CpuMeasurement& m) {
  Table table;
  table.title = "Bandwidth, bytes that the program loads and stores per second";
  table.columns = {text_column("Level", "level"), text_column("Access", "access")};
  add_value_columns(m, "bytes_per_s", table.columns);
  table.columns.push_back(number_column("B/cycle", "one_bytes_per_cycle", 3));
  for (const auto& b : m.one.bandwidths) {
    std::vector<Cell> row = {text_cell(upper(b.level)), text_cell(pattern_text(b.pattern))};
    add_value(&b.rate, "B/s", row);
    if (has_two(m)) {
      const auto* other = m.all.bandwidth(b.level, b.pattern);
      add_value(other == nullptr ? nullptr : &other->rate, "B/s", row);
    }
    row.push_back(plain_cell(b.rate.value / m.one.clock.value, "{:.1f}"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table peak_table(const CpuMeasurement& m) {
  Table table;
  table.title = "Peaks, operations per second";
  table.columns = {text_column("Precision", "precision"), text_column("Instructions", "instructions")};
  add_value_columns(m, "ops_per_s", table.columns);
  table.columns.push_back(number_column("per cycle", "one_ops_per_cycle"));
  for (const auto& p : m.one.peaks) {
    const auto* unit = is_integer(p.precision.type) ? "OP/s" : "F/s";
    std::vector<Cell> row = {text_cell(to_string(p.precision)),
                             text_cell(fmt::format("{}{}, {}", p.mix ? "best mix: " : "", p.instructions, p.isa))};
    add_value(&p.rate, unit, row);
    if (has_two(m)) {
      const auto* other = m.all.peak(p.precision, p.mix);
      add_value(other == nullptr ? nullptr : &other->rate, unit, row);
    }
    row.push_back(plain_cell(p.rate.value / m.one.clock.value, "{:.1f}"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Bullets how(const CpuMeasurement& m) {
  Bullets out;
  const auto add = [&](std::string text, Tone tone = Tone::normal) { out.items.push_back({std::move(text), tone}); };
  add(fmt::format("Clock: {} (dependent additions, one a cycle){}", si(m.one.clock.value, "Hz"),
                  has_two(m) ? fmt::format(", {} with {}", si(m.all.clock.value, "Hz"), threads_text(m.all)) : ""));
  add("Each figure: median of the best third of the samples in which no thread lost its processor. Median and spread "
      "(highest - lowest) are of all such samples. ~ marks figures that were cut short");
  add("Copy counts 2, triad 3 transfers per element; NT stores pass the caches by. Plain stores read their line first, "
      "which is not counted");
  add(fmt::format(
      "Took {:.1f} s of {:.3g}; huge pages hold {:.0f}% of the memory; other programs used {:.0f}% of the processors, "
      "other guests {:.0f}%",
      m.seconds, m.budget_s, kPercent * m.huge_page_share, kPercent * m.other_cpu_share, kPercent * m.steal_share));
  for (const auto& note : m.notes) add(note, Tone::warn);
  return out;
}

// ---------------------------------------------------------------- JSON

Json value_json(const MeasuredValue& v) {
  return {{"value", v.value},
          {"median", v.median},
          {"low", v.low},
          {"high", v.high},
          {"samples", v.samples},
          {"best_third_width", v.width},
          {"cut_short", v.cut_short},
          {"interrupted_samples", v.disturbed},
          {"only_interrupted", v.only_disturbed}};
}

Json number(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

Json threaded_json(const ThreadedMeasurement& t) {
  Json levels = Json::array();
  for (const auto& l : t.levels)
    levels.push_back({{"level", l.name},
                      {"bytes", number(l.bytes)},
                      {"reported_bytes", number(l.reported_bytes)},
                      {"latency_s", l.latency_s}});
  Json bandwidths = Json::array();
  for (const auto& b : t.bandwidths)
    bandwidths.push_back(
        {{"level", b.level},
         {"access", std::string(to_string(b.pattern))},
         {"isa", b.isa},
         {"set_bytes_per_thread", b.set_bytes},
         {"bytes_per_s", value_json(b.rate)},
         {"bytes_per_cycle_and_thread", b.rate.value / t.clock.value / static_cast<double>(t.cpus.size())}});
  Json peaks = Json::array();
  for (const auto& p : t.peaks)
    peaks.push_back({{"precision", to_string(p.precision)},
                     {"best_mix", p.mix},
                     {"instructions", p.instructions},
                     {"isa", p.isa},
                     {"ops_per_s", value_json(p.rate)},
                     {"ops_per_cycle_and_thread", p.rate.value / t.clock.value / static_cast<double>(t.cpus.size())}});
  Json sweep = Json::array();
  for (const auto& s : t.sweep)
    sweep.push_back({{"bytes", s.bytes}, {"latency_s", s.latency_s}, {"read_bytes_per_s", number(s.bytes_per_s)}});
  return {{"cpus", t.cpus},
          {"clock_hz", value_json(t.clock)},
          {"levels", std::move(levels)},
          {"bandwidths", std::move(bandwidths)},
          {"peaks", std::move(peaks)},
          {"sweep", std::move(sweep)}};
}

Json cpu_json(const CpuFacts& cpu) {
  Json caches = Json::array();
  for (const auto& [level, bytes] : cpu.reported) caches.push_back({{"level", level}, {"bytes", bytes}});
  return {{"name", cpu.name},
          {"vendor", cpu.vendor},
          {"detail", cpu.detail},
          {"architecture", cpu.architecture},
          {"isas", cpu.isas},
          {"reported_caches", std::move(caches)},
          {"cpus", cpu.cpus},
          {"cores", cpu.cores},
          {"cpu_quota", number(cpu.cpu_quota)},
          {"virtual_machine", cpu.virtual_machine}};
}

// ---------------------------------------------------------------- chart

ChartRoof memory_roof(const MeasuredBandwidth& b, ChartRoof::Role role, std::string_view suffix) {
  ChartRoof roof;
  roof.kind = ChartRoof::Kind::memory;
  roof.role = role;
  roof.level = b.level == "dram" ? MemoryLevel::dram : b.level == "l1" ? MemoryLevel::l1 : MemoryLevel::l2;
  roof.value = b.rate.value;
  roof.name = upper(b.level);
  roof.label = fmt::format("{} {}{}", roof.name, si(b.rate.value, "B/s"), suffix);
  return roof;
}

void add_roofs(const ThreadedMeasurement& t, ChartRoof::Role role, std::string_view suffix, Chart& chart) {
  for (const auto& level : t.levels)
    if (const auto* best = t.best(level.name)) chart.roofs.push_back(memory_roof(*best, role, suffix));
  for (const auto& p : t.peaks) {
    if (is_integer(p.precision.type) || p.mix) continue;
    ChartRoof roof;
    roof.kind = ChartRoof::Kind::compute;
    roof.role = role;
    roof.value = p.rate.value;
    roof.name = to_string(p.precision);
    roof.label = fmt::format("{} {}{}", roof.name, si(p.rate.value, "FLOP/s"), suffix);
    chart.roofs.push_back(std::move(roof));
  }
}

}  // namespace

Document measurement_document(const CpuMeasurement& m) {
  Document document;
  document.title = fmt::format("{}, {} core{}: measured ceilings{}", measure::processor_text(m.cpu), m.cpu.cores,
                               m.cpu.cores == 1 ? "" : "s", m.quick ? " (quick)" : "");
  document.blocks.emplace_back(level_table(m));
  document.blocks.emplace_back(bandwidth_table(m));
  document.blocks.emplace_back(peak_table(m));
  document.blocks.emplace_back(Heading{"How"});
  document.blocks.emplace_back(how(m));
  return document;
}

std::string measurement_json(const CpuMeasurement& m) {
  Json out = {{"schema", "roofline/measurement/1"},
              {"tool", {{"name", "roofline"}, {"version", m.version}}},
              {"date", m.date},
              {"quick", m.quick},
              {"seconds", m.seconds},
              {"budget_s", m.budget_s},
              {"cpu", cpu_json(m.cpu)},
              {"huge_page_share", m.huge_page_share},
              {"other_cpu_share", m.other_cpu_share},
              {"steal_share", m.steal_share},
              {"pinned", m.pinned},
              {"complete", m.complete},
              {"missing", m.missing},
              {"notes", m.notes}};
  out["one_thread"] = threaded_json(m.one);
  out["all_threads"] = threaded_json(m.all);
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

Chart measurement_chart(const CpuMeasurement& m) {
  Chart chart;
  chart.title = measure::processor_text(m.cpu);
  chart.subtitle = fmt::format("measured roofs, {} ({}Hz)", threads_text(m.all), si(m.all.clock.value, ""));
  add_roofs(m.all, ChartRoof::Role::in_use, "", chart);
  const auto* dram = m.all.best("dram");
  for (const auto& p : m.all.peaks)
    if (dram != nullptr && !is_integer(p.precision.type) && !p.mix)
      chart.ridges.push_back({p.rate.value / dram->rate.value, p.rate.value});
  chart.notes.push_back(
      "Memory roofs: the fastest access of each level, thin those of caches, per byte that is loaded or stored there. "
      "Peaks: multiply-adds; other mixes may exceed them");
  return chart;
}

}  // namespace roofline::cli
