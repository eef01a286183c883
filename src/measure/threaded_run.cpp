#include "measure/threaded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/letter_case.h"
#include "measure/budget.h"
#include "measure/levels.h"
#include "measure/meter.h"

namespace roofline::measure {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * 1024;

std::string pattern_text(AccessPattern pattern) {
  const std::string text(to_string(pattern));
  return text.starts_with("nt_") ? "NT " + text.substr(3) : text;
}

std::vector<AccessPattern> patterns_of(const MeasuredLevel& level, bool quick) {
  using enum AccessPattern;
  std::vector<AccessPattern> patterns = {read, write, copy, triad};
  // Stores past the caches run at memory's speed wherever their lines are: copies of them belong there.
  if (!level.bytes || !quick) patterns.push_back(nt_write);
  if (!level.bytes) patterns.insert(patterns.end(), {nt_copy, nt_triad});
  return patterns;
}

// Loops to choose from, by a glance at each.
struct Choice {
  const KernelSet* set = nullptr;
  const ComputeKernel* kernel = nullptr;
  double highest = 0;

  void offer(const KernelSet* of, const ComputeKernel* loop, double rate) {
    if (rate > highest) *this = {of, loop, rate};
  }
};

class Run {
 public:
  Run(std::unique_ptr<Bench> bench, std::vector<int> cpus, const CpuFacts& facts, const Effort& effort, double deadline,
      const ThreadedMeasurement* alone, const Progress& progress)
      : effort_(effort),
        facts_(facts),
        alone_(alone),
        progress_(progress),
        begin_(bench->now()),
        budget_(deadline),
        meter_(std::move(bench), effort.rule, deadline) {
    out_.measurement.cpus = std::move(cpus);
  }

  ThreadedResult measure() {
    tell("clock");
    meter_.set_until(meter_.now() + std::min(2 * effort_.rule.seconds, kClockShare * (budget_.end() - begin_)));
    m().clock = meter_.clock();
    if (effort_.quick && alone_ != nullptr) {
      derive_levels();
    } else {
      sweep();
      name_levels();
    }
    plan();
    measure_peaks();
    for (std::size_t i = m().levels.size(); i-- > 0;) measure_level(i);
    try_again();
    std::sort(m().bandwidths.begin(), m().bandwidths.end(), [&](const auto& a, const auto& b) {
      return std::pair(level_index(a.level), a.pattern) < std::pair(level_index(b.level), b.pattern);
    });
    std::sort(m().peaks.begin(), m().peaks.end(), [](const auto& a, const auto& b) {
      return std::pair(peak_index(a), a.mix) < std::pair(peak_index(b), b.mix);
    });
    out_.complete = out_.missing.empty() && m().levels.size() > 1;
    out_.huge_page_share = meter_.bench().huge_page_share();
    out_.pinned = meter_.bench().pinned();
    return std::move(out_);
  }

 private:
  static constexpr const char* kLargestSet = "the largest working set";
  static constexpr double kClockShare = 0.05;
  static constexpr double kSweepShare = 0.4;  // of the time, when it is short

  ThreadedMeasurement& m() { return out_.measurement; }

  void tell(std::string_view what) const {
    const auto threads = meter_.bench().threads();
    if (progress_) progress_(fmt::format("{} thread{}: {}", threads, threads == 1 ? "" : "s", what));
  }

  // ---------------------------------------------------------------- levels

  void sweep() {
    constexpr double kSmallest = 4 * kKiB;
    constexpr double kCoarse = 48 * kMiB;  // beyond, half as many sets: there they take longest and say least
    constexpr double kReadShare = 0.15;    // of the sweep's time, to read the sets through
    const auto sets = working_sets(kSmallest, static_cast<double>(meter_.bytes()), effort_.sets_per_doubling, kBlock);
    const double seconds = kSweepShare * (budget_.end() - meter_.now());
    const double until = meter_.now() + seconds;
    bool skip = false;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const bool last = i + 1 == sets.size();
      if (sets[i] > kCoarse && !last && std::exchange(skip, !skip)) continue;
      follow(sets[i], sets.size() - i, until - kReadShare * seconds, last);
    }
    // Without the largest set nobody knows where memory begins.
    constexpr int kTries = 5;
    const auto lacks_largest = [&] { return m().sweep.empty() || m().sweep.back().bytes < sets.back(); };
    for (int i = 0; i < kTries && lacks_largest() && meter_.now() < until; ++i) follow(sets.back(), 1, until, true);
    if (lacks_largest() && alone_ == nullptr) out_.missing.push_back(kLargestSet);
    meter_.refill();
    meter_.set_until(until);
    for (auto& point : m().sweep) {
      if (meter_.now() > until) break;
      const auto* set = candidates().back();
      if (const auto rate = meter_.bandwidth(*set, AccessPattern::read, static_cast<std::size_t>(point.bytes), true);
          rate && rate->value > 0)
        point.bytes_per_s = rate->value;
    }
  }

  // A set may take eight times its seconds until it is warm and has enough samples. Behind schedule, sets are passed
  // over, never the last.
  void follow(double bytes, std::size_t left, double until, bool last) {
    constexpr double kSeconds = 5e-3;  // per set
    constexpr double kLeastSeconds = 1.5e-3;
    constexpr double kTimes = 6;
    double seconds = std::max(0.0, until - meter_.now()) / static_cast<double>(left) / kTimes;
    if (seconds < kLeastSeconds && !last && std::exchange(behind_, !behind_)) return;
    if (meter_.now() > until && !last) return;
    tell(fmt::format("working set of {:.0f} KiB", bytes / kKiB));
    seconds = std::clamp(seconds, kLeastSeconds, kSeconds);
    meter_.set_until(last ? budget_.end() : until);
    if (const auto latency = meter_.latency(static_cast<std::size_t>(bytes), seconds))
      m().sweep.push_back({bytes, *latency, std::nullopt});
  }

  void name_levels() {
    std::vector<LatencyPoint> points;
    for (const auto& p : m().sweep) points.push_back({p.bytes, p.latency_s});
    const auto found = find_levels(points);
    for (std::size_t i = 0; i < found.size(); ++i) {
      MeasuredLevel level;
      const bool memory = i + 1 == found.size();
      level.name = memory ? "dram" : fmt::format("l{}", i + 1);
      level.latency_s = found[i].latency;
      if (!memory) level.bytes = found[i].last_bytes;
      for (const auto& [number, bytes] : facts_.reported)
        if (!memory && number == static_cast<int>(i) + 1) level.reported_bytes = bytes;
      m().levels.push_back(std::move(level));
    }
    if (alone_ != nullptr && !plausible_beside_one()) derive_levels();
  }

  // More threads never find more levels, or more room in them, than one does; they do find fewer where a level that
  // they share is no larger than the one below.
  bool plausible_beside_one() {
    constexpr double kNoise = 1.5;
    if (m().levels.size() != alone_->levels.size()) return false;
    for (std::size_t i = 0; i < m().levels.size(); ++i) {
      const auto& own = m().levels[i].bytes;
      const auto& other = alone_->levels[i].bytes;
      if (own.has_value() != other.has_value() || (own && *own > kNoise * *other)) return false;
    }
    return true;
  }

  // Noise hid the levels: those of one thread, and the larger ones as if all threads shared them.
  void derive_levels() {
    out_.levels_from_one_thread = true;
    m().levels = alone_->levels;
    constexpr std::size_t kPrivate = 2;
    for (std::size_t i = kPrivate; i < m().levels.size(); ++i)
      if (auto& bytes = m().levels[i].bytes) *bytes /= static_cast<double>(m().cpus.size());
  }

  static std::ptrdiff_t peak_index(const MeasuredPeak& peak) {
    constexpr std::array<std::string_view, 4> kOrder = {"fp64.vector", "fp32.vector", "bf16.vector", "int8.vector"};
    return std::find(kOrder.begin(), kOrder.end(), to_string(peak.precision)) - kOrder.begin();
  }

  std::size_t level_index(const std::string& name) {
    std::size_t i = 0;
    while (i < m().levels.size() && m().levels[i].name != name) ++i;
    return i;
  }

  std::optional<double> set_for(std::size_t level) {
    const auto& own = m().levels[level];
    if (!own.bytes) return static_cast<double>(meter_.bytes());
    const auto below = level == 0 ? std::nullopt : m().levels[level - 1].bytes;
    return inside(below, *own.bytes);
  }

  // ---------------------------------------------------------------- figures

  void plan() {
    constexpr std::size_t kPeaks = 4;
    std::size_t figures = kPeaks;
    for (const auto* kernel : {bf16_kernel(), int8_kernel()}) figures += kernel != nullptr ? 1 : 0;
    for (std::size_t i = 0; i < m().levels.size(); ++i)
      if (set_for(i)) figures += patterns_of(m().levels[i], effort_.quick).size();
    budget_.plan(figures);
  }

  // Seconds for the next figure, with the choice of its loop.
  double take() { return budget_.take(meter_.now(), wanted()); }
  double wanted() const {
    constexpr double kWithChoice = 3;
    return kWithChoice * effort_.rule.seconds;
  }

  // Short of time, nothing is spent on a choice: what served one thread best serves many.
  bool reuses(double seconds) const { return alone_ != nullptr && seconds < wanted(); }

  // One of so many glances, in half of the figure's time.
  void glance(double seconds, std::size_t glances) {
    meter_.set_until(meter_.now() + seconds / 2 / static_cast<double>(std::max<std::size_t>(1, glances)));
  }

  // What was made of interrupted samples alone may be far too low: no figure is better than that.
  template <typename Figure>
  static bool holds(const Figure& figure) {
    return figure.rate.value > 0 && !figure.rate.only_disturbed;
  }

  // What does not hold is tried `again` when all others are done, as long as there is time.
  template <typename Figure>
  void keep(std::vector<Figure>& figures, Figure figure, std::function<MeasuredValue()> again) {
    if (holds(figure)) return figures.push_back(std::move(figure));
    again_.push_back([this, &figures, figure = std::move(figure), again = std::move(again)](bool last) mutable {
      if (!last && again) figure.rate = again();
      if (!holds(figure) && !last && again) return false;
      if (holds(figure))
        figures.push_back(figure);
      else
        out_.missing.push_back(figure_name(figure));
      return true;
    });
  }

  void try_again() {
    while (!again_.empty()) {
      const bool last = meter_.out_of_time();
      budget_.plan(again_.size());
      std::erase_if(again_, [&](auto& settles) {
        meter_.set_until(meter_.now() + budget_.take(meter_.now(), wanted()));
        return settles(last);
      });
    }
  }

  void measure_level(std::size_t index) {
    const auto level = m().levels[index];
    const auto set_bytes = set_for(index);
    if (!set_bytes) return;
    for (const auto pattern : patterns_of(level, effort_.quick)) {
      tell(fmt::format("{} {}", upper(level.name), pattern_text(pattern)));
      add_bandwidth(level.name, pattern, static_cast<std::size_t>(*set_bytes));
    }
  }

  const KernelSet* choose_set(const std::string& level, AccessPattern pattern, std::size_t bytes, double seconds) {
    const auto sets = candidates();
    if (reuses(seconds))
      if (const auto* before = alone_->bandwidth(level, pattern))
        for (const auto* set : sets)
          if (before->isa == set->isa) return set;
    Choice choice;
    for (const auto* set : sets) {
      glance(seconds, sets.size());
      if (meter_.out_of_time()) break;
      if (const auto trial = meter_.bandwidth(*set, pattern, bytes, true)) choice.offer(set, nullptr, trial->high);
    }
    return choice.set;
  }

  void add_bandwidth(const std::string& level, AccessPattern pattern, std::size_t bytes) {
    const double seconds = take();
    const double end = meter_.now() + seconds;
    const auto sets = candidates();
    if (std::none_of(sets.begin(), sets.end(), [&](const KernelSet* s) { return can(*s, pattern); })) return;
    const auto* best = choose_set(level, pattern, bytes, seconds);
    MeasuredBandwidth figure{level, pattern, static_cast<double>(bytes), best == nullptr ? "" : best->isa, {}};
    meter_.set_until(end);
    if (best == nullptr) return keep(m().bandwidths, std::move(figure), {});
    const auto measure = [this, best, pattern, bytes] {
      return meter_.bandwidth(*best, pattern, bytes, false).value_or(MeasuredValue{});
    };
    if (!meter_.out_of_time()) figure.rate = measure();
    keep(m().bandwidths, std::move(figure), measure);
  }

  void measure_peaks() {
    for (const auto* key : {"fp64.vector", "fp32.vector"}) {
      tell(key);
      add_peaks(key);
    }
    for (const auto* kernel : {bf16_kernel(), int8_kernel()}) {
      if (kernel == nullptr) continue;
      tell(kernel->precision);
      meter_.set_until(meter_.now() + take());
      MeasuredPeak figure{*parse_precision(kernel->precision), false, kernel->what, "AVX-512", {}};
      const auto measure = [this, kernel] { return meter_.compute(*kernel, false); };
      if (!meter_.out_of_time()) figure.rate = measure();
      keep(m().peaks, std::move(figure), measure);
    }
  }

  static std::vector<std::pair<const KernelSet*, const ComputeKernel*>> loops(std::string_view key) {
    std::vector<std::pair<const KernelSet*, const ComputeKernel*>> out;
    for (const auto* set : candidates())
      for (std::size_t i = 0; i < set->compute_count; ++i)
        if (set->compute[i].precision == key) out.emplace_back(set, &set->compute[i]);
    return out;
  }

  // The loop that one thread chose.
  bool chosen_before(const KernelSet& set, const ComputeKernel& kernel, bool mix) const {
    const auto* before = alone_->peak(*parse_precision(kernel.precision), mix);
    return before != nullptr && before->isa == set.isa && before->instructions == kernel.what;
  }

  // Multiply-adds alone, and the best mix, which may turn out to be multiply-adds alone.
  void add_peaks(std::string_view key) {
    const double seconds = take() + take();
    const double end = meter_.now() + seconds;
    const auto tried = loops(key);
    const bool known = reuses(seconds / 2);
    Choice plain, mixed;
    for (const auto& [set, kernel] : tried) {
      if (known && !chosen_before(*set, *kernel, kernel->mix)) continue;
      glance(seconds, tried.size());
      if (meter_.out_of_time()) break;
      const double rate = meter_.compute(*kernel, true).high;
      if (!kernel->mix) plain.offer(set, kernel, rate);
      mixed.offer(set, kernel, rate);
    }
    add_peak(key, false, plain, meter_.now() + (end - meter_.now()) / 2);
    add_peak(key, true, mixed, end);
  }

  void add_peak(std::string_view key, bool mix, const Choice& choice, double until) {
    MeasuredPeak figure{*parse_precision(key), mix, "", "", {}};
    if (choice.kernel == nullptr) return keep(m().peaks, std::move(figure), {});
    const auto measure = [this, kernel = choice.kernel] { return meter_.compute(*kernel, false); };
    meter_.set_until(until);
    figure.instructions = choice.kernel->what;
    figure.isa = choice.set->isa;
    if (!meter_.out_of_time()) figure.rate = measure();
    keep(m().peaks, std::move(figure), measure);
  }

  const Effort& effort_;
  const CpuFacts& facts_;
  const ThreadedMeasurement* alone_;
  const Progress& progress_;
  double begin_;
  Budget budget_;
  Meter meter_;
  bool behind_ = false;
  std::vector<std::function<bool(bool last)>> again_;  // figures that did not hold; true once that is settled
  ThreadedResult out_;
};

}  // namespace

std::string figure_name(const MeasuredBandwidth& figure) {
  return fmt::format("{} {}", upper(figure.level), pattern_text(figure.pattern));
}

std::string figure_name(const MeasuredPeak& figure) {
  return fmt::format("{}{}", to_string(figure.precision), figure.mix ? ", best mix" : "");
}

std::vector<const KernelSet*> candidates() {
  std::vector<const KernelSet*> sets;
  for (const auto* const* set = kernel_sets(); *set != nullptr; ++set) sets.push_back(*set);
  if (sets.size() > 2) sets.erase(sets.begin(), sets.end() - 2);
  return sets;
}

ThreadedResult measure_threads(const Workplace& place, const std::vector<int>& cpus, const Effort& effort,
                               double deadline, const ThreadedMeasurement* alone, const Progress& progress) {
  constexpr double kLeast = 8 * kMiB;
  constexpr double kMost = 1024 * kMiB;
  // Memory for each thread: enough to leave the caches behind, never so much that others feel it.
  double bytes = effort.largest_set;
  if (!place.facts.reported.empty() && cpus.size() == 1)
    bytes = std::max(bytes, 4 * place.facts.reported.back().second);
  bytes = std::min({bytes, kMost, static_cast<double>(place.memory_limit) / static_cast<double>(cpus.size())});
  bytes = std::max(kLeast, bytes);
  Run run(place.bench(cpus, static_cast<std::size_t>(bytes)), cpus, place.facts, effort, deadline, alone, progress);
  return run.measure();
}

}  // namespace roofline::measure
