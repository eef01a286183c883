// A kernel's trend as a chart.
#include <fmt/format.h>

#include "history/recorded_work.h"
#include "roofline/history.h"
#include "roofline/machines.h"

namespace roofline::history {
namespace {

// A report of this one kernel, as far as a chart needs it.
Report report_of(const TrendPoint& point) {
  Report report;
  const auto* known = MachineCatalogue::instance().find(point.record.machine);
  Machine machine = known != nullptr ? *known : Machine{};
  if (known == nullptr) machine.name = point.record.machine;
  report.machines.push_back(std::move(machine));
  KernelRow row;
  row.machine = 0;
  row.name = point.sum.name;
  row.full_name = point.sum.full_name;
  row.time_share = 1;
  row.group.work = work_of(point.sum);
  auto& p = row.group.placement;
  p.position = point.position;
  p.time_s = point.sum.time_s;
  p.roof_time_s = point.roof_time_s;
  p.fraction = point.fraction;
  p.bound = point.bound;
  p.binding = point.sum.binding;
  p.regime = point.sum.regime;
  p.ceiling = known != nullptr ? CeilingKind::datasheet : point.record.ceiling;
  report.rows.push_back(std::move(row));
  return report;
}

}  // namespace

Chart trend_chart(std::string_view kernel, std::span<const TrendPoint> points) {
  // More points than this hide each other: the newest are drawn.
  constexpr std::size_t kMost = 30;
  const auto shown = points.size() > kMost ? points.last(kMost) : points;
  std::vector<Report> reports;
  for (const auto& point : shown) reports.push_back(report_of(point));
  std::vector<ChartStep> steps;
  for (std::size_t i = 0; i < shown.size(); ++i)
    steps.push_back({&reports[i], 0, fmt::format("record {}", shown[i].record.id)});
  auto chart = trajectory_chart(fmt::format("{} over {} records", kernel, shown.size()), steps);
  if (shown.size() < points.size())
    chart.notes.push_back(fmt::format("the newest {} of {} records", shown.size(), points.size()));
  return chart;
}

}  // namespace roofline::history
