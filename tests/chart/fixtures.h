// Reports to draw, all made up but for the decode step, whose figures are those of examples/llama3-8b-decode-h100.md.
#pragma once

#include <vector>

#include "roofline/chart.h"

namespace roofline::testing {

// One decode step of Llama-3-8B at batch 32 on an H100 (sources stand in the example).
Report llama_step();

// A tiled GEMM whose L2 traffic, L1 traffic and shared-memory traffic were counted; L2 limits it.
Report tiled_gemm();

// A step of `n` kernels: matrix products, element-wise and reduction kernels in crowds, copies, kernels whose tensor
// FLOPs were not counted, and kernels of which only the DRAM percentage is known.
Report crowded_step(std::size_t n);

// One projection at batch 1, 8, 64, 256 and 1024.
Report batch_sweep();
std::vector<ChartStep> sweep_steps(const Report& sweep);

// The same step before and after fusing and quantizing; the rows match by index but for the last: `after` lacks it.
Report before_change();
Report after_change();
std::vector<ChartMatch> matches();

}  // namespace roofline::testing
