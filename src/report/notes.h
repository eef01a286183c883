// What a reader must know beside the table: which roofs, which clocks, what is missing, what to do about it.
#pragma once

#include <string>
#include <vector>

#include "report/row_groups.h"
#include "roofline/document.h"

namespace roofline::report {

// Why rows have no fraction, and the footnote marks that say so in the table.
struct Unplaced {
  RowGroups reasons;
  std::vector<std::string> reason_marks;  // one per group: "[1]" for the one with most time
  std::vector<std::string> row_marks;     // one per row of the report: "— [1]", "in cache", or empty
};
Unplaced unplaced_rows(const Report& report);

// The roofs in numbers, above the table: one line per machine.
std::vector<Block> roof_lines(const Report& report);
// The report fraction and the rows to look at.
std::vector<Block> summary(const Report& report);
// How to read the table: only signs that stand in it are explained.
Bullets reading_notes(const Report& report, const Unplaced& unplaced, const Table& table);
// Warnings, grouped by code.
std::vector<Block> warnings(const Report& report);
// Commands that would collect what is missing, one each.
std::vector<Block> collect_commands(const Report& report);

}  // namespace roofline::report
