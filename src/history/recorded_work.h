// Recorded kernels as work that can be placed again.
#pragma once

#include "roofline/record.h"
#include "roofline/work.h"

namespace roofline::history {

// Time and what the roof needs: operations by precision, DRAM and link bytes. Caches explain, they make no roof.
Work work_of(const KernelRecord& kernel);

}  // namespace roofline::history
