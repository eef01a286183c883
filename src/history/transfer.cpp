// Histories as lines of JSON and as CSV.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "roofline/error.h"
#include "roofline/history.h"

namespace roofline::history {
namespace {

namespace json = simdjson::ondemand;

constexpr std::string_view kSchema = "roofline/history-record/1";

std::string dump(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Raw line ends stand between the values of JSON text only: in strings they are escaped.
std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

class LineReader {
 public:
  LineReader(const std::string& path, std::uint64_t line) : path_(path), line_(line) {}

  NewRecord read(const std::string& text) {
    try {
      return parse(text);
    } catch (const simdjson::simdjson_error& error) {
      refuse("not-json", fmt::format("a fault in the JSON text ({})", error.what()));
    } catch (const UsageError& error) {
      refuse("bad-label", error.what());
    }
  }

 private:
  NewRecord parse(const std::string& text) {
    const simdjson::padded_string padded(text);
    json::document document = parser_.iterate(padded);
    if (document.type().value_unsafe() != json::json_type::object) refuse("not-json", "a line that is no JSON object");
    std::string_view schema;
    if (document["schema"].get_string().get(schema) != simdjson::SUCCESS || schema != kSchema)
      refuse("wrong-schema", "a line without \"schema\": \"" + std::string(kSchema) + "\"");
    NewRecord record;
    record.uid = std::string(std::string_view(document["uid"].get_string()));
    if (record.uid.size() != 32 || record.uid.find_first_not_of("0123456789abcdef") != std::string::npos)
      refuse("bad-value", "a \"uid\" that is not 32 hexadecimal digits");
    record.time = parse_time(std::string_view(document["time"].get_string()));
    read_labels(document, record);
    json::value error;
    if (present(document, "prediction_error", error)) record.prediction_error = double(error.get_double());
    record.report = std::string(std::string_view(document["report"].get_object().value().raw_json()));
    record.source = fmt::format("{}:{}", path_, line_);
    return record;
  }

  // Whether there is such a key, and its value is not null.
  static bool present(json::document& document, const char* key, json::value& value) {
    const auto code = document[key].get(value);
    if (code == simdjson::NO_SUCH_FIELD) return false;
    if (code != simdjson::SUCCESS) throw simdjson::simdjson_error(code);
    return !value.is_null();
  }

  void read_labels(json::document& document, NewRecord& record) const {
    json::value value;
    if (!present(document, "labels", value)) return;
    json::object labels;
    if (value.get_object().get(labels) != simdjson::SUCCESS) refuse("bad-value", "\"labels\" that are no JSON object");
    for (auto field : labels) {
      const std::string key(std::string_view(field.unescaped_key()));
      record.labels[key] = std::string(std::string_view(field.value().get_string()));
    }
    check_labels(record.labels);
  }

  [[noreturn]] void refuse(const char* kind, std::string found) const {
    throw InputError(InputProblem{kind, path_, std::nullopt, line_, std::move(found),
                                  "a line of `roofline history export --format json`",
                                  "records of the lines before are imported"});
  }

  const std::string& path_;
  std::uint64_t line_;
  json::parser parser_;
};

}  // namespace

void export_json_lines(const Store& store, const Filter& filter, std::ostream& out) {
  auto records = store.list(filter);
  std::reverse(records.begin(), records.end());
  for (const auto& record : records) {
    nlohmann::ordered_json labels = nlohmann::ordered_json::object();
    for (const auto& [key, value] : record.labels) labels[key] = value;
    const nlohmann::ordered_json error =
        record.prediction_error ? nlohmann::ordered_json(*record.prediction_error) : nlohmann::ordered_json(nullptr);
    auto head = dump({{"schema", kSchema},
                      {"uid", record.uid},
                      {"time", format_time(record.time)},
                      {"labels", std::move(labels)},
                      {"prediction_error", error}});
    head.pop_back();
    out << head << ",\"report\":" << on_one_line(store.report(record.id)) << "}\n";
  }
}

Imported import_json_lines(Store& store, std::istream& in, const std::string& path) {
  Imported imported;
  std::string line;
  for (std::uint64_t number = 1; std::getline(in, line); ++number) {
    // Some editors put a byte order mark in front of UTF-8.
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto record = LineReader(path, number).read(line);
    ++(store.record(record).fresh ? imported.fresh : imported.known);
  }
  return imported;
}

namespace {

std::string shape_text(const Dim3& d) { return d == Dim3{} ? std::string() : fmt::format("{}x{}x{}", d.x, d.y, d.z); }

std::string ops_text(const std::map<std::string, double>& ops) {
  std::string out;
  for (const auto& [key, count] : ops) out += fmt::format("{}{}={}", out.empty() ? "" : " ", key, count);
  return out;
}

Table csv_table() {
  Table table;
  for (const auto* key :
       {"recorded_at", "uid", "machine", "ceiling", "catalogue_version", "labels", "kernel", "full_name", "family",
        "operator", "grid", "block", "position", "binding", "fraction_bound", "operations"})
    table.columns.push_back({key, key, Align::left});
  for (const auto* key : {"record", "launches", "time_s", "time_share", "fraction_of_roof", "fraction_datasheet",
                          "roof_time_s", "flops", "dram_bytes", "link_bytes", "clock_hz", "gain_s"})
    table.columns.push_back({key, key});
  return table;
}

Cell number(std::optional<double> value) { return value ? Cell{"", value} : Cell{}; }

std::vector<Cell> csv_row(const RecordInfo& r, const std::string& labels, const KernelRecord& k) {
  return {{format_time(r.time)},
          {r.uid},
          {r.machine},
          {std::string(to_string(k.ceiling))},
          {r.catalogue_version},
          {labels},
          {k.name},
          {k.full_name},
          {name_family(k.full_name.empty() ? k.name : k.full_name)},
          {k.op},
          {shape_text(k.grid)},
          {shape_text(k.block)},
          {std::string(to_string(k.position))},
          {k.binding},
          {std::string(k.fraction ? to_string(k.bound) : "")},
          {ops_text(k.ops)},
          number(static_cast<double>(r.id)),
          number(static_cast<double>(k.launches)),
          number(k.time_s),
          number(k.time_share),
          number(k.fraction),
          number(k.fraction_datasheet),
          number(k.roof_time_s),
          number(k.flops),
          number(k.dram_bytes),
          number(k.link_bytes),
          number(k.clock_hz),
          number(k.gain_s)};
}

}  // namespace

void export_csv(const Store& store, const Filter& filter, std::ostream& out) {
  auto records = store.list(filter);
  std::reverse(records.begin(), records.end());
  bool first = true;
  // A record at a time: a long history does not fit into memory as a table.
  for (const auto& record : records) {
    auto table = csv_table();
    std::string labels;
    for (const auto& [key, value] : record.labels)
      labels += fmt::format("{}{}={}", labels.empty() ? "" : " ", key, value);
    for (const auto& kernel : store.step(record).kernels) table.rows.push_back(csv_row(record, labels, kernel));
    Document document;
    document.blocks.emplace_back(std::move(table));
    auto text = to_csv(document);
    if (!first) text.erase(0, text.find('\n') + 1);  // the header, which holds no line end
    first = false;
    out << text;
  }
}

}  // namespace roofline::history
