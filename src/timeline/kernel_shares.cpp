#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "timeline/device_step.h"

namespace roofline {
namespace {

struct KeyHash {
  std::size_t operator()(const std::tuple<std::uint32_t, Dim3, Dim3>& key) const {
    const auto& [name, grid, block] = key;
    std::uint64_t h = name;
    for (const auto v : {grid.x, grid.y, grid.z, block.x, block.y, block.z})
      h = (h ^ v) * 0x9E3779B97F4A7C15ULL + (h >> 29);
    return static_cast<std::size_t>(h);
  }
};

struct Group {
  KernelShare share;
  std::vector<std::int64_t> durations;
  bool one_shape = true;
};

void add(Group& group, const GpuActivity& a, bool communication) {
  auto& s = group.share;
  if (s.launches == 0) {
    s.name = a.name;
    s.full_name = a.full_name;
    s.grid = a.grid;
    s.block = a.block;
    s.communication = communication;
  }
  group.one_shape = group.one_shape && s.grid == a.grid && s.block == a.block;
  ++s.launches;
  s.total_ns += a.span.length();
  group.durations.push_back(a.span.length());
}

KernelShare finish(Group& group, std::int64_t all_ns, std::int64_t wall_ns, double deserves) {
  auto s = group.share;
  if (!group.one_shape) s.grid = s.block = Dim3{};
  const auto middle = group.durations.begin() + static_cast<std::ptrdiff_t>(group.durations.size() / 2);
  std::nth_element(group.durations.begin(), middle, group.durations.end());
  s.median_ns = *middle;
  const auto [least, most] = std::minmax_element(group.durations.begin(), group.durations.end());
  s.min_ns = *least;
  s.max_ns = *most;
  const auto total = static_cast<double>(s.total_ns);
  if (all_ns > 0) s.share_of_kernels = total / static_cast<double>(all_ns);
  if (wall_ns > 0) s.share_of_wall = total / static_cast<double>(wall_ns);
  s.deserves_roofline = !s.communication && s.share_of_wall >= deserves;
  return s;
}

}  // namespace

std::vector<std::uint32_t> DeviceView::counted() const {
  std::vector<std::uint32_t> out;
  std::size_t window = 0;
  for (const auto index : activities) {
    const auto start = at(index).span.start_ns;
    while (window < windows.size() && windows[window].end_ns <= start) ++window;
    if (window < windows.size() && windows[window].start_ns <= start) out.push_back(index);
  }
  return out;
}

std::vector<KernelShare> kernel_shares(const DeviceView& view, const StepAnalysisOptions& options,
                                       std::int64_t wall_ns) {
  std::unordered_map<std::tuple<std::uint32_t, Dim3, Dim3>, Group, KeyHash> groups;
  std::int64_t all_ns = 0;
  for (const auto index : view.counted()) {
    const auto& a = view.at(index);
    if (a.work != GpuWork::kernel) continue;
    const auto name = a.full_name != kNone ? a.full_name : a.name;
    const auto key = options.by_shape ? std::tuple(name, a.grid, a.block) : std::tuple(name, Dim3{}, Dim3{});
    add(groups[key], a, view.facts.communication(a));
    all_ns += a.span.length();
  }
  std::vector<KernelShare> out;
  out.reserve(groups.size());
  for (auto& [key, group] : groups) out.push_back(finish(group, all_ns, wall_ns, options.deserves));
  std::sort(out.begin(), out.end(), [](const KernelShare& a, const KernelShare& b) {
    return std::tuple(-a.total_ns, a.full_name, a.name, a.grid, a.block) <
           std::tuple(-b.total_ns, b.full_name, b.name, b.grid, b.block);
  });
  return out;
}

std::vector<CopyTotals> copy_totals(const DeviceView& view) {
  std::map<std::pair<GpuWork, CopyKind>, CopyTotals> totals;
  for (const auto index : view.counted()) {
    const auto& a = view.at(index);
    if (a.work != GpuWork::copy && a.work != GpuWork::fill) continue;
    auto& t = totals[{a.work, a.copy}];
    t.work = a.work;
    t.kind = a.copy;
    ++t.count;
    t.total_ns += a.span.length();
    t.bytes += a.bytes;
  }
  std::vector<CopyTotals> out;
  for (const auto& [key, t] : totals) out.push_back(t);
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  return out;
}

ShapeCoverage shape_coverage(const DeviceView& view, const OperatorJoin* operators) {
  ShapeCoverage out;
  for (const auto index : view.counted()) {
    const auto& a = view.at(index);
    if (a.work != GpuWork::kernel || view.facts.communication(a)) continue;
    out.kernel_ns += a.span.length();
    if (a.grid.count() > 0) out.launch_ns += a.span.length();
    if (operators == nullptr) continue;
    const auto call = operators->call_of[index];
    const bool shaped = call != kNone && view.facts.timeline.operators[call].shapes != kNone;
    if (shaped || operators->modelled_of[index] != kNone) out.operator_ns += a.span.length();
  }
  return out;
}

Savings possible_savings(const DeviceView& view, const StepAccount& account, const StepAnalysisOptions& options) {
  Savings out;
  out.launch_gaps_ns = account.launch_gap_ns();
  // A late launch is one gap of up to three pieces, of which the last is the wait for the GPU to start.
  for (const auto part : {StepPart::launch_late, StepPart::launch_call, StepPart::launch_latency})
    out.launch_gaps = std::max(out.launch_gaps, account.evidence[static_cast<std::size_t>(part)].pieces);
  const auto floor_ns = static_cast<std::int64_t>(options.launch_floor_s * 1e9);
  const auto short_ns = static_cast<std::int64_t>(options.short_kernel * options.launch_floor_s * 1e9);
  for (const auto index : view.counted()) {
    const auto& a = view.at(index);
    if (a.work != GpuWork::kernel || a.span.length() >= short_ns) continue;
    ++out.short_kernels;
    out.short_ns += std::min(a.span.length(), floor_ns);
  }
  out.short_ns = std::min(out.short_ns, account.compute_ns);  // kernels that overlap cannot save more than they fill
  return out;
}

}  // namespace roofline
