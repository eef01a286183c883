// Which roofs a launch is placed under.
#pragma once

#include <memory>
#include <optional>

#include "roofline/analysis.h"
#include "roofline/machines.h"

namespace roofline {

struct Roofs {
  Ceiling used;
  std::shared_ptr<const Ceiling> datasheet;  // null for a machine without one
  // At the clock of the run, where the profile carries one and `used` is another: percentages are of these.
  std::optional<Ceiling> run;
};

// Nobody published its limits, but somebody measured them: a CPU, or a GPU known from an import alone.
bool only_measured(const Machine& machine);

// Automatic: those at the launch's own clock where the profile carries one, else the datasheet's, else, of a machine
// that has no others, the measured ones. With clocks in `options`, those at these clocks. A percent-only launch without
// a clock needs no peak: an at-clock ceiling without figures places it by the profiler's own percentages. A machine
// without a measured ceiling gives an empty one. A launch on part of the SMs (a MIG slice, a green context) has that
// part of the datasheet's compute and L1.
Roofs choose_roofs(const Launch& launch, const Work& work, const DeviceInfo& device, const Machine* catalogue,
                   const AnalysisOptions& options);

// Whether some of the work is known as a share of peaks at the clock of the run.
bool has_percentages(const Work& work);

// What a measured ceiling lacks for this work, for people; empty for nothing.
std::string measured_gap(const Work& work, const Ceiling& measured, const Machine* catalogue);

}  // namespace roofline
