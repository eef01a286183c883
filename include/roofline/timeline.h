// What a timeline says: when the GPU worked, on what, and what the host did meanwhile.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "roofline/launch.h"
#include "roofline/profile.h"

namespace roofline {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// A span of time, nanoseconds since an origin that all spans of one timeline share; end >= start.
struct Span {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t length() const { return end_ns - start_ns; }
};

enum class GpuWork : std::uint8_t {
  kernel,
  copy,
  fill,   // memset
  graph,  // a whole graph launch recorded as one span: the kernels inside are unseen
};
enum class CopyKind : std::uint8_t { none, host_to_device, device_to_host, device_to_device, peer_to_peer, other };

// Blocks of a grid or threads of a block, in half the room of a Dim3: a long recording has millions. No launch may have
// more in one direction than fit (CUDA: 2^31 - 1); what does not fit is kept as the largest.
struct LaunchDim {
  std::uint32_t x = 0, y = 0, z = 0;

  LaunchDim() = default;
  LaunchDim(std::uint64_t x_, std::uint64_t y_, std::uint64_t z_) : x(fit(x_)), y(fit(y_)), z(fit(z_)) {}
  explicit LaunchDim(const Dim3& d) : LaunchDim(d.x, d.y, d.z) {}
  template <std::same_as<Dim3> D>  // as no template it would be in doubt about {1, 1, 1}
  LaunchDim& operator=(const D& d) {
    return *this = LaunchDim(d);
  }
  operator Dim3() const { return {x, y, z}; }  // NOLINT(google-explicit-constructor): nothing is lost
  bool operator==(const LaunchDim&) const = default;
  std::uint64_t count() const { return Dim3(*this).count(); }

 private:
  static std::uint32_t fit(std::uint64_t n) {
    constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
    return n < kMost ? static_cast<std::uint32_t>(n) : kMost;
  }
};

// One piece of work on a GPU. Names are indices into Timeline::names, kNone when the file has none.
struct GpuActivity {
  Span span;
  std::uint32_t name = kNone;        // short
  std::uint32_t full_name = kNone;   // demangled, with arguments
  std::uint32_t device = 0;          // index into Timeline::devices
  std::uint32_t collective = kNone;  // index into Timeline::collectives
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t process = 0;
  GpuWork work = GpuWork::kernel;
  CopyKind copy = CopyKind::none;
  LaunchDim grid, block;          // all zero: not in the file
  std::uint64_t bytes = 0;        // of copies and fills
  std::uint64_t correlation = 0;  // joins it with the host call of that number; 0: none
  std::uint64_t graph_node = 0;   // node of a CUDA/HIP graph; 0: not part of one
  std::uint64_t external_id = 0;  // the framework's number of the operator that launched it; 0: none
};

// What a communication kernel was asked to do, where the file says so.
struct CollectiveCall {
  std::uint32_t name = kNone;                       // "allreduce"
  std::uint32_t type = kNone;                       // "BFloat16"
  std::uint32_t group = kNone;                      // name of the process group
  std::uint64_t elements_in = 0, elements_out = 0;  // per rank
  std::uint32_t group_size = 0;                     // ranks; 0: unknown
  std::uint32_t ranks = kNone;                      // which ones, as the file spells them: "[0, 1, 8, 9]"
  bool operator==(const CollectiveCall&) const = default;
};

enum class HostCallKind : std::uint8_t {
  launch,
  graph_launch,
  copy,
  synchronize,
  other,
  profiler,  // no call of the program: time that the profiler took for itself on this thread
};
// What a driver's or runtime's function does, by its name: cudaLaunchKernel_v7000, hipModuleLaunchKernel,
// cuMemcpyAsync.
HostCallKind host_call_kind(std::string_view function);

// A call of the driver or runtime (cudaLaunchKernel, cudaStreamSynchronize, ...).
struct HostCall {
  Span span;
  std::uint32_t name = kNone;
  std::uint64_t thread = 0;  // unique over processes
  std::uint64_t correlation = 0;
  HostCallKind kind = HostCallKind::other;
};

// A named range that people or frameworks put on the timeline: NVTX, user_annotation, ProfilerStep#5.
struct NamedRange {
  Span span;
  std::uint32_t name = kNone;
  std::uint64_t thread = 0;
  bool on_gpu = false;  // a GPU-side range (gpu_user_annotation), which is no work itself
};

// A framework operator on the host (aten::mm) with its argument shapes, as the trace spells them.
struct OperatorCall {
  Span span;
  std::uint32_t name = kNone;
  std::uint32_t shapes = kNone;  // "[[8,1024],[1024,4096]]" and types, as text
  std::uint32_t types = kNone;
  std::uint32_t values = kNone;  // of arguments that are no tensors, likewise as text
  std::uint64_t thread = 0;
  std::uint64_t external_id = 0;
  std::uint64_t correlation = 0;
};

// Totals of one kernel where the input is already summed up (nsys stats, rocprof stats, hatchet): no order, no gaps.
struct KernelTotals {
  std::uint32_t name = kNone;
  std::uint32_t device = 0;
  Dim3 grid, block;
  std::uint64_t launches = 0;
  double total_s = 0;
  std::optional<double> min_s, median_s, max_s;
  std::optional<double> flops, bytes;  // of all launches, where the input has them (declared by the program)
  std::string flops_kind;              // precision key or what the input calls it: "flops8"
};

// One input file, read.
struct Timeline {
  std::string path;
  std::string format;    // "nsys-sqlite", "nsys-csv", "torch-trace", "rocprof-csv", "proton"
  std::string producer;  // "Nsight Systems 2025.1", "PyTorch 2.4 (Kineto)"; empty when unknown
  std::vector<DeviceInfo> devices;
  std::optional<int> rank, world_size;      // of a distributed job, where the file says so
  std::uint32_t listed_devices = 0;         // GPUs that the file describes, at work or not; 0: it describes none
  std::vector<std::string> names;           // what the indices above mean
  std::vector<GpuActivity> activities;      // by start
  std::vector<HostCall> calls;              // by start
  std::vector<NamedRange> ranges;           // by start
  std::vector<OperatorCall> operators;      // by start
  std::vector<KernelTotals> totals;         // only where there are no activities
  std::vector<CollectiveCall> collectives;  // distinct ones
  std::optional<Span> recorded;             // the capture's own begin and end, where known
  std::vector<ReadWarning> warnings;

  bool has_times() const { return !activities.empty(); }
};

// Interns names: equal texts get equal indices.
class NameTable {
 public:
  explicit NameTable(std::vector<std::string>& names) : names_(names) {}
  std::uint32_t intern(std::string_view text);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::vector<std::string>& names_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> index_;
};

struct TimelineOptions {
  bool partial = false;
  std::uint64_t max_decompressed = std::uint64_t{64} << 30;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

// Reads any supported timeline by its content. Throws InputError; a .nsys-rep or .qdrep is refused with the export
// command.
Timeline open_timeline(const std::string& path, const TimelineOptions& options = {});

// True where the first bytes of the file look like a timeline rather than a counter report.
bool is_timeline(const std::string& path);

// The kernels of a timeline as launches for analyze(): times as the timeline has them; work where the program declared
// it (Proton), or modelled from the shapes of the operator that launched them (operator_work.h): a launch then stands
// for all that one operator launched, under the name of its longest kernel. What has no shape keeps its time alone, and
// a warning says which share of the time that is. Copies and fills are no launches.
Profile profile_of(const Timeline& timeline);

// Profiles of any files: timelines by profile_of(), all others by open_profiles(). Throws InputError.
std::vector<Profile> open_inputs(std::span<const std::string> paths, const ReadOptions& options = {});

}  // namespace roofline
