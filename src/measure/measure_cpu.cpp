#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <span>
#include <utility>

#include "measure/cpu.h"
#include "measure/threaded_run.h"
#include "roofline/error.h"
#include "roofline/measure.h"

namespace roofline {
namespace {

using namespace measure;

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * 1024;

constexpr std::array<std::string_view, 7> kPatternNames = {"read",     "write",   "copy",    "triad",
                                                           "nt_write", "nt_copy", "nt_triad"};

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

std::string today() {
  const auto time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  return fmt::format("{:%Y-%m-%d}", utc);
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

std::string threads_text(std::size_t threads) {
  return threads == 1 ? std::string("1 thread") : fmt::format("{} threads", threads);
}

// What one number of threads gave, beside its figures.
void absorb(const ThreadedResult& result, bool quick, CpuMeasurement& m) {
  m.huge_page_share = std::min(m.huge_page_share, result.huge_page_share);
  m.pinned = m.pinned && result.pinned;
  m.complete = m.complete && result.complete;
  const auto threads = result.measurement.cpus.size();
  for (const auto& name : result.missing) m.missing.push_back(fmt::format("{}, {}", name, threads_text(threads)));
  if (result.levels_from_one_thread && !quick)
    m.notes.push_back(
        fmt::format("with {} threads the sweep shows other levels than with one: those of one thread are "
                    "used, the third and larger shared by all",
                    threads));
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 6;
  if (names.size() <= kShown + 1) return fmt::format("{}", fmt::join(names, ", "));
  const std::span first(names.data(), kShown);
  return fmt::format("{} and {} more", fmt::join(first, ", "), names.size() - kShown);
}

void note_missing(const CpuMeasurement& m, std::vector<std::string>& notes) {
  if (m.complete) return;
  notes.push_back(fmt::format(
      "figures are missing: other programs left too little time, or no samples without an interruption{}{}. Measure "
      "again on a quieter machine",
      m.missing.empty() ? "" : ": ", listed(m.missing)));
}

// The figures that are less certain than was wanted, the least certain first.
void note_cut_short(const CpuMeasurement& m, std::vector<std::string>& notes) {
  std::vector<std::pair<double, std::string>> cut;
  for (const auto* t : {&m.one, &m.all}) {
    if (t == &m.all && m.all.cpus.size() == m.one.cpus.size()) break;
    const auto add = [&](const MeasuredValue& v, const std::string& name) {
      constexpr std::size_t kFewest = 3;  // fewer say nothing of their width
      const bool few = v.samples < kFewest;
      const auto width = few ? fmt::format("{} sample{}", v.samples, v.samples == 1 ? "" : "s")
                             : fmt::format("{:.1f}%", 100 * v.width);
      if (v.cut_short)
        cut.emplace_back(few ? 1 : v.width, fmt::format("{}, {} ({})", name, threads_text(t->cpus.size()), width));
    };
    for (const auto& b : t->bandwidths) add(b.rate, figure_name(b));
    for (const auto& p : t->peaks) add(p.rate, figure_name(p));
  }
  if (cut.empty()) return;
  std::stable_sort(cut.begin(), cut.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> names(cut.size());
  std::transform(cut.begin(), cut.end(), names.begin(), [](const auto& figure) { return figure.second; });
  notes.push_back(fmt::format(
      "{} figure{} cut short by the time limit: few samples, or those that make the ceiling still differ by more than "
      "1%: {}",
      cut.size(), cut.size() == 1 ? " was" : "s were", listed(names)));
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
  Workplace place;
  place.facts = cpu_facts();
  place.cpus = processors().one_per_core;
  place.memory_limit = options.memory_limit > 0 ? options.memory_limit : available_memory() / 4;
  place.now = now;
  place.bench = thread_bench;
  const auto before = machine_times();
  const double own_before = own_time();
  auto m = measure_at(place, options);
  m.date = today();
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

namespace roofline::measure {

CpuMeasurement measure_at(const Workplace& place, const MeasureOptions& options) {
  if (candidates().empty())
    throw UsageError("no measuring kernels for this architecture: there are some for x86-64 and AArch64");
  auto cpus = place.cpus;
  if (options.threads > cpus.size())
    throw UsageError(fmt::format("{} threads asked for, but this process may use {} core{}", options.threads,
                                 cpus.size(), cpus.size() == 1 ? "" : "s"));
  if (options.threads > 0) cpus.resize(options.threads);
  const auto effort = effort_of(options);
  const double begin = place.now();
  CpuMeasurement m;
  m.cpu = place.facts;
  m.version = ROOFLINE_VERSION;
  m.quick = options.quick;
  m.budget_s = effort.seconds;
  m.huge_page_share = 1;
  auto limited = place;
  if (limited.memory_limit == 0) limited.memory_limit = static_cast<std::size_t>(256 * kMiB);
  const auto take = [&](const std::vector<int>& on, double until, const ThreadedMeasurement* alone) {
    auto result = measure_threads(limited, on, effort, until, alone, options.progress);
    absorb(result, options.quick, m);
    return std::move(result.measurement);
  };
  m.one = take({cpus.front()}, begin + effort.seconds / (cpus.size() > 1 ? 2 : 1), nullptr);
  m.all = cpus.size() > 1 ? take(cpus, begin + effort.seconds, &m.one) : m.one;
  // Never slower than with all cores busy, and seldom faster: the better guess where nothing else was to be had.
  if (m.all.clock.only_disturbed || m.all.clock.samples == 0) m.all.clock = m.one.clock;
  m.seconds = place.now() - begin;
  note_missing(m, m.notes);
  note_cut_short(m, m.notes);
  return m;
}

}  // namespace roofline::measure
