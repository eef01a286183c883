// Average passes per launch of a step, per chip.
#include <fmt/format.h>

#include <algorithm>

#include "roofline/collect.h"

namespace roofline::collect {
namespace {

// A goal, not a limit: rows above it say so.
constexpr double kGoal = 1.0 / 3;

Column column(std::string title, std::string key) {
  Column c;
  c.title = std::move(title);
  c.key = std::move(key);
  return c;
}

Cell number(double value, const char* form = "{:.2f}") {
  return {fmt::format(fmt::runtime(form), value), value, Tone::normal};
}

std::string chips_like(const MetricMatrix::Chip& representative) {
  std::string names = representative.name;
  for (const auto& chip : MetricMatrix::instance().chips())
    if (chip.like == representative.name && chip.name != representative.name) names += " " + chip.name;
  return names;
}

// Whether the chip computes every format of the step.
bool fits(const Target& target, const StepShape& step) {
  const double capability = std::stod(target.compute_capability);
  if (capability < step.from || capability >= step.below) return false;
  std::string_view rest = step.formats;
  while (!rest.empty()) {
    const auto end = rest.find('+');
    const auto format = rest.substr(0, end);
    if (format != "dense" && leaves_of(target, format).empty()) return false;
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return true;
}

struct Average {
  double first = 0;  // of the first run, per launch of the step
  double second = 0;
  double total() const { return first + second; }
};

std::optional<Average> average_of(const Target& target, const StepShape& step) {
  if (!fits(target, step)) return std::nullopt;
  Request request;
  request.target = target;
  request.output = "out";
  request.command = {"./app"};
  const auto runs = plan(request, NcuOptions{}).runs;
  const bool two = runs.size() > 1;
  const auto leaves = leaves_of(target, two ? step.formats : std::string("all"));
  const auto measure = passes_of(target, Question::table, leaves);
  if (!measure || (two && !runs.front().passes)) return std::nullopt;
  Average average;
  average.second = measure->count;
  if (two) average.first = runs.front().passes->count * step.kernels / step.launches;
  return average;
}

}  // namespace

Document pass_document(std::span<const StepShape> steps) {
  Document document;
  document.title = "Replay passes per launch, averaged over one step";
  Table table;
  table.columns = {column("chip", "chip"),
                   column("step", "step"),
                   column("first run", "first_run_passes"),
                   column("second run", "second_run_passes"),
                   column("together", "passes"),
                   column("--set roofline", "ncu_roofline_passes"),
                   column("ratio", "ratio")};
  table.columns[0].align = table.columns[1].align = Align::left;
  for (const auto& chip : MetricMatrix::instance().chips()) {
    if (chip.like != chip.name) continue;
    const Target target{chip.name, chip.compute_capability, ""};
    const auto ncu = passes_of_ncu_roofline_set(target);
    for (const auto& step : steps) {
      const auto average = average_of(target, step);
      if (!average || !ncu) continue;
      const double ratio = average->total() / *ncu;
      auto cell = number(ratio);
      if (ratio > kGoal + 1e-9) cell.tone = Tone::warn;
      table.rows.push_back({{chips_like(chip)},
                            {step.name},
                            average->first > 0 ? number(average->first) : Cell{"none", 0.0, Tone::faint},
                            number(average->second, "{:.0f}"),
                            number(average->total()),
                            number(*ncu, "{:.0f}"),
                            cell});
    }
  }
  document.blocks.emplace_back(std::move(table));
  return document;
}

}  // namespace roofline::collect
