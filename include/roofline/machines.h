// Which roofs apply.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "roofline/launch.h"
#include "roofline/machine.h"

namespace roofline {

// One figure or text of a machine as its file states it.
struct Figure {
  std::string key;                   // "dram", "bf16.tensor", "driver_name"
  std::string text;                  // as written
  std::string unit;                  // as written; empty for texts and plain counts
  std::optional<double> value;       // SI: hertz, bytes, bytes/s, operations/s, bits, watts; absent for texts
  std::vector<std::string> sources;  // keys of the source list; see source_citation()
  bool derived = false;              // arithmetic on sourced figures rather than printed by the source
  std::string note;                  // why the figure differs from SMs x rate x clock, where it does
  std::uint64_t line = 0;
};

// Everything a machine's file states, including what the ceilings do not need.
struct MachineFacts {
  std::vector<Figure> figures;

  const Figure* find(std::string_view key) const;                   // the first; nullptr when unknown
  std::optional<double> value(std::string_view key) const;          // SI
  std::string_view text(std::string_view key) const;                // empty when unknown
  std::vector<std::string_view> texts(std::string_view key) const;  // repeatable keys: "alias", "short_name"
};

// Operations per clock and SM (CU, matrix engine), dense, multiply-add = 2. From vendor documents, not from reports.
struct ChipRates {
  std::string id;                  // "ga10x-geforce"
  std::string compute_capability;  // "8.6" or the gfx name
  bool any_part = false;           // holds for every part of the compute capability, not for one product line
  std::vector<std::string> chips;
  PipeGroups pipe_groups;
  std::vector<std::pair<Precision, double>> per_sm_clock;
  std::string sparsity;  // "2:4"; empty without
  std::vector<NumberType> sparse_types;
  std::optional<double> shared_bytes;  // per clock and SM
  std::optional<double> l1_bytes;      // per clock and SM
  std::vector<std::string> sources;
  std::string note;

  std::optional<double> rate(const Precision& precision) const;
  double sparse_factor(NumberType type) const;  // 2 for "2:4"; 1 where the type has no sparse path
};

// The compiled-in catalogue: data/machines.csv, data/chips.csv, data/machine-sources.csv.
class MachineCatalogue {
 public:
  static const MachineCatalogue& instance();
  // The same from text in the layout of the three files; `label` names the machine file in errors. Throws InputError
  // (kinds: "unknown-key", "missing-unit", "wrong-unit", "not-a-number", "not-positive", "missing-key",
  // "sparse-above-dense", "duplicate", "unknown-rates", "unknown-source", "ragged-row", "bad-value"); nothing is
  // half-loaded.
  static MachineCatalogue parse(std::string_view machines, std::string_view chips, std::string_view sources,
                                const std::string& label);

  const std::vector<Machine>& machines() const { return machines_; }
  std::string_view version() const { return version_; }  // changes with the data
  // `machine` must be one of machines().
  const MachineFacts& facts(const Machine& machine) const;
  std::span<const ChipRates> chips() const { return chips_; }
  // By ChipRates::id; nullptr when unknown.
  const ChipRates* rates(std::string_view id) const;
  std::string_view source_citation(std::string_view key) const;

  // By id, driver name (with or without the maker's name), alias, short name ("h100" is the SXM5 part: docs/machines.md
  // lists them), or words that fit one machine only; nullptr when nothing or more than one fits.
  const Machine* find(std::string_view name) const;
  // Closest ids, best first, for "did you mean".
  std::vector<std::string> suggestions(std::string_view name) const;
  // By what a profile knows of its device: by driver name, else (no name) by compute capability, SM count, memory
  // clock and bus width together; nullptr when undecided.
  const Machine* match(const DeviceInfo& device) const;

 private:
  MachineCatalogue() = default;
  void index_names(const std::string& label);
  struct Name {
    std::string key;  // normalized
    std::size_t machine = 0;
    bool short_name = false;
  };
  std::vector<Machine> machines_;
  std::vector<MachineFacts> facts_;
  std::vector<std::vector<std::string>> words_;  // per machine, of all its names
  std::vector<Name> names_;
  std::vector<ChipRates> chips_;
  std::vector<std::pair<std::string, std::string>> sources_;
  std::string version_;
};

// Chip facts that hold per compute capability, for reports whose GPU the catalogue does not know. A group may name a
// pipe ("fp64") or one precision's key ("fp64.tensor": DMMA runs on the FP64 pipe of GA10x, AD10x and GB20x).
PipeGroups pipe_groups(std::string_view compute_capability);
// The rates every part of a compute capability shares; nullptr when unknown.
const ChipRates* chip_rates(std::string_view compute_capability);

// The roofs at the clocks this launch ran at: `*.peak_sustained x *.cycles_elapsed.avg.per_second` where the report
// has them, else rates per clock and SM of the chip times SM count and clock, else the catalogue's peak scaled to the
// clock. DRAM without a memory clock in the report keeps its rated bandwidth, and its source says so. nullopt when the
// report names no clock. `catalogue` may be null.
std::optional<Ceiling> at_clock_ceiling(const Launch& launch, const DeviceInfo& device, const Machine* catalogue);

}  // namespace roofline
