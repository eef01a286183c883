#include <algorithm>

#include "roofline/model.h"

namespace roofline::model {
namespace {

const ProvenancePtr& modelled() {
  static const ProvenancePtr kModelled = std::make_shared<const Provenance>(
      Provenance{"compulsory", {}, "every operand read once, every result written once; small ones may stay in L2"});
  return kModelled;
}

const ProvenancePtr& calibrated() {
  static const ProvenancePtr kCalibrated = std::make_shared<const Provenance>(
      Provenance{"calibrated", {}, "launch floor plus bytes or operations at the rate such kernels reach"});
  return kCalibrated;
}

Quantity of_model(double value) { return Quantity::of(value, Evidence::model, modelled()); }

// One shape of one name, placed.
struct Piece {
  const Operator* op;
  double seconds;
  Work work;
  Placement placement;
};

StepRow make_row(std::string_view name, std::span<const Piece> pieces, const Thresholds& thresholds) {
  StepRow row;
  row.name = name;
  std::vector<PlacedWork> placed;
  for (const auto& piece : pieces) {
    if (piece.op->name != name) continue;
    if (placed.empty()) row.kind = piece.op->kind;
    row.calls += piece.op->calls;
    row.aux_ops += piece.op->calls * piece.op->aux_ops;
    row.predicted_s += piece.seconds;
    placed.push_back({&piece.work, &piece.placement});
  }
  row.group = aggregate(placed, thresholds);
  return row;
}

}  // namespace

Work work_of(const Operator& op, double seconds, const std::string& link_kind) {
  Work work;
  work.time = Quantity::of(seconds, Evidence::model, calibrated());
  work.launches = op.calls * op.launches;
  work.operations.push_back({op.precision, of_model(op.calls * op.operations), std::nullopt});
  if (op.aux_ops > 0) work.aux_ops = of_model(op.calls * op.aux_ops);
  auto& dram = work.level(MemoryLevel::dram);
  dram.read = of_model(op.calls * op.read_bytes);
  dram.write = of_model(op.calls * op.write_bytes);
  dram.total = of_model(op.calls * op.bytes());
  dram.definition = "dram";
  if (op.link_bytes > 0) {
    work.link.kind = link_kind;
    work.link.bus_bytes = of_model(op.calls * op.link_bytes);
  }
  return work;
}

StepPrediction predict_step(const ModelConfig& config, const StepOptions& options, const Ceiling& ceiling,
                            const PipeGroups& groups, const Calibration& calibration, const Thresholds& thresholds) {
  const Roofs roofs(ceiling);
  std::vector<Operator> operators;
  build_step(config, options, operators);
  StepPrediction result;
  result.totals = totals(operators, roofs, &calibration);
  result.memory = footprint(config, options);
  const Count new_tokens = options.batch * (options.phase == Phase::decode ? 1 : query_length_of(options));
  result.tokens = static_cast<double>(new_tokens);
  std::vector<Piece> pieces;
  std::vector<std::string_view> names;
  for (const auto& op : operators) {
    const double seconds = op.calls * calibration.time(op, roofs);
    auto work = work_of(op, seconds, roofs.link_kind());
    auto placement = place(work, ceiling, groups, thresholds);
    pieces.push_back({&op, seconds, std::move(work), std::move(placement)});
    if (std::find(names.begin(), names.end(), op.name) == names.end()) names.push_back(op.name);
  }
  for (const auto name : names) result.rows.push_back(make_row(name, pieces, thresholds));
  return result;
}

}  // namespace roofline::model
