// What a meter has its loops run on: threads of this processor, or a made-up machine in tests.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "measure/kernels.h"
#include "measure/team.h"
#include "roofline/measure.h"

namespace roofline::measure {

// Where the arrays of a set lie within a thread's memory, and in which pieces they are walked.
struct Layout {
  Layout(AccessPattern pattern, std::size_t set_bytes, std::size_t room);
  std::size_t start(std::size_t array) const;
  double bytes_per_turn() const { return static_cast<double>(arrays * piece); }

  std::size_t arrays, bytes;  // of one array
  std::size_t piece;          // of one array, per turn
};

enum class Work : std::uint8_t {
  adds,     // kAddsPerTurn dependent additions a turn
  walk,     // `pattern` through `set_bytes` by `kernels`, a piece of Layout a turn
  compute,  // a turn of `compute`
  follow,   // a load of the chain a turn
  join,     // lines up to `set_bytes` join the chain; turns do not matter
  fill,     // numbers into the memory from `from` to `set_bytes`; turns do not matter
};

struct Job {
  Work work = Work::adds;
  AccessPattern pattern = AccessPattern::read;
  const KernelSet* kernels = nullptr;
  const ComputeKernel* compute = nullptr;
  std::size_t from = 0;
  std::size_t set_bytes = 0;
};

class Bench {
 public:
  Bench() = default;
  virtual ~Bench() = default;
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  virtual std::size_t threads() const = 0;
  virtual std::size_t bytes() const = 0;  // of each thread
  virtual double now() const = 0;         // seconds
  // All threads do so many turns, starting together.
  virtual Team::Timing run(const Job& job, std::size_t turns) = 0;
  virtual double huge_page_share() const = 0;
  virtual bool pinned() const = 0;
};

// A thread on each of `cpus`, with so many bytes for each, not filled yet. Throws std::bad_alloc.
std::unique_ptr<Bench> thread_bench(std::vector<int> cpus, std::size_t bytes);

}  // namespace roofline::measure
