#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "chart/roofs.h"
#include "report/bounds.h"
#include "report/labels.h"
#include "report/numbers.h"
#include "roofline/chart.h"
#include "roofline/error.h"

namespace roofline {
namespace {

using chart::level_name;
using chart::ShownRows;

constexpr std::array<std::string_view, 4> kLevelNames = {"DRAM", "L2", "L1", "shared"};

std::string_view name_of(MemoryLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

// Indices of the rows, most time first.
std::vector<std::size_t> by_time(const Report& report) {
  std::vector<std::size_t> order(report.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return report.rows[a].group.work.time.value_or(0) > report.rows[b].group.work.time.value_or(0);
  });
  return order;
}

// Short names, made unique by the grid and, where that is not enough, by their number.
std::vector<std::string> unique_labels(const Report& report, const std::vector<std::size_t>& order) {
  auto labels = report::row_labels(report);
  const auto count = [&] {
    std::map<std::string, std::size_t> counts;
    for (const auto& l : labels) ++counts[l];
    return counts;
  };
  auto counts = count();
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (const auto grid = report::dimensions(report.rows[i].grid); counts[labels[i]] > 1 && !grid.empty())
      labels[i] += " " + grid;
  counts = count();
  for (std::size_t n = 0; n < order.size(); ++n)
    if (auto& label = labels[order[n]]; label.empty() || counts[label] > 1)
      label += fmt::format("{}#{}", label.empty() ? "" : " ", n + 1);
  return labels;
}

// ---------------------------------------------------------------- one row

std::string fraction_text(const Placement& p) {
  if (!p.fraction) return p.cache_resident ? "cache-resident" : "";
  return fmt::format("{} of the {} roof", report::bounded_percent(*p.fraction, p.bound), p.binding);
}

std::string facts_of(const KernelRow& row) {
  const auto& work = row.group.work;
  std::vector<std::string> parts;
  if (const auto f = work.flops()) parts.push_back((f.bound() == Bound::lower ? "≥ " : "") + si(f.value(), "FLOP"));
  if (const auto& b = work.level(MemoryLevel::dram).total) parts.push_back("DRAM " + si(b.value(), "B"));
  if (const auto i = work.intensity(); i && i.value() > 0) parts.push_back(numbers::ratio(i.value()) + " FLOP/B");
  if (const auto f = work.flops(); f && f.value() > 0 && work.time && work.time.value() > 0)
    parts.push_back(si(f.value() / work.time.value(), "F/s"));
  if (const auto text = fraction_text(row.group.placement); !text.empty()) parts.push_back(text);
  if (work.time) parts.push_back(fmt::format("{} ({})", si(work.time.value(), "s"), numbers::share(row.time_share)));
  parts.emplace_back(to_string(row.group.placement.position));
  return fmt::format("{}", fmt::join(parts, " · "));
}

ChartPoint base_point(const Report& report, std::size_t row, std::string label) {
  const auto& r = report.rows[row];
  const auto& p = r.group.placement;
  ChartPoint point;
  point.row = row;
  point.label = std::move(label);
  point.full_name = r.full_name.empty() ? r.name : r.full_name;
  point.facts = facts_of(r);
  point.share = point.area = std::clamp(r.time_share, 0.0, 1.0);
  point.fraction = p.fraction;
  point.position = p.position;
  point.look = p.look;
  point.gain_s = p.gain_s;
  if (p.gain_s && report.total.time_s > 0) point.gain_share = *p.gain_s / report.total.time_s;
  return point;
}

// Puts the point at this level's intensity. False where it has none: no time, no bytes, or no FLOPs.
bool put_at_level(const KernelRow& row, MemoryLevel level, ChartPoint& point) {
  const auto& work = row.group.work;
  const auto flops = work.flops();
  const auto intensity = work.intensity(level);
  if (!flops || flops.value() <= 0 || !intensity || intensity.value() <= 0) return false;
  if (!std::isfinite(intensity.value()) || !work.time || work.time.value() <= 0) return false;
  point.intensity = intensity.value();
  point.flops_per_s = flops.value() / work.time.value();
  if (flops.bound() == Bound::lower) point.toward = Toward::up;
  return true;
}

bool put_on_strip(const KernelRow& row, ChartPoint& point) {
  const auto* dram = row.group.placement.resource("dram");
  if (dram == nullptr || !std::isfinite(dram->fraction)) return false;
  const auto flops = row.group.work.flops();
  point.dram_fraction = dram->fraction;
  point.flops_unknown = !flops || flops.bound() == Bound::lower;
  return true;
}

// The rate at which the binding roof would run the same work.
void add_roof_rate(const Placement& p, ChartPoint& point) {
  if (point.flops_per_s && p.fraction && *p.fraction > 0) point.roof_flops_per_s = *point.flops_per_s / *p.fraction;
}

// A row with DRAM bytes and FLOPs stands among the roofs. One whose data lives in L2 stands at its L2 intensity: its
// DRAM traffic says nothing. One without FLOPs stands on the strip.
bool put_row(const KernelRow& row, ChartPoint& point) {
  const auto& p = row.group.placement;
  if (p.cache_resident && put_at_level(row, MemoryLevel::l2, point)) {
    point.label += " (L2)";
    return true;
  }
  if (put_at_level(row, MemoryLevel::dram, point)) {
    add_roof_rate(p, point);
    return true;
  }
  return put_on_strip(row, point);
}

// ---------------------------------------------------------------- notes

std::string one_number(const Report& report) {
  const auto& t = report.total;
  if (!t.fraction) return {};
  return fmt::format("{} of the roof over the {} of the time that could be placed",
                     report::bounded_percent(*t.fraction, t.bound), numbers::share(t.placed_time_share));
}

struct NotShown {
  std::size_t rows = 0;
  double share = 0;
};

void add_not_shown(const NotShown& hidden, Chart& chart) {
  if (hidden.rows == 0) return;
  chart.notes.push_back(
      fmt::format("Not shown: {}, {} of the time, without the time, bytes or percentages that a place needs.",
                  numbers::counted(hidden.rows, "kernel"), numbers::share(hidden.share)));
}

void explain_marks(Chart& chart) {
  const auto any = [&](auto test) { return std::any_of(chart.points.begin(), chart.points.end(), test); };
  if (any([](const ChartPoint& p) { return p.toward == Toward::up; }))
    chart.notes.emplace_back("Open marks with an arrow up are lower bounds: FLOPs were not all counted.");
  if (any([](const ChartPoint& p) { return p.flops_unknown; }))
    chart.notes.emplace_back(
        "Open marks on the strip: FLOPs were not counted; their height is the share of DRAM, their fraction of the "
        "roof a "
        "lower bound.");
  if (any([](const ChartPoint& p) { return p.toward == Toward::left || p.toward == Toward::right; }))
    chart.notes.emplace_back(
        "Open marks with an arrow to the side: the bytes of that level are a bound, the true intensity lies that way.");
}

std::string title_of(const Report& report, std::string_view what) {
  const auto inputs = report::input_names(report);
  return inputs.empty() ? std::string(what) : fmt::format("{}: {}", what, inputs);
}

void number_points(Chart& chart) {
  for (std::size_t i = 0; i < chart.points.size(); ++i) chart.points[i].number = i + 1;
}

// ---------------------------------------------------------------- levels of one row

Toward toward_of(Bound bytes) {
  if (bytes == Bound::lower) return Toward::left;
  return bytes == Bound::upper ? Toward::right : Toward::nowhere;
}

std::string level_label(MemoryLevel level, const LevelTraffic& traffic, const KernelRow& row) {
  std::string out = level_name(level, traffic.definition);
  const auto* use = row.group.placement.resource(to_string(level));
  if (use != nullptr && !row.group.placement.cache_resident) out += " " + numbers::percent(use->fraction);
  if (use != nullptr && row.group.placement.cache_resident && level != MemoryLevel::dram)
    out += " " + numbers::percent(use->fraction);
  if (row.group.placement.limiter == to_string(level)) out += ", the limiter";
  return out;
}

std::optional<ChartPoint> level_point(const Report& report, std::size_t index, MemoryLevel level) {
  const auto& row = report.rows[index];
  const auto& traffic = row.group.work.level(level);
  auto point = base_point(report, index, level_label(level, traffic, row));
  if (!put_at_level(row, level, point)) return std::nullopt;
  if (const auto toward = toward_of(traffic.total.bound()); toward != Toward::nowhere) point.toward = toward;
  point.facts = fmt::format("{} · {} · {} FLOP/B", level_name(level, traffic.definition),
                            si(traffic.total.value(), "B"), numbers::ratio(*point.intensity));
  const auto* use = row.group.placement.resource(to_string(level));
  const auto& p = row.group.placement;
  const std::string relevant = p.limiter.empty() ? p.binding : p.limiter;
  const bool compute_binds = p.limiter.empty() && p.regime == Regime::compute;
  point.look = p.look && (relevant == to_string(level) || (compute_binds && level == MemoryLevel::dram));
  if (compute_binds)
    add_roof_rate(p, point);
  else if (use != nullptr && use->fraction > 0)
    point.roof_flops_per_s = *point.flops_per_s / use->fraction;
  point.fraction.reset();
  if (use != nullptr && !(p.cache_resident && level == MemoryLevel::dram)) point.fraction = use->fraction;
  point.area = 0.05;  // one kernel: its size says nothing
  return point;
}

bool has_caches(const KernelRow& row) {
  const auto flops = row.group.work.flops();
  if (!flops || flops.value() <= 0) return false;
  return row.group.work.level(MemoryLevel::l2).total || row.group.work.level(MemoryLevel::l1).total ||
         row.group.work.level(MemoryLevel::shared).total;
}

void join(ChartLink::Kind kind, Chart& chart) {
  for (std::size_t i = 0; i + 1 < chart.points.size(); ++i) chart.links.push_back({kind, i, i + 1});
}

}  // namespace

Chart report_chart(const Report& report) {
  Chart chart;
  chart.title = title_of(report, "Roofline");
  const auto order = by_time(report);
  const ShownRows shown[] = {{&report, order}};
  chart::add_roofs(shown, true, chart);
  const auto labels = unique_labels(report, order);
  NotShown hidden;
  for (std::size_t n = 0; n < order.size(); ++n) {
    auto point = base_point(report, order[n], labels[order[n]]);
    point.number = n + 1;
    if (put_row(report.rows[order[n]], point)) {
      chart.points.push_back(std::move(point));
    } else {
      ++hidden.rows;
      hidden.share += report.rows[order[n]].time_share;
    }
  }
  if (const auto number = one_number(report); !number.empty()) chart.notes.push_back(number + ".");
  explain_marks(chart);
  add_not_shown(hidden, chart);
  return chart;
}

Chart hierarchical_chart(const Report& report, std::size_t row) {
  if (row >= report.rows.size())
    throw UsageError(fmt::format("the report has {} rows; there is no row {}", report.rows.size(), row));
  const auto& kernel = report.rows[row];
  Chart chart;
  chart.title = kernel.name.empty() ? kernel.full_name : kernel.name;
  const ShownRows shown[] = {{&report, {row}}};
  chart::add_roofs(shown, true, chart);
  std::string missing;
  for (const auto level : kMemoryLevels) {
    if (auto point = level_point(report, row, level))
      chart.points.push_back(std::move(*point));
    else
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name_of(level));
  }
  number_points(chart);
  join(ChartLink::Kind::levels, chart);
  chart.notes.push_back(facts_of(kernel) + ".");
  if (!missing.empty()) chart.notes.push_back(fmt::format("No intensity at: {}.", missing));
  explain_marks(chart);
  return chart;
}

Chart trajectory_chart(std::string title, std::span<const ChartStep> steps) {
  Chart chart;
  chart.title = std::move(title);
  std::vector<ShownRows> shown;
  std::size_t hidden = 0;
  for (const auto& step : steps) {
    shown.push_back({step.report, {step.row}});
    auto point = base_point(*step.report, step.row, step.label);
    if (put_row(step.report->rows[step.row], point) && point.intensity) {
      point.area = 0.02;  // equal sizes: the steps belong to different runs
      point.look = false;
      chart.points.push_back(std::move(point));
    } else {
      ++hidden;
    }
  }
  chart::add_roofs(shown, false, chart);
  number_points(chart);
  join(ChartLink::Kind::trajectory, chart);
  if (hidden > 0)
    chart.notes.push_back(fmt::format("Not shown: {} without FLOPs, bytes or time.", numbers::counted(hidden, "step")));
  explain_marks(chart);
  return chart;
}

namespace {

class Comparison {
 public:
  Comparison(const Report& before, const Report& after) : before_(before), after_(after) {
    before_labels_ = unique_labels(before, by_time(before));
    after_labels_ = unique_labels(after, by_time(after));
  }

  void add(const ChartMatch& match) {
    const auto from = match.before ? add_point(before_, *match.before, "") : std::nullopt;
    const auto to = match.after ? add_point(after_, *match.after, after_label(match, from.has_value())) : std::nullopt;
    if (from && to) {
      chart_.links.push_back({ChartLink::Kind::comparison, *from, *to});
    } else if (from) {
      chart_.points[*from].label = before_labels_[*match.before] + (match.after ? " (before)" : " (gone)");
    }
    if ((match.before && !from) || (match.after && !to)) ++hidden_;
  }

  Chart finish(std::span<const ChartMatch> matches) {
    ShownRows old_rows{&before_, {}};
    ShownRows new_rows{&after_, {}};
    for (const auto& m : matches) {
      if (m.before) old_rows.rows.push_back(*m.before);
      if (m.after) new_rows.rows.push_back(*m.after);
    }
    chart_.title = fmt::format("{} → {}", report::input_names(before_), report::input_names(after_));
    const ShownRows shown[] = {new_rows, old_rows};
    chart::add_roofs(shown, false, chart_);
    number_points(chart_);
    if (hidden_ > 0)
      chart_.notes.push_back(fmt::format("Not shown on one side or both: {}.", numbers::counted(hidden_, "kernel")));
    explain_marks(chart_);
    return std::move(chart_);
  }

 private:
  std::optional<std::size_t> add_point(const Report& report, std::size_t row, std::string label) {
    auto point = base_point(report, row, std::move(label));
    if (!put_row(report.rows.at(row), point)) return std::nullopt;
    point.look = false;
    point.past = &report == &before_;
    chart_.points.push_back(std::move(point));
    return chart_.points.size() - 1;
  }

  std::string after_label(const ChartMatch& match, bool has_before) const {
    const auto& name = after_labels_[*match.after];
    if (!match.before) return name + " (new)";
    if (!has_before) return name + " (after)";
    const auto& old_time = before_.rows[*match.before].group.work.time;
    const auto& new_time = after_.rows[*match.after].group.work.time;
    if (!old_time || !new_time || old_time.value() <= 0) return name;
    const double change = new_time.value() / old_time.value() - 1;
    return fmt::format("{} {}{:.0f}%", name, change < 0 ? "−" : "+", std::abs(100 * change));
  }

  const Report& before_;
  const Report& after_;
  std::vector<std::string> before_labels_, after_labels_;
  Chart chart_;
  std::size_t hidden_ = 0;
};

}  // namespace

Chart comparison_chart(const Report& before, const Report& after, std::span<const ChartMatch> matches) {
  Comparison comparison(before, after);
  for (const auto& match : matches) comparison.add(match);
  return comparison.finish(matches);
}

Chart best_chart(const Report& report) {
  if (report.rows.size() == 1 && has_caches(report.rows.front())) return hierarchical_chart(report, 0);
  return report_chart(report);
}

}  // namespace roofline
