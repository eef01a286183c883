// Small timelines by hand, in nanoseconds.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "roofline/timeline.h"

namespace roofline::testing {

class TimelineBuilder {
 public:
  TimelineBuilder() : names_(timeline_.names) { timeline_.devices.emplace_back(); }

  // Every kernel gets a launch call of its own unless `launched` is negative: [launched, launched + 1000).
  TimelineBuilder& kernel(std::string_view name, std::int64_t start, std::int64_t end, std::int64_t launched = -1,
                          std::uint64_t stream = 7, std::uint32_t device = 0) {
    GpuActivity a;
    a.span = {start, end};
    a.name = a.full_name = names_.intern(name);
    a.stream = stream;
    a.device = device;
    a.grid = a.block = {1, 1, 1};
    return work(a, launched, "cudaLaunchKernel", HostCallKind::launch);
  }

  TimelineBuilder& copy(std::int64_t start, std::int64_t end, std::uint64_t bytes = 0, std::int64_t launched = -1,
                        std::uint64_t stream = 8) {
    GpuActivity a;
    a.span = {start, end};
    a.stream = stream;
    a.work = GpuWork::copy;
    a.copy = CopyKind::host_to_device;
    a.bytes = bytes;
    return work(a, launched, "cudaMemcpyAsync", HostCallKind::copy);
  }

  TimelineBuilder& call(std::string_view name, std::int64_t start, std::int64_t end, std::uint64_t thread = 1) {
    HostCall c;
    c.span = {start, end};
    c.name = names_.intern(name);
    c.kind = host_call_kind(name);
    c.thread = thread;
    c.correlation = ++correlation_;
    timeline_.calls.push_back(c);
    return *this;
  }

  TimelineBuilder& overhead(std::int64_t start, std::int64_t end) {
    call("CUPTI: Buffer flush", start, end);
    timeline_.calls.back().kind = HostCallKind::profiler;
    timeline_.calls.back().correlation = 0;
    return *this;
  }

  TimelineBuilder& range(std::string_view name, std::int64_t start, std::int64_t end, bool on_gpu = false) {
    NamedRange r;
    r.span = {start, end};
    r.name = names_.intern(name);
    r.thread = 1;
    r.on_gpu = on_gpu;
    timeline_.ranges.push_back(r);
    return *this;
  }

  GpuActivity& last() { return timeline_.activities.back(); }
  Timeline& raw() { return timeline_; }

  Timeline build() {
    const auto by_start = [](const auto& a, const auto& b) { return a.span.start_ns < b.span.start_ns; };
    std::stable_sort(timeline_.activities.begin(), timeline_.activities.end(), by_start);
    std::stable_sort(timeline_.calls.begin(), timeline_.calls.end(), by_start);
    std::stable_sort(timeline_.ranges.begin(), timeline_.ranges.end(), by_start);
    return timeline_;
  }

 private:
  TimelineBuilder& work(GpuActivity a, std::int64_t launched, const char* function, HostCallKind kind) {
    if (launched >= 0) {
      constexpr std::int64_t kCall = 1000;
      call(function, launched, launched + kCall);
      timeline_.calls.back().kind = kind;
      a.correlation = correlation_;
    }
    while (timeline_.devices.size() <= a.device) timeline_.devices.emplace_back();
    timeline_.activities.push_back(a);
    return *this;
  }

  Timeline timeline_;
  NameTable names_;
  std::uint64_t correlation_ = 0;
};

}  // namespace roofline::testing
