#include "timeline/repetition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace roofline {
namespace {

constexpr std::size_t kLeast = 3;        // repetitions
constexpr double kAlike = 0.8;           // share of kernels that stand at the same place in the next repetition
constexpr double kCovers = 0.5;          // of all kernels
constexpr std::size_t kCandidates = 64;  // each costs one pass

using Places = std::vector<std::uint32_t>;  // positions in the sequence

// The kernels of the stream with most of their time, by start: other streams shift against it.
std::vector<std::uint32_t> main_stream(const Timeline& timeline, std::span<const std::uint32_t> activities) {
  const auto key = [](const GpuActivity& a) { return std::tuple(a.process, a.context, a.stream); };
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::int64_t> time;
  for (const auto i : activities) {
    const auto& a = timeline.activities[i];
    if (a.work == GpuWork::kernel) time[key(a)] += a.span.length();
  }
  std::vector<std::uint32_t> out;
  if (time.empty()) return out;
  const auto most =
      std::max_element(time.begin(), time.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto i : activities) {
    const auto& a = timeline.activities[i];
    if (a.work == GpuWork::kernel && key(a) == most->first) out.push_back(i);
  }
  return out;
}

class Repetition {
 public:
  Repetition(const Timeline& timeline, std::vector<std::uint32_t> sequence)
      : timeline_(timeline), sequence_(std::move(sequence)) {
    for (const auto i : sequence_) names_.push_back(timeline_.activities[i].full_name);
  }

  Places best() const {
    std::unordered_map<std::uint32_t, Places> places;
    for (std::uint32_t i = 0; i < names_.size(); ++i) places[names_[i]].push_back(i);
    std::vector<const Places*> candidates;
    for (const auto& [name, list] : places)
      if (list.size() >= kLeast && covers(list)) candidates.push_back(&list);
    std::sort(candidates.begin(), candidates.end(), [](const Places* a, const Places* b) {
      return std::pair(a->size(), a->front()) < std::pair(b->size(), b->front());
    });
    if (candidates.size() > kCandidates) candidates.resize(kCandidates);
    const Places* best = nullptr;
    for (const auto* list : candidates) {
      if (best && list->size() != best->size()) break;
      if (alike(*list) >= kAlike && (!best || gaps_before(*list) > gaps_before(*best))) best = list;
    }
    return best ? *best : Places{};
  }

 private:
  bool covers(const Places& p) const {
    const auto reach =
        static_cast<double>(p.back() - p.front()) * static_cast<double>(p.size()) / static_cast<double>(p.size() - 1);
    return reach >= kCovers * static_cast<double>(names_.size());
  }

  // How much of what follows one place also follows the next one.
  double alike(const Places& p) const {
    std::size_t same = 0, all = 0;
    for (std::size_t i = 0; i + 2 < p.size(); ++i) {
      const auto a = p[i + 1] - p[i], b = p[i + 2] - p[i + 1];
      const auto common = std::min(a, b);
      for (std::uint32_t k = 0; k < common; ++k) same += names_[p[i] + k] == names_[p[i + 1] + k] ? 1 : 0;
      all += std::max(a, b);
    }
    return all > 0 ? static_cast<double>(same) / static_cast<double>(all) : 0;
  }

  // Steps are apart by more time than what is inside of them.
  std::int64_t gaps_before(const Places& p) const {
    std::int64_t sum = 0;
    for (const auto place : p)
      if (place > 0) sum += span(place).start_ns - span(place - 1).end_ns;
    return sum;
  }

  const Span& span(std::uint32_t place) const { return timeline_.activities[sequence_[place]].span; }

  const Timeline& timeline_;
  std::vector<std::uint32_t> sequence_;
  std::vector<std::uint32_t> names_;
};

}  // namespace

FoundSteps repeated_steps(const TimelineFacts& facts, std::span<const std::uint32_t> activities) {
  const auto sequence = main_stream(facts.timeline, activities);
  const auto places = Repetition(facts.timeline, sequence).best();
  FoundSteps found;
  if (places.empty()) return found;
  // One kernel over and over is a kernel, not a step.
  const auto length = (places.back() - places.front()) / (places.size() - 1);
  if (length < 2) return found;
  found.by = StepsBy::repetition;
  found.of = fmt::format("a sequence of about {} kernels", length);
  for (std::size_t i = 0; i < places.size(); ++i) {
    Step step;
    step.window.start_ns = facts.timeline.activities[sequence[places[i]]].span.start_ns;
    // What belongs to the last repetition is not known: it ends where its kernels would.
    const auto after =
        i + 1 < places.size() ? places[i + 1] : std::min<std::size_t>(places[i] + length, sequence.size());
    const auto& end = facts.timeline.activities[sequence[after - (i + 1 < places.size() ? 0 : 1)]].span;
    step.window.end_ns = i + 1 < places.size() ? end.start_ns : end.end_ns;
    step.last = i + 1 == places.size();
    if (step.window.length() > 0) found.steps.push_back(step);
  }
  return found;
}

}  // namespace roofline
