#include <algorithm>

#include "roofline/model.h"

namespace roofline::model {
namespace {

// compute time / memory time of all operators of a name together.
bool compute_bound(std::span<const Operator> operators, const Roofs& roofs, std::string_view name) {
  double compute = 0;
  double memory = 0;
  for (const auto& op : operators) {
    if (op.name != name) continue;
    compute += op.calls * roofs.compute_time(op);
    memory += op.calls * roofs.memory_time(op);
  }
  return compute > 0 && compute >= memory;
}

}  // namespace

StepTotals totals(std::span<const Operator> operators, const Roofs& roofs, const Calibration* calibration) {
  StepTotals sum;
  for (const auto& op : operators) {
    sum.launches += op.calls * op.launches;
    sum.operations += op.calls * op.operations;
    sum.bytes += op.calls * op.bytes();
    sum.link_bytes += op.calls * op.link_bytes;
    sum.roof_s += op.calls * roofs.roof_time(op);
    if (calibration != nullptr) sum.predicted_s += op.calls * calibration->time(op, roofs);
  }
  return sum;
}

Evaluator::Evaluator(const ModelConfig& config, Roofs roofs, std::optional<Calibration> calibration)
    : config_(config), roofs_(std::move(roofs)), calibration_(std::move(calibration)) {}

StepTotals Evaluator::evaluate(const StepOptions& options) {
  build_step(config_, options, operators_);
  return totals(operators_, roofs_, calibration_ ? &*calibration_ : nullptr);
}

std::optional<double> ridge_tokens(const Operator& op, const Roofs& roofs) {
  if (op.m <= 0 || op.weight_bytes <= 0) return std::nullopt;
  const double ridge = roofs.peak(op.precision) / roofs.dram();
  const double per_token = op.operations / op.m;
  const double other = (op.bytes() - op.weight_bytes) / op.m;
  const double left = per_token - ridge * other;
  if (left <= 0) return std::nullopt;  // activations alone keep it memory-bound
  return ridge * op.weight_bytes / left;
}

std::optional<Count> ridge_batch(const ModelConfig& config, StepOptions options, const Roofs& roofs,
                                 std::string_view name, Count limit) {
  std::vector<Operator> operators;
  const auto bound_at = [&](Count batch) {
    options.batch = batch;
    build_step(config, options, operators);
    return compute_bound(operators, roofs, name);
  };
  if (!bound_at(limit)) return std::nullopt;
  Count low = 0;  // not bound here
  Count high = limit;
  while (high - low > 1) {
    const Count middle = low + (high - low) / 2;
    (bound_at(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace roofline::model
