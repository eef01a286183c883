// Which roofs a launch is placed under.
#pragma once

#include "roofline/analysis.h"
#include "roofline/machines.h"

namespace roofline {

struct Roofs {
  Ceiling used;
  const Ceiling* datasheet = nullptr;  // null for a machine without one
};

// Nobody published its limits, but somebody measured them: a CPU, or a GPU known from an import alone.
bool only_measured(const Machine& machine);

// Automatic: those at the launch's own clock where the profile carries one, else the datasheet's, else, of a machine
// that has no others, the measured ones. With clocks in `options`, those at these clocks. A percent-only launch without
// a clock needs no peak: an at-clock ceiling without figures places it by the profiler's own percentages. A machine
// without a measured ceiling gives an empty one.
Roofs choose_roofs(const Launch& launch, const Work& work, const DeviceInfo& device, const Machine* catalogue,
                   const AnalysisOptions& options);

// What a measured ceiling lacks for this work, for people; empty for nothing.
std::string measured_gap(const Work& work, const Ceiling& measured, const Machine* catalogue);

}  // namespace roofline
