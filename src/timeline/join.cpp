#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "roofline/names.h"
#include "roofline/timeline_join.h"
#include "timeline/device_step.h"
#include "timeline/words.h"

namespace roofline {
namespace {

constexpr double kNoted = 0.10;  // relative difference of times

// Tools differ in blanks and in a leading return type.
std::string plain(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string out;
  for (const char c : name)
    if (c != ' ') out += c;
  return out;
}

using Shape = std::pair<Dim3, Dim3>;

// The report's rows by name and shape.
class Rows {
 public:
  explicit Rows(const Report& report) {
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
      const auto& row = report.rows[i];
      add(plain(row.full_name.empty() ? row.name : row.full_name), row, i);
      add(short_kernel_name(row.full_name.empty() ? row.name : row.full_name), row, i);
    }
  }

  std::optional<std::size_t> find(const std::string& name, const KernelShare& kernel) const {
    const auto it = by_name_.find(name);
    if (it == by_name_.end()) return std::nullopt;
    const auto& shapes = it->second;
    if (kernel.grid.count() == 0) return shapes.size() == 1 ? std::optional(shapes.begin()->second) : std::nullopt;
    const auto shape = shapes.find({kernel.grid, kernel.block});
    return shape == shapes.end() ? std::nullopt : std::optional(shape->second);
  }

 private:
  void add(const std::string& name, const KernelRow& row, std::size_t i) {
    by_name_[name].emplace(Shape{row.grid, row.block}, i);
  }
  std::map<std::string, std::map<Shape, std::size_t>> by_name_;
};

// Sums over launches by their count.
std::optional<double> per_launch(const std::optional<double>& sum, const KernelRow& row) {
  const auto launches = row.group.work.launches;
  return sum && launches > 0 ? std::optional(*sum / launches) : std::nullopt;
}

std::string why_different(const KernelRow& row, double profiled, double step, bool overlaps) {
  if (std::abs(profiled - step) <= kNoted * step) return {};
  if (profiled > step && row.time_basis == TimeBasis::profiled_locked)
    return "ncu locked the clocks at their base and flushed the caches before each pass; in the step the clocks boost "
           "and "
           "the caches are warm (compare with --clock-control none --cache-control none)";
  if (profiled > step)
    return "ncu flushes the caches before each pass and may replay with other clocks (compare with --cache-control "
           "none)";
  if (overlaps) return "in the step kernels share the GPU: each takes longer than alone";
  return "in the step the clocks were lower, or other work shared memory and caches";
}

class Joiner {
 public:
  Joiner(const Timeline& timeline, const DeviceStep& step, const Report& report)
      : timeline_(timeline), step_(step), report_(report), rows_(report) {}

  TimelineJoin join() {
    const auto windows = static_cast<double>(std::max<std::size_t>(1, step_.windows));
    out_.wall_s = static_cast<double>(step_.counted.wall_ns) * 1e-9 / windows;
    std::int64_t all = 0, matched = 0;
    std::set<std::size_t> used;
    for (std::size_t i = 0; i < step_.kernels.size(); ++i) {
      const auto& kernel = step_.kernels[i];
      if (kernel.communication) continue;
      all += kernel.total_ns;
      const auto row = find(kernel);
      if (!row) {
        out_.unmatched.push_back(i);
        continue;
      }
      matched += kernel.total_ns;
      used.insert(*row);
      add(i, *row);
    }
    for (std::size_t r = 0; r < report_.rows.size(); ++r)
      if (used.count(r) == 0) out_.unused.push_back(r);
    if (all > 0) out_.matched_share = static_cast<double>(matched) / static_cast<double>(all);
    add_fraction();
    return std::move(out_);
  }

 private:
  std::optional<std::size_t> find(const KernelShare& kernel) const {
    const auto name = kernel.full_name != kNone ? kernel.full_name : kernel.name;
    if (name == kNone) return std::nullopt;
    const auto& full = timeline_.names[name];
    if (const auto row = rows_.find(plain(full), kernel)) return row;
    return rows_.find(short_kernel_name(full), kernel);
  }

  void add(std::size_t index, std::size_t row_index) {
    const auto& kernel = step_.kernels[index];
    const auto& row = report_.rows[row_index];
    JoinedKernel j;
    j.kernel = index;
    j.row = row_index;
    j.by = kernel.grid.count() > 0 ? "name, grid and block" : "name";
    j.launches = static_cast<double>(kernel.launches) / static_cast<double>(std::max<std::size_t>(1, step_.windows));
    j.share_of_wall = kernel.share_of_wall;
    j.step_time_s = static_cast<double>(kernel.median_ns) * 1e-9;
    if (row.group.work.time) j.profiled_time_s = row.group.time_s.median;
    j.fraction = row.group.placement.fraction;
    j.roof_s = per_launch(row.group.placement.roof_time_s, row);
    j.datasheet_roof_s = row.datasheet ? per_launch(row.datasheet->roof_time_s, row) : j.roof_s;
    if (j.datasheet_roof_s && j.step_time_s > 0) j.step_fraction = *j.datasheet_roof_s / j.step_time_s;
    if (j.profiled_time_s) {
      const bool overlaps = step_.counted.concurrent_ns * 100 > step_.counted.wall_ns;
      j.difference = why_different(row, *j.profiled_time_s, j.step_time_s, overlaps);
    }
    out_.kernels.push_back(std::move(j));
  }

  void add_fraction() {
    double roof = 0;
    bool any = false;
    for (const auto& j : out_.kernels) {
      if (!j.fraction || !j.datasheet_roof_s) continue;
      roof += *j.datasheet_roof_s * j.launches;
      any = true;
    }
    if (any && out_.wall_s > 0) out_.step_fraction = roof / out_.wall_s;
  }

  const Timeline& timeline_;
  const DeviceStep& step_;
  const Report& report_;
  Rows rows_;
  TimelineJoin out_;
};

Cell optional_time(const std::optional<double>& s) { return s ? Cell{si(*s, "s"), *s} : Cell{}; }
Cell optional_percent(const std::optional<double>& f) { return f ? Cell{percent_text(*f), *f} : Cell{}; }

Table joined_table(const Timeline& timeline, const DeviceStep& step, const TimelineJoin& join) {
  Table table;
  table.title = "Kernels of the step, with their counters";
  table.columns = {{.title = "kernel", .key = "kernel", .align = Align::left, .shrink = true, .least = 16},
                   {.title = "per step", .key = "launches_per_step", .drop_order = 3},
                   {.title = "of wall", .key = "share_of_wall"},
                   {.title = "in the step", .key = "step_time_s"},
                   {.title = "profiled", .key = "profiled_time_s"},
                   {.title = "ratio", .key = "profiled_by_step", .drop_order = 2},
                   {.title = "roof", .key = "datasheet_roof_s", .drop_order = 1},
                   {.title = "of roof, profiled", .key = "fraction"},
                   {.title = "of datasheet roof, step", .key = "step_fraction"},
                   {.title = "matched by", .key = "matched_by", .align = Align::left, .data_only = true},
                   {.title = "why the times differ", .key = "difference", .align = Align::left, .data_only = true}};
  for (const auto& j : join.kernels) {
    const auto& k = step.kernels[j.kernel];
    const std::optional<double> ratio =
        j.profiled_time_s && j.step_time_s > 0 ? std::optional(*j.profiled_time_s / j.step_time_s) : std::nullopt;
    table.rows.push_back(
        {{kernel_label(timeline, k.name, k.full_name)},
         {fmt::format("{:.4g}", j.launches), j.launches},
         {percent_text(j.share_of_wall), j.share_of_wall},
         {si(j.step_time_s, "s"), j.step_time_s},
         optional_time(j.profiled_time_s),
         ratio ? Cell{fmt::format("{:.2f}", *ratio), *ratio, j.difference.empty() ? Tone::normal : Tone::warn} : Cell{},
         optional_time(j.datasheet_roof_s),
         optional_percent(j.fraction),
         optional_percent(j.step_fraction),
         {j.by},
         {j.difference}});
  }
  return table;
}

}  // namespace

TimelineJoin join_report(const Timeline& timeline, const DeviceStep& step, const Report& report) {
  return Joiner(timeline, step, report).join();
}

void add_wall_time(Report& report, const TimelineJoin& join) {
  report.wall_s = join.wall_s;
  report.step_fraction = join.step_fraction;
}

Document join_document(const Timeline& timeline, const DeviceStep& step, const Report& report,
                       const TimelineJoin& join) {
  Document out;
  std::string inputs;
  for (const auto& input : report.inputs) inputs += (inputs.empty() ? "" : ", ") + input.path;
  out.title = fmt::format("{} with the counters of {}", device_title(timeline, step.device), inputs);
  out.blocks.emplace_back(Heading{out.title});
  if (join.kernels.empty()) {
    out.blocks.emplace_back(
        Paragraph{"No kernel of the step is in the report: names, grids and blocks of the two do not meet. "
                  "Are they of the same program and input?",
                  Tone::warn});
    return out;
  }
  std::string text = fmt::format("{} of the step's kernel time is measured", percent_text(join.matched_share));
  if (join.step_fraction)
    text += fmt::format(
        "; at their datasheet roofs these kernels would take {}{} of the step's {} wall time (step fraction)",
        join.matched_share < 1 ? "≥ " : "", percent_text(*join.step_fraction), si(join.wall_s, "s"));
  out.blocks.emplace_back(Paragraph{text + ".", Tone::strong});
  out.blocks.emplace_back(joined_table(timeline, step, join));
  Bullets notes;
  std::map<std::string, std::size_t> reasons;
  for (const auto& j : join.kernels)
    if (!j.difference.empty()) ++reasons[j.difference];
  for (const auto& [reason, count] : reasons)
    notes.items.push_back({fmt::format("{} kernel{} differ{} by more than 10 %: {}.", count, count == 1 ? "" : "s",
                                       count == 1 ? "s" : "", reason),
                           Tone::warn});
  if (!join.unmatched.empty()) {
    const auto& k = step.kernels[join.unmatched.front()];
    notes.items.push_back({fmt::format("{} of GPU time has no counters ({} kernels, {} the longest).",
                                       percent_text(1 - join.matched_share), join.unmatched.size(),
                                       kernel_label(timeline, k.name, k.full_name)),
                           Tone::normal});
  }
  if (!join.unused.empty())
    notes.items.push_back(
        {fmt::format("{} rows of the report are of no kernel in the step.", join.unused.size()), Tone::normal});
  if (!notes.items.empty()) out.blocks.emplace_back(std::move(notes));
  return out;
}

}  // namespace roofline
