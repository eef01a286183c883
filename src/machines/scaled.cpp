#include <fmt/format.h>

#include "roofline/machines.h"

namespace roofline {
namespace {

std::string scaled_to(const std::string& source, double clock_hz) {
  return fmt::format("{}, scaled to {:g} MHz as asked", source, clock_hz / 1e6);
}

void scale_peaks(Ceiling& ceiling, double clock_hz) {
  std::erase_if(ceiling.peaks, [](const Peak& p) { return !p.clock_hz; });
  for (auto& peak : ceiling.peaks) {
    peak.ops_per_s *= clock_hz / *peak.clock_hz;
    peak.clock_hz = clock_hz;
    peak.source = scaled_to(peak.source, clock_hz);
  }
}

}  // namespace

Ceiling at_clocks(const Ceiling& base, std::optional<double> sm_clock_hz, std::optional<double> memory_clock_hz) {
  auto ceiling = base;
  ceiling.kind = CeilingKind::at_clock;
  if (sm_clock_hz) scale_peaks(ceiling, *sm_clock_hz);
  for (auto& b : ceiling.bandwidths) {
    const bool dram = b.level == MemoryLevel::dram;
    const bool own_clock = b.level == MemoryLevel::l2 && base.kind != CeilingKind::datasheet;
    const auto& wanted = dram ? memory_clock_hz : sm_clock_hz;
    const auto& rated = dram ? base.memory_clock_hz : base.sm_clock_hz;
    if (!wanted || own_clock) continue;
    if (!rated) {
      b.source += ", not scaled: its clock is unknown";
      continue;
    }
    b.bytes_per_s *= *wanted / *rated;
    b.source = scaled_to(b.source, *wanted);
  }
  if (sm_clock_hz) ceiling.sm_clock_hz = sm_clock_hz;
  if (memory_clock_hz) ceiling.memory_clock_hz = memory_clock_hz;
  return ceiling;
}

}  // namespace roofline
