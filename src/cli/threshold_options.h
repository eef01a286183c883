// The thresholds of verdicts, as a settings file and options change them.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "roofline/report.h"
#include "roofline/thresholds.h"

namespace roofline::cli {

// What a settings file says: [thresholds] name = number. `label` names it in messages. Throws InputError with the line
// for unknown names and for numbers that make no sense.
Thresholds parse_settings(std::string_view text, const std::string& label, Thresholds base);

class ThresholdOptions {
 public:
  // Adds --optimal, --launch-floor-us, --threshold and --settings.
  void setup(CLI::App& command);
  // The usual ones, changed by the settings file (--settings, else ./roofline.toml, else roofline/roofline.toml in the
  // folder for settings), changed by options.
  Thresholds resolve() const;
  // A report whose verdicts do not rest on the usual thresholds says so: the same file read elsewhere may differ.
  static void note_changes(Report& report);

 private:
  std::optional<double> optimal_, floor_us_;
  std::vector<std::string> named_;
  std::string settings_;
};

}  // namespace roofline::cli
