// Are issue slots lost, and to what?
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diagnosis/case.h"

namespace roofline::diagnosis {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 3> kIssueMetrics = {"smsp__issue_active.avg.per_cycle_active",
                                                "smsp__warps_active.avg.per_cycle_active",
                                                "smsp__warps_eligible.avg.per_cycle_active"};

// A unit that is busy already is the cause; that issue slots stay free is then a consequence.
constexpr double kUnitBusy = 0.80;

bool issue_slots(const Case& c, Hit& hit) {
  if (!c[0] || *c[0] >= c.threshold() || c.facts().busiest.value_or(0) >= kUnitBusy) return false;
  hit.share = std::min(1 - *c[0], c.idle());
  hit.why = fmt::format("a scheduler issues an instruction every {:.1f} cycles", 1 / std::max(*c[0], 1e-9));
  if (c[1]) hit.why += fmt::format("; of {:.1f} resident warps", *c[1]);
  if (c[1] && c[2]) hit.why += fmt::format(" {:.2f} are ready to issue", *c[2]);
  return true;
}

// ---------------------------------------------------------------- the top stall

struct Stall {
  std::string_view name;
  std::string_view meaning;
  std::string_view remedy;
};

constexpr std::array<Stall, 16> kStalls = {{
    {"long_scoreboard", "waiting for global or local memory",
     "Coalesce, prefetch, and keep more loads in flight (unroll, wider loads, asynchronous copies)."},
    {"short_scoreboard", "waiting for shared memory or a special-function result",
     "Remove bank conflicts, keep values in registers, use fewer special functions."},
    {"mio_throttle", "the queue of shared memory and special functions is full",
     "Use fewer, wider shared accesses; spread special functions among other work."},
    {"lg_throttle", "the queue of global and local accesses is full",
     "Issue fewer and wider global accesses (16 bytes per thread); stop spills."},
    {"tex_throttle", "the texture queue is full", "Issue fewer texture accesses, or load through L1 instead."},
    {"math_pipe_throttle", "the arithmetic pipe is taken",
     "Good if it is the right pipe; else move work to tensor cores or another pipe."},
    {"barrier", "waiting for other warps at a barrier",
     "Even out the work before barriers, use smaller blocks, or split the barrier."},
    {"membar", "waiting for a memory fence", "Use fewer or narrower fences."},
    {"wait", "fixed latency of the instruction before", "Interleave independent work: unroll for more parallelism."},
    {"no_instruction", "waiting for instructions", "Shrink huge code or unrolling; for tiny kernels fuse them."},
    {"branch_resolving", "waiting for a branch", "Use fewer branches: predicate, unroll."},
    {"dispatch_stall", "the dispatcher holds back", "Change the mix of instructions; check register bank conflicts."},
    {"drain", "waiting for stores to finish at exit", "Coalesce the final stores; write less at the end."},
    {"sleeping", "warps sleep", "Check spin and sleep loops."},
    {"imc_miss", "misses in the constant cache", "Make constant accesses uniform and few."},
    {"gmma", "waiting for warp-group matrix operations",
     "Good if tensor cores are busy; else overlap more with copies and the epilogue."},
}};

// Stall i stands at metric 2 + i.
constexpr std::array<Names, 2 + kStalls.size()> kStallMetrics = {
    "smsp__issue_active.avg.per_cycle_active",
    "smsp__average_warp_latency_per_inst_issued.ratio",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_drain_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio"};

bool top_stall(const Case& c, Hit& hit) {
  constexpr double kIssueBusy = 0.80;
  if (!c[0] || *c[0] >= kIssueBusy || c.or_zero(1) <= 0) return false;
  std::size_t top = 0;
  double most = 0;
  for (std::size_t i = 0; i < kStalls.size(); ++i)
    if (c.or_zero(2 + i) > most) {
      most = *c[2 + i];
      top = i;
    }
  const double share = std::min(1.0, most / *c[1]);
  if (share <= c.threshold()) return false;
  hit.share = std::min(share, c.idle());
  hit.only = 2 + top;
  hit.extra = {{std::string(kStallMetrics[1]), c[1], ""}};
  hit.action = kStalls[top].remedy;
  hit.why = fmt::format("{:.0f} % of the cycles between two instructions of a warp: {} ({})", 100 * share,
                        kStalls[top].meaning, kStalls[top].name);
  return true;
}

constexpr std::array<Rule, 2> kRules = {{
    {{"issue-slots", "cause", "Issue slots are lost", kIssueMetrics, "busiest unit", 0.60,
      "instructions issued per active cycle < 0.6, no unit >= 80 % busy", "Nsight Compute rule IssueSlotUtilization",
      "More warps per scheduler, or more independent instructions per warp.",
      "Unroll the inner loop by 2, or raise occupancy one step, and compare the time.", GainList::same_work},
     issue_slots,
     false},
    {{"top-stall", "cause", "What warps wait for", kStallMetrics, "busiest unit", 0.30,
      "issue slots used < 80 % and one reason > 30 % of the warp latency", "Nsight Compute rule CPIStall",
      "Remove the wait.", "Source page: the lines with most samples of this reason; look at what they wait for.",
      GainList::same_work},
     top_stall,
     false},
}};

}  // namespace

std::span<const Rule> scheduler_rules() { return kRules; }

}  // namespace roofline::diagnosis
