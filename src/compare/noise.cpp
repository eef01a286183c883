#include "compare/noise.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace roofline::comparing {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kTwoSided = 0.025;  // each tail of a 95 % interval

struct Logs {
  double mean = 0;
  double squares = 0;  // sum of squared deviations
  std::size_t n = 0;
  bool equal = true;
};

std::optional<Logs> logs_of(const Samples& samples) {
  Logs out;
  out.n = samples.size();
  if (samples.empty()) return std::nullopt;
  for (const auto& s : samples) {
    if (!s || !(*s > 0) || !std::isfinite(*s)) return std::nullopt;
    out.mean += std::log(*s) / static_cast<double>(out.n);
    out.equal = out.equal && *s == *samples.front();
  }
  for (const auto& s : samples) out.squares += std::pow(std::log(*s) - out.mean, 2);
  return out;
}

// Relative standard deviation of the runs of one side; nothing where they are one run, once or given several times.
std::optional<double> deviation_of(const Logs& side) {
  if (side.n < 2 || side.equal || !(side.squares > 0)) return std::nullopt;
  return std::sqrt(side.squares / static_cast<double>(side.n - 1));
}

// Repeats that are one run given several times average nothing out.
double runs_that_count(const Logs& side) { return deviation_of(side) ? static_cast<double>(side.n) : 1; }

std::optional<double> mean_of(const Samples& samples) {
  if (samples.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& s : samples) {
    if (!s) return std::nullopt;
    sum += *s;
  }
  return sum / static_cast<double>(samples.size());
}

// y with trigamma(y) = x: Newton's method on 1/trigamma, which is convex (Smyth 2004, appendix).
double inverse_trigamma(double x) {
  double y = 0.5 + 1 / x;
  for (int i = 0; i < 50; ++i) {
    const double value = boost::math::trigamma(y);
    // The derivative of trigamma, from its definition as a difference: precise enough for a step.
    const double h = 1e-4 * y;
    const double slope = (boost::math::trigamma(y + h) - boost::math::trigamma(y - h)) / (2 * h);
    const double step = value * (1 - value / x) / slope;
    y += step;
    if (-step / y < 1e-8) break;
  }
  return y;
}

// What variances have in common: `freedom` says how much they do.
struct Prior {
  double variance = 0;
  double freedom = 0;
};

Prior prior_of(std::span<LogChange*> changes) {
  std::vector<double> e;
  double expected = 0;  // of the variance of e, if all had the same true variance
  for (const auto* c : changes) {
    const double half = c->freedom / 2;
    e.push_back(std::log(c->variance) - boost::math::digamma(half) + std::log(half));
    expected += boost::math::trigamma(half);
  }
  const auto n = static_cast<double>(e.size());
  expected /= n;
  const double mean = std::accumulate(e.begin(), e.end(), 0.0) / n;
  double spread = 0;
  for (const double x : e) spread += std::pow(x - mean, 2) / (n - 1);
  if (spread <= expected) return {std::exp(mean), kInfinite};
  const double half = inverse_trigamma(spread - expected);
  return {std::exp(mean + boost::math::digamma(half) - std::log(half)), 2 * half};
}

}  // namespace

std::optional<LogChange> log_change(const Samples& before, const Samples& after, std::optional<double> known_noise) {
  const auto a = logs_of(before);
  const auto b = logs_of(after);
  if (!a || !b) return std::nullopt;
  LogChange out;
  out.difference = b->mean - a->mean;
  out.scale = 1.0 / runs_that_count(*a) + 1.0 / runs_that_count(*b);
  if (known_noise) {
    out.variance = *known_noise * *known_noise;
    out.freedom = out.own_freedom = kInfinite;
    return out;
  }
  double squares = 0;
  for (const auto& side : {*a, *b}) {
    if (side.n < 2 || side.equal) continue;
    squares += side.squares;
    out.freedom += static_cast<double>(side.n - 1);
  }
  if (out.freedom > 0) out.variance = squares / out.freedom;
  if (out.variance <= 0) out.freedom = 0;
  return out;
}

std::optional<Interval> interval_of(const LogChange& change) {
  if (change.freedom <= 0) return std::nullopt;
  const double half = student_quantile_above(kTwoSided, change.freedom) * std::sqrt(change.scale * change.variance);
  return Interval{std::exp(change.difference - half), std::exp(change.difference + half)};
}

LogChange noise_of_side(std::optional<double> deviation, std::size_t runs) {
  LogChange out;
  out.scale = 1;
  if (!deviation || runs < 2) return out;
  out.scale = 1.0 / static_cast<double>(runs);
  out.variance = *deviation * *deviation;
  out.freedom = out.own_freedom = static_cast<double>(runs - 1);
  return out;
}

LogChange unpooled(double difference, const LogChange& before, const LogChange& after) {
  const auto& known = before.freedom > 0 ? before : after;
  const double a = before.scale * (before.freedom > 0 ? before : known).variance;
  const double b = after.scale * (after.freedom > 0 ? after : known).variance;
  LogChange out;
  out.difference = difference;
  out.scale = before.scale + after.scale;
  out.variance = (a + b) / out.scale;
  out.own_freedom = std::min(before.own_freedom, after.own_freedom);
  if (before.freedom <= 0 || after.freedom <= 0)
    out.freedom = known.freedom;
  else if (out.variance > 0)
    out.freedom = std::pow(a + b, 2) / (a * a / before.freedom + b * b / after.freedom);
  return out;
}

Change change_of(const Samples& before, const Samples& after, std::optional<double> known_noise) {
  Change out;
  out.before = mean_of(before);
  out.after = mean_of(after);
  const auto logs = log_change(before, after, known_noise);
  if (!logs) return out;
  out.ratio = std::exp(logs->difference);
  if (logs->freedom > 0) out.noise = std::sqrt(logs->variance);
  out.freedom = logs->freedom;
  out.scale = logs->scale;
  if (known_noise) {
    out.interval = interval_of(*logs);
    return out;
  }
  out.noise_before = deviation_of(*logs_of(before));
  out.noise_after = deviation_of(*logs_of(after));
  out.interval = interval_of(unpooled(logs->difference, noise_of_side(out.noise_before, before.size()),
                                      noise_of_side(out.noise_after, after.size())));
  return out;
}

double student_above(double t, double freedom) {
  using namespace boost::math;
  if (!std::isfinite(freedom)) return cdf(complement(normal_distribution<>(), t));
  return cdf(complement(students_t_distribution<>(freedom), t));
}

double student_quantile_above(double probability, double freedom) {
  using namespace boost::math;
  if (!std::isfinite(freedom)) return quantile(complement(normal_distribution<>(), probability));
  return quantile(complement(students_t_distribution<>(freedom), probability));
}

void moderate(std::span<LogChange*> changes) {
  constexpr std::size_t kFewest = 3;  // of fewer, nobody can tell what they have in common
  // Noise that all kernels of a run share has the degrees of freedom of one kernel, however many there are; noise of
  // each by itself has all of them, and nothing here tells the two apart. With this limit the gate keeps its promise
  // for both (tests/compare/gate_simulation_test.cpp).
  constexpr double kMostBorrowed = 3;
  std::vector<LogChange*> usable;
  double pooled = 0;
  for (auto* c : changes) {
    if (c->freedom <= 0 || !std::isfinite(c->freedom) || c->variance <= 0) continue;
    usable.push_back(c);
    pooled += c->freedom;
  }
  if (usable.size() < kFewest) return;
  const auto prior = prior_of(usable);
  for (auto* c : usable) {
    c->variance = std::isfinite(prior.freedom)
                      ? (prior.freedom * prior.variance + c->freedom * c->variance) / (prior.freedom + c->freedom)
                      : prior.variance;
    c->freedom = std::min({prior.freedom + c->freedom, pooled, kMostBorrowed * c->freedom});
  }
}

std::vector<double> holm(std::span<const double> probabilities) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return probabilities[a] < probabilities[b]; });
  std::vector<double> out(probabilities.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, static_cast<double>(order.size() - i) * probabilities[order[i]]);
    out[order[i]] = std::min(1.0, largest);
  }
  return out;
}

}  // namespace roofline::comparing
