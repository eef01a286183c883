#include <algorithm>

#include "measure/arena.h"
#include "measure/bench.h"

namespace roofline::measure {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;  // larger arrays are walked piece by piece
constexpr std::size_t kPage = 4096;

std::size_t arrays_of(AccessPattern pattern) {
  switch (pattern) {
    case AccessPattern::read:
    case AccessPattern::write:
    case AccessPattern::nt_write:
      return 1;
    case AccessPattern::copy:
    case AccessPattern::nt_copy:
      return 2;
    case AccessPattern::triad:
    case AccessPattern::nt_triad:
      return 3;
  }
  return 1;
}

void walk(const KernelSet& k, AccessPattern pattern, char* a, const char* b, const char* c, std::size_t bytes,
          std::size_t passes) {
  switch (pattern) {
    case AccessPattern::read:
      return k.read(a, bytes, passes);
    case AccessPattern::write:
      return k.write(a, bytes, passes);
    case AccessPattern::copy:
      return k.copy(a, b, bytes, passes);
    case AccessPattern::triad:
      return k.triad(a, b, c, bytes, passes);
    case AccessPattern::nt_write:
      return k.write_nt(a, bytes, passes);
    case AccessPattern::nt_copy:
      return k.copy_nt(a, b, bytes, passes);
    case AccessPattern::nt_triad:
      return k.triad_nt(a, b, c, bytes, passes);
  }
}

class ThreadBench : public Bench {
 public:
  ThreadBench(std::vector<int> cpus, std::size_t bytes) : team_(std::move(cpus)), bytes_(bytes) {
    for (std::size_t i = 0; i < team_.size(); ++i) places_.push_back(std::make_unique<Place>(bytes));
  }

  std::size_t threads() const override { return team_.size(); }
  std::size_t bytes() const override { return bytes_; }
  double now() const override { return measure::now(); }
  bool pinned() const override { return team_.pinned(); }
  double huge_page_share() const override {
    double sum = 0;
    for (const auto& place : places_) sum += place->arena.huge_page_share();
    return sum / static_cast<double>(places_.size());
  }
  Team::Timing run(const Job& job, std::size_t turns) override {
    return team_.run([&](std::size_t member) { work(job, *places_[member], turns); });
  }

 private:
  // What one thread has; no two share a line.
  struct alignas(64) Place {
    explicit Place(std::size_t bytes) : arena(bytes), chain(arena.data(), bytes), at(chain.start()) {}
    Arena arena;
    Chain chain;
    void* at;
    std::size_t cursor = 0;
  };

  void work(const Job& job, Place& place, std::size_t turns) const {
    switch (job.work) {
      case Work::adds:
        return static_cast<void>(dependent_adds(turns));
      case Work::walk:
        return walk_set(job, place, turns);
      case Work::compute:
        return job.compute->run(turns);
      case Work::follow:
        place.at = chase(place.at, turns);
        return;
      case Work::join:
        return place.chain.grow(job.set_bytes);
      case Work::fill:
        return place.arena.fill(job.from, job.set_bytes);
    }
  }

  void walk_set(const Job& job, Place& place, std::size_t turns) const {
    const Layout layout(job.pattern, job.set_bytes, bytes_);
    char* a = place.arena.data();
    const char* b = a + layout.start(1);
    const char* c = a + layout.start(2);
    if (layout.piece == layout.bytes) return walk(*job.kernels, job.pattern, a, b, c, layout.bytes, turns);
    auto& at = place.cursor;
    for (; turns > 0; --turns) {
      if (at >= layout.bytes) at = 0;  // of another set
      walk(*job.kernels, job.pattern, a + at, b + at, c + at, layout.piece, 1);
      at += layout.piece;
    }
  }

  Team team_;
  std::size_t bytes_;
  std::vector<std::unique_ptr<Place>> places_;
};

}  // namespace

Layout::Layout(AccessPattern pattern, std::size_t set_bytes, std::size_t room) : arrays(arrays_of(pattern)) {
  const auto most = std::min(set_bytes, room - arrays * 2 * kPage) / arrays;
  const auto unit = most > kChunk ? kChunk : kBlock;
  bytes = std::max(unit, most / unit * unit);
  piece = std::min(bytes, kChunk);
}

// A third of a page apart: a load whose address ends like that of a store just before would have to wait for it.
std::size_t Layout::start(std::size_t array) const {
  constexpr std::size_t kApart = 1344;
  return (array * bytes + kPage - 1) / kPage * kPage + array * kApart;
}

std::unique_ptr<Bench> thread_bench(std::vector<int> cpus, std::size_t bytes) {
  return std::make_unique<ThreadBench>(std::move(cpus), bytes);
}

}  // namespace roofline::measure
