// What rows are called in a table.
#pragma once

#include <string>
#include <vector>

#include "roofline/report.h"

namespace roofline::report {

// One label per row of the report: its short name and, where several rows share that name but differ in template
// arguments, the part of the full name that tells them apart: "elementwise_kernel [MulFunctor<float>]".
std::vector<std::string> row_labels(const Report& report);

// "128x4", trailing ones left out; empty when the launch configuration is unknown.
std::string dimensions(const Dim3& d);

// Inputs in few words: "a.ncu-rep", "a.ncu-rep, b.ncu-rep and 3 more".
std::string input_names(const Report& report);

}  // namespace roofline::report
