#include "measure/meter.h"

#include <algorithm>
#include <cmath>

namespace roofline::measure {
namespace {

// Short enough that most samples fit between two of the scheduler's interruptions, long enough for the clock.
constexpr double kSampleSeconds = 1e-3;
constexpr std::size_t kChunk = std::size_t{1} << 20;  // larger arrays are walked piece by piece
constexpr std::size_t kPage = 4096;
constexpr StopRule kQuickRule = {3, 12, 0.02, 3e-3, 6e-3};

std::size_t arrays_of(AccessPattern pattern) {
  switch (pattern) {
    case AccessPattern::read:
    case AccessPattern::write:
    case AccessPattern::nt_write:
      return 1;
    case AccessPattern::copy:
    case AccessPattern::nt_copy:
      return 2;
    case AccessPattern::triad:
    case AccessPattern::nt_triad:
      return 3;
  }
  return 1;
}

bool can(const KernelSet& k, AccessPattern pattern) {
  switch (pattern) {
    case AccessPattern::nt_write:
      return k.write_nt != nullptr;
    case AccessPattern::nt_copy:
      return k.copy_nt != nullptr;
    case AccessPattern::nt_triad:
      return k.triad_nt != nullptr;
    default:
      return true;
  }
}

// Where the arrays of a set lie, and in which pieces they are walked.
struct Layout {
  std::size_t arrays, bytes;  // of one array
  std::size_t piece;          // of one array, per turn

  Layout(AccessPattern pattern, std::size_t set_bytes, std::size_t room) : arrays(arrays_of(pattern)) {
    const auto most = std::min(set_bytes, room - arrays * 2 * kPage) / arrays;
    const auto unit = most > kChunk ? kChunk : kBlock;
    bytes = std::max(unit, most / unit * unit);
    piece = std::min(bytes, kChunk);
  }
  // A third of a page apart: a load whose address ends like that of a store just before would have to wait for it.
  std::size_t start(std::size_t array) const {
    constexpr std::size_t kApart = 1344;
    return (array * bytes + kPage - 1) / kPage * kPage + array * kApart;
  }
  double bytes_per_turn() const { return static_cast<double>(arrays * piece); }
};

void walk(const KernelSet& k, AccessPattern pattern, char* a, const char* b, const char* c, std::size_t bytes,
          std::size_t passes) {
  switch (pattern) {
    case AccessPattern::read:
      return k.read(a, bytes, passes);
    case AccessPattern::write:
      return k.write(a, bytes, passes);
    case AccessPattern::copy:
      return k.copy(a, b, bytes, passes);
    case AccessPattern::triad:
      return k.triad(a, b, c, bytes, passes);
    case AccessPattern::nt_write:
      return k.write_nt(a, bytes, passes);
    case AccessPattern::nt_copy:
      return k.copy_nt(a, b, bytes, passes);
    case AccessPattern::nt_triad:
      return k.triad_nt(a, b, c, bytes, passes);
  }
}

}  // namespace

Meter::Meter(std::vector<int> cpus, std::size_t bytes, StopRule rule)
    : team_(std::move(cpus)), bytes_(bytes), rule_(rule), cursors_(team_.size(), 0) {
  for (std::size_t i = 0; i < team_.size(); ++i) {
    arenas_.push_back(std::make_unique<Arena>(bytes));
    chains_.emplace_back(arenas_.back()->data(), bytes);
  }
  refill();
}

void Meter::refill() {
  team_.run([this](std::size_t member) { arenas_[member]->fill(); });
}

double Meter::huge_page_share() const {
  double sum = 0;
  for (const auto& arena : arenas_) sum += arena->huge_page_share();
  return sum / static_cast<double>(arenas_.size());
}

// The number of turns that take about a sample's time, found by doubling: the warm-up as well. A turn's time is the
// shortest of a few, since an interruption only ever lengthens it.
std::size_t Meter::turns_per_sample(const Work& work, double first_turns) {
  constexpr std::size_t kMostTurns = std::size_t{1} << 40;
  constexpr int kTries = 3;
  for (auto turns = static_cast<std::size_t>(std::max(1.0, first_turns));; turns *= 2) {
    double seconds = time_turns(work, turns).seconds;
    for (int i = 1; i < kTries && seconds >= kSampleSeconds / 4 && !out_of_time(); ++i)
      seconds = std::min(seconds, time_turns(work, turns).seconds);
    if (seconds < kSampleSeconds / 4 && turns < kMostTurns) continue;
    return static_cast<std::size_t>(std::max(1.0, std::round(kSampleSeconds * static_cast<double>(turns) / seconds)));
  }
}

Team::Timing Meter::time_turns(const Work& work, std::size_t turns) {
  return team_.run([&](std::size_t member) { work(member, turns); });
}

MeasuredValue Meter::rate(const Work& work, double amount, double first_turns, const StopRule& rule) {
  auto turns = turns_per_sample(work, first_turns);
  std::vector<Sample> samples;
  const double begin = now();
  do {
    const auto timing = time_turns(work, turns);
    if (timing.seconds < kSampleSeconds / 2) {
      // Every try before was interrupted: such short samples measure the clock and the start of the threads.
      turns = static_cast<std::size_t>(
          std::ceil(static_cast<double>(turns) * kSampleSeconds / std::max(timing.seconds, kSampleSeconds / 1000)));
      samples.clear();
      continue;
    }
    samples.push_back({amount * static_cast<double>(turns) / timing.seconds, timing.disturbed});
  } while (!out_of_time() && !enough(samples, now() - begin, rule));
  return summarize(samples);
}

MeasuredValue Meter::clock() {
  constexpr double kFastest = 1e9;  // a slow clock, for the first guess
  // Hertz are those of one thread, whatever the others do.
  return rate([](std::size_t, std::size_t turns) { static_cast<void>(dependent_adds(turns)); }, kAddsPerTurn,
              kSampleSeconds / 8 * kFastest / kAddsPerTurn, rule_);
}

std::optional<double> Meter::latency(std::size_t set_bytes, double seconds) {
  const double begin = now();
  team_.run([&](std::size_t member) { chains_[member].grow(set_bytes); });
  std::vector<void*> at(team_.size());
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = chains_[i].start();
  const auto follow = [&](std::size_t member, std::size_t steps) { at[member] = chase(at[member], steps); };
  // Until the caches hold what they will hold from now on.
  constexpr std::size_t kWarmSteps = 4096;
  const auto lines = chains_.front().lines();
  for (std::size_t done = 0; done < lines && now() - begin < 4 * seconds; done += kWarmSteps)
    team_.run([&](std::size_t member) { follow(member, kWarmSteps); });
  constexpr std::size_t kFirstSteps = 512;
  const auto value = rate(follow, 1, kFirstSteps, {5, 40, 0.03, seconds, 3 * seconds});
  if (!(value.high > 0) || value.only_disturbed) return std::nullopt;
  return 1 / value.high;
}

std::optional<MeasuredValue> Meter::bandwidth(const KernelSet& kernels, AccessPattern pattern, std::size_t set_bytes,
                                              bool quick) {
  if (!can(kernels, pattern)) return std::nullopt;
  const Layout layout(pattern, set_bytes, bytes_);
  std::fill(cursors_.begin(), cursors_.end(), 0);
  const auto work = [&](std::size_t member, std::size_t turns) {
    char* base = arenas_[member]->data();
    char* a = base;
    const char* b = base + layout.start(1);
    const char* c = base + layout.start(2);
    if (layout.piece == layout.bytes) return walk(kernels, pattern, a, b, c, layout.bytes, turns);
    auto& at = cursors_[member];
    for (; turns > 0; --turns) {
      walk(kernels, pattern, a + at, b + at, c + at, layout.piece, 1);
      at = at + layout.piece == layout.bytes ? 0 : at + layout.piece;
    }
  };
  // What fits into a cache shall be there.
  constexpr std::size_t kMostWarm = std::size_t{64} << 20;
  if (set_bytes <= kMostWarm) team_.run([&](std::size_t member) { work(member, layout.bytes / layout.piece); });
  constexpr double kSlow = 1e9;  // bytes/s, for the first guess
  return rate(work, layout.bytes_per_turn() * static_cast<double>(team_.size()),
              kSampleSeconds / 4 * kSlow / layout.bytes_per_turn(), quick ? kQuickRule : rule_);
}

MeasuredValue Meter::compute(const ComputeKernel& kernel, bool quick) {
  const auto work = [&](std::size_t, std::size_t turns) { kernel.run(turns); };
  constexpr double kSlow = 2e9;  // operations/s, for the first guess
  return rate(work, kernel.operations * static_cast<double>(team_.size()),
              kSampleSeconds / 4 * kSlow / kernel.operations, quick ? kQuickRule : rule_);
}

}  // namespace roofline::measure
