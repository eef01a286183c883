#include "measure/measurement_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/printable.h"
#include "roofline/error.h"

namespace roofline::measure {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSchema = "roofline/measurement/1";

class Reader {
 public:
  Reader(std::string_view text, const std::string& path) : path_(path), root_(parse(text)) {}

  CpuMeasurement read() const {
    try {
      if (root_.at("schema") != kSchema)
        fail("unknown-format", fmt::format("schema {}", shown(root_.at("schema"))), std::string(kSchema),
             "read it with the release of roofline that wrote it");
      return measurement();
    } catch (const Json::exception& error) {
      // "[json.exception.out_of_range.403] key 'cpu' not found": the number is of no use to anyone.
      const std::string_view what = error.what();
      fail("unknown-format", printable(what.substr(std::min(what.size(), what.find("] ") + 2)), kMostShown),
           fmt::format("the fields of {}", kSchema), "measure again, with --json");
    }
  }

 private:
  static constexpr std::size_t kMostShown = 80;

  static std::string shown(const Json& json) {
    return printable(json.dump(-1, ' ', false, Json::error_handler_t::replace), kMostShown);
  }

  [[noreturn]] void fail(std::string kind, std::string found, std::string expected, std::string action) const {
    throw InputError(InputProblem{std::move(kind), path_, std::nullopt, std::nullopt, std::move(found),
                                  std::move(expected), std::move(action)});
  }

  Json parse(std::string_view text) const {
    try {
      return Json::parse(text);
    } catch (const Json::parse_error& error) {
      const bool cut = error.byte >= text.size();
      fail(cut ? "truncated" : "bad-json",
           cut ? "the file ends within the JSON" : fmt::format("no JSON at byte {}", error.byte),
           "what roofline machine measure --json prints", "copy the file again, whole");
    } catch (const Json::exception&) {
      fail("bad-json", "a number that is too large", "figures that a machine can have", "measure again");
    }
  }

  double positive(const Json& object, const char* key) const {
    constexpr double kMost = 1e21;
    const auto value = object.at(key).get<double>();
    if (value > 0 && value <= kMost) return value;
    fail("not-positive", fmt::format("{} = {}", key, value), "a figure above zero that a machine can have",
         "measure again");
  }
  std::optional<double> optional(const Json& object, const char* key) const {
    return object.at(key).is_null() ? std::nullopt : std::optional(positive(object, key));
  }

  MeasuredValue value(const Json& json) const {
    MeasuredValue v;
    v.value = positive(json, "value");
    v.median = positive(json, "median");
    v.low = positive(json, "low");
    v.high = positive(json, "high");
    v.samples = json.at("samples").get<std::size_t>();
    v.width = json.at("best_third_width").get<double>();
    v.cut_short = json.at("cut_short").get<bool>();
    v.disturbed = json.at("interrupted_samples").get<std::size_t>();
    v.only_disturbed = json.at("only_interrupted").get<bool>();
    return v;
  }

  // None where the time was up before it was seen.
  MeasuredValue clock(const Json& json) const {
    return json.at("samples").get<std::size_t>() == 0 ? MeasuredValue{} : value(json);
  }

  std::string level_name(const Json& json) const {
    auto name = json.at("level").get<std::string>();
    const bool cache = name.size() == 2 && name[0] == 'l' && name[1] >= '1' && name[1] <= '9';
    if (!cache && name != "dram")
      fail("unknown-format", fmt::format("level {}", shown(json.at("level"))), "l1 to l9, or dram", "measure again");
    return name;
  }

  MeasuredBandwidth bandwidth(const Json& json) const {
    const auto pattern = parse_access_pattern(json.at("access").get<std::string>());
    if (!pattern)
      fail("unknown-format", fmt::format("access {}", shown(json.at("access"))), "read, write, copy, ...",
           "read it with the release of roofline that wrote it");
    return {level_name(json), *pattern, positive(json, "set_bytes_per_thread"), json.at("isa").get<std::string>(),
            value(json.at("bytes_per_s"))};
  }

  MeasuredPeak peak(const Json& json) const {
    const auto precision = parse_precision(json.at("precision").get<std::string>());
    if (!precision)
      fail("unknown-format", fmt::format("precision {}", shown(json.at("precision"))), "fp64.vector, ...",
           "read it with the release of roofline that wrote it");
    return {*precision, json.at("best_mix").get<bool>(), json.at("instructions").get<std::string>(),
            json.at("isa").get<std::string>(), value(json.at("ops_per_s"))};
  }

  ThreadedMeasurement threads(const Json& json) const {
    ThreadedMeasurement t;
    t.cpus = json.at("cpus").get<std::vector<int>>();
    if (t.cpus.empty()) fail("unknown-format", "no processors", "one at least", "measure again");
    t.clock = clock(json.at("clock_hz"));
    for (const auto& l : json.at("levels"))
      t.levels.push_back(
          {level_name(l), optional(l, "bytes"), optional(l, "reported_bytes"), positive(l, "latency_s")});
    for (const auto& b : json.at("bandwidths")) t.bandwidths.push_back(bandwidth(b));
    for (const auto& p : json.at("peaks")) t.peaks.push_back(peak(p));
    if (t.bandwidths.empty() && t.peaks.empty())
      fail("unknown-format", "no figure at all", "a bandwidth or a peak", "measure again");
    return t;
  }

  CpuMeasurement measurement() const {
    CpuMeasurement m;
    const auto& cpu = root_.at("cpu");
    m.cpu.name = cpu.at("name").get<std::string>();
    m.cpu.vendor = cpu.at("vendor").get<std::string>();
    m.cpu.detail = cpu.at("detail").get<std::string>();
    m.cpu.architecture = cpu.at("architecture").get<std::string>();
    m.cpu.cores = cpu.at("cores").get<std::size_t>();
    m.version = root_.at("tool").at("version").get<std::string>();
    m.date = root_.at("date").get<std::string>();
    m.quick = root_.at("quick").get<bool>();
    m.complete = root_.at("complete").get<bool>();
    m.huge_page_share = root_.at("huge_page_share").get<double>();
    m.other_cpu_share = root_.at("other_cpu_share").get<double>();
    m.steal_share = root_.at("steal_share").get<double>();
    m.missing = root_.at("missing").get<std::vector<std::string>>();
    m.notes = root_.at("notes").get<std::vector<std::string>>();
    m.one = threads(root_.at("one_thread"));
    m.all = threads(root_.at("all_threads"));
    return m;
  }

  const std::string& path_;
  Json root_;
};

}  // namespace

bool looks_like_measurement(std::string_view text) {
  // Other programs may have sorted the fields.
  return text.find("\"roofline/measurement/") != std::string_view::npos;
}

CpuMeasurement read_measurement(std::string_view text, const std::string& path) { return Reader(text, path).read(); }

}  // namespace roofline::measure
