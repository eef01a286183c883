// Writes data/metric_matrix.csv and data/collection_passes.csv from what CUPTI's host library counts:
//   make_collect_data matrix > data/metric_matrix.csv
//   make_collect_data passes data/metric_matrix.csv > data/collection_passes.csv
// The library needs no GPU. Sets are derived from recipes and rules, so run it when one of those has changed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "collect/collection_rows.h"
#include "collect/cupti_passes.h"
#include "roofline/machines.h"
#include "roofline/metrics.h"

namespace roofline::collect {
namespace {

// Compute capabilities of the chips; data/chips.csv lacks the one of Thor.
std::map<std::string, std::string> capabilities() {
  std::map<std::string, std::string> all = {{"GB10B", "11.0"}};
  for (const auto& rates : MachineCatalogue::built_in().chips())
    for (const auto& chip : rates.chips)
      if (rates.compute_capability.find('.') != std::string::npos) all[chip] = rates.compute_capability;
  return all;
}

std::vector<std::string> nvidia_metrics() {
  std::vector<std::string> names;
  const auto& catalogue = MetricCatalogue::instance();
  for (std::size_t id = 0; id < catalogue.size(); ++id) names.push_back(catalogue.info(static_cast<MetricId>(id)).name);
  std::sort(names.begin(), names.end());
  return names;
}

// ncu computes these itself, without a counter.
bool profilers_own(const std::string& name) {
  return name.starts_with("launch__") || name == "sm__maximum_warps_per_active_cycle_pct";
}

char cell_of(std::optional<int> passes) {
  if (!passes) return '-';
  return *passes < 10 ? static_cast<char>('0' + *passes) : static_cast<char>('a' + std::min(*passes, 35) - 10);
}

struct Columns {
  std::vector<std::string> chips;
  std::map<std::string, std::string> like;                   // chip -> an earlier chip with the same metrics
  std::map<std::string, std::map<std::string, char>> cells;  // chip -> metric -> cell
};

Columns measure(const CuptiPasses& cupti, const std::vector<std::string>& names) {
  Columns columns;
  for (const auto& chip : cupti.chips()) {
    std::map<std::string, char> cells;
    bool any = false;
    for (const auto& name : names) {
      const auto passes = profilers_own(name) ? std::optional<int>(0) : cupti.passes(chip, {name});
      cells[name] = cell_of(passes);
      any = any || (passes && !profilers_own(name));
    }
    if (!any) continue;  // the library lists GV11B and counts nothing for it
    columns.like[chip] = chip;
    for (const auto& earlier : columns.chips)
      if (columns.like[earlier] == earlier && columns.cells[earlier] == cells) columns.like[chip] = earlier;
    columns.chips.push_back(chip);
    columns.cells[chip] = std::move(cells);
  }
  return columns;
}

std::string row_of(const Columns& columns, const std::string& metric) {
  std::string row;
  for (const auto& chip : columns.chips)
    if (columns.like.at(chip) == chip) row += columns.cells.at(chip).at(metric);
  return row;
}

// One line for all roll-ups of a counter that agree.
void print_rows(const Columns& columns, const std::vector<std::string>& names) {
  std::map<std::string, std::map<std::string, std::string>> by_base;
  for (const auto& name : names) {
    const auto row = row_of(columns, name);
    if (row.find_first_not_of('-') == std::string::npos) continue;
    by_base[name.substr(0, name.find('.'))][name] = row;
  }
  for (const auto& [base, rows] : by_base) {
    std::set<std::string> distinct;
    for (const auto& [name, row] : rows) distinct.insert(row);
    if (rows.size() > 1 && distinct.size() == 1) {
      fmt::print("{}.*,{}\n", base, *distinct.begin());
      continue;
    }
    for (const auto& [name, row] : rows) fmt::print("{},{}\n", name, row);
  }
}

int write_matrix(const CuptiPasses& cupti) {
  const auto names = nvidia_metrics();
  const auto columns = measure(cupti, names);
  const auto capability = capabilities();
  fmt::print("metric,");
  bool first = true;
  for (const auto& chip : columns.chips) {
    const auto& like = columns.like.at(chip);
    fmt::print("{}{}:{}{}", first ? "" : " ", chip, capability.at(chip), like == chip ? "" : "=" + like);
    first = false;
  }
  fmt::print("\n");
  print_rows(columns, names);
  return 0;
}

int write_passes(const CuptiPasses& cupti, const std::string& matrix_path) {
  std::ifstream file(matrix_path);
  std::stringstream text;
  text << file.rdbuf();
  const auto matrix = MetricMatrix::parse(text.str());
  std::string chips;
  for (const auto& chip : matrix.chips())
    if (chip.like == chip.name) chips += (chips.empty() ? "" : " ") + chip.name;
  fmt::print("question,formats,fingerprint,{}\n", chips);
  for (const auto& row : collection_rows()) {
    std::string counts;
    for (const auto& chip : matrix.chips()) {
      if (chip.like != chip.name) continue;
      const auto metrics = metrics_of(row, {chip.name, chip.compute_capability, ""}, matrix);
      const auto passes = metrics.empty() ? std::nullopt : cupti.passes(chip.name, countable(metrics));
      counts += (counts.empty() ? "" : " ") + (passes ? std::to_string(*passes) : "-");
    }
    fmt::print("{},{},{},{}\n", row.question, row.formats, fingerprint_of(row, matrix), counts);
  }
  return 0;
}

}  // namespace
}  // namespace roofline::collect

int main(int argc, char** argv) {
  using namespace roofline::collect;
  const auto cupti = CuptiPasses::open();
  if (!cupti) {
    fmt::print(stderr, "make_collect_data: no libcupti; name it in ROOFLINE_CUPTI\n");
    return 3;
  }
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "matrix") return write_matrix(*cupti);
  if (what == "passes" && argc > 2) return write_passes(*cupti, argv[2]);
  fmt::print(stderr, "usage: make_collect_data matrix | passes MATRIX.csv\n");
  return 2;
}
