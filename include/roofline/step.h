// Where the time of a step went, from a timeline: what the GPU did, why it did nothing, and whether it is the
// bottleneck.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "roofline/timeline.h"

namespace roofline {

// What one moment of a GPU counts as. The parts exclude each other and add up to the wall time.
enum class StepPart : std::uint8_t {
  // the GPU works
  compute,        // a kernel runs, whatever else does
  communication,  // kernels of a collective run, and no other kernel
  copy,           // copies or fills run, and no kernel
  graph,          // a graph launch recorded as one span: nothing is known of its inside
  // the GPU idles; told by the host call that launched the next piece of work
  launch_late,     // the host was outside the runtime: it had not yet come to the launch
  launch_call,     // the launch call was running
  launch_latency,  // the launch call had returned since the GPU fell idle, the work had not begun
  host_wait,       // the launching thread waited in a synchronize call
  host_call,       // the launching thread was in another runtime call: allocation, module loading, a blocking copy
  device_gap,      // launched before the GPU fell idle: from kernel to kernel, or waiting for another stream or device
  profiler,        // the profiler kept the launching thread busy: an artefact
  unseen,          // launches without a record on the GPU fall into this gap: not idle for sure
  start,           // before the first work of the window
  end,             // after the last
  unknown,         // no host call is known
};
inline constexpr std::size_t kStepParts = 15;
inline constexpr std::size_t kFirstIdlePart = static_cast<std::size_t>(StepPart::launch_late);
std::string_view to_string(StepPart part);  // "launch-late"
bool is_idle(StepPart part);
// Of the host, and so what a CUDA graph could take away: launch_late, launch_call, launch_latency.
bool is_launch_gap(StepPart part);

// What is known of one part beside its length.
struct PartEvidence {
  std::uint64_t pieces = 0;
  Span longest;                                               // the longest piece
  std::uint32_t next = kNone;                                 // index of the activity after the longest idle piece
  std::vector<std::pair<std::uint32_t, std::int64_t>> calls;  // host calls (names) and nanoseconds, most first
};

// Time of one or several windows on one device, nanoseconds.
struct StepAccount {
  std::int64_t wall_ns = 0;
  std::array<std::int64_t, kStepParts> parts{};  // add up to wall_ns, exactly
  // Unions over streams, whatever runs beside.
  std::int64_t compute_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t copy_ns = 0;
  std::int64_t kernel_sum_ns = 0;  // of compute kernels' durations: above compute_ns by what overlaps
  std::int64_t concurrent_ns = 0;  // two compute kernels or more at once
  std::array<PartEvidence, kStepParts> evidence{};

  std::int64_t operator[](StepPart part) const { return parts[static_cast<std::size_t>(part)]; }
  std::int64_t busy_ns() const;
  std::int64_t idle_ns() const;
  std::int64_t launch_gap_ns() const;
  double share(std::int64_t ns) const {
    return wall_ns > 0 ? static_cast<double>(ns) / static_cast<double>(wall_ns) : 0;
  }
  double share(StepPart part) const { return share((*this)[part]); }
};

// A window from the first work of a step to the first work of the next one.
struct Step {
  Span window;
  std::uint32_t name = kNone;  // of the range; kNone where steps were found by repetition
  bool last = false;           // ends with its own last work: what follows it is unknown
  bool warm_up = false;        // among the first, and over 1.5 times the median: left out of sums
  std::size_t kernels = 0;
  std::int64_t busy_ns = 0;
  std::int64_t ahead_ns = 0;  // from the step's begin on the host to its first work on the GPU; 0 by repetition
};

enum class StepsBy : std::uint8_t { none, ranges, repetition };

struct StepSpread {
  std::size_t count = 0;
  double median = 0, min = 0, max = 0;
};

// All launches of one kernel in the windows that count.
struct KernelShare {
  std::uint32_t name = kNone;       // short
  std::uint32_t full_name = kNone;  // demangled
  Dim3 grid, block;                 // all zero: not in the file, or several
  bool communication = false;
  std::size_t launches = 0;
  std::int64_t total_ns = 0;
  std::int64_t median_ns = 0, min_ns = 0, max_ns = 0;
  double share_of_wall = 0;     // overlap counts twice
  double share_of_kernels = 0;  // of the kernel time
  bool deserves_roofline = false;
};

struct CopyTotals {
  GpuWork work = GpuWork::copy;
  CopyKind kind = CopyKind::none;
  std::size_t count = 0;
  std::int64_t total_ns = 0;
  std::uint64_t bytes = 0;
};

enum class Bottleneck : std::uint8_t { gpu, host, copies, communication, device_gaps, start_end, unclear };
std::string_view to_string(Bottleneck bottleneck);

// Something in the recording that is not what it looks like.
struct Artefact {
  std::string code;  // stable slug
  std::string message;
};

// How much of the kernel time carries what FLOPs and bytes could be computed from.
struct ShapeCoverage {
  std::int64_t kernel_ns = 0;    // of all kernels, communication apart
  std::int64_t launch_ns = 0;    // with grid and block
  std::int64_t operator_ns = 0;  // launched by an operator whose argument shapes are in the file
};

// At most: upper bounds, and not to be added.
struct Savings {
  std::int64_t launch_gaps_ns = 0;  // by a CUDA graph
  std::uint64_t launch_gaps = 0;
  std::size_t short_kernels = 0;  // under three launch floors
  std::int64_t short_ns = 0;      // by fusing them away: what each takes, up to one launch floor
};

// One GPU of one timeline.
struct DeviceStep {
  std::uint32_t device = 0;  // index into Timeline::devices
  Span active;               // from the first launch to the last work, or to the wait for it
  StepAccount whole;         // of `active`
  StepsBy steps_by = StepsBy::none;
  std::string steps_of;  // the range's name without its number, or "a sequence of 53 kernels"
  std::vector<Step> steps;
  std::optional<StepSpread> step_s;  // of the steps that count, seconds
  StepAccount counted;               // of the steps that count; `whole` where there are none
  std::size_t windows = 1;           // how many steps that is
  std::vector<KernelShare> kernels;  // most time first
  std::vector<CopyTotals> copies;
  ShapeCoverage shapes;
  Savings savings;
  Bottleneck bottleneck = Bottleneck::unclear;
  std::string verdict;  // in words
  std::vector<Artefact> artefacts;
};

struct StepAnalysisOptions {
  std::string range;        // expression: the ranges that are steps; empty: found
  bool by_shape = false;    // kernels apart by grid and block
  double gpu_bound = 0.80;  // share of compute from which the GPU is the bottleneck
  double short_kernel = 3;  // launch floors under which a kernel is short
  double launch_floor_s = 2.2e-6;
  double deserves = 0.05;  // share of the wall time from which a kernel deserves a roofline
};

// One result per GPU that did something, in the order of Timeline::devices. Cost: sorting apart, linear in the records.
// Throws UsageError for a bad expression, or one that no range matches.
std::vector<DeviceStep> analyze_steps(const Timeline& timeline, const StepAnalysisOptions& options = {});

// Whether this is a kernel of a collective (NCCL, RCCL, custom all-reduce), by its name.
bool is_communication(std::string_view kernel_name);

// The windows that count: of the steps less warm-up and the last, else all of the device's work.
std::vector<Span> counted_windows(const DeviceStep& step);
// The GPU's work of the windows that count, without the host's side: kernel by kernel, for matching with a model.
Timeline counted_part(const Timeline& timeline, const std::vector<DeviceStep>& steps);

}  // namespace roofline
