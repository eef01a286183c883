// What rocprof-compute (Omniperf) writes down of the machine beside its counters.
#pragma once

#include <optional>
#include <string>

#include "roofline/launch.h"

namespace roofline {

// The file beside a counter table: "sysinfo.csv" beside "pmc_perf.csv", "RUN_sysinfo.csv" beside "RUN_pmc_perf.csv".
// Empty where the name is no such, or nothing lies there.
std::string amd_neighbour(const std::string& counter_path, const std::string& name);

struct AmdSystem {
  DeviceInfo device;
  std::string producer;
  std::string warning;  // what keeps the machine from being found; empty for nothing
};
// Reads sysinfo.csv. nullopt where it has no row or names no GPU. Throws InputError for a file that is no such table.
std::optional<AmdSystem> read_amd_sysinfo(const std::string& path);

// The counter table inside a folder that rocprof-compute wrote; `path` itself for anything else.
std::string amd_workload_file(const std::string& path);

}  // namespace roofline
