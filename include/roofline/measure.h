// Ceilings measured on this machine, and those that other tools measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/machines.h"
#include "roofline/precision.h"

namespace roofline {

// Repeated timings of one thing, as rates: bytes/s, operations/s, hertz; or seconds.
struct MeasuredValue {
  // The ceiling: median of the best third of the samples in which no thread lost its processor. A slow sample does not
  // lower it, and no single lucky one makes it.
  double value = 0;
  double median = 0, low = 0, high = 0;  // of those samples
  std::size_t samples = 0;
  std::size_t disturbed = 0;  // left out: a thread lost its processor meanwhile
  // How far the samples lie apart that the ceiling is the median of, or all of them where they are fewer than nine:
  // (highest - lowest) / ceiling.
  double width = 0;
  // Time ended before samples agreed as they should: `width` says how uncertain the ceiling is.
  bool cut_short = false;
  // Nothing but disturbed samples: they are what the figures are made of, and the ceiling may be low.
  bool only_disturbed = false;

  double spread() const { return value > 0 ? (high - low) / value : 0; }
};

// Bytes are those the program loads and stores: a copy counts 2 per byte copied, a triad 3. What a store to a line that
// is not in the cache reads besides is not counted; `nt_` stores do not read it.
enum class AccessPattern : std::uint8_t { read, write, copy, triad, nt_write, nt_copy, nt_triad };
std::string_view to_string(AccessPattern pattern);  // "read", "nt_write"
std::optional<AccessPattern> parse_access_pattern(std::string_view text);

// A level of the memory hierarchy as a sweep of working sets found it.
struct MeasuredLevel {
  std::string name;                      // "l1", "l2", "l3", ...; the last is "dram"
  std::optional<double> bytes;           // largest working set of one thread that still fits; absent for "dram"
  std::optional<double> reported_bytes;  // what the system says: in a virtual machine it may be the host's
  double latency_s = 0;                  // of a load that waits for the load before
};

struct SweepPoint {
  double bytes = 0;                   // working set of each thread
  double latency_s = 0;               // of a load that waits for the load before
  std::optional<double> bytes_per_s;  // read, all threads together
};

struct MeasuredBandwidth {
  std::string level;
  AccessPattern pattern = AccessPattern::read;
  double set_bytes = 0;  // working set of each thread
  std::string isa;       // "AVX2"
  MeasuredValue rate;    // bytes/s, all threads together
};

struct MeasuredPeak {
  Precision precision;
  bool mix = false;          // the best mix of instructions; else multiply-adds alone
  std::string instructions;  // "FMA", "4 FMA : 3 ADD"
  std::string isa;
  MeasuredValue rate;  // operations/s, all threads together
};

// With a number of threads, each pinned to a core of its own.
struct ThreadedMeasurement {
  std::vector<int> cpus;
  MeasuredValue clock;  // hertz, of the first thread while all were busy
  std::vector<SweepPoint> sweep;
  std::vector<MeasuredLevel> levels;
  std::vector<MeasuredBandwidth> bandwidths;
  std::vector<MeasuredPeak> peaks;

  const MeasuredBandwidth* bandwidth(std::string_view level, AccessPattern pattern) const;
  // The pattern with the highest rate. In memory only patterns whose counted bytes are all that move: plain stores
  // read their line first.
  const MeasuredBandwidth* best(std::string_view level) const;
  const MeasuredPeak* peak(const Precision& precision, bool mix) const;
};

struct CpuFacts {
  std::string name;    // "AMD EPYC"
  std::string vendor;  // "AMD"; "unknown" where the system does not say
  std::string detail;  // "family 25, model 17"; may be empty
  std::string architecture;
  std::vector<std::string> isas;                 // that kernels exist for and the processor has, narrowest first
  std::vector<std::pair<int, double>> reported;  // level and bytes of data caches, as the system reports them
  std::size_t cpus = 0;                          // that this process may use
  std::size_t cores = 0;                         // of which so many are cores
  std::optional<double> cpu_quota;               // processors' worth of time that a container may use
  bool virtual_machine = false;
};

struct CpuMeasurement {
  CpuFacts cpu;
  std::string version;  // of this program
  std::string date;     // "2026-11-29", UTC
  bool quick = false;
  double seconds = 0;                // that it took
  double huge_page_share = 0;        // of the memory measured
  double other_cpu_share = 0;        // of the machine's processors that others used meanwhile, 0..1
  double steal_share = 0;            // that the hypervisor gave to other guests, 0..1
  bool pinned = true;                // false: the system refused
  bool complete = true;              // false: figures are missing, for want of time or of undisturbed samples
  double budget_s = 0;               // seconds it was given
  ThreadedMeasurement one, all;      // one thread; a thread on each core
  std::vector<std::string> missing;  // figures that could not be measured: "L3 copy, 2 threads"
  std::vector<std::string> notes;    // what a reader of the figures should know
};

struct MeasureOptions {
  bool quick = false;
  std::size_t threads = 0;                         // 0: one per core
  std::size_t memory_limit = 0;                    // bytes of all working sets together; 0: a quarter of what is free
  double seconds_per_figure = 0;                   // 0: by `quick`
  std::function<void(std::string_view)> progress;  // what is being measured; may be null
};

// Measures the processor that this runs on. Throws UsageError where there are no kernels for it, or not that many
// cores.
CpuMeasurement measure_cpu(const MeasureOptions& options = {});

// --- as machines ---

// A machine that has measured ceilings, to be written by to_toml() and read by MachineCatalogue::with().
struct MeasuredMachine {
  Machine machine;
  MachineFacts facts;
  std::vector<std::string> warnings;  // what looks odd
};

// The machine with all threads, or with one. `id` must be an id that machine files allow.
MeasuredMachine measured_machine(const CpuMeasurement& measurement, bool all_threads, const std::string& id);

struct ImportOptions {
  std::string id;                       // of the machine to make
  const Machine* base = nullptr;        // put the measured ceilings beside this one's figures; null: none
  const MachineFacts* facts = nullptr;  // of base
  std::size_t device = 0;               // of a file with several
  std::optional<Precision> precision;   // of an ERT file's operations, which does not say
};

// Ceilings that ERT (roofline.json), rocprof-compute (roofline.csv) or `roofline machine measure --json` (device 0: all
// threads, 1: one) measured. Throws InputError (kinds: "truncated",
// "unknown-format", "bad-json", "no-header", "ragged-row", "not-a-number", "not-positive", "no-figures") or UsageError
// (no such device).
MeasuredMachine import_ceilings(std::string_view text, const std::string& path, const ImportOptions& options);

}  // namespace roofline
