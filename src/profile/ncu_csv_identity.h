// What identifies a launch in a table of Nsight Compute: the cells that are no metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/csv_lines.h"
#include "profile/ncu_csv_header.h"
#include "roofline/launch.h"

namespace roofline {

// The identity cells of one row; those without a column stay empty.
struct NcuIdentity {
  CsvCell id, process, kernel, context, stream, block, grid, device, cc, invocations;
  std::string_view device_name;  // raw layout only

  bool same_cells(const NcuIdentity& other) const;
  std::string key() const;  // all of them, joined
};

// A row's cell by header column, empty where it has none.
CsvCell cell_at(const std::vector<CsvCell>& cells, std::size_t column);
NcuIdentity identity_of(const std::vector<CsvCell>& cells, const NcuHeader& header);

// The member of NcuIdentity that a column fills; nullptr for other columns.
CsvCell NcuIdentity::*identity_member(const NcuHeader& header, std::size_t column);

// "(128, 1, 1)", "128,1,1", "[128]": missing numbers are 1; all zero when there is none.
Dim3 parse_dim3(std::string_view text);
// The digits of a whole number, whatever groups them: 1740670 for "1,740,670". nullopt when anything else is in it.
std::optional<std::uint64_t> parse_whole(std::string_view text);

// Finds or adds the device of a row; returns its index. Devices differ by number, compute capability and name.
class NcuDevices {
 public:
  explicit NcuDevices(std::vector<DeviceInfo>& devices) : devices_(devices) {}
  std::uint32_t index_of(const NcuIdentity& identity);
  void start_part() { last_ = kNone; }

 private:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);
  std::vector<DeviceInfo>& devices_;
  std::uint32_t last_ = kNone;
  std::string last_device_, last_cc_, last_name_;
};

// Tells the runs that were joined in one file apart: in each of them the numbers of the launches start again.
class NcuRuns {
 public:
  // The run, from 0, of a launch that is new in the file. All launches without a number are of one run.
  std::uint32_t of_launch(std::optional<std::uint64_t> number, std::uint64_t process, std::uint32_t device);
  // The run in which the process is now.
  std::uint32_t of_process(std::uint64_t process) const;
  void start_table() { new_table_ = true; }
  std::size_t count() const { return runs_.size(); }

 private:
  struct Run {
    std::set<std::pair<std::uint32_t, std::uint64_t>> numbers;  // with their device
    std::uint64_t last = 0;
  };
  std::vector<Run> runs_;
  std::unordered_map<std::uint64_t, std::uint32_t> run_of_;  // by process: outputs of several may be interleaved
  std::uint32_t latest_ = 0;
  bool new_table_ = false;
};

// The name of the one GPU that a program's output mentions ("device: NVIDIA GeForce RTX 5070 (sm_120)"); empty when
// it mentions none or several.
std::string gpu_named_in(std::string_view output);

}  // namespace roofline
