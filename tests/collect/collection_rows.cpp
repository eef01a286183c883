#include "collect/collection_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace roofline::collect {
namespace {

constexpr std::array<const char*, 22> kFormats = {
    "none",     "fp64",     "tf32",      "fp16",       "bf16",           "fp8",       "fp6",       "fp4",
    "int8",     "int4",     "int1",      "all",        "bf16+fp16",      "bf16+tf32", "bf16+int8", "bf16+fp8",
    "bf16+fp4", "fp16+fp8", "fp16+int8", "bf16+dense", "bf16+fp8+dense", "fp16+dense"};

// Same on every chip.
constexpr std::array<const char*, 17> kSpeedOfLight = {
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__time_duration.sum",
    "gpc__cycles_elapsed.max",
    "gpc__cycles_elapsed.avg.per_second",
    "sm__cycles_elapsed.avg.per_second",
    "smsp__cycles_elapsed.avg.per_second",
    "lts__cycles_elapsed.avg.per_second",
    "l1tex__cycles_elapsed.avg.per_second",
    "dram__cycles_elapsed.avg.per_second",
    "dram__bytes.sum.per_second",
    "dram__bytes.sum.peak_sustained",
    "lts__lts2xbar_cycles_active.sum.per_second",
    "lts__lts2xbar_cycles_active.sum.peak_sustained"};

std::string writeback(const std::string& capability) {
  const double number = std::stod(capability);
  if (number < 7.5) return "l1tex__lsu_writeback_active";
  return number < 9 ? "l1tex__lsu_writeback_active_mem_lg" : "l1tex__lsu_writeback_active_mem_lgds";
}

}  // namespace

std::vector<std::string> ncu_roofline_metrics(const Target& target, const MetricMatrix& matrix) {
  std::vector<std::string> wanted(kSpeedOfLight.begin(), kSpeedOfLight.end());
  for (const char* unit : {"sm", "smsp", "l1tex", "lts", "dram"}) {
    wanted.push_back(fmt::format("{}__cycles_active.avg", unit));
    wanted.push_back(fmt::format("{}__cycles_elapsed.sum", unit));
  }
  wanted.push_back(writeback(target.compute_capability) + ".sum.per_second");
  wanted.push_back(writeback(target.compute_capability) + ".sum.peak_sustained");
  for (const char type : {'f', 'd', 'h'})
    for (const char* op : {"add", "mul", "fma"})
      wanted.push_back(fmt::format("smsp__sass_thread_inst_executed_op_{}{}_pred_on.sum.per_cycle_elapsed", type, op));
  for (const auto& leaf : leaves_of(target, "all")) wanted.push_back(leaf + ".per_cycle_elapsed");
  std::erase_if(wanted, [&](const std::string& metric) { return !matrix.exists(metric, target.chip); });
  return wanted;
}

std::vector<CollectionRow> collection_rows() {
  std::vector<CollectionRow> rows = {{"ncu-roofline", "all"}, {"types", "all"}};
  for (const auto question : {Question::table, Question::hierarchy, Question::diagnose, Question::all})
    for (const char* formats : kFormats) rows.push_back({std::string(to_string(question)), formats});
  return rows;
}

std::vector<std::string> metrics_of(const CollectionRow& row, const Target& target, const MetricMatrix& matrix) {
  if (row.question == "ncu-roofline") return ncu_roofline_metrics(target, matrix);
  return metrics_of_row(row.question, row.formats, target, matrix);
}

std::vector<std::string> countable(const std::vector<std::string>& metrics) {
  auto counters = metrics;
  std::erase_if(counters, [](const std::string& metric) {
    return metric.starts_with("launch__") || metric == "sm__maximum_warps_per_active_cycle_pct";
  });
  return counters;
}

std::string fingerprint_of(const CollectionRow& row, const MetricMatrix& matrix) {
  return row.question == "ncu-roofline" ? std::string("-") : fingerprint(row.question, row.formats, matrix);
}

}  // namespace roofline::collect
