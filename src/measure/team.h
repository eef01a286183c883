// Threads that work at the same time, each on a processor of its own.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace roofline::measure {

class Team {
 public:
  // One member per processor; the calling thread is member 0 and stays pinned to the first until the team ends.
  explicit Team(std::vector<int> cpus);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  struct Timing {
    double seconds = 0;      // from the first start to the last end
    bool disturbed = false;  // a member lost its processor meanwhile
  };
  // All members do `work(member)`, starting together.
  Timing run(const std::function<void(std::size_t)>& work);

  std::size_t size() const { return cpus_.size(); }
  const std::vector<int>& cpus() const { return cpus_; }
  bool pinned() const { return pinned_; }

 private:
  struct Member {
    double start = 0, end = 0;
    bool disturbed = false;
  };
  void serve(std::size_t member);
  void take_part(std::size_t member);

  std::vector<int> cpus_;
  std::vector<Member> members_;
  std::vector<std::thread> threads_;
  std::vector<int> before_;  // affinity of the calling thread
  std::atomic<bool> pinned_{true};
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::atomic<std::size_t> round_{0}, ready_{0}, done_{0};
  std::atomic<bool> over_{false};
};

double now();  // seconds on a clock that never jumps

}  // namespace roofline::measure
