// The gate against histories whose truth is known: how often it cries wolf, and how often it sleeps.
#include <gtest/gtest.h>

#include <functional>

#include "compare/records.h"
#include "roofline/compare.h"

namespace roofline {
namespace {

using testing::Random;

struct Noise {
  double of_kernel = 0.03;  // standard deviation of one run, relative
  double of_run = 0;        // shared by all kernels of a run
  double uneven = 1;        // the noisiest kernel has of_kernel x uneven, the quietest of_kernel / uneven
};

StepRecord step() {
  using Specs = std::vector<testing::KernelSpec>;
  return testing::record(Specs{{"gate_up_proj", 400e-6, 0.90},
                               {"attention", 300e-6, 0.85},
                               {"down_proj", 200e-6, 0.88},
                               {"qkv_proj", 120e-6, 0.75},
                               {"o_proj", 80e-6, 0.70},
                               {"rms_norm", 30e-6, 0.50},
                               {"rope", 20e-6, 0.40},
                               {"silu_and_mul", 20e-6, 0.60}});
}

GateSide runs(std::size_t n, const Noise& noise, Random& random, double slow_down) {
  GateSide side;
  for (std::size_t r = 0; r < n; ++r) {
    auto s = step();
    const double common = noise.of_run * random.normal();
    for (std::size_t k = 0; k < s.kernels.size(); ++k) {
      const double place = 2.0 * static_cast<double>(k) / static_cast<double>(s.kernels.size() - 1) - 1;
      const double deviation = noise.of_kernel * std::pow(noise.uneven, place);
      testing::take(s.kernels[k], std::exp(common + deviation * random.normal()));
    }
    testing::take(s.kernels.front(), slow_down);
    side.repeats.push_back(std::move(s));
  }
  return side;
}

struct Counts {
  std::size_t drop = 0, inconclusive = 0, pass = 0;
};

Counts simulate(std::size_t trials, std::size_t repeats, const Noise& noise, double slow_down, std::uint64_t seed,
                const GateOptions& options = {}) {
  Counts out;
  Random random(seed);
  for (std::size_t i = 0; i < trials; ++i) {
    const auto before = runs(repeats, noise, random, 1);
    const auto after = runs(repeats, noise, random, slow_down);
    const auto verdict = gate(before, after, options).verdict;
    if (verdict == GateVerdict::drop)
      ++out.drop;
    else if (verdict == GateVerdict::inconclusive)
      ++out.inconclusive;
    else
      ++out.pass;
  }
  std::printf("%zu trials, %zu repeats, noise %.3f/%.3f x%.1f, time x%.3f: drop %zu, inconclusive %zu, pass %zu\n",
              trials, repeats, noise.of_kernel, noise.of_run, noise.uneven, slow_down, out.drop, out.inconclusive,
              out.pass);
  return out;
}

TEST(GateSimulation, Explore) {
  const std::size_t n = 1000;
  GateOptions top1;
  top1.top = 1;
  for (const auto& noise : {Noise{0.03, 0, 1}, Noise{0.03, 0, 2}, Noise{0.0, 0.03, 1}, Noise{0.02, 0.02, 1},
                            Noise{0.06, 0, 1}, Noise{0.01, 0, 3}, Noise{0.1, 0, 1}}) {
    simulate(n, 5, noise, 1, 1);
    simulate(n, 5, noise, 1 / 0.9, 2);
    simulate(n, 5, noise, 90.0 / 55, 3);
  }
  simulate(n, 5, {}, 1, 1, top1);
  simulate(n, 5, {}, 1 / 0.9, 2, top1);
  for (std::size_t r : {2, 3, 10}) {
    simulate(n, r, {}, 1, 1);
    simulate(n, r, {}, 1 / 0.9, 2);
    simulate(n, r, {}, 90.0 / 55, 3);
  }
}

}  // namespace
}  // namespace roofline
