#include "measure/levels.h"

#include <algorithm>
#include <cmath>

namespace roofline::measure {
namespace {

constexpr double kFlat = 1.15;       // growth of the latency within a level
constexpr double kNewLevel = 1.4;    // growth from one level to the next
constexpr double kLeastSpan = 1.8;   // largest over smallest working set of a level
constexpr double kLeastPoints = 3;   // of a sweep
constexpr double kOnPlateau = 0.25;  // of the way to the next level's latency: beyond, a set no longer fits

// Noise at the very end has no larger set to show it: the middle one of the last few stands for the last.
void cap_end(std::vector<LatencyPoint>& points) {
  constexpr std::size_t kFew = 7;
  if (points.size() < kFew) return;
  std::vector<double> last;
  for (auto it = points.end() - kFew; it != points.end(); ++it) last.push_back(it->latency);
  std::sort(last.begin(), last.end());
  points.back().latency = std::min(points.back().latency, last[kFew / 2]);
}

// Sorted by size; single spikes removed; then never falling, since a larger set is never faster.
std::vector<LatencyPoint> cleaned(std::span<const LatencyPoint> sweep) {
  std::vector<LatencyPoint> points;
  for (const auto& p : sweep)
    if (std::isfinite(p.bytes) && std::isfinite(p.latency) && p.bytes > 0 && p.latency > 0) points.push_back(p);
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  cap_end(points);
  for (std::size_t i = points.size(); i-- > 1;)
    points[i - 1].latency = std::min(points[i - 1].latency, points[i].latency);
  return points;
}

// Half-open ranges of points.
struct Run {
  std::size_t first, last;
  double latency;
};

double run_latency(const std::vector<LatencyPoint>& points, std::size_t first, std::size_t last) {
  return points[first + (last - first) / 2].latency;  // ascending: the middle one is the median
}

std::vector<Run> flat_runs(const std::vector<LatencyPoint>& points) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < points.size();) {
    std::size_t end = i + 1;
    while (end < points.size() && points[end].latency <= points[i].latency * kFlat) ++end;
    if (points[end - 1].bytes >= points[i].bytes * kLeastSpan) {
      runs.push_back({i, end, run_latency(points, i, end)});
      i = end;
    } else {
      ++i;
    }
  }
  return runs;
}

std::vector<Run> merged(const std::vector<Run>& runs, const std::vector<LatencyPoint>& points) {
  std::vector<Run> out;
  for (const auto& run : runs) {
    if (!out.empty() && run.latency < out.back().latency * kNewLevel) {
      out.back().last = run.last;
      out.back().latency = run_latency(points, out.back().first, run.last);
    } else {
      out.push_back(run);
    }
  }
  return out;
}

// The sweep may end before memory's latency is flat: what stands clearly above the last level is a level all the same.
void add_tail(const std::vector<LatencyPoint>& points, std::vector<Run>& runs) {
  const auto& last = points.back();
  if (!runs.empty() && runs.back().last >= points.size()) return;
  const double before = runs.empty() ? 0 : runs.back().latency;
  const auto first = runs.empty() ? 0 : runs.back().last;
  if (last.latency >= before * kNewLevel)
    runs.push_back({first, points.size(), last.latency});
  else
    runs.back().last = points.size();
}

}  // namespace

std::vector<Plateau> find_levels(std::span<const LatencyPoint> sweep) {
  const auto points = cleaned(sweep);
  if (static_cast<double>(points.size()) < kLeastPoints) return {};
  auto runs = merged(flat_runs(points), points);
  add_tail(points, runs);
  std::vector<Plateau> levels;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Plateau level{points[runs[i].first].bytes, points[runs[i].last - 1].bytes, runs[i].latency};
    if (i + 1 < runs.size()) {
      const double limit = runs[i].latency + kOnPlateau * (runs[i + 1].latency - runs[i].latency);
      auto last = runs[i].first;
      while (last + 1 < points.size() && points[last + 1].latency <= limit) ++last;
      level.last_bytes = points[last].bytes;
    }
    levels.push_back(level);
  }
  return levels;
}

std::optional<double> inside(std::optional<double> below, double own) {
  constexpr double kOfOwn = 0.75;    // leaves room for stacks, code and neighbours
  constexpr double kAboveBelow = 2;  // so many times the level below, which then serves nothing of a cyclic walk
  constexpr double kOfFirst = 0.75;
  if (!below) return own * kOfFirst;
  const double low = *below * kAboveBelow;
  const double high = own * kOfOwn;
  if (high < low) return std::nullopt;
  return std::sqrt(low * high);
}

std::vector<double> working_sets(double least, double most, int per_doubling, double step) {
  std::vector<double> out;
  for (int i = 0;; ++i) {
    const double bytes = least * std::exp2(static_cast<double>(i) / per_doubling);
    if (bytes > most * 1.0001) break;
    const double whole = std::max(step, std::round(bytes / step) * step);
    if (out.empty() || whole > out.back()) out.push_back(whole);
  }
  return out;
}

}  // namespace roofline::measure
