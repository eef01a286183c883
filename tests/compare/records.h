// Records made by hand, and histories with a known truth.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "roofline/compare.h"

namespace roofline::testing {

struct KernelSpec {
  std::string name;
  double time_s = 100e-6;
  double fraction = 0.9;  // of the DRAM roof
  std::uint64_t launches = 1;
  std::string op = {};
  Dim3 grid = {128, 1, 1};
  double bandwidth = 3e12;  // bytes/s of the roof: makes the DRAM bytes
  double intensity = 10;    // FLOP/byte
  std::string precision = "bf16.tensor";
};

inline KernelRecord kernel(const KernelSpec& s) {
  KernelRecord k;
  k.name = k.full_name = s.name;
  k.op = s.op;
  k.grid = s.grid;
  k.block = {256, 1, 1};
  k.launches = s.launches;
  k.time_s = s.time_s;
  k.time_basis = TimeBasis::profiled_locked;
  k.roof_time_s = s.fraction * s.time_s;
  k.fraction = s.fraction;
  k.dram_bytes = *k.roof_time_s * s.bandwidth;
  k.flops = *k.dram_bytes * s.intensity;
  k.ops[s.precision] = *k.flops;
  k.binding = "dram";
  k.regime = Regime::memory;
  k.ceiling = CeilingKind::at_clock;
  k.clock_hz = 1.5e9;
  k.position = s.fraction >= 0.8 ? Position::memory_optimal : Position::memory_suboptimal;
  return k;
}

inline StepRecord record(std::vector<KernelRecord> kernels) {
  StepRecord r;
  r.tool_version = "1.0";
  r.machines = {"Test GPU 100"};
  r.inputs = {"run"};
  r.ceiling = CeilingKind::at_clock;
  r.kernels = std::move(kernels);
  double time = 0, roof = 0;
  for (const auto& k : r.kernels) {
    time += k.time_s.value_or(0);
    if (k.fraction) roof += *k.fraction * k.time_s.value_or(0);
  }
  r.time_s = time;
  r.roof_time_s = roof;
  if (time > 0) r.fraction = roof / time;
  r.placed_time_share = 1;
  return r;
}

inline StepRecord record(const std::vector<KernelSpec>& specs) {
  std::vector<KernelRecord> kernels;
  for (const auto& s : specs) kernels.push_back(kernel(s));
  return record(std::move(kernels));
}

// The same work in another time: the fraction follows.
inline void take(KernelRecord& k, double factor) {
  k.time_s = *k.time_s * factor;
  if (k.fraction) k.fraction = *k.fraction / factor;
}

// Numbers that are the same everywhere: SplitMix64, and normal ones by the method of Box and Muller.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15U;
    auto z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  double uniform() { return (static_cast<double>(bits() >> 11U) + 0.5) * 0x1.0p-53; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(uniform() * static_cast<double>(n)); }
  double normal() {
    constexpr double kTwoPi = 6.283185307179586;
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(kTwoPi * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace roofline::testing
