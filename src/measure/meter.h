// Repeated timing of the loops, within a time.
#pragma once

#include <limits>
#include <memory>
#include <optional>

#include "measure/bench.h"
#include "measure/statistics.h"
#include "roofline/measure.h"

namespace roofline::measure {

// Whether the set has loops for it.
bool can(const KernelSet& kernels, AccessPattern pattern);

class Meter {
 public:
  // Fills the memory. After `deadline` (on the bench's clock) nothing begins, whatever is lacking then.
  Meter(std::unique_ptr<Bench> bench, StopRule rule, double deadline = std::numeric_limits<double>::infinity());

  MeasuredValue clock();  // hertz
  // Seconds per load in a set of so many bytes per thread, taking about `seconds` for it. Sets must grow from call to
  // call. Of the fastest sample: other programs only ever push lines out of the caches. nullopt without a sample.
  std::optional<double> latency(std::size_t set_bytes, double seconds);
  // Bytes/s of all threads; nullopt where the kernels cannot. `quick`: a few samples, for sweeps and for choosing.
  std::optional<MeasuredValue> bandwidth(const KernelSet& kernels, AccessPattern pattern, std::size_t set_bytes,
                                         bool quick);
  MeasuredValue compute(const ComputeKernel& kernel, bool quick);
  // No sample begins after that time. A figure that began before it has one sample at least, if the deadline allows.
  void set_until(double time) { until_ = time; }
  bool out_of_time() const { return bench_->now() > deadline_; }
  double now() const { return bench_->now(); }
  // Fills memory with numbers again where latency() wrote its pointers.
  void refill();

  const Bench& bench() const { return *bench_; }
  std::size_t bytes() const { return bench_->bytes(); }

 private:
  // `amount` is what one turn of all threads makes. The search for the number of turns of a sample begins at
  // `first_turns`: fewer than a quarter of what is needed.
  MeasuredValue rate(const Job& job, double amount, double first_turns, const StopRule& rule);
  std::size_t turns_per_sample(const Job& job, double first_turns, double until);
  void fill(std::size_t bytes);

  std::unique_ptr<Bench> bench_;
  StopRule rule_;
  double until_ = std::numeric_limits<double>::infinity();
  double deadline_;
  std::size_t joined_ = 0;  // bytes whose lines are in the chain
};

}  // namespace roofline::measure
