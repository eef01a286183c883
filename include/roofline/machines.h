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
  std::string origin;  // "user file PATH"; empty for a machine of the compiled-in catalogue

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

// A machine that a user describes in TOML; docs/machines.md has the layout.
struct MachineFile {
  std::string path;  // for messages, and where its figures are said to come from
  std::string text;
};

// The compiled-in catalogue, with users' machines where they were added: data/machines.csv, data/chips.csv,
// data/machine-sources.csv.
class MachineCatalogue {
 public:
  static const MachineCatalogue& instance();
  // Without users' machines.
  static const MachineCatalogue& built_in();
  // The same from text in the layout of the three files; `label` names the machine file in errors. Throws InputError
  // (kinds: "unknown-key", "missing-unit", "wrong-unit", "not-a-number", "not-positive", "missing-key",
  // "sparse-above-dense", "duplicate", "unknown-rates", "unknown-source", "ragged-row", "bad-value"); nothing is
  // half-loaded.
  static MachineCatalogue parse(std::string_view machines, std::string_view chips, std::string_view sources,
                                const std::string& label);

  // This catalogue with the machines of the files in it. One with the id of ours takes its place, and what it calls
  // itself wins over our names. Throws InputError (the kinds above, "bad-toml", "not-built"); nothing is half-loaded.
  MachineCatalogue with(std::span<const MachineFile> files) const;
  // Makes them part of instance(). Call it before the first look-up: pointers into instance() from before dangle.
  static void add_to_instance(std::span<const MachineFile> files);

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
  void add(const MachineFile& file);
  void index_names(const std::string& label);
  void index_names_of(std::size_t machine, const std::string& label);
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

// A machine as a file for MachineCatalogue::with().
std::string to_toml(const Machine& machine, const MachineFacts& facts);

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

// `base` at other clocks, as at-clock ceiling: peaks, L1 and shared memory follow the SM clock, DRAM the memory clock
// (half of a pin's data rate, as profilers report it). L2 follows the SM clock where the datasheet's figure is one per
// SM clock, and stays where a report measured it at a clock of its own. A peak that names no clock is left out.
Ceiling at_clocks(const Ceiling& base, std::optional<double> sm_clock_hz, std::optional<double> memory_clock_hz);

}  // namespace roofline
