// Kernels of a record as rows of a table.
#pragma once

#include <string>
#include <vector>

#include "history/sql.h"
#include "roofline/record.h"

namespace roofline::history {

// Columns of roofline_kernel behind record_id, ordinal and name_id, in the order of values_of() and kernel_of().
inline constexpr std::string_view kKernelColumns =
    "grid, block, device, launches, time_s, time_min_s, time_median_s, time_max_s, time_share, time_basis, flops, ops, "
    "dram_bytes, link_bytes, flops_bound, dram_bound, roof_time_s, fraction, fraction_upper, bound, binding, regime, "
    "fraction_datasheet, ceiling, clock_hz, limiter, position, reason, look, gain_s";
inline constexpr std::size_t kKernelColumnCount = 30;

void append_values(const KernelRecord& kernel, std::vector<sql::Value>& out);
// From the columns `first`, `first + 1`, ...; the names are the caller's. Throws InputError naming the store where a
// row holds what no record has.
KernelRecord kernel_of(const sql::Row& row, std::size_t first, const std::string& store);

// Grid, block, launches and time alone, from four columns.
void read_times(const sql::Row& row, std::size_t first, const std::string& store, KernelRecord& kernel);

// Well-formed UTF-8 without NUL, as both databases take it: what is not becomes U+FFFD.
std::string storable(std::string_view text);

Bound bound_of(std::string_view text, const std::string& store);
CeilingKind ceiling_of(std::string_view text, const std::string& store);
Position position_of(std::string_view text, const std::string& store);

}  // namespace roofline::history
