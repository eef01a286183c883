// What `nvprof --csv` writes: a summary of times, a trace of launches, or metrics per kernel.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profile/ncu_csv_identity.h"
#include "profile/ncu_csv_tables.h"
#include "profile/reader.h"
#include "profile/text_encoding.h"

namespace roofline {
namespace {

constexpr std::string_view kDuration = "gpu__time_duration.sum";  // what nvprof's kernel times are called elsewhere
constexpr std::string_view kByName = "Command line profiler metrics";

enum class Table : std::uint8_t { summary, trace, metrics };

struct Header {
  Table table = Table::summary;
  std::vector<std::string> titles;
  std::vector<std::string> units;  // by column; summary and trace only

  std::size_t column(std::string_view title) const {
    const auto it = std::find(titles.begin(), titles.end(), title);
    return it == titles.end() ? kNoColumn : static_cast<std::size_t>(it - titles.begin());
  }
  bool has(std::string_view title) const { return column(title) != kNoColumn; }
};

std::string value_of(const CsvCell& cell) {
  std::string storage;
  return std::string(trim(cell.value(storage)));
}

std::optional<Header> parse_header(std::string_view line) {
  Header header;
  CsvCursor cursor(line);
  CsvCell cell;
  while (cursor.next_cell(cell)) header.titles.push_back(value_of(cell));
  if (header.has("Kernel") && header.has("Invocations") && header.has("Avg") &&
      (header.has("Metric Name") || header.has("Event Name"))) {
    header.table = Table::metrics;
  } else if (header.has("Time(%)") && header.has("Calls") && header.has("Avg") && header.has("Name")) {
    header.table = Table::summary;
  } else if (header.has("Start") && header.has("Duration") && header.has("Name") && header.has("Grid X")) {
    header.table = Table::trace;
  } else {
    return std::nullopt;
  }
  return header;
}

// "1.1655GB/s" -> 6, where the unit starts.
std::size_t number_length(std::string_view text) {
  std::size_t n = 0;
  const auto in_number = [&](char c) {
    if ((c >= '0' && c <= '9') || c == '.' || c == ',') return true;
    const bool sign_of_exponent = (c == '-' || c == '+') && n > 0 && (text[n - 1] == 'e' || text[n - 1] == 'E');
    const bool exponent =
        (c == 'e' || c == 'E') && n + 1 < text.size() && n > 0 && (text[n + 1] == '+' || text[n + 1] == '-');
    return (c == '-' && n == 0) || sign_of_exponent || exponent;
  };
  while (n < text.size() && in_number(text[n])) ++n;
  return n;
}

// A kernel, not a copy ("[CUDA memcpy DtoH]") nor a call of the driver.
bool is_kernel(std::string_view name) { return !name.empty() && !name.starts_with("[CUDA "); }

class NvprofReader {
 public:
  explicit NvprofReader(NcuFile& file) : file_(file) {}
  void read();

 private:
  void start_table(Header header, CsvCursor& cursor);
  void read_row(const std::vector<CsvCell>& cells, const char* record);
  void read_times(const std::vector<CsvCell>& cells, const char* record);
  void read_metric(const std::vector<CsvCell>& cells, const char* record);
  std::size_t add_launch(const std::vector<CsvCell>& cells, std::string_view name_column, const char* record);
  void store(std::size_t launch, std::string_view name, std::string_view unit, const CsvCell& cell);
  void store_glued(std::size_t launch, std::string_view name, const CsvCell& cell);
  Dim3 dimensions(const std::vector<CsvCell>& cells, std::string_view what) const;

  NcuFile& file_;
  std::optional<Header> header_;
  bool api_calls_ = false;                       // the next table lists calls of the driver
  std::map<std::string, std::size_t> launches_;  // metrics: by device and kernel
};

void NvprofReader::read() {
  CsvCursor cursor(file_.text);
  std::vector<CsvCell> cells;
  while (!cursor.at_end()) {
    const std::string_view line = cursor.peek_line();
    if (auto header = parse_header(line)) {
      start_table(*std::move(header), cursor);
      continue;
    }
    // A table ends with a blank line or a line of nvprof's own.
    if (trim(line).empty() || line.starts_with("==")) {
      if (line.find("API calls") != std::string_view::npos) api_calls_ = true;
      if (line.find("Profiling result") != std::string_view::npos) api_calls_ = false;
      header_.reset();
    }
    if (!header_ || api_calls_) {
      cursor.skip_line();
      continue;
    }
    const char* record = file_.text.data() + cursor.offset();
    read_record(cursor, cells);
    read_row(cells, record);
  }
}

void NvprofReader::start_table(Header header, CsvCursor& cursor) {
  cursor.skip_line();
  launches_.clear();
  if (header.table != Table::metrics) {
    std::vector<CsvCell> cells;
    read_record(cursor, cells);
    for (const CsvCell& cell : cells) header.units.push_back(value_of(cell));
    header.units.resize(header.titles.size());
  }
  header_ = std::move(header);
}

void NvprofReader::read_row(const std::vector<CsvCell>& cells, const char* record) {
  if (cells.size() < 3) return;
  ++file_.rows;
  if (header_->table == Table::metrics) {
    read_metric(cells, record);
  } else {
    read_times(cells, record);
  }
}

std::size_t NvprofReader::add_launch(const std::vector<CsvCell>& cells, std::string_view name_column,
                                     const char* record) {
  NcuIdentity identity;
  identity.kernel = cell_at(cells, header_->column(name_column));
  identity.context = cell_at(cells, header_->column("Context"));
  identity.stream = cell_at(cells, header_->column("Stream"));
  identity.invocations = cell_at(cells, header_->column(header_->table == Table::metrics ? "Invocations" : "Calls"));
  // "Tesla V100S-PCIE-32GB (0)"
  const std::string_view device = trim(cell_at(cells, header_->column("Device")).raw);
  const auto open = device.rfind(" (");
  if (open != std::string_view::npos && device.ends_with(')')) {
    identity.device_name = device.substr(0, open);
    identity.device.raw = device.substr(open + 2, device.size() - open - 3);
  } else {
    identity.device_name = device;
  }
  Launch& launch = add_ncu_launch(file_, identity, record);
  launch.time_basis = header_->table == Table::metrics ? TimeBasis::profiled : TimeBasis::timeline;
  return file_.profile.launches.size() - 1;
}

void NvprofReader::read_times(const std::vector<CsvCell>& cells, const char* record) {
  const std::string name = value_of(cell_at(cells, header_->column("Name")));
  const std::size_t type = header_->column("Type");
  if (!is_kernel(name) || (type != kNoColumn && value_of(cell_at(cells, type)) != "GPU activities")) return;
  const std::size_t time = header_->column(header_->table == Table::summary ? "Avg" : "Duration");
  if (trim(cell_at(cells, time).raw).empty()) return;
  const std::size_t index = add_launch(cells, "Name", record);
  store(index, kDuration, header_->units[time], cell_at(cells, time));
  if (header_->table == Table::summary) return;
  Launch& launch = file_.profile.launches[index];
  launch.grid = dimensions(cells, "Grid");
  launch.block = dimensions(cells, "Block");
  // A trace numbers its rows behind the name: "kernel(float*) [107]".
  const auto number = name.rfind(" [");
  if (number != std::string::npos && name.ends_with(']')) launch.name = file_.values.intern(name.substr(0, number));
}

Dim3 NvprofReader::dimensions(const std::vector<CsvCell>& cells, std::string_view what) const {
  const auto size = [&](char axis) {
    const std::size_t column = header_->column(fmt::format("{} {}", what, axis));
    return parse_whole(cell_at(cells, column).raw).value_or(0);
  };
  return {size('X'), size('Y'), size('Z')};
}

void NvprofReader::read_metric(const std::vector<CsvCell>& cells, const char* record) {
  const std::size_t name = header_->column(header_->has("Metric Name") ? "Metric Name" : "Event Name");
  const std::string kernel = value_of(cell_at(cells, header_->column("Kernel")));
  if (kernel.empty() || cells.size() <= header_->column("Avg")) return;
  const std::string key = fmt::format("{}\n{}", cell_at(cells, header_->column("Device")).raw, kernel);
  const auto [it, added] = launches_.try_emplace(key);
  if (added) it->second = add_launch(cells, "Kernel", record);
  store_glued(it->second, value_of(cell_at(cells, name)), cell_at(cells, header_->column("Avg")));
}

void NvprofReader::store(std::size_t launch, std::string_view name, std::string_view unit, const CsvCell& cell) {
  NcuValues::Row row;
  row.section = kByName;
  row.label = name;
  row.unit = unit;
  for (const CellTarget& target : file_.values.targets_of(row, file_.values.line_of(cell.raw.data()))) {
    file_.values.store(file_.profile.launches[launch], launch, target, cell);
  }
}

void NvprofReader::store_glued(std::size_t launch, std::string_view name, const CsvCell& cell) {
  const std::size_t digits = number_length(cell.raw);
  const std::string_view unit = trim(cell.raw.substr(digits));
  const bool number_and_unit = digits > 0 && parse_unit(unit).has_value();
  store(launch, name, number_and_unit ? unit : std::string_view(),
        number_and_unit ? CsvCell{cell.raw.substr(0, digits), false} : cell);
}

std::size_t find_header(std::string_view text) {
  CsvCursor cursor(text);
  while (!cursor.at_end()) {
    const std::string_view line = cursor.peek_line();
    const bool candidate = line.find("Time(%)") != std::string_view::npos ||
                           line.find("Invocations") != std::string_view::npos ||
                           line.find("Duration") != std::string_view::npos;
    if (candidate && parse_header(line)) return cursor.offset();
    cursor.skip_line();
  }
  return std::string_view::npos;
}

}  // namespace

bool looks_like_nvprof_csv(std::string_view head) {
  std::string storage;
  return find_header(head_as_utf8(head, storage)) != std::string_view::npos;
}

Profile read_nvprof_csv(const Input& input, const ReadOptions& options) {
  const Utf8Text utf8 = to_utf8(input.bytes);
  Profile profile;
  profile.format = "nvprof-csv";
  profile.producer = "nvprof";
  profile.strings = std::make_shared<StringPool>();
  NcuValues values(input, utf8.text, options, profile);
  values.use_locale({});
  NcuDevices devices(profile.devices);
  NcuFile file{profile, values, devices, utf8.text, 0, 0, options.progress};
  try {
    NvprofReader(file).read();
    if (profile.launches.empty()) {
      const auto header = find_header(utf8.text);
      const bool none = header == std::string_view::npos;
      refuse_at_line(input, none ? 1 : values.line_of(utf8.text.data() + header), none ? "no-header" : "no-rows",
                     none ? "no table of nvprof" : "a table of nvprof without a kernel", "a row per kernel",
                     "profile a program that launches kernels: nvprof --csv --log-file FILE PROGRAM");
    }
  } catch (const InputError& fault) {
    if (!options.partial || profile.launches.empty()) throw;
    keep_partial(profile, fault);
  }
  values.finish();
  return profile;
}

}  // namespace roofline
