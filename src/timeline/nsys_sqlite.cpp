// SQLite exports of Nsight Systems, schema 3.1 to 3.25. Tables are created lazily and columns come and go with the
// version, so that nothing but a table with start and end of kernels is required; what is there is found by name.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "timeline/readers.h"
#include "timeline/sqlite_database.h"

namespace roofline {
namespace {

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* kFills = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr const char* kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr std::array<const char*, 2> kOverheads = {"PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"};
constexpr std::array<const char*, 2> kMetadata = {"META_DATA_EXPORT", "EXPORT_META_DATA"};

// A global id is the process in bits 24 and up and the thread below.
std::uint64_t process_of(std::uint64_t global_id) { return global_id >> 24; }

CopyKind copy_kind(std::int64_t cupti) {
  switch (cupti) {
    case 1:
    case 3:
      return CopyKind::host_to_device;
    case 2:
    case 4:
      return CopyKind::device_to_host;
    case 5:
    case 6:
    case 7:
    case 8:
      return CopyKind::device_to_device;
    case 10:
      return CopyKind::peer_to_peer;
    default:
      return CopyKind::other;
  }
}

// Texts of the table StringIds, entered into the timeline's names when they are used.
class Strings {
 public:
  Strings(const SqliteDatabase& database, NameTable& names) : names_(names) {
    if (!database.has("StringIds", "id") || !database.has("StringIds", "value")) return;
    database.each_row("StringIds", {"id", "value"}, [&](const SqliteRow& row) {
      texts_.insert_or_assign(row.integer(0), Entry{std::string(row.text(1)), kNone});
    });
  }

  // A column holds the number of a string, or the string itself.
  std::uint32_t name(const SqliteRow& row, int column) {
    if (row.is_null(column)) return kNone;
    if (row.is_text(column)) return row.text(column).empty() ? kNone : names_.intern(row.text(column));
    const auto it = texts_.find(row.integer(column));
    if (it == texts_.end()) return kNone;
    auto& entry = it->second;
    if (entry.name == kNone && !entry.text.empty()) entry.name = names_.intern(entry.text);
    return entry.name;
  }

 private:
  struct Entry {
    std::string text;
    std::uint32_t name;
  };
  NameTable& names_;
  std::unordered_map<std::int64_t, Entry> texts_;
};

class Reader {
 public:
  Reader(const TimelineSource& source, const TimelineOptions& options)
      : source_(source), database_(source, options), names_(timeline_.names), strings_(database_, names_) {}

  Timeline read() {
    timeline_.format = "nsys-sqlite";
    read_metadata();
    check_tables();
    read_devices();
    by_process_ = database_.has(kKernels, "globalPid") || database_.has(kGraphs, "globalPid");
    read_activities();
    read_calls();
    read_overheads();
    read_ranges();
    read_recorded();
    read_diagnostics();
    warn_of_dropped();
    sort();
    return std::move(timeline_);
  }

 private:
  void read_metadata() {
    std::string product, version, schema;
    for (const auto* table : kMetadata) {
      if (!database_.has(table, "name") || !database_.has(table, "value")) continue;
      database_.each_row(table, {"name", "value"}, [&](const SqliteRow& row) {
        if (row.text(0) == "EXPORT_PRODUCT_VERSION") version = row.text(1);
        if (row.text(0) == "EXPORT_PRODUCT_NAME") product = row.text(1);
        if (row.text(0) == "EXPORT_SCHEMA_VERSION") schema = row.text(1);
      });
    }
    if (product.empty() && version.empty()) return;
    timeline_.producer = product.starts_with("NVIDIA ") ? product.substr(7) : product;
    if (!version.empty()) timeline_.producer += " " + version;
    if (!schema.empty()) timeline_.producer += fmt::format(" (schema {})", schema);
  }

  bool has_times(const char* table) const { return database_.has(table, "start") && database_.has(table, "end"); }

  void check_tables() const {
    if (has_times(kKernels) || has_times(kGraphs)) return;
    if (database_.has(kKernels))
      refuse(input(), "bad-schema", fmt::format("table {} has no columns start and end", kKernels),
             "an export of Nsight Systems");
    if (!is_nsys()) refuse_foreign();
    refuse(input(), "no-kernels", "an Nsight Systems export without GPU kernels" + why_no_kernels(),
           fmt::format("a table {}", kKernels),
           "profile with --trace=cuda,nvtx and export again: nsys export --type sqlite REPORT.nsys-rep");
  }

  bool is_nsys() const {
    return database_.has("META_DATA_EXPORT") || database_.has("EXPORT_META_DATA") ||
           database_.has("META_DATA_CAPTURE") || database_.has("StringIds");
  }

  [[noreturn]] void refuse_foreign() const {
    const auto any = [&](std::string_view part) {
      return std::any_of(database_.tables().begin(), database_.tables().end(),
                         [&](const auto& t) { return t.first.find(part) != std::string::npos; });
    };
    if (any("rocpd_"))
      refuse(input(), "rocpd", "a rocpd database of rocprofv3", "its kernel trace as CSV",
             "rocpd convert -i FILE --output-format csv, or rocprofv3 --kernel-trace --output-format csv");
    if (any("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"))
      refuse(input(), "nvprof-sqlite", "a database of nvprof", "an export of Nsight Systems",
             "profile with nsys, or import the database into nvprof and write CSV: nvprof -i FILE --csv "
             "--print-gpu-trace");
    refuse(input(), "no-kernels",
           fmt::format("an SQLite database without GPU activities ({} tables)", database_.tables().size()),
           "an export of Nsight Systems", "nsys export --type sqlite REPORT.nsys-rep");
  }

  // What the host side of such a file tells: whether there was anything to trace, and what the profiler complained of.
  std::string why_no_kernels() const {
    std::uint64_t launches = 0;
    std::unordered_map<std::int64_t, std::string> texts;
    if (database_.has("StringIds", "value"))
      database_.each_row("StringIds", {"id", "value"},
                         [&](const SqliteRow& row) { texts.emplace(row.integer(0), row.text(1)); });
    if (database_.has(kCalls, "nameId"))
      database_.each_row(kCalls, {"nameId"}, [&](const SqliteRow& row) {
        const auto it = texts.find(row.integer(0));
        launches += it != texts.end() && host_call_kind(it->second) == HostCallKind::launch ? 1 : 0;
      });
    std::string out = launches > 0 ? fmt::format(" ({} launch{} on the host, none seen on the GPU)", launches,
                                                 launches == 1 ? "" : "es")
                                   : std::string(" (and no launch on the host)");
    constexpr std::int64_t kError = 3;
    if (database_.has("DIAGNOSTIC_EVENT", "text"))
      database_.each_row("DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const SqliteRow& row) {
        if (row.integer(0) == kError) out += fmt::format("; the profiler says: {}", first_line(row.text(1)));
      });
    return out;
  }

  static std::string first_line(std::string_view text) {
    constexpr std::size_t kMost = 160;
    return std::string(text.substr(0, std::min(text.find('\n'), kMost)));
  }

  void read_devices() {
    for (const auto* table : {"TARGET_INFO_GPU", "TARGET_INFO_CUDA_GPU"}) {
      if (!database_.has(table, "id")) continue;
      database_.each_row(table, {"id", "name", "computeMajor", "computeMinor", "smCount", "clockRate", "l2CacheSize"},
                         [&](const SqliteRow& row) { add_gpu(row); });
    }
    if (database_.has("TARGET_INFO_CUDA_DEVICE", "gpuId"))
      database_.each_row("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}, [&](const SqliteRow& row) {
        gpu_of_.emplace(std::pair{row.count(2), row.count(1)}, row.count(0));
      });
  }

  void add_gpu(const SqliteRow& row) {
    DeviceInfo info;
    info.id = static_cast<std::uint32_t>(row.count(0));
    info.name = row.text(1);
    // smMajor and smMinor say 8.2 of an A100, which is 8.0.
    if (row.count(2) > 0) info.compute_capability = fmt::format("{}.{}", row.count(2), row.count(3));
    if (row.count(4) > 0) info.sm_count = static_cast<int>(row.count(4));
    if (row.count(5) > 0) info.max_sm_clock_hz = static_cast<double>(row.count(5));
    if (row.count(6) > 0) info.l2_bytes = static_cast<double>(row.count(6));
    known_gpus_.emplace(info.id, info);
  }

  // Programs number the GPUs that they may see; the profiler's own number tells them apart across processes.
  std::uint32_t device_of(std::uint64_t cuda_id, std::uint64_t process) {
    constexpr std::uint64_t kPid = 0xFFFFFF;
    const auto it = gpu_of_.find({process & kPid, cuda_id});
    const auto id = static_cast<std::uint32_t>(it != gpu_of_.end() ? it->second : cuda_id);
    if (const auto known = device_index_.find(id); known != device_index_.end()) return known->second;
    const auto index = static_cast<std::uint32_t>(timeline_.devices.size());
    const auto gpu = known_gpus_.find(id);
    timeline_.devices.push_back(gpu != known_gpus_.end() ? gpu->second : DeviceInfo{});
    timeline_.devices.back().id = id;
    device_index_.emplace(id, index);
    return index;
  }

  // Correlation numbers count per process.
  std::uint64_t unique_correlation(std::uint64_t correlation, std::uint64_t process) {
    if (correlation == 0) return 0;
    if (!by_process_) return correlation;
    constexpr int kShift = 40;
    const auto index = process_index_.try_emplace(process, process_index_.size()).first->second;
    return (index << kShift) | (correlation & ((std::uint64_t{1} << kShift) - 1));
  }

  // The columns that all kinds of activities share come first.
  template <typename Fill>
  void read_table(const char* table, std::vector<std::string> more, Fill fill) {
    if (!has_times(table)) return;
    std::vector<std::string> columns = {"start",    "end",           "deviceId",  "contextId",
                                        "streamId", "correlationId", "globalPid", "graphNodeId"};
    columns.insert(columns.end(), more.begin(), more.end());
    database_.each_row(table, columns, [&](const SqliteRow& row) {
      GpuActivity activity;
      if (!read_span(row, activity.span)) return;
      activity.process = process_of(row.count(6));
      activity.device = device_of(row.count(2), activity.process);
      activity.context = row.count(3);
      activity.stream = row.count(4);
      activity.correlation = unique_correlation(row.count(5), activity.process);
      activity.graph_node = row.count(7);
      fill(row, activity);
      timeline_.activities.push_back(activity);
    });
  }

  bool read_span(const SqliteRow& row, Span& span) {
    if (row.is_null(0) || row.is_null(1)) {
      ++unfinished_;
      return false;
    }
    span = {row.integer(0), row.integer(1)};
    // Times are checked against overflow once, here: all arithmetic later on is on differences.
    constexpr std::int64_t kFar = std::int64_t{1} << 61;
    if (span.end_ns >= span.start_ns && span.start_ns > -kFar && span.end_ns < kFar) return true;
    ++backwards_;
    return false;
  }

  static constexpr int kFirst = 8;  // of a table's own columns

  void read_activities() {
    read_table(kKernels,
               {"demangledName", "shortName", "mangledName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"},
               [&](const SqliteRow& row, GpuActivity& a) {
                 a.full_name = strings_.name(row, kFirst);
                 a.name = strings_.name(row, kFirst + 1);
                 if (a.full_name == kNone) a.full_name = strings_.name(row, kFirst + 2);
                 if (a.name == kNone) a.name = a.full_name;
                 a.grid = {row.count(kFirst + 3), row.count(kFirst + 4), row.count(kFirst + 5)};
                 a.block = {row.count(kFirst + 6), row.count(kFirst + 7), row.count(kFirst + 8)};
               });
    read_table(kCopies, {"bytes", "copyKind", "srcDeviceId", "dstDeviceId"}, [&](const SqliteRow& row, GpuActivity& a) {
      a.work = GpuWork::copy;
      a.bytes = row.count(kFirst);
      a.copy = copy_kind(row.integer(kFirst + 1));
      const bool both = !row.is_null(kFirst + 2) && !row.is_null(kFirst + 3);
      if (a.copy == CopyKind::device_to_device && both && row.count(kFirst + 2) != row.count(kFirst + 3))
        a.copy = CopyKind::peer_to_peer;
    });
    read_table(kFills, {"bytes"}, [&](const SqliteRow& row, GpuActivity& a) {
      a.work = GpuWork::fill;
      a.bytes = row.count(kFirst);
    });
    read_table(kGraphs, {"graphId"}, [&](const SqliteRow& row, GpuActivity& a) {
      a.work = GpuWork::graph;
      a.name = names_.intern(row.is_null(kFirst) ? std::string("graph") : fmt::format("graph {}", row.count(kFirst)));
    });
    if (timeline_.activities.empty())
      refuse(input(), "no-kernels", fmt::format("table {} is empty{}", kKernels, why_no_kernels()), "GPU kernels",
             "profile with --trace=cuda while the GPU works");
  }

  void read_calls() {
    if (!has_times(kCalls)) return;
    std::unordered_map<std::uint32_t, HostCallKind> kinds;
    database_.each_row(kCalls, {"start", "end", "globalTid", "correlationId", "nameId"}, [&](const SqliteRow& row) {
      HostCall call;
      if (!read_span(row, call.span)) return;
      call.thread = row.count(2);
      call.correlation = unique_correlation(row.count(3), process_of(call.thread));
      call.name = strings_.name(row, 4);
      if (call.name != kNone) {
        const auto [it, fresh] = kinds.try_emplace(call.name, HostCallKind::other);
        if (fresh) it->second = host_call_kind(timeline_.names[call.name]);
        call.kind = it->second;
      }
      timeline_.calls.push_back(call);
    });
  }

  // Among the overheads are ones of the driver, which would be there without a profiler.
  static bool is_drivers_own(std::string_view text) {
    constexpr std::array<std::string_view, 4> kOwn = {"Command Buffer Full", "oading", "Compil", "dlopen"};
    return std::any_of(kOwn.begin(), kOwn.end(),
                       [&](auto part) { return text.find(part) != std::string_view::npos; }) ||
           text.starts_with("dlclose");
  }

  void read_overheads() {
    for (const auto* table : kOverheads) {
      if (!has_times(table)) continue;
      database_.each_row(table, {"start", "end", "globalTid", "nameId"}, [&](const SqliteRow& row) {
        HostCall call;
        if (!read_span(row, call.span)) return;
        call.thread = row.count(2);
        call.name = strings_.name(row, 3);
        const bool driver = call.name != kNone && is_drivers_own(timeline_.names[call.name]);
        if (driver) return;
        call.kind = HostCallKind::profiler;
        timeline_.calls.push_back(call);
      });
    }
  }

  // Reports of users bring NVTX tables with a suffix of their version.
  void read_ranges() {
    for (const auto& [table, columns] : database_.tables()) {
      if (!table.starts_with("NVTX_EVENTS") || !has_times(table.c_str())) continue;
      database_.each_row(table, {"start", "end", "text", "textId", "globalTid"}, [&](const SqliteRow& row) {
        if (row.is_null(0) || row.is_null(1)) return;  // marks, and ranges still open
        NamedRange range;
        if (!read_span(row, range.span)) return;
        range.name = strings_.name(row, 2);
        if (range.name == kNone) range.name = strings_.name(row, 3);
        if (range.name == kNone) return;
        range.thread = row.count(4);
        timeline_.ranges.push_back(range);
      });
    }
  }

  // Event times count from the start of the recording.
  void read_recorded() {
    if (!database_.has("ANALYSIS_DETAILS", "duration")) return;
    database_.each_row("ANALYSIS_DETAILS", {"duration"}, [&](const SqliteRow& row) {
      const auto duration = row.integer(0);
      const bool holds_all = std::all_of(timeline_.activities.begin(), timeline_.activities.end(), [&](const auto& a) {
        return a.span.start_ns >= 0 && a.span.end_ns <= duration;
      });
      if (duration > 0 && holds_all) timeline_.recorded = Span{0, duration};
    });
  }

  // The profiler's own word on what it lost.
  void read_diagnostics() {
    if (!database_.has("DIAGNOSTIC_EVENT", "text")) return;
    database_.each_row("DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const SqliteRow& row) {
      constexpr std::int64_t kWarning = 2;
      const auto text = row.text(1);
      const auto says = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
      if (row.integer(0) < kWarning) return;
      if (says("dropped") || says("lost") || says("Not all") || says("truncated") || says("overflow"))
        warn("profiler-lost-events", "the profiler says: " + first_line(text));
    });
  }

  void warn_of_dropped() {
    if (backwards_ > 0) warn("clock-backwards", fmt::format("{} records end before they start: left out", backwards_));
    if (unfinished_ > 0) warn("unfinished", fmt::format("{} records have no end: left out", unfinished_));
  }

  void warn(std::string code, std::string message) {
    timeline_.warnings.push_back({std::move(code), std::move(message), std::nullopt});
  }

  void sort() {
    const auto by_start = [](const auto& a, const auto& b) { return a.span.start_ns < b.span.start_ns; };
    const auto in_order = [&](auto& list) {
      if (!std::is_sorted(list.begin(), list.end(), by_start)) std::stable_sort(list.begin(), list.end(), by_start);
    };
    in_order(timeline_.activities);
    in_order(timeline_.calls);
    in_order(timeline_.ranges);
  }

  Input input() const { return {source_.file, source_.label}; }

  const TimelineSource& source_;
  SqliteDatabase database_;
  Timeline timeline_;
  NameTable names_;
  Strings strings_;
  bool by_process_ = false;
  std::map<std::uint32_t, DeviceInfo> known_gpus_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> gpu_of_;  // (process, CUDA's number): profiler's
  std::unordered_map<std::uint32_t, std::uint32_t> device_index_;
  std::unordered_map<std::uint64_t, std::uint64_t> process_index_;
  std::uint64_t unfinished_ = 0, backwards_ = 0;
};

}  // namespace

bool looks_like_sqlite(std::string_view head) { return head.starts_with(std::string_view("SQLite format 3\0", 16)); }

Timeline read_nsys_sqlite(const TimelineSource& source, const TimelineOptions& options) {
  return Reader(source, options).read();
}

}  // namespace roofline
