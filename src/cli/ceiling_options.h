// The options that choose the roofs, shared by the commands that place kernels.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "roofline/analysis.h"

namespace roofline::cli {

class CeilingOptions {
 public:
  // Adds --ceiling, --clock and --mem-clock.
  void setup(CLI::App& group);
  // Throws UsageError for a clock that is none.
  void apply(AnalysisOptions& options) const;

 private:
  CeilingChoice ceiling_ = CeilingChoice::automatic;
  std::string clock_, memory_clock_;
};

}  // namespace roofline::cli
