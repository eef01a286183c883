// One of `history`'s own commands, and what they share.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/ceiling_options.h"
#include "cli/command_parts.h"
#include "cli/threshold_options.h"
#include "roofline/analysis.h"
#include "roofline/history.h"

namespace roofline::cli {

using HistoryPart = CommandPart;

// --store, and opening what it names.
class StoreOption {
 public:
  void setup(CLI::App& command);
  history::Store open(history::Store::Access access) const { return history::Store::open(location(), access); }
  std::string location() const { return where_.empty() ? history::Store::default_location() : where_; }
  // Throws UsageError where `output` is this store's file, or one that SQLite keeps beside it.
  void protect_from(const std::string& output) const;

 private:
  std::string where_;
};

// What -o of a command with an Output (cli/output.h) names; empty without it.
std::string output_path(const CLI::App& command);

// --label k=v, several times.
class LabelOption {
 public:
  void setup(CLI::App& command, const std::string& help);
  history::Labels labels() const;

 private:
  std::vector<std::string> texts_;
};

// A report's JSON out of a file: as it is where it holds one, else made of the profile as `roofline report` does.
class ReportSource {
 public:
  // Adds --machine, --ceiling, -k and the thresholds: they are about profiles, a JSON report is as it is.
  void setup(CLI::App& command);
  std::string json(const std::string& path);

 private:
  AnalysisOptions analysis_;
  CeilingOptions ceilings_;
  ThresholdOptions thresholds_;
};

std::unique_ptr<HistoryPart> make_record_part();
std::unique_ptr<HistoryPart> make_list_part();
std::unique_ptr<HistoryPart> make_show_part();
std::unique_ptr<HistoryPart> make_trend_part();
std::unique_ptr<HistoryPart> make_export_part();
std::unique_ptr<HistoryPart> make_import_part();
std::unique_ptr<HistoryPart> make_prune_part();
std::unique_ptr<HistoryPart> make_gate_part();

}  // namespace roofline::cli
