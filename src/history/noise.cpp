// How much a kernel's time differs from run to run, learnt from the history itself.
#include "history/noise.h"

#include <algorithm>
#include <cmath>

#include "core/median.h"

namespace roofline::history {
namespace {

using Key = NoiseKey;

constexpr double kMatters = 0.02;  // of the time

std::map<Key, double> call_times(const StepRecord& step) {
  std::map<Key, std::pair<double, double>> sums;  // time, launches
  for (const auto& k : step.kernels) {
    if (!k.time_s || k.launches == 0) continue;
    auto& sum = sums[noise_key(k)];
    sum.first += *k.time_s;
    sum.second += static_cast<double>(k.launches);
  }
  std::map<Key, double> out;
  for (const auto& [key, sum] : sums)
    if (sum.first > 0) out[key] = sum.first / sum.second;
  return out;
}

}  // namespace

NoiseKey noise_key(const KernelRecord& k) {
  return {k.op.empty() ? name_family(k.full_name.empty() ? k.name : k.full_name) : k.op, k.grid, k.block};
}

std::set<NoiseKey> kernels_that_matter(const StepRecord& step) {
  std::map<Key, double> times;
  double total = 0;
  for (const auto& k : step.kernels) {
    times[noise_key(k)] += k.time_s.value_or(0);
    total += k.time_s.value_or(0);
  }
  std::set<NoiseKey> out;
  for (const auto& [key, time] : times)
    if (time > 0 && time >= kMatters * total) out.insert(key);
  return out;
}

// For a normal distribution the median of |x - y| of two draws is 0.6745 x sqrt(2) standard deviations.
std::optional<double> estimate_noise(std::span<const StepRecord> oldest_first) {
  constexpr std::size_t kLeastRecords = 20;
  if (oldest_first.size() < kLeastRecords) return std::nullopt;
  std::map<Key, std::vector<double>> differences;
  std::map<Key, double> weights;
  auto before = call_times(oldest_first.front());
  for (const auto& step : oldest_first.subspan(1)) {
    auto after = call_times(step);
    for (const auto& [key, time] : after)
      if (const auto it = before.find(key); it != before.end()) {
        differences[key].push_back(std::abs(std::log(time / it->second)));
        weights[key] += time;
      }
    before = std::move(after);
  }
  // The noisiest of the kernels that matter: one figure has to hold for all.
  double total = 0;
  for (const auto& [key, weight] : weights) total += weight;
  std::optional<double> noise;
  constexpr double kMedianToDeviation = 1 / (0.6745 * 1.41421356);
  for (auto& [key, list] : differences) {
    if (list.size() + 1 < kLeastRecords || weights[key] < kMatters * total) continue;
    const auto one = *median(list) * kMedianToDeviation;
    if (one > 0) noise = std::max(noise.value_or(0), one);  // 0: the same run recorded again says nothing
  }
  return noise;
}

}  // namespace roofline::history
