// Launches made by hand, counted and placed by the library itself, then diagnosed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/work_builder.h"
#include "roofline/diagnosis.h"
#include "roofline/metrics.h"

namespace roofline::testing {

using Metrics = std::vector<std::pair<std::string, double>>;

// One launch: typed work under the unit ceiling (1 TFLOP/s fp32, 1 TB/s DRAM) plus any metrics.
class CaseBuilder {
 public:
  explicit CaseBuilder(const WorkBuilder& work) : work_(work.get()) { device.compute_capability = "9.0"; }

  CaseBuilder& metrics(const Metrics& list) {
    for (const auto& [name, value] : list) launch.metrics.set(MetricCatalogue::instance().require(name), value);
    return *this;
  }
  Work& work() { return work_; }
  Placement placed() { return place(work_, unit_ceiling(), {}, limits); }

  std::vector<Finding> findings() {
    launch.metrics.finish();
    std::vector<Finding> out;
    const auto placement = placed();
    diagnose({launch, device, work_, placement, limits}, out);
    return out;
  }

  Launch launch;
  DeviceInfo device;
  Thresholds limits;

 private:
  Work work_;
};

inline const Finding* find(const std::vector<Finding>& findings, std::string_view id) {
  for (const auto& f : findings)
    if (f.id == id) return &f;
  return nullptr;
}

// Memory-suboptimal: 100 us, DRAM at 30 %, little arithmetic.
inline CaseBuilder slow_copy() { return CaseBuilder(WorkBuilder(100).flops("fp32.vector", 1e6).dram(30e6)); }
// Compute-suboptimal: 100 us, FP32 at 40 %.
inline CaseBuilder slow_math() { return CaseBuilder(WorkBuilder(100).flops("fp32.vector", 40e6).dram(1e6)); }
// Memory-optimal: 100 us, DRAM at 95 %.
inline CaseBuilder fast_copy() { return CaseBuilder(WorkBuilder(100).flops("fp32.vector", 1e6).dram(95e6)); }

}  // namespace roofline::testing
