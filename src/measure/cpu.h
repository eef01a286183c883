// What the system says of its processors.
#pragma once

#include <string>
#include <vector>

#include "roofline/measure.h"

namespace roofline::measure {

// Processors that this process may use; one per core first, in order of number.
struct Processors {
  std::vector<int> one_per_core;
  std::size_t all = 0;
};
Processors processors();

CpuFacts cpu_facts();
// The name, and what tells it from others of that name.
std::string processor_text(const CpuFacts& cpu);

// Bytes that can be used without pushing anything out. 0 where the system does not say.
std::size_t available_memory();

// Processor time since the machine started, in seconds, summed over its processors.
struct CpuTimes {
  double busy = 0, steal = 0, idle = 0;
};
CpuTimes machine_times();
double own_time();  // of this process, seconds

// The parts that are pure, for tests. `text` is /proc/cpuinfo or /sys's cpulist ("0-3,8").
std::string cpuinfo_field(std::string_view text, std::string_view field);
std::vector<int> parse_cpu_list(std::string_view text);
double parse_cache_size(std::string_view text);              // "32K", "1024K", "32M"; 0 for anything else
std::optional<double> parse_cpu_max(std::string_view text);  // cgroup's cpu.max: "150000 100000" is 1.5, "max ..." none

}  // namespace roofline::measure
