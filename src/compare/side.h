// The kernels of one side.
#pragma once

#include <vector>

#include "roofline/compare.h"

namespace roofline::comparing {

// Most time first. Throws UsageError for a side without repeats.
std::vector<SideKernel> kernels_of(const GateSide& side);

ComparedSide describe(const GateSide& side, const std::vector<SideKernel>& kernels);

}  // namespace roofline::comparing
