// Tables that `nsys stats` prints: cuda_gpu_kern_sum, cuda_gpu_kern_gb_sum, cuda_gpu_sum, cuda_gpu_trace and what they
// were called before, as CSV or in columns for the console, alone or among the other lines that nsys prints.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/csv_lines.h"
#include "profile/number_locale.h"
#include "profile/text_encoding.h"
#include "profile/text_number.h"
#include "timeline/readers.h"

namespace roofline {
namespace {

enum class TableKind : std::uint8_t { none, sums, trace, percent_only };

// A title less its unit: "Total Time (ns)" is "total time" in "ns", "Time(%)" is "time" in "%".
struct Title {
  std::string text;
  std::string unit;
};

Title parse_title(std::string_view cell) {
  cell = trim(cell);
  Title out;
  if (const auto open = cell.rfind('('); open != std::string_view::npos && cell.ends_with(')')) {
    out.unit = std::string(cell.substr(open + 1, cell.size() - open - 2));
    cell = trim(cell.substr(0, open));
  }
  for (const char c : cell) out.text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

struct Header {
  std::vector<Title> titles;
  TableKind kind = TableKind::none;

  std::optional<std::size_t> find(std::initializer_list<std::string_view> names) const {
    for (const auto name : names)
      for (std::size_t i = 0; i < titles.size(); ++i)
        if (titles[i].text == name) return i;
    return std::nullopt;
  }
};

TableKind kind_of(const Header& h) {
  const bool named = h.find({"name", "operation", "kernel name"}).has_value();
  if (!named) return TableKind::none;
  if (h.find({"start"}) && h.find({"duration"}) && h.find({"grdx", "strm", "corrid"})) return TableKind::trace;
  // Sums of calls of the host have "num calls" and of copies "count" where kernels have "instances".
  if (!h.find({"instances"})) return TableKind::none;
  return h.find({"total time"}) ? TableKind::sums : TableKind::percent_only;
}

std::vector<std::string> csv_cells(std::string_view line, char separator) {
  CsvCursor cursor(line, separator);
  CsvCell cell;
  std::string storage;
  std::vector<std::string> out;
  while (cursor.next_cell(cell)) out.emplace_back(cell.value(storage));
  return out;
}

// Column places in a table for the console, from the line of dashes below its titles.
std::vector<std::pair<std::size_t, std::size_t>> columns_of(std::string_view dashes) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  if (dashes.find_first_not_of("- \r") != std::string_view::npos) return out;
  for (auto at = dashes.find('-'); at != std::string_view::npos; at = dashes.find('-', at)) {
    const auto end = std::min(dashes.find_first_not_of('-', at), dashes.size());
    out.emplace_back(at, end);
    at = end;
  }
  return out;
}

std::string_view line_at(std::string_view text, std::size_t offset) {
  const auto rest = text.substr(offset);
  auto line = rest.substr(0, rest.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::size_t after_line(std::string_view text, std::size_t offset) {
  const auto end = text.find('\n', offset);
  return end == std::string_view::npos ? text.size() : end + 1;
}

// Where one table stands in the text.
struct Found {
  Header header;
  std::size_t at = 0;    // offset of the titles
  std::size_t rows = 0;  // offset of the first row
  char separator = ',';
  std::vector<std::pair<std::size_t, std::size_t>> columns;  // of a console table; empty for CSV

  std::vector<std::string> split(std::string_view line) const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto [begin, end] = columns[i];
      const auto width = i + 1 == columns.size() ? std::string_view::npos : end - begin;
      out.emplace_back(begin < line.size() ? trim(line.substr(begin, width)) : std::string_view());
    }
    return out;
  }
};

Header header_of(const std::vector<std::string>& cells) {
  Header header;
  for (const auto& cell : cells) header.titles.push_back(parse_title(cell));
  header.kind = kind_of(header);
  return header;
}

// Cheap: most lines of a large table are no titles.
bool may_be_titles(std::string_view line) {
  constexpr std::size_t kLongest = 4096;
  if (line.size() > kLongest) return false;
  return line.find("Name") != std::string_view::npos || line.find("Operation") != std::string_view::npos;
}

std::optional<Found> titles_at(std::string_view text, std::size_t offset) {
  const auto line = line_at(text, offset);
  if (!may_be_titles(line)) return std::nullopt;
  Found found;
  found.at = offset;
  found.rows = after_line(text, offset);
  found.columns = columns_of(line_at(text, std::min(found.rows, text.size())));
  if (found.columns.size() > 2) {
    found.rows = after_line(text, found.rows);
    found.header = header_of(found.split(line));
    if (found.header.kind != TableKind::none) return found;
  }
  found.columns.clear();
  found.rows = after_line(text, offset);
  for (const char separator : {',', ';', '\t', '|'}) {
    if (line.find(separator) == std::string_view::npos) continue;
    found.separator = separator;
    found.header = header_of(csv_cells(line, separator));
    if (found.header.kind != TableKind::none) return found;
  }
  return std::nullopt;
}

std::optional<Found> next_table(std::string_view text, std::size_t from) {
  for (auto at = from; at < text.size(); at = after_line(text, at))
    if (auto found = titles_at(text, at)) return found;
  return std::nullopt;
}

// The rows of a table, up to an empty line or the end.
class Rows {
 public:
  Rows(std::string_view text, const Found& table)
      : text_(text), table_(table), cursor_(text.substr(table.rows), table.separator), at_(table.rows) {}

  bool next(std::vector<std::string>& cells) { return table_.columns.empty() ? next_csv(cells) : next_console(cells); }
  std::size_t offset() const { return at_; }  // of the row read last; after the end, of what follows

 private:
  bool next_csv(std::vector<std::string>& cells) {
    at_ = table_.rows + cursor_.offset();
    if (cursor_.at_end() || trim(cursor_.peek_line()).empty()) return false;
    cells.clear();
    CsvCell cell;
    while (cursor_.next_cell(cell)) cells.emplace_back(trim(cell.value(storage_)));
    cursor_.next_record();
    return true;
  }

  bool next_console(std::vector<std::string>& cells) {
    at_ = next_;
    if (at_ == 0) at_ = table_.rows;
    if (at_ >= text_.size()) return false;
    const auto line = line_at(text_, at_);
    if (trim(line).empty()) return false;
    cells = table_.split(line);
    next_ = after_line(text_, at_);
    return true;
  }

  std::string_view text_;
  const Found& table_;
  CsvCursor cursor_;
  std::size_t at_, next_ = 0;
  std::string storage_;
};

// "range/kernel" where the export was asked to name the innermost range; kernel names have no slash outside brackets.
std::size_t kernel_start(std::string_view name) {
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') depth = std::max(0, depth - 1);
    if (c == '/' && depth == 0 && !name.substr(0, i).ends_with("operator")) return i + 1;
  }
  return 0;
}

std::optional<Dim3> parse_dim(std::string_view text) {
  std::array<std::uint64_t, 3> xyz{};
  std::size_t count = 0;
  bool digit = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      if (!digit && count++ == xyz.size()) return std::nullopt;
      digit = true;
      auto& value = xyz[count - 1];
      if (value > (std::uint64_t{1} << 40)) return std::nullopt;
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
    } else {
      digit = false;
    }
  }
  if (count != xyz.size()) return std::nullopt;
  return Dim3{xyz[0], xyz[1], xyz[2]};
}

struct CopyName {
  std::string_view part;
  CopyKind kind;
};
constexpr CopyName kCopyNames[] = {
    {"Host-to-Device", CopyKind::host_to_device},     {"HtoD", CopyKind::host_to_device},
    {"Device-to-Host", CopyKind::device_to_host},     {"DtoH", CopyKind::device_to_host},
    {"Device-to-Device", CopyKind::device_to_device}, {"DtoD", CopyKind::device_to_device},
    {"Peer-to-Peer", CopyKind::peer_to_peer},         {"PtoP", CopyKind::peer_to_peer}};

class Reader {
 public:
  Reader(const TimelineSource& source, const TimelineOptions& options)
      : input_(source.unpacked(options)), text_(to_utf8(input_.bytes)), names_(timeline_.names), lines_(text_.text) {}

  Timeline read() {
    timeline_.format = "nsys-csv";
    timeline_.producer = "Nsight Systems (nsys stats)";
    const auto tables = find_tables();
    decide_locale(tables);
    // A trace holds what the sums hold, and more.
    const bool trace =
        std::any_of(tables.begin(), tables.end(), [](const auto& t) { return t.header.kind == TableKind::trace; });
    for (const auto& table : tables) read_table(table, trace);
    finish();
    return std::move(timeline_);
  }

 private:
  std::vector<Found> find_tables() {
    std::vector<Found> out;
    const auto text = text_.text;
    for (auto found = next_table(text, 0); found; found = next_table(text, found->rows)) {
      if (found->header.kind == TableKind::percent_only)
        refuse_at(found->at, "no-times", "a kernel table of percentages without times", "a column Total Time",
                  "run nsys stats again without hiding columns");
      out.push_back(*found);
      std::vector<std::string> cells;
      Rows rows(text, out.back());
      while (rows.next(cells)) {
      }
      found->rows = rows.offset();
    }
    return out;
  }

  void decide_locale(const std::vector<Found>& tables) {
    LocaleEvidence evidence;
    std::vector<std::string> cells;
    for (const auto& table : tables) {
      Rows rows(text_.text, table);
      while (!evidence.firm() && rows.next(cells)) {
        for (std::size_t i = 0; i < cells.size() && i < table.header.titles.size(); ++i) {
          const auto& title = table.header.titles[i];
          if (!title.unit.empty() && !cells[i].empty())
            evidence.add(cells[i], title.unit, lines_.line_at(rows.offset()));
        }
      }
    }
    std::string clash;
    if (const auto verdict = evidence.verdict(&clash)) {
      locale_ = verdict->locale;
      if (verdict->guessed)
        warn("number-locale", fmt::format("numbers are read with a decimal {}: {}",
                                          locale_ == NumberLocale::comma ? "comma" : "point", verdict->evidence));
    } else {
      refuse(input_, "number-locale", "numbers with contradicting decimal marks: " + clash, "one decimal mark");
    }
  }

  void read_table(const Found& table, bool has_trace) {
    if (table.header.kind == TableKind::trace)
      read_rows(table, [&](const auto& row) { add_activity(row); });
    else if (!has_trace)
      read_rows(table, [&](const auto& row) { add_total(row); });
  }

  // One row with the columns of its table at hand.
  struct Row {
    const Found& table;
    const std::vector<std::string>& cells;
    std::size_t offset;

    std::string_view cell(std::initializer_list<std::string_view> names) const {
      const auto i = table.header.find(names);
      return i && *i < cells.size() ? std::string_view(cells[*i]) : std::string_view();
    }
    std::string_view unit(std::initializer_list<std::string_view> names) const {
      const auto i = table.header.find(names);
      return i ? std::string_view(table.header.titles[*i].unit) : std::string_view();
    }
  };

  template <typename Use>
  void read_rows(const Found& table, Use use) {
    Rows rows(text_.text, table);
    std::vector<std::string> cells;
    while (rows.next(cells)) {
      const Row row{table, cells, rows.offset()};
      if (cells.size() != table.header.titles.size()) {
        if (rows_ == 0)
          refuse_at(rows.offset(), "bad-row", fmt::format("a row of {} cells", cells.size()),
                    fmt::format("{} cells", table.header.titles.size()));
        warn("truncated", fmt::format("line {} has {} cells instead of {}: the table is cut there",
                                      lines_.line_at(rows.offset()), cells.size(), table.header.titles.size()));
        return;
      }
      ++rows_;
      use(row);
    }
  }

  std::optional<double> number(const Row& row, std::initializer_list<std::string_view> names) {
    const auto text = row.cell(names);
    if (text.empty() || is_not_available(text)) return std::nullopt;
    const auto value = parse_number(text, locale_);
    if (!value)
      refuse_at(row.offset, "bad-number", fmt::format("'{}' in column '{}'", text.substr(0, 40), *names.begin()),
                "a number");
    return value;
  }

  // In seconds; nsys writes nanoseconds where the title names no unit.
  std::optional<double> seconds(const Row& row, std::initializer_list<std::string_view> names) {
    const auto value = number(row, names);
    if (!value) return std::nullopt;
    const auto text = row.unit(names);
    const auto unit = text.empty() ? parse_unit("ns") : parse_unit(text);
    if (!unit || unit->dimension != Dimension::time)
      refuse_at(row.table.at, "bad-unit", fmt::format("the unit '{}'", text), "a unit of time, such as ns");
    return convert(*value, *unit, *parse_unit("s"));
  }

  std::uint64_t whole(const Row& row, std::initializer_list<std::string_view> names) {
    const auto value = number(row, names).value_or(0);
    constexpr double kMost = 9e15;
    return value > 0 && value < kMost ? static_cast<std::uint64_t>(value) : 0;
  }

  std::uint32_t kernel_name(std::string_view text) {
    const auto start = kernel_start(text);
    if (start > 0) ++prefixed_;
    return names_.intern(text.substr(start));
  }

  void add_total(const Row& row) {
    const auto category = row.cell({"category"});
    if (!category.empty() && category.find("KERNEL") == std::string_view::npos) return;
    KernelTotals total;
    const auto time = seconds(row, {"total time"});
    if (!time || *time < 0) refuse_at(row.offset, "no-times", "a kernel without a total time", "a time");
    total.total_s = *time;
    total.launches = whole(row, {"instances"});
    total.min_s = seconds(row, {"min", "minimum"});
    total.median_s = seconds(row, {"med", "median"});
    total.max_s = seconds(row, {"max", "maximum"});
    total.name = kernel_name(row.cell({"name", "operation", "kernel name"}));
    if (const auto grid = parse_dim(row.cell({"gridxyz"}))) total.grid = *grid;
    if (const auto block = parse_dim(row.cell({"blockxyz"}))) total.block = *block;
    if (timeline_.devices.empty()) timeline_.devices.emplace_back();
    timeline_.totals.push_back(std::move(total));
  }

  void add_activity(const Row& row) {
    const auto start = seconds(row, {"start"});
    const auto duration = seconds(row, {"duration"});
    constexpr double kFar = 1e9;  // seconds: a recording of 30 years
    if (!start || !duration || *duration < 0 || *start < -kFar || *start > kFar || *duration > kFar) {
      ++without_times_;
      return;
    }
    GpuActivity a;
    a.span.start_ns = std::llround(*start * 1e9);
    a.span.end_ns = a.span.start_ns + std::llround(*duration * 1e9);
    a.correlation = whole(row, {"corrid"});
    a.context = whole(row, {"ctx"});
    a.stream = whole(row, {"strm"});
    a.device = device_of(row.cell({"device"}));
    const auto name = row.cell({"name"});
    if (name.starts_with("[CUDA mem") || name.starts_with("CUDA mem"))
      add_copy(row, name, a);
    else
      add_kernel(row, name, a);
    timeline_.activities.push_back(a);
  }

  void add_kernel(const Row& row, std::string_view name, GpuActivity& a) {
    a.full_name = a.name = kernel_name(name);
    a.grid = {whole(row, {"grdx"}), whole(row, {"grdy"}), whole(row, {"grdz"})};
    a.block = {whole(row, {"blkx"}), whole(row, {"blky"}), whole(row, {"blkz"})};
  }

  void add_copy(const Row& row, std::string_view name, GpuActivity& a) {
    a.work = name.find("memset") != std::string_view::npos ? GpuWork::fill : GpuWork::copy;
    if (a.work == GpuWork::copy) {
      const auto* it = std::find_if(std::begin(kCopyNames), std::end(kCopyNames),
                                    [&](const auto& c) { return name.find(c.part) != std::string_view::npos; });
      a.copy = it == std::end(kCopyNames) ? CopyKind::other : it->kind;
    }
    const auto bytes = number(row, {"bytes", "size"});
    const auto unit = parse_unit(row.unit({"bytes", "size"}).empty() ? "byte" : row.unit({"bytes", "size"}));
    if (bytes && *bytes >= 0 && unit && unit->dimension == Dimension::bytes && *bytes < 1e15)
      a.bytes = static_cast<std::uint64_t>(std::llround(*bytes * unit->factor()));
  }

  // "NVIDIA B200 (0)": the name and the number of the GPU.
  std::uint32_t device_of(std::string_view text) {
    const auto [it, fresh] =
        devices_.try_emplace(std::string(text), static_cast<std::uint32_t>(timeline_.devices.size()));
    if (!fresh) return it->second;
    DeviceInfo info;
    info.id = it->second;
    const auto open = text.rfind('(');
    info.name = std::string(trim(text.substr(0, open)));
    if (open != std::string_view::npos && text.ends_with(')'))
      if (const auto id = parse_number(text.substr(open + 1, text.size() - open - 2), NumberLocale::point))
        info.id = static_cast<std::uint32_t>(std::clamp(*id, 0.0, 1e6));
    timeline_.devices.push_back(std::move(info));
    return it->second;
  }

  void finish() {
    if (timeline_.activities.empty() && timeline_.totals.empty())
      refuse(input_, "no-kernels", "a table of nsys stats without kernels", "rows of GPU kernels",
             "profile with --trace=cuda while the GPU works");
    const bool only_copies = std::none_of(timeline_.activities.begin(), timeline_.activities.end(),
                                          [](const auto& a) { return a.work == GpuWork::kernel; });
    if (timeline_.totals.empty() && only_copies) warn("no-kernels", "the trace holds copies but no kernels");
    if (prefixed_ > 0)
      warn("nvtx-prefix",
           fmt::format("{} the range that it ran in; that is left out",
                       prefixed_ == 1 ? "1 name carries" : fmt::format("{} names carry each", prefixed_)));
    if (without_times_ > 0)
      warn("no-times", fmt::format("{} rows have no start or duration: left out", without_times_));
    std::stable_sort(timeline_.activities.begin(), timeline_.activities.end(),
                     [](const auto& a, const auto& b) { return a.span.start_ns < b.span.start_ns; });
  }

  void warn(std::string code, std::string message) {
    timeline_.warnings.push_back({std::move(code), std::move(message), std::nullopt});
  }

  [[noreturn]] void refuse_at(std::size_t offset, std::string kind, std::string found, std::string expected,
                              std::string action = {}) {
    refuse_at_line(input_, LineCounter(text_.text).line_at(offset), std::move(kind), std::move(found),
                   std::move(expected), std::move(action));
  }

  Input input_;
  Utf8Text text_;
  Timeline timeline_;
  NameTable names_;
  LineCounter lines_;
  NumberLocale locale_ = NumberLocale::point;
  std::unordered_map<std::string, std::uint32_t> devices_;
  std::uint64_t rows_ = 0, prefixed_ = 0, without_times_ = 0;
};

}  // namespace

bool looks_like_nsys_csv(std::string_view head) {
  std::string storage;
  const auto text = head_as_utf8(head, storage);
  if (text.find('\0') != std::string_view::npos) return false;
  return next_table(text, 0).has_value();
}

Timeline read_nsys_csv(const TimelineSource& source, const TimelineOptions& options) {
  return Reader(source, options).read();
}

}  // namespace roofline
