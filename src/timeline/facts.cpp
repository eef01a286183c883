#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "roofline/model.h"
#include "timeline/segments.h"

namespace roofline {
namespace {

bool starts_capture(std::string_view name) { return name.find("StreamBeginCapture") != std::string_view::npos; }
bool ends_capture(std::string_view name) { return name.find("StreamEndCapture") != std::string_view::npos; }

}  // namespace

bool is_communication(std::string_view kernel_name) {
  // Every kernel of these libraries moves data between GPUs.
  for (const auto* part :
       {"ncclKernel", "ncclDevKernel", "ncclDev", "rcclGenericKernel", "nccl_symk", "ncclSymk", "nvshmem"})
    if (kernel_name.find(part) != std::string_view::npos) return true;
  const auto* rule = model::KernelNames::instance().match(kernel_name);
  return rule != nullptr && rule->op.starts_with("comm.");
}

TimelineFacts::TimelineFacts(const Timeline& t) : timeline(t) {
  find_communication();
  find_threads();
  find_lost();
}

void TimelineFacts::find_communication() {
  std::vector<bool> used(timeline.names.size(), false);
  is_communication.assign(timeline.names.size(), false);
  for (const auto& a : timeline.activities) {
    if (a.work != GpuWork::kernel) continue;
    for (const auto name : {a.name, a.full_name}) {
      if (name == kNone || used[name]) continue;
      used[name] = true;
      is_communication[name] = roofline::is_communication(timeline.names[name]);
    }
  }
}

bool TimelineFacts::communication(const GpuActivity& a) const {
  if (a.work != GpuWork::kernel) return false;
  return (a.name != kNone && is_communication[a.name]) || (a.full_name != kNone && is_communication[a.full_name]);
}

void TimelineFacts::find_threads() {
  std::map<std::uint64_t, Thread> by_number;
  std::map<std::uint64_t, std::int64_t> open_until;  // end of the thread's last outermost call
  for (std::uint32_t i = 0; i < timeline.calls.size(); ++i) {
    const auto& call = timeline.calls[i];
    auto& thread = by_number[call.thread];
    if (call.kind == HostCallKind::profiler) {
      thread.profiler.push_back(i);
      continue;
    }
    if (call.correlation != 0) call_by_order.push_back(i);
    auto& until = open_until.try_emplace(call.thread, call.span.start_ns).first->second;
    if (call.span.end_ns <= until && !thread.calls.empty()) continue;  // inside another one
    until = std::max(until, call.span.end_ns);
    thread.calls.push_back(i);
  }
  threads.assign(std::make_move_iterator(by_number.begin()), std::make_move_iterator(by_number.end()));
  sort_numbered();
}

// By number, then by start. Of nested calls only the outermost stays: the runtime's, not the driver's inside it.
void TimelineFacts::sort_numbered() {
  const auto& calls = timeline.calls;
  std::stable_sort(call_by_order.begin(), call_by_order.end(), [&](auto a, auto b) {
    return std::tuple(calls[a].correlation, calls[a].span.start_ns, calls[b].span.end_ns) <
           std::tuple(calls[b].correlation, calls[b].span.start_ns, calls[a].span.end_ns);
  });
  struct Outermost {
    std::uint64_t correlation = 0;
    std::int64_t end_ns = 0;
  };
  std::unordered_map<std::uint64_t, Outermost> last;  // by thread
  std::size_t kept = 0;
  for (const auto i : call_by_order) {
    const auto& call = calls[i];
    auto& outer = last[call.thread];
    if (outer.correlation == call.correlation && call.span.end_ns <= outer.end_ns) continue;
    outer = {call.correlation, call.span.end_ns};
    call_by_order[kept++] = i;
  }
  call_by_order.resize(kept);
}

const TimelineFacts::Thread* TimelineFacts::thread(std::uint64_t number) const {
  const auto it = std::lower_bound(threads.begin(), threads.end(), number,
                                   [](const auto& entry, std::uint64_t n) { return entry.first < n; });
  return it != threads.end() && it->first == number ? &it->second : nullptr;
}

const HostCall* TimelineFacts::call_of(const GpuActivity& activity) const { return find_call(activity).call; }

TimelineFacts::FoundCall TimelineFacts::find_call(const GpuActivity& activity) const {
  FoundCall found;
  if (activity.correlation == 0) return found;
  const auto& calls = timeline.calls;
  const auto begin =
      std::lower_bound(call_by_order.begin(), call_by_order.end(), activity.correlation,
                       [&](std::uint32_t call, std::uint64_t number) { return calls[call].correlation < number; });
  const auto end =
      std::upper_bound(begin, call_by_order.end(), activity.correlation,
                       [&](std::uint64_t number, std::uint32_t call) { return number < calls[call].correlation; });
  if (begin == end) return found;
  const auto later = std::upper_bound(begin, end, activity.span.start_ns, [&](std::int64_t start, std::uint32_t call) {
    return start < calls[call].span.start_ns;
  });
  found.call = &calls[later == begin ? *begin : *std::prev(later)];
  found.several = end - begin > 1;
  return found;
}

// What a thread launches while it captures a graph does not run then.
void TimelineFacts::find_lost() {
  std::vector<std::uint64_t> answered;
  answered.reserve(timeline.activities.size());
  for (const auto& a : timeline.activities)
    if (a.correlation != 0) answered.push_back(a.correlation);
  if (answered.empty()) return;  // a file without these numbers loses nothing
  std::sort(answered.begin(), answered.end());
  std::vector<std::uint8_t> mark(timeline.names.size(), 0);
  for (std::size_t i = 0; i < timeline.names.size(); ++i)
    mark[i] = starts_capture(timeline.names[i]) ? 1 : ends_capture(timeline.names[i]) ? 2 : 0;
  std::map<std::uint64_t, bool> capturing;
  for (std::uint32_t i = 0; i < timeline.calls.size(); ++i) {
    const auto& call = timeline.calls[i];
    if (call.name != kNone && mark[call.name] != 0) capturing[call.thread] = mark[call.name] == 1;
    const bool launch = call.kind == HostCallKind::launch || call.kind == HostCallKind::graph_launch;
    if (!launch || call.correlation == 0) continue;
    const auto capture = capturing.find(call.thread);
    if (capture != capturing.end() && capture->second) continue;
    ++launches;
    if (!std::binary_search(answered.begin(), answered.end(), call.correlation)) lost.push_back(i);
  }
}

}  // namespace roofline
