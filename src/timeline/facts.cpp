#include <algorithm>
#include <map>

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
  // The outermost of nested calls with one number comes first: it started first.
  std::stable_sort(call_by_order.begin(), call_by_order.end(),
                   [this](auto a, auto b) { return timeline.calls[a].correlation < timeline.calls[b].correlation; });
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
  auto it = std::lower_bound(
      call_by_order.begin(), call_by_order.end(), activity.correlation,
      [this](std::uint32_t call, std::uint64_t number) { return timeline.calls[call].correlation < number; });
  for (; it != call_by_order.end() && timeline.calls[*it].correlation == activity.correlation; ++it) {
    const auto& call = timeline.calls[*it];
    // The outermost of nested calls: the runtime's, not the driver's inside it.
    if (found.call != nullptr && call.thread == found.call->thread && call.span.end_ns <= found.call->span.end_ns)
      continue;
    if (found.call != nullptr) found.several = true;
    if (found.call == nullptr || call.span.start_ns <= activity.span.start_ns) found.call = &call;
    if (call.span.start_ns > activity.span.start_ns && found.several) break;
  }
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
