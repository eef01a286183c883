// Writes small Nsight Compute reports for tests, fuzzers and benchmarks, so that none of them needs a real file.
//
// The block sequence is that of `ncu -o`: the session, one block per module, one block per result, names of metrics in
// the table of the block that needs them first. A complete report in five lines:
//
//   NcuRepWriter writer;
//   writer.session({.devices = {report_device({.name = "NVIDIA H100 PCIe"})}});
//   ReportResult kernel{.demangled = "saxpy(int, float)", .grid = {4096, 1, 1}, .block = {256, 1, 1}};
//   kernel.metrics = {{"gpu__time_duration.sum", 12345.0}, {"launch__grid_size", std::uint64_t{4096}}};
//   writer.result(kernel);                 // writer.bytes() is the file; writer.save(path) stores it
//   Profile profile = read_profile(writer.bytes(), "saxpy.ncu-rep");
//
// Cases that real files contain and readers get wrong are one setting away: names in a later block or in two pieces
// (Names), duplicates (a name twice in `metrics`), values that were not collected (a ReportValue without a value, NaN
// in a failed launch), instances, unknown fields, entries beyond the counts (extra_entry), several GPUs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "roofline/launch.h"

namespace roofline::testing {

// A metric's value; monostate writes none at all.
using ReportValue = std::variant<std::monostate, double, std::uint64_t, std::string>;

struct ReportMetric {
  std::string name;
  ReportValue value;
  std::vector<std::pair<ReportValue, ReportValue>> instances = {};  // correlation (address, opcode), value
};

struct ReportRule {
  std::string rule, title, section;
  std::vector<std::pair<std::string, std::uint64_t>> messages = {};  // text, type (2 warning, 4 optimization)
  std::uint64_t speedup_type = 0;                                    // 0 none, 1 local, 2 global
  double speedup_percent = 0;
};

// One line or point of a roofline chart. An amount is a sum of metrics per cycle times a clock metric, or, with an
// empty clock, one metric that is a rate already.
struct ReportChartAmount {
  std::vector<std::string> metrics;
  std::string clock;
};
struct ReportChartLine {
  std::string label;
  ReportChartAmount work, traffic;
};

struct ReportSection {
  std::string id, title;
  std::string chart;  // title of the roofline chart; empty: the section has none
  std::vector<ReportChartLine> roofs = {}, points = {};
  std::vector<std::pair<std::string, std::string>> derived = {};  // name, expression
  std::string description = {};                                   // any length: most of a real section is text
};

// One kernel launch (range, graph).
struct ReportResult {
  std::string mangled = {}, function = {}, demangled = {};
  Dim3 grid = {1, 1, 1}, block = {32, 1, 1};
  std::uint64_t thread = 1, context = 1, stream = 7;
  std::uint64_t source = 1;  // reference of its module
  std::optional<std::pair<std::uint64_t, std::uint64_t>> clock_lock = {{1, 1}};
  std::vector<ReportMetric> metrics = {};
  std::vector<ReportSection> sections = {};
  std::vector<ReportRule> rules = {};
  std::vector<std::string> nvtx = {};        // ranges open in the launching thread, outermost first
  std::vector<std::string> other_nvtx = {};  // ranges of another thread, which are not the launch's
  bool unknown_fields = false;               // adds fields no version has had yet
};

struct ReportDevice {
  std::uint64_t id = 0;
  std::string name;
  std::vector<ReportMetric> attributes;  // instances are not written
};

struct ReportSession {
  std::uint64_t creation_time = 1'700'000'000;
  std::vector<ReportDevice> devices = {};
  std::vector<std::pair<std::string, std::string>> versions = {
      {"Nsight Compute Target", "2025.1.0.0 (build 35237751) (public-release)"}};
  std::string command_line = {};
};

// The attributes of a GPU as they stand in every result and in the session.
struct ReportGpu {
  std::uint64_t id = 0;
  std::string name = "NVIDIA H100 PCIe";
  std::uint64_t cc_major = 9, cc_minor = 0;
  std::uint64_t sm_count = 114;
  std::uint64_t sm_khz = 1'755'000, memory_khz = 1'593'000;
  std::uint64_t bus_bits = 5120;
  std::uint64_t l2_bytes = 52'428'800;
};
std::vector<ReportMetric> gpu_metrics(const ReportGpu& gpu);
ReportDevice report_device(const ReportGpu& gpu);

// Where the names that a result uses first are written.
enum class Names : std::uint8_t {
  with_result,  // in the result's own block
  later,        // in a block behind it, as some real files have it
  two_pieces,   // half with the result, half behind it
  never,        // nowhere: a damaged file
};

class NcuRepWriter {
 public:
  explicit NcuRepWriter(std::uint64_t version = 7, std::uint64_t process = 4242);

  NcuRepWriter& process(std::uint64_t pid);  // of the blocks that follow
  NcuRepWriter& session(const ReportSession& session);
  NcuRepWriter& source(std::uint64_t reference, std::string_view cubin);
  NcuRepWriter& result(const ReportResult& result, Names names = Names::with_result);
  // A block with names that no result has used so far.
  NcuRepWriter& strings(const std::vector<std::string>& names);
  // A block whose payload holds an entry that its counts do not announce.
  NcuRepWriter& extra_entry(std::string_view entry);
  // A block with any counts and entries, right or wrong.
  NcuRepWriter& block(std::uint64_t sources, std::uint64_t results, const std::vector<std::string>& entries,
                      const std::vector<std::string>& names = {}, std::string_view session = {});

  // The bytes of one result, and the names it needs that the file does not have yet (now taken as written).
  std::string encode(const ReportResult& result, std::vector<std::string>& new_names);

  const std::string& bytes() const { return bytes_; }
  const std::vector<std::size_t>& block_starts() const { return block_starts_; }
  void save(const std::filesystem::path& path) const;

 private:
  std::uint64_t id_of(const std::string& name, std::vector<std::string>& new_names);

  std::string bytes_;
  std::vector<std::size_t> block_starts_;
  std::map<std::string, std::uint64_t> ids_;
  std::uint64_t process_;
};

}  // namespace roofline::testing
