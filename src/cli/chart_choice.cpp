#include "cli/chart_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "report/labels.h"
#include "roofline/error.h"

namespace roofline::cli {
namespace {

constexpr std::array<const char*, 4> kModes = {"auto", "report", "hierarchical", "trajectory"};

Chart hierarchical(const Report& report) {
  if (report.rows.size() != 1)
    throw UsageError(fmt::format("--chart=hierarchical draws one kernel; this report has {}. Choose one with -k",
                                 report.rows.size()));
  return hierarchical_chart(report, 0);
}

// The rows in the order of the inputs, each called by its file where there are several.
Chart trajectory(const Report& report) {
  if (report.rows.size() < 2)
    throw UsageError(fmt::format("--chart=trajectory joins two rows or more; this report has {}", report.rows.size()));
  std::vector<ChartStep> steps;
  std::set<std::size_t> files;
  std::set<std::string> names;
  for (const auto& row : report.rows) {
    files.insert(row.input);
    names.insert(row.name);
  }
  const auto n = report.rows.size();
  const bool by_file = files.size() == n;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const auto& row = report.rows[i];
    const auto file = row.input < report.inputs.size()
                          ? std::filesystem::path(report.inputs[row.input].path).stem().string()
                          : std::string();
    steps.push_back({&report, i,
                     by_file             ? file
                     : names.size() == n ? row.name
                                         : fmt::format("{} {}", row.name, i + 1)});
  }
  return trajectory_chart(names.size() == 1 ? *names.begin() : report::input_names(report), steps);
}

}  // namespace

bool is_chart_mode(const std::string& mode) { return std::find(kModes.begin(), kModes.end(), mode) != kModes.end(); }

Chart chosen_chart(const Report& report, const std::string& mode) {
  if (mode == "hierarchical") return hierarchical(report);
  if (mode == "trajectory") return trajectory(report);
  return mode == "report" ? report_chart(report) : best_chart(report);
}

}  // namespace roofline::cli
