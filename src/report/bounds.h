// Which side of the truth a sum of fractions lies on.
#pragma once

#include <string>

#include "report/numbers.h"
#include "roofline/placement.h"

namespace roofline::report {

// Whether this row leaves the upper end of a sum over rows known: it is exact, states its own upper end, or is not part
// of the sum.
inline bool has_known_upper(const Placement& p, CeilingKind sum_ceiling) {
  if (!p.fraction || p.ceiling != sum_ceiling) return true;
  return p.bound != Bound::lower || p.fraction_upper.has_value();
}

// "41%"; "≥ 41%" of a lower bound.
inline std::string bounded_percent(double fraction, Bound bound) {
  return bound == Bound::lower ? numbers::percent_at_least(fraction) : numbers::percent(fraction);
}

}  // namespace roofline::report
