// Views of the model: the step of a language model on a machine, sweeps, comparisons, and measurements beside it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/document.h"
#include "roofline/machine.h"
#include "roofline/model.h"
#include "roofline/report.h"
#include "roofline/thresholds.h"

namespace roofline::model {

// Share of the device memory that weights and KV cache may take: what serving engines leave free is for activations.
inline constexpr double kUsableMemory = 0.9;

// One step on one machine, with all that its views show.
struct Forecast {
  ModelConfig config;
  StepOptions options;
  Machine machine;
  Ceiling ceiling;  // datasheet
  Calibration calibration;
  Thresholds thresholds;
  StepPrediction step;
  std::optional<double> memory_bytes;  // of one device

  bool decode() const { return options.phase == Phase::decode; }
  // Whether weights and KV cache fit into the usable memory; nullopt when the memory is unknown.
  std::optional<bool> fits() const;
  // Seconds of a launch that does nothing, as this machine's constants have it.
  double launch_floor_s() const { return calibration.of(OperatorClass::elementwise).launch_s; }
  // Whether the kernels of this row are too small for a share of the roof to mean anything.
  bool launch_bound(const StepRow& row) const;
};

// A machine by its catalogue name. Throws UsageError, naming close ones.
const Machine& find_machine(const std::string& name);
// A number format by name. Throws UsageError listing those known.
const Scheme& named_scheme(std::string_view name);
const KvFormat& named_kv_format(std::string_view name);

// Predicts under the machine's datasheet ceiling. Without `calibration` the machine's own constants serve, or scaled
// ones. Throws UsageError for options that do not fit model or machine.
Forecast make_forecast(const ModelConfig& config, const StepOptions& options, const Machine& machine,
                       const std::optional<Calibration>& calibration, const Thresholds& thresholds);

// As a report: one row per operator at its predicted time, every quantity of evidence `model`.
Report forecast_report(const Forecast& forecast);
// Operators with bound and prediction, the step, tokens/s, memory, where the constants come from.
Document forecast_document(const Forecast& forecast, SortKey sort);

// ---------------------------------------------------------------- sweeps

enum class AxisKind : std::uint8_t { batch, context, query_length, tp, ep, dtype, kv_dtype, machine };
struct Axis {
  AxisKind kind;
  std::vector<std::string> values;
};
// "batch=1,8,64". Throws UsageError: unknown axis, no or bad values.
Axis parse_axis(std::string_view text);
std::string_view to_string(AxisKind kind);

struct SweepInput {
  ModelConfig config;
  StepOptions options;
  Machine machine;
  std::optional<Calibration> calibration;
  Thresholds thresholds;
};
struct SweepPoint {
  std::vector<std::string> at;  // one value per axis
  StepOptions options;
  const Machine* machine = nullptr;
  StepTotals totals;
  double tokens = 0;
  Footprint memory;
  std::optional<double> memory_bytes;
  std::string problem;  // why this point cannot be; empty when it can
};
struct Sweep {
  std::vector<Axis> axes;
  std::vector<SweepPoint> points;  // the last axis runs fastest
};
inline constexpr std::size_t kMaxSweepPoints = 1000000;
// Throws UsageError for more than kMaxSweepPoints points, or when no point at all can be.
Sweep run_sweep(const SweepInput& input, std::span<const Axis> axes);
// Points, then for every operator its intensity along the first axis and the batch at which it meets its ridge.
Document sweep_document(const SweepInput& input, const Sweep& sweep);

// One row per point that can be, the whole step at its predicted time: for a chart whose points are joined in order.
// Throws UsageError for more points than a chart shows, or for several machines.
Report sweep_report(const SweepInput& input, const Sweep& sweep);

// ---------------------------------------------------------------- two forecasts

// `input` with the first value of `axis`.
SweepInput with_axis(const SweepInput& input, const Axis& axis);
// What the change brings, per operator and for the step, bound and predicted, and what it leaves untouched.
Document comparison_document(const Forecast& base, const Forecast& changed, std::string_view change);

// ---------------------------------------------------------------- measured throughput

// The whole system's share of the bound, from tokens/s alone.
struct Throughput {
  double step_s = 0;
  double fraction = 0;   // bound / step; above 1 is impossible
  double outside_s = 0;  // step - predicted kernels; negative when faster than predicted
};
Throughput measured_throughput(const Forecast& forecast, double tokens_per_s);
Bullets throughput_notes(const Forecast& forecast, double tokens_per_s);

// ---------------------------------------------------------------- measured kernels beside the model

// Measured kernels of one operator, and what the model says of as many calls.
struct MatchedOperator {
  std::string name;
  std::string by;    // "name" (the row says it), "kernel name", "position in the layer"
  double calls = 0;  // measured
  bool time_modelled =
      false;          // none of its kernels was timed: the times are a model's, which says nothing of a prediction
  double time_s = 0;  // measured
  Quantity flops;     // counted; absent where a launch lacks them
  Quantity bytes;     // counted DRAM bytes
  double model_flops = 0;
  double model_bytes = 0;
  double roof_s = 0;       // of the model's work
  double predicted_s = 0;  // calibrated
};
struct UnmatchedKernel {
  std::string name;
  std::string reason;
  double launches = 0;
  double time_s = 0;
};
struct Match {
  std::vector<MatchedOperator> operators;  // in order of the step
  std::vector<UnmatchedKernel> unmatched;  // most time first
  std::vector<std::string> missing;        // operators of the model that no measured kernel is
  std::vector<std::string> assigned;       // the operator of each row of `measured`; empty where it has none
  double steps = 0;                        // that were measured: median of calls over the model's calls
};
// Assigns kernels by their own operator name, else by kernel-name families (data/kernel_names.csv) and, for matrix
// products, by their position in the layer. `measured` has one row per launch, in launch order (per_launch analysis),
// or rows that name their operator. Rows without a time are left out.
Match match_kernels(const Forecast& forecast, const Report& measured);
Document match_document(const Forecast& forecast, const Report& measured, const Match& match);
// The JSON report of `measured` with what the model says of it as a further field "model" (docs/json.md).
std::string match_json(const Forecast& forecast, const Report& measured, const Match& match);
// The measured operators as samples to fit constants from: those whose name has one shape only.
std::vector<Sample> samples_of(const Forecast& forecast, const Match& match);

// ---------------------------------------------------------------- what if, and what next

// Factors on what a kernel does: 0.6 is 40% less.
struct WorkChange {
  double flops = 1;
  double bytes = 1;
  double link_bytes = 1;
};
// What the changed work would save, kernel by kernel, each at its present fraction of the roof: time falls with the
// roof time, so operations that do not bind are worth nothing. `report` has one row per launch or operator.
Document what_if_document(const Report& report, const WorkChange& change);

struct PlanInput {
  std::optional<Report> measured;                      // of one step
  std::optional<Forecast> forecast;                    // of the same step
  std::optional<double> wall_s;                        // measured wall time of the step
  std::vector<std::string> machines;                   // catalogue names to weigh; empty: a few common ones
  std::vector<std::pair<std::string, double>> prices;  // machine and price per hour, any currency
};
enum class PlanVerdict : std::uint8_t { undecided, dont_buy_yet, buy };
struct PlanDecision {
  PlanVerdict verdict = PlanVerdict::undecided;
  std::string sentence;
};
// "buy" only where the step's wall time is measured, at least 90% of the kernel time is placed, by counters rather
// than by a model, no row of unknown FLOPs could turn it, and what is left in software is small.
PlanDecision decide(const PlanInput& input);
Document plan_document(const PlanInput& input);

}  // namespace roofline::model
