// Does a typed table agree with itself?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/table_caption.h"
#include "profile/table_row.h"
#include "roofline/launch.h"

namespace roofline::table {

struct CheckedRow {
  RowNumbers numbers;
  RowWork work;
  std::optional<Precision> precision;  // of its FLOPs
  std::uint64_t launch = 0;            // ordinal
};

// Each finding is a warning "contradiction". A number stands for every value that rounds to what is printed; only what
// no such values can reconcile is reported, save that a total whose rows add up to another figure is always named
// ("total-differs").
void check_row(const CheckedRow& row, const Caption& caption, std::vector<ReadWarning>& warnings);
void check_caption(const Caption& caption, std::vector<ReadWarning>& warnings);
void check_totals(const std::vector<CheckedRow>& rows, const StatedTotal& total, const Caption& caption,
                  std::vector<ReadWarning>& warnings);

}  // namespace roofline::table
