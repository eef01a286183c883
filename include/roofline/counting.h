// From counters to work.
#pragma once

#include <string>
#include <vector>

#include "roofline/launch.h"
#include "roofline/work.h"

namespace roofline {

struct CountingWarning {
  std::string code;
  std::string message;
};

struct Counted {
  Work work;
  std::vector<CountingWarning> warnings;
};

// Applies the recipes of data/recipes.json, in order, first whose metrics exist wins, to one launch of a device.
// A launch that brings its own work (Launch::given) passes through; one that stands for Launch::count launches comes
// back as their sum (Work::launches). Thread-safe.
Counted count(const Launch& launch, const DeviceInfo& device);

// FP16 CUDA-core operations weighted 1/1/2 (one per thread and instruction, two for a multiply-add) instead of the
// 2/2/4 of packed half2 that count() uses: section files before 2025 define their FP16 rooflines so. Absent without
// FP16 counters.
Quantity fp16_with_scalar_weights(const Work& work);

// What to collect so that the quantities in `missing` ("time", "dram", "flops", "l2", "l1", "shared") become known on
// this chip: a complete ncu command line, for the kernels of these function names (all when empty). Empty when the chip
// has no counter for them. Throws UsageError for an unknown quantity.
std::string collection_command(const std::vector<std::string>& missing, const std::string& compute_capability,
                               const std::vector<std::string>& kernels = {});

}  // namespace roofline
