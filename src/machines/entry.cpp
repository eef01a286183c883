#include "machines/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "machines/table.h"
#include "roofline/machine_words.h"

namespace roofline::machines {
namespace {

enum class Kind { text, count, frequency, bandwidth, bytes, operations, bits, bit_rate, power, per_clock, time };

struct KeySpec {
  std::string_view key;
  Kind kind;
};

constexpr std::array kKeys = std::to_array<KeySpec>({
    {"vendor", Kind::text},
    {"driver_name", Kind::text},
    {"alias", Kind::text},
    {"short_name", Kind::text},
    {"name", Kind::text},
    {"chip", Kind::text},
    {"architecture", Kind::text},
    {"compute_capability", Kind::text},
    {"rates", Kind::text},
    {"memory_type", Kind::text},
    {"sparsity", Kind::text},
    {"link_kind", Kind::text},
    {"pcie", Kind::text},
    {"unsupported", Kind::text},
    {"confidence", Kind::text},
    {"note", Kind::text},
    {"kind", Kind::text},
    {"measured_with", Kind::text},
    {"sm_count", Kind::count},
    {"threads_measured", Kind::count},
    {"clock_measured", Kind::frequency},
    {"base_clock", Kind::frequency},
    {"boost_clock", Kind::frequency},
    {"tensor_clock", Kind::frequency},
    {"bus_width", Kind::bits},
    {"pin_rate", Kind::bit_rate},
    {"dram", Kind::bandwidth},
    {"dram_measured", Kind::bandwidth},
    {"l2_measured", Kind::bandwidth},
    {"l2_slice_measured", Kind::bandwidth},
    {"shared_measured", Kind::bandwidth},
    {"link_both_directions", Kind::bandwidth},
    {"memory", Kind::bytes},
    {"memory_reported", Kind::bytes},
    {"l2_size", Kind::bytes},
    {"last_level_size", Kind::bytes},
    {"l1_shared_size", Kind::bytes},
    {"shared_size", Kind::bytes},
    {"l2_rate", Kind::per_clock},
    {"matmul_measured", Kind::operations},
    {"power", Kind::power},
});

struct UnitSpec {
  std::string_view unit;
  Kind kind;
  double factor;  // to SI
};

constexpr double kKi = 1024;
constexpr std::array kUnits = std::to_array<UnitSpec>({
    {"Hz", Kind::frequency, 1},
    {"kHz", Kind::frequency, 1e3},
    {"MHz", Kind::frequency, 1e6},
    {"GHz", Kind::frequency, 1e9},
    {"MB/s", Kind::bandwidth, 1e6},
    {"GB/s", Kind::bandwidth, 1e9},
    {"TB/s", Kind::bandwidth, 1e12},
    {"GiB/s", Kind::bandwidth, kKi* kKi* kKi},
    {"B", Kind::bytes, 1},
    {"KB", Kind::bytes, 1e3},
    {"MB", Kind::bytes, 1e6},
    {"GB", Kind::bytes, 1e9},
    {"KiB", Kind::bytes, kKi},
    {"MiB", Kind::bytes, kKi* kKi},
    {"GiB", Kind::bytes, kKi* kKi* kKi},
    {"GFLOP/s", Kind::operations, 1e9},
    {"TFLOP/s", Kind::operations, 1e12},
    {"PFLOP/s", Kind::operations, 1e15},
    {"GOP/s", Kind::operations, 1e9},
    {"TOP/s", Kind::operations, 1e12},
    {"POP/s", Kind::operations, 1e15},
    {"bit", Kind::bits, 1},
    {"Gbit/s", Kind::bit_rate, 1e9},
    {"W", Kind::power, 1},
    {"B/clk", Kind::per_clock, 1},
    {"ns", Kind::time, 1e-9},
    {"us", Kind::time, 1e-6},
});

// Beyond these, in SI units, a figure has the wrong unit: no machine comes near them.
double most_of(Kind kind) {
  switch (kind) {
    case Kind::frequency:
      return 20e9;
    case Kind::bandwidth:
      return 1e15;
    case Kind::operations:
      return 1e20;
    case Kind::bytes:
      return 1e15;
    case Kind::bit_rate:
      return 1e12;
    case Kind::time:
      return 1;
    default:
      return 1e7;
  }
}

constexpr std::string_view kMeasured = "_measured";
constexpr std::string_view kMix = "_mix";

// The precision behind a key for operations: "fp64.vector", "fp64.vector_measured" (multiply-adds) or
// "fp64.vector_mix_measured" (the best mix of instructions).
std::optional<Precision> precision_of(std::string_view key) {
  if (key.ends_with(kMeasured)) {
    key.remove_suffix(kMeasured.size());
    if (key.ends_with(kMix)) key.remove_suffix(kMix.size());
  }
  return parse_precision(key);
}

// "l1_measured", "l3_copy_measured", "dram_latency_measured", "l2_size_measured": a level, what of it, and the ending.
std::optional<Kind> kind_of_level_figure(std::string_view key) {
  constexpr std::array<std::string_view, 5> kLevels = {"l1", "l2", "l3", "l4", "dram"};
  constexpr std::array<std::string_view, 8> kAccess = {"",       "_read",     "_write",   "_copy",
                                                       "_triad", "_nt_write", "_nt_copy", "_nt_triad"};
  if (!key.ends_with(kMeasured)) return std::nullopt;
  key.remove_suffix(kMeasured.size());
  const auto level = key.substr(0, key.find('_'));
  if (std::find(kLevels.begin(), kLevels.end(), level) == kLevels.end()) return std::nullopt;
  key.remove_prefix(level.size());
  if (key == "_size") return Kind::bytes;
  if (key == "_latency") return Kind::time;
  if (std::find(kAccess.begin(), kAccess.end(), key) != kAccess.end()) return Kind::bandwidth;
  return std::nullopt;
}

std::optional<Kind> kind_of(std::string_view key) {
  const auto it = std::find_if(kKeys.begin(), kKeys.end(), [&](const KeySpec& k) { return k.key == key; });
  if (it != kKeys.end()) return it->kind;
  if (precision_of(key)) return Kind::operations;
  return kind_of_level_figure(key);
}

std::string units_for(Kind kind) {
  std::string list;
  for (const auto& u : kUnits)
    if (u.kind == kind) list += (list.empty() ? "" : ", ") + std::string(u.unit);
  return list;
}

double unit_factor(const RawFigure& raw, Kind kind, const std::string& label) {
  if (kind == Kind::count) {
    if (raw.unit.empty()) return 1;
    fail(label, raw.line, "wrong-unit", fmt::format("{} in '{}'", raw.key, raw.unit), "a plain count", "drop the unit");
  }
  const auto expected = units_for(kind);
  if (raw.unit.empty())
    fail(label, raw.line, "missing-unit", fmt::format("{} = {} without a unit", raw.key, raw.text),
         "one of " + expected, "state the unit");
  const auto it = std::find_if(kUnits.begin(), kUnits.end(),
                               [&](const UnitSpec& u) { return u.kind == kind && u.unit == raw.unit; });
  if (it == kUnits.end())
    fail(label, raw.line, "wrong-unit", fmt::format("{} in '{}'", raw.key, raw.unit), "one of " + expected,
         "correct the unit");
  const auto precision = precision_of(raw.key);
  const bool integer_unit = raw.unit.find("FLOP") == std::string::npos;
  if (precision && is_integer(precision->type) != integer_unit)
    fail(label, raw.line, "wrong-unit", fmt::format("{} in '{}'", raw.key, raw.unit),
         integer_unit ? "FLOP/s for a floating-point type" : "OP/s for an integer type", "correct the unit");
  return it->factor;
}

double positive_number(const RawFigure& raw, const std::string& label) {
  double value = 0;
  const auto* end = raw.text.data() + raw.text.size();
  const auto result = std::from_chars(raw.text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end || !std::isfinite(value))
    fail(label, raw.line, "not-a-number", fmt::format("{} = '{}'", raw.key, raw.text), "a plain decimal number",
         "leave the line out when the figure is unknown");
  if (value <= 0)
    fail(label, raw.line, "not-positive", fmt::format("{} = {}", raw.key, raw.text), "a number above zero",
         "leave the line out when the figure is unknown");
  return value;
}

// ---------------------------------------------------------------- ceilings

std::string source_text(const Figure& figure, const std::string& origin) {
  std::string text = !origin.empty() ? origin : figure.derived ? "derived" : "datasheet";
  if (!figure.sources.empty()) text += fmt::format(" [{}]", fmt::join(figure.sources, " "));
  return text;
}

class Builder {
 public:
  Builder(const MachineFacts& facts, const ChipRates* rates, const std::string& label)
      : facts_(facts), rates_(rates), label_(label) {}

  Ceiling datasheet() {
    ceiling_.kind = CeilingKind::datasheet;
    ceiling_.sm_clock_hz = facts_.value("boost_clock");
    if (const auto pin = facts_.value("pin_rate")) ceiling_.memory_clock_hz = *pin / 2;
    add_stated_peaks();
    add_peaks_from_rates();
    add_sparse_peaks();
    add_bandwidths();
    add_links();
    return std::move(ceiling_);
  }

 private:
  // Datasheets quote the dense matrix formats at a lower clock than FP64 and FP32 where they name two.
  std::optional<double> clock_of(const Precision& p) const {
    const bool low = p.path == Path::tensor && p.type != NumberType::fp64 && p.type != NumberType::fp32;
    const auto tensor = low ? facts_.value("tensor_clock") : std::nullopt;
    return tensor ? tensor : facts_.value("boost_clock");
  }

  bool has(const Precision& p) const {
    return std::any_of(ceiling_.peaks.begin(), ceiling_.peaks.end(), [&](const Peak& k) { return k.precision == p; });
  }

  void add_peak(const Precision& p, double value, std::string source) {
    const auto clock = clock_of(p);
    if (clock) source += fmt::format(" at {:.0f} MHz", *clock / 1e6);
    ceiling_.peaks.push_back({p, value, std::move(source), clock});
  }

  void add_stated_peaks() {
    for (const auto& figure : facts_.figures) {
      const auto p = parse_precision(figure.key);
      if (!p) continue;
      if (has(*p)) fail(label_, figure.line, "duplicate", figure.key, "one line per peak", "keep one");
      if (p->sparse)
        check_sparse(*p, figure);
      else
        check_dense(*p, figure);
      add_peak(*p, *figure.value, source_text(figure, facts_.origin));
    }
  }

  std::string_view pattern() const {
    const auto own = facts_.text("sparsity");
    return own.empty() && rates_ != nullptr ? std::string_view(rates_->sparsity) : own;
  }

  void check_sparse(Precision p, const Figure& figure) const {
    p.sparse = false;
    const auto key = to_string(p);
    const auto dense = facts_.value(key);
    if (!dense)
      fail(label_, figure.line, "missing-key", figure.key + " without " + key, "the dense peak beside it", "add it");
    const double factor = sparsity_factor(pattern()).value_or(2.0);
    if (*figure.value < *dense)
      fail(label_, figure.line, "sparse-below-dense", fmt::format("{} = {} {}", figure.key, figure.text, figure.unit),
           fmt::format("at least the dense {:g} T", *dense / 1e12), "is one of them the other's figure?");
    if (*figure.value > *dense * factor * (1 + kRounding))
      fail(label_, figure.line, "sparse-above-dense", fmt::format("{} = {} {}", figure.key, figure.text, figure.unit),
           fmt::format("at most {:g} x the dense {:g} T", factor, *dense / 1e12), "is one of them the other's figure?");
  }

  // Datasheets print sparse figures in large type: a dense peak near twice what the chip can do is one of them.
  void check_dense(const Precision& p, const Figure& figure) const {
    constexpr double kNearTwice = 1.6;
    const auto sms = facts_.value("sm_count");
    const auto clock = clock_of(p);
    if (rates_ == nullptr || !sms || !clock) return;
    for (const auto& [precision, rate] : rates_->per_sm_clock) {
      const double possible = *sms * rate * *clock;
      if (precision == p && *figure.value > kNearTwice * possible)
        fail(label_, figure.line, "sparse-as-dense", fmt::format("{} = {} {}", figure.key, figure.text, figure.unit),
             fmt::format("about {:g} T: {:g} {} x {:g} per clock x {:g} MHz", possible / 1e12, *sms, cores(), rate,
                         *clock / 1e6),
             "state the dense peak; the sparse one has a key of its own");
    }
  }

  // "SMs", "CUs"
  std::string cores() const { return std::string(core_word(facts_.text("compute_capability"))) + "s"; }

  void check_bus(const Figure& dram) const {
    constexpr double kTolerance = 0.10;
    const auto bits = facts_.value("bus_width");
    const auto pin = facts_.value("pin_rate");
    if (!bits || !pin) return;
    const double bus = *bits / 8 * *pin;
    if (std::abs(*dram.value - bus) > kTolerance * bus)
      fail(label_, dram.line, "contradiction", fmt::format("dram = {} {}", dram.text, dram.unit),
           fmt::format("about {:g} GB/s: {:g} bit x {:g} Gbit/s", bus / 1e9, *bits, *pin / 1e9),
           "correct one of the three");
  }

  void add_peaks_from_rates() {
    const auto sms = facts_.value("sm_count");
    if (rates_ == nullptr || !sms) return;
    for (const auto& [p, rate] : rates_->per_sm_clock) {
      const auto clock = clock_of(p);
      if (!clock || has(p)) continue;
      add_peak(p, *sms * rate * *clock,
               fmt::format("derived: {:g} {} x {:g} per clock [{}]", *sms, cores(), rate, rates_->id));
    }
  }

  void add_sparse_peaks() {
    if (rates_ == nullptr || rates_->sparsity.empty()) return;
    const auto dense = ceiling_.peaks;
    for (const auto& peak : dense) {
      auto p = peak.precision;
      if (p.path != Path::tensor || p.sparse) continue;
      const double factor = rates_->sparse_factor(p.type);
      p.sparse = true;
      if (factor <= 1 || has(p)) continue;
      ceiling_.peaks.push_back({p, peak.ops_per_s * factor,
                                fmt::format("{} sparsity: {:g} x {}", rates_->sparsity, factor, peak.source),
                                peak.clock_hz});
    }
  }

  void add_bandwidths() {
    if (const auto* dram = facts_.find("dram")) {
      check_bus(*dram);
      ceiling_.bandwidths.push_back({MemoryLevel::dram, "dram", *dram->value, source_text(*dram, facts_.origin)});
    }
    const auto clock = facts_.value("boost_clock");
    if (!clock) return;
    const bool amd = facts_.text("vendor") == "AMD";
    // The maker's bytes per clock of the L2 is what it can send to the SMs: on GA100 and GV100 it equals 32 B times
    // the profiler's peak of lts2xbar cycles, not the tag-stage rate behind lts_t.
    if (const auto* l2 = facts_.find("l2_rate"))
      ceiling_.bandwidths.push_back({MemoryLevel::l2, amd ? "tcc" : "lts2xbar", *l2->value * *clock,
                                     fmt::format("{} at {:.0f} MHz", source_text(*l2, facts_.origin), *clock / 1e6)});
    add_per_sm(MemoryLevel::l1, amd ? "tcp" : "lsu_writeback", rates_ != nullptr ? rates_->l1_bytes : std::nullopt);
    add_per_sm(MemoryLevel::shared, amd ? "lds" : "shared_wavefronts",
               rates_ != nullptr ? rates_->shared_bytes : std::nullopt);
  }

  void add_per_sm(MemoryLevel level, Definition definition, std::optional<double> bytes) {
    const auto sms = facts_.value("sm_count");
    if (!bytes || !sms) return;
    const double clock = *facts_.value("boost_clock");
    ceiling_.bandwidths.push_back({level, std::move(definition), *bytes * *sms * clock,
                                   fmt::format("derived: {:g} {} x {:g} B per clock [{}] at {:.0f} MHz", *sms, cores(),
                                               *bytes, rates_->id, clock / 1e6)});
  }

  void add_links() {
    if (const auto* total = facts_.find("link_both_directions")) {
      const auto kind = facts_.text("link_kind");
      if (kind.empty())
        fail(label_, total->line, "missing-key", "link_both_directions without link_kind", "a link_kind line",
             "name the link, e.g. nvlink");
      ceiling_.links.push_back({std::string(kind), *total->value / 2,
                                source_text(*total, facts_.origin) + ", one direction: half of the printed total"});
    }
    if (const auto* pcie = facts_.find("pcie"))
      ceiling_.links.push_back({"pcie", pcie_rate(*pcie), source_text(*pcie, facts_.origin)});
  }

  // "4 x16": generation and lanes. Transfer rate x encoding per the PCI Express base specifications; generation 6
  // carries 242 of 256 bytes of a flit.
  double pcie_rate(const Figure& figure) const {
    constexpr std::array kLane = {
        0.25e9, 0.5e9, 8e9 / 8 * 128 / 130, 16e9 / 8 * 128 / 130, 32e9 / 8 * 128 / 130, 64e9 / 8 * 242 / 256};
    const auto words = split_words(figure.text);
    const auto bad = [&] {
      fail(label_, figure.line, "bad-value", "pcie = '" + figure.text + "'", "generation and lanes, as in '4 x16'",
           "correct it");
    };
    if (words.size() != 2 || words[0].size() != 1 || words[0][0] < '1' || words[0][0] > '6') bad();
    constexpr std::array<std::string_view, 5> kWidths = {"x1", "x2", "x4", "x8", "x16"};
    const auto* width = std::find(kWidths.begin(), kWidths.end(), words[1]);
    if (width == kWidths.end()) bad();
    const double lanes = std::exp2(static_cast<double>(width - kWidths.begin()));
    return kLane[static_cast<std::size_t>(words[0][0] - '1')] * lanes;
  }

  static constexpr double kRounding = 0.005;  // datasheets print three digits
  const MachineFacts& facts_;
  const ChipRates* rates_;
  const std::string& label_;
  Ceiling ceiling_;
};

std::string measured_text(const Figure& figure, const std::string& origin) {
  auto text = origin.empty() ? std::string("published measurement") : "measured, " + origin;
  if (!figure.sources.empty()) text += fmt::format(" [{}]", fmt::join(figure.sources, " "));
  if (!figure.note.empty()) text += ", " + figure.note;
  return text;
}

// What the bytes of a level's bandwidth count, see docs/machines.md. Of a CPU they are those that instructions name.
struct LevelTags {
  std::string_view l1, l2, shared;
};
LevelTags level_tags(const MachineFacts& facts) {
  if (facts.text("kind") == "cpu") return {"load_store", "load_store", "load_store"};
  if (facts.text("vendor") == "AMD") return {"tcp", "tcc", "lds"};
  return {"lsu_writeback", "lts2xbar", "shared_wavefronts"};
}

void add_measured_peaks(const MachineFacts& facts, Ceiling& ceiling) {
  if (const auto* f = facts.find("matmul_measured"))
    ceiling.peaks.push_back(
        {Precision{NumberType::bf16, Path::tensor}, *f->value, measured_text(*f, facts.origin), std::nullopt});
  for (const auto& f : facts.figures) {
    const std::string_view key = f.key;
    if (!key.ends_with(kMeasured)) continue;
    const auto precision = parse_precision(key.substr(0, key.size() - kMeasured.size()));
    if (!precision) continue;
    // The measured peak of the very format says more than the published product of matrices.
    std::erase_if(ceiling.peaks, [&](const Peak& p) { return p.precision == *precision; });
    ceiling.peaks.push_back({*precision, *f.value, measured_text(f, facts.origin), facts.value("clock_measured")});
  }
}

std::optional<Ceiling> measured(const MachineFacts& facts) {
  Ceiling ceiling;
  ceiling.kind = CeilingKind::measured;
  ceiling.sm_clock_hz = facts.value("clock_measured");
  const auto tags = level_tags(facts);
  const auto add = [&](std::string_view key, MemoryLevel level, std::string_view definition) {
    if (const auto* f = facts.find(key))
      ceiling.bandwidths.push_back({level, Definition(definition), *f->value, measured_text(*f, facts.origin)});
  };
  add("dram_measured", MemoryLevel::dram, "dram");
  add("l2_measured", MemoryLevel::l2, tags.l2);
  add("l2_slice_measured", MemoryLevel::l2, "lts_t");
  add("l1_measured", MemoryLevel::l1, tags.l1);
  add("shared_measured", MemoryLevel::shared, tags.shared);
  add_measured_peaks(facts, ceiling);
  if (ceiling.bandwidths.empty() && ceiling.peaks.empty()) return std::nullopt;
  return ceiling;
}

// ---------------------------------------------------------------- chips

std::optional<double> optional_rate(const std::string& cell, const Row& row, std::string_view key,
                                    const std::string& label) {
  if (cell.empty()) return std::nullopt;
  return positive_number({std::string(key), cell, "", "", "", row.line}, label);
}

void read_sparsity(ChipRates& chip, const std::string& cell, const Row& row, const std::string& label) {
  auto words = split_words(cell);
  if (words.empty()) return;
  if (!sparsity_factor(words.front()))
    fail(label, row.line, "bad-value", "sparsity = '" + cell + "'", "a pattern such as 2:4, then types", "correct it");
  chip.sparsity = words.front();
  for (auto it = words.begin() + 1; it != words.end(); ++it) {
    const auto p = parse_precision(*it + ".tensor");
    if (!p) fail(label, row.line, "bad-value", "type '" + *it + "'", "a number type such as bf16", "correct it");
    chip.sparse_types.push_back(p->type);
  }
}

PipeGroups read_groups(const std::string& cell) {
  PipeGroups groups;
  if (auto words = split_words(cell); !words.empty()) groups.push_back(std::move(words));
  return groups;
}

void read_chip_cell(ChipRates& chip, const std::string& key, const std::string& cell, const Row& row,
                    const std::string& label) {
  if (key == "id") {
    chip.id = cell;
  } else if (key == "compute_capability") {
    chip.compute_capability = cell;
  } else if (key == "default") {
    chip.any_part = cell == "yes";
  } else if (key == "chips") {
    chip.chips = split_words(cell);
  } else if (key == "pipe_groups") {
    chip.pipe_groups = read_groups(cell);
  } else if (key == "sparsity") {
    read_sparsity(chip, cell, row, label);
  } else if (key == "shared") {
    chip.shared_bytes = optional_rate(cell, row, key, label);
  } else if (key == "l1") {
    chip.l1_bytes = optional_rate(cell, row, key, label);
  } else if (key == "source") {
    chip.sources = split_words(cell);
  } else if (key == "note") {
    chip.note = cell;
  } else if (const auto p = parse_precision(key)) {
    if (const auto rate = optional_rate(cell, row, key, label)) chip.per_sm_clock.emplace_back(*p, *rate);
  } else {
    fail(label, 1, "unknown-key", "column '" + key + "'", "a known column or a precision", "correct the header");
  }
}

}  // namespace

std::optional<double> sparsity_factor(std::string_view pattern) {
  const auto colon = pattern.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  unsigned kept = 0;
  unsigned of = 0;
  const auto* end = pattern.data() + pattern.size();
  const auto a = std::from_chars(pattern.data(), pattern.data() + colon, kept);
  const auto b = std::from_chars(pattern.data() + colon + 1, end, of);
  if (a.ec != std::errc{} || b.ec != std::errc{} || a.ptr != pattern.data() + colon || b.ptr != end)
    return std::nullopt;
  if (kept == 0 || kept >= of) return std::nullopt;
  return static_cast<double>(of) / kept;
}

bool is_text_key(std::string_view key) { return kind_of(key) == Kind::text; }

Figure read_figure(const RawFigure& raw, const std::string& label) {
  const auto kind = kind_of(raw.key);
  if (!kind)
    fail(label, raw.line, "unknown-key", "key '" + raw.key + "'",
         "a key such as dram, boost_clock or a precision such as bf16.tensor", "see docs/machines.md for all keys");
  if (raw.text.empty())
    fail(label, raw.line, "bad-value", raw.key + " is empty", "a value", "leave the line out when it is unknown");
  Figure figure;
  figure.key = raw.key;
  figure.text = raw.text;
  figure.unit = raw.unit;
  figure.note = raw.note;
  figure.line = raw.line;
  for (auto& word : split_words(raw.source))
    if (word == "derived")
      figure.derived = true;
    else
      figure.sources.push_back(std::move(word));
  if (*kind == Kind::text) {
    if (!raw.unit.empty())
      fail(label, raw.line, "wrong-unit", fmt::format("{} in '{}'", raw.key, raw.unit), "a text", "drop the unit");
    if (raw.key == "sparsity" && !sparsity_factor(raw.text))
      fail(label, raw.line, "bad-value", "sparsity = '" + raw.text + "'", "a pattern such as 2:4", "correct it");
    return figure;
  }
  const double factor = unit_factor(raw, *kind, label);
  figure.value = positive_number(raw, label) * factor;
  if (*figure.value > most_of(*kind))
    fail(label, raw.line, "too-large", fmt::format("{} = {} {}", raw.key, raw.text, raw.unit),
         fmt::format("at most {:g} in SI units", most_of(*kind)), "correct the number or its unit");
  if (*kind == Kind::count && *figure.value != std::floor(*figure.value))
    fail(label, raw.line, "bad-value", fmt::format("{} = {}", raw.key, raw.text), "a whole number", "correct it");
  return figure;
}

Machine build_machine(std::string id, const MachineFacts& facts, const ChipRates* rates, const std::string& label) {
  const auto line = facts.figures.empty() ? 0 : facts.figures.front().line;
  for (const auto* key : {"vendor", "name"})
    if (facts.find(key) == nullptr)
      fail(label, line, "missing-key", fmt::format("machine '{}' has no {}", id, key), fmt::format("a {} line", key),
           "add it");
  Machine machine;
  machine.id = std::move(id);
  const auto driver = facts.text("driver_name");
  machine.name = driver.empty() ? facts.text("name") : driver;
  machine.vendor = facts.text("vendor");
  machine.chip = facts.text("chip");
  machine.architecture = facts.text("architecture");
  machine.compute_capability = facts.text("compute_capability");
  if (const auto sms = facts.value("sm_count")) machine.sm_count = static_cast<int>(*sms);
  if (rates != nullptr) {
    machine.rates = rates->id;
    machine.pipe_groups = rates->pipe_groups;
  }
  machine.ceilings.push_back(Builder(facts, rates, label).datasheet());
  if (auto seen = measured(facts)) machine.ceilings.push_back(std::move(*seen));
  return machine;
}

std::vector<ChipRates> read_chips(std::string_view text, const std::string& label) {
  const auto table = read_table(text, label);
  std::vector<ChipRates> chips;
  for (const auto& row : table.rows) {
    ChipRates chip;
    for (std::size_t i = 0; i < row.cells.size(); ++i) read_chip_cell(chip, table.header[i], row.cells[i], row, label);
    if (chip.id.empty()) fail(label, row.line, "missing-key", "a row without id", "an id", "name the row");
    for (const auto& other : chips)
      if (other.id == chip.id) fail(label, row.line, "duplicate", chip.id, "one row per id", "keep one");
    chips.push_back(std::move(chip));
  }
  return chips;
}

}  // namespace roofline::machines
