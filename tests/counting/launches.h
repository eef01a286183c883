// Launches made of named metrics.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "roofline/counting.h"
#include "roofline/metrics.h"

namespace roofline::testing {

using Metrics = std::initializer_list<std::pair<std::string, double>>;

inline void add(Launch& launch, const std::string& name, double value) {
  launch.metrics.set(MetricCatalogue::instance().require(name), value);
}

inline Launch launch_with(Metrics metrics) {
  Launch launch;
  for (const auto& [name, value] : metrics) add(launch, name, value);
  launch.metrics.finish();
  return launch;
}

inline DeviceInfo device_of(std::string compute_capability, std::string name = {}) {
  DeviceInfo device;
  device.compute_capability = std::move(compute_capability);
  device.name = std::move(name);
  return device;
}

inline Counted count_on(const std::string& compute_capability, Metrics metrics) {
  return count(launch_with(metrics), device_of(compute_capability));
}

inline const OperationCount* find_operations(const Work& work, const std::string& key) {
  for (const auto& entry : work.operations)
    if (to_string(entry.precision) == key) return &entry;
  return nullptr;
}

inline double operations(const Work& work, const std::string& key) {
  double sum = 0;
  for (const auto& entry : work.operations)
    if (to_string(entry.precision) == key) sum += entry.operations.value();
  return sum;
}

inline bool has_warning(const Counted& counted, const std::string& code) {
  for (const auto& warning : counted.warnings)
    if (warning.code == code) return true;
  return false;
}

inline std::string sass(const std::string& op, const std::string& unit = "smsp", const std::string& roll_up = ".sum") {
  return unit + "__sass_thread_inst_executed_op_" + op + "_pred_on" + roll_up;
}

}  // namespace roofline::testing
