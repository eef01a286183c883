// Times the reading of one text export: megabytes per second of processor time (one core reads it) and of wall time
// of each run, and the median of the former.
#include <fmt/format.h>
#include <roofline/profile.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: read_ncu_csv FILE [RUNS]\n");
    return 2;
  }
  const int runs = argc > 2 ? std::atoi(argv[2]) : 5;
  const double megabytes = static_cast<double>(std::filesystem::file_size(argv[1])) / 1e6;
  std::vector<double> rates;
  for (int run = 0; run < runs; ++run) {
    const std::clock_t cpu_start = std::clock();
    const auto start = std::chrono::steady_clock::now();
    const roofline::Profile profile = roofline::open_profile(argv[1]);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const double cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
    std::size_t values = 0;
    for (const auto& launch : profile.launches) values += launch.metrics.size();
    rates.push_back(megabytes / cpu);
    fmt::print("{:.0f} MB, {} launches, {} values: {:.3f} s on the processor ({:.0f} MB/s), {:.3f} s in all\n",
               megabytes, profile.launches.size(), values, cpu, rates.back(), took.count());
  }
  std::sort(rates.begin(), rates.end());
  if (!rates.empty()) fmt::print("median {:.0f} MB/s\n", rates[rates.size() / 2]);
}
