#include "roofline/forecast.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "roofline/error.h"
#include "roofline/machines.h"

namespace roofline::model {
namespace {

template <typename T>
std::string names_of(std::span<const T> known) {
  std::vector<std::string_view> names;
  for (const auto& item : known) names.push_back(item.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string label_of(const Forecast& f) {
  const auto& o = f.options;
  auto text =
      fmt::format("{} {}, batch {}, context {}", f.config.name, f.decode() ? "decode" : "prefill", o.batch, o.context);
  if (query_length_of(o) != (f.decode() ? 1 : o.context))
    text += fmt::format(", {} new tokens each", query_length_of(o));
  text += fmt::format(", {}, KV {}", scheme_of(f.config, o).name, kv_format_of(f.config, o).name);
  if (o.tp > 1) text += fmt::format(", tp {}", o.tp);
  if (o.dp > 1) text += fmt::format(", dp {}", o.dp);
  if (o.ep > 1) text += fmt::format(", ep {}", o.ep);
  return text;
}

KernelRow row_of(const StepRow& from, std::size_t id) {
  KernelRow row;
  row.id = id;
  row.machine = 0;
  row.name = row.full_name = row.op = from.name;
  row.time_basis = TimeBasis::model;
  row.group = from.group;
  row.datasheet = from.group.placement;
  return row;
}

void add_warnings(const Forecast& f, Report& report) {
  const auto warn = [&](const char* code, std::string message) {
    report.warnings.push_back({code, std::move(message), std::nullopt});
  };
  if (f.calibration.scaled) warn("calibration-scaled", f.calibration.note);
  if (f.fits() == false)
    warn("memory-exceeded", fmt::format("weights and KV cache take {} of {} on each GPU",
                                        si(f.step.memory.total(), "B"), si(*f.memory_bytes, "B")));
  for (const auto& note : f.config.notes) warn("model-config", note);
}

}  // namespace

std::optional<bool> Forecast::fits() const {
  if (!memory_bytes) return std::nullopt;
  return step.memory.total() <= kUsableMemory * *memory_bytes;
}

bool Forecast::launch_bound(const StepRow& row) const {
  const double launches = row.group.work.launches;
  return launches > 0 && row.group.placed_roof_time_s / launches < thresholds.launch_bound * launch_floor_s();
}

const Machine& find_machine(const std::string& name) {
  const auto& catalogue = MachineCatalogue::instance();
  if (const auto* machine = catalogue.find(name)) return *machine;
  const auto near = catalogue.suggestions(name);
  if (near.empty()) throw UsageError(fmt::format("unknown machine '{}'", name));
  throw UsageError(fmt::format("unknown or ambiguous machine '{}'; did you mean {}?", name, fmt::join(near, ", ")));
}

const Scheme& named_scheme(std::string_view name) {
  // The usual meaning of names that leave the group size or the maker open.
  if (name == "w4a16" || name == "int4") name = "w4a16_g128";
  if (name == "fp4") name = "nvfp4";
  if (const auto* scheme = find_scheme(name)) return *scheme;
  throw UsageError(fmt::format("unknown number format '{}'; known are {}", name, names_of(schemes())));
}

const KvFormat& named_kv_format(std::string_view name) {
  if (const auto* format = find_kv_format(name)) return *format;
  throw UsageError(fmt::format("unknown KV-cache format '{}'; known are {}", name, names_of(kv_formats())));
}

Forecast make_forecast(const ModelConfig& config, const StepOptions& options, const Machine& machine,
                       const std::optional<Calibration>& calibration, const Thresholds& thresholds) {
  const auto* ceiling = machine.ceiling(CeilingKind::datasheet);
  if (ceiling == nullptr) throw UsageError(fmt::format("{}: no datasheet limits known; name another", machine.name));
  Forecast f;
  f.config = config;
  f.options = options;
  f.machine = machine;
  f.ceiling = *ceiling;
  f.thresholds = thresholds;
  f.calibration = calibration ? *calibration : calibration_for(machine, *ceiling);
  try {
    f.step = predict_step(f.config, options, *ceiling, machine.pipe_groups, f.calibration, thresholds);
  } catch (const UsageError& e) {
    throw UsageError(
        fmt::format("{} on {}: {}", config.name, machine.id.empty() ? machine.name : machine.id, e.what()));
  }
  if (const auto* known = MachineCatalogue::instance().find(machine.id))
    f.memory_bytes = MachineCatalogue::instance().facts(*known).value("memory");
  return f;
}

Report forecast_report(const Forecast& f) {
  Report report;
  report.thresholds = f.thresholds;
  report.catalogue_version = MachineCatalogue::instance().version();
  report.inputs.push_back({label_of(f), "model", "roofline"});
  report.machines.push_back(f.machine);
  for (const auto& row : f.step.rows) report.rows.push_back(row_of(row, report.rows.size()));
  sum_up(report);
  add_warnings(f, report);
  return report;
}

}  // namespace roofline::model
