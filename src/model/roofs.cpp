#include <fmt/format.h>

#include <algorithm>

#include "roofline/error.h"
#include "roofline/model.h"

namespace roofline::model {
namespace {

constexpr std::array kPeakTypes = {NumberType::fp64, NumberType::fp32, NumberType::tf32, NumberType::fp16,
                                   NumberType::bf16, NumberType::fp8,  NumberType::fp6,  NumberType::fp4,
                                   NumberType::int8, NumberType::int4};

// The model names precisions without accumulator or sparsity, so type and path are all there is to look up.
std::size_t slot(const Precision& precision) {
  return 2 * static_cast<std::size_t>(precision.type) + (precision.path == Path::tensor ? 1 : 0);
}

}  // namespace

Roofs::Roofs(const Ceiling& ceiling) {
  for (const auto type : kPeakTypes)
    for (const auto path : {Path::vector, Path::tensor}) {
      const Precision precision{type, path};
      if (const auto peak = ceiling.peak(precision)) peaks_[slot(precision)] = peak->high;
    }
  const auto bandwidth = ceiling.bandwidth(MemoryLevel::dram, "dram");
  if (!bandwidth || *bandwidth <= 0) throw UsageError("the machine states no DRAM bandwidth; name another, or add it");
  dram_ = *bandwidth;
  if (!ceiling.links.empty()) {
    link_kind_ = ceiling.links.front().kind;
    link_ = ceiling.links.front().bytes_per_s;
  }
}

bool Roofs::has_peak(const Precision& precision) const { return peaks_[slot(precision)] > 0; }

double Roofs::peak(const Precision& precision) const {
  const double peak = peaks_[slot(precision)];
  if (peak > 0) return peak;
  throw UsageError(
      fmt::format("the machine has no {} units (or no published peak for them); choose another number "
                  "format, such as a weight-only one that multiplies in 16 bit",
                  to_string(precision)));
}

double Roofs::compute_time(const Operator& op) const {
  return op.operations > 0 ? op.operations / peak(op.precision) : 0;
}

double Roofs::link_time(const Operator& op) const {
  if (op.link_bytes <= 0) return 0;
  if (link_ <= 0) throw UsageError("the machine states no link between GPUs; use tp 1 and ep 1, or name another");
  return op.link_bytes / link_;
}

double Roofs::roof_time(const Operator& op) const {
  return std::max({compute_time(op), memory_time(op), link_time(op)});
}

}  // namespace roofline::model
