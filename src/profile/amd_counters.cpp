// Counter tables of ROCm's profilers. Wide: one row per dispatch, one column per counter or per channel of one
// (rocprof-compute's pmc_perf.csv, rocprof). Long: one row per dispatch and counter (rocprofv3).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "profile/amd_sysinfo.h"
#include "profile/amd_table.h"
#include "profile/metric_names.h"
#include "profile/reader.h"
#include "roofline/metrics.h"
#include "roofline/names.h"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 11> kCounterPrefixes = {"SQ_",   "SQC_", "TCC_", "TCP_", "TA_",  "TD_",
                                                               "GRBM_", "SPI_", "CPC_", "CPF_", "GL2C_"};
constexpr const char* kDuration = "rocprof__duration";

// Also sums that the profiler derives, under names of their own (FETCH_SIZE).
bool is_counter(std::string_view name) {
  if (MetricCatalogue::instance().find(name)) return true;
  return std::any_of(kCounterPrefixes.begin(), kCounterPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_long(std::string_view head) { return header_names(head, {"Counter_Name", "Counter_Value", "Kernel_Name"}); }

// "TCC_EA_RDREQ[31]" -> "TCC_EA_RDREQ_sum"; empty for a name without a channel.
std::string sum_of_channels(std::string_view name) {
  const auto open = name.find('[');
  if (open == std::string_view::npos || !name.ends_with(']')) return {};
  return std::string(name.substr(0, open)) + "_sum";
}

std::uint64_t whole_blocks(std::uint64_t items, std::uint64_t block) {
  return block == 0 ? 0 : items / block + (items % block != 0 ? 1 : 0);
}

// What both layouts say of a dispatch.
class DispatchColumns {
 public:
  explicit DispatchColumns(const AmdTable& table)
      : name_(table.column({"Kernel_Name", "KernelName"})),
        device_(table.column({"GPU_ID", "Agent_Id", "gpu-id"})),
        queue_(table.column({"Queue_Id", "queue-id"})),
        process_(table.column({"Process_Id", "pid"})),
        grid_(table.column({"Grid_Size", "grd"})),
        block_(table.column({"Workgroup_Size", "wgr"})),
        start_(table.column({"Start_Timestamp", "BeginNs"})),
        end_(table.column({"End_Timestamp", "EndNs"})) {}

  bool timed() const { return start_ && end_; }

  // ns; nullopt where the table has none that can be used.
  std::optional<double> duration(const AmdTable& table) const {
    const auto from = table.number(start_);
    const auto to = table.number(end_);
    if (!from || !to || *to <= *from) return std::nullopt;
    // Whole numbers keep all their digits; a spreadsheet writes 8.1097E+14, whose differences mean nothing.
    const auto is_whole = [&](std::optional<std::size_t> column) {
      return table.cell(column).find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (!is_whole(start_) || !is_whole(end_)) return std::nullopt;
    return static_cast<double>(*table.whole(end_) - *table.whole(start_));
  }

  std::uint64_t device(const AmdTable& table) const { return table.digits(device_); }
  std::uint64_t process(const AmdTable& table) const { return table.whole(process_).value_or(0); }

  void read(const AmdTable& table, StringPool& pool, Launch& launch) const {
    const auto name = amd_kernel_name(table.cell(name_));
    launch.name = pool.intern(name);
    launch.function = pool.intern(short_kernel_name(name));
    launch.stream = table.whole(queue_).value_or(0);
    launch.process = process(table);
    const auto block = table.whole(block_).value_or(0);
    const auto grid = whole_blocks(table.whole(grid_).value_or(0), block);
    // Only the products are in these tables.
    if (block > 0 && grid > 0) {
      launch.block = {block, 1, 1};
      launch.grid = {grid, 1, 1};
    }
    launch.time_basis = TimeBasis::profiled;
    launch.offset = table.offset();
    launch.size = table.size();
  }

 private:
  std::optional<std::size_t> name_, device_, queue_, process_, grid_, block_, start_, end_;
};

class CounterReader {
 public:
  CounterReader(const Input& input, const ReadOptions& options)
      : input_(input), options_(options), table_(input), names_(options), dispatch_(table_) {
    profile_.strings = std::make_shared<StringPool>();
    duration_ = MetricCatalogue::instance().require(kDuration);
  }

  Profile read() {
    const bool is_wide = !is_long(input_.text());
    profile_.format = is_wide ? "rocprof-wide" : "rocprof-long";
    try {
      is_wide ? read_wide() : read_long();
    } catch (const InputError& fault) {
      if (!options_.partial || profile_.launches.empty()) throw;
      keep_partial(profile_, fault);
    }
    finish();
    return std::move(profile_);
  }

 private:
  // One metric and the columns that make it.
  struct Source {
    MetricId id;
    std::vector<std::size_t> columns;
  };

  // A total that the profiler wrote is preferred to the sum of its channels, which come from another pass.
  void find_sources() {
    std::map<MetricId, std::size_t> index;
    const auto add = [&](std::string_view name, std::size_t column, bool channel) {
      const auto id = names_.id(name);
      if (!id) return;
      const auto [it, fresh] = index.try_emplace(*id, sources_.size());
      if (fresh) sources_.push_back({*id, {}});
      // Counters that several passes have appear once per pass under one name; the first is taken.
      if (fresh || channel) sources_[it->second].columns.push_back(column);
    };
    const auto& header = table_.header();
    std::set<std::string_view> totals;
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (!is_counter(header[i]) || !sum_of_channels(header[i]).empty()) continue;
      totals.insert(header[i]);
      add(header[i], i, false);
    }
    for (std::size_t i = 0; i < header.size(); ++i)
      if (const auto total = sum_of_channels(header[i]); !total.empty() && !totals.contains(total)) add(total, i, true);
  }

  void read_wide() {
    find_sources();
    while (table_.next()) {
      Launch& launch = new_launch();
      for (const auto& source : sources_) {
        double sum = 0;
        bool any = false;
        for (const auto column : source.columns)
          if (const auto value = table_.number(column)) {
            check(*value, column);
            sum += *value;
            any = true;
          }
        if (any) launch.metrics.set(source.id, sum);
      }
    }
  }

  void check(double value, std::size_t column) const {
    if (value < 0) table_.refuse_cell(column, "a count of 0 or more");
  }

  Launch& new_launch() {
    auto& launch = profile_.launches.emplace_back();
    dispatch_.read(table_, *profile_.strings, launch);
    launch.ordinal = profile_.launches.size() - 1;
    launch.device = device_place(dispatch_.device(table_));
    if (const auto duration = dispatch_.duration(table_))
      launch.metrics.set(duration_, *duration);
    else
      ++untimed_;
    return launch;
  }

  void read_long() {
    const auto dispatch = table_.column({"Dispatch_Id"});
    const auto counter = table_.column({"Counter_Name"});
    const auto value = table_.column({"Counter_Value"});
    if (!dispatch) refuse(input_, "missing-column", "no Dispatch_Id", "a table of rocprofv3");
    using Key = std::pair<std::uint64_t, std::uint64_t>;  // process, dispatch
    std::map<Key, std::size_t> launches;
    std::map<std::pair<std::size_t, MetricId>, double> sums;
    while (table_.next()) {
      const Key key{dispatch_.process(table_), table_.whole(dispatch).value_or(0)};
      const auto [it, fresh] = launches.try_emplace(key, profile_.launches.size());
      if (fresh) new_launch();
      const auto id = names_.id(table_.cell(counter));
      const auto amount = table_.number(value);
      if (!id || !amount) continue;
      check(*amount, *value);
      // Older releases write one row per instance of a counter.
      sums[{it->second, *id}] += *amount;
    }
    for (const auto& [key, sum] : sums) profile_.launches[key.first].metrics.set(key.second, sum);
  }

  std::uint32_t device_place(std::uint64_t id) {
    const auto [it, fresh] = places_.try_emplace(id, static_cast<std::uint32_t>(profile_.devices.size()));
    if (fresh) {
      profile_.devices.emplace_back();
      profile_.devices.back().id = static_cast<std::uint32_t>(id);
    }
    return it->second;
  }

  void finish() {
    if (profile_.launches.empty()) refuse(input_, "no-rows", "a counter table without a dispatch", "rows");
    for (auto& launch : profile_.launches) launch.metrics.finish();
    profile_.extra_metrics = names_.extra();
    profile_.producer = "rocprof";
    if (untimed_ > 0) warn_untimed();
    describe_devices();
  }

  void warn_untimed() {
    profile_.warnings.push_back(
        {"no-times",
         dispatch_.timed()
             ? fmt::format("{} of {} dispatches have no usable time: their timestamps are missing, or lost digits in a "
                           "spreadsheet",
                           untimed_, profile_.launches.size())
             : std::string("the table has no timestamps, hence no times: rocprofv3 --kernel-trace writes them"),
         std::nullopt});
  }

  // All devices of a workload are of one kind.
  void describe_devices() {
    const auto path = amd_neighbour(input_.path, "sysinfo.csv");
    if (path.empty()) return;
    const auto system = read_amd_sysinfo(path);
    if (!system) return;
    profile_.format = "rocprof-compute";
    profile_.producer = system->producer.empty() ? "rocprof-compute" : system->producer;
    for (auto& device : profile_.devices) {
      const auto id = device.id;
      device = system->device;
      device.id = id;
    }
    if (!system->warning.empty()) profile_.warnings.push_back({"part-of-a-gpu", system->warning, std::nullopt});
  }

  Input input_;
  const ReadOptions& options_;
  AmdTable table_;
  MetricNames names_;
  DispatchColumns dispatch_;
  Profile profile_;
  MetricId duration_ = 0;
  std::vector<Source> sources_;
  std::map<std::uint64_t, std::uint32_t> places_;
  std::uint64_t untimed_ = 0;
};

}  // namespace

bool looks_like_amd_counters(std::string_view head) {
  if (is_long(head)) return true;
  if (!header_names(head, {"Kernel_Name"}) && !header_names(head, {"KernelName"})) return false;
  const auto line = head.substr(0, head.find('\n'));
  return std::any_of(kCounterPrefixes.begin(), kCounterPrefixes.end(), [&](std::string_view prefix) {
    return line.find("," + std::string(prefix)) != std::string_view::npos ||
           line.find(",\"" + std::string(prefix)) != std::string_view::npos;
  });
}

Profile read_amd_counters(const Input& input, const ReadOptions& options) {
  return CounterReader(input, options).read();
}

}  // namespace roofline
