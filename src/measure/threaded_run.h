// Everything that is measured with one number of threads, within a time.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/bench.h"
#include "measure/statistics.h"
#include "roofline/measure.h"

namespace roofline::measure {

// How much of everything a full and a quick measurement take.
struct Effort {
  double largest_set;  // bytes
  int sets_per_doubling;
  StopRule rule;
  double seconds;  // all in all
  bool quick;
};

// What a measurement works with; made up in tests.
struct Workplace {
  CpuFacts facts;
  std::vector<int> cpus;         // one per core
  std::size_t memory_limit = 0;  // bytes of all working sets together
  std::function<double()> now;   // seconds
  std::function<std::unique_ptr<Bench>(std::vector<int> cpus, std::size_t bytes)> bench;
};

struct ThreadedResult {
  ThreadedMeasurement measurement;
  double huge_page_share = 0;
  bool pinned = true;
  bool levels_from_one_thread = false;
  bool complete = true;
  std::vector<std::string> missing;  // "L3 copy"
};

using Progress = std::function<void(std::string_view)>;

// Ends by `deadline`, whatever it then lacks. `alone` is what one thread measured; null for that measurement itself.
ThreadedResult measure_threads(const Workplace& place, const std::vector<int>& cpus, const Effort& effort,
                               double deadline, const ThreadedMeasurement* alone, const Progress& progress);

// "L3 NT write"; "fp64.vector, best mix".
std::string figure_name(const MeasuredBandwidth& figure);
std::string figure_name(const MeasuredPeak& figure);

// The instruction sets that are tried: the two widest, of which now one, now the other moves data faster.
std::vector<const KernelSet*> candidates();

// measure_cpu() at a workplace. Leaves out what only the system knows: the date, the share of other programs.
CpuMeasurement measure_at(const Workplace& place, const MeasureOptions& options);

}  // namespace roofline::measure
