#include "profile/amd_sysinfo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "profile/amd_table.h"
#include "profile/file_view.h"

namespace roofline {
namespace {

constexpr std::string_view kCounters = "pmc_perf.csv";
constexpr std::uint64_t kLargest = std::uint64_t{1} << 20;

// Which product a row is: the profiler names the family ("MI200") or a stepping ("MI300X_A1"), and counts the compute
// units of what it profiled, which may be one die or one partition of the product.
struct Product {
  std::string_view model;
  int compute_units;
  std::string_view driver_name;
};
constexpr std::array kProducts = std::to_array<Product>({
    {"MI100", 120, "AMD Instinct MI100"},
    {"MI210", 104, "AMD Instinct MI210"},
    {"MI200", 104, "AMD Instinct MI210"},  // also one die of an MI250, which has the same limits
    {"MI300A", 228, "AMD Instinct MI300A"},
    {"MI300X", 304, "AMD Instinct MI300X"},
    {"MI325X", 304, "AMD Instinct MI325X"},
    {"MI350", 256, "AMD Instinct MI350X"},
    {"MI355", 256, "AMD Instinct MI355X"},
});

constexpr double kMegahertz = 1e6;
constexpr double kKibibyte = 1024;

std::optional<int> as_int(std::optional<double> value) {
  constexpr double kMost = 1e6;
  if (!value || !(*value > 0) || *value > kMost) return std::nullopt;
  return static_cast<int>(*value);
}

std::optional<double> scaled(std::optional<double> value, double factor) {
  return value && *value > 0 ? std::optional<double>(*value * factor) : std::nullopt;
}

void name_product(AmdSystem& system, const std::string& model) {
  const auto units = system.device.sm_count;
  const auto* product = std::find_if(kProducts.begin(), kProducts.end(), [&](const Product& p) {
    return model.starts_with(p.model) && units == p.compute_units;
  });
  if (product != kProducts.end()) {
    system.device.name = product->driver_name;
    return;
  }
  system.device.name = model;
  if (units)
    system.warning = fmt::format(
        "{} with {} compute units is a die or a partition, or a product that is not known here: the limits of a whole "
        "GPU would be wrong for it",
        model, *units);
}

}  // namespace

std::string amd_neighbour(const std::string& counter_path, const std::string& name) {
  const auto at = counter_path.rfind(kCounters);
  if (at == std::string::npos || at + kCounters.size() != counter_path.size()) return {};
  auto path = counter_path.substr(0, at) + name;
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? path : std::string();
}

std::optional<AmdSystem> read_amd_sysinfo(const std::string& path) {
  AmdTable table({view_file(path, kLargest), path});
  const auto model = table.column({"gpu_model", "name"});
  const auto arch = table.column({"gpu_arch", "gpu_soc"});
  if (!table.next() || (!model && !arch)) return std::nullopt;
  AmdSystem system;
  auto& device = system.device;
  device.compute_capability = std::string(table.cell(arch));
  device.sm_count = as_int(table.number(table.column({"cu_per_gpu", "numCU"})));
  device.max_sm_clock_hz = scaled(table.number(table.column({"max_sclk", "sclk"})), kMegahertz);
  device.max_memory_clock_hz = scaled(table.number(table.column({"max_mclk", "mclk"})), kMegahertz);
  // Of one die; the whole GPU has it once per XCD.
  const double dies = std::max(1.0, table.number(table.column({"num_xcd"})).value_or(1));
  device.l2_bytes = scaled(table.number(table.column({"gpu_l2", "L2"})), kKibibyte * dies);
  name_product(system, std::string(table.cell(model)));
  if (const auto version = table.cell(table.column({"rocm_version"})); !version.empty())
    system.producer = fmt::format("rocprof-compute, ROCm {}", version);
  return system;
}

std::string amd_workload_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return path;
  const auto inside = std::filesystem::path(path) / kCounters;
  return std::filesystem::is_regular_file(inside, error) ? inside.string() : path;
}

}  // namespace roofline
