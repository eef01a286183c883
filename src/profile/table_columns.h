// What the columns of a typed table mean, told from their titles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/table_cell.h"
#include "roofline/precision.h"

namespace roofline::table {

enum class Role : std::uint8_t {
  unknown,
  ignored,  // known and not needed: comments, shares, what the report computes itself
  kernel,
  op,
  calls,
  flops,
  precise_flops,  // FLOPs of one precision, named in the title
  aux,
  bytes,
  read,
  write,
  intensity,
  rate,
  bandwidth,
  time,
  fraction,
  precision,
  evidence,
  evidence_flops,
  evidence_bytes,
  evidence_time,
};
constexpr std::size_t kRoles = static_cast<std::size_t>(Role::evidence_time) + 1;

bool is_number_role(Role role);  // its cells are numbers with units
Measure measure_of(Role role);   // of a number role

struct Column {
  Role role = Role::unknown;
  std::string title;
  CellUnit unit;                       // of cells without one
  std::optional<bool> per_call;        // said by the title
  std::optional<Precision> precision;  // of Role::precise_flops
  bool ambiguous = false;              // "GFLOPS": a count or a rate
};

// The columns of a header line; empty when the cells are not a header: one must name the kernel and one a quantity.
std::vector<Column> recognise_header(const std::vector<std::string_view>& cells);

}  // namespace roofline::table
