// The numbers of one row of a typed table, and what follows from them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/table_caption.h"
#include "profile/table_columns.h"
#include "profile/table_layout.h"
#include "roofline/launch.h"

namespace roofline::table {

// Sums over all calls of the row. What is absent was not typed or could not be read.
struct RowNumbers {
  std::string name;
  std::string op;
  std::uint64_t line = 0;
  double calls = 1;
  bool assumed_totals = false;  // several calls, and nothing says whether figures are sums over them
  std::optional<Printed> flops, aux, bytes, read, write, intensity, rate, bandwidth, time, fraction;
  std::vector<std::pair<Precision, Printed>> precise_flops;
  std::string fraction_text;
  std::string precision_text;
  StatedEvidence evidence;
};

// Which column has which role, for one header; -1 for none.
class ColumnIndex {
 public:
  ColumnIndex(const std::vector<Column>& columns, std::vector<ReadWarning>& warnings);
  int of(Role role) const { return first_[static_cast<std::size_t>(role)]; }
  const std::vector<int>& precise() const { return precise_; }

 private:
  std::array<int, kRoles> first_{};
  std::vector<int> precise_;
};

// Faulty cells become warnings ("bad-cell") that name line and column; their value is absent.
RowNumbers read_row(const Row& row, const std::vector<Column>& columns, const ColumnIndex& index,
                    const Caption& caption, NumberLocale locale, std::vector<ReadWarning>& warnings);

// Work of a row in which everything that follows from the rest is filled in; `how` names the arithmetic, empty for
// what was typed.
struct Derived {
  std::optional<Printed> value;
  std::string how;
};
struct RowWork {
  Derived flops, bytes, time;
};
RowWork derive(const RowNumbers& row);

// "total", "Total step", "sum": a row of sums. `last` for the last row of its table.
bool is_total_name(std::string_view name, bool last);

}  // namespace roofline::table
