#include "roofline/work.h"

#include <algorithm>

namespace roofline {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames = {"dram", "l2", "l1", "shared"};

constexpr std::array<std::string_view, 7> kUnitNames = {"unknown", "floating-point", "tensor",          "integer",
                                                        "issue",   "memory",         "special-function"};

}  // namespace

std::string_view to_string(UnitClass unit) { return kUnitNames[static_cast<std::size_t>(unit)]; }

std::string_view to_string(MemoryLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

Quantity Work::flops() const {
  double sum = 0;
  Quantity first;
  Evidence evidence = Evidence::counter;
  const auto& assumed = coverage.assumed_none;
  const bool tensor_assumed = std::find(assumed.begin(), assumed.end(), "tensor") != assumed.end();
  Bound bound = coverage.complete() && !tensor_assumed ? Bound::exact : Bound::lower;
  bool any = false;
  for (const auto& op : operations) {
    if (is_integer(op.precision.type) || !op.operations) continue;
    if (!any || op.operations.value() > first.value_or(0)) first = op.operations;
    any = true;
    sum += op.operations.value();
    evidence = weakest(evidence, op.operations.evidence());
    bound = combine(bound, op.operations.bound());
  }
  if (!any) return Quantity::absent(coverage.reason.empty() ? "no operation counters" : coverage.reason);
  return Quantity::of(sum, evidence, first.provenance(), bound);
}

Quantity Work::intensity(MemoryLevel l) const {
  auto operations_total = flops();
  const auto& bytes = level(l).total;
  if (!operations_total) return operations_total;
  if (!bytes) return bytes;
  if (bytes.value() <= 0) return Quantity::absent("no traffic at this level");
  const auto intensity = quotient(operations_total, bytes);
  return intensity ? intensity : Quantity::absent("neither the operations nor the bytes are complete");
}

}  // namespace roofline
