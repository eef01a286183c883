// The layout with one row per launch and one column per metric.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "profile/ncu_csv_tables.h"

namespace roofline {
namespace {

constexpr std::string_view kDeviceName = "device__attribute_display_name";

// A column that is looked at; all others are skipped without being parsed.
struct Wanted {
  std::size_t column = 0;
  CsvCell NcuIdentity::*identity = nullptr;
  bool device_name = false;
  std::vector<CellTarget> targets;
};

class RawReader {
 public:
  RawReader(NcuFile& file, const NcuHeader& header) : file_(file), header_(header) {}

  void read_units(CsvCursor& cursor);
  void decide_locale(CsvCursor cursor);
  void read(CsvCursor& cursor);

 private:
  void want_identity(std::size_t column);
  void want_metric(const NcuHeader::Metric& metric, const std::vector<CsvCell>& units, std::uint64_t line);
  void order_by_id();
  bool starts_row(const CsvCursor& cursor) const;
  bool read_row(CsvCursor& cursor);

  NcuFile& file_;
  const NcuHeader& header_;
  std::vector<Wanted> wanted_;                                 // by column
  std::vector<std::string_view> units_;                        // by column
  std::vector<std::pair<const CellTarget*, CsvCell>> values_;  // of the current row, by column
  std::vector<std::size_t> by_id_;  // indices into values_, in the order that MetricSet wants
};

void RawReader::read_units(CsvCursor& cursor) {
  std::vector<CsvCell> cells;
  const auto line = file_.values.line_of(file_.text.data() + cursor.offset());
  CsvCursor after = cursor;
  while (!after.at_end() && trim(after.peek_line()).empty()) after.skip_line();
  read_record(after, cells);
  const bool identity_empty =
      trim(cell_at(cells, header_.kernel).raw).empty() && trim(cell_at(cells, header_.id).raw).empty();
  const bool any_unit = std::any_of(cells.begin(), cells.end(), [](const CsvCell& c) { return !trim(c.raw).empty(); });
  if (!identity_empty || (!any_unit && !after.at_end())) {
    refuse_at_line(file_.values.input(), line, "no-units", "a table with a column per metric but no line of units",
                   "the units in the line below the header, as ncu --csv --page raw writes them",
                   "use the export itself, not a table derived from it");
  }
  cursor = after;
  units_.assign(header_.width, {});
  for (std::size_t i = 0; i < std::min(cells.size(), units_.size()); ++i) units_[i] = trim(cells[i].raw);
  for (std::size_t column = 0; column < header_.width; ++column) want_identity(column);
  for (const NcuHeader::Metric& metric : header_.metrics) want_metric(metric, cells, line);
  std::sort(wanted_.begin(), wanted_.end(), [](const Wanted& a, const Wanted& b) { return a.column < b.column; });
  order_by_id();
}

void RawReader::want_identity(std::size_t column) {
  if (const auto member = identity_member(header_, column)) wanted_.push_back({column, member, false, {}});
}

void RawReader::want_metric(const NcuHeader::Metric& metric, const std::vector<CsvCell>& units, std::uint64_t line) {
  Wanted wanted;
  wanted.column = metric.column;
  wanted.device_name = metric.name == kDeviceName;
  NcuValues::Row row;
  row.section = "Command line profiler metrics";
  row.label = metric.name;
  row.unit = trim(cell_at(units, metric.column).raw);
  wanted.targets = file_.values.targets_of(row, line);
  if (wanted.device_name || !wanted.targets.empty()) wanted_.push_back(std::move(wanted));
}

// Values that arrive in order need no sorting, launch by launch.
void RawReader::order_by_id() {
  std::vector<MetricId> ids;
  for (const Wanted& wanted : wanted_) {
    for (const CellTarget& target : wanted.targets) ids.push_back(target.id);
  }
  by_id_.resize(ids.size());
  std::iota(by_id_.begin(), by_id_.end(), std::size_t{0});
  std::stable_sort(by_id_.begin(), by_id_.end(), [&](std::size_t a, std::size_t b) { return ids[a] < ids[b]; });
}

// The first cell of a row is a number or, where the table was cut by hand, at least not one of the header's.
bool RawReader::starts_row(const CsvCursor& cursor) const {
  CsvCursor look = cursor;
  CsvCell first;
  if (!look.next_cell(first)) return false;
  if (header_.id == 0 || header_.process == 0) return parse_whole(first.raw).has_value();
  const std::string_view line = cursor.peek_line();
  return !line.starts_with("==") && !trim(line).empty() && !parse_ncu_header(line) &&
         static_cast<std::size_t>(std::count(line.begin(), line.end(), header_.separator)) + 1 >= header_.width;
}

void RawReader::decide_locale(CsvCursor cursor) {
  LocaleEvidence evidence;
  CsvCell cell;
  while (!cursor.at_end() && !evidence.firm() && !file_.values.locale_is_forced()) {
    if (!starts_row(cursor)) {
      if (parse_ncu_header(cursor.peek_line())) break;
      cursor.skip_line();
      continue;
    }
    std::size_t column = 0;
    for (const NcuHeader::Metric& metric : header_.metrics) {
      if (!cursor.skip_cells(metric.column - column) || !cursor.next_cell(cell)) break;
      column = metric.column + 1;
      if (cell.raw.find_first_of(".,") == std::string_view::npos) continue;
      evidence.add(cell.raw, units_[metric.column], file_.values.line_of(cell.raw.data()));
      if (evidence.firm()) break;
    }
    cursor.next_record();
  }
  file_.values.use_locale(evidence);
}

void RawReader::read(CsvCursor& cursor) {
  while (!cursor.at_end()) {
    if (!starts_row(cursor)) {
      if (pass_other_line(file_, cursor)) return;
      continue;
    }
    const char* record = file_.text.data() + cursor.offset();
    if (!read_row(cursor)) {
      if (cursor.at_end() && ends_without_line_end(file_, cursor)) refuse_cut_row(file_, record);
      continue;
    }
    if (file_.progress && file_.rows % 1024 == 0) file_.progress(cursor.offset(), file_.text.size());
  }
}

// False when the record is too short to be a row.
bool RawReader::read_row(CsvCursor& cursor) {
  const char* record = file_.text.data() + cursor.offset();
  NcuIdentity identity;
  values_.clear();
  std::size_t column = 0;
  CsvCell cell;
  for (const Wanted& wanted : wanted_) {
    if (!cursor.skip_cells(wanted.column - column) || !cursor.next_cell(cell)) {
      column = kNoColumn;
      break;
    }
    column = wanted.column + 1;
    if (wanted.identity != nullptr) identity.*wanted.identity = cell;
    if (wanted.device_name) identity.device_name = cell.raw;
    for (const CellTarget& target : wanted.targets) values_.emplace_back(&target, cell);
  }
  bool complete = column != kNoColumn;
  if (complete) {
    std::size_t more = column;
    while (cursor.next_cell(cell)) ++more;
    complete = more >= header_.width;
  }
  cursor.next_record();
  if (!complete && (identity.kernel.raw.empty() || (cursor.at_end() && ends_without_line_end(file_, cursor))))
    return false;
  ++file_.rows;
  Launch& launch = add_ncu_launch(file_, identity, record);
  launch.size = static_cast<std::uint64_t>(file_.text.data() + cursor.offset() - record);
  launch.metrics.reserve(values_.size());
  for (const std::size_t i : by_id_) {
    if (i >= values_.size()) continue;  // a short row
    file_.values.store(launch, launch.ordinal, *values_[i].first, values_[i].second);
  }
  return true;
}

}  // namespace

void read_ncu_raw(NcuFile& file, const NcuHeader& header, CsvCursor& cursor) {
  RawReader reader(file, header);
  reader.read_units(cursor);
  reader.decide_locale(cursor);
  reader.read(cursor);
}

}  // namespace roofline
