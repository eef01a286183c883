#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/median.h"

namespace roofline::measure {
namespace {

bool usable(const Sample& s) { return std::isfinite(s.rate) && s.rate > 0; }

std::vector<double> rates(std::span<const Sample> samples, bool disturbed_too) {
  std::vector<double> out;
  for (const auto& s : samples)
    if (usable(s) && (disturbed_too || !s.disturbed)) out.push_back(s.rate);
  std::sort(out.begin(), out.end());
  return out;
}

// `sorted` ascending, not empty.
std::span<const double> best_third(const std::vector<double>& sorted) {
  const auto count = (sorted.size() + 2) / 3;
  return std::span(sorted).last(count);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  return median_of_sorted(values);
}

MeasuredValue summarize(std::span<const Sample> samples) {
  MeasuredValue out;
  auto sorted = rates(samples, false);
  const auto all = rates(samples, true);
  out.disturbed = all.size() - sorted.size();
  if (sorted.empty()) {
    out.only_disturbed = !all.empty();
    sorted = all;
  }
  out.samples = sorted.size();
  if (sorted.empty()) return out;
  const auto best = best_third(sorted);
  out.value = median_of_sorted(best);
  constexpr std::size_t kFew = 9;  // a third of them says nothing of how far samples lie apart
  out.width = (sorted.size() < kFew ? sorted.back() - sorted.front() : best.back() - best.front()) / out.value;
  out.median = median_of_sorted(sorted);
  out.low = sorted.front();
  out.high = sorted.back();
  return out;
}

bool enough(std::span<const Sample> samples, double seconds, const StopRule& rule) {
  if (samples.size() >= rule.most) return true;
  const auto sorted = rates(samples, false);
  if (sorted.size() < rule.least) return seconds >= rule.seconds + rule.more_seconds;
  return seconds >= rule.seconds || settled(samples, rule);
}

bool settled(std::span<const Sample> samples, const StopRule& rule) {
  const auto sorted = rates(samples, false);
  if (sorted.size() < rule.least) return false;
  const auto best = best_third(sorted);
  return best.back() - best.front() <= rule.agreement * median_of_sorted(best);
}

bool cut_short(const MeasuredValue& value, const StopRule& rule) {
  constexpr std::size_t kFewest = 3;
  return value.only_disturbed || value.samples < kFewest || value.width > rule.agreement;
}

}  // namespace roofline::measure
