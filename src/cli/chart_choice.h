// Which chart a report is drawn as.
#pragma once

#include <string>

#include "roofline/chart.h"

namespace roofline::cli {

// The modes of --chart, for help and checks: "auto", "report", "hierarchical", "trajectory".
bool is_chart_mode(const std::string& mode);

// `mode` as above; empty is "auto". Throws UsageError where the report does not fit the mode.
Chart chosen_chart(const Report& report, const std::string& mode);

}  // namespace roofline::cli
