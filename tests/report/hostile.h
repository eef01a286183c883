// Kernel names that a file may hold to harm whoever reads the report.
#pragma once

#include <string>
#include <vector>

#include "roofline/report.h"

namespace roofline::testing {

std::vector<std::string> hostile_names();
// One placed row for each of them; paths, warnings and reasons are hostile too.
Report hostile_report();

}  // namespace roofline::testing
