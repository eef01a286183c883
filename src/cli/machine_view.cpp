#include "cli/machine_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "roofline/error.h"
#include "roofline/machine_words.h"

namespace roofline::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// ---------------------------------------------------------------- cells

Column text_column(std::string title, std::string key, bool shrink = false, int drop_order = 0) {
  return {std::move(title), std::move(key), Align::left, shrink, drop_order, false};
}
Column number_column(std::string title, std::string key, int drop_order = 0) {
  return {std::move(title), std::move(key), Align::right, false, drop_order, false};
}

Cell text_cell(std::string text) { return {std::move(text), std::nullopt, Tone::normal}; }
Cell number_cell(std::optional<double> value, std::string_view unit) {
  return value ? Cell{si(*value, unit), *value, Tone::normal} : Cell{};
}
Cell plain_cell(std::optional<double> value) {
  return value ? Cell{fmt::format("{:.3g}", *value), *value, Tone::normal} : Cell{};
}
Cell count_cell(std::optional<int> value) {
  return value ? Cell{std::to_string(*value), static_cast<double>(*value), Tone::normal} : Cell{};
}
Cell megahertz(std::optional<double> hz) {
  return hz ? Cell{fmt::format("{:.0f}", *hz / 1e6), *hz, Tone::normal} : Cell{};
}

std::string_view rate_unit(const Precision& p) { return is_integer(p.type) ? "OP/s" : "F/s"; }

std::optional<double> peak_of(const Ceiling* ceiling, std::string_view key) {
  const auto peak = ceiling == nullptr ? std::nullopt : ceiling->peak(*parse_precision(key));
  return peak ? std::optional(peak->high) : std::nullopt;
}

// Exactly this precision: look-ups elsewhere stand in for what a chip does not tell apart.
const Peak* exact_peak(const Ceiling* ceiling, const Precision& precision) {
  if (ceiling == nullptr) return nullptr;
  const auto it = std::find_if(ceiling->peaks.begin(), ceiling->peaks.end(),
                               [&](const Peak& p) { return p.precision == precision; });
  return it == ceiling->peaks.end() ? nullptr : &*it;
}

std::optional<double> dram_of(const Ceiling* ceiling) {
  return ceiling == nullptr ? std::nullopt : ceiling->bandwidth(MemoryLevel::dram, "dram");
}

// ---------------------------------------------------------------- show

struct Kinds {
  const Ceiling* datasheet;
  const Ceiling* at_clock;
  const Ceiling* measured;

  explicit Kinds(const ShownMachine& shown)
      : datasheet(shown.machine->ceiling(CeilingKind::datasheet)),
        at_clock(shown.at_clock ? &*shown.at_clock : nullptr),
        measured(shown.machine->ceiling(CeilingKind::measured)) {}
  std::vector<const Ceiling*> known() const {
    std::vector<const Ceiling*> list;
    for (const auto* c : {datasheet, at_clock, measured})
      if (c != nullptr) list.push_back(c);
    return list;
  }
};

std::string title_of(const Machine& m) {
  std::vector<std::string> parts;
  for (const auto& part : {m.vendor, m.chip, m.architecture})
    if (!part.empty()) parts.push_back(part);
  if (auto device = device_words(m); !device.empty()) parts.push_back(std::move(device));
  return fmt::format("{} · {} ({})", m.id, m.name, fmt::join(parts, ", "));
}

bool has_figures(const Ceiling& c) { return !c.peaks.empty() || !c.bandwidths.empty() || !c.links.empty(); }

// The ceiling that stands for a machine: the datasheet's, or of a machine that was only measured, that one.
const Ceiling& main_ceiling(const Machine& m) {
  const auto* datasheet = m.ceiling(CeilingKind::datasheet);
  const auto* measured = m.ceiling(CeilingKind::measured);
  return measured != nullptr && !has_figures(*datasheet) ? *measured : *datasheet;
}

// Figures of the at-clock ceiling have columns only where the user named a clock.
Table peak_table(const Kinds& kinds) {
  const bool scaled = kinds.at_clock != nullptr;
  Table table;
  table.title = "Compute, operations per second";
  auto& columns = table.columns;
  columns = {text_column("Precision", "precision"), number_column("Datasheet", "datasheet_ops_per_s"),
             number_column("at MHz", "datasheet_clock_hz")};
  if (scaled) columns.push_back(number_column("At clock", "at_clock_ops_per_s"));
  if (scaled) columns.push_back(number_column("at MHz", "at_clock_clock_hz"));
  columns.push_back(number_column("Measured", "measured_ops_per_s"));
  columns.push_back(text_column("Source", "source", true, 1));
  std::set<Precision> precisions;
  for (const auto* c : kinds.known())
    for (const auto& p : c->peaks) precisions.insert(p.precision);
  for (const auto& precision : precisions) {
    const auto value = [&](const Peak* p) {
      return number_cell(p == nullptr ? std::nullopt : std::optional(p->ops_per_s), rate_unit(precision));
    };
    const auto clock = [](const Peak* p) { return megahertz(p == nullptr ? std::nullopt : p->clock_hz); };
    const auto* rated = exact_peak(kinds.datasheet, precision);
    const auto* at_clock = exact_peak(kinds.at_clock, precision);
    const auto* seen = exact_peak(kinds.measured, precision);
    std::vector<Cell> row = {text_cell(to_string(precision)), value(rated), clock(rated)};
    if (scaled) row.push_back(value(at_clock));
    if (scaled) row.push_back(clock(at_clock));
    row.push_back(value(seen));
    row.push_back(text_cell((rated != nullptr ? rated : at_clock != nullptr ? at_clock : seen)->source));
    table.rows.push_back(std::move(row));
  }
  return table;
}

const Bandwidth* find(const Ceiling* ceiling, MemoryLevel level, const Definition& definition) {
  if (ceiling == nullptr) return nullptr;
  for (const auto& b : ceiling->bandwidths)
    if (b.level == level && b.definition == definition) return &b;
  return nullptr;
}

std::set<std::pair<MemoryLevel, Definition>> levels_of(const std::vector<const Ceiling*>& ceilings) {
  std::set<std::pair<MemoryLevel, Definition>> levels;
  for (const auto* c : ceilings)
    for (const auto& b : c->bandwidths) levels.insert({b.level, b.definition});
  return levels;
}

Table bandwidth_table(const Kinds& kinds) {
  const bool scaled = kinds.at_clock != nullptr;
  Table table;
  table.title = "Memory and links, bytes per second";
  auto& columns = table.columns;
  columns = {text_column("Level", "level"), text_column("Counted as", "definition"),
             number_column("Datasheet", "datasheet_bytes_per_s")};
  if (scaled) columns.push_back(number_column("At clock", "at_clock_bytes_per_s"));
  columns.push_back(number_column("Measured", "measured_bytes_per_s"));
  columns.push_back(text_column("Source", "source", true, 1));
  for (const auto& [level, definition] : levels_of(kinds.known())) {
    const auto value = [](const Bandwidth* b) {
      return number_cell(b == nullptr ? std::nullopt : std::optional(b->bytes_per_s), "B/s");
    };
    const auto* rated = find(kinds.datasheet, level, definition);
    const auto* at_clock = find(kinds.at_clock, level, definition);
    const auto* seen = find(kinds.measured, level, definition);
    std::vector<Cell> row = {text_cell(std::string(to_string(level))), text_cell(definition), value(rated)};
    if (scaled) row.push_back(value(at_clock));
    row.push_back(value(seen));
    row.push_back(text_cell((rated != nullptr ? rated : at_clock != nullptr ? at_clock : seen)->source));
    table.rows.push_back(std::move(row));
  }
  for (const auto& link : kinds.datasheet->links) {
    std::vector<Cell> row(columns.size());
    row[0] = text_cell(link.kind);
    row[1] = text_cell("one direction");
    row[2] = number_cell(link.bytes_per_s, "B/s");
    row.back() = text_cell(link.source);
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Peak over bandwidth of each level. Tensor and memory clocks may differ: each figure is the one shown above.
Table ridge_table(const Ceiling& ceiling) {
  Table table;
  table.title = fmt::format("Ridge points, FLOP per byte of the level ({})", to_string(ceiling.kind));
  table.columns = {text_column("Precision", "precision")};
  const auto levels = levels_of({&ceiling});
  for (int far = 0; const auto& [level, definition] : levels)  // narrow terminals drop those next to the cores first
    table.columns.push_back(
        number_column(level == MemoryLevel::dram ? "dram" : fmt::format("{} ({})", to_string(level), definition),
                      fmt::format("ridge_{}_{}", to_string(level), definition), far++));
  std::set<Precision> precisions;
  for (const auto& p : ceiling.peaks)
    if (!p.precision.sparse) precisions.insert(p.precision);
  for (const auto& precision : precisions) {
    std::vector<Cell> row = {text_cell(to_string(precision))};
    for (const auto& [level, definition] : levels)
      row.push_back(plain_cell(ridge_point(ceiling, precision, level, definition)));
    table.rows.push_back(std::move(row));
  }
  if (levels.empty()) table.rows.clear();
  return table;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kSizes = {
    {{"base_clock", "base clock"},
     {"boost_clock", "maximum clock"},
     {"tensor_clock", "clock of the tensor figures"},
     {"memory_type", "memory type"},
     {"memory", "memory"},
     {"memory_reported", "memory, as the driver reports it"},
     {"bus_width", "memory bus"},
     {"pin_rate", "data rate per pin"},
     {"l2_size", "L2"},
     {"last_level_size", "last-level cache"},
     {"l1_shared_size", "L1 and shared memory per SM"},
     {"shared_size", "shared memory per SM"},
     {"link_both_directions", "link, both directions"},
     {"pcie", "PCIe generation and lanes"},
     {"power", "power"}}};

Table size_table(const MachineFacts& facts) {
  Table table;
  table.title = "Sizes and clocks";
  table.columns = {text_column("What", "key"), text_column("Value", "value"), text_column("Source", "source", true, 1)};
  for (const auto& [key, name] : kSizes) {
    const auto* f = facts.find(key);
    if (f == nullptr) continue;
    const auto sources = fmt::format("{}", fmt::join(f->sources, " "));
    table.rows.push_back({text_cell(std::string(name)),
                          {f->unit.empty() ? f->text : f->text + " " + f->unit, f->value, Tone::normal},
                          text_cell(f->derived ? (sources.empty() ? "derived" : sources + " derived") : sources)});
  }
  return table;
}

std::string measured_line(std::string_view what, double seen, std::optional<double> rated, const std::string& source) {
  auto text = fmt::format("{} measured: {}", what, source);
  if (!rated) return text;
  text += fmt::format("; {:.0f}% of the datasheet's figure", 100 * seen / *rated);
  if (seen > *rated) text += ": above it because boards run above the clock that the datasheet assumes";
  return text;
}

// What was measured beyond the roofs: levels that ceilings have no place for, kinds of access, mixes, latencies, sizes.
Table measured_table(const MachineFacts& facts) {
  constexpr std::string_view kEnding = "_measured";
  constexpr std::array<std::string_view, 4> kRoofs = {"dram_measured", "l2_measured", "l2_slice_measured",
                                                      "matmul_measured"};
  Table table;
  table.title = "Measured figures";
  table.columns = {text_column("Figure", "figure"), number_column("Value", "value"),
                   text_column("How", "note", true, 1)};
  bool more = false;
  for (const auto& f : facts.figures) {
    if (!f.key.ends_with(kEnding) || !f.value) continue;
    more = more || std::find(kRoofs.begin(), kRoofs.end(), f.key) == kRoofs.end();
    auto name = f.key.substr(0, f.key.size() - kEnding.size());
    std::replace(name.begin(), name.end(), '_', ' ');
    table.rows.push_back({text_cell(std::move(name)),
                          {f.unit.empty() ? f.text : f.text + " " + f.unit, f.value, Tone::normal},
                          text_cell(f.note)});
  }
  if (!more) table.rows.clear();
  return table;
}

Bullets note_list(const ShownMachine& shown, const Kinds& kinds) {
  Bullets notes;
  const auto add = [&](std::string text) { notes.items.push_back({std::move(text), Tone::normal}); };
  const auto& facts = *shown.facts;
  if (!facts.origin.empty()) add("From " + facts.origin);
  const bool rated = has_figures(*kinds.datasheet);
  if (!rated) add("No published limits are known: reports use what was measured");
  if (const auto text = facts.text("measured_with"); !text.empty()) add(fmt::format("Measured with {}", text));
  if (rated && kinds.at_clock == nullptr) add("At-clock roofs: name the clocks with --clock and --mem-clock");
  if (kinds.measured == nullptr) add("No measured ceiling is known: --ceiling measured is refused for this machine");
  if (kinds.measured != nullptr && rated) {
    for (const auto& p : kinds.measured->peaks) {
      const auto* sheet = exact_peak(kinds.datasheet, p.precision);
      add(measured_line(to_string(p.precision), p.ops_per_s,
                        sheet == nullptr ? std::nullopt : std::optional(sheet->ops_per_s), p.source));
    }
    for (const auto& b : kinds.measured->bandwidths)
      add(measured_line(fmt::format("{} ({})", to_string(b.level), b.definition), b.bytes_per_s,
                        kinds.datasheet->bandwidth(b.level, b.definition), b.source));
  }
  if (const auto text = facts.text("unsupported"); !text.empty()) add(fmt::format("Not supported: {}", text));
  if (const auto text = facts.text("note"); !text.empty()) add(std::string(text));
  for (const auto& f : facts.figures)
    if (!f.note.empty() && !f.key.ends_with("_measured")) add(fmt::format("{}: {}", f.key, f.note));
  if (const auto text = facts.text("confidence"); !text.empty())
    add(fmt::format("Confidence in these figures: {}", text));
  return notes;
}

std::vector<std::pair<std::string, std::string>> citations(const MachineCatalogue& catalogue,
                                                           const MachineFacts& facts) {
  std::set<std::string> keys;
  for (const auto& f : facts.figures) keys.insert(f.sources.begin(), f.sources.end());
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& key : keys)
    if (const auto text = catalogue.source_citation(key); !text.empty()) out.emplace_back(key, std::string(text));
  return out;
}

// ---------------------------------------------------------------- JSON

Json number(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }
Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(std::string(text)); }

Json ridges(const Ceiling& c) {
  Json out = Json::array();
  for (const auto& p : c.peaks)
    for (const auto& b : c.bandwidths)
      out.push_back({{"precision", to_string(p.precision)},
                     {"level", to_string(b.level)},
                     {"definition", b.definition},
                     {"flop_per_byte", number(ridge_point(c, p.precision, b.level, b.definition))}});
  return out;
}

Json ceiling_json(const Ceiling& c) {
  Json peaks = Json::array();
  for (const auto& p : c.peaks)
    peaks.push_back({{"precision", to_string(p.precision)},
                     {"ops_per_s", p.ops_per_s},
                     {"clock_hz", number(p.clock_hz)},
                     {"source", text_or_null(p.source)}});
  Json bandwidths = Json::array();
  for (const auto& b : c.bandwidths)
    bandwidths.push_back({{"level", to_string(b.level)},
                          {"definition", b.definition},
                          {"bytes_per_s", b.bytes_per_s},
                          {"source", text_or_null(b.source)}});
  Json links = Json::object();
  for (const auto& l : c.links) links[l.kind] = l.bytes_per_s;
  return {{"kind", to_string(c.kind)},
          {"clock_hz", number(c.sm_clock_hz)},
          {"memory_clock_hz", number(c.memory_clock_hz)},
          {"peaks", std::move(peaks)},
          {"bandwidths", std::move(bandwidths)},
          {"link", std::move(links)},
          {"ridge_points", ridges(c)}};
}

Json facts_json(const MachineFacts& facts) {
  Json out = Json::array();
  for (const auto& f : facts.figures)
    out.push_back({{"key", f.key},
                   {"text", f.text},
                   {"unit", text_or_null(f.unit)},
                   {"value", number(f.value)},
                   {"sources", f.sources},
                   {"derived", f.derived},
                   {"note", text_or_null(f.note)}});
  return out;
}

Json identity_json(const Machine& m, const MachineFacts& facts) {
  return {{"id", m.id},
          {"name", m.name},
          {"vendor", text_or_null(m.vendor)},
          {"chip", text_or_null(m.chip)},
          {"architecture", text_or_null(m.architecture)},
          {"compute_capability", text_or_null(m.compute_capability)},
          {"sm_count", m.sm_count ? Json(*m.sm_count) : Json(nullptr)},
          {"origin", text_or_null(facts.origin)}};
}

std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

// ---------------------------------------------------------------- diff

struct DiffRow {
  std::string name;
  Cell a, b;
  bool equal() const { return a.number && b.number ? *a.number == *b.number : a.text == b.text; }
};

using DiffRows = std::vector<DiffRow>;

// Both columns of every name that either machine has.
class DiffMaker {
 public:
  void set(bool second, const std::string& name, Cell cell) {
    auto it = std::find_if(rows_.begin(), rows_.end(), [&](const DiffRow& r) { return r.name == name; });
    if (it == rows_.end()) it = rows_.insert(rows_.end(), DiffRow{name, {}, {}});
    (second ? it->b : it->a) = std::move(cell);
  }
  void take(bool second, const Machine& m, const MachineFacts& facts) {
    set(second, "architecture", text_cell(m.architecture));
    set(second, "compute capability", text_cell(m.compute_capability));
    if (m.sm_count) set(second, "SMs", count_cell(m.sm_count));
    for (const auto& c : m.ceilings) take(second, c);
    for (const auto& [key, name] : kSizes)
      if (const auto* f = facts.find(key))
        set(second, std::string(name), {f->unit.empty() ? f->text : f->text + " " + f->unit, f->value, Tone::normal});
  }
  const DiffRows& rows() const { return rows_; }

 private:
  void take(bool second, const Ceiling& c) {
    const std::string kind = c.kind == CeilingKind::datasheet ? "" : fmt::format(", {}", to_string(c.kind));
    auto peaks = c.peaks;
    std::sort(peaks.begin(), peaks.end(), [](const Peak& a, const Peak& b) { return a.precision < b.precision; });
    for (const auto& p : peaks)
      set(second, to_string(p.precision) + kind, number_cell(p.ops_per_s, rate_unit(p.precision)));
    for (const auto& b : c.bandwidths)
      set(second, fmt::format("{} ({}){}", to_string(b.level), b.definition, kind), number_cell(b.bytes_per_s, "B/s"));
    for (const auto& l : c.links) set(second, l.kind + ", one direction" + kind, number_cell(l.bytes_per_s, "B/s"));
    for (const auto* key : {"fp32.vector", "bf16.tensor"})
      if (const auto ridge = ridge_point(c, *parse_precision(key)))
        set(second, fmt::format("ridge {}{}", key, kind), plain_cell(ridge));
  }

  DiffRows rows_;
};

Cell factor_cell(const DiffRow& row) {
  if (!row.a.number || !row.b.number || *row.a.number <= 0) return {};
  const double factor = *row.b.number / *row.a.number;
  return {fmt::format("{:.2f}×", factor), factor, Tone::normal};
}

Document machine_document(const MachineCatalogue& catalogue, const ShownMachine& shown) {
  const Kinds kinds(shown);
  Document document;
  auto& blocks = document.blocks;
  document.title = title_of(*shown.machine);
  blocks.emplace_back(peak_table(kinds));
  blocks.emplace_back(bandwidth_table(kinds));
  for (const auto* c : kinds.known())
    if (auto table = ridge_table(*c); !table.rows.empty() && table.columns.size() > 1)
      blocks.emplace_back(std::move(table));
  if (auto table = size_table(*shown.facts); !table.rows.empty()) blocks.emplace_back(std::move(table));
  if (auto table = measured_table(*shown.facts); !table.rows.empty()) blocks.emplace_back(std::move(table));
  blocks.emplace_back(Heading{"Notes"});
  blocks.emplace_back(note_list(shown, kinds));
  Bullets sources;
  for (const auto& [key, text] : citations(catalogue, *shown.facts))
    sources.items.push_back({fmt::format("{}: {}", key, text), Tone::normal});
  if (sources.items.empty()) return document;
  blocks.emplace_back(Heading{"Sources"});
  blocks.emplace_back(std::move(sources));
  return document;
}

std::string machine_json(const MachineCatalogue& catalogue, const ShownMachine& shown) {
  Json out = {{"schema", "roofline/machine/1"}, {"catalogue_version", std::string(catalogue.version())}};
  out.update(identity_json(*shown.machine, *shown.facts));
  Json ceilings = Json::array();
  for (const auto* c : Kinds(shown).known()) ceilings.push_back(ceiling_json(*c));
  out["ceilings"] = std::move(ceilings);
  out["facts"] = facts_json(*shown.facts);
  Json sources = Json::object();
  for (const auto& [key, text] : citations(catalogue, *shown.facts)) sources[key] = text;
  out["sources"] = std::move(sources);
  return dump(out);
}

}  // namespace

std::vector<const Machine*> machines_of(const MachineCatalogue& catalogue, const std::string& vendor) {
  std::vector<const Machine*> out;
  std::set<std::string> vendors;
  for (const auto& m : catalogue.machines()) {
    vendors.insert(m.vendor);
    if (vendor.empty() || lower(m.vendor) == lower(vendor)) out.push_back(&m);
  }
  if (out.empty())
    throw UsageError(fmt::format("no machine of vendor '{}'; known are {}", vendor, fmt::join(vendors, ", ")));
  return out;
}

Document machine_list(const MachineCatalogue& catalogue, const std::vector<const Machine*>& machines) {
  Table table;
  table.columns = {text_column("Id", "id"),
                   text_column("Name", "name", true),
                   text_column("CC", "compute_capability", false, 2),
                   number_column("SMs", "sm_count", 3),
                   number_column("DRAM", "dram_bytes_per_s"),
                   number_column("FP32", "fp32_vector_flops_per_s", 1),
                   number_column("BF16 TC", "bf16_tensor_flops_per_s"),
                   number_column("FP8 TC", "fp8_tensor_flops_per_s", 1),
                   number_column("Ridge", "bf16_ridge_flop_per_byte"),
                   text_column("Measured", "measured", false, 4)};
  std::size_t users = 0;
  bool measured = false;
  for (const auto* m : machines) {
    const auto* c = &main_ceiling(*m);
    measured = measured || c->kind == CeilingKind::measured;
    const auto ridge = ridge_point(*c, *parse_precision("bf16.tensor"));
    const bool user = !catalogue.facts(*m).origin.empty();
    users += user ? 1 : 0;
    table.rows.push_back({text_cell(m->id + (user ? " *" : "")), text_cell(m->name), text_cell(m->compute_capability),
                          count_cell(m->sm_count), number_cell(dram_of(c), "B/s"),
                          number_cell(peak_of(c, "fp32.vector"), "F/s"), number_cell(peak_of(c, "bf16.tensor"), "F/s"),
                          number_cell(peak_of(c, "fp8.tensor"), "F/s"), plain_cell(ridge),
                          text_cell(m->ceiling(CeilingKind::measured) != nullptr ? "yes" : "")});
  }
  Document document;
  document.blocks.emplace_back(std::move(table));
  std::string text = fmt::format("{} machine{}; dense peaks of the datasheet, ridge of BF16 in FLOP/byte.",
                                 machines.size(), machines.size() == 1 ? "" : "s");
  if (measured) text += " Of a machine without one: what was measured.";
  if (users > 0) text += fmt::format(" *: from {} of yours.", users == 1 ? "a file" : "files");
  document.blocks.emplace_back(Paragraph{std::move(text), Tone::normal});
  return document;
}

std::string machine_list_json(const MachineCatalogue& catalogue, const std::vector<const Machine*>& machines) {
  Json list = Json::array();
  for (const auto* m : machines) {
    const auto& facts = catalogue.facts(*m);
    auto entry = identity_json(*m, facts);
    const auto* c = &main_ceiling(*m);
    entry["dram_bytes_per_s"] = number(dram_of(c));
    Json peaks = Json::object();
    for (const auto& p : c->peaks) peaks[to_string(p.precision)] = p.ops_per_s;
    entry["peaks"] = std::move(peaks);
    entry["ceiling"] = std::string(to_string(c->kind));
    entry["measured"] = m->ceiling(CeilingKind::measured) != nullptr;
    list.push_back(std::move(entry));
  }
  return dump({{"schema", "roofline/machines/1"},
               {"catalogue_version", std::string(catalogue.version())},
               {"machines", std::move(list)}});
}

void print_machine(const MachineCatalogue& catalogue, const ShownMachine& shown, const Output& output) {
  const Kinds kinds(shown);
  const auto& drawn = kinds.at_clock != nullptr ? *kinds.at_clock : main_ceiling(*shown.machine);
  const auto chart = machine_chart(*shown.machine, drawn);
  Output::Forms forms;
  forms.json = [&] { return machine_json(catalogue, shown); };
  forms.chart = [&] { return chart; };
  forms.chart_above = !chart.ridges.empty();
  output.print(machine_document(catalogue, shown), forms);
}

Document machine_diff(const MachineCatalogue& catalogue, const Machine& a, const Machine& b, bool all) {
  DiffMaker maker;
  maker.take(false, a, catalogue.facts(a));
  maker.take(true, b, catalogue.facts(b));
  Table table;
  table.columns = {text_column("Figure", "figure"), number_column(a.id, "a"), number_column(b.id, "b"),
                   number_column("b / a", "factor")};
  std::vector<std::string> equal;
  for (const auto& row : maker.rows()) {
    if (row.equal()) equal.push_back(row.name);
    if (all || !row.equal()) table.rows.push_back({text_cell(row.name), row.a, row.b, factor_cell(row)});
  }
  Document document;
  document.title = fmt::format("{} and {}", a.name, b.name);
  if (!table.rows.empty()) document.blocks.emplace_back(std::move(table));
  if (!equal.empty())
    document.blocks.emplace_back(Paragraph{fmt::format("Equal: {}.", fmt::join(equal, ", ")), Tone::faint});
  return document;
}

}  // namespace roofline::cli
