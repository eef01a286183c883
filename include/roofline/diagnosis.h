// Why a kernel stands where it stands, what to do about it, and how much time that is worth.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/document.h"
#include "roofline/launch.h"
#include "roofline/placement.h"
#include "roofline/profile.h"
#include "roofline/report.h"
#include "roofline/thresholds.h"

namespace roofline {

// --- positions ---

// What a position tells you to do. One row of a table, in words for people.
struct PositionAdvice {
  Position position;
  std::string_view diagnosis;  // what the position means
  std::string_view action;     // what to do
  std::string_view futile;     // what will not help
};
const PositionAdvice& position_advice(Position position);

// --- causes ---

// Which of the two lists a rule's estimate belongs to. They are never added up.
enum class GainList : std::uint8_t {
  none,       // a fact or advice without an estimate
  same_work,  // the same work done better: at most time - max(roof time, launch floor)
  less_work,  // fewer bytes, fewer launches: the roof itself moves
};
std::string_view to_string(GainList list);

// One rule of the registry, for documentation and for `collect`.
struct RuleInfo {
  std::string_view id;    // stable slug
  std::string_view kind;  // "cause", "pitfall", "advice"
  std::string_view title;
  std::span<const std::string_view> metrics;  // names from data/metrics.csv that the rule reads; may be empty
  std::string_view reads;                     // what it reads of the counted work and its placement; may be empty
  double threshold;
  std::string_view condition;  // the threshold in words
  std::string_view source;     // where the threshold comes from
  std::string_view action;
  std::string_view next;  // the next experiment
  GainList list;
};
// In the order of triage: is there enough work, which unit, memory or compute detail, schedulers, measurement.
std::span<const RuleInfo> diagnosis_rules();

// One launch with what was made of it. `launch` may lack any metric: rules without their metrics say nothing.
struct DiagnosisInput {
  const Launch& launch;
  const DeviceInfo& device;
  const Work& work;            // of this launch
  const Placement& placement;  // of this launch
  const Thresholds& thresholds;
};

// Appends what the rules find to `out`, largest estimate first, those without one behind in the order of triage. Gains
// are of this launch, in seconds. Allocates only for rules that fire; thread-safe.
void diagnose(const DiagnosisInput& input, std::vector<Finding>& out);

// The same for a row that stands for several launches, judged by the one launch in `input`: estimates are scaled to the
// row's time and bounded by the row's own gain.
void diagnose_row(const DiagnosisInput& input, const PlacementGroup& group, std::vector<Finding>& out);

// --- pitfalls of the whole report ---

// What makes the report's numbers mean less than they seem to: clocks locked, caches flushed, modelled bytes, missing
// hierarchy, ... `command_lines` are the profilers', where recorded.
std::vector<Finding> report_pitfalls(const Report& report, std::span<const Profile> profiles);

// --- NVIDIA's own rules ---

// Ours that asks the same question as a rule stored in a report of Nsight Compute ("CPIStall"); empty when none does.
std::span<const std::string_view> counterparts(std::string_view nvidia_rule);

// Whether such a rule asks for a change (a warning or an optimization among its messages).
bool nvidia_objects(const RuleResult& rule);

// --- one kernel on one page ---

// Position with reason and action, every level with its time, findings, numbers with their evidence, the profiler's own
// rule results (may be empty) beside ours, and what to collect next. `row` is an index into report.rows (throws
// std::out_of_range); `collect` a command line, may be empty.
Document explain_document(const Report& report, std::size_t row, std::span<const RuleResult> nvidia,
                          std::string_view collect);

}  // namespace roofline
