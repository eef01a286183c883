#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include "measure/cpu.h"
#include "measure/levels.h"
#include "measure/meter.h"
#include "roofline/error.h"
#include "roofline/measure.h"

namespace roofline {
namespace {

using namespace measure;

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * 1024;

constexpr std::array<std::string_view, 7> kPatternNames = {"read",     "write",   "copy",    "triad",
                                                           "nt_write", "nt_copy", "nt_triad"};

// How much of everything a full and a quick measurement take.
struct Effort {
  double largest_set;  // bytes
  int sets_per_doubling;
  StopRule rule;
  double seconds;  // all in all
  bool quick;
};

Effort effort_of(const MeasureOptions& options) {
  constexpr double kFull = 0.1;
  constexpr double kQuick = 0.02;
  constexpr double kFullTotal = 18;
  constexpr double kQuickTotal = 4.5;
  Effort effort{256 * kMiB, 4, {}, kFullTotal, options.quick};
  effort.rule.seconds = kFull;
  effort.rule.more_seconds = kFull;
  if (options.quick) {
    effort.largest_set = 128 * kMiB;
    effort.sets_per_doubling = 3;
    effort.seconds = kQuickTotal;
    effort.rule.seconds = kQuick;
    effort.rule.more_seconds = kQuick;
  }
  if (options.seconds_per_figure > 0) {
    effort.rule.seconds = options.seconds_per_figure;
    effort.rule.more_seconds = options.seconds_per_figure;
  }
  return effort;
}

// The two widest instruction sets: which of them moves data faster differs from processor to processor.
std::vector<const KernelSet*> candidates() {
  std::vector<const KernelSet*> sets;
  for (const auto* const* set = kernel_sets(); *set != nullptr; ++set) sets.push_back(*set);
  if (sets.size() > 2) sets.erase(sets.begin(), sets.end() - 2);
  return sets;
}

class Run {
 public:
  // Ends by `deadline`, whatever it then lacks. `alone` is what one thread measured; null for that measurement itself.
  Run(std::vector<int> cpus, const Effort& effort, double bytes, double deadline, const ThreadedMeasurement* alone,
      const CpuFacts& facts, const std::function<void(std::string_view)>& progress)
      : effort_(effort),
        facts_(facts),
        alone_(alone),
        progress_(progress),
        deadline_(deadline),
        meter_(cpus, static_cast<std::size_t>(bytes), effort.rule) {
    out_.cpus = std::move(cpus);
    meter_.set_deadline(deadline);
  }

  ThreadedMeasurement measure() {
    tell("clock");
    out_.clock = meter_.clock();
    if (effort_.quick && alone_ != nullptr) {
      derive_levels();
    } else {
      sweep();
      name_levels();
      meter_.refill();
    }
    constexpr std::size_t kPerLevel = 5;
    constexpr std::size_t kOthers = 8;  // stores past the caches to memory, and peaks
    figures_left_ = kPerLevel * out_.levels.size() + kOthers;
    measure_peaks();
    for (std::size_t i = out_.levels.size(); i-- > 0;) measure_level(i);
    std::stable_sort(out_.bandwidths.begin(), out_.bandwidths.end(),
                     [&](const auto& a, const auto& b) { return level_index(a.level) < level_index(b.level); });
    complete_ = !meter_.out_of_time() && out_.levels.size() > 1;
    return std::move(out_);
  }
  bool levels_from_one_thread() const { return derived_; }
  bool complete() const { return complete_; }
  double huge_page_share() const { return meter_.huge_page_share(); }
  bool pinned() const { return meter_.team().pinned(); }

 private:
  void tell(std::string_view what) const {
    const auto threads = meter_.team().size();
    if (progress_) progress_(fmt::format("{} thread{}: {}", threads, threads == 1 ? "" : "s", what));
  }

  void sweep() {
    constexpr double kSmallest = 4 * kKiB;
    constexpr double kCoarse = 48 * kMiB;  // beyond, half as many sets: there they take longest and say least
    constexpr double kShare = 0.4;         // of the time, when it is short
    constexpr double kSeconds = 5e-3;      // per set otherwise
    const auto sets = working_sets(kSmallest, static_cast<double>(meter_.bytes()), effort_.sets_per_doubling, kBlock);
    const double until = now() + kShare * (deadline_ - now());
    bool skip = false;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const double bytes = sets[i];
      if (bytes > kCoarse && bytes < sets.back() && std::exchange(skip, !skip)) continue;
      tell(fmt::format("working set of {:.0f} KiB", bytes / kKiB));
      // A set may take eight times its seconds until it is warm and has enough samples, and is then read through.
      const double left = std::max(0.0, until - now()) / static_cast<double>(sets.size() - i);
      if (const auto latency = meter_.latency(static_cast<std::size_t>(bytes), std::min(kSeconds, left / 6)))
        out_.sweep.push_back({bytes, *latency, std::nullopt});
    }
    meter_.refill();
    for (auto& point : out_.sweep) {
      if (now() > until + kShare / 4 * (deadline_ - until)) break;
      const auto* set = candidates().back();
      if (const auto rate = meter_.bandwidth(*set, AccessPattern::read, static_cast<std::size_t>(point.bytes), true))
        point.bytes_per_s = rate->value;
    }
  }

  void name_levels() {
    std::vector<LatencyPoint> points;
    for (const auto& p : out_.sweep) points.push_back({p.bytes, p.latency_s});
    const auto found = find_levels(points);
    for (std::size_t i = 0; i < found.size(); ++i) {
      MeasuredLevel level;
      const bool memory = i + 1 == found.size();
      level.name = memory ? "dram" : fmt::format("l{}", i + 1);
      level.latency_s = found[i].latency;
      if (!memory) level.bytes = found[i].last_bytes;
      for (const auto& [number, bytes] : facts_.reported)
        if (!memory && number == static_cast<int>(i) + 1) level.reported_bytes = bytes;
      out_.levels.push_back(std::move(level));
    }
    if (alone_ != nullptr && !plausible_beside_one()) derive_levels();
  }

  // More threads never find more levels, or more room in them, than one does; they do find fewer where a level that
  // they share is no larger than the one below.
  bool plausible_beside_one() const {
    constexpr double kNoise = 1.5;
    if (out_.levels.size() != alone_->levels.size()) return false;
    for (std::size_t i = 0; i < out_.levels.size(); ++i) {
      const auto& own = out_.levels[i].bytes;
      const auto& other = alone_->levels[i].bytes;
      if (own.has_value() != other.has_value() || (own && *own > kNoise * *other)) return false;
    }
    return true;
  }

  // Noise hid the levels: those of one thread, and the larger ones as if all threads shared them.
  void derive_levels() {
    derived_ = true;
    out_.levels = alone_->levels;
    constexpr std::size_t kPrivate = 2;
    for (std::size_t i = kPrivate; i < out_.levels.size(); ++i)
      if (auto& bytes = out_.levels[i].bytes) *bytes /= static_cast<double>(out_.cpus.size());
  }

  // What is left of the time, fairly divided: a figure takes about three times its seconds, with the choice of kernels.
  void plan_figure() {
    const double left = std::max(0.0, deadline_ - now()) / static_cast<double>(std::max<std::size_t>(1, figures_left_));
    meter_.set_seconds(std::min(effort_.rule.seconds, left / 3));
    if (figures_left_ > 0) --figures_left_;
  }

  std::size_t level_index(const std::string& name) const {
    std::size_t i = 0;
    while (i < out_.levels.size() && out_.levels[i].name != name) ++i;
    return i;
  }

  std::optional<double> set_for(std::size_t level) const {
    const auto& own = out_.levels[level];
    if (!own.bytes) return static_cast<double>(meter_.bytes());
    const auto below = level == 0 ? std::nullopt : out_.levels[level - 1].bytes;
    return inside(below, *own.bytes);
  }

  void measure_level(std::size_t index) {
    const auto& level = out_.levels[index];
    const auto set_bytes = set_for(index);
    if (!set_bytes) return;
    using enum AccessPattern;
    std::vector<AccessPattern> patterns = {read, write, copy, triad};
    // Stores past the caches run at memory's speed wherever their lines are: copies of them belong there.
    if (!level.bytes || !effort_.quick) patterns.push_back(nt_write);
    if (!level.bytes) patterns.insert(patterns.end(), {nt_copy, nt_triad});
    for (const auto pattern : patterns) {
      tell(fmt::format("{} {}", level.name, to_string(pattern)));
      add_bandwidth(level.name, pattern, *set_bytes);
    }
  }

  void add_bandwidth(const std::string& level, AccessPattern pattern, double set_bytes) {
    plan_figure();
    const auto bytes = static_cast<std::size_t>(set_bytes);
    const KernelSet* best = nullptr;
    double highest = 0;
    for (const auto* set : candidates()) {
      const auto trial = meter_.bandwidth(*set, pattern, bytes, true);
      if (trial && trial->high > highest) {
        highest = trial->high;
        best = set;
      }
    }
    if (best == nullptr || meter_.out_of_time()) return;
    if (auto rate = meter_.bandwidth(*best, pattern, bytes, false))
      out_.bandwidths.push_back({level, pattern, set_bytes, best->isa, *rate});
  }

  void measure_peaks() {
    for (const auto* key : {"fp64.vector", "fp32.vector"}) {
      tell(key);
      add_peak(key, false);
      add_peak(key, true);
    }
    for (const auto* kernel : {bf16_kernel(), int8_kernel()}) {
      if (kernel == nullptr || meter_.out_of_time()) continue;
      plan_figure();
      tell(kernel->precision);
      out_.peaks.push_back(
          {*parse_precision(kernel->precision), false, kernel->what, "AVX-512", meter_.compute(*kernel, false)});
    }
  }

  // The best mix may turn out to be multiply-adds alone.
  void add_peak(std::string_view key, bool mix) {
    plan_figure();
    const ComputeKernel* best = nullptr;
    const KernelSet* of = nullptr;
    double highest = 0;
    for (const auto* set : candidates())
      for (std::size_t i = 0; i < set->compute_count; ++i) {
        const auto& kernel = set->compute[i];
        if (kernel.precision != key || (kernel.mix && !mix)) continue;
        const auto trial = meter_.compute(kernel, true);
        if (trial.high <= highest) continue;
        highest = trial.high;
        best = &kernel;
        of = set;
      }
    if (best != nullptr && !meter_.out_of_time())
      out_.peaks.push_back({*parse_precision(key), mix, best->what, of->isa, meter_.compute(*best, false)});
  }

  const Effort& effort_;
  const CpuFacts& facts_;
  const ThreadedMeasurement* alone_;
  const std::function<void(std::string_view)>& progress_;
  double deadline_;
  Meter meter_;
  std::size_t figures_left_ = 0;
  bool derived_ = false;
  bool complete_ = false;
  ThreadedMeasurement out_;
};

// Memory for each thread: enough to leave the caches behind, never so much that others feel it.
double bytes_per_thread(const Effort& effort, const CpuFacts& facts, std::size_t threads, std::size_t limit) {
  constexpr double kLeast = 8 * kMiB;
  constexpr double kMost = 1024 * kMiB;
  double bytes = effort.largest_set;
  if (!facts.reported.empty() && threads == 1) bytes = std::max(bytes, 4 * facts.reported.back().second);
  bytes = std::min(bytes, kMost);
  return std::max(kLeast, std::min(bytes, static_cast<double>(limit) / static_cast<double>(threads)));
}

std::string today() {
  const auto time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  return fmt::format("{:%Y-%m-%d}", utc);
}

// What was made of interrupted samples alone may be far too low: no figure is better than that.
std::size_t drop_disturbed(ThreadedMeasurement& m) {
  const auto bad = [](const auto& figure) { return figure.rate.only_disturbed || !(figure.rate.value > 0); };
  return std::erase_if(m.bandwidths, bad) + std::erase_if(m.peaks, bad);
}

void note_levels(const CpuMeasurement& m, std::vector<std::string>& notes) {
  for (const auto& level : m.one.levels) {
    if (!level.bytes || !level.reported_bytes) continue;
    const double ratio = *level.bytes / *level.reported_bytes;
    constexpr double kLeast = 0.7;
    constexpr double kMost = 1.4;
    if (ratio >= kLeast && ratio <= kMost) continue;
    notes.push_back(fmt::format(
        "{}: the system reports {:.0f} KiB, the sweep finds {:.0f} KiB{}", level.name, *level.reported_bytes / kKiB,
        *level.bytes / kKiB, m.cpu.virtual_machine ? "; a virtual machine may report the host's, and share it" : ""));
  }
  std::size_t caches = 0;
  for (const auto& level : m.one.levels) caches += level.bytes ? 1 : 0;
  if (!m.cpu.reported.empty() && caches != m.cpu.reported.size())
    notes.push_back(fmt::format("the sweep finds {} level{} of cache, the system reports {}", caches,
                                caches == 1 ? "" : "s", m.cpu.reported.size()));
}

void add_notes(CpuMeasurement& m) {
  auto& notes = m.notes;
  constexpr double kMuch = 0.05;
  if (m.other_cpu_share > kMuch || m.steal_share > kMuch)
    notes.push_back(
        fmt::format("not alone: other programs used {:.0f}% of the processors, other guests {:.0f}%; "
                    "bandwidths of shared caches and memory may be low",
                    100 * m.other_cpu_share, 100 * m.steal_share));
  if (!m.pinned) notes.push_back("the system refused to pin threads to processors: they may have moved");
  if (m.huge_page_share < 0.9)
    notes.push_back(
        fmt::format("huge pages hold {:.0f}% of the memory measured: programs with huge pages may be faster "
                    "in large working sets",
                    100 * m.huge_page_share));
  if (m.cpu.cpu_quota && *m.cpu.cpu_quota < static_cast<double>(m.all.cpus.size()))
    notes.push_back(
        fmt::format("this container may use {:.1f} processors' worth of time: {} threads cannot keep up "
                    "their rate for long",
                    *m.cpu.cpu_quota, m.all.cpus.size()));
  note_levels(m, notes);
}

}  // namespace

std::string_view to_string(AccessPattern pattern) { return kPatternNames[static_cast<std::size_t>(pattern)]; }

std::optional<AccessPattern> parse_access_pattern(std::string_view text) {
  const auto it = std::find(kPatternNames.begin(), kPatternNames.end(), text);
  if (it == kPatternNames.end()) return std::nullopt;
  return static_cast<AccessPattern>(it - kPatternNames.begin());
}

const MeasuredBandwidth* ThreadedMeasurement::bandwidth(std::string_view level, AccessPattern pattern) const {
  for (const auto& b : bandwidths)
    if (b.level == level && b.pattern == pattern) return &b;
  return nullptr;
}

const MeasuredBandwidth* ThreadedMeasurement::best(std::string_view level) const {
  using enum AccessPattern;
  const MeasuredBandwidth* best = nullptr;
  for (const auto& b : bandwidths) {
    const bool plain_store = b.pattern == write || b.pattern == copy || b.pattern == triad;
    if (b.level != level || (level == "dram" && plain_store)) continue;
    if (best == nullptr || b.rate.value > best->rate.value) best = &b;
  }
  return best;
}

const MeasuredPeak* ThreadedMeasurement::peak(const Precision& precision, bool mix) const {
  for (const auto& p : peaks)
    if (p.precision == precision && p.mix == mix) return &p;
  return nullptr;
}

CpuMeasurement measure_cpu(const MeasureOptions& options) {
  if (candidates().empty())
    throw UsageError("no measuring kernels for this architecture: there are some for x86-64 and AArch64");
  CpuMeasurement m;
  m.cpu = cpu_facts();
  m.version = ROOFLINE_VERSION;
  m.date = today();
  m.quick = options.quick;
  auto cpus = processors().one_per_core;
  if (options.threads > cpus.size())
    throw UsageError(fmt::format("{} threads asked for, but this process may use {} core{}", options.threads,
                                 cpus.size(), cpus.size() == 1 ? "" : "s"));
  if (options.threads > 0) cpus.resize(options.threads);
  const auto effort = effort_of(options);
  auto limit = options.memory_limit > 0 ? options.memory_limit : available_memory() / 4;
  if (limit == 0) limit = static_cast<std::size_t>(256 * kMiB);
  const double begin = now();
  const auto before = machine_times();
  const double own_before = own_time();
  const auto take = [&](const std::vector<int>& on, double until, const ThreadedMeasurement* alone) {
    Run run(on, effort, bytes_per_thread(effort, m.cpu, on.size(), limit), until, alone, m.cpu, options.progress);
    auto out = run.measure();
    m.huge_page_share = std::min(m.huge_page_share, run.huge_page_share());
    m.pinned = m.pinned && run.pinned();
    m.complete = m.complete && run.complete();
    if (run.levels_from_one_thread() && !options.quick)
      m.notes.push_back(
          fmt::format("with {} threads the sweep shows other levels than with one: those of one thread are "
                      "used, the third and larger shared by all",
                      on.size()));
    return out;
  };
  m.huge_page_share = 1;
  m.one = take({cpus.front()}, begin + effort.seconds / (cpus.size() > 1 ? 2 : 1), nullptr);
  m.all = cpus.size() > 1 ? take(cpus, begin + effort.seconds, &m.one) : m.one;
  // Never slower than with all cores busy, and seldom faster: the better guess where nothing else was to be had.
  if (m.all.clock.only_disturbed || m.all.clock.samples == 0) m.all.clock = m.one.clock;
  const auto dropped = drop_disturbed(m.one) + drop_disturbed(m.all);
  m.complete = m.complete && dropped == 0;
  if (!m.complete)
    m.notes.emplace_back(
        "figures are missing: other programs left too little time, or no samples without an interruption. Measure "
        "again on a quieter machine");
  m.seconds = now() - begin;
  const auto after = machine_times();
  const double busy = after.busy - before.busy;
  const double steal = after.steal - before.steal;
  const double whole = busy + steal + after.idle - before.idle;
  if (whole > 0) {
    m.other_cpu_share = std::max(0.0, busy - (own_time() - own_before)) / whole;
    m.steal_share = steal / whole;
  }
  add_notes(m);
  return m;
}

}  // namespace roofline
