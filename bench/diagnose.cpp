// Times what happens after reading: counting, placing and diagnosing launches, one row each. The launches of one report
// are repeated until there are as many as asked for.
#include <fmt/format.h>
#include <roofline/analysis.h>
#include <roofline/profile.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

namespace {

roofline::Profile repeated(const roofline::Profile& one, std::size_t launches) {
  auto many = one;
  many.launches.reserve(std::max(launches, one.launches.size()));
  while (many.launches.size() < launches) {
    many.launches.push_back(one.launches[many.launches.size() % one.launches.size()]);
    many.launches.back().ordinal = many.launches.size() - 1;
  }
  return many;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: diagnose FILE [LAUNCHES] [RUNS]\n");
    return 2;
  }
  const std::size_t launches = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10000;
  const int runs = argc > 3 ? std::atoi(argv[3]) : 5;
  const auto one = roofline::open_profile(argv[1]);
  if (one.launches.empty()) return 3;
  const std::vector<roofline::Profile> profiles = {repeated(one, launches)};
  roofline::AnalysisOptions options;
  options.per_launch = true;
  std::vector<double> seconds;
  std::size_t findings = 0;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const auto report = roofline::analyze(profiles, options);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    findings = 0;
    for (const auto& row : report.rows) findings += row.findings.size();
  }
  std::sort(seconds.begin(), seconds.end());
  fmt::print("{} launches, {} findings: median {:.3f} s of {} runs, best {:.3f} s\n", profiles.front().launches.size(),
             findings, seconds[seconds.size() / 2], runs, seconds.front());
}
