// Is there enough work, and is it spread evenly?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "diagnosis/case.h"

namespace roofline::diagnosis {
namespace {

using Names = std::string_view;
constexpr std::string_view kLaunchConfiguration = "Nsight Compute rule LaunchConfiguration";

// ---------------------------------------------------------------- launch shape

std::optional<double> sm_count(const Case& c, std::size_t metric) {
  if (c[metric]) return c[metric];
  return c.work().activity.sm_count.get();
}

std::optional<double> grid_blocks(const Case& c, std::size_t metric) {
  if (c[metric]) return c[metric];
  return c.work().activity.grid_blocks.get();
}

constexpr std::array<Names, 2> kGridMetrics = {"launch__grid_size", "launch__sm_count"};

bool small_grid(const Case& c, Hit& hit) {
  const auto grid = grid_blocks(c, 0);
  const auto sms = sm_count(c, 1);
  if (!grid || !sms || *grid <= 0 || *sms <= 0 || *grid / *sms >= c.threshold()) return false;
  hit.share = (*sms - *grid) / *sms;
  hit.why = fmt::format("{:.0f} block{} for {:.0f} SMs: {:.0f} of them have nothing to do", *grid,
                        *grid == 1 ? "" : "s", *sms, *sms - *grid);
  return true;
}

bool few_blocks(const Case& c, Hit& hit) {
  const auto grid = grid_blocks(c, 0);
  const auto sms = sm_count(c, 1);
  if (!grid || !sms || *sms <= 0 || *grid < *sms || *grid / *sms >= c.threshold()) return false;
  // As many blocks as SMs is how persistent kernels are launched.
  if (*grid == *sms || c.warp_specialised()) return false;
  hit.why =
      fmt::format("{:.0f} blocks for {:.0f} SMs: a block that waits has hardly another to take its place", *grid, *sms);
  return true;
}

constexpr std::array<Names, 1> kWaveMetrics = {"launch__waves_per_multiprocessor"};
constexpr double kLeastWaveLoss = 0.05;  // of the time: below it the last wave is nearly full

bool tail(const Case& c, Hit& hit) {
  const auto waves = c[0] ? c[0] : c.work().activity.waves.get();
  if (!waves || *waves < 1) return false;
  const double full = std::floor(*waves);
  const double lost = 1 - *waves / std::ceil(*waves);
  if (*waves == full || 1 / (1 + full) < c.threshold() || lost < kLeastWaveLoss) return false;
  hit.share = lost;
  hit.why = fmt::format("{:.2f} waves take the time of {:.0f}: {:.0f} % of it is idle SMs in the last one", *waves,
                        std::ceil(*waves), 100 * lost);
  return true;
}

constexpr std::array<Names, 1> kBlockMetrics = {"launch__block_size"};

bool block_size(const Case& c, Hit& hit) {
  const double counted = static_cast<double>(c.launch().block.count());
  const double threads = c[0].value_or(counted);
  if (threads <= 0 || std::fmod(threads, c.threshold()) == 0) return false;
  const double lanes = c.threshold() * std::ceil(threads / c.threshold());
  hit.why = fmt::format("{:.0f} threads per block fill {:.0f} warp lanes", threads, lanes);
  // Only where threads matter at all: an almost empty block is bound by something else.
  hit.share = (1 - threads / lanes) * c.facts().busiest.value_or(0);
  return true;
}

// ---------------------------------------------------------------- occupancy

constexpr std::array<Names, 6> kTheoreticalMetrics = {
    "sm__maximum_warps_per_active_cycle_pct", "launch__occupancy_limit_registers", "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps",          "launch__occupancy_limit_blocks",    "launch__occupancy_limit_barriers"};

struct Limiter {
  std::string_view name = "unknown";
  std::string_view action = {};
  double blocks = 0;
};

Limiter occupancy_limiter(const Case& c) {
  constexpr std::array<Limiter, 5> kLimiters = {{
      {"registers", "Use fewer registers (launch bounds, smaller tiles per thread) so that more warps fit on an SM."},
      {"shared memory", "Use less shared memory per block (smaller tiles, fewer stages) so that more blocks fit."},
      {"warps", "Change the block size so that whole blocks fill the SM's warp slots."},
      {"blocks", "Use larger blocks: the SM runs out of block slots before it runs out of warps."},
      {"barriers", "Use fewer named barriers per block."},
  }};
  Limiter smallest;
  for (std::size_t i = 0; i < kLimiters.size(); ++i) {
    const auto blocks = c[i + 1];
    if (!blocks || *blocks <= 0 || (smallest.blocks > 0 && *blocks >= smallest.blocks)) continue;
    smallest = kLimiters[i];
    smallest.blocks = *blocks;
  }
  return smallest;
}

// Occupancy hides latency: where issue slots are full, or warps are few by design, it is no cause.
bool occupancy_is_beside_the_point(const Case& c) {
  constexpr double kIssueBusy = 0.8;
  return c.facts().issue.value_or(0) >= kIssueBusy || c.warp_specialised();
}

bool low_theoretical_occupancy(const Case& c, Hit& hit) {
  if (!c[0] || *c[0] <= 0 || *c[0] >= c.threshold() || occupancy_is_beside_the_point(c)) return false;
  const auto limiter = occupancy_limiter(c);
  hit.share = std::min(1 - *c[0] / 100, c.idle());
  hit.action = limiter.action;
  hit.why = limiter.blocks > 0
                ? fmt::format("at most {:.0f} % of the warp slots can be filled: {} allow {:.0f} {} per SM", *c[0],
                              limiter.name, limiter.blocks, limiter.blocks == 1 ? "block" : "blocks")
                : fmt::format("at most {:.0f} % of the warp slots can be filled", *c[0]);
  return true;
}

constexpr std::array<Names, 2> kAchievedMetrics = {"sm__warps_active.avg.pct_of_peak_sustained_active",
                                                   "sm__maximum_warps_per_active_cycle_pct"};

bool achieved_below_theoretical(const Case& c, Hit& hit) {
  if (!c.has({0, 1}) || *c[1] - *c[0] <= c.threshold() || occupancy_is_beside_the_point(c)) return false;
  hit.share = std::min(1 - *c[0] / *c[1], c.idle());
  hit.why = fmt::format(
      "{:.0f} % of the warp slots were filled where {:.0f} % could be: uneven blocks, a tail, or "
      "blocks too short to overlap",
      *c[0], *c[1]);
  return true;
}

// ---------------------------------------------------------------- imbalance

constexpr std::array<Names, 12> kImbalanceMetrics = {
    "sm__cycles_active.avg",    "sm__cycles_active.max",     "sm__cycles_elapsed.max",  "l1tex__cycles_active.avg",
    "l1tex__cycles_active.max", "l1tex__cycles_elapsed.max", "lts__cycles_active.avg",  "lts__cycles_active.max",
    "lts__cycles_elapsed.max",  "dram__cycles_active.avg",   "dram__cycles_active.max", "dram__cycles_elapsed.max"};

bool imbalance(const Case& c, Hit& hit) {
  constexpr std::array<std::string_view, 4> kUnits = {"SMs", "L1 caches", "L2 slices", "DRAM channels"};
  double worst = 0;
  std::size_t unit = 0;
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    const auto average = c[3 * i];
    const auto most = c[3 * i + 1];
    if (!average || !most || *most <= 0) continue;
    const double elapsed = std::max(c[3 * i + 2].value_or(*most), *most);
    const double gain = (*most - *average) / elapsed;
    if (gain > worst) {
      worst = gain;
      unit = i;
    }
  }
  if (worst < c.threshold()) return false;
  hit.share = worst;
  hit.only = 3 * unit + 1;
  hit.extra = {{std::string(kImbalanceMetrics[3 * unit]), c[3 * unit], "cycle"}};
  hit.why = fmt::format("the busiest of the {} is active {:.0f} % longer than the average", kUnits[unit],
                        100 * (*c[3 * unit + 1] / std::max(1.0, *c[3 * unit]) - 1));
  return true;
}

constexpr std::array<Rule, 7> kRules = {{
    {{"small-grid", "cause", "Fewer blocks than SMs", kGridMetrics, "blocks and SMs of the launch", 1.0,
      "blocks / SMs < 1", kLaunchConfiguration,
      "Launch at least as many blocks as SMs: smaller tiles, split the reduction dimension, or batch more work.",
      "Halve the tile or split K by 2 and compare the time; for tiny problems fuse or batch instead.",
      GainList::same_work},
     small_grid,
     false},
    {{"few-blocks", "advice", "Fewer than two blocks per SM", kGridMetrics, "blocks and SMs of the launch", 2.0,
      "1 <= blocks / SMs < 2, not a persistent kernel", kLaunchConfiguration,
      "Use smaller blocks or tiles so that each SM has a second block to run while the first one waits.",
      "Halve the tile size and compare the time.", GainList::none},
     few_blocks,
     false},
    {{"tail-wave",
      "cause",
      "Partly filled last wave",
      kWaveMetrics,
      {},
      0.20,
      "1 / (1 + full waves) >= 20 % and at least 5 % of the time lost",
      kLaunchConfiguration,
      "Choose grid and tile so that waves are full, or make the kernel persistent.",
      "Try the next smaller tile; compare the waves per SM and the time.",
      GainList::same_work},
     tail,
     false},
    {{"block-size", "advice", "Block size is no multiple of a warp", kBlockMetrics, "threads of the block", 32.0,
      "threads per block % 32 != 0", kLaunchConfiguration, "Round the block size up to a multiple of 32 threads.",
      "Change the block size alone and compare the time.", GainList::same_work},
     block_size,
     false},
    {{"low-theoretical-occupancy", "cause", "Few warps fit on an SM", kTheoreticalMetrics,
      "issue slots, tensor and bulk-copy work", 80.0,
      "theoretical occupancy < 80 %; not where issue slots are >= 80 % busy, nor for one block per SM of matrix or "
      "bulk-copy work",
      "Nsight Compute rule TheoreticalOccupancy; exceptions ours", "Let more warps fit on an SM.",
      "Cap the registers (or shrink the tile) one step and compare the time, not the occupancy.", GainList::same_work},
     low_theoretical_occupancy,
     false},
    {{"achieved-below-theoretical", "cause", "Warp slots stay empty", kAchievedMetrics, "issue slots", 10.0,
      "theoretical - achieved occupancy > 10 points; same exceptions", "Nsight Compute rule AchievedOccupancy",
      "Even out the work per block, launch more and smaller blocks, or merge blocks that are too short.",
      "Compare the active cycles of the SMs (min, average, max) and the waves.", GainList::same_work},
     achieved_below_theoretical,
     false},
    {{"imbalance",
      "cause",
      "Units work unevenly",
      kImbalanceMetrics,
      {},
      0.05,
      "(max - average active cycles) / elapsed >= 5 %",
      "Nsight Compute rule for workload imbalance",
      "Spread the work: equal pieces per block for SMs, another layout or stride where slices or channels camp.",
      "Permute or shuffle the assignment of work to blocks and compare the spread.",
      GainList::same_work},
     imbalance,
     false},
}};

}  // namespace

std::span<const Rule> parallelism_rules() { return kRules; }

}  // namespace roofline::diagnosis
