// Lists, records and trends as documents.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "roofline/history.h"

namespace roofline::history {
namespace {

constexpr std::size_t kLeastLabels = 24;
constexpr std::size_t kLeastName = 14;

std::string labels_text(const Labels& labels) {
  std::string out;
  for (const auto& [key, value] : labels) out += fmt::format("{}{}={}", out.empty() ? "" : " ", key, value);
  return out;
}

std::string percent(double fraction, Bound bound) {
  return fmt::format("{}{:.0f}%", bound == Bound::lower ? "≥ " : "", fraction * 100);
}

Cell fraction_cell(std::optional<double> fraction, Bound bound = Bound::exact) {
  return fraction ? Cell{percent(*fraction, bound), fraction} : Cell{};
}
Cell time_cell(std::optional<double> seconds) { return seconds ? Cell{si(*seconds, "s"), seconds} : Cell{}; }
Cell clock_cell(std::optional<double> hertz) { return hertz ? Cell{si(*hertz, "Hz"), hertz} : Cell{}; }
Cell count_cell(std::size_t count) { return {std::to_string(count), static_cast<double>(count)}; }
Cell id_cell(std::int64_t id) { return {std::to_string(id), static_cast<double>(id)}; }

Column text_column(std::string title, std::string key, int drop = 0) {
  Column column{std::move(title), std::move(key), Align::left};
  column.drop_order = drop;
  return column;
}
Column number_column(std::string title, std::string key, int drop = 0) {
  Column column{std::move(title), std::move(key)};
  column.drop_order = drop;
  return column;
}

// To the minute, UTC.
std::string moment(Time time) {
  auto text = format_time(time).substr(0, std::string_view("2026-01-31T12:34").size());
  text[text.find('T')] = ' ';
  return text;
}

std::string_view last_part(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

std::string inputs_text(const RecordInfo& record) {
  if (record.inputs.empty()) return {};
  const std::string first(last_part(record.inputs.front()));
  return record.inputs.size() == 1 ? first : fmt::format("{} and {} more", first, record.inputs.size() - 1);
}

}  // namespace

Document list_document(std::span<const RecordInfo> records, std::string_view store) {
  Document document;
  document.title = fmt::format("{} record{} in {}", records.size(), records.size() == 1 ? "" : "s", store);
  Table table;
  auto labels = text_column("Labels", "labels");
  labels.shrink = true;
  labels.cut_end = true;
  labels.least = kLeastLabels;
  auto input = text_column("Input", "inputs", 6);
  input.shrink = true;
  auto machine = text_column("Machine", "machine", 3);
  machine.least = kLeastName;
  machine.shrink = true;
  auto uid = text_column("UID", "uid");
  uid.data_only = true;
  table.columns = {number_column("ID", "id"),
                   text_column("Time (UTC)", "time"),
                   machine,
                   text_column("Roof", "ceiling", 4),
                   number_column("Kernels", "kernels", 5),
                   number_column("Time", "time_s"),
                   number_column("% of roof", "fraction"),
                   input,
                   labels,
                   uid};
  for (const auto& r : records)
    table.rows.push_back({id_cell(r.id),
                          {moment(r.time)},
                          {r.machine},
                          {std::string(to_string(r.ceiling))},
                          count_cell(r.kernels),
                          time_cell(r.time_s),
                          fraction_cell(r.fraction, r.bound),
                          {inputs_text(r)},
                          {labels_text(r.labels)},
                          {r.uid}});
  if (!records.empty()) document.blocks.emplace_back(std::move(table));
  return document;
}

namespace {

Paragraph about(const RecordInfo& r) {
  auto text = fmt::format("{}, {} roof", r.machine.empty() ? "unknown machine" : r.machine, to_string(r.ceiling));
  if (r.clock_hz) text += fmt::format(" at {}", si(*r.clock_hz, "Hz"));
  text += fmt::format("; roofline {}, catalogue {}", r.tool_version.empty() ? "of unknown version" : r.tool_version,
                      r.catalogue_version.empty() ? "unknown" : r.catalogue_version);
  return {text};
}

Table kernels_table(const StepRecord& step) {
  Table table;
  auto name = text_column("Kernel", "kernel");
  name.shrink = true;
  auto full = text_column("Full name", "full_name");
  full.data_only = true;
  table.columns = {name,
                   text_column("Operator", "operator", 4),
                   number_column("N", "launches"),
                   number_column("FLOPs", "flops", 3),
                   number_column("Bytes", "dram_bytes", 2),
                   number_column("% of roof", "fraction"),
                   text_column("Roof", "binding", 1),
                   number_column("Time", "time_s"),
                   number_column("Share", "time_share", 5),
                   text_column("Position", "position"),
                   full};
  auto order = std::vector<const KernelRecord*>();
  for (const auto& k : step.kernels) order.push_back(&k);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->time_s.value_or(0) > b->time_s.value_or(0); });
  for (const auto* k : order)
    table.rows.push_back({{k->name},
                          {k->op},
                          count_cell(k->launches),
                          k->flops ? Cell{si(*k->flops, ""), k->flops} : Cell{},
                          k->dram_bytes ? Cell{si(*k->dram_bytes, "B"), k->dram_bytes} : Cell{},
                          fraction_cell(k->fraction, k->bound),
                          {k->binding},
                          time_cell(k->time_s),
                          {fmt::format("{:.1f}%", k->time_share * 100), k->time_share},
                          {std::string(to_string(k->position))},
                          {k->full_name}});
  return table;
}

}  // namespace

Document record_document(const RecordInfo& record, const StepRecord& step) {
  Document document;
  document.title = fmt::format("Record {} of {}", record.id, moment(record.time));
  document.blocks.emplace_back(about(record));
  if (!record.labels.empty()) document.blocks.emplace_back(Paragraph{"Labels: " + labels_text(record.labels)});
  std::string inputs;
  for (const auto& input : record.inputs) inputs += (inputs.empty() ? "" : ", ") + input;
  if (!inputs.empty()) document.blocks.emplace_back(Paragraph{"Input: " + inputs});
  document.blocks.emplace_back(kernels_table(step));
  std::string total = fmt::format("{} kernels", record.kernels);
  if (record.time_s) total += ", " + si(*record.time_s, "s");
  if (record.fraction)
    total += fmt::format(", {} of the roof over {:.0f}% of the time", percent(*record.fraction, record.bound),
                         record.placed_time_share * 100);
  document.blocks.emplace_back(Paragraph{total + "."});
  if (record.prediction_error)
    document.blocks.emplace_back(
        Paragraph{fmt::format("The prediction missed the kernels' times by {:.1f}% on average, weighted by time.",
                              *record.prediction_error * 100)});
  document.blocks.emplace_back(Paragraph{
      "The whole report, as recorded: roofline history show " + record.uid.substr(0, 12) + " --json", Tone::faint});
  return document;
}

std::string sparkline(std::span<const std::optional<double>> values, bool unicode) {
  static constexpr std::string_view kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::string_view kAscii = "_.-:=+*#";
  std::optional<double> low, high;
  for (const auto& v : values)
    if (v) {
      low = low ? std::min(*low, *v) : *v;
      high = high ? std::max(*high, *v) : *v;
    }
  std::string out;
  for (const auto& v : values) {
    if (!v) {
      out += ' ';
      continue;
    }
    const double span = *high - *low;
    constexpr double kSteps = 7;
    const auto step = static_cast<std::size_t>(span > 0 ? std::lround((*v - *low) / span * kSteps) : 3);
    if (unicode)
      out += kBlocks[step];
    else
      out += kAscii[step];
  }
  return out;
}

namespace {

// A curve as wide as a terminal: neighbours become their mean.
std::vector<std::optional<double>> thinned(std::span<const std::optional<double>> values, std::size_t most) {
  if (values.size() <= most) return {values.begin(), values.end()};
  std::vector<std::optional<double>> out;
  for (std::size_t i = 0; i < most; ++i) {
    double sum = 0;
    int count = 0;
    for (auto j = i * values.size() / most; j < (i + 1) * values.size() / most; ++j)
      if (values[j]) {
        sum += *values[j];
        ++count;
      }
    out.push_back(count > 0 ? std::optional(sum / count) : std::nullopt);
  }
  return out;
}

// The scale is the values', not from zero: its ends are named.
void add_curve(std::span<const TrendPoint> points, const TrendOptions& options, Document& document) {
  std::vector<std::optional<double>> values;
  for (const auto& p : points) values.push_back(options.metric == TrendMetric::time ? p.time_s : p.fraction);
  std::optional<double> low, high;
  for (const auto& v : values)
    if (v) {
      low = low ? std::min(*low, *v) : *v;
      high = high ? std::max(*high, *v) : *v;
    }
  if (!low) return;
  const auto number = [&](double v) {
    return options.metric == TrendMetric::time ? si(v, "s", options.unicode) : fmt::format("{:.0f}%", v * 100);
  };
  constexpr std::size_t kWidth = 60;
  document.blocks.emplace_back(
      Paragraph{fmt::format("{} {} ({} to {})", options.metric == TrendMetric::time ? "Time" : "% of roof",
                            sparkline(thinned(values, kWidth), options.unicode), number(*low), number(*high))});
}

std::string change_text(std::optional<double> before, std::optional<double> after) {
  if (!before || !after || !(*before > 0)) return {};
  return fmt::format("{:+.1f}%", (*after / *before - 1) * 100);
}

std::string names_of(const TrendPoint& p) {
  std::string out;
  for (const auto& name : p.names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::vector<Column> trend_columns(const TrendOptions& options) {
  auto name = text_column("Kernel", "kernel", 2);
  name.shrink = true;
  name.least = kLeastName;
  auto labels = text_column("Labels", "labels");
  labels.shrink = true;
  labels.cut_end = true;
  labels.least = kLeastLabels;
  std::vector<Column> columns = {number_column("ID", "id"),
                                 text_column("Time (UTC)", "recorded_at"),
                                 number_column("N", "launches", 4),
                                 number_column("Time", "time_s"),
                                 number_column("% of roof", "fraction"),
                                 number_column("Change", "change"),
                                 text_column("Roof", "ceiling", 3),
                                 number_column("Clock", "clock_hz", 5),
                                 text_column("Position", "position", 1)};
  if (options.recompute) {
    columns.push_back(number_column("Datasheet then", "datasheet_fraction_recorded"));
    columns.push_back(number_column("now", "datasheet_fraction_present_catalogue"));
  }
  columns.push_back(name);
  columns.push_back(labels);
  return columns;
}

std::vector<Cell> trend_row(const TrendPoint& p, const TrendPoint* before, const TrendOptions& options) {
  const auto value = [&](const TrendPoint& point) {
    return options.metric == TrendMetric::time ? point.time_s : point.fraction;
  };
  Cell change;
  if (before != nullptr) {
    const auto then = value(*before);
    const auto now = value(p);
    change.text = change_text(then, now);
    if (!change.text.empty()) change.number = *now / *then - 1;
  }
  std::vector<Cell> cells = {id_cell(p.record.id),
                             {moment(p.record.time)},
                             count_cell(p.launches),
                             time_cell(p.time_s),
                             fraction_cell(p.fraction, p.bound),
                             change,
                             {std::string(to_string(p.record.ceiling))},
                             clock_cell(p.clock_hz),
                             {std::string(to_string(p.position))}};
  if (options.recompute) {
    cells.push_back(fraction_cell(p.datasheet_then));
    cells.push_back(fraction_cell(p.datasheet_now));
  }
  cells.push_back({names_of(p)});
  cells.push_back({labels_text(p.record.labels)});
  return cells;
}

// Peaks, machines and names that changed on the way: a step of the curve may be theirs.
void add_changes(std::span<const TrendPoint> points, Document& document) {
  Bullets bullets;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto& a = points[i - 1];
    const auto& b = points[i];
    const auto note = [&](const std::string& text) {
      bullets.items.push_back({fmt::format("From record {}: {}", b.record.id, text)});
    };
    if (a.record.machine != b.record.machine) note(fmt::format("another machine, {}", b.record.machine));
    if (a.record.ceiling != b.record.ceiling) note(fmt::format("the {} roof", to_string(b.record.ceiling)));
    if (a.record.catalogue_version != b.record.catalogue_version)
      note("another machine catalogue; --recompute shows all under the present one");
    if (a.names != b.names) note(fmt::format("the kernel is called {}", names_of(b)));
    constexpr double kClockStep = 0.02;
    if (a.clock_hz && b.clock_hz && std::abs(*b.clock_hz / *a.clock_hz - 1) > kClockStep)
      note(fmt::format("another clock, {} instead of {}", si(*b.clock_hz, "Hz"), si(*a.clock_hz, "Hz")));
  }
  constexpr std::size_t kMost = 12;
  if (bullets.items.size() > kMost) {
    const auto more = bullets.items.size() - kMost;
    bullets.items.resize(kMost);
    bullets.items.push_back({fmt::format("and {} more changes of machine, roof, catalogue, name or clock", more)});
  }
  if (!bullets.items.empty()) document.blocks.emplace_back(std::move(bullets));
}

}  // namespace

Document trend_document(std::string_view kernel, std::span<const TrendPoint> points, const TrendOptions& options) {
  Document document;
  document.title = fmt::format("{} over {} record{}", kernel, points.size(), points.size() == 1 ? "" : "s");
  if (points.empty()) return document;
  add_curve(points, options, document);
  Table table;
  table.columns = trend_columns(options);
  for (std::size_t i = 0; i < points.size(); ++i)
    table.rows.push_back(trend_row(points[i], i > 0 ? &points[i - 1] : nullptr, options));
  document.blocks.emplace_back(std::move(table));
  add_changes(points, document);
  if (options.recompute)
    document.blocks.emplace_back(Paragraph{
        "Datasheet then, now: the fraction of the datasheet roof as recorded, and of the same work and time under the "
        "present catalogue. At-clock and measured roofs come from the run itself: no catalogue corrects them.",
        Tone::faint});
  return document;
}

}  // namespace roofline::history
