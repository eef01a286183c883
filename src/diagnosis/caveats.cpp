// When the roofline itself is not the right question, or the measurement not the right answer.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diagnosis/case.h"

namespace roofline::diagnosis {
namespace {

using Names = std::string_view;

// Microseconds with two decimals, as launch floors are quoted.
std::string micro(double seconds) { return fmt::format("{:.2f} µs", seconds * 1e6); }

// A kernel this many floors long is not ruled by what a launch costs, however little it must do.
constexpr double kShortFloors = 10;

bool launch_bound(const Case& c, Hit& hit) {
  const auto& p = c.placement();
  const auto time = c.time();
  const double floor = c.limits().launch_floor_s;
  if (!time || !p.roof_time_s || p.bound != Bound::exact) return false;
  const double roof = *p.roof_time_s / c.facts().launches;
  const double floors = c.limits().launch_bound;
  if (roof >= floors * floor || *time > kShortFloors * floor) return false;
  hit.share = std::clamp(1 - roof / *time, 0.0, 1.0);
  std::string amount;
  if (const auto& dram = c.work().level(MemoryLevel::dram).total; dram && p.binding == "dram")
    amount = fmt::format("{:.3g} MB take ", dram.value() / c.facts().launches * 1e-6);
  else
    amount = "its work takes ";
  hit.why = fmt::format("{}{} at the roof, a launch costs at least {}: {} < {:.0f} x {}; it took {}", amount,
                        micro(roof), micro(floor), micro(roof), floors, micro(floor), micro(*time));
  hit.extra = {{"roof time", roof, "s"}, {"launch floor", floor, "s"}, {"time", *time, "s"}};
  return true;
}

bool cache_resident(const Case& c, Hit& hit) {
  const auto& p = c.placement();
  if (!p.cache_resident) return false;
  const auto& dram = c.work().level(MemoryLevel::dram).total;
  const auto& l2 = c.work().level(MemoryLevel::l2).total;
  hit.why = dram && l2 && l2.value() > 0
                ? fmt::format("DRAM moved {:.0f} % of the bytes that L2 served", 100 * dram.value() / l2.value())
                : std::string("hardly anything came from DRAM");
  if (const auto* use = p.resource("l2"))
    hit.why += fmt::format("; L2 is at {:.0f} % of its roof", 100 * use->fraction);
  return true;
}

constexpr std::array<Names, 4> kTmaMetrics = {
    "smsp__inst_executed_op_tma_ld.sum", "smsp__sass_inst_executed_op_tma_ld.sum", "sm__inst_executed_pipe_tma.sum",
    "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"};

bool tma_bytes(const Case& c, Hit& hit) {
  if (std::max({c.or_zero(0), c.or_zero(1), c.or_zero(2)}) <= c.threshold()) return false;
  hit.why = c[3] ? fmt::format("bulk copies (TMA) moved {:.3g} MB past the counter of L1", *c[3] * 1e-6)
                 : std::string("bulk copies (TMA) pass the counter of L1: its bytes are a lower bound");
  return true;
}

bool short_kernel(const Case& c, Hit& hit) {
  const auto time = c.time();
  if (!time || *time <= 0 || *time >= c.threshold() || c.launch().given) return false;
  hit.why = fmt::format("{} per launch: start and end of the measurement weigh in", micro(*time));
  return true;
}

bool writes_unknown(const Case& c, Hit& hit) {
  const auto& dram = c.work().level(MemoryLevel::dram);
  if (!dram.read || dram.write || (dram.total && dram.total.bound() == Bound::exact)) return false;
  hit.why = "DRAM reads were counted, writes were not";
  return true;
}

constexpr std::array<Names, 4> kReuseMetrics = {"l1tex__t_bytes.sum", "dram__bytes.sum", "dram__bytes_read.sum",
                                                "dram__bytes_write.sum"};

bool no_reuse(const Case& c, Hit& hit) {
  double dram = c[1].value_or(c.or_zero(2) + c.or_zero(3));
  if (!c[0] || dram <= 0 || *c[0] / dram >= c.threshold() || *c[0] <= 0) return false;
  // Streaming kernels reuse nothing by right: only arithmetic that should tile is worth a word.
  if (c.compute_fraction() < c.dram_fraction() / 2 || c.facts().tensor_or_tma) return false;
  hit.why = fmt::format("L1 serves {:.2f} bytes per byte of DRAM", *c[0] / dram);
  return true;
}

constexpr std::array<Rule, 6> kRules = {{
    {{"launch-bound",
      "cause",
      "Too little work for a launch",
      {},
      "time, roof time, launch floor",
      3.0,
      "roof time < 3 x launch floor (3 and 2.2 µs unless set), time <= 10 x launch floor",
      "published times of small decode kernels in CUDA graphs",
      "Fuse it with a neighbour, or batch more work per launch.",
      "Fuse it into the kernel before or after; compare the time of the pair.",
      GainList::less_work},
     launch_bound,
     true},
    {{"no-reuse", "advice", "Hardly any reuse", kReuseMetrics, "compute and DRAM fractions", 1.2,
      "L1 bytes / DRAM bytes < 1.2 in a kernel with arithmetic", "hierarchical roofline practice; threshold ours",
      "Tile: keep data in registers, shared memory or L2 while it is used again.",
      "Compare the bytes of L1, L2 and DRAM for a larger tile.", GainList::none},
     no_reuse,
     false},
    {{"cache-resident",
      "advice",
      "The data lives in L2",
      {},
      "DRAM and L2 bytes",
      0.25,
      "DRAM bytes < 25 % of L2 bytes, in the memory regime",
      "hierarchical roofline practice",
      "Judge it by L2, not by DRAM; its bytes become DRAM's once the data outgrows the cache.",
      "Run a problem twice the size of L2 and compare.",
      GainList::none},
     cache_resident,
     true},
    {{"tma-l1-bytes",
      "pitfall",
      "Bulk copies are missing from L1",
      kTmaMetrics,
      {},
      0.0,
      "bulk-copy instructions > 0",
      "counters of L1 on compute capability 9.0 and up",
      "Read the L1 level as a lower bound; use L2 or the SM-to-L2 bytes instead.",
      "Collect l1tex__m_xbar2l1tex_read_bytes.sum.",
      GainList::none},
     tma_bytes,
     true},
    {{"short-kernel",
      "pitfall",
      "Too short to time well",
      {},
      "time",
      5e-6,
      "time per launch < 5 µs",
      "profilers' resolution and replay; guide",
      "Trust the order of magnitude only.",
      "Time many launches in a row with a timeline, or profile a larger problem.",
      GainList::none},
     short_kernel,
     true},
    {{"writes-unknown",
      "pitfall",
      "Writes were not counted",
      {},
      "DRAM reads and writes",
      0.0,
      "DRAM reads known, writes not",
      "bytes = reads + writes",
      "Count the writes too: the intensity is too high.",
      "Collect dram__bytes_write.sum.",
      GainList::none},
     writes_unknown,
     true},
}};

}  // namespace

std::span<const Rule> caveat_rules() { return kRules; }

}  // namespace roofline::diagnosis
