#include "timeline/segments.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace roofline {
namespace {

constexpr std::int64_t kMostLatency = 20'000;  // ns from the return of a launch call

// What runs on a device at one moment.
struct Running {
  std::uint32_t compute = 0, communication = 0, copies = 0, graphs = 0;

  std::uint32_t& of(const TimelineFacts& facts, const GpuActivity& a) {
    if (a.work == GpuWork::graph) return graphs;
    if (a.work != GpuWork::kernel) return copies;
    return facts.communication(a) ? communication : compute;
  }
  bool idle() const { return compute + communication + copies + graphs == 0; }

  Segment segment(std::int64_t start) const {
    Segment s;
    s.start_ns = start;
    s.computing = compute > 0;
    s.communicating = communication > 0;
    s.copying = copies > 0;
    s.kernels = compute;
    s.part = compute > 0         ? StepPart::compute
             : graphs > 0        ? StepPart::graph
             : communication > 0 ? StepPart::communication
                                 : StepPart::copy;
    return s;
  }
};

// Tells why the GPU idled, piece by piece, from what the thread did that launched the next work.
class GapReader {
 public:
  explicit GapReader(const TimelineFacts& facts) : facts_(facts) {}

  // `previous` is the activity whose end began the gap.
  void read(Span gap, std::uint32_t previous, std::uint32_t next, Segments& out) {
    next_ = next;
    out_ = &out;
    const auto* call = facts_.call_of(activity(next));
    const auto* before = facts_.call_of(activity(previous));
    if (call && before && loses_between(*before, *call)) return put(gap, StepPart::unseen, kNone);
    // Starting before its own launch: two clocks that do not agree.
    if (!call || call->span.start_ns > gap.end_ns) return put(gap, StepPart::unknown, kNone);
    if (call->span.end_ns <= gap.start_ns) return put(gap, StepPart::device_gap, kNone);
    const auto launch = std::max(gap.start_ns, call->span.start_ns);
    const auto returned = std::clamp(call->span.end_ns, launch, gap.end_ns);
    const auto* thread = facts_.thread(call->thread);
    before_launch({gap.start_ns, launch}, thread);
    put_less_profiler({launch, returned}, StepPart::launch_call, call->name, thread);
    // A launch takes the GPU some microseconds; whoever begins much later waited for something else.
    const auto begun = std::min(gap.end_ns, returned + kMostLatency);
    put({returned, begun}, StepPart::launch_latency, kNone);
    put({begun, gap.end_ns}, StepPart::device_gap, kNone);
  }

 private:
  const GpuActivity& activity(std::uint32_t i) const { return facts_.timeline.activities[i]; }
  const HostCall& host_call(std::uint32_t i) const { return facts_.timeline.calls[i]; }

  // Launches are answered in their order, so lost ones belong between their neighbours.
  bool loses_between(const HostCall& before, const HostCall& after) const {
    const auto it = std::upper_bound(facts_.lost.begin(), facts_.lost.end(), before.span.start_ns,
                                     [&](std::int64_t t, std::uint32_t i) { return t < host_call(i).span.start_ns; });
    return it != facts_.lost.end() && host_call(*it).span.start_ns < after.span.start_ns;
  }

  // The first of `list` that ends after `t`.
  auto first_after(const std::vector<std::uint32_t>& list, std::int64_t t) const {
    return std::lower_bound(list.begin(), list.end(), t,
                            [&](std::uint32_t i, std::int64_t time) { return host_call(i).span.end_ns <= time; });
  }

  void before_launch(Span span, const TimelineFacts::Thread* thread) {
    auto at = span.start_ns;
    if (thread) {
      for (auto it = first_after(thread->calls, at); it != thread->calls.end() && at < span.end_ns; ++it) {
        const auto& call = host_call(*it);
        if (call.span.start_ns >= span.end_ns) break;
        const auto begin = std::clamp(call.span.start_ns, at, span.end_ns);
        const auto end = std::clamp(call.span.end_ns, begin, span.end_ns);
        put_less_profiler({at, begin}, StepPart::launch_late, kNone, thread);
        put_less_profiler({begin, end}, part_of(call), call.name, thread);
        at = end;
      }
    }
    put_less_profiler({at, span.end_ns}, StepPart::launch_late, kNone, thread);
  }

  static StepPart part_of(const HostCall& call) {
    if (call.kind == HostCallKind::synchronize) return StepPart::host_wait;
    return call.kind == HostCallKind::launch || call.kind == HostCallKind::graph_launch ? StepPart::launch_call
                                                                                        : StepPart::host_call;
  }

  void put_less_profiler(Span span, StepPart part, std::uint32_t name, const TimelineFacts::Thread* thread) {
    auto at = span.start_ns;
    if (thread && !thread->profiler.empty()) {
      for (auto it = first_after(thread->profiler, at); it != thread->profiler.end() && at < span.end_ns; ++it) {
        const auto& own = host_call(*it);
        if (own.span.start_ns >= span.end_ns) break;
        const auto begin = std::clamp(own.span.start_ns, at, span.end_ns);
        const auto end = std::clamp(own.span.end_ns, begin, span.end_ns);
        put({at, begin}, part, name);
        put({begin, end}, StepPart::profiler, own.name);
        at = end;
      }
    }
    put({at, span.end_ns}, part, name);
  }

  void put(Span span, StepPart part, std::uint32_t name) {
    if (span.length() <= 0) return;
    Segment s;
    s.start_ns = span.start_ns;
    s.part = part;
    s.call = name;
    s.next = next_;
    out_->push_back(s);
  }

  const TimelineFacts& facts_;
  std::uint32_t next_ = kNone;
  Segments* out_ = nullptr;
};

// Goes through the begins and ends of a device's activities in order.
class Cutter {
 public:
  Cutter(const TimelineFacts& facts, std::span<const std::uint32_t> activities)
      : facts_(facts), activities_(activities), gaps_(facts) {
    // A begin and an end each; only gaps of several causes take more. Growing would hold them twice.
    out_.reserve(2 * activities.size() + 2);
  }

  Segments cut() {
    std::size_t next = 0;
    while (next < activities_.size() || !ends_.empty()) {
      const bool begins =
          next < activities_.size() && (ends_.empty() || at(activities_[next]).span.start_ns <= ends_.top().first);
      begins ? begin(activities_[next++]) : end();
    }
    if (!activities_.empty()) mark(last_ns_);
    return std::move(out_);
  }

 private:
  const GpuActivity& at(std::uint32_t i) const { return facts_.timeline.activities[i]; }

  void begin(std::uint32_t i) {
    const auto& a = at(i);
    if (running_.idle() && last_ != kNone && a.span.start_ns > last_ns_) {
      drop_empty(last_ns_);
      gaps_.read({last_ns_, a.span.start_ns}, last_, i, out_);
    }
    ++running_.of(facts_, a);
    ends_.emplace(a.span.end_ns, i);
    mark(a.span.start_ns);
  }

  void end() {
    const auto [time, i] = ends_.top();
    ends_.pop();
    --running_.of(facts_, at(i));
    last_ns_ = time;
    last_ = i;
    if (!running_.idle()) mark(time);
  }

  // What begins at a time replaces what began at the same time: it lasted for nothing.
  void drop_empty(std::int64_t time) {
    if (!out_.empty() && out_.back().start_ns == time) out_.pop_back();
  }

  void mark(std::int64_t time) {
    drop_empty(time);
    out_.push_back(running_.segment(time));
  }

  const TimelineFacts& facts_;
  std::span<const std::uint32_t> activities_;
  GapReader gaps_;
  Running running_;
  using End = std::pair<std::int64_t, std::uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::int64_t last_ns_ = 0;
  std::uint32_t last_ = kNone;
  Segments out_;
};

void add_piece(StepAccount& account, StepPart part, Span span, std::uint32_t call, std::uint32_t next) {
  const auto index = static_cast<std::size_t>(part);
  const auto length = span.length();
  if (length <= 0) return;
  account.parts[index] += length;
  auto& evidence = account.evidence[index];
  ++evidence.pieces;
  if (length > evidence.longest.length()) {
    evidence.longest = span;
    evidence.next = next;
  }
  if (call != kNone) evidence.calls.emplace_back(call, length);
  // Kept small while it grows: equal names are joined now and then.
  constexpr std::size_t kMany = 1 << 16;
  if (evidence.calls.size() > kMany) finish_account(account);
}

}  // namespace

Segments cut_segments(const TimelineFacts& facts, std::span<const std::uint32_t> activities) {
  return Cutter(facts, activities).cut();
}

void add_window(StepAccount& account, const Segments& segments, Span window) {
  if (window.length() <= 0) return;
  account.wall_ns += window.length();
  if (segments.empty()) return add_piece(account, StepPart::unknown, window, kNone, kNone);
  const auto first = segments.front().start_ns, last = segments.back().start_ns;
  const auto inside =
      Span{std::clamp(first, window.start_ns, window.end_ns), std::clamp(last, window.start_ns, window.end_ns)};
  add_piece(account, StepPart::start, {window.start_ns, inside.start_ns}, kNone, kNone);
  add_piece(account, StepPart::end, {inside.end_ns, window.end_ns}, kNone, kNone);
  auto it = std::upper_bound(segments.begin(), segments.end(), inside.start_ns,
                             [](std::int64_t t, const Segment& s) { return t < s.start_ns; });
  if (it != segments.begin()) --it;
  for (; it + 1 != segments.end() && it->start_ns < inside.end_ns; ++it) {
    const Span span{std::max(it->start_ns, inside.start_ns), std::min((it + 1)->start_ns, inside.end_ns)};
    const auto length = span.length();
    if (length <= 0) continue;
    add_piece(account, it->part, span, it->call, it->next);
    if (it->computing) account.compute_ns += length;
    if (it->communicating) account.communication_ns += length;
    if (it->copying) account.copy_ns += length;
    account.kernel_sum_ns += length * it->kernels;
    if (it->kernels > 1) account.concurrent_ns += length;
  }
}

void finish_account(StepAccount& account) {
  for (auto& evidence : account.evidence) {
    auto& calls = evidence.calls;
    std::sort(calls.begin(), calls.end());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (kept > 0 && calls[kept - 1].first == calls[i].first)
        calls[kept - 1].second += calls[i].second;
      else
        calls[kept++] = calls[i];
    }
    calls.resize(kept);
    std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  }
}

}  // namespace roofline
