#include "roofline/report.h"

namespace roofline {

void sum_up(Report& report) {
  std::vector<const PlacementGroup*> groups;
  groups.reserve(report.rows.size());
  for (const auto& row : report.rows) groups.push_back(&row.group);
  report.total = total(groups);
  for (auto& row : report.rows) {
    mark_look(row.group, report.total.time_s, report.thresholds);
    row.time_share = report.total.time_s > 0 ? row.group.work.time.value_or(0) / report.total.time_s : 0;
  }
}

}  // namespace roofline
