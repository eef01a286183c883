// What to do next, ranked by what it saves, and what the table cannot tell.
#pragma once

#include <vector>

#include "roofline/document.h"

namespace roofline::report {

// The rows that could do the same work sooner, and those where less work is the lever; each with its first cause and
// what to do. Two lists: their times are never added up. Empty where nothing is worth a line.
std::vector<Block> finding_lists(const Report& report);

// What this report does not tell, as far as the data shows it.
std::vector<Block> limits_footer(const Report& report);

}  // namespace roofline::report
