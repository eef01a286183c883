// What repeats say about a change.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "roofline/compare.h"

namespace roofline::comparing {

using Samples = std::vector<std::optional<double>>;  // one per repeat; absent where it is unknown

// The change of logarithms, since noise of times is relative. Degrees of freedom 0: the noise is unknown.
struct LogChange {
  double difference = 0;   // mean of log(after) - mean of log(before)
  double variance = 0;     // of one run: pooled over both sides, or as `unpooled` says
  double freedom = 0;      // degrees of freedom of `variance`
  double scale = 0;        // variance of the difference = scale * variance: 1/n + 1/m
  double own_freedom = 0;  // of the side that tells less, by its own runs: before anything is borrowed
};

// nullopt unless every repeat of both sides has a positive value. Repeats that are equal to the last bit are one run
// given several times: they count as one, and tell nothing of the noise. `known_noise` is the relative standard
// deviation of one run.
std::optional<LogChange> log_change(const Samples& before, const Samples& after, std::optional<double> known_noise);

// What one side alone tells: the relative standard deviation of its runs, of which there are `runs`. Degrees of freedom
// 0 without a deviation: such runs are one run given several times, and count as one.
LogChange noise_of_side(std::optional<double> deviation, std::size_t runs);
// The change with a variance for each side: pooling would take the noise of the quiet side with many runs for that of
// a noisy one with few (Welch, "The generalization of Student's problem", 1947; degrees of freedom of Satterthwaite).
// `variance` is then what a run of both would have. Where only one side knows its noise, the other is taken to have the
// same.
LogChange unpooled(double difference, const LogChange& before, const LogChange& after);

// Means, ratio, 95 % interval.
Change change_of(const Samples& before, const Samples& after, std::optional<double> known_noise);
std::optional<Interval> interval_of(const LogChange& change);

// Probability of a value of Student's distribution above `t`; infinite `freedom` is the normal distribution.
double student_above(double t, double freedom);
// The value above which lies `probability`.
double student_quantile_above(double probability, double freedom);

// Shrinks each variance towards what all have in common, as far as they have something in common (Smyth, "Linear
// models and empirical Bayes methods for assessing differential expression", 2004, section 6.2): few repeats of each
// kernel, but many kernels, tell the noise of a run. Kernels of one run share its clock and its neighbours, so what
// they tell together is believed for no more than a small multiple of what the runs alone do. Changes without known
// noise, or with a noise that was given, stay.
void moderate(std::span<LogChange*> changes);

// Step-down of Holm, 1979: for each probability, the one corrected for there being many.
std::vector<double> holm(std::span<const double> probabilities);

}  // namespace roofline::comparing
