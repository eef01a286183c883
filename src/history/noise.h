// Which kernels tell the noise of a history.
#pragma once

#include <set>
#include <string>
#include <tuple>

#include "roofline/history.h"

namespace roofline::history {

// One kernel in one shape, through renames of a library: operator, else name family; grid; block.
using NoiseKey = std::tuple<std::string, Dim3, Dim3>;
NoiseKey noise_key(const KernelRecord& kernel);
// Those with enough of the time that their noise matters.
std::set<NoiseKey> kernels_that_matter(const StepRecord& step);

}  // namespace roofline::history
