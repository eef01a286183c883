// The layouts with one row per metric: details (a launch) and summary (a kernel).
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/ncu_csv_tables.h"
#include "profile/ncu_display_names.h"

namespace roofline {
namespace {

// A combination of section, label and unit that rows repeat, with where their values go.
struct RowKind {
  std::size_t number = 0;
  std::vector<CellTarget> targets;
};

class RowReader {
 public:
  RowReader(NcuFile& file, const NcuHeader& header)
      : file_(file), header_(header), value_column_(value_column(header)) {}

  void decide_locale(CsvCursor cursor);
  void read(CsvCursor& cursor);

 private:
  static std::size_t value_column(const NcuHeader& header) {
    return header.layout == NcuLayout::summary ? header.average : header.value;
  }
  bool is_row() const;
  bool is_rule_row() const { return trim(cell_at(cells_, header_.metric).raw).empty(); }
  bool is_cut() const;
  void take_row(const char* record, const CsvCursor& after);
  const RowKind& kind_of_row();
  struct Open {
    std::size_t launch = 0;
    std::vector<bool> seen;  // by number of row kind: the launch has one
    bool has(const RowKind& kind) const { return kind.number < seen.size() && seen[kind.number]; }
  };
  std::size_t launch_of_row(const RowKind& kind, const char* record, const CsvCursor& after);
  bool is_of_earlier_run(const Open& open) const;
  bool repeats(const Open& open, const RowKind& kind, CsvCursor after);
  std::size_t add_launch(const NcuIdentity& identity, const char* record);
  std::string key_of(const NcuIdentity& identity);

  NcuFile& file_;
  const NcuHeader& header_;
  std::size_t value_column_;
  std::vector<CsvCell> cells_;
  std::unordered_map<std::string, RowKind> kinds_;
  std::string kind_key_;

  std::unordered_map<std::string, Open> open_;
  NcuIdentity last_identity_;
  Open* last_ = nullptr;
};

// Rows are recognised by their first identity: a number where the layout has one.
bool RowReader::is_row() const {
  if (cells_.size() <= header_.metric || cells_.size() <= header_.kernel) return false;
  for (const std::size_t column : {header_.id, header_.process, header_.invocations}) {
    if (column != kNoColumn) return parse_whole(cell_at(cells_, column).raw).has_value();
  }
  // A cut without numbers to go by: any line of full width, except another header.
  return cells_.size() > value_column_ && cells_[header_.metric].raw != "Metric Name" && cells_.size() <= header_.width;
}

void RowReader::decide_locale(CsvCursor cursor) {
  LocaleEvidence evidence;
  while (!cursor.at_end() && !evidence.firm() && !file_.values.locale_is_forced()) {
    const std::string_view line = cursor.peek_line();
    read_record(cursor, cells_);
    if (!is_row() && parse_ncu_header(line)) break;
    if (!is_row() || is_rule_row()) continue;
    const CsvCell value = cell_at(cells_, value_column_);
    if (value.raw.find_first_of(".,") == std::string_view::npos) continue;
    evidence.add(value.raw, trim(cell_at(cells_, header_.unit).raw), file_.values.line_of(value.raw.data()));
  }
  file_.values.use_locale(evidence);
}

void RowReader::read(CsvCursor& cursor) {
  while (!cursor.at_end()) {
    const CsvCursor start = cursor;
    const char* record = file_.text.data() + cursor.offset();
    read_record(cursor, cells_);
    if (!is_row()) {
      if (cursor.at_end() && ends_without_line_end(file_, cursor) && cells_.size() > 1 && is_cut()) {
        refuse_cut_row(file_, record);
      }
      cursor = start;
      if (pass_other_line(file_, cursor)) return;
      continue;
    }
    ++file_.rows;
    if (file_.progress && file_.rows % 65536 == 0) file_.progress(cursor.offset(), file_.text.size());
    if (is_rule_row()) {
      ++file_.rule_rows;
      continue;
    }
    if (cursor.at_end() && ends_without_line_end(file_, cursor) && is_cut()) refuse_cut_row(file_, record);
    take_row(record, cursor);
  }
}

// The last line of a file that was cut: it ends before its value, or inside a quoted cell.
bool RowReader::is_cut() const {
  const bool numbered = header_.id == kNoColumn || parse_whole(cells_.front().raw).has_value();
  if (cells_.size() <= value_column_) return numbered;
  return numbered && cells_.back().raw.starts_with('"');
}

void RowReader::take_row(const char* record, const CsvCursor& after) {
  const CsvCell value = cell_at(cells_, value_column_);
  const RowKind& kind = kind_of_row();
  const std::size_t index = launch_of_row(kind, record, after);
  for (const CellTarget& target : kind.targets) {
    file_.values.store(file_.profile.launches[index], index, target, value);
  }
}

const RowKind& RowReader::kind_of_row() {
  const CsvCell section = cell_at(cells_, header_.section);
  const CsvCell item = cell_at(cells_, header_.item);
  const CsvCell label = cell_at(cells_, header_.metric);
  const CsvCell unit = cell_at(cells_, header_.unit);
  const CsvCell cc = cell_at(cells_, header_.cc);
  kind_key_.clear();
  for (const CsvCell& cell : {section, item, label, unit, cc}) kind_key_.append(cell.raw).push_back('\n');
  const auto [it, added] = kinds_.try_emplace(kind_key_);
  if (!added) return it->second;
  std::string storage[3];
  NcuValues::Row row;
  if (header_.section != kNoColumn) row.section = trim(section.value(storage[0]));
  row.item = trim(item.value(storage[1]));
  row.label = trim(label.value(storage[2]));
  row.unit = trim(unit.raw);
  row.compute_capability = parse_compute_capability(cc.raw);
  it->second.number = kinds_.size() - 1;
  it->second.targets = file_.values.targets_of(row, file_.values.line_of(label.raw.data()));
  return it->second;
}

// Rows of one launch mostly follow each other. A metric that comes again belongs to a new launch: files without
// numbers, and joined runs, repeat the same identity.
std::size_t RowReader::launch_of_row(const RowKind& kind, const char* record, const CsvCursor& after) {
  const NcuIdentity identity = identity_of(cells_, header_);
  bool another = false;
  if (last_ == nullptr || !identity.same_cells(last_identity_)) {
    last_identity_ = identity;
    const auto [it, added] = open_.try_emplace(key_of(identity));
    last_ = &it->second;
    if (added) last_->launch = add_launch(identity, record);
    another = !added && (is_of_earlier_run(*last_) || repeats(*last_, kind, after));
  }
  if (another || last_->has(kind)) {
    last_->launch = add_launch(identity, record);
    last_->seen.clear();
  }
  if (kind.number >= last_->seen.size()) last_->seen.resize(kind.number + 1);
  last_->seen[kind.number] = true;
  return last_->launch;
}

bool RowReader::is_of_earlier_run(const Open& open) const {
  const auto& launch = file_.profile.launches[open.launch];
  return launch.run < file_.runs.of_process(launch.process);
}

// After rows of other launches the same identity comes again: rows of this launch in a table sorted by metric, or of
// another run whose process has the same number. The latter repeat a metric, though it need not be the first one.
bool RowReader::repeats(const Open& open, const RowKind& kind, CsvCursor after) {
  bool again = open.has(kind);
  std::vector<CsvCell> row;
  cells_.swap(row);
  while (!again && !after.at_end()) {
    read_record(after, cells_);
    if (!is_row() || !identity_of(cells_, header_).same_cells(last_identity_)) break;
    again = !is_rule_row() && open.has(kind_of_row());
  }
  cells_.swap(row);
  return again;
}

// The kernel's name, which may take kilobytes, stands in the key by its place in the pool.
std::string RowReader::key_of(const NcuIdentity& identity) {
  NcuIdentity rest = identity;
  rest.kernel.raw = {};
  const std::string_view kernel = file_.values.intern(identity.kernel.raw);
  return rest.key() + std::to_string(reinterpret_cast<std::uintptr_t>(kernel.data()));
}

std::size_t RowReader::add_launch(const NcuIdentity& identity, const char* record) {
  add_ncu_launch(file_, identity, record);
  return file_.profile.launches.size() - 1;
}

}  // namespace

void read_ncu_rows(NcuFile& file, const NcuHeader& header, CsvCursor& cursor) {
  if (header.unit == kNoColumn) {
    refuse_at_line(file.values.input(), file.values.line_of(file.text.data() + cursor.offset()) - 1, "no-units",
                   "a table of metrics without their units", "the column \"Metric Unit\"",
                   "use the table as ncu --csv wrote it");
  }
  RowReader reader(file, header);
  reader.decide_locale(cursor);
  reader.read(cursor);
}

}  // namespace roofline
