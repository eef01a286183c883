#include "roofline/thresholds.h"

#include <algorithm>
#include <array>

namespace roofline {
namespace {

constexpr std::array kFields = std::to_array<ThresholdField>({
    {"optimal", &Thresholds::optimal, 0.01, 1},
    {"optimal_measured", &Thresholds::optimal_measured, 0.01, 1},
    {"above_roof", &Thresholds::above_roof, 1, 10},
    {"busy", &Thresholds::busy, 0.01, 1},
    {"latency_ratio", &Thresholds::latency_ratio, 1, 1e6},
    {"tensor_idle", &Thresholds::tensor_idle, 0, 1},
    {"cache_resident", &Thresholds::cache_resident, 0, 1},
    {"dram_transaction_bytes", &Thresholds::dram_transaction, 0, 1e6},
    {"sector_efficiency", &Thresholds::sector_efficiency, 0, 1},
    {"waste", &Thresholds::waste, 1, 1e6},
    {"look_share", &Thresholds::look_share, 0, 1},
    {"mixed", &Thresholds::mixed, 0, 1e6},
    {"launch_floor_s", &Thresholds::launch_floor_s, 0, 1},
    {"launch_bound", &Thresholds::launch_bound, 1, 1e6},
    {"margin", &Thresholds::margin, 0, 1},
    {"negligible", &Thresholds::negligible, 0, 1},
    {"no_verdict", &Thresholds::no_verdict, 1, 1e6},
    {"full_wave", &Thresholds::full_wave, 0, 1e6},
});

}  // namespace

std::span<const ThresholdField> threshold_fields() { return kFields; }

const ThresholdField* find_threshold(std::string_view name) {
  const auto* it = std::find_if(kFields.begin(), kFields.end(), [&](const auto& f) { return f.name == name; });
  return it == kFields.end() ? nullptr : it;
}

}  // namespace roofline
