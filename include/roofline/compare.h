// Two reports side by side: what changed, what each kernel contributes to the change, and whether it is a regression.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "roofline/document.h"
#include "roofline/record.h"

namespace roofline {

// ---------------------------------------------------------------- noise

struct Interval {
  double low = 0;
  double high = 0;
};

// A quantity before and after, over the repeats of each side.
struct Change {
  std::optional<double> before, after;  // means over the repeats
  std::optional<double> ratio;          // after / before, of the geometric means; absent unless both are positive
  std::optional<Interval> interval;     // 95 % of the ratio, from the repeats; absent where the noise is unknown
  std::optional<double> noise;          // standard deviation of one run, relative; absent where it is unknown
  std::optional<double> noise_before, noise_after;  // the same of one side alone; absent where its runs do not tell it
  double freedom = 0;                               // degrees of freedom of `noise`; infinite where it was given
  double scale = 0;                                 // the variance of log(ratio) is scale * noise^2: 1/n + 1/m

  // Whether the interval excludes "no change". Never where the noise is unknown.
  bool significant() const { return interval && (interval->high < 1 || interval->low > 1); }
};

// Runs of one side.
struct GateSide {
  std::vector<StepRecord> repeats;  // runs of the same program on the same machine; at least one
};

// ---------------------------------------------------------------- what belongs together

enum class MatchKind : std::uint8_t {
  matched,    // one kernel on either side
  split,      // one became several
  merged,     // several became one
  regrouped,  // several became several others: the operator as a whole is compared
  appeared,
  vanished,
};
std::string_view to_string(MatchKind kind);

// What two kernels were recognised by, the surest first.
enum class MatchedBy : std::uint8_t {
  nothing,
  identity,        // operator, full name, grid and block
  name,            // operator and full name, another shape
  family,          // operator, name family, grid and block: template arguments, tiles, architecture aside
  family_only,     // operator and name family, another shape
  op,              // the operator that both sides name
  operator_class,  // the operator that the kernel names stand for, doing like work
  work,            // grid, block, operations and bytes
  parts,           // one does what several did: data/kernel_parts.csv, names that list what was fused
  alone,           // the only kernel on either side
  request,         // CompareOptions::same
};
std::string_view to_string(MatchedBy by);

// A kernel as people name it across versions: no template arguments, tile sizes, architecture prefixes, counters and
// hashes. Rules: data/name_families.csv. Any bytes; linear time.
std::string name_family(std::string_view full_name);

// All rows of one side that are one kernel with one shape, over all repeats. The rows of one repeat are added up: those
// of several devices or ranks, of several inputs, and single launches.
struct SideKernel {
  std::string name, full_name, op, family;
  Dim3 grid, block;
  KernelRecord mean;  // over the repeats; a value that is missing in any of them is absent
  // One per repeat; absent where unknown. A repeat that did not run the kernel has time and launches 0.
  std::vector<std::optional<double>> time_s, launches, flops, dram_bytes, link_bytes;
  std::vector<std::optional<double>> roof_time_s;  // fraction x time
};

// What a kernel's change of time is made of. The parts add up to `total_s` exactly.
struct Effect {
  double total_s = 0;        // after - before; negative is faster
  double work_s = 0;         // the roof time changed: more or less work, or launches, at the share of the roof before
  double efficiency_s = 0;   // the rest: the same work nearer to or farther from its roof
  bool split_known = false;  // else all is in efficiency_s, for want of a comparable roof time
  bool known = false;        // else a side has no time: all is 0, and means nothing
};

struct ComparedKernel {
  MatchKind kind = MatchKind::matched;
  MatchedBy by = MatchedBy::nothing;
  std::vector<std::size_t> before, after;  // indices into Comparison::before and ::after
  Change time_s;                           // of all launches
  // Per launch. Of a group per call: as often as that kind of its kernels was launched that was launched least, kinds
  // with little of the group's time aside.
  Change call_time_s;
  Change launches;  // of a group: of all kernels that are named as its longest one
  Change flops, dram_bytes, link_bytes;
  Change fraction;  // absent on a side where it is unknown; see fraction_bound
  Bound fraction_bound_before = Bound::exact, fraction_bound_after = Bound::exact;
  bool fraction_comparable = false;  // same machine, ceiling kind and clock
  Position position_before = Position::unplaced, position_after = Position::unplaced;
  Effect effect;
  std::vector<std::string> what_changed;  // sentences without a full stop
  std::string worthless;  // "FLOPs -40 % of a memory-bound kernel: worth 0 µs"; empty where nothing of the kind
};

struct ComparedSide {
  std::vector<std::string> inputs, machines;
  std::size_t repeats = 0;
  CeilingKind ceiling = CeilingKind::datasheet;
  std::optional<double> clock_hz;  // median over the kernels' time
  std::optional<double> time_s;    // mean over repeats: the sum of all kernels that have a time
  std::optional<double> fraction;  // as the report says
  Bound bound = Bound::exact;
  double placed_time_share = 0;
  std::size_t untimed_kernels = 0;            // without a time: in no sum
  bool model = false;                         // a prediction, not a measurement
  TimeBasis time_basis = TimeBasis::unknown;  // of most time
  std::string tool_version, catalogue_version;
  // Why its repeats are no repeats of one thing: several machines, roofs, clocks, catalogues; "of several machines: A,
  // B".
  std::vector<std::string> mixed;
};

struct CompareOptions {
  std::size_t top = 0;          // rows of the document's table (0: all)
  double negligible = 0.001;    // of the time before: rows below this change are only counted in the document
  std::optional<double> noise;  // relative standard deviation of one run, where it is known from elsewhere
  // Kernels to be taken as one, before and after: by operator, full name, short name or name family.
  std::vector<std::pair<std::string, std::string>> same;
};

struct Comparison {
  ComparedSide side_before, side_after;
  std::vector<SideKernel> before, after;  // most time first
  std::vector<ComparedKernel> kernels;    // largest effect first
  Change time_s;                          // of the kernels that are timed on both sides, new and vanished ones included
  Change fraction;                        // of the whole, as the reports say
  Effect total;                           // the exact sum of the kernels' effects; as time_s
  bool comparable = false;           // same machine, ceiling kind and clock: fractions may be set against each other
  std::vector<std::string> caveats;  // why not, what else to mind; sentences without a full stop
};

// Time and memory grow linearly with the rows. Throws UsageError for a side without repeats, and where a name in
// CompareOptions::same is no kernel's.
Comparison compare(const GateSide& before, const GateSide& after, const CompareOptions& options = {});

Document comparison_document(const Comparison& comparison, const CompareOptions& options = {});
std::string comparison_json(const Comparison& comparison);  // schema roofline/compare/1, docs/compare.md

// Only the kernels whose full name matches this expression (RE2); the sums are made anew. Throws UsageError for a bad
// expression, or where it matches nothing.
void keep_kernels(StepRecord& record, const std::string& expression);

// One side as a report of one row per kernel, as far as a chart needs one; row i is kernel i. The machine is looked up
// by name in `machines`, then in the catalogue.
Report chart_report(const ComparedSide& side, std::span<const SideKernel> kernels,
                    std::span<const Machine> machines = {});

// ---------------------------------------------------------------- predicted and measured

// How close a prediction came, operator by operator.
struct PredictedKernel {
  std::string name;
  MatchedBy by = MatchedBy::nothing;
  double calls = 0;                   // measured launches
  double measured_s = 0;              // of these launches
  std::optional<double> bound_s;      // the prediction's roof time for as many calls
  std::optional<double> predicted_s;  // the calibrated prediction for as many calls
};
struct PredictionScore {
  std::vector<PredictedKernel> kernels;                    // most measured time first
  std::vector<std::string> only_predicted, only_measured;  // names
  double steps = 1;                        // that were measured: median of calls over the prediction's calls
  double matched_time_share = 0;           // of the measured time
  std::optional<double> mean_error;        // of |predicted/measured - 1|, weighted by measured time
  std::optional<double> mean_bound_error;  // the same of the bound
  std::optional<double> total_ratio;       // predicted / measured over the matched kernels
  std::vector<std::string> caveats;
};
bool is_prediction(const StepRecord& record);
PredictionScore score_prediction(const StepRecord& prediction, const GateSide& measured);
Document prediction_document(const PredictionScore& score);
std::string prediction_json(const PredictionScore& score);  // schema roofline/prediction/1, docs/compare.md

// ---------------------------------------------------------------- the gate

enum class GateVerdict : std::uint8_t { pass, improved, drop, inconclusive };
std::string_view to_string(GateVerdict verdict);

// What one kernel may do; overrides GateOptions::max_drop.
struct KernelBudget {
  std::optional<double> max_drop;      // relative: 0.05 lets 90 % fall to 85.5 %
  std::optional<double> min_fraction;  // 0..1
  std::optional<double> max_time_s;    // of all launches of one shape
};

struct GateOptions {
  double max_drop = 0.05;  // relative drop of the fraction that is let pass
  std::size_t top = 5;     // kernels of the baseline with most time; 0: all
  // By operator, full name, short name or name family; always judged. Where several name one kernel, the strictest
  // limit of each kind holds.
  std::map<std::string, KernelBudget> budget;
  std::optional<double> noise;  // relative standard deviation of one run, known from elsewhere
  double false_alarms = 0.005;  // nominal chance that a run without a change is called a drop, all kernels together
};

struct GateFinding {
  std::string before_name, after_name;  // short; empty where there is none
  std::string family, op;
  GateVerdict verdict = GateVerdict::pass;
  MatchKind kind = MatchKind::matched;
  MatchedBy by = MatchedBy::nothing;
  double time_share = 0;  // of the baseline's time
  Change fraction, call_time_s;
  std::optional<double> chance;           // that noise alone looks like this drop, corrected for the number of kernels
  std::vector<std::string> reasons;       // why this verdict
  std::vector<std::string> what_changed;  // position, bytes, FLOPs, precision, name, clock
};

struct GateResult {
  GateVerdict verdict = GateVerdict::pass;
  std::vector<GateFinding> findings;  // of the judged kernels: drops first, then by time
  std::size_t judged = 0;             // kernels that got pass, improved or drop
  double judged_time_share = 0;       // of the baseline's time
  std::vector<std::string> reasons;   // about the whole: machine, clock, repeats
  std::string sentence;               // the verdict in one line
};

// Throws UsageError for a side without repeats, or options out of range.
GateResult gate(const GateSide& baseline, const GateSide& candidate, const GateOptions& options);

Document gate_document(const GateResult& result);

}  // namespace roofline
