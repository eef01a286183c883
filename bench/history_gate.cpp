// How often the gate cries wolf, and how often it sleeps, by the number of runs a side: histories with a known truth.
#include <fmt/format.h>

#include <cstdlib>

#include "compare/records.h"
#include "roofline/compare.h"

namespace {

using namespace roofline;

StepRecord step() {
  return testing::record(std::vector<testing::KernelSpec>{{"gate_up_proj", 400e-6, 0.90},
                                                          {"attention", 300e-6, 0.85},
                                                          {"down_proj", 200e-6, 0.88},
                                                          {"qkv_proj", 120e-6, 0.75},
                                                          {"o_proj", 80e-6, 0.70},
                                                          {"rms_norm", 30e-6, 0.50},
                                                          {"rope", 20e-6, 0.40}});
}

GateSide runs(std::size_t count, double noise, double slow_down, testing::Random& random) {
  GateSide side;
  for (std::size_t i = 0; i < count; ++i) {
    side.repeats.push_back(step());
    for (auto& kernel : side.repeats.back().kernels) testing::take(kernel, std::exp(noise * random.normal()));
    testing::take(side.repeats.back().kernels.front(), slow_down);
  }
  return side;
}

void line(std::size_t before, std::size_t after, std::optional<double> known, double slow_down, const char* what,
          std::size_t trials) {
  constexpr double kNoise = 0.03;
  testing::Random random(20260131);
  GateOptions options;
  options.noise = known;
  std::size_t drop = 0;
  std::size_t open = 0;
  for (std::size_t i = 0; i < trials; ++i) {
    const auto baseline = runs(before, kNoise, 1, random);
    const auto candidate = runs(after, kNoise, slow_down, random);
    const auto verdict = gate(baseline, candidate, options).verdict;
    drop += verdict == GateVerdict::drop ? 1 : 0;
    open += verdict == GateVerdict::inconclusive ? 1 : 0;
  }
  const auto percent = [&](std::size_t n) { return 100.0 * static_cast<double>(n) / static_cast<double>(trials); };
  fmt::print("| {} | {} | {} | {} | {:.1f} % | {:.1f} % |\n", before, after, known ? "3 %" : "from the runs", what,
             percent(drop), percent(open));
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t trials = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  struct Sides {
    std::size_t before, after;
    std::optional<double> known;
  };
  fmt::print("| runs before | after | noise known | truth | drop | inconclusive |\n|---|---|---|---|---|---|\n");
  for (const auto& s :
       {Sides{1, 1, {}}, Sides{1, 1, 0.03}, Sides{3, 3, {}}, Sides{5, 5, {}}, Sides{5, 1, {}}, Sides{10, 10, {}}}) {
    line(s.before, s.after, s.known, 1, "no change", trials);
    line(s.before, s.after, s.known, 1 / 0.9, "10 % drop", trials);
    line(s.before, s.after, s.known, 0.90 / 0.55, "90 % to 55 %", trials);
  }
}
