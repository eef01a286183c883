// Which operator launched which kernel.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "roofline/operator_work.h"

namespace roofline {
namespace {

// Operators nest per thread: a sweep over both lists with a stack of the open ones.
class Nesting {
 public:
  explicit Nesting(const Timeline& timeline) : timeline_(timeline), parents_(timeline.operators.size(), kNone) {
    for (std::uint32_t i = 0; i < timeline.operators.size(); ++i)
      threads_[timeline.operators[i].thread].operators.push_back(i);
    for (std::uint32_t i = 0; i < timeline.calls.size(); ++i) threads_[timeline.calls[i].thread].calls.push_back(i);
    around_.assign(timeline.calls.size(), kNone);
    for (const auto& [id, thread] : threads_) sweep(thread);
  }

  const std::vector<std::uint32_t>& parents() const { return parents_; }  // per operator
  const std::vector<std::uint32_t>& around() const { return around_; }    // per host call

 private:
  struct Thread {
    std::vector<std::uint32_t> operators, calls;  // by start
  };

  void close_before(std::int64_t time, std::vector<std::uint32_t>& open) const {
    while (!open.empty() && timeline_.operators[open.back()].span.end_ns <= time) open.pop_back();
  }

  void sweep(const Thread& thread) {
    std::vector<std::uint32_t> open;
    std::size_t next = 0;
    const auto enter = [&](std::uint32_t index) {
      close_before(timeline_.operators[index].span.start_ns, open);
      if (!open.empty()) parents_[index] = open.back();
      open.push_back(index);
    };
    for (const auto call : thread.calls) {
      const auto start = timeline_.calls[call].span.start_ns;
      while (next < thread.operators.size() && timeline_.operators[thread.operators[next]].span.start_ns <= start)
        enter(thread.operators[next++]);
      close_before(start, open);
      if (!open.empty()) around_[call] = open.back();
    }
    while (next < thread.operators.size()) enter(thread.operators[next++]);
  }

  const Timeline& timeline_;
  std::unordered_map<std::uint64_t, Thread> threads_;
  std::vector<std::uint32_t> parents_, around_;
};

class Joiner {
 public:
  explicit Joiner(const Timeline& timeline) : timeline_(timeline), nesting_(timeline) {
    for (std::uint32_t i = 0; i < timeline.calls.size(); ++i)
      if (const auto& call = timeline.calls[i]; call.correlation != 0) by_correlation_.emplace(call.correlation, i);
    for (std::uint32_t i = 0; i < timeline.operators.size(); ++i)
      if (const auto id = timeline.operators[i].external_id; id != 0) by_external_id_.emplace(id, i);
  }

  OperatorJoin join() {
    const auto count = timeline_.activities.size();
    join_.call_of.assign(count, kNone);
    join_.modelled_of.assign(count, kNone);
    for (std::uint32_t i = 0; i < count; ++i) add(i);
    for (auto& call : join_.modelled) refine(call);
    return std::move(join_);
  }

 private:
  struct Launcher {
    std::uint32_t operator_call = kNone;
    bool graph = false;
  };

  Launcher launcher_of(const GpuActivity& activity) const {
    if (const auto it = by_correlation_.find(activity.correlation);
        activity.correlation != 0 && it != by_correlation_.end()) {
      // What a graph replays was captured elsewhere: the operator around the replay is not what it does.
      if (timeline_.calls[it->second].kind == HostCallKind::graph_launch) return {kNone, true};
      return {nesting_.around()[it->second], activity.graph_node != 0};
    }
    // Old traces write the correlation number as external id, too, which then names no operator.
    if (activity.external_id == 0 || activity.external_id == activity.correlation)
      return {kNone, activity.graph_node != 0};
    const auto it = by_external_id_.find(activity.external_id);
    return {it == by_external_id_.end() ? kNone : it->second, activity.graph_node != 0};
  }

  void add(std::uint32_t index) {
    const auto& activity = timeline_.activities[index];
    const auto launcher = launcher_of(activity);
    join_.call_of[index] = launcher.operator_call;
    const bool is_kernel = activity.work == GpuWork::kernel;
    if (is_kernel) join_.kernel_ns += activity.span.length();
    const auto modelled = modelled_around(launcher.operator_call);
    if (modelled != kNone) {
      auto& call = join_.modelled[modelled];
      call.activities.push_back(index);
      call.busy_ns += activity.span.length();
      join_.modelled_of[index] = modelled;
      if (is_kernel) join_.modelled_ns += activity.span.length();
    } else if (is_kernel && !has_shape_around(launcher.operator_call)) {
      join_.shapeless_ns += activity.span.length();
      if (launcher.graph) join_.graph_ns += activity.span.length();
    }
  }

  // Index into join_.modelled of the innermost operator with known work; kNone.
  std::uint32_t modelled_around(std::uint32_t call) {
    for (; call != kNone; call = nesting_.parents()[call]) {
      if (const auto it = modelled_calls_.find(call); it != modelled_calls_.end()) return it->second;
      const auto* work = work_of(timeline_.operators[call]);
      if (work == nullptr) continue;
      const auto index = static_cast<std::uint32_t>(join_.modelled.size());
      join_.modelled.push_back({call, *work, {}, 0, kNone});
      modelled_calls_.emplace(call, index);
      return index;
    }
    return kNone;
  }

  bool has_shape_around(std::uint32_t call) const {
    for (; call != kNone; call = nesting_.parents()[call])
      if (timeline_.operators[call].shapes != kNone) return true;
    return false;
  }

  // Calls repeat: each distinct one is modelled once.
  const OperatorWork* work_of(const OperatorCall& call) {
    const auto key = std::tuple(call.name, call.shapes, call.types, call.values);
    const auto it = works_.find(key);
    if (it != works_.end()) return it->second ? &*it->second : nullptr;
    const auto text = [&](std::uint32_t index) {
      return index == kNone ? std::string_view{} : std::string_view(timeline_.names[index]);
    };
    const auto& work =
        works_.emplace(key, operator_work(text(call.name), text(call.shapes), text(call.types), text(call.values)))
            .first->second;
    return work ? &*work : nullptr;
  }

  // The kernel's name tells on which units a product of FP32 or FP64 ran.
  void refine(ModelledCall& call) const {
    call.main_activity =
        *std::max_element(call.activities.begin(), call.activities.end(), [&](std::uint32_t a, std::uint32_t b) {
          return timeline_.activities[a].span.length() < timeline_.activities[b].span.length();
        });
    const auto name = timeline_.activities[call.main_activity].full_name;
    if (name == kNone || call.work.parts.empty()) return;
    const std::string_view kernel = timeline_.names[name];
    auto& precision = call.work.parts.front().precision;
    const auto says = [&](std::string_view part) { return kernel.find(part) != std::string_view::npos; };
    const bool product = call.work.formula != "pointwise" && call.work.formula != "reduction";
    if (!product || precision.path == Path::tensor) return;
    if (precision.type == NumberType::fp32 && (says("tf32") || says("s1688")))
      precision = {NumberType::tf32, Path::tensor, Accumulate::standard, false};
    if (precision.type == NumberType::fp64 && (says("d884") || says("dmma")))
      precision = {NumberType::fp64, Path::tensor, Accumulate::standard, false};
  }

  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

  const Timeline& timeline_;
  Nesting nesting_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_correlation_, by_external_id_;
  std::map<Key, std::optional<OperatorWork>> works_;
  std::unordered_map<std::uint32_t, std::uint32_t> modelled_calls_;  // operator to index
  OperatorJoin join_;
};

}  // namespace

OperatorJoin join_operators(const Timeline& timeline) { return Joiner(timeline).join(); }

}  // namespace roofline
