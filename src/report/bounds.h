// Which side of the truth a sum of fractions lies on.
#pragma once

#include "roofline/placement.h"

namespace roofline::report {

// Whether this row leaves the upper end of a sum over rows known: it is exact, states its own upper end, or is not part
// of the sum.
inline bool has_known_upper(const Placement& p, CeilingKind sum_ceiling) {
  if (!p.fraction || p.ceiling != sum_ceiling) return true;
  return p.bound != Bound::lower || p.fraction_upper.has_value();
}

}  // namespace roofline::report
