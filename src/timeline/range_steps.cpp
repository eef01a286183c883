#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>

#include "roofline/error.h"
#include "timeline/find_steps.h"
#include "timeline/repetition.h"

namespace roofline {
namespace {

// Ranges of one name, numbers aside, by start.
struct Family {
  std::string name;
  std::vector<std::uint32_t> ranges;
  bool on_gpu = false;
  bool repeats_numbers = false;  // layer.0 comes again: part of a step, not one
};

// "ProfilerStep#12" is one of "ProfilerStep#".
std::string without_numbers(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c < '0' || c > '9') out += c;
  return out;
}

// Names that steps usually bear, most telling first.
constexpr std::string_view kStepNames[] = {"ProfilerStep", "execute_model", "execute_", "train_step", "step",
                                           "Step",         "iteration",     "iter",     "batch",      "forward"};

std::size_t rank_of_name(std::string_view name) {
  std::size_t rank = 0;
  for (const auto part : kStepNames) {
    if (name.find(part) != std::string_view::npos) return rank;
    ++rank;
  }
  return rank;
}

// Operators and library calls that frameworks annotate (aten::add, op_id = 7; nccl:all_reduce): parts of steps.
bool is_operator(std::string_view name) {
  return name.find("::") != std::string_view::npos || name.find("op_id") != std::string_view::npos ||
         name.starts_with("nccl") || name.starts_with("rccl");
}

class RangeSteps {
 public:
  RangeSteps(const TimelineFacts& facts, std::span<const std::uint32_t> activities)
      : facts_(facts), activities_(activities) {}

  FoundSteps named(const std::string& expression) const {
    const RE2 pattern(expression, RE2::Quiet);
    if (!pattern.ok()) throw UsageError(fmt::format("--range '{}': {}", expression, pattern.error()));
    std::vector<std::int8_t> matches(timeline().names.size(), -1);
    Family family{expression, {}, false, false};
    for (std::uint32_t i = 0; i < timeline().ranges.size(); ++i) {
      const auto& range = timeline().ranges[i];
      if (range.name == kNone) continue;
      auto& known = matches[range.name];
      if (known < 0) known = RE2::PartialMatch(timeline().names[range.name], pattern) ? 1 : 0;
      if (known == 1) family.ranges.push_back(i);
    }
    const bool host =
        std::any_of(family.ranges.begin(), family.ranges.end(), [&](auto i) { return !timeline().ranges[i].on_gpu; });
    // A framework shows its ranges on both sides; one side is enough.
    std::erase_if(family.ranges, [&](auto i) { return host == timeline().ranges[i].on_gpu; });
    family.on_gpu = !host;
    return steps_of(family);
  }

  FoundSteps best() const {
    FoundSteps best;
    std::pair<std::size_t, std::int64_t> best_key{};
    for (const auto& family : families()) {
      auto found = steps_of(family);
      if (found.steps.empty()) continue;
      const auto covered = found.steps.back().window.end_ns - found.steps.front().window.start_ns;
      const auto rank = rank_of_name(family.name);
      // One alone is a step where it says so, and holds most of the work.
      if (found.steps.size() < 2 && (rank == std::size(kStepNames) || 2 * covered < active())) continue;
      // A name that does not say "step" must hold most of the work, and as much each time, to be taken for one.
      if (rank == std::size(kStepNames) && (2 * covered < active() || !regular(found.steps))) continue;
      const std::pair key{rank, -covered};
      if (best.steps.empty() || key < best_key) {
        best = std::move(found);
        best_key = key;
      }
    }
    return best;
  }

 private:
  const Timeline& timeline() const { return facts_.timeline; }
  const GpuActivity& activity(std::size_t i) const { return timeline().activities[activities_[i]]; }
  std::int64_t active() const {
    return activities_.empty() ? 0 : activity(activities_.size() - 1).span.end_ns - activity(0).span.start_ns;
  }

  std::vector<Family> families() const {
    std::vector<std::string> stripped(timeline().names.size());
    std::vector<bool> known(timeline().names.size(), false);
    std::map<std::pair<std::string, bool>, Family> by_name;
    for (std::uint32_t i = 0; i < timeline().ranges.size(); ++i) {
      const auto& range = timeline().ranges[i];
      if (range.name == kNone) continue;
      if (!known[range.name]) stripped[range.name] = without_numbers(timeline().names[range.name]);
      known[range.name] = true;
      auto& family = by_name[{stripped[range.name], range.on_gpu}];
      family.on_gpu = range.on_gpu;
      family.ranges.push_back(i);
    }
    std::vector<Family> out;
    for (auto& [key, family] : by_name) {
      family.name = key.first;
      if (family.ranges.size() > activities_.size() || is_operator(family.name)) continue;
      if (family.ranges.size() < 2 && rank_of_name(family.name) == std::size(kStepNames)) continue;
      if (is_part_of_steps(family) || overlaps(family)) continue;
      out.push_back(std::move(family));
    }
    // Each costs a pass over the activities; those with the longest ranges are the likely ones.
    constexpr std::size_t kMost = 32;
    std::stable_sort(out.begin(), out.end(), [&](const Family& a, const Family& b) {
      const auto key = [&](const Family& f) { return std::pair(rank_of_name(f.name), -length(f)); };
      return key(a) < key(b);
    });
    if (out.size() > kMost) out.resize(kMost);
    return out;
  }

  std::int64_t length(const Family& family) const {
    std::int64_t sum = 0;
    for (const auto i : family.ranges) sum += timeline().ranges[i].span.length();
    return sum;
  }

  bool is_part_of_steps(const Family& family) const {
    std::set<std::uint32_t> names;
    for (const auto i : family.ranges) names.insert(timeline().ranges[i].name);
    return names.size() > 1 && names.size() < family.ranges.size();
  }

  bool overlaps(const Family& family) const {
    for (std::size_t i = 1; i < family.ranges.size(); ++i)
      if (timeline().ranges[family.ranges[i]].span.start_ns < timeline().ranges[family.ranges[i - 1]].span.end_ns)
        return true;
    return false;
  }

  // Two of three last about as long as the median.
  static bool regular(const std::vector<Step>& steps) {
    std::vector<std::int64_t> lengths;
    for (const auto& s : steps)
      if (!s.last) lengths.push_back(s.window.length());
    std::sort(lengths.begin(), lengths.end());
    const auto median = lengths[lengths.size() / 2];
    const auto near = std::count_if(lengths.begin(), lengths.end(),
                                    [&](std::int64_t l) { return 2 * l >= median && l <= 2 * median; });
    return 3 * static_cast<std::size_t>(near) >= 2 * lengths.size();
  }

  // The range that holds a moment, if any.
  std::optional<std::size_t> holder(const Family& family, std::int64_t t) const {
    auto it = std::upper_bound(family.ranges.begin(), family.ranges.end(), t, [&](std::int64_t time, std::uint32_t i) {
      return time < timeline().ranges[i].span.start_ns;
    });
    if (it == family.ranges.begin()) return std::nullopt;
    --it;
    if (timeline().ranges[*it].span.end_ns <= t) return std::nullopt;
    return static_cast<std::size_t>(it - family.ranges.begin());
  }

  // When an activity counts: on the host when it was launched, for work is queued and runs later than its range.
  std::optional<std::int64_t> moment_of(const GpuActivity& a, bool on_gpu) const {
    if (on_gpu) return a.span.start_ns;
    if (const auto* call = facts_.call_of(a)) return call->span.start_ns;
    return std::nullopt;
  }

  FoundSteps steps_of(const Family& family) const {
    constexpr auto kNever = std::numeric_limits<std::int64_t>::max();
    std::vector<Span> hulls(family.ranges.size(), Span{kNever, -kNever});
    bool any_call = family.on_gpu;
    for (const auto index : activities_) {
      const auto& a = timeline().activities[index];
      const auto moment = moment_of(a, family.on_gpu);
      any_call = any_call || moment.has_value();
      const auto range = moment ? holder(family, *moment) : std::nullopt;
      if (!range) continue;
      auto& hull = hulls[*range];
      hull = {std::min(hull.start_ns, a.span.start_ns), std::max(hull.end_ns, a.span.end_ns)};
    }
    FoundSteps found;
    if (!any_call) return found;
    found.by = StepsBy::ranges;
    found.of = family.name;
    for (std::size_t i = 0; i < hulls.size(); ++i) {
      if (hulls[i].start_ns == kNever) continue;  // launched nothing on this device
      const auto& range = timeline().ranges[family.ranges[i]];
      found.steps.push_back({.window = hulls[i], .name = range.name});
      if (!family.on_gpu) found.steps.back().ahead_ns = hulls[i].start_ns - range.span.start_ns;
    }
    return close_windows(std::move(found));
  }

  // Each step lasts until the next one begins on the GPU.
  static FoundSteps close_windows(FoundSteps found) {
    auto& steps = found.steps;
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      if (steps[i + 1].window.start_ns <= steps[i].window.start_ns) return {};
      steps[i].window.end_ns = steps[i + 1].window.start_ns;
    }
    if (!steps.empty()) steps.back().last = true;
    return found;
  }

  const TimelineFacts& facts_;
  std::span<const std::uint32_t> activities_;
};

}  // namespace

FoundSteps find_steps(const TimelineFacts& facts, std::span<const std::uint32_t> activities,
                      const std::string& expression) {
  const RangeSteps ranges(facts, activities);
  if (!expression.empty()) return ranges.named(expression);
  auto found = ranges.best();
  return found.steps.empty() ? repeated_steps(facts, activities) : found;
}

}  // namespace roofline
