// Reads one report and prints what it took: seconds, launches, values, and the highest anonymous memory (RssAnon),
// which the mapped file is no part of. VmHWM would count the mapping too.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include "roofline/profile.h"

namespace {

// KiB as the kernel says.
std::uint64_t rss_anon() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::stoull(line.substr(8));
  }
  return 0;
}

// Looks every few milliseconds for as long as it lives.
class PeakMemory {
 public:
  std::uint64_t stop() {
    running_ = false;
    thread_.join();
    return std::max(peak_, rss_anon());
  }

 private:
  std::atomic<bool> running_ = true;
  std::uint64_t peak_ = 0;
  std::thread thread_ = std::thread([this] {
    while (running_) {
      peak_ = std::max(peak_, rss_anon());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
};

long page_faults() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: read_ncu_rep FILE\n");
    return 2;
  }
  try {
    const std::uint64_t before = rss_anon();
    PeakMemory memory;
    const auto faults = page_faults();
    const auto start = std::chrono::steady_clock::now();
    const auto profile = roofline::open_profile(argv[1]);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const auto taken = page_faults() - faults;
    const auto peak = memory.stop();
    std::size_t values = 0;
    for (const auto& launch : profile.launches) values += launch.metrics.size();
    fmt::print("seconds {:.4f} launches {} values {} rss_anon_kib {} before_kib {} page_faults {}\n", seconds.count(),
               profile.launches.size(), values, peak, before, taken);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  }
  return 0;
}
