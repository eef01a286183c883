// Which of our rules asks the same question as a rule that Nsight Compute stores in its reports.
#include <algorithm>
#include <array>

#include "roofline/diagnosis.h"

namespace roofline {
namespace {

using Ids = std::span<const std::string_view>;

struct Counterpart {
  std::string_view nvidia;
  Ids ours;
};

constexpr std::array<std::string_view, 1> kStall = {"top-stall"};
constexpr std::array<std::string_view, 1> kIssue = {"issue-slots"};
constexpr std::array<std::string_view, 1> kTheoretical = {"low-theoretical-occupancy"};
constexpr std::array<std::string_view, 1> kAchieved = {"achieved-below-theoretical"};
constexpr std::array<std::string_view, 2> kOccupancy = {"low-theoretical-occupancy", "achieved-below-theoretical"};
constexpr std::array<std::string_view, 4> kLaunch = {"small-grid", "few-blocks", "tail-wave", "block-size"};
constexpr std::array<std::string_view, 4> kGlobal = {"excessive-sectors", "uncoalesced-global-loads",
                                                     "uncoalesced-global-stores", "partial-sectors"};
constexpr std::array<std::string_view, 2> kShared = {"shared-bank-conflicts-loads", "shared-bank-conflicts-stores"};
constexpr std::array<std::string_view, 1> kFma = {"unfused-multiply-add"};
constexpr std::array<std::string_view, 1> kDivergence = {"divergence"};
constexpr std::array<std::string_view, 1> kImbalance = {"imbalance"};
constexpr std::array<std::string_view, 2> kPipes = {"special-functions", "wrong-pipe"};
constexpr std::array<std::string_view, 1> kDouble = {"fp64-in-fp32"};

constexpr std::array<Counterpart, 18> kCounterparts = {{
    {"CPIStall", kStall},
    {"IssueSlotUtilization", kIssue},
    {"TheoreticalOccupancy", kTheoretical},
    {"AchievedOccupancy", kAchieved},
    {"Occupancy", kOccupancy},
    {"LaunchConfiguration", kLaunch},
    {"LaunchStatistics", kLaunch},
    {"UncoalescedGlobalAccess", kGlobal},
    {"UncoalescedAccess", kGlobal},
    {"MemoryCacheAccessPattern", kGlobal},
    {"SharedMemoryConflicts", kShared},
    {"UncoalescedSharedAccess", kShared},
    {"FPInstructions", kFma},
    {"ThreadDivergence", kDivergence},
    {"WorkloadImbalance", kImbalance},
    {"Imbalance", kImbalance},
    {"HighPipeUtilization", kPipes},
    {"SOLFPRoofline", kDouble},
}};

}  // namespace

std::span<const std::string_view> counterparts(std::string_view nvidia_rule) {
  const auto* it = std::find_if(kCounterparts.begin(), kCounterparts.end(),
                                [&](const Counterpart& c) { return c.nvidia == nvidia_rule; });
  return it == kCounterparts.end() ? Ids{} : it->ours;
}

}  // namespace roofline
