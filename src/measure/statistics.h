// From repeated samples to one figure.
#pragma once

#include <span>
#include <vector>

#include "roofline/measure.h"

namespace roofline::measure {

// Median of the values; of an even number the mean of the middle two. NaN without values.
double median(std::vector<double> values);

// One sample: a rate, and whether a thread lost its processor meanwhile.
struct Sample {
  double rate = 0;
  bool disturbed = false;
};

// What the samples say; see MeasuredValue. Samples that are not finite and positive are left out.
MeasuredValue summarize(std::span<const Sample> samples);

// When to stop: enough samples that agree, or no time left.
struct StopRule {
  std::size_t least = 9;       // undisturbed samples
  std::size_t most = 2000;     // samples of any kind
  double agreement = 0.01;     // (highest - lowest) / median of the best third
  double seconds = 0.1;        // planned for a figure
  double more_seconds = 0.15;  // beyond, as long as fewer than `least` samples are undisturbed
};
bool enough(std::span<const Sample> samples, double seconds, const StopRule& rule);
// Enough samples that agree, whatever the time.
bool settled(std::span<const Sample> samples, const StopRule& rule);
// Whether the value, of samples that were ended by time, is less certain than the rule asks for.
bool cut_short(const MeasuredValue& value, const StopRule& rule);

}  // namespace roofline::measure
