// Traces in Chrome's format: PyTorch (Kineto), and what vLLM and SGLang write through it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "roofline/names.h"
#include "timeline/chrome_event.h"
#include "timeline/chunks.h"
#include "timeline/json_window.h"
#include "timeline/readers.h"

namespace roofline {
namespace {

constexpr const char* kPartialHint = "fetch the file again; --partial shows what can be read";

// --- copies ---

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// "Memcpy HtoD (Pageable -> Device)"
CopyKind copy_kind(std::string_view name) {
  if (has(name, "HtoD")) return CopyKind::host_to_device;
  if (has(name, "DtoH")) return CopyKind::device_to_host;
  if (has(name, "DtoD")) return CopyKind::device_to_device;
  if (has(name, "PtoP") || has(name, "Peer")) return CopyKind::peer_to_peer;
  return CopyKind::other;
}

// Shapes without the blanks between, so that equal ones are equal text. Strings keep theirs.
std::string_view without_blanks(std::string_view json, std::string& scratch) {
  scratch.clear();
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\' && i + 1 < json.size()) scratch += json[i++];
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (in_string || !blank) scratch += json[i];
  }
  return scratch;
}

// One number for a thread of a process, unique within a file for the sizes that systems give out.
std::uint64_t thread_key(const ChromeEvent& event) { return (event.process << 32U) ^ event.thread; }

std::string plural(std::uint64_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

// --- devices ---

// The gfx name that ROCm reports as "compute capability". Only where it says one product line.
std::string amd_capability(int major, int minor) {
  if (major == 9 && minor == 4) return "gfx942";
  if (major == 9 && minor == 5) return "gfx950";
  return {};
}

DeviceInfo device_of(const nlohmann::json& entry) {
  DeviceInfo device;
  const auto integer = [&](const char* key) -> std::optional<int> {
    const auto it = entry.find(key);
    if (it == entry.end() || !it->is_number_integer()) return std::nullopt;
    return it->get<int>();
  };
  device.id = static_cast<std::uint32_t>(integer("id").value_or(0));
  if (const auto it = entry.find("name"); it != entry.end() && it->is_string()) device.name = it->get<std::string>();
  const auto major = integer("computeMajor");
  const auto minor = integer("computeMinor");
  constexpr int kAmdWarp = 64;
  if (major && minor)
    device.compute_capability =
        integer("warpSize") == kAmdWarp ? amd_capability(*major, *minor) : fmt::format("{}.{}", *major, *minor);
  device.sm_count = integer("numSms");
  return device;
}

// --- the reader ---

class ChromeReader {
 public:
  ChromeReader(const TimelineSource& source, const TimelineOptions& options)
      : label_(source.label),
        options_(options),
        total_(source.file->size()),
        window_(open_byte_stream(source.file, source.label, options.max_decompressed)),
        names_(timeline_.names) {}

  Timeline read() {
    timeline_.format = "torch-trace";
    try {
      read_top();
    } catch (const JsonWindow::Unfinished& at) {
      stop_at(truncated(at));
    } catch (const InputError& fault) {
      stop_at(fault);
    }
    finish();
    return std::move(timeline_);
  }

 private:
  // An event that began and did not yet end (phases B and E).
  struct Open {
    ChromeEvent event;
    std::string name;
  };

  // --- where it goes wrong ---

  InputError truncated(const JsonWindow::Unfinished& at) const {
    return InputError({"truncated", label_, at.end, std::nullopt,
                       fmt::format("the trace is cut (the value that starts at byte {} has no end; {} before it)",
                                   at.begin, plural(events_, "whole event")),
                       "", kPartialHint});
  }
  [[noreturn]] void refuse_here(std::string found, std::string expected) {
    throw InputError(
        {"bad-json", label_, window_.offset(), std::nullopt, std::move(found), std::move(expected), kPartialHint});
  }
  std::string seen() {
    if (window_.at_end()) return fmt::format("the end of the trace after {} events", events_);
    const char c = window_.peek();
    return c >= ' ' && c <= '~' ? fmt::format("'{}'", c) : fmt::format("byte {:#04x}", static_cast<unsigned char>(c));
  }
  void expect(char c, const char* where) {
    if (!window_.take(c)) refuse_missing(fmt::format("'{}' {}", c, where));
  }
  [[noreturn]] void refuse_missing(std::string expected) {
    if (!window_.at_end()) refuse_here(seen(), std::move(expected));
    throw InputError({"truncated", label_, window_.offset(), std::nullopt, seen(), std::move(expected), kPartialHint});
  }
  void stop_at(const InputError& fault) {
    if (!options_.partial || events_ == 0) throw InputError(fault);
    timeline_.warnings.push_back({"partial", fault.what(), std::nullopt});
  }

  // --- structure ---

  void read_top() {
    skip_byte_order_mark();
    if (window_.peek() == '[') return read_events(true);
    expect('{', "at the start of a trace");
    bool first = true;
    while (!window_.take('}')) {
      if (!first) expect(',', "between the entries of the trace");
      first = false;
      const auto key = std::string(whole_value().value_or(""));
      expect(':', "after a key");
      if (key == "\"traceEvents\"" && window_.peek() == '[')
        read_events(false);
      else if (const auto text = whole_value())
        read_entry(key, *text);
    }
    if (!window_.at_end())
      timeline_.warnings.push_back(
          {"trailing-bytes",
           fmt::format("what stands after the end of the trace, at byte {}, was not read", window_.offset()),
           std::nullopt});
  }

  void skip_byte_order_mark() {
    for (const char c : {'\xEF', '\xBB', '\xBF'})
      if (!window_.take(c)) return;
  }

  std::optional<std::string_view> whole_value() {
    const auto text = window_.value();
    if (!text) ++too_large_;
    if (text && text->empty()) refuse_missing("a value");
    return text;
  }

  // The format lets a bare array end without its bracket, so that a program may stop at any time.
  void read_events(bool bare) {
    window_.take('[');
    for (bool first = true; !window_.take(']'); first = false) {
      if (bare && window_.at_end()) {
        timeline_.warnings.push_back({"no-end", "the list of events has no end; it may have been cut", std::nullopt});
        return;
      }
      if (!first) expect(',', "between events");
      if (!first && window_.take(']')) return;  // a comma after the last event
      const auto at = window_.offset();
      const auto text = whole_value();
      ++events_;
      if (text && text->front() == '{') read_event(*text, at);
      report_progress();
    }
  }

  void report_progress() {
    constexpr std::uint64_t kEvery = 1U << 16U;
    if (options_.progress && events_ % kEvery == 0) options_.progress(window_.consumed(), total_);
  }

  // --- what stands beside the events ---

  void read_entry(const std::string& key, std::string_view text) {
    const bool wanted = key == "\"deviceProperties\"" || key == "\"distributedInfo\"" || key == "\"cupti_version\"" ||
                        key == "\"roctracer_version\"" || key == "\"schemaVersion\"";
    if (!wanted) return;
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded()) return;
    if (key == "\"schemaVersion\"") kineto_ = true;
    if (key == "\"cupti_version\"") collector_ = "CUPTI " + json.dump();
    if (key == "\"roctracer_version\"") collector_ = "roctracer " + json.dump();
    if (key == "\"deviceProperties\"" && json.is_array())
      for (const auto& entry : json)
        if (entry.is_object()) listed_devices_.push_back(device_of(entry));
    if (key == "\"distributedInfo\"" && json.is_object()) {
      timeline_.rank = integer(json, "rank");
      timeline_.world_size = integer(json, "world_size");
    }
  }

  static std::optional<int> integer(const nlohmann::json& object, const char* key) {
    const auto it = object.find(key);
    if (it == object.end() || !it->is_number_integer()) return std::nullopt;
    return it->get<int>();
  }

  // --- events ---

  void read_event(std::string_view text, std::uint64_t at) {
    const auto result = parser_.parse(text, event_);
    if (result == ChromeEventParser::Result::broken)
      throw InputError({"bad-json", label_, at, std::nullopt,
                        fmt::format("event {} is no JSON ({})", events_, parser_.error()), "", kPartialHint});
    if (result == ChromeEventParser::Result::ignored) return;
    if (event_.category == TraceCategory::none) {
      ++without_category_;
      return;
    }
    if (event_.phase == 'X') return keep(event_, at);
    pair_up(at);
  }

  // Begin and end events nest per thread.
  void pair_up(std::uint64_t at) {
    auto& open = open_[thread_key(event_)];
    if (event_.phase == 'B') {
      // What views point to does not outlive the next event, and duration events carry no shapes.
      open.push_back({event_, std::string(event_.name)});
      auto& e = open.back().event;
      e.shapes = e.types = e.values = e.collective = e.collective_type = e.group = e.ranks = {};
      return;
    }
    if (open.empty()) {
      ++unmatched_;
      return;
    }
    auto [event, name] = std::move(open.back());
    open.pop_back();
    event.name = name;
    if (event.start_ns && event_.start_ns) event.duration_ns = *event_.start_ns - *event.start_ns;
    keep(event, at);
  }

  void keep(const ChromeEvent& e, std::uint64_t at) {
    if (e.category == TraceCategory::profiler_range) {
      ++profiler_ranges_;
      return;
    }
    const auto duration = e.duration_ns.value_or(0);
    if (!e.start_ns || duration < 0 || (!e.duration_ns && e.category != TraceCategory::annotation)) {
      if (bad_times_++ == 0) first_bad_time_ = at;
      return;
    }
    const Span span{*e.start_ns, *e.start_ns + duration};
    switch (e.category) {
      case TraceCategory::kernel:
      case TraceCategory::copy:
      case TraceCategory::fill:
        return keep_activity(e, span);
      case TraceCategory::host_call:
        calls_.push_back({span, names_.intern(e.name), thread_key(e), e.correlation, host_call_kind(e.name)});
        return;
      case TraceCategory::operator_call:
        return keep_operator(e, span);
      case TraceCategory::annotation:
      case TraceCategory::gpu_annotation:
        timeline_.ranges.push_back(
            {span, names_.intern(e.name), thread_key(e), e.category == TraceCategory::gpu_annotation});
        return;
      case TraceCategory::recording:
        timeline_.recorded = span;
        return;
      default:
        return;
    }
  }

  void keep_activity(const ChromeEvent& e, Span span) {
    GpuActivity activity;
    activity.span = span;
    activity.full_name = names_.intern(e.name);
    activity.name = short_name(activity.full_name, e);
    activity.device = static_cast<std::uint32_t>(e.device.value_or(0));
    devices_used_.insert(activity.device);
    activity.context = e.context;
    activity.stream = e.stream;
    activity.correlation = e.correlation;
    activity.external_id = e.external_id;
    activity.graph_node = e.graph_node;
    activity.grid = e.grid;
    activity.block = e.block;
    activity.bytes = e.bytes;
    if (e.category == TraceCategory::copy) {
      activity.work = GpuWork::copy;
      activity.copy = copy_kind(e.name);
    }
    if (e.category == TraceCategory::fill) activity.work = GpuWork::fill;
    if (!e.collective.empty()) activity.collective = collective_of(e);
    activities_.push_back(activity);
  }

  std::uint32_t short_name(std::uint32_t full, const ChromeEvent& e) {
    if (e.category != TraceCategory::kernel) return full;
    const auto [it, fresh] = short_names_.try_emplace(full, kNone);
    if (fresh) it->second = names_.intern(short_kernel_name(e.name));
    return it->second;
  }

  std::uint32_t collective_of(const ChromeEvent& e) {
    CollectiveCall call;
    call.name = names_.intern(e.collective);
    if (!e.collective_type.empty()) call.type = names_.intern(e.collective_type);
    if (!e.group.empty()) call.group = names_.intern(e.group);
    if (!e.ranks.empty()) call.ranks = names_.intern(e.ranks);
    call.elements_in = e.elements_in;
    call.elements_out = e.elements_out;
    call.group_size = static_cast<std::uint32_t>(std::min<std::uint64_t>(e.group_size, kNone));
    auto& all = timeline_.collectives;
    const auto key =
        std::tuple(call.name, call.type, call.group, call.ranks, call.elements_in, call.elements_out, call.group_size);
    const auto [it, fresh] = collectives_.try_emplace(key, static_cast<std::uint32_t>(all.size()));
    if (fresh) all.push_back(call);
    return it->second;
  }

  void keep_operator(const ChromeEvent& e, Span span) {
    OperatorCall call;
    call.span = span;
    call.name = names_.intern(e.name);
    call.thread = thread_key(e);
    call.external_id = e.external_id;
    call.correlation = e.correlation;
    if (!e.shapes.empty()) call.shapes = names_.intern(without_blanks(e.shapes, scratch_));
    if (!e.types.empty()) call.types = names_.intern(without_blanks(e.types, scratch_));
    if (!e.values.empty()) call.values = names_.intern(without_blanks(e.values, scratch_));
    operators_.push_back(call);
  }

  // --- the end ---

  void finish() {
    timeline_.activities = activities_.take();
    timeline_.calls = calls_.take();
    timeline_.operators = operators_.take();
    refuse_useless();
    number_devices();
    sort_by_start(timeline_.activities, [](const GpuActivity& a) {
      return std::tuple(a.device, a.stream, a.correlation, a.full_name, a.context, a.process);
    });
    sort_by_start(timeline_.calls, [](const HostCall& c) { return std::tuple(c.thread, c.correlation, c.name); });
    sort_by_start(timeline_.ranges, [](const NamedRange& r) { return std::tuple(r.thread, r.name, r.on_gpu); });
    sort_by_start(timeline_.operators,
                  [](const OperatorCall& o) { return std::tuple(o.thread, o.external_id, o.correlation, o.name); });
    if (kineto_) timeline_.producer = collector_.empty() ? "PyTorch (Kineto)" : "PyTorch (Kineto, " + collector_ + ")";
    add_warnings();
    if (options_.progress) options_.progress(total_, total_);
  }

  // In place: the room that a stable sort takes is half of what is sorted. Of equal spans `then` decides.
  template <typename T, typename Then>
  static void sort_by_start(std::vector<T>& items, Then then) {
    const auto by_start = [](const T& a, const T& b) {
      return std::pair(a.span.start_ns, -a.span.end_ns) < std::pair(b.span.start_ns, -b.span.end_ns);
    };
    if (std::is_sorted(items.begin(), items.end(), by_start)) return;
    std::sort(items.begin(), items.end(), [&](const T& a, const T& b) {
      if (by_start(a, b)) return true;
      return !by_start(b, a) && then(a) < then(b);
    });
  }

  // A trace without work on a GPU is no timeline of one; which of the known kinds it is, is said.
  void refuse_useless() const {
    if (!timeline_.activities.empty()) return;
    const auto refuse_kind = [&](std::string kind, std::string found, std::string action) {
      throw InputError({std::move(kind), label_, std::nullopt, std::nullopt, std::move(found),
                        "kernels of a GPU (category \"kernel\")", std::move(action)});
    };
    if (profiler_ranges_ > 0)
      refuse_kind(
          "false-durations",
          fmt::format("a range trace with false durations: {}, whose counters are real, but whose durations are "
                      "an equal split of the window",
                      plural(profiler_ranges_, "profiler range")),
          "record it again without the profiler's metrics for times, or with ncu for counters");
    if (!timeline_.operators.empty())
      refuse_kind(
          "no-gpu-work",
          fmt::format("a trace of the CPU alone: {}, no kernel", plural(timeline_.operators.size(), "operator")),
          "record it with ProfilerActivity.CUDA");
    if (without_category_ > 0)
      refuse_kind("not-a-gpu-trace",
                  fmt::format("a Chrome trace of {} without a category, such as of phases inside one kernel",
                              plural(without_category_, "span")),
                  "record whole kernels with the PyTorch profiler or nsys");
    refuse_kind("no-events", fmt::format("a Chrome trace without work on a GPU ({})", plural(events_, "event")),
                "check that the profiler was running while the program did");
  }

  // From the profiler's numbers to places in Timeline::devices; only devices that did something are listed.
  void number_devices() {
    std::unordered_map<std::uint32_t, std::uint32_t> place;
    for (const auto id : devices_used_) {
      place.emplace(id, static_cast<std::uint32_t>(timeline_.devices.size()));
      timeline_.devices.push_back(listed_device(id));
    }
    timeline_.listed_devices = static_cast<std::uint32_t>(listed_devices_.size());
    for (auto& activity : timeline_.activities) activity.device = place.at(activity.device);
  }

  // ROCm numbers devices in the trace by node and in the list by index: where the list knows no such number, and all in
  // it are alike, it is one of them.
  DeviceInfo listed_device(std::uint32_t id) const {
    const auto it =
        std::find_if(listed_devices_.begin(), listed_devices_.end(), [&](const auto& d) { return d.id == id; });
    if (it != listed_devices_.end()) return *it;
    const auto alike = [&](const DeviceInfo& d) {
      const auto& first = listed_devices_.front();
      return d.name == first.name && d.compute_capability == first.compute_capability && d.sm_count == first.sm_count;
    };
    DeviceInfo device;
    if (!listed_devices_.empty() && std::all_of(listed_devices_.begin(), listed_devices_.end(), alike))
      device = listed_devices_.front();
    device.id = id;
    return device;
  }

  void add_warnings() {
    const auto warn = [&](const char* code, std::string message) {
      timeline_.warnings.push_back({code, std::move(message), std::nullopt});
    };
    if (bad_times_ > 0)
      warn("bad-times",
           fmt::format("{} events have no usable time (missing, negative, not a number or out of range) and "
                       "were left out, the first at byte {}",
                       bad_times_, first_bad_time_));
    if (too_large_ > 0)
      warn("large-values",
           fmt::format("{} values of more than {} MiB were passed over", too_large_, JsonWindow::kLargestValue >> 20U));
    if (parser_.repaired() > 0)
      warn("repaired-text",
           fmt::format("{} events hold bytes that JSON does not allow; they were replaced", parser_.repaired()));
    for (const auto& [thread, open] : open_) unmatched_ += open.size();
    if (unmatched_ > 0) warn("unmatched", fmt::format("{} begin or end events have no counterpart", unmatched_));
    if (profiler_ranges_ > 0)
      warn("false-durations", fmt::format("{} profiler ranges were left out: their durations are an equal split of the "
                                          "window",
                                          profiler_ranges_));
  }

  using CollectiveKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t,
                                   std::uint64_t, std::uint32_t>;

  std::string label_;
  const TimelineOptions& options_;
  std::uint64_t total_;
  JsonWindow window_;
  Timeline timeline_;
  NameTable names_;
  Chunks<GpuActivity> activities_;
  Chunks<HostCall> calls_;
  Chunks<OperatorCall> operators_;
  ChromeEventParser parser_;
  ChromeEvent event_;
  std::string scratch_;
  std::unordered_map<std::uint32_t, std::uint32_t> short_names_;  // full to short
  std::map<CollectiveKey, std::uint32_t> collectives_;
  std::unordered_map<std::uint64_t, std::vector<Open>> open_;  // by thread
  std::set<std::uint32_t> devices_used_;
  std::vector<DeviceInfo> listed_devices_;
  bool kineto_ = false;
  std::string collector_;
  std::uint64_t events_ = 0, without_category_ = 0, profiler_ranges_ = 0, too_large_ = 0, unmatched_ = 0;
  std::uint64_t bad_times_ = 0, first_bad_time_ = 0;
};

// The JSON inside a tar archive starts after the header of its first member.
std::string_view skip_tar_header(std::string_view head) {
  constexpr std::size_t kBlock = 512;
  const bool tar = head.size() > kBlock && head.substr(257).starts_with("ustar");
  return tar ? head.substr(kBlock) : head;
}

}  // namespace

bool looks_like_chrome_trace(std::string_view head) {
  const bool tar = skip_tar_header(head).size() != head.size();
  if (tar && head.find(".json") != std::string_view::npos) return true;
  head = skip_tar_header(head);
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  head.remove_prefix(first);
  const auto marked = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
  if (head.front() == '{')
    return marked("\"traceEvents\"") || (marked("\"schemaVersion\"") && marked("\"deviceProperties\""));
  return head.front() == '[' && marked("\"ph\"") && (marked("\"ts\"") || marked("\"cat\""));
}

Timeline read_chrome_trace(const TimelineSource& source, const TimelineOptions& options) {
  return ChromeReader(source, options).read();
}

}  // namespace roofline
