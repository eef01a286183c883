// The time of one GPU, cut where something begins or ends. Private to this room.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "roofline/step.h"

namespace roofline {

// From its start to the start of the next segment.
struct Segment {
  std::int64_t start_ns = 0;
  StepPart part = StepPart::unknown;
  bool computing = false, communicating = false, copying = false;
  std::uint32_t kernels = 0;   // compute kernels at once
  std::uint32_t call = kNone;  // idle: name of the host call behind it
  std::uint32_t next = kNone;  // idle: index of the activity that ends it
};

// All of a device's time from its first work to its last, without gaps; one more segment marks the end.
using Segments = std::vector<Segment>;

// Facts about a timeline that the work on each device needs.
struct TimelineFacts {
  explicit TimelineFacts(const Timeline& timeline);

  // The call that launched it; where several calls share its number, the last that began before it did.
  const HostCall* call_of(const GpuActivity& activity) const;
  struct FoundCall {
    const HostCall* call = nullptr;
    bool several = false;
  };
  FoundCall find_call(const GpuActivity& activity) const;
  bool communication(const GpuActivity& activity) const;

  const Timeline& timeline;
  std::vector<bool> is_communication;        // by name
  std::vector<std::uint32_t> call_by_order;  // indices of outermost calls with correlation, by it, then by start
  std::vector<std::uint32_t> lost;           // indices of launch calls that nothing on a GPU answers, by start
  std::size_t launches = 0;                  // launch calls outside of graph capture
  struct Thread {
    std::vector<std::uint32_t> calls;     // outermost ones, by start
    std::vector<std::uint32_t> profiler;  // by start
  };
  std::vector<std::pair<std::uint64_t, Thread>> threads;  // by thread number
  const Thread* thread(std::uint64_t number) const;

 private:
  void find_communication();
  void find_threads();
  void sort_numbered();
  void find_lost();
};

// `activities` are indices of one device's activities, by start.
Segments cut_segments(const TimelineFacts& facts, std::span<const std::uint32_t> activities);

// Adds the part of `segments` inside the window to the account; what of the window lies outside goes to start and end.
void add_window(StepAccount& account, const Segments& segments, Span window);
// Sorts what add_window() collected; call once after the last.
void finish_account(StepAccount& account);

}  // namespace roofline
