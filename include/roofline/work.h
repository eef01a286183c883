// What a kernel did: operations, bytes and time, each with its evidence.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/precision.h"
#include "roofline/quantity.h"

namespace roofline {

// Required traffic is DRAM's; the caches explain, they never acquit.
enum class MemoryLevel : std::uint8_t { dram, l2, l1, shared };
inline constexpr std::array<MemoryLevel, 4> kMemoryLevels = {MemoryLevel::dram, MemoryLevel::l2, MemoryLevel::l1,
                                                             MemoryLevel::shared};
std::string_view to_string(MemoryLevel level);

// What a level's bytes count. Bytes and bandwidth must carry the same tag, or there is no fraction.
// Known tags: "dram", "lts_t" (all L2 slice traffic), "lts2xbar" (L2 to SM only, no writes), "l1tex_t",
// "lsu_writeback" (L1 to registers, 128 B/clk), "shared_wavefronts" (128 B per wavefront), "model" (compulsory).
using Definition = std::string;

struct LevelTraffic {
  Quantity read;   // bytes
  Quantity write;  // bytes
  Quantity total;  // bytes; its bound says exact, lower (incomplete counter) or upper
  Definition definition;
  // time at this level's peak / time, where the profiler states it as a percentage (0..1); needs no peak
  Quantity direct_fraction;
};

struct OperationCount {
  Precision precision;
  Quantity operations;  // FLOPs (2 per multiply-add), or integer operations
  // Peak of the very path that executed them, ops/s, where a leaf counter has its own (mma.sync on Hopper).
  std::optional<double> path_peak;
};

struct LinkTraffic {
  std::string kind;          // "nvlink", "pcie", "network"
  Quantity bus_bytes;        // bytes that cross this GPU's link
  Quantity algorithm_bytes;  // payload of the collective
};

// What kind of unit a throughput metric is about.
enum class UnitClass : std::uint8_t { unknown, floating_point, tensor, integer, issue, memory, special };
std::string_view to_string(UnitClass unit);

// Busy fractions (0..1, of elapsed time) and launch-shape facts that exclude or support a verdict. They are never
// plotted as rates.
struct Activity {
  Quantity sm_throughput;      // busiest SM unit: upper bound of the compute fraction
  Quantity memory_throughput;  // busiest memory unit
  Quantity l2_throughput;
  Quantity l1_throughput;
  Quantity l2_hit_rate;        // of L2 sectors; stands in for L2 bytes when telling cache-resident kernels
  Quantity tensor_pipe;        // tensor pipe busy
  Quantity issue_active;       // issue slots used per scheduler-cycle
  Quantity sector_efficiency;  // bytes used / bytes moved in global accesses
  Quantity waves;              // waves of blocks per SM
  Quantity grid_blocks;        // blocks launched
  Quantity sm_count;           // SMs available to this launch
  Quantity l2_size;            // bytes of L2 on the device
  std::string busiest_unit;    // the metric behind the largest throughput; empty when unknown
  UnitClass busiest_class = UnitClass::unknown;
};

// Which parts of the FLOP count are known.
struct FlopCoverage {
  std::vector<std::string> uncounted;     // parts that may be non-zero but were not counted ("tensor")
  std::vector<std::string> assumed_none;  // CUDA-core precisions never collected beside one that was
  std::string reason;                     // why uncounted, for people
  // Share of the time (0..1, an upper bound) that the uncounted operations could take at their roof, from how busy
  // their pipes were. Absent: nothing bounds them.
  Quantity uncounted_fraction;
  bool complete() const { return uncounted.empty(); }
};

// All of one launch, one operator, or one aggregated row. SI units.
struct Work {
  Quantity time;  // seconds
  std::vector<OperationCount> operations;
  Quantity aux_ops;  // MUFU, softmax internals: shown, never in the roof
  FlopCoverage coverage;
  std::array<LevelTraffic, kMemoryLevels.size()> levels;
  LinkTraffic link;
  Activity activity;
  double launches = 1;

  LevelTraffic& level(MemoryLevel l) { return levels[static_cast<std::size_t>(l)]; }
  const LevelTraffic& level(MemoryLevel l) const { return levels[static_cast<std::size_t>(l)]; }

  // Sum over floating-point precisions, sparse at its logical count. Absent when nothing was counted; a lower bound
  // when coverage is incomplete.
  Quantity flops() const;
  // FLOPs / bytes of a level. Absent without either; 0 for a kernel that counted no FLOPs.
  Quantity intensity(MemoryLevel level = MemoryLevel::dram) const;
};

}  // namespace roofline
