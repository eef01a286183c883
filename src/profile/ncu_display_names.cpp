#include "profile/ncu_display_names.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <unordered_map>

#include "data/ncu_display_names.csv.h"
#include "profile/csv_lines.h"

namespace roofline {
namespace {

struct Entry {
  std::string section;
  std::string item;  // must occur in the row's body item label; empty: that label is empty
  std::string metric;
  double scale = 1;
  int cc_min = 0;
  int cc_max = 0;  // 0: no limit
};

using Entries = std::unordered_map<std::string, std::vector<Entry>>;  // by label

template <typename Number>
Number number_or(const CsvCell& cell, Number fallback) {
  if (cell.raw.empty()) return fallback;
  Number value{};
  const char* end = cell.raw.data() + cell.raw.size();
  if (std::from_chars(cell.raw.data(), end, value).ptr != end) {
    throw std::logic_error("ncu_display_names.csv: bad number " + std::string(cell.raw));
  }
  return value;
}

Entries load() {
  Entries entries;
  CsvCursor cursor(data::ncu_display_names_csv());
  std::vector<CsvCell> cells;
  read_record(cursor, cells);  // header
  while (!cursor.at_end()) {
    read_record(cursor, cells);
    cells.resize(7);
    std::string label;
    entries[std::string(cells[2].value(label))].push_back({std::string(cells[0].raw), std::string(cells[1].raw),
                                                           std::string(cells[3].raw), number_or<double>(cells[4], 1),
                                                           number_or<int>(cells[5], 0), number_or<int>(cells[6], 0)});
  }
  return entries;
}

const Entries& all_entries() {
  static const Entries entries = load();
  return entries;
}

// The dimension that a metric's own name tells.
Dimension dimension_of(std::string_view metric) {
  const auto has = [metric](std::string_view part) { return metric.find(part) != std::string_view::npos; };
  if (has("pct") || has("_rate.")) return Dimension::percent;
  if (has("time_duration") || has("time_active")) return Dimension::time;
  const bool per_second = metric.ends_with(".per_second") || metric.ends_with("per_sec");
  if (has("frequency") || (per_second && has("cycles"))) return Dimension::frequency;
  if (has("bytes")) return per_second ? Dimension::byte_rate : Dimension::bytes;
  return per_second ? Dimension::count_rate : Dimension::count;
}

bool unit_fits(const Entry& entry, const DisplayRow& row) {
  if (!row.unit) return false;
  return dimension_of(entry.metric) == row.unit->dimension;
}

bool fits(const Entry& entry, const DisplayRow& row) {
  if (row.section ? entry.section != *row.section : !unit_fits(entry, row)) return false;
  if (entry.item.empty() ? !row.item.empty() : row.item.find(entry.item) == std::string_view::npos) return false;
  const int cc = row.compute_capability;
  return cc == 0 ? entry.cc_max == 0 : cc >= entry.cc_min && (entry.cc_max == 0 || cc <= entry.cc_max);
}

// "DRAM Roofline (Op:hmma Src:fp16 Dst:fp32 Sparsity:off)" -> "op_hmma_src_fp16_dst_fp32_sparsity_off".
std::string tensor_path(std::string_view item) {
  const auto open = item.find('(');
  const auto close = item.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  std::string path(item.substr(open + 1, close - open - 1));
  for (char& c : path) {
    if (c == ' ' || c == ':' || c == ',') c = '_';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return path;
}

std::string expand(const Entry& entry, std::string_view item) {
  constexpr std::string_view kPath = "{path}";
  const auto at = entry.metric.find(kPath);
  if (at == std::string::npos) return entry.metric;
  return std::string(entry.metric).replace(at, kPath.size(), tensor_path(item));
}

}  // namespace

std::vector<NamedMetric> metrics_of_display_row(const DisplayRow& row) {
  std::vector<NamedMetric> found;
  const auto entries = all_entries().find(std::string(row.label));
  if (entries == all_entries().end()) return found;
  for (const Entry& entry : entries->second) {
    if (!fits(entry, row)) continue;
    NamedMetric named{expand(entry, row.item), entry.scale};
    const bool known = std::any_of(found.begin(), found.end(), [&](const NamedMetric& m) {
      return m.name == named.name || (m.scale == named.scale && !row.section);
    });
    if (!known) found.push_back(std::move(named));
  }
  return found;
}

int parse_compute_capability(std::string_view text) {
  text = trim(text);
  int major = 0;
  int minor = 0;
  const char* end = text.data() + text.size();
  const auto [after_major, error] = std::from_chars(text.data(), end, major);
  if (error != std::errc() || after_major == end || (*after_major != '.' && *after_major != ',')) return 0;
  const auto [after_minor, minor_error] = std::from_chars(after_major + 1, end, minor);
  if (minor_error != std::errc() || after_minor != end || major < 1 || major > 99 || minor < 0 || minor > 9) return 0;
  return 10 * major + minor;
}

}  // namespace roofline
