// From counters to work.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "roofline/launch.h"
#include "roofline/precision.h"
#include "roofline/quantity.h"
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

// What one recipe reads, for those who choose what to collect.
struct RecipeReads {
  // "time", "fp32.vector", "dram", "dram.read", "dram.fraction", "activity.tensor_pipe", "tensor.idle" (proof that no
  // tensor operation ran), "roof.dram" (clock and peak of the level in the same run), ...
  std::string quantity;
  std::string recipe;
  std::vector<std::vector<std::string>> metrics;  // one metric of each list
  std::vector<std::string> lifts;                 // one of these, at 0, makes a bound exact; may be empty
  Evidence evidence = Evidence::counter;
  Bound bound = Bound::exact;
};
// Every recipe of data/recipes.json that holds on this compute capability ("9.0"), in order of preference within a
// quantity; those that make do with some of their metrics are left out. "" is a chip that nobody knows.
std::vector<RecipeReads> recipe_reads(std::string_view compute_capability);

// A counter of tensor operations that is no sum of others.
struct TensorLeaf {
  std::string metric;  // "sm__ops_path_tensor_src_fp64.sum"
  std::string peak;    // its peak per cycle, a constant of the chip
  Precision precision;
};
// Of the chip ("GH100"); empty for one without tensor cores, or not known.
std::vector<TensorLeaf> tensor_leaves(std::string_view chip);
// The chip whose tensor counters hold for this compute capability and device name; empty when unknown.
std::string tensor_chip_name(std::string_view compute_capability, std::string_view device);

}  // namespace roofline
