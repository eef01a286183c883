// Does it move more than it must, or move it badly?
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diagnosis/case.h"

namespace roofline::diagnosis {
namespace {

using Names = std::string_view;
constexpr double kSectorBytes = 32;

// How busy the path between L1 and L2 was; what fewer sectors can give back is a share of that.
double cache_fraction(const Case& c) {
  const auto& a = c.work().activity;
  double most = 0;
  for (const auto* q : {&a.l1_throughput, &a.l2_throughput, &a.memory_throughput})
    most = std::max(most, std::min(1.0, q->value_or(0)));
  return std::max(most, std::min(1.0, c.dram_fraction()));
}

// ---------------------------------------------------------------- coalescing

// [sectors per request, bytes used per sector, sectors, requests]
template <bool kStores>
constexpr std::array<Names, 4> kAccessMetrics = {
    kStores ? "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"
            : "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    kStores ? "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"
            : "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
    kStores ? "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum" : "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    kStores ? "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum" : "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"};

struct Access {
  double sectors = 0;  // per request
  double ideal = 0;    // sectors that the bytes asked for would need
};

// The access width decides what is ideal: 4, 8 or 16 bytes per thread need 4, 8 or 16 sectors per request. Sectors
// times bytes used is what was asked for, whatever the width. Without the bytes only more than the widest access is
// certain.
std::optional<Access> access(const Case& c) {
  constexpr double kWidest = 16;
  auto sectors = c[0];
  if (!sectors && c[2] && c.or_zero(3) > 0) sectors = *c[2] / *c[3];
  if (!sectors || *sectors <= 0) return std::nullopt;
  const double used = c[1].value_or(0);
  if (used <= 0) return Access{*sectors, kWidest};
  return Access{*sectors, std::max(1.0, *sectors * std::min(used, kSectorBytes) / kSectorBytes)};
}

bool badly_coalesced(const Case& c, double threshold) {
  const auto a = access(c);
  return a && a->sectors / a->ideal >= threshold;
}

template <bool kStores>
bool uncoalesced(const Case& c, Hit& hit) {
  if (!badly_coalesced(c, c.threshold())) return false;
  const auto a = *access(c);
  hit.share = (1 - a.ideal / a.sectors) * cache_fraction(c);
  hit.why =
      c[1] ? fmt::format("a {} touches {:.1f} sectors where its bytes need {:.1f}: {:.0f} of each 32 bytes are used",
                         kStores ? "store" : "load", a.sectors, a.ideal, *c[1])
           : fmt::format("a {} touches {:.1f} sectors; the widest access needs {:.0f}", kStores ? "store" : "load",
                         a.sectors, a.ideal);
  return true;
}

constexpr std::array<Names, 3> kExcessMetrics = {"memory_l2_theoretical_sectors_global",
                                                 "memory_l2_theoretical_sectors_global_ideal",
                                                 "derived__memory_l2_theoretical_sectors_global_excessive"};

bool excessive_sectors(const Case& c, Hit& hit) {
  if (!c[0] || *c[0] <= 0 || (!c[1] && !c[2])) return false;
  const double excess = c[1] ? *c[0] - *c[1] : *c[2];
  if (excess / *c[0] < c.threshold()) return false;
  hit.share = excess / *c[0] * cache_fraction(c);
  hit.why = fmt::format("{:.0f} % of the sectors that global accesses ask for are not needed", 100 * excess / *c[0]);
  return true;
}

constexpr std::array<Names, 6> kPartialMetrics = {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
                                                  "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                                  "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",
                                                  "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                                  "l1tex__t_sector_hit_rate.pct",
                                                  "lts__t_sector_hit_rate.pct"};

// Wasted bytes cost DRAM time only as far as neither cache holds the rest of the sector for a later access.
bool partial_sectors(const Case& c, Hit& hit) {
  double sectors = 0;
  double used = 0;
  for (const std::size_t i : {0, 2}) {
    if (!c[i] || *c[i] <= 0) continue;
    const double n = std::max(1.0, c[i + 1].value_or(1));
    sectors += n;
    used += n * std::min(*c[i], kSectorBytes);
  }
  if (sectors <= 0) return false;
  const double efficiency = used / sectors / kSectorBytes;
  if (efficiency >= c.threshold()) return false;
  hit.why = fmt::format("{:.1f} of the 32 bytes of a sector are used on average", efficiency * kSectorBytes);
  if (c.has({4, 5})) {
    const double misses = std::clamp(1 - *c[4] / 100, 0.0, 1.0) * std::clamp(1 - *c[5] / 100, 0.0, 1.0);
    hit.share = (1 - efficiency) * misses * std::min(1.0, c.dram_fraction());
  }
  return true;
}

constexpr std::array<Names, 3> kNarrowMetrics = {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
                                                 "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
                                                 "smsp__thread_inst_executed_per_inst_executed.ratio"};

bool narrow_loads(const Case& c, Hit& hit) {
  constexpr double kWarp = 32;
  constexpr double kFullSectors = 0.9 * kSectorBytes;
  if (!c.has({0, 1}) || *c[1] < kFullSectors || *c[0] <= 0) return false;
  const auto position = c.placement().position;
  if (position != Position::memory_suboptimal && position != Position::latency_bound) return false;
  const double width = *c[0] * *c[1] / std::clamp(c[2].value_or(kWarp), 1.0, kWarp);
  // Less than a byte per thread is a broadcast: width is not what it lacks.
  if (width < 1 || width > c.threshold()) return false;
  hit.why = fmt::format("a thread loads about {:.0f} bytes at a time, well coalesced", width);
  return true;
}

// ---------------------------------------------------------------- local memory

constexpr std::array<Names, 9> kSpillMetrics = {"derived__local_spilling_requests",
                                                "sass__inst_executed_register_spilling_mem_local",
                                                "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
                                                "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
                                                "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                                "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                                "smsp__inst_executed_op_local_ld.sum",
                                                "smsp__inst_executed_op_local_st.sum",
                                                "smsp__inst_executed.sum"};

// Local accesses as a share of what they compete with: L1 sectors, or instructions where sectors were not counted.
std::optional<double> local_share(const Case& c) {
  if (c[2] || c[3]) {
    const double local = c.or_zero(2) + c.or_zero(3);
    const double all = local + c.or_zero(4) + c.or_zero(5);
    return all > 0 ? local / all : 0;
  }
  if ((c[6] || c[7]) && c.or_zero(8) > 0) return (c.or_zero(6) + c.or_zero(7)) / *c[8];
  return std::nullopt;
}

bool local_memory(const Case& c, Hit& hit) {
  const auto share = local_share(c);
  if (!share || *share < c.threshold()) return false;
  const bool spills = c.or_zero(0) > 0 || c.or_zero(1) > 0;
  hit.share = std::min(1.0, *share) * cache_fraction(c);
  hit.why = fmt::format("local memory is {:.0f} % of the {}: {}", 100 * *share,
                        c[2] || c[3] ? "sectors that L1 serves" : "instructions",
                        spills ? "registers are spilled" : "spilled registers or arrays indexed at run time");
  return true;
}

// ---------------------------------------------------------------- shared memory

// [conflicts, wavefronts, instructions, matrix loads]
constexpr std::array<Names, 6> kConflictLoads = {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                                 "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                                 "smsp__sass_inst_executed_op_shared_ld.sum",
                                                 "smsp__sass_inst_executed_op_ldsm.sum",
                                                 "memory_l1_wavefronts_shared",
                                                 "memory_l1_wavefronts_shared_ideal"};
constexpr std::array<Names, 6> kConflictStores = {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
                                                  "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
                                                  "smsp__sass_inst_executed_op_shared_st.sum",
                                                  "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
                                                  "memory_l1_wavefronts_shared",
                                                  "memory_l1_wavefronts_shared_ideal"};

template <bool kStores>
bool bank_conflicts(const Case& c, Hit& hit) {
  if (!c[0] || c.or_zero(1) <= 0 || *c[0] / *c[1] < c.threshold()) return false;
  // The counter also grows by mere arbitration; where the source counters see no excess there is no conflict.
  if (c.has({4, 5}) && *c[4] > 0 && (*c[4] - *c[5]) / *c[4] < c.threshold() / 2) return false;
  const double conflicts = std::min(1.0, *c[0] / *c[1]);
  const double instructions = kStores ? c.or_zero(2) : c.or_zero(2) + c.or_zero(3);
  const auto* shared = c.placement().resource("shared");
  hit.share =
      conflicts * std::min(1.0, shared != nullptr ? shared->fraction : c.work().activity.l1_throughput.value_or(0));
  hit.why =
      instructions > 0
          ? fmt::format("{:.0f} % of the wavefronts of shared {} are conflicts, {:.1f} wavefronts per instruction",
                        100 * conflicts, kStores ? "stores" : "loads", *c[1] / instructions)
          : fmt::format("{:.0f} % of the wavefronts of shared {} are conflicts", 100 * conflicts,
                        kStores ? "stores" : "loads");
  return true;
}

// ---------------------------------------------------------------- beyond the caches

constexpr std::array<Names, 2> kFabricMetrics = {"lts__t_sectors_srcunit_ltcfabric.sum", "lts__t_sectors.sum"};

bool l2_fabric(const Case& c, Hit& hit) {
  if (!c[0] || c.or_zero(1) <= 0 || *c[0] / *c[1] < c.threshold()) return false;
  hit.why = fmt::format("{:.0f} % of the L2 sectors cross between the halves of L2", 100 * *c[0] / *c[1]);
  return true;
}

constexpr std::array<Names, 2> kHostMetrics = {"lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum",
                                               "lts__t_sectors_srcunit_tex_lookup_miss.sum"};

bool host_memory(const Case& c, Hit& hit) {
  if (!c[0] || c.or_zero(1) <= 0 || *c[0] / *c[1] <= c.threshold()) return false;
  hit.why = fmt::format("{:.0f} % of the misses of L2 go to the host's memory, over the bus", 100 * *c[0] / *c[1]);
  return true;
}

bool fewer_bytes(const Case& c, Hit& hit) {
  const auto& p = c.placement();
  const auto time = c.time();
  if (p.regime != Regime::memory || p.cache_resident || !p.gain_less_work_s || !time || !p.fraction) return false;
  if (*p.fraction < c.threshold()) return false;
  const double share = *p.gain_less_work_s / (*time * c.facts().launches);
  if (share < 0.01) return false;
  hit.share = share;
  hit.why = fmt::format(
      "DRAM is busy {:.0f} % of the time; at half the bytes and the present fraction of the roof the "
      "kernel takes {:.0f} % less",
      100 * c.dram_fraction(), 100 * share);
  return true;
}

constexpr std::string_view kCoalescing = "Nsight Compute rule UncoalescedGlobalAccess; NVIDIA forum 165293, 312884";
constexpr std::string_view kCoalesce =
    "Let neighbouring threads access neighbouring addresses: swap loop or thread indices, structures of arrays, or "
    "stage through shared memory.";
constexpr std::string_view kPad = "Pad or swizzle the shared array so that the threads of a warp hit different banks.";

constexpr std::array<Rule, 11> kRules = {{
    {{"uncoalesced-global-loads", "cause", "Uncoalesced global loads", kAccessMetrics<false>,
      "L1, L2 and DRAM fractions", 1.25,
      "sectors per request >= 1.25 x what the bytes asked for need (above 16 where the bytes are unknown: x 1.25)",
      kCoalescing, kCoalesce, "Source Counters section: the lines with excessive L2 sectors.", GainList::same_work},
     uncoalesced<false>,
     true},
    {{"uncoalesced-global-stores", "cause", "Uncoalesced global stores", kAccessMetrics<true>,
      "L1, L2 and DRAM fractions", 1.25,
      "sectors per request >= 1.25 x what the bytes asked for need (above 16 where the bytes are unknown: x 1.25)",
      kCoalescing, kCoalesce, "Source Counters section: the lines with excessive L2 sectors.", GainList::same_work},
     uncoalesced<true>,
     true},
    {{"excessive-sectors", "cause", "Global accesses ask for more sectors than needed", kExcessMetrics,
      "L1, L2 and DRAM fractions", 0.05, "excess / all theoretical sectors >= 5 %",
      "Nsight Compute rule UncoalescedGlobalAccess; share ours", kCoalesce,
      "Source page: sort by excessive L2 sectors and start with the first line.", GainList::same_work},
     excessive_sectors,
     true},
    {{"partial-sectors", "cause", "Sectors are used in part", kPartialMetrics, "DRAM fraction", 0.80,
      "bytes used / 32 < 80 % (loads and stores by sectors)", "Nsight Compute rule MemoryCacheAccessPattern",
      "Pack the data that is used together: structures of arrays, smaller types, no holes.",
      "Count the bytes one access needs against 32; try the packed layout on the array with most traffic.",
      GainList::less_work},
     partial_sectors,
     true},
    {{"narrow-loads", "advice", "Loads are narrow", kNarrowMetrics, "position", 4.5,
      "about 4 bytes per thread and load, coalesced, below the memory roof",
      "NVIDIA CUDA best practices (vectorised access); threshold ours",
      "Load 16 bytes per thread (float4, 128-bit types): fewer instructions, more bytes in flight.",
      "Vectorise the largest stream alone and compare the time.", GainList::none},
     narrow_loads,
     false},
    {{"local-memory", "cause", "Spills or local arrays", kSpillMetrics, "L1 and L2 fractions", 0.05,
      "local / (local + global) L1 sectors >= 5 %, or of all instructions",
      "Nsight Compute (any local access in a hot loop); share ours",
      "Keep the working set in registers: fewer live values, larger register limit, constant indices into arrays.",
      "Compile with -Xptxas -v: are registers spilled? If not, look for arrays indexed at run time.",
      GainList::same_work},
     local_memory,
     true},
    {{"shared-bank-conflicts-loads", "cause", "Bank conflicts of shared loads", kConflictLoads, "shared or L1 fraction",
      0.10, "conflicts / wavefronts >= 10 %, unless the source counters see no excess",
      "Nsight Compute rule SharedMemoryConflicts", kPad, "Pad the row by one element and compare the wavefronts.",
      GainList::same_work},
     bank_conflicts<false>,
     false},
    {{"shared-bank-conflicts-stores", "cause", "Bank conflicts of shared stores", kConflictStores,
      "shared or L1 fraction", 0.10, "conflicts / wavefronts >= 10 %, unless the source counters see no excess",
      "Nsight Compute rule SharedMemoryConflicts", kPad, "Pad the row by one element and compare the wavefronts.",
      GainList::same_work},
     bank_conflicts<true>,
     false},
    {{"l2-fabric",
      "cause",
      "Traffic between the halves of L2",
      kFabricMetrics,
      {},
      0.25,
      "fabric sectors / L2 sectors >= 25 %",
      "ours; chips with two L2 halves only",
      "Let each half of the GPU work on its own part of the data, or read shared data once per block and reuse it.",
      "Swap the mapping of blocks to data and compare the fabric sectors.",
      GainList::none},
     l2_fabric,
     false},
    {{"host-memory",
      "cause",
      "Reads the host's memory",
      kHostMetrics,
      {},
      0.40,
      "L2 misses of the SMs to system memory > 40 %",
      "Nsight Compute rule for L2 misses to system memory",
      "Copy or prefetch the data to the GPU before the kernel; check for managed or pinned buffers used in place.",
      "Prefetch the managed buffer (or copy it) and compare the time of the kernel and of the copy.",
      GainList::none},
     host_memory,
     true},
    {{"fewer-bytes",
      "advice",
      "Fewer bytes are the lever",
      {},
      "DRAM fraction, placement",
      0.60,
      "in the memory regime at >= 60 % of the roof",
      "Williams, Waterman, Patterson, CACM 52(4)",
      "Move fewer bytes: quantize, fuse with a neighbour, keep data on the chip.",
      "Predict the gain of half the bytes, then measure it.",
      GainList::less_work},
     fewer_bytes,
     true},
}};

}  // namespace

std::span<const Rule> memory_rules() { return kRules; }

}  // namespace roofline::diagnosis
