// The options that say which step of which model: shared by the commands that need one.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "roofline/forecast.h"

namespace roofline::cli {

class ModelOptions {
 public:
  // Adds --machine, --batch, --context and the rest to `command`.
  void setup(CLI::App& command);
  // The same for a command that has MODEL as --model and a --machine of its own, which it passes on in `machine`.
  void setup_beside_file(CLI::App& command);
  bool given() const { return !model.empty(); }

  std::string model;    // preset name or path
  std::string machine;  // catalogue name
  Thresholds thresholds;

  // Loads the configuration. Throws InputError for a bad file and UsageError for options that do not fit.
  model::SweepInput sweep_input() const;
  model::Forecast forecast() const;
  // What a sweep sets need not be given: takes batch, context or machine from the axis' first value.
  void set_if_absent(const model::Axis& axis);

 private:
  void add_step(CLI::App& step);
  void add_details(CLI::App& details);
  model::StepOptions step_options() const;
  std::optional<model::Calibration> calibration() const;

  std::string phase_ = "decode";
  model::Count batch_ = 0;
  model::Count context_ = 0;
  model::Count query_length_ = 0;
  std::string dtype_;
  std::string kv_dtype_;
  model::Count tp_ = 1;
  model::Count dp_ = 1;
  model::Count ep_ = 1;
  std::string latent_ = "auto";
  std::string sampling_ = "greedy";
  std::string routing_ = "uniform";
  bool unfused_ = false;
  bool fuse_quantize_ = false;
  bool beyond_context_ = false;
  std::string constants_;
};

}  // namespace roofline::cli
