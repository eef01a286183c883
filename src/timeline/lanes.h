// One step as lanes, for the pictures of it: streams of the GPU, why it idled, the threads that launched, and the
// ranges. Private to this room.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "roofline/timeline_views.h"
#include "timeline/device_step.h"
#include "timeline/segments.h"

namespace roofline {

// A class of work in the lanes: its colour in pictures, its letter in a terminal.
struct LaneClass {
  const char* colour;
  char letter;
  const char* words;
  bool range = false;  // no work: its name matters, not its colour
};

inline constexpr std::size_t kLaneKernels = 8;  // that get a class of their own
// Why the GPU idled; nullptr for parts that are no idle time.
const LaneClass* idle_class(StepPart part);

struct LaneBar {
  Span span;
  const LaneClass* kind;
  std::string text;  // inside, where there is room
  std::string tip;
};

struct Lane {
  std::string label;
  std::vector<LaneBar> bars;  // by start
  bool idle = false;          // tells why the GPU idled
};

struct LegendEntry {
  std::string text;
  const LaneClass* kind;
};

class Lanes {
 public:
  Lanes(const Timeline& timeline, const DeviceStep& step);

  const Span& window() const { return window_; }  // the median one of the steps that count
  // "GPU 0, NVIDIA H100: the median step, 1.2 ms", and what of it is not drawn
  std::string title() const;
  // The first sentence of the verdict.
  std::string verdict() const { return step_.verdict.substr(0, step_.verdict.find(". ") + 1); }
  const std::vector<Lane>& all() const { return lanes_; }
  std::vector<LegendEntry> legend() const;

 private:
  const LaneClass* class_of(const GpuActivity& activity) const;
  std::vector<Lane> streams() const;  // busiest first
  Lane idle() const;
  std::vector<Lane> threads() const;
  void add_call(const HostCall& call, Lane& lane) const;
  std::vector<Lane> ranges() const;

  const Timeline& timeline_;
  const DeviceStep& step_;
  TimelineFacts facts_;
  Span window_;
  std::map<std::uint32_t, const LaneClass*> kernels_;  // by name
  std::vector<LegendEntry> kernel_legend_;
  std::vector<Lane> lanes_;
  std::size_t streams_ = 0;  // that worked, drawn or not
};

// A round distance between about `ticks` ticks of an axis of this length.
double tick_step(double length, std::size_t ticks);

}  // namespace roofline
