#include "profile/ncu_rep_device.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace roofline::ncu_rep {
namespace {

// Spellings without a roll-up are those of Pascal reports.
constexpr std::pair<std::string_view, Fact> kFacts[] = {
    {"gpu__time_duration.sum", Fact::time},
    {"gpu__time_duration", Fact::time},
    {"launch__device_id", Fact::launch_device},
    {"device__attribute_device_index", Fact::device_index},
    {"device__attribute_display_name", Fact::display_name},
    {"device__attribute_compute_capability_major", Fact::cc_major},
    {"device__attribute_compute_capability_minor", Fact::cc_minor},
    {"device__attribute_multiprocessor_count", Fact::sm_count},
    {"device__attribute_max_gpu_frequency_khz", Fact::max_sm_khz},
    {"device__attribute_clock_rate", Fact::sm_khz},
    {"device__attribute_max_mem_frequency_khz", Fact::max_memory_khz},
    {"device__attribute_memory_clock_rate", Fact::memory_khz},
    {"device__attribute_fb_bus_width", Fact::fb_bus_bits},
    {"device__attribute_global_memory_bus_width", Fact::bus_bits},
    {"device__attribute_l2_cache_size", Fact::l2_bytes},
};

// A count from a file that may say anything: NaN, negative, beyond int.
std::optional<int> to_int(std::optional<double> value) {
  if (!value || !(*value >= 0 && *value <= std::numeric_limits<int>::max())) return std::nullopt;
  return static_cast<int>(*value);
}

std::optional<double> first_of(const Facts& facts, Fact a, Fact b) {
  const auto value = facts.get(a);
  return value ? value : facts.get(b);
}

}  // namespace

Fact fact_of(std::string_view metric_name) {
  for (const auto& [name, fact] : kFacts) {
    if (name == metric_name) return fact;
  }
  return Fact::none;
}

std::optional<double> Facts::get(Fact fact) const {
  const double value = numbers_[static_cast<std::size_t>(fact)];
  return std::isnan(value) ? std::nullopt : std::optional<double>(value);
}

std::optional<std::uint32_t> Facts::device_id() const {
  const auto id = to_int(first_of(*this, Fact::launch_device, Fact::device_index));
  return id ? std::optional<std::uint32_t>(static_cast<std::uint32_t>(*id)) : std::nullopt;
}

DeviceInfo Facts::over(DeviceInfo base) const {
  if (const auto id = device_id()) base.id = *id;
  if (!display_name_.empty()) base.name = display_name_;
  const auto major = to_int(get(Fact::cc_major));
  const auto minor = to_int(get(Fact::cc_minor));
  if (major && minor) base.compute_capability = fmt::format("{}.{}", *major, *minor);
  if (const auto n = to_int(get(Fact::sm_count))) base.sm_count = n;
  if (const auto khz = first_of(*this, Fact::max_sm_khz, Fact::sm_khz)) base.max_sm_clock_hz = *khz * 1e3;
  if (const auto khz = first_of(*this, Fact::max_memory_khz, Fact::memory_khz)) base.max_memory_clock_hz = *khz * 1e3;
  if (const auto bits = to_int(first_of(*this, Fact::fb_bus_bits, Fact::bus_bits))) base.memory_bus_bits = bits;
  if (const auto bytes = get(Fact::l2_bytes)) base.l2_bytes = bytes;
  return base;
}

bool same_device(const DeviceInfo& a, const DeviceInfo& b) {
  return a.id == b.id && a.name == b.name && a.compute_capability == b.compute_capability && a.sm_count == b.sm_count &&
         a.max_sm_clock_hz == b.max_sm_clock_hz && a.max_memory_clock_hz == b.max_memory_clock_hz &&
         a.memory_bus_bits == b.memory_bus_bits && a.l2_bytes == b.l2_bytes;
}

}  // namespace roofline::ncu_rep
