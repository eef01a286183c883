#include <algorithm>

#include "timeline/device_step.h"

namespace roofline {

std::vector<Span> counted_windows(const DeviceStep& step) {
  std::vector<Span> out;
  for (const auto& s : step.steps)
    if (!s.warm_up && (!s.last || step.steps.size() == 1)) out.push_back(s.window);
  if (out.empty()) out.push_back(step.active);
  return out;
}

Timeline counted_part(const Timeline& timeline, const std::vector<DeviceStep>& steps) {
  Timeline out;
  out.path = timeline.path;
  out.format = timeline.format;
  out.producer = timeline.producer;
  out.devices = timeline.devices;
  out.rank = timeline.rank;
  out.world_size = timeline.world_size;
  out.listed_devices = timeline.listed_devices;
  out.names = timeline.names;
  out.totals = timeline.totals;
  out.warnings = timeline.warnings;
  std::vector<std::vector<Span>> windows(timeline.devices.size());
  for (const auto& step : steps) {
    if (step.device >= windows.size()) windows.resize(step.device + std::size_t{1});
    windows[step.device] = counted_windows(step);
  }
  std::vector<std::size_t> next(windows.size(), 0);
  for (const auto& a : timeline.activities) {
    if (a.device >= windows.size()) continue;
    auto& n = next[a.device];
    const auto& list = windows[a.device];
    while (n < list.size() && list[n].end_ns <= a.span.start_ns) ++n;
    if (n < list.size() && list[n].start_ns <= a.span.start_ns) out.activities.push_back(a);
  }
  return out;
}

}  // namespace roofline
