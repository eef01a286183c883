// Kernel and copy traces and statistics of ROCm's profilers: rocprofv3, rocprof, and the timestamps of rocprof-compute.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profile/amd_table.h"
#include "roofline/names.h"
#include "timeline/readers.h"

namespace roofline {
namespace {

constexpr const char* kFormat = "rocprof-csv";

// Whole blocks: ROCm counts a grid in work items.
std::uint64_t blocks(std::uint64_t items, std::uint64_t block) {
  return block == 0 ? 0 : items / block + (items % block != 0 ? 1 : 0);
}

struct ShapeColumns {
  std::optional<std::size_t> grid[3], block[3];

  explicit ShapeColumns(const AmdTable& table) {
    grid[0] = table.column({"Grid_Size_X", "Grid_Size", "grd"});
    grid[1] = table.column({"Grid_Size_Y"});
    grid[2] = table.column({"Grid_Size_Z"});
    block[0] = table.column({"Workgroup_Size_X", "Workgroup_Size", "wgr"});
    block[1] = table.column({"Workgroup_Size_Y"});
    block[2] = table.column({"Workgroup_Size_Z"});
  }

  // A single column holds the product of three; the others are 1 then.
  void read(const AmdTable& table, Dim3& grid_out, Dim3& block_out) const {
    std::uint64_t g[3], b[3];
    for (int i = 0; i < 3; ++i) {
      b[i] = table.whole(block[i]).value_or(i == 0 ? 0 : 1);
      g[i] = blocks(table.whole(grid[i]).value_or(i == 0 ? 0 : 1), b[i]);
    }
    if (b[0] == 0 || g[0] == 0) return;
    grid_out = {g[0], g[1], g[2]};
    block_out = {b[0], b[1], b[2]};
  }
};

class Devices {
 public:
  explicit Devices(Timeline& timeline) : timeline_(timeline) {}
  std::uint32_t place(std::uint64_t id) {
    const auto [it, fresh] = places_.try_emplace(id, static_cast<std::uint32_t>(timeline_.devices.size()));
    if (fresh) {
      timeline_.devices.emplace_back();
      timeline_.devices.back().id = static_cast<std::uint32_t>(id);
    }
    return it->second;
  }

 private:
  Timeline& timeline_;
  std::map<std::uint64_t, std::uint32_t> places_;
};

CopyKind copy_direction(std::string_view text) {
  const auto ends = [&](std::string_view from, std::string_view to) {
    const auto first = text.find(from);
    return first != std::string_view::npos && text.find(to, first + from.size()) != std::string_view::npos;
  };
  if (ends("HOST", "DEVICE")) return CopyKind::host_to_device;
  if (ends("DEVICE", "HOST")) return CopyKind::device_to_host;
  if (ends("DEVICE", "DEVICE")) return CopyKind::device_to_device;
  return CopyKind::other;
}

class TraceReader {
 public:
  TraceReader(const Input& input, const TimelineOptions& options)
      : input_(input), options_(options), table_(input), names_(timeline_.names), devices_(timeline_), shape_(table_) {
    timeline_.format = kFormat;
    start_ = table_.column({"Start_Timestamp", "BeginNs", "Start"});
    end_ = table_.column({"End_Timestamp", "EndNs", "End"});
    name_ = table_.column({"Kernel_Name", "KernelName", "Name"});
    device_ = table_.column({"Agent_Id", "GPU_ID", "gpu-id", "Destination_Agent_Id"});
    queue_ = table_.column({"Queue_Id", "queue-id"});
    stream_ = table_.column({"Stream_Id"});
    correlation_ = table_.column({"Correlation_Id"});
    process_ = table_.column({"Process_Id", "pid"});
    direction_ = table_.column({"Direction"});
  }

  Timeline read() {
    try {
      while (table_.next()) add();
    } catch (const InputError& fault) {
      if (!options_.partial || timeline_.activities.empty()) throw;
      timeline_.warnings.push_back({"partial", fault.what(), std::nullopt});
    }
    finish();
    return std::move(timeline_);
  }

 private:
  void add() {
    const auto start = table_.whole(start_);
    const auto end = table_.whole(end_);
    // A kernel that never finished has no end or one of 0.
    if (!start || !end || *end < *start || *end > kLatest) {
      if (bad_times_++ == 0) first_bad_line_ = table_.line();
      return;
    }
    GpuActivity activity;
    activity.span = {static_cast<std::int64_t>(*start), static_cast<std::int64_t>(*end)};
    if (direction_ && !name_) {
      activity.work = GpuWork::copy;
      activity.copy = copy_direction(table_.cell(direction_));
      activity.name = activity.full_name = names_.intern(table_.cell(direction_));
    } else {
      const auto name = amd_kernel_name(table_.cell(name_));
      activity.full_name = names_.intern(name);
      activity.name = names_.intern(short_kernel_name(name));
      Dim3 grid, block;
      shape_.read(table_, grid, block);
      activity.grid = grid;
      activity.block = block;
    }
    activity.device = devices_.place(table_.digits(device_));
    activity.stream = table_.whole(stream_ ? stream_ : queue_).value_or(0);
    activity.process = table_.whole(process_).value_or(0);
    activity.correlation = table_.whole(correlation_).value_or(0);
    timeline_.activities.push_back(activity);
  }

  void finish() {
    if (timeline_.activities.empty())
      refuse(input_, bad_times_ > 0 ? "bad-times" : "no-gpu-work",
             bad_times_ > 0 ? fmt::format("none of {} rows has a start and an end", bad_times_)
                            : "a trace without a single kernel",
             "rows with timestamps", "check that the program ran kernels while the profiler was on");
    std::stable_sort(timeline_.activities.begin(), timeline_.activities.end(),
                     [](const auto& a, const auto& b) { return a.span.start_ns < b.span.start_ns; });
    if (bad_times_ > 0)
      timeline_.warnings.push_back(
          {"bad-times",
           fmt::format("{} rows without a start and a later end were left out, the first in line {}", bad_times_,
                       first_bad_line_),
           std::nullopt});
  }

  static constexpr std::uint64_t kLatest = std::uint64_t{1} << 62U;
  Input input_;
  const TimelineOptions& options_;
  AmdTable table_;
  Timeline timeline_;
  NameTable names_;
  Devices devices_;
  ShapeColumns shape_;
  std::optional<std::size_t> start_, end_, name_, device_, queue_, stream_, correlation_, process_, direction_;
  std::uint64_t bad_times_ = 0, first_bad_line_ = 0;
};

// "Name","Calls","TotalDurationNs","AverageNs","Percentage"[,"MinNs","MaxNs","StdDev"]
Timeline read_stats(const Input& input) {
  AmdTable table(input);
  Timeline timeline;
  timeline.format = kFormat;
  NameTable names(timeline.names);
  timeline.devices.emplace_back();
  const auto name = table.column({"Name"});
  const auto calls = table.column({"Calls"});
  const auto total = table.column({"TotalDurationNs", "TotalDuration(ns)"});
  const auto least = table.column({"MinNs", "Min(ns)"});
  const auto most = table.column({"MaxNs", "Max(ns)"});
  const auto seconds = [&](std::optional<std::size_t> column) -> std::optional<double> {
    const auto ns = table.number(column);
    return ns ? std::optional<double>(*ns * 1e-9) : std::nullopt;
  };
  while (table.next()) {
    KernelTotals totals;
    totals.name = names.intern(amd_kernel_name(table.cell(name)));
    totals.launches = table.whole(calls).value_or(0);
    totals.total_s = seconds(total).value_or(0);
    totals.min_s = seconds(least);
    totals.max_s = seconds(most);
    if (totals.total_s < 0) table.refuse_cell(*total, "a time of 0 or more");
    timeline.totals.push_back(totals);
  }
  if (timeline.totals.empty()) refuse(input, "no-gpu-work", "statistics without a single kernel", "rows");
  return timeline;
}

bool is_stats(std::string_view head) { return header_names(head, {"Name", "Calls", "TotalDurationNs"}); }

}  // namespace

bool looks_like_rocprof_trace(std::string_view head) {
  if (is_stats(head)) return true;
  const bool timed =
      header_names(head, {"Start_Timestamp", "End_Timestamp"}) || header_names(head, {"BeginNs", "EndNs"});
  if (!timed || looks_like_amd_counters(head)) return false;
  return header_names(head, {"Kernel_Name"}) || header_names(head, {"KernelName"}) || header_names(head, {"Direction"});
}

Timeline read_rocprof_trace(const TimelineSource& source, const TimelineOptions& options) {
  const auto input = source.unpacked(options);
  return is_stats(source.head) ? read_stats(input) : TraceReader(input, options).read();
}

}  // namespace roofline
