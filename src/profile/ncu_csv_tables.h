// The bodies of the tables that `ncu --csv` writes, below their header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "profile/csv_lines.h"
#include "profile/ncu_csv_header.h"
#include "profile/ncu_csv_identity.h"
#include "profile/ncu_csv_values.h"
#include "roofline/launch.h"

namespace roofline {

// What the tables of one file fill together.
struct NcuFile {
  Profile& profile;
  NcuValues& values;
  NcuDevices& devices;
  std::string_view text;
  std::size_t rows = 0;       // rows of data seen
  std::size_t rule_rows = 0;  // rows that hold a rule's text and no metric
  const std::function<void(std::uint64_t, std::uint64_t)>& progress;
  NcuRuns runs{};
};

// Reads rows from the cursor until the file ends or another header begins. Lines that are no rows (program output,
// ==PROF== lines, blank ones) are passed over. Throw InputError.
void read_ncu_rows(NcuFile& file, const NcuHeader& header, CsvCursor& cursor);  // details, summary
void read_ncu_raw(NcuFile& file, const NcuHeader& header, CsvCursor& cursor);   // raw

// Adds the launch of a row; `record` is where the row starts.
Launch& add_ncu_launch(NcuFile& file, const NcuIdentity& identity, const char* record);

// Handles a line that is no row: true when it is the header of another table, and the cursor still stands on it.
bool pass_other_line(NcuFile& file, CsvCursor& cursor);

// Whether the row that ended at the cursor was cut off by the end of the file.
bool ends_without_line_end(const NcuFile& file, const CsvCursor& cursor);
[[noreturn]] void refuse_cut_row(NcuFile& file, const char* record);

}  // namespace roofline
