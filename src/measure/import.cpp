// Ceilings that other tools measured.
//
// ERT writes roofline.json: {"empirical": {"gbytes": {"data": [["L1", 1002.83], ..., ["DRAM", 68.76]]}, "gflops":
// {"data": [["GFLOPs", 288.33]]}, "metadata": {...}}}, in GB/s and GFLOP/s. rocprof-compute writes roofline.csv: a line
// per device and, per figure, a column with the mean and two with its confidence interval (...Low, ...High), in GB/s
// and GFLOP/s; older releases mistype some of the latter.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/letter_case.h"
#include "core/printable.h"
#include "measure/figures.h"
#include "measure/measurement_file.h"
#include "roofline/error.h"
#include "roofline/measure.h"

namespace roofline {
namespace {

using namespace measure;
using Json = nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

[[noreturn]] void fail(const std::string& path, std::optional<std::uint64_t> line, std::string kind, std::string found,
                       std::string expected, std::string action) {
  throw InputError(InputProblem{std::move(kind), path, std::nullopt, line, std::move(found), std::move(expected),
                                std::move(action)});
}

// In messages.
std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return roofline::printable(text, kMost);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\"";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

double positive(double value, std::string_view what, const std::string& path, std::optional<std::uint64_t> line) {
  constexpr double kMost = 1e21;  // no machine comes near it, in any unit of ours
  if (value > 0 && value <= kMost) return value;
  fail(path, line, "not-positive", fmt::format("{} = {}", printable(what), value),
       "a rate above zero that a machine can have", "measure again, or remove the figure");
}

// What an import yields before it becomes a machine.
struct Imported {
  std::string tool, vendor, name;
  bool cpu = false;
  std::vector<Figure> figures;
  std::vector<std::string> warnings;
};

// ---------------------------------------------------------------- ERT

class Ert {
 public:
  Ert(std::string_view text, const std::string& path, const ImportOptions& options) : path_(path), options_(options) {
    try {
      root_ = Json::parse(text);
    } catch (const Json::parse_error& error) {
      const auto line =
          1 +
          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size())), '\n');
      fail(path_, static_cast<std::uint64_t>(line), error.byte >= text.size() ? "truncated" : "bad-json",
           error.byte >= text.size() ? "the file ends within the JSON" : "no JSON here",
           "the roofline.json that ERT writes", "copy the file again, whole");
    } catch (const Json::exception&) {
      fail(path_, std::nullopt, "bad-json", "a number that is too large", "GB/s and GFLOP/s", "correct it");
    }
  }

  Imported read() {
    Imported out;
    out.tool = "ERT";
    out.vendor = "unknown";
    const auto* empirical = member(root_, "empirical");
    if (empirical == nullptr)
      fail(path_, std::nullopt, "unknown-format", "JSON without \"empirical\"",
           "the roofline.json of ERT, the roofline.csv of rocprof-compute, or what --json printed",
           "check that this is the file you mean");
    describe(*empirical, out);
    for (const auto& [label, value] : pairs(*empirical, "gbytes")) add_level(label, value, out);
    for (const auto& [label, value] : pairs(*empirical, "gflops")) add_peak(label, value, out);
    return out;
  }

 private:
  static const Json* member(const Json& object, const char* name) {
    if (!object.is_object()) return nullptr;
    const auto it = object.find(name);
    return it == object.end() ? nullptr : &*it;
  }

  std::vector<std::pair<std::string, double>> pairs(const Json& empirical, const char* what) const {
    const auto* group = member(empirical, what);
    const auto* data = group == nullptr ? nullptr : member(*group, "data");
    std::vector<std::pair<std::string, double>> out;
    if (data == nullptr || !data->is_array()) return out;
    for (const auto& pair : *data) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number())
        fail(path_, std::nullopt, "not-a-number", fmt::format("{}: {}", what, printable(dump(pair))),
             "pairs of a name and a number, as in [\"DRAM\", 68.76]", "correct it");
      const auto label = pair[0].get<std::string>();
      out.emplace_back(label, positive(pair[1].get<double>(), label, path_, std::nullopt));
    }
    return out;
  }
  static std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

  // Whether its kernels ran on a GPU; the label of the run may say otherwise.
  void describe(const Json& empirical, Imported& out) const {
    const auto* metadata = member(empirical, "metadata");
    const auto* config = metadata == nullptr ? nullptr : member(*metadata, "CONFIG");
    const auto* gpu = config == nullptr ? nullptr : member(*config, "ERT_GPU");
    const bool says = gpu != nullptr && gpu->is_array() && !gpu->empty();
    const auto text = says ? lower(dump(gpu->front())) : std::string();
    out.cpu = text.find("true") == std::string::npos;
    out.name = out.cpu ? "CPU measured by ERT" : "GPU measured by ERT";
    if (!says)
      out.warnings.emplace_back(
          "the file does not say whether a GPU ran: taken for a CPU, whose levels have other tags");
  }

  void add_level(const std::string& label, double gigabytes, Imported& out) const {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kLevels = {{{"l1", "l1_measured"},
                                                                                       {"l2", "l2_measured"},
                                                                                       {"l3", "l3_measured"},
                                                                                       {"l4", "l4_measured"},
                                                                                       {"dram", "dram_measured"}}};
    const auto wanted = lower(label);
    for (const auto& [name, key] : kLevels)
      if (name == wanted) {
        out.figures.push_back(
            bandwidth_figure(std::string(key), gigabytes * 1e9, "ERT finds levels by a histogram of rates"));
        return;
      }
    out.warnings.push_back(fmt::format("level '{}' is left out: no such level is known", printable(label)));
  }

  void add_peak(const std::string& label, double gigaflops, Imported& out) const {
    Precision precision{NumberType::fp64, Path::vector, Accumulate::standard, false};
    const auto type = parse_precision(lower(label.substr(0, label.find(' '))) + ".vector");
    if (type) {
      precision = *type;
    } else if (options_.precision) {
      precision = *options_.precision;
    } else {
      out.warnings.push_back(
          fmt::format("'{}' names no precision: taken for fp64.vector, which ERT's kernel computes in "
                      "unless it was built otherwise; --precision says what it was",
                      printable(label)));
    }
    out.figures.push_back(operations_figure(to_string(precision) + "_measured", gigaflops * 1e9,
                                            is_integer(precision.type), type ? "" : "ERT does not name the precision"));
  }

  const std::string& path_;
  const ImportOptions& options_;
  Json root_;
};

// ---------------------------------------------------------------- rocprof-compute

struct CsvColumn {
  std::string_view name;  // small letters
  std::string_view key;
  bool operations;
};

constexpr auto kColumns = std::to_array<CsvColumn>({
    {"hbmbw", "dram_measured", false},
    {"mallbw", "l3_measured", false},
    {"l2bw", "l2_measured", false},
    {"l1bw", "l1_measured", false},
    {"ldsbw", "shared_measured", false},
    {"fp16flops", "fp16.vector_measured", true},
    {"bf16flops", "bf16.vector_measured", true},
    {"fp32flops", "fp32.vector_measured", true},
    {"fp64flops", "fp64.vector_measured", true},
    {"i8ops", "int8.vector_measured", true},
    {"i32ops", "int32.vector_measured", true},
    {"mfmaf4flops", "fp4.tensor_measured", true},
    {"mfmaf6flops", "fp6.tensor_measured", true},
    {"mfmaf8flops", "fp8.tensor_measured", true},
    {"mfmaf16flops", "fp16.tensor_measured", true},
    {"mfmabf16flops", "bf16.tensor_measured", true},
    {"mfmaf32flops", "fp32.tensor_measured", true},
    {"mfmaf64flops", "fp64.tensor_measured", true},
    {"mfmai8ops", "int8.tensor_measured", true},
});

struct CsvLine {
  std::vector<std::string_view> cells;
  std::uint64_t line = 0;
};

std::vector<CsvLine> csv_lines(std::string_view text) {
  std::vector<CsvLine> out;
  for (std::uint64_t line = 1; !text.empty(); ++line) {
    const auto end = text.find('\n');
    auto row = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (trimmed(row).empty()) continue;
    CsvLine out_line{{}, line};
    for (;;) {
      const auto comma = row.find(',');
      out_line.cells.push_back(trimmed(row.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      row = row.substr(comma + 1);
    }
    out.push_back(std::move(out_line));
  }
  return out;
}

class Rocprof {
 public:
  Rocprof(std::string_view text, const std::string& path, const ImportOptions& options)
      : path_(path), options_(options), lines_(csv_lines(text)) {}

  Imported read() {
    Imported out;
    out.tool = "rocprof-compute";
    out.vendor = "AMD";
    out.name = "GPU measured by rocprof-compute";
    const auto& row = device_row();
    for (std::size_t i = 0; i < header().size(); ++i) add(header()[i], row.cells[i], row.line, out);
    if (lines_.size() > 2)
      out.warnings.push_back(fmt::format("{} devices in the file: this is device {}; --device picks another",
                                         lines_.size() - 1, options_.device));
    if (!unknown_.empty()) out.warnings.push_back(fmt::format("columns left out: {}", fmt::join(unknown_, ", ")));
    return out;
  }

 private:
  const std::vector<std::string_view>& header() const { return lines_.front().cells; }

  const CsvLine& device_row() const {
    if (lines_.size() < 2)
      fail(path_, 1, "truncated", "a header and no device", "a line per device", "copy the file again, whole");
    for (std::size_t i = 1; i < lines_.size(); ++i)
      if (lines_[i].cells.size() != header().size())
        fail(path_, lines_[i].line, i + 1 == lines_.size() ? "truncated" : "ragged-row",
             fmt::format("{} cells", lines_[i].cells.size()), fmt::format("the {} of the header", header().size()),
             "copy the file again, whole");
    const auto wanted = std::to_string(options_.device);
    for (std::size_t i = 1; i < lines_.size(); ++i)
      if (lines_[i].cells.front() == wanted) return lines_[i];
    throw UsageError(fmt::format("{}: no device {} in the file, it has {} from {} to {}", path_, options_.device,
                                 lines_.size() - 1, printable(lines_[1].cells.front()),
                                 printable(lines_.back().cells.front())));
  }

  static double number(std::string_view cell, std::string_view column, const std::string& path, std::uint64_t line) {
    double value = 0;
    const auto* end = cell.data() + cell.size();
    const auto parsed = std::from_chars(cell.data(), end, value);
    if (parsed.ec == std::errc{} && parsed.ptr == end) return value;
    fail(path, line, "not-a-number", fmt::format("{} = '{}'", printable(column), printable(cell)), "a number",
         "measure again, or empty the cell");
  }

  // An empty cell and a zero are what the tool writes where the device has no such unit.
  void add(std::string_view column, std::string_view cell, std::uint64_t line, Imported& out) {
    const auto name = lower(column);
    if (name == "device" || name.ends_with("low") || name.ends_with("high")) return;
    const auto* it = std::find_if(kColumns.begin(), kColumns.end(), [&](const CsvColumn& c) { return c.name == name; });
    if (it == kColumns.end()) {
      unknown_.push_back(printable(column));
      return;
    }
    if (cell.empty() || lower(cell) == "na" || lower(cell) == "n/a") return;
    const double value = number(cell, column, path_, line);
    if (value == 0) return;
    const double rate = positive(value, column, path_, line) * 1e9;
    const bool integer = it->name.ends_with("ops") && !it->name.ends_with("flops");
    out.figures.push_back(it->operations ? operations_figure(std::string(it->key), rate, integer)
                                         : bandwidth_figure(std::string(it->key), rate));
  }

  const std::string& path_;
  const ImportOptions& options_;
  std::vector<CsvLine> lines_;
  std::vector<std::string> unknown_;
};

// ---------------------------------------------------------------- both

bool looks_like_json(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

bool looks_like_rocprof(std::string_view text) {
  const auto first = lower(text.substr(0, text.find('\n')));
  return first.find("device") != std::string::npos && first.find("hbmbw") != std::string::npos;
}

Imported read_any(std::string_view text, const std::string& path, const ImportOptions& options) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (trimmed(text).empty())
    fail(path, std::nullopt, "truncated", "an empty file", "roofline.json of ERT, or roofline.csv of rocprof-compute",
         "copy the file again");
  if (text.size() <= kMostBytes && looks_like_json(text)) return Ert(text, path, options).read();
  if (text.size() <= kMostBytes && looks_like_rocprof(text)) return Rocprof(text, path, options).read();
  fail(path, 1, "unknown-format", "'" + printable(text.substr(0, text.find('\n'))) + "'",
       "roofline.json of ERT, or roofline.csv of rocprof-compute (device, HBMBw, ...)",
       "check that this is the file you mean; a machine's TOML goes to roofline machine add");
}

// A figure far from the datasheet's is seldom a broken GPU: rather one die of two, or a partition.
void compare_with(const Machine& base, const MeasuredMachine& made, std::vector<std::string>& warnings) {
  const auto* rated = base.ceiling(CeilingKind::datasheet);
  const auto* seen = made.machine.ceiling(CeilingKind::measured);
  if (rated == nullptr || seen == nullptr) return;
  constexpr double kLeast = 0.6;
  constexpr double kMost = 1.05;
  std::vector<std::string> low;
  std::vector<std::string> high;
  const auto check = [&](const std::string& what, double ratio) {
    const auto text = fmt::format("{} {:.0f}%", what, 100 * ratio);
    if (ratio < kLeast) low.push_back(text);
    if (ratio > kMost) high.push_back(text);
  };
  for (const auto& b : seen->bandwidths)
    if (const auto sheet = rated->bandwidth(b.level, b.definition))
      check(std::string(to_string(b.level)), b.bytes_per_s / *sheet);
  for (const auto& p : seen->peaks)
    if (const auto sheet = rated->peak(p.precision)) check(to_string(p.precision), p.ops_per_s / sheet->high);
  const auto figures = fmt::format("the datasheet's figures of {}", base.id);
  if (!low.empty())
    warnings.push_back(
        fmt::format("far below {}: {}; a tool that takes one die or one partition for a device measures "
                    "a part of it",
                    figures, fmt::join(low, ", ")));
  if (!high.empty())
    warnings.push_back(fmt::format("above {}: {}; is it this machine, and are the units GB/s and GFLOP/s?", figures,
                                   fmt::join(high, ", ")));
}

void add_new_identity(const Imported& imported, MachineFacts& facts) {
  if (imported.cpu) facts.figures.push_back(text_figure("kind", "cpu"));
  facts.figures.push_back(text_figure("vendor", imported.vendor));
  facts.figures.push_back(text_figure("name", imported.name));
}

// The best of those with the same key: ERT may list a level twice.
void merge_equal(std::vector<Figure>& figures) {
  std::vector<Figure> out;
  for (auto& f : figures) {
    const auto it = std::find_if(out.begin(), out.end(), [&](const Figure& o) { return o.key == f.key; });
    if (it == out.end())
      out.push_back(std::move(f));
    else if (*f.value > *it->value)
      *it = std::move(f);
  }
  figures = std::move(out);
}

}  // namespace

namespace {

// Device 0 is all threads, 1 is one thread.
MeasuredMachine import_measurement(std::string_view text, const std::string& path, const ImportOptions& options) {
  if (options.base != nullptr)
    throw UsageError(fmt::format("{}: a measurement names its own machine; leave --machine out", path));
  if (options.device > 1)
    throw UsageError(
        fmt::format("{}: no device {}: 0 is what all threads reached, 1 what one did", path, options.device));
  if (text.size() > kMostBytes)
    fail(path, std::nullopt, "unknown-format", fmt::format("{} bytes", text.size()), "some kilobytes", "measure again");
  const auto m = read_measurement(text, path);
  auto out = measured_machine(m, options.device == 0, options.id);
  if (!m.complete) out.warnings.emplace_back("figures were missing when this was measured");
  return out;
}

}  // namespace

MeasuredMachine import_ceilings(std::string_view text, const std::string& path, const ImportOptions& options) {
  if (looks_like_measurement(text)) return import_measurement(text, path, options);
  auto imported = read_any(text, path, options);
  if (imported.figures.empty())
    fail(path, std::nullopt, "no-figures", "not one bandwidth or peak", "at least one", "measure again");
  merge_equal(imported.figures);
  MeasuredMachine out;
  out.warnings = std::move(imported.warnings);
  if (options.base != nullptr && options.facts != nullptr)
    out.facts.figures = options.facts->figures;
  else
    add_new_identity(imported, out.facts);
  auto& figures = out.facts.figures;
  std::erase_if(figures, [&](const Figure& f) {
    return f.key == "measured_with" || std::any_of(imported.figures.begin(), imported.figures.end(),
                                                   [&](const Figure& n) { return n.key == f.key; });
  });
  figures.push_back(text_figure("measured_with", imported.tool + ", imported"));
  for (auto& f : imported.figures) {
    f.sources = {imported.tool};
    figures.push_back(std::move(f));
  }
  out.machine = machine_of(options.id, out.facts);
  if (options.base != nullptr) compare_with(*options.base, out, out.warnings);
  return out;
}

}  // namespace roofline
