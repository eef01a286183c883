// Repeated timing of the loops on a team of threads.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/arena.h"
#include "measure/kernels.h"
#include "measure/statistics.h"
#include "measure/team.h"
#include "roofline/measure.h"

namespace roofline::measure {

class Meter {
 public:
  // `bytes` of memory for each thread, filled by it. Throws std::bad_alloc.
  Meter(std::vector<int> cpus, std::size_t bytes, StopRule rule);

  MeasuredValue clock();  // hertz
  // Seconds per load in a set of so many bytes per thread, taking about `seconds` for it. Sets must grow from call to
  // call. Of the fastest sample: other programs only ever push lines out of the caches. nullopt without a sample.
  std::optional<double> latency(std::size_t set_bytes, double seconds);
  // Bytes/s of all threads; nullopt where the kernels cannot. `quick`: a few samples, for sweeps and for choosing.
  std::optional<MeasuredValue> bandwidth(const KernelSet& kernels, AccessPattern pattern, std::size_t set_bytes,
                                         bool quick);
  MeasuredValue compute(const ComputeKernel& kernel, bool quick);
  // How long a figure may take from now on.
  void set_seconds(double seconds) { rule_.seconds = rule_.more_seconds = seconds; }
  // From then on each figure is made of as few samples as can be, and finally of none.
  void set_deadline(double time) { deadline_ = time; }
  bool out_of_time() const { return now() > deadline_; }
  // Fills memory with numbers again after latency() wrote its pointers.
  void refill();

  const Team& team() const { return team_; }
  std::size_t bytes() const { return bytes_; }
  double huge_page_share() const;

 private:
  using Work = std::function<void(std::size_t member, std::size_t turns)>;
  // `amount` is what one turn of all members makes.
  // The search for the number of turns of a sample begins at `first_turns`: fewer than a quarter of what is needed.
  MeasuredValue rate(const Work& work, double amount, double first_turns, const StopRule& rule);
  std::size_t turns_per_sample(const Work& work, double first_turns);
  Team::Timing time_turns(const Work& work, std::size_t turns);

  Team team_;
  std::size_t bytes_;
  StopRule rule_;
  double deadline_ = std::numeric_limits<double>::infinity();
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::vector<Chain> chains_;
  std::vector<std::size_t> cursors_;
};

}  // namespace roofline::measure
