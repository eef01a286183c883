// How often the gate cries wolf, and how often it sleeps, by the number of runs a side: histories with a known truth.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

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

struct Noise {
  double before = 0.03, after = 0.03;  // of one run, relative standard deviation
  double uneven = 1;                   // the largest kernel has the noise above, the others go down to this part of it
  bool shared = false;                 // by all kernels of a run; each by itself has a sixth of it besides
};

GateSide runs(std::size_t count, double noise, const Noise& kind, double slow_down, testing::Random& random) {
  const double own = kind.shared ? noise / 6 : noise;
  GateSide side;
  for (std::size_t i = 0; i < count; ++i) {
    side.repeats.push_back(step());
    auto& kernels = side.repeats.back().kernels;
    const double common = kind.shared ? noise * random.normal() : 0;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const double place = static_cast<double>(k) / static_cast<double>(kernels.size() - 1);
      testing::take(kernels[k], std::exp(common + own * std::pow(kind.uneven, place) * random.normal()));
    }
    testing::take(kernels.front(), slow_down);
  }
  return side;
}

struct Sides {
  std::size_t before = 5, after = 5;
  Noise noise = {};
  std::optional<double> known = {};
};

std::string described(const Sides& s) {
  const auto percent = [](double x) { return fmt::format("{:g} %", 100 * x); };
  std::string out = s.noise.before == s.noise.after
                        ? percent(s.noise.before)
                        : fmt::format("{} before, {} after", percent(s.noise.before), percent(s.noise.after));
  if (s.noise.uneven != 1) out += fmt::format(", down to {} in others", percent(s.noise.before * s.noise.uneven));
  if (s.noise.shared) out += ", shared by all kernels";
  return out + (s.known ? ", given" : "");
}

void line(const Sides& s, double slow_down, const char* what, std::size_t trials) {
  testing::Random random(20260131);
  GateOptions options;
  options.noise = s.known;
  std::map<GateVerdict, std::size_t> count;
  for (std::size_t i = 0; i < trials; ++i) {
    const auto baseline = runs(s.before, s.noise.before, s.noise, 1, random);
    const auto candidate = runs(s.after, s.noise.after, s.noise, slow_down, random);
    ++count[gate(baseline, candidate, options).verdict];
  }
  const auto percent = [&](GateVerdict verdict) {
    return 100.0 * static_cast<double>(count[verdict]) / static_cast<double>(trials);
  };
  fmt::print("| {} | {} | {} | {} | {:.1f} % | {:.1f} % | {:.1f} % |\n", s.before, s.after, described(s), what,
             percent(GateVerdict::drop), percent(GateVerdict::inconclusive), percent(GateVerdict::improved));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t trials = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  fmt::print(
      "| runs before | after | noise of a run | truth | drop | inconclusive | improved "
      "|\n|---|---|---|---|---|---|---|\n");
  const Noise uneven = {0.03, 0.03, 0.1}, shaky = {0.01, 0.06, 1}, calmed = {0.06, 0.01, 1}, doubled = {0.03, 0.06, 1};
  const Noise shared = {0.03, 0.03, 1, true}, shared_shaky = {0.01, 0.06, 1, true};
  for (const auto& s : {Sides{1, 1}, Sides{1, 1, {}, 0.03}, Sides{3, 3}, Sides{5, 5}, Sides{5, 1}, Sides{10, 10},
                        Sides{5, 5, uneven}, Sides{5, 5, shaky}, Sides{5, 5, calmed}, Sides{10, 3, shaky},
                        Sides{3, 10, calmed}, Sides{5, 2}, Sides{5, 2, doubled}, Sides{2, 2, shaky},
                        Sides{5, 5, shared}, Sides{10, 3, shared}, Sides{10, 3, shared_shaky}}) {
    line(s, 1, "no change", trials);
    line(s, 1 / 0.9, "10 % drop", trials);
    line(s, 0.90 / 0.55, "90 % to 55 %", trials);
    line(s, 0.9, "10 % faster", trials);
  }
}
