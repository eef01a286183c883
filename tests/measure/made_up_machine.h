// A machine with known caches, rates, noise and neighbours, and a clock of its own: hours of measuring take no time.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "measure/threaded_run.h"

namespace roofline::measure::testing {

struct MadeUpLevel {
  double bytes;  // per thread; infinite for memory
  double latency_s;
  double bytes_per_s;  // of one thread
};

struct MadeUpMachine {
  std::vector<MadeUpLevel> levels = {{32.0 * 1024, 1.1e-9, 236e9},
                                     {1024.0 * 1024, 3.8e-9, 118e9},
                                     {16.0 * 1024 * 1024, 14e-9, 100e9},
                                     {1e300, 110e-9, 36e9}};
  double clock = 3.7e9;
  double operations_per_s = 59e9;  // of a loop of multiply-adds, FP64, one thread
  double noise = 0;                // samples are up to this share slower
  // Other programs: in each millisecond of work a thread loses its processor with this probability, for so long.
  double loses = 0;
  double away_s = 0;
  double now = 1000;
  std::mt19937 random{1};

  double chance() { return std::uniform_real_distribution<double>(0, 1)(random); }
  const MadeUpLevel& level_of(double bytes) const {
    return *std::find_if(levels.begin(), levels.end(), [&](const MadeUpLevel& l) { return bytes <= l.bytes; });
  }
};

class MadeUpBench : public Bench {
 public:
  MadeUpBench(MadeUpMachine& machine, std::size_t threads, std::size_t bytes)
      : machine_(machine), threads_(threads), bytes_(bytes) {}

  std::size_t threads() const override { return threads_; }
  std::size_t bytes() const override { return bytes_; }
  double now() const override { return machine_.now; }
  double huge_page_share() const override { return 1; }
  bool pinned() const override { return true; }
  Team::Timing run(const Job& job, std::size_t turns) override {
    constexpr double kStart = 2e-6;  // of the threads
    Team::Timing timing;
    timing.seconds = kStart + seconds(job) * static_cast<double>(turns) * (1 + machine_.noise * machine_.chance());
    double lost = 0;
    for (std::size_t i = 0; i < threads_; ++i) {
      const double alone = std::pow(1 - machine_.loses, timing.seconds / 1e-3);
      if (machine_.chance() > alone) lost = std::max(lost, machine_.away_s * (0.5 + machine_.chance()));
    }
    timing.disturbed = lost > 0;
    timing.seconds += lost;
    machine_.now += timing.seconds;
    return timing;
  }

 private:
  double seconds(const Job& job) {  // of a turn
    constexpr double kLine = 64;
    constexpr double kFills = 3e9;  // bytes/s
    switch (job.work) {
      case Work::adds:
        return kAddsPerTurn / machine_.clock;
      case Work::walk:
        return Layout(job.pattern, job.set_bytes, bytes_).bytes_per_turn() /
               machine_.level_of(static_cast<double>(job.set_bytes)).bytes_per_s;
      case Work::compute:
        return job.compute->operations / machine_.operations_per_s;
      case Work::follow:
        return machine_.level_of(static_cast<double>(joined_)).latency_s;
      case Work::join: {
        const auto lines = static_cast<double>(job.set_bytes - joined_) / kLine;
        joined_ = job.set_bytes;
        return lines * machine_.level_of(static_cast<double>(joined_)).latency_s;
      }
      case Work::fill:
        return static_cast<double>(job.set_bytes - job.from) / kFills;
    }
    return 0;
  }

  MadeUpMachine& machine_;
  std::size_t threads_;
  std::size_t bytes_;
  std::size_t joined_ = 0;
};

inline Workplace workplace(MadeUpMachine& machine, std::size_t cores) {
  Workplace place;
  for (std::size_t i = 0; i < cores; ++i) place.cpus.push_back(static_cast<int>(i));
  place.facts.cores = cores;
  place.memory_limit = std::size_t{8} << 30;
  place.now = [&machine] { return machine.now; };
  place.bench = [&machine](const std::vector<int>& cpus, std::size_t bytes) {
    return std::make_unique<MadeUpBench>(machine, cpus.size(), bytes);
  };
  return place;
}

}  // namespace roofline::measure::testing
