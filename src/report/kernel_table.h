// The table of kernels: one row each, the rest in one line, the total below.
#pragma once

#include <string>
#include <vector>

#include "roofline/document.h"

namespace roofline::report {

// `marks` holds for each row of the report the footnote that says why it has no fraction ("[1]"), or nothing.
Table kernel_table(const Report& report, const TableOptions& options, const std::vector<std::string>& marks);

// "memory-suboptimal, limited by l2"; "unplaced, no DRAM traffic known": the position, then why.
std::string verdict(const KernelRow& row);

}  // namespace roofline::report
