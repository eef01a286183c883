// Where one level of memory ends and the next begins.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace roofline::measure {

struct LatencyPoint {
  double bytes = 0;    // working set
  double latency = 0;  // of a load that waits for the load before; any unit
};

struct Plateau {
  double first_bytes = 0;  // smallest working set on it
  double last_bytes = 0;   // largest; what the level holds, unless it is the last level
  double latency = 0;
};

// The levels of a sweep in order of size, the last one open to above. A level is a stretch over which the latency
// hardly grows while the working set at least nearly doubles; between levels it rises. Noise only ever makes a load
// slower, so a point above a larger set's latency is noise. Empty without at least three usable points.
std::vector<Plateau> find_levels(std::span<const LatencyPoint> sweep);

// A working set well inside a level, for measuring its bandwidth: away from the border below, whose level would serve
// part of it, and from its own. `below` is absent for the first level. nullopt where the level is too narrow for one.
std::optional<double> inside(std::optional<double> below, double own);

// Working sets from `least` to `most`, so many per doubling, whole multiples of `step`.
std::vector<double> working_sets(double least, double most, int per_doubling, double step);

}  // namespace roofline::measure
