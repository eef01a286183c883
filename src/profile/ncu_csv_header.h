// The header line of a table that `ncu --csv` wrote, in any of its layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

enum class NcuLayout : std::uint8_t {
  details,  // a row per launch and metric
  summary,  // a row per kernel and metric, with the number of invocations and their minimum, maximum and average
  raw,      // a row per launch, a column per metric; the second line holds the units
};

constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

// Where the columns are; found by name, as files leave out and add columns.
struct NcuHeader {
  NcuLayout layout = NcuLayout::details;
  char separator = ',';
  std::size_t width = 0;  // cells of the header line
  std::size_t id = kNoColumn, process = kNoColumn, kernel = kNoColumn, context = kNoColumn, stream = kNoColumn;
  std::size_t block = kNoColumn, grid = kNoColumn, device = kNoColumn, cc = kNoColumn, invocations = kNoColumn;
  std::size_t section = kNoColumn, item = kNoColumn, metric = kNoColumn, unit = kNoColumn, value = kNoColumn;
  std::size_t average = kNoColumn, rule = kNoColumn;
  struct Metric {
    std::size_t column;
    std::string name;
  };
  std::vector<Metric> metrics;  // raw layout: every column that is no identity, in order
};

// The header in this line; nullopt when it is none.
std::optional<NcuHeader> parse_ncu_header(std::string_view line);

// Offset of the first header line at or after `from`; npos when there is none.
std::size_t find_ncu_header(std::string_view text, std::size_t from = 0);

}  // namespace roofline
