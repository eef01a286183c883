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
// A launch that brings its own work (Launch::given) passes through. Thread-safe.
Counted count(const Launch& launch, const DeviceInfo& device);

// What to collect so that the quantities in `missing` ("time", "dram", "flops", "l2") become known on this chip: a
// complete ncu command line.
std::string collection_command(const std::vector<std::string>& missing, const std::string& compute_capability,
                               std::string_view kernel_function = {});

}  // namespace roofline
