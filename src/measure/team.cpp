#include "measure/team.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

namespace roofline::measure {
namespace {

bool bind_to(const std::vector<int>& cpus) {
  int highest = 0;
  for (const int cpu : cpus) highest = std::max(highest, cpu);
  const auto bits = static_cast<std::size_t>(highest) + 1;
  auto* set = CPU_ALLOC(bits);
  const auto size = CPU_ALLOC_SIZE(bits);
  CPU_ZERO_S(size, set);
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size, set);
  const bool ok = sched_setaffinity(0, size, set) == 0;
  CPU_FREE(set);
  return ok;
}

std::vector<int> bound_to() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) cpus.push_back(i);
  return cpus;
}

// How often the calling thread lost its processor.
long switches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw + usage.ru_nvcsw;
}

template <typename Condition>
void wait_until(Condition condition) {
  // About a millisecond. On a busy machine a member seldom has a processor: one that gave it up at once would hardly
  // ever meet the others.
  constexpr int kSpins = 300000;
  for (int i = 0; !condition(); ++i)
    if (i >= kSpins) std::this_thread::yield();  // more members than processors to be had
}

}  // namespace

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Team::Team(std::vector<int> cpus) : cpus_(std::move(cpus)), members_(cpus_.size()), before_(bound_to()) {
  for (std::size_t i = 1; i < cpus_.size(); ++i) threads_.emplace_back([this, i] { serve(i); });
  if (!bind_to({cpus_.front()})) pinned_ = false;
}

Team::~Team() {
  over_ = true;
  ++round_;
  for (auto& thread : threads_) thread.join();
  if (!before_.empty()) bind_to(before_);
}

void Team::serve(std::size_t member) {
  if (!bind_to({cpus_[member]})) pinned_ = false;
  for (std::size_t seen = 0;;) {
    wait_until([&] { return round_.load(std::memory_order_acquire) != seen; });
    seen = round_.load(std::memory_order_acquire);
    if (over_) return;
    take_part(member);
  }
}

void Team::take_part(std::size_t member) {
  auto& own = members_[member];
  ++ready_;
  wait_until([&] { return ready_.load(std::memory_order_acquire) == cpus_.size(); });
  const auto before = switches();
  own.start = now();
  (*work_)(member);
  own.end = now();
  own.disturbed = switches() != before;
  ++done_;
}

Team::Timing Team::run(const std::function<void(std::size_t)>& work) {
  work_ = &work;
  ready_ = 0;
  done_ = 0;
  round_.fetch_add(1, std::memory_order_release);
  take_part(0);
  wait_until([&] { return done_.load(std::memory_order_acquire) == cpus_.size(); });
  Timing out;
  double first = members_.front().start;
  double last = members_.front().end;
  double late = first;
  for (const auto& m : members_) {
    first = std::min(first, m.start);
    last = std::max(last, m.end);
    late = std::max(late, m.start);
    out.disturbed = out.disturbed || m.disturbed;
  }
  out.seconds = last - first;
  // A member that started late had no processor when the others set out.
  constexpr double kLate = 0.05;
  out.disturbed = out.disturbed || late - first > kLate * out.seconds;
  return out;
}

}  // namespace roofline::measure
