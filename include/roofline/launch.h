// What a reader hands on: launches with the metrics that someone declared.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "roofline/metric_id.h"
#include "roofline/work.h"

namespace roofline {

struct Dim3 {
  std::uint64_t x = 0, y = 0, z = 0;
  auto operator<=>(const Dim3&) const = default;
  std::uint64_t count() const { return x * y * z; }
};

// Numbers and texts of one launch, by metric id, sorted. A value that the profiler did not deliver is not in the set.
// Most values of a report repeat from launch to launch (device attributes), and all launches have the same metrics:
// pack() stores both once.
class MetricSet {
 public:
  using Values = std::vector<std::pair<MetricId, double>>;
  using Texts = std::vector<std::pair<MetricId, std::string>>;

  void set(MetricId id, double value);  // last one wins
  void set_text(MetricId id, std::string_view text);
  // Takes over the texts of `other` instead of own ones, without a copy: those of a chip's launches are long and equal.
  void share_texts(const MetricSet& other) { texts_ = other.texts_; }
  void reserve(std::size_t n) { values_.reserve(n); }
  void finish();  // sort, keep the last of duplicates; call once after the last set()
  // After finish(): shares with `like`, the set before it, the list of ids and the values that are equal in both.
  void pack(const MetricSet& like);

  std::optional<double> get(MetricId id) const;  // never NaN
  std::optional<std::string_view> text(MetricId id) const;
  std::size_t size() const { return values_.size() + packed_.size() + (constants_ ? constants_->size() : 0); }
  std::size_t duplicates() const { return duplicates_; }
  Values values() const;  // sorted by id
  const Texts& texts() const;

  // Calls `visit(id, value)` for each number, in no particular order; allocates nothing.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [id, value] : values_) visit(id, value);
    if (constants_)
      for (const auto& [id, value] : *constants_) visit(id, value);
    for (std::size_t i = 0; i < packed_.size(); ++i) visit((*ids_)[i], packed_[i]);
  }

 private:
  void unpack();
  Texts& own_texts();

  Values values_;                                     // before pack(): everything
  std::shared_ptr<const Values> constants_;           // after pack(): values that launches have in common
  std::shared_ptr<const std::vector<MetricId>> ids_;  // of packed_
  std::vector<double> packed_;
  std::shared_ptr<Texts> texts_;  // null: none; not changed while shared
  std::uint32_t duplicates_ = 0;
};

// Owns strings that many launches share; views stay valid as long as the pool.
class StringPool {
 public:
  std::string_view intern(std::string_view text);

 private:
  std::deque<std::string> storage_;
  std::unordered_map<std::string_view, std::string_view> index_;
};

struct DeviceInfo {
  std::uint32_t id = 0;
  std::string name;                // "NVIDIA H100 PCIe"; empty when the file does not say
  std::string compute_capability;  // "9.0"; empty when unknown
  std::optional<int> sm_count;
  std::optional<double> max_sm_clock_hz;
  std::optional<double> max_memory_clock_hz;
  std::optional<int> memory_bus_bits;
  std::optional<double> l2_bytes;
};

// What a person's table says beside the numbers that make the work; compared with what follows from them.
struct Claims {
  std::optional<double> intensity;    // FLOP/byte
  std::optional<double> flops_per_s;  // achieved, when time is given too
  std::optional<double> bytes_per_s;  // achieved, when time is given too
  std::optional<double> fraction;     // of the roof, 0..1
  std::string fraction_text;          // as typed: "97% of memory roof"
  std::uint64_t line = 0;             // in the input
};

enum class TimeBasis : std::uint8_t { unknown, profiled_locked, profiled, timeline, given, model };
std::string_view to_string(TimeBasis basis);

// One kernel launch (or, in pre-aggregated inputs, `count` launches of one kernel with mean values).
// The string views live in the profile's pool.
struct Launch {
  std::string_view name;      // demangled, with arguments
  std::string_view function;  // base name; may be empty
  std::string_view mangled;   // may be empty
  std::string_view op;        // the operator (qkv_proj, ...) where the input says so
  Dim3 grid, block;
  std::uint32_t device = 0;  // index into Profile::devices
  std::uint64_t process = 0;
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t ordinal = 0;  // order in the file, from 0
  std::uint32_t run = 0;      // which run of the program, from 0, where one file holds several
  std::uint64_t count = 1;
  bool derived = false;                // its metrics are medians over `count` launches, not what one launch counted
  std::vector<std::string_view> nvtx;  // open ranges, outermost first
  bool failed = false;                 // the launch or its replay failed; values are not to be used
  TimeBasis time_basis = TimeBasis::unknown;
  MetricSet metrics;
  std::shared_ptr<const Work> given;  // typed tables and models: the work itself instead of metrics
  std::shared_ptr<const Claims> claims;
  std::uint64_t offset = 0, size = 0;  // of the launch's record in the (decompressed) file
};

struct ReadWarning {
  std::string code;  // stable slug
  std::string message;
  std::optional<std::uint64_t> launch;  // ordinal
};

class FileView;  // mapped or decompressed bytes

// One input file, read.
struct Profile {
  std::string path;      // as given; a merged profile has the paths of its inputs, joined with " + "
  std::string format;    // "ncu-rep", "ncu-csv", "nvprof-csv", "table"
  std::string producer;  // "Nsight Compute 2025.1.0.0"; empty when unknown
  std::vector<DeviceInfo> devices;
  std::vector<Launch> launches;
  std::vector<ReadWarning> warnings;
  std::string command_line;  // the profiler's, where recorded
  bool partial = false;      // stopped at a fault, see warnings
  std::shared_ptr<StringPool> strings;
  std::shared_ptr<const FileView> bytes;  // kept for on-demand reads (rules, sections); may be null
  std::shared_ptr<const std::vector<std::string>> extra_metrics;  // names of ids >= MetricCatalogue::size()
  // The machine a table or a model names; empty otherwise.
  std::string machine;
  // The inputs of a merged profile, in their order; empty in a profile of one file. One path where a file's own runs
  // were joined.
  std::vector<std::string> merged_paths;

  bool merged() const { return !merged_paths.empty(); }

  std::string_view metric_name(MetricId id) const;
};

}  // namespace roofline
