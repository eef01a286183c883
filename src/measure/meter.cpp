#include "measure/meter.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace roofline::measure {
namespace {

// Short enough that most samples fit between two of the scheduler's interruptions, long enough for the clock.
constexpr double kSampleSeconds = 1e-3;
constexpr StopRule kQuickRule = {3, 12, 0.02, 3e-3, 6e-3};
// Memory is filled and chained in steps, between which the time is looked at.
constexpr std::size_t kStep = std::size_t{4} << 20;

}  // namespace

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

Meter::Meter(std::unique_ptr<Bench> bench, StopRule rule, double deadline)
    : bench_(std::move(bench)), rule_(rule), deadline_(deadline) {
  fill(bench_->bytes());
}

void Meter::fill(std::size_t bytes) {
  Job job;
  job.work = Work::fill;
  for (; job.from < bytes && !out_of_time(); job.from = job.set_bytes) {
    job.set_bytes = std::min(bytes, job.from + kStep);
    bench_->run(job, 1);
  }
}

void Meter::refill() { fill(joined_); }

// The number of turns that take about a sample's time, found by doubling: the warm-up as well. An interruption only
// ever lengthens a run, so the shortest of a few counts where none was left alone.
std::size_t Meter::turns_per_sample(const Job& job, double first_turns, double until) {
  constexpr std::size_t kMostTurns = std::size_t{1} << 40;
  constexpr int kTries = 3;
  for (auto turns = static_cast<std::size_t>(std::max(1.0, first_turns));; turns *= 2) {
    auto timing = bench_->run(job, turns);
    double seconds = timing.seconds;
    for (int i = 1; i < kTries && timing.disturbed && seconds >= kSampleSeconds / 4 && bench_->now() < until; ++i) {
      timing = bench_->run(job, turns);
      seconds = std::min(seconds, timing.seconds);
    }
    if (seconds < kSampleSeconds / 4 && turns < kMostTurns && bench_->now() < until) continue;
    return static_cast<std::size_t>(std::max(1.0, std::round(kSampleSeconds * static_cast<double>(turns) / seconds)));
  }
}

MeasuredValue Meter::rate(const Job& job, double amount, double first_turns, const StopRule& rule) {
  const double until = std::min(until_, deadline_);
  std::vector<Sample> samples;
  MeasuredValue nothing;
  nothing.cut_short = true;
  if (out_of_time()) return nothing;
  auto turns = turns_per_sample(job, first_turns, until);
  if (out_of_time()) return nothing;
  const double begin = bench_->now();
  do {
    const auto timing = bench_->run(job, turns);
    if (timing.seconds < kSampleSeconds / 2) {
      // Every try before was interrupted: such short samples measure the clock and the start of the threads.
      turns = static_cast<std::size_t>(
          std::ceil(static_cast<double>(turns) * kSampleSeconds / std::max(timing.seconds, kSampleSeconds / 1000)));
      samples.clear();
    } else {
      samples.push_back({amount * static_cast<double>(turns) / timing.seconds, timing.disturbed});
    }
  } while ((bench_->now() < until || (samples.empty() && !out_of_time())) &&
           !enough(samples, bench_->now() - begin, rule));
  auto value = summarize(samples);
  value.cut_short = cut_short(value, rule);
  return value;
}

MeasuredValue Meter::clock() {
  constexpr double kFastest = 1e9;  // a slow clock, for the first guess
  // Hertz are those of one thread, whatever the others do.
  return rate({}, kAddsPerTurn, kSampleSeconds / 8 * kFastest / kAddsPerTurn, rule_);
}

std::optional<double> Meter::latency(std::size_t set_bytes, double seconds) {
  Job job;
  job.work = Work::join;
  while (joined_ < set_bytes) {
    if (out_of_time()) return std::nullopt;
    job.set_bytes = std::min(set_bytes, joined_ + kStep);
    bench_->run(job, 1);
    joined_ = job.set_bytes;
  }
  // Until the caches hold what they will hold from now on: all of the set, where that is no more than a large cache.
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kWarmSteps = 4096;
  constexpr double kWarmSeconds = 0.03;
  const double warm = bench_->now() + std::max(4 * seconds, kWarmSeconds);
  job.work = Work::follow;
  for (std::size_t done = 0; done < set_bytes / kLine && bench_->now() < std::min(warm, deadline_); done += kWarmSteps)
    bench_->run(job, kWarmSteps);
  constexpr std::size_t kFirstSteps = 512;
  const auto value = rate(job, 1, kFirstSteps, {5, 40, 0.03, seconds, 3 * seconds});
  if (!(value.high > 0) || value.only_disturbed) return std::nullopt;
  return 1 / value.high;
}

std::optional<MeasuredValue> Meter::bandwidth(const KernelSet& kernels, AccessPattern pattern, std::size_t set_bytes,
                                              bool quick) {
  if (!can(kernels, pattern)) return std::nullopt;
  const Layout layout(pattern, set_bytes, bytes());
  Job job;
  job.work = Work::walk;
  job.pattern = pattern;
  job.kernels = &kernels;
  job.set_bytes = set_bytes;
  // What fits into a cache shall be there.
  constexpr std::size_t kMostWarm = std::size_t{64} << 20;
  if (set_bytes <= kMostWarm && !out_of_time()) bench_->run(job, layout.bytes / layout.piece);
  constexpr double kSlow = 1e9;  // bytes/s, for the first guess
  return rate(job, layout.bytes_per_turn() * static_cast<double>(bench_->threads()),
              kSampleSeconds / 4 * kSlow / layout.bytes_per_turn(), quick ? kQuickRule : rule_);
}

MeasuredValue Meter::compute(const ComputeKernel& kernel, bool quick) {
  Job job;
  job.work = Work::compute;
  job.compute = &kernel;
  constexpr double kSlow = 2e9;  // operations/s, for the first guess
  return rate(job, kernel.operations * static_cast<double>(bench_->threads()),
              kSampleSeconds / 4 * kSlow / kernel.operations, quick ? kQuickRule : rule_);
}

}  // namespace roofline::measure
