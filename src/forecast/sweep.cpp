#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "forecast/cells.h"
#include "roofline/error.h"
#include "roofline/forecast.h"
#include "roofline/machines.h"

namespace roofline::model {
namespace {

constexpr std::array<std::string_view, 8> kAxisNames = {"batch", "context", "query-length", "tp",
                                                        "ep",    "dtype",   "kv-dtype",     "machine"};
constexpr std::size_t kShownValues = 8;       // of the first axis, in the table of operators
constexpr Count kMostBatch = Count{1} << 20;  // ridge batches are sought up to here

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  while (true) {
    const auto comma = text.find(',');
    out.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

Count whole_number(AxisKind kind, const std::string& text) {
  Count value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    throw UsageError(fmt::format("{}={}: expected a whole number from 1", to_string(kind), text));
  return value;
}

bool numeric(AxisKind kind) { return kind <= AxisKind::ep; }

void apply(AxisKind kind, const std::string& value, StepOptions& options, const Machine*& machine) {
  switch (kind) {
    case AxisKind::batch:
      options.batch = whole_number(kind, value);
      return;
    case AxisKind::context:
      options.context = whole_number(kind, value);
      return;
    case AxisKind::query_length:
      options.query_length = whole_number(kind, value);
      return;
    case AxisKind::tp:
      options.tp = whole_number(kind, value);
      return;
    case AxisKind::ep:
      options.ep = whole_number(kind, value);
      return;
    case AxisKind::dtype:
      options.scheme = &named_scheme(value);
      return;
    case AxisKind::kv_dtype:
      options.kv = &named_kv_format(value);
      return;
    case AxisKind::machine:
      machine = &find_machine(value);
      return;
  }
}

// One evaluator per machine: each keeps its operators between points.
class Evaluators {
 public:
  explicit Evaluators(const SweepInput& input) : input_(input) {}

  struct Entry {
    Evaluator evaluator;
    std::optional<double> memory_bytes;
  };
  Entry& of(const Machine& machine) {
    const auto it = entries_.find(&machine);
    if (it != entries_.end()) return it->second;
    const auto* ceiling = machine.ceiling(CeilingKind::datasheet);
    if (ceiling == nullptr) throw UsageError("no datasheet limits known");
    auto calibration = input_.calibration && machine.id == input_.machine.id ? *input_.calibration
                                                                             : calibration_for(machine, *ceiling);
    std::optional<double> memory;
    if (const auto* known = MachineCatalogue::instance().find(machine.id))
      memory = MachineCatalogue::instance().facts(*known).value("memory");
    return entries_.emplace(&machine, Entry{Evaluator(input_.config, Roofs(*ceiling), std::move(calibration)), memory})
        .first->second;
  }

 private:
  const SweepInput& input_;
  std::map<const Machine*, Entry> entries_;
};

void evaluate(const SweepInput& input, Evaluators& evaluators, SweepPoint& point) {
  try {
    auto& entry = evaluators.of(*point.machine);
    point.totals = entry.evaluator.evaluate(point.options);
    point.memory_bytes = entry.memory_bytes;
    point.memory = footprint(input.config, point.options);
    const bool decode = point.options.phase == Phase::decode;
    point.tokens = static_cast<double>(point.options.batch * (decode ? 1 : query_length_of(point.options)));
  } catch (const UsageError& e) {
    point.problem = e.what();
  }
}

std::size_t count_points(std::span<const Axis> axes) {
  std::size_t n = 1;
  for (const auto& axis : axes) {
    n *= axis.values.size();
    if (n > kMaxSweepPoints) throw UsageError(fmt::format("a sweep of more than {} points", kMaxSweepPoints));
  }
  return n;
}

SweepPoint point_at(const SweepInput& input, std::span<const Axis> axes, std::size_t index) {
  SweepPoint point;
  point.options = input.options;
  point.machine = &input.machine;
  point.at.resize(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    const auto n = axes[a].values.size();
    point.at[a] = axes[a].values[index % n];
    index /= n;
    apply(axes[a].kind, point.at[a], point.options, point.machine);
  }
  return point;
}

// ---------------------------------------------------------------- tables

std::string key_of(std::string_view axis) {
  std::string key(axis);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

Cell axis_cell(const Axis& axis, const std::string& value) {
  if (!numeric(axis.kind)) return cells::text(value);
  return {value, static_cast<double>(whole_number(axis.kind, value))};
}

Cell memory_cell(const SweepPoint& point) {
  if (!point.memory_bytes) return cells::text("unknown");
  const bool fits = point.memory.total() <= kUsableMemory * *point.memory_bytes;
  return cells::text(fits ? "fits" : "does not fit", fits ? Tone::normal : Tone::warn);
}

std::vector<Cell> point_cells(const Sweep& sweep, const SweepPoint& point) {
  using namespace cells;
  std::vector<Cell> row;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) row.push_back(axis_cell(sweep.axes[a], point.at[a]));
  if (!point.problem.empty()) {
    row.resize(row.size() + 8);
    row.push_back(text(point.problem, Tone::warn));
    return row;
  }
  const auto& t = point.totals;
  const auto rate = [&](double s) { return Cell{numbers::count(std::round(point.tokens / s)), point.tokens / s}; };
  for (auto cell : {amount(t.operations, ""), amount(t.bytes, "B"), ratio(t.operations / t.bytes), seconds(t.roof_s),
                    seconds(t.predicted_s), rate(t.roof_s), rate(t.predicted_s), amount(point.memory.total(), "B"),
                    memory_cell(point)})
    row.push_back(std::move(cell));
  return row;
}

Table point_table(const Sweep& sweep) {
  using namespace cells;
  Table table;
  for (const auto& axis : sweep.axes) {
    const auto name = to_string(axis.kind);
    table.columns.push_back(numeric(axis.kind) ? number(name, key_of(name)) : words(name, key_of(name)));
  }
  for (auto column :
       {number("FLOPs", "flops", 3), number("Bytes", "dram_bytes", 2), number("FLOP/B", "intensity_flop_per_byte"),
        number("Bound", "roof_time_s"), number("Predicted", "time_s"), number("Tokens/s ≤", "bound_tokens_per_s"),
        number("Predicted/s", "predicted_tokens_per_s"), number("Memory", "memory_bytes", 1),
        words("", "memory_fit", 1)})
    table.columns.push_back(std::move(column));
  for (const auto& point : sweep.points) table.rows.push_back(point_cells(sweep, point));
  return table;
}

// Intensity of all operators of a name together, in one step.
using Intensities = std::map<std::string_view, double>;
Intensities intensities(const ModelConfig& config, const StepOptions& options) {
  std::vector<Operator> operators;
  build_step(config, options, operators);
  std::map<std::string_view, std::pair<double, double>> sums;
  for (const auto& op : operators) {
    auto& [work, bytes] = sums[op.name];
    work += op.calls * op.operations;
    bytes += op.calls * op.bytes();
  }
  Intensities out;
  for (const auto& [name, sum] : sums) out[name] = sum.second > 0 ? sum.first / sum.second : 0;
  return out;
}

// Points along the first axis, the others at their first value.
std::vector<const SweepPoint*> first_axis_points(const Sweep& sweep) {
  const auto stride = sweep.points.size() / sweep.axes.front().values.size();
  std::vector<const SweepPoint*> out;
  for (std::size_t i = 0; i < sweep.points.size() && out.size() < kShownValues; i += stride)
    if (sweep.points[i].problem.empty()) out.push_back(&sweep.points[i]);
  return out;
}

struct OperatorRidge {
  std::string_view name;
  double ridge = 0;  // FLOP/B
  std::optional<Count> batch;
};

std::vector<OperatorRidge> ridges(const SweepInput& input, const SweepPoint& point) {
  const Roofs roofs(*point.machine->ceiling(CeilingKind::datasheet));
  std::vector<Operator> operators;
  build_step(input.config, point.options, operators);
  std::vector<OperatorRidge> out;
  for (const auto& op : operators) {
    if (op.operations <= 0 || op.kind == OperatorClass::collective) continue;
    if (std::any_of(out.begin(), out.end(), [&](const auto& r) { return r.name == op.name; })) continue;
    out.push_back({op.name, roofs.peak(op.precision) / roofs.dram(),
                   ridge_batch(input.config, point.options, roofs, op.name, kMostBatch)});
  }
  return out;
}

Table operator_table(const SweepInput& input, const Sweep& sweep, const std::vector<const SweepPoint*>& points,
                     const std::vector<OperatorRidge>& operators) {
  using namespace cells;
  const auto name = to_string(sweep.axes.front().kind);
  Table table;
  table.title = fmt::format("Intensity (FLOP/B) of each operator along {}", name);
  table.columns.push_back(words("Kernel", "kernel"));
  std::vector<Intensities> along;
  for (const auto* point : points) {
    const auto& value = point->at.front();
    table.columns.push_back(number(fmt::format("{} {}", name, value), fmt::format("{}_{}", key_of(name), value)));
    along.push_back(intensities(input.config, point->options));
  }
  table.columns.push_back(number("Ridge", "ridge_flop_per_byte"));
  table.columns.push_back(number("Ridge batch", "ridge_batch"));
  for (const auto& op : operators) {
    std::vector<Cell> row = {text(std::string(op.name))};
    for (const auto& at : along) {
      const auto it = at.find(op.name);
      row.push_back(it == at.end() ? Cell{} : ratio(it->second));
    }
    row.push_back(ratio(op.ridge));
    row.push_back(op.batch ? count(static_cast<double>(*op.batch)) : text("never", Tone::faint));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Bullets ridge_notes(const std::vector<OperatorRidge>& operators, const SweepPoint& point) {
  std::vector<std::string> reach;
  std::vector<std::string_view> never;
  for (const auto& op : operators) {
    if (op.batch)
      reach.push_back(fmt::format("{} from batch {}", op.name, *op.batch));
    else
      never.push_back(op.name);
  }
  Bullets out;
  const auto where = point.machine->id.empty() ? point.machine->name : point.machine->id;
  if (!reach.empty()) out.items.push_back({fmt::format("Compute-bound on {}: {}", where, fmt::join(reach, ", "))});
  if (!never.empty())
    out.items.push_back({fmt::format("Never (sought up to batch {}): {}", kMostBatch, fmt::join(never, ", "))});
  out.items.push_back(
      {fmt::format("Ridge batch at context {}, {}: where compute time first equals memory time", point.options.context,
                   point.options.phase == Phase::decode ? "decode" : "prefill")});
  out.items.push_back({"Evidence: model; does not fit: weights and KV cache above 90% of the memory of one GPU"});
  return out;
}

}  // namespace

std::string_view to_string(AxisKind kind) { return kAxisNames[static_cast<std::size_t>(kind)]; }

Axis parse_axis(std::string_view text) {
  const auto equals = text.find('=');
  const auto name = text.substr(0, equals);
  const auto* it = std::find(kAxisNames.begin(), kAxisNames.end(), name);
  if (equals == std::string_view::npos || it == kAxisNames.end())
    throw UsageError(fmt::format("'{}': expected NAME=VALUE,... with a name of {}", text, fmt::join(kAxisNames, ", ")));
  Axis axis{static_cast<AxisKind>(it - kAxisNames.begin()), split(text.substr(equals + 1))};
  StepOptions scratch;
  const Machine* machine = nullptr;
  for (const auto& value : axis.values) apply(axis.kind, value, scratch, machine);  // refuses what is unknown
  return axis;
}

Sweep run_sweep(const SweepInput& input, std::span<const Axis> axes) {
  std::set<AxisKind> seen;
  for (const auto& axis : axes)
    if (!seen.insert(axis.kind).second)
      throw UsageError(fmt::format("{} is swept twice; give all its values in one list", to_string(axis.kind)));
  Sweep sweep;
  sweep.axes.assign(axes.begin(), axes.end());
  const auto n = count_points(axes);
  sweep.points.reserve(n);
  Evaluators evaluators(input);
  bool any = false;
  for (std::size_t i = 0; i < n; ++i) {
    auto& point = sweep.points.emplace_back(point_at(input, axes, i));
    evaluate(input, evaluators, point);
    any |= point.problem.empty();
  }
  if (!any && !sweep.points.empty()) throw UsageError(sweep.points.front().problem);
  return sweep;
}

Document sweep_document(const SweepInput& input, const Sweep& sweep) {
  Document document;
  std::vector<std::string_view> names;
  for (const auto& axis : sweep.axes) names.push_back(to_string(axis.kind));
  document.title = fmt::format(
      "{} {} on {}, swept over {}", input.config.name, input.options.phase == Phase::decode ? "decode" : "prefill",
      input.machine.name.empty() ? input.machine.id : input.machine.name, fmt::join(names, " and "));
  document.blocks.emplace_back(point_table(sweep));
  const auto points = first_axis_points(sweep);
  if (points.empty()) return document;
  const auto operators = ridges(input, *points.front());
  document.blocks.emplace_back(operator_table(input, sweep, points, operators));
  document.blocks.emplace_back(ridge_notes(operators, *points.front()));
  return document;
}

Report sweep_report(const SweepInput& input, const Sweep& sweep) {
  constexpr std::size_t kMostPoints = 200;
  if (sweep.points.size() > kMostPoints)
    throw UsageError(fmt::format("a chart of {} points; it shows {} at most", sweep.points.size(), kMostPoints));
  Report report;
  report.thresholds = input.thresholds;
  report.catalogue_version = MachineCatalogue::instance().version();
  for (const auto& point : sweep.points) {
    if (!point.problem.empty()) continue;
    if (!report.machines.empty() && report.machines.front().id != point.machine->id)
      throw UsageError("a chart has the roofs of one machine: sweep machines as a table");
    const auto f = make_forecast(input.config, point.options, *point.machine, input.calibration, input.thresholds);
    std::vector<PlacedWork> parts;
    for (const auto& row : f.step.rows) parts.push_back({&row.group.work, &row.group.placement});
    KernelRow row;
    row.id = report.rows.size();
    row.machine = 0;
    for (std::size_t a = 0; a < sweep.axes.size(); ++a)
      row.name += fmt::format("{}{} {}", a > 0 ? ", " : "", to_string(sweep.axes[a].kind), point.at[a]);
    row.full_name = row.name;
    row.time_basis = TimeBasis::model;
    row.group = aggregate(parts, input.thresholds);
    if (report.machines.empty()) {
      report.machines.push_back(f.machine);
      report.inputs.push_back({input.config.name, "model", "roofline"});
    }
    report.rows.push_back(std::move(row));
  }
  sum_up(report);
  return report;
}

SweepInput with_axis(const SweepInput& input, const Axis& axis) {
  SweepInput out = input;
  const Machine* machine = nullptr;
  apply(axis.kind, axis.values.front(), out.options, machine);
  if (machine != nullptr) {
    out.machine = *machine;
    out.calibration.reset();
  }
  return out;
}

}  // namespace roofline::model
