// Reads one timeline: seconds, bytes per second of the unpacked trace where its size is given, what was found, and the
// highest resident memory.
#include <fmt/format.h>
#include <roofline/timeline.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: read_trace FILE [UNPACKED_MEGABYTES]\n");
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto timeline = roofline::open_timeline(argv[1]);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  fmt::print("{:.3f} s, {:.3f} s on processors", took.count(), seconds(usage.ru_utime) + seconds(usage.ru_stime));
  if (argc > 2) fmt::print(", {:.0f} MB/s", std::atof(argv[2]) / took.count());
  fmt::print(", {} activities, {} calls, {} operators, {} MB resident at most\n", timeline.activities.size(),
             timeline.calls.size(), timeline.operators.size(), usage.ru_maxrss / 1024);
  return 0;
}
