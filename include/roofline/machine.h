// The limits of a machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/precision.h"
#include "roofline/work.h"

namespace roofline {

enum class CeilingKind : std::uint8_t {
  datasheet,  // the vendor's figures, dense
  at_clock,   // the same limits at the clock the kernel really ran at
  measured,   // a microbenchmark's result
};
std::string_view to_string(CeilingKind kind);
std::optional<CeilingKind> parse_ceiling_kind(std::string_view text);

struct Peak {
  Precision precision;
  double ops_per_s = 0;
  std::string source;  // metric expression, datasheet, or file
  // The clock that the figure assumes: datasheets quote tensor and CUDA-core peaks at different ones.
  std::optional<double> clock_hz = std::nullopt;
};

struct Bandwidth {
  MemoryLevel level = MemoryLevel::dram;
  Definition definition;
  double bytes_per_s = 0;
  std::string source;
};

struct LinkBandwidth {
  std::string kind;        // "nvlink", "pcie"
  double bytes_per_s = 0;  // one direction
  std::string source;
};

// One set of roofs. Peaks are dense unless the precision says sparse.
struct Ceiling {
  CeilingKind kind = CeilingKind::datasheet;
  std::optional<double> sm_clock_hz;
  std::optional<double> memory_clock_hz;
  std::vector<Peak> peaks;
  std::vector<Bandwidth> bandwidths;
  std::vector<LinkBandwidth> links;

  // Exact key first; then without the accumulator; a merged type takes its members' range. nullopt when unknown.
  struct PeakRange {
    double low;   // ops/s
    double high;  // ops/s; equal to low for a plain type
  };
  std::optional<PeakRange> peak(const Precision& precision) const;
  std::optional<double> bandwidth(MemoryLevel level, std::string_view definition) const;
  std::optional<double> link_bandwidth(std::string_view link_kind) const;
};

// Pipes that share silicon add up; the others run side by side. Each inner list is one group of pipe names.
using PipeGroups = std::vector<std::vector<std::string>>;

struct Machine {
  std::string id;    // catalogue id, e.g. "h100-sxm5-80"; empty for one made from a report alone
  std::string name;  // as the driver reports it
  std::string vendor;
  std::string chip;                // "GH100"
  std::string architecture;        // "Hopper"
  std::string compute_capability;  // "9.0", or the gfx name
  std::optional<int> sm_count;
  std::string rates;  // ChipRates id of its operations per clock and SM; empty when unknown
  PipeGroups pipe_groups;
  std::vector<Ceiling> ceilings;

  const Ceiling* ceiling(CeilingKind kind) const;
};

// Ridge point: the intensity (FLOP/byte) at which compute and DRAM take equal time.
std::optional<double> ridge_point(const Ceiling& ceiling, const Precision& precision,
                                  MemoryLevel level = MemoryLevel::dram, std::string_view definition = "dram");

}  // namespace roofline
