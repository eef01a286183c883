// Lines and cells of a typed table: CSV, Markdown pipes, or columns aligned with blanks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/table_columns.h"

namespace roofline::table {

struct Row {
  std::uint64_t line = 0;          // 1-based
  std::vector<std::string> cells;  // as many as there are columns; plain text
  std::size_t header = 0;          // index into Layout::headers
};

// Text outside the tables.
struct FreeLine {
  std::uint64_t line = 0;
  std::string_view text;
  bool before_rows = false;  // stands above the first row: it may be the caption
};

struct LayoutWarning {
  std::string code;
  std::string message;
};

struct TableText {
  std::vector<std::vector<Column>> headers;
  std::uint64_t header_line = 0;  // of the first one; 0 when there is none
  std::vector<Row> rows;
  std::vector<FreeLine> lines;
  std::vector<LayoutWarning> warnings;
};

// Never throws on content. `text` must outlive the result.
TableText split_table(std::string_view text);

// Whether one of the first lines is a header.
bool has_header(std::string_view head);

}  // namespace roofline::table
