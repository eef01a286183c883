// The few facts about a GPU and a launch that the reader itself understands, by metric name.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "roofline/launch.h"

namespace roofline::ncu_rep {

enum class Fact : std::uint8_t {
  none,
  time,
  launch_device,
  device_index,
  display_name,
  cc_major,
  cc_minor,
  sm_count,
  max_sm_khz,
  sm_khz,
  max_memory_khz,
  memory_khz,
  fb_bus_bits,
  bus_bits,
  l2_bytes,
  count_
};

Fact fact_of(std::string_view metric_name);

// Facts of one result or of one device entry of the session. Missing ones stay absent.
class Facts {
 public:
  Facts() { clear(); }
  void clear() {
    numbers_.fill(std::numeric_limits<double>::quiet_NaN());
    display_name_ = {};
  }
  void set(Fact fact, double value) { numbers_[static_cast<std::size_t>(fact)] = value; }
  void set_name(std::string_view name) { display_name_ = name; }
  std::optional<double> get(Fact fact) const;

  // The launch's device number: launch__device_id, else the index among the device attributes.
  std::optional<std::uint32_t> device_id() const;
  // Lays what is known over `base`.
  DeviceInfo over(DeviceInfo base) const;

 private:
  std::array<double, static_cast<std::size_t>(Fact::count_)> numbers_ = {};
  std::string_view display_name_;
};

bool same_device(const DeviceInfo& a, const DeviceInfo& b);

}  // namespace roofline::ncu_rep
