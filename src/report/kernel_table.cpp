#include "report/kernel_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "report/bounds.h"
#include "report/labels.h"
#include "report/numbers.h"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 8> kSortNames = {"time",  "gain",      "fraction", "flops",
                                                        "bytes", "intensity", "name",     "order"};

}  // namespace

std::optional<SortKey> parse_sort_key(std::string_view text) {
  const auto it = std::find(kSortNames.begin(), kSortNames.end(), text);
  if (it == kSortNames.end()) return std::nullopt;
  return static_cast<SortKey>(it - kSortNames.begin());
}

namespace report {
namespace {

// ---------------------------------------------------------------- order

std::optional<double> sort_value(const KernelRow& row, SortKey key) {
  const auto& work = row.group.work;
  switch (key) {
    case SortKey::time:
      return work.time.get();
    case SortKey::gain:
      return row.group.placement.gain_s;
    case SortKey::fraction:
      return row.group.placement.fraction;
    case SortKey::flops:
      return work.flops().get();
    case SortKey::bytes:
      return work.level(MemoryLevel::dram).total.get();
    case SortKey::intensity:
      return work.intensity().get();
    case SortKey::name:
    case SortKey::order:
      break;
  }
  return std::nullopt;
}

// Indices into report.rows. Largest first, but the worst fraction first; rows without the value come last.
std::vector<std::size_t> sorted_rows(const Report& report, SortKey key) {
  struct Item {
    std::size_t row;
    std::optional<double> value;
  };
  std::vector<Item> items;
  for (std::size_t i = 0; i < report.rows.size(); ++i) items.push_back({i, sort_value(report.rows[i], key)});
  const double sign = key == SortKey::fraction ? 1 : -1;
  std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    if (key == SortKey::name) return report.rows[a.row].name < report.rows[b.row].name;
    if (a.value.has_value() != b.value.has_value()) return a.value.has_value();
    return a.value && sign * *a.value < sign * *b.value;
  });
  std::vector<std::size_t> order;
  order.reserve(items.size());
  for (const auto& item : items) order.push_back(item.row);
  return order;
}

// ---------------------------------------------------------------- lines

// What one line of the table shows: a kernel, the rest, or the total.
struct Line {
  const KernelRow* row = nullptr;  // null for sums
  std::string label;
  std::string mark;
  std::string verdict;
  double launches = 0;
  std::optional<double> time_s;
  Bound time_bound = Bound::exact;  // lower: launches without a time are in the counts
  std::optional<double> share;
  Quantity flops;
  Quantity bytes;
  std::optional<double> fraction;
  std::optional<double> fraction_upper;
  Bound bound = Bound::exact;
  CeilingKind ceiling = CeilingKind::datasheet;
  std::optional<double> gain_s;
  Tone tone = Tone::normal;
};

Line line_of(const KernelRow& row, std::string label, std::string mark) {
  const auto& p = row.group.placement;
  const auto& work = row.group.work;
  Line line;
  line.row = &row;
  line.label = std::move(label);
  line.mark = std::move(mark);
  line.verdict = verdict(row);
  line.launches = work.launches;
  line.time_s = work.time.get();
  line.time_bound = work.time.bound();
  if (work.time) line.share = row.time_share;
  line.flops = work.flops();
  line.bytes = work.level(MemoryLevel::dram).total;
  line.fraction = p.fraction;
  line.fraction_upper = p.fraction_upper;
  line.bound = p.bound;
  line.ceiling = p.ceiling;
  line.gain_s = p.gain_s;
  return line;
}

Line sum_line(const Total& total, double whole_time_s, std::string label) {
  Line line;
  line.label = std::move(label);
  if (whole_time_s > 0) {
    line.time_s = total.time_s;
    line.share = total.time_s / whole_time_s;
  }
  line.flops = total.flops;
  line.bytes = total.dram_bytes;
  line.fraction = total.fraction;
  line.fraction_upper = total.fraction_upper;
  line.bound = total.bound;
  line.ceiling = total.ceiling;
  return line;
}

// Counts of a row that has no time: over the time of the others they would make too high a rate.
bool counts_without_time(const Work& work) {
  return !work.time && (work.flops().value_or(0) > 0 || work.level(MemoryLevel::dram).total.value_or(0) > 0);
}

Line rest_line(const Report& report, std::span<const std::size_t> rest) {
  std::vector<const PlacementGroup*> groups;
  double launches = 0;
  bool upper = true;
  bool timed = true;
  for (const auto i : rest) {
    const auto& group = report.rows[i].group;
    groups.push_back(&group);
    timed &= !counts_without_time(group.work);
    launches += group.work.launches;
    upper &= has_known_upper(group.placement, report.total.ceiling);
  }
  auto sum = total(groups);
  if (!upper) sum.fraction_upper.reset();
  auto line = sum_line(sum, report.total.time_s, fmt::format("… {} more", rest.size()));
  if (sum.ceiling != report.total.ceiling) line.fraction.reset();  // one table, one kind of ceiling
  line.launches = launches;
  if (!timed) line.time_bound = Bound::lower;
  line.tone = Tone::faint;
  return line;
}

Line total_line(const Report& report) {
  auto line = sum_line(report.total, report.total.time_s, "total");
  for (const auto& row : report.rows) {
    line.launches += row.group.work.launches;
    if (counts_without_time(row.group.work)) line.time_bound = Bound::lower;
    if (!has_known_upper(row.group.placement, report.total.ceiling)) line.fraction_upper.reset();
  }
  if (line.fraction) line.verdict = fmt::format("{} placed", numbers::share(report.total.placed_time_share));
  line.tone = Tone::strong;
  return line;
}

// ---------------------------------------------------------------- cells

std::string_view sign(Bound bound) {
  switch (bound) {
    case Bound::lower:
      return "≥ ";
    case Bound::upper:
      return "≤ ";
    case Bound::exact:
      break;
  }
  return "";
}

class Cells {
 public:
  explicit Cells(const TableOptions& options) : base_(options.base_units) {}

  Cell quantity(const Quantity& q, std::string_view unit) const {
    if (!q) return {};
    if (says_nothing(q)) return {{}, q.value()};
    return {fmt::format("{}{}", sign(q.bound()), number(q.value(), unit)), q.value()};
  }

  Cell seconds(std::optional<double> s) const {
    if (!s) return {};
    return {number(*s, "s"), *s};
  }

  Cell intensity(const Line& line) const {
    const auto i = line.row != nullptr ? line.row->group.work.intensity() : quotient(line.flops, line.bytes);
    if (!i) return {};
    if (says_nothing(i)) return {{}, i.value()};
    return {fmt::format("{}{}", sign(i.bound()), base_ ? numbers::base(i.value(), "") : numbers::ratio(i.value())),
            i.value()};
  }

  // FLOP rate; the byte rate of kernels that compute nothing or whose FLOPs are unknown.
  Cell achieved(const Line& line) const {
    const auto flops = rate(line.flops, line);
    if (flops && flops.value() > 0) return quantity(flops, base_ ? "FLOP/s" : "F/s");
    auto cell = quantity(rate(line.bytes, line), "B/s");
    cell.number = flops.get();
    return cell;
  }

  Cell byte_rate(const Line& line) const { return quantity(rate(line.bytes, line), "B/s"); }

  Cell fraction(const Line& line, const Thresholds& thresholds) const {
    if (!line.fraction) return {line.mark.empty() ? "" : line.mark, std::nullopt, Tone::faint};
    const double done = optimal_threshold(thresholds, line.ceiling);
    auto text = std::string(sign(line.bound)) + numbers::percent_below(*line.fraction, done);
    if (line.fraction_upper) text = numbers::percent_range(*line.fraction, *line.fraction_upper);
    const bool mixed = line.row != nullptr && line.row->group.mixed;
    return {(mixed ? "*" : "") + text, line.fraction, fraction_tone(line)};
  }

 private:
  // "0 or more": nothing that was counted ran, and the rest is not known.
  static bool says_nothing(const Quantity& q) { return q.value() == 0 && q.bound() == Bound::lower; }

  std::string number(double value, std::string_view unit) const {
    return base_ ? numbers::base(value, unit) : si(value, unit);
  }

  static Quantity rate(const Quantity& amount, const Line& line) {
    if (!line.time_s) return {};
    return quotient(amount, Quantity::of(*line.time_s, Evidence::derived, nullptr, line.time_bound));
  }

  static Tone fraction_tone(const Line& line) {
    if (line.row == nullptr) return line.tone;
    if (line.row->group.placement.look) return Tone::warn;
    return is_optimal(line.row->group.placement.position) ? Tone::good : Tone::normal;
  }

  bool base_;
};

// The resource alone: its name says whether memory, a link or a pipe binds.
std::string bound_by(const Placement& p) {
  if (!p.fraction && p.cache_resident) return "cache";
  return p.binding;
}

// ---------------------------------------------------------------- columns

// Which of the columns that only some reports need are shown.
struct Shown {
  bool input = false;
  bool device = false;
  bool op = false;
  bool shape = false;
  bool gain = false;
  bool launch = false;
  bool datasheet = false;
};

Shown shown_columns(const Report& report, const TableOptions& options, const std::vector<std::string>& labels) {
  Shown shown;
  std::set<std::uint32_t> devices;
  std::set<std::tuple<std::string_view, std::size_t, std::uint32_t>> names;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const auto& row = report.rows[i];
    devices.insert(row.device);
    shown.datasheet |=
        row.datasheet && row.datasheet->fraction && row.group.placement.ceiling != CeilingKind::datasheet;
    shown.op |= !row.op.empty() && row.op != row.name;
    shown.shape |= !names.emplace(labels[i], row.input, row.device).second;
  }
  // A merge of several files is one source: its rows all say so.
  shown.input = std::any_of(report.rows.begin(), report.rows.end(),
                            [&](const KernelRow& row) { return row.input != report.rows.front().input; });
  shown.device = devices.size() > 1;
  shown.gain = options.sort == SortKey::gain;
  shown.launch = options.per_launch;
  return shown;
}

struct ColumnSpec {
  Column column;
  Cell (*cell)(const Line& line, const Cells& cells, const Report& report);
};

Cell text_cell(std::string text) { return {std::move(text), std::nullopt}; }
Cell number_cell(double value) { return {numbers::count(value), value}; }
Cell raw_cell(std::optional<double> value) { return value ? Cell{numbers::base(*value, ""), value} : Cell{}; }

Column for_people(std::string_view title, std::string_view key, int drop_order, Align align = Align::right) {
  return {std::string(title), std::string(key), align, false, drop_order, false};
}
Column words(std::string_view title, std::string_view key, int drop_order) {
  return {std::string(title), std::string(key), Align::left, true, drop_order, false};
}
Column verdict_column(std::size_t least) {
  auto column = words("Verdict", "verdict", 10);
  column.cut_end = true;
  column.least = least;
  return column;
}
Column data(std::string_view key, Align align = Align::right) {
  return {std::string(key), std::string(key), align, false, 0, true};
}
Column shown_if(bool shown, Column column) {
  column.data_only = !shown;
  return column;
}

// Which row it is.
void add_identity(std::vector<ColumnSpec>& out, const Shown& shown) {
  out.push_back({data("id"), [](const Line& l, const Cells&, const Report&) {
                   return l.row != nullptr ? number_cell(static_cast<double>(l.row->id)) : Cell{};
                 }});
  out.push_back({shown_if(shown.input, words("Input", "input", 7)), [](const Line& l, const Cells&, const Report& r) {
                   const bool known = l.row != nullptr && l.row->input < r.inputs.size();
                   return text_cell(known ? r.inputs[l.row->input].path : "");
                 }});
  out.push_back(
      {shown_if(shown.device, for_people("GPU", "device", 7)), [](const Line& l, const Cells&, const Report&) {
         return l.row != nullptr ? number_cell(l.row->device) : text_cell(" ");
       }});
  out.push_back({shown_if(shown.op, words("Operator", "operator", 7)), [](const Line& l, const Cells&, const Report&) {
                   return text_cell(l.row != nullptr ? l.row->op : "");
                 }});
  out.push_back({words("Kernel", "kernel", 0), [](const Line& l, const Cells&, const Report&) {
                   return Cell{l.label, std::nullopt, l.tone};
                 }});
  out.push_back({data("full_name", Align::left), [](const Line& l, const Cells&, const Report&) {
                   return text_cell(l.row != nullptr ? l.row->full_name : "");
                 }});
  out.push_back({shown_if(shown.shape, for_people("Grid", "grid", 12, Align::left)),
                 [](const Line& l, const Cells&, const Report&) {
                   return text_cell(l.row != nullptr ? dimensions(l.row->grid) : "");
                 }});
  out.push_back({shown_if(shown.shape, for_people("Block", "block", 13, Align::left)),
                 [](const Line& l, const Cells&, const Report&) {
                   return text_cell(l.row != nullptr ? dimensions(l.row->block) : "");
                 }});
  out.push_back(
      {shown_if(shown.launch, for_people("Launch", "launch_id", 2)), [](const Line& l, const Cells&, const Report&) {
         if (l.row == nullptr || l.row->launch_ids.size() != 1) return text_cell(" ");
         return number_cell(static_cast<double>(l.row->launch_ids.front()));
       }});
  out.push_back({shown_if(!shown.launch, for_people("N", "launches", 8)),
                 [](const Line& l, const Cells&, const Report&) { return number_cell(l.launches); }});
}

// What it did.
void add_work(std::vector<ColumnSpec>& out) {
  out.push_back({for_people("FLOPs", "flops", 6),
                 [](const Line& l, const Cells& c, const Report&) { return c.quantity(l.flops, ""); }});
  out.push_back({data("flops_bound", Align::left), [](const Line& l, const Cells&, const Report&) {
                   return text_cell(l.flops ? std::string(to_string(l.flops.bound())) : "");
                 }});
  out.push_back({for_people("Bytes", "dram_bytes", 5),
                 [](const Line& l, const Cells& c, const Report&) { return c.quantity(l.bytes, "B"); }});
  out.push_back({for_people("FLOP/B", "intensity_flop_per_byte", 3),
                 [](const Line& l, const Cells& c, const Report&) { return c.intensity(l); }});
  out.push_back({for_people("Achieved", "achieved_flops_per_s", 4),
                 [](const Line& l, const Cells& c, const Report&) { return c.achieved(l); }});
  out.push_back(
      {data("dram_bytes_per_s"), [](const Line& l, const Cells& c, const Report&) { return c.byte_rate(l); }});
}

// The placement under the datasheet's roofs, beside the one in use.
template <typename Value>
Cell datasheet_cell(const Line& line, Value value) {
  return line.row != nullptr && line.row->datasheet ? value(*line.row->datasheet) : Cell{};
}

Cell datasheet_fraction(const Placement& p) {
  if (!p.fraction) return {};
  return {bounded_percent(*p.fraction, p.bound), p.fraction, Tone::faint};
}

void add_datasheet(std::vector<ColumnSpec>& out, const Shown& shown) {
  auto fraction = shown_if(shown.datasheet, for_people("datasheet", "datasheet_fraction", 14));
  fraction.spare = true;
  out.push_back({std::move(fraction), [](const Line& l, const Cells&, const Report&) {
                   return l.row == nullptr ? text_cell(" ") : datasheet_cell(l, datasheet_fraction);
                 }});
  out.push_back({data("datasheet_roof_time_s"), [](const Line& l, const Cells&, const Report&) {
                   return datasheet_cell(l, [](const Placement& p) { return raw_cell(p.roof_time_s); });
                 }});
  out.push_back({data("datasheet_roof", Align::left), [](const Line& l, const Cells&, const Report&) {
                   return datasheet_cell(l, [](const Placement& p) { return text_cell(bound_by(p)); });
                 }});
}

// Where it stands.
void add_place(std::vector<ColumnSpec>& out) {
  out.push_back({for_people("% of roof", "fraction_of_roof", 0),
                 [](const Line& l, const Cells& c, const Report& r) { return c.fraction(l, r.thresholds); }});
  out.push_back({data("fraction_bound", Align::left), [](const Line& l, const Cells&, const Report&) {
                   return text_cell(l.fraction ? std::string(to_string(l.bound)) : "");
                 }});
  out.push_back(
      {data("fraction_upper"), [](const Line& l, const Cells&, const Report&) { return raw_cell(l.fraction_upper); }});
  out.push_back({for_people("Roof", "roof", 9, Align::left), [](const Line& l, const Cells&, const Report&) {
                   return text_cell(l.row != nullptr ? bound_by(l.row->group.placement) : "");
                 }});
}

template <double Spread::*Member>
Cell spread_cell(const Line& line) {
  return line.row != nullptr && line.time_s ? raw_cell(line.row->group.time_s.*Member) : Cell{};
}

void add_time(std::vector<ColumnSpec>& out, const Shown& shown) {
  out.push_back({for_people("Time", "time_s", 2),
                 [](const Line& l, const Cells& c, const Report&) { return c.seconds(l.time_s); }});
  out.push_back(
      {data("time_min_s"), [](const Line& l, const Cells&, const Report&) { return spread_cell<&Spread::min>(l); }});
  out.push_back({data("time_median_s"),
                 [](const Line& l, const Cells&, const Report&) { return spread_cell<&Spread::median>(l); }});
  out.push_back(
      {data("time_max_s"), [](const Line& l, const Cells&, const Report&) { return spread_cell<&Spread::max>(l); }});
  out.push_back({data("time_basis", Align::left), [](const Line& l, const Cells&, const Report&) {
                   return text_cell(l.row != nullptr ? std::string(to_string(l.row->time_basis)) : "");
                 }});
  out.push_back({for_people("Share", "time_share", 1), [](const Line& l, const Cells&, const Report&) {
                   return l.share ? Cell{numbers::share(*l.share), l.share} : Cell{};
                 }});
  out.push_back(
      {shown_if(shown.gain, for_people("Gain", "gain_s", 1)), [](const Line& l, const Cells& c, const Report&) {
         return l.row != nullptr ? c.seconds(l.gain_s) : text_cell(" ");
       }});
}

void add_verdict(std::vector<ColumnSpec>& out, std::size_t least) {
  out.push_back({data("position", Align::left), [](const Line& l, const Cells&, const Report&) {
                   return text_cell(l.row != nullptr ? std::string(to_string(l.row->group.placement.position)) : "");
                 }});
  out.push_back({verdict_column(least), [](const Line& l, const Cells&, const Report&) {
                   return Cell{l.verdict, std::nullopt, l.row == nullptr ? Tone::normal : Tone::faint};
                 }});
  out.push_back({for_people("", "look", 0, Align::left), [](const Line& l, const Cells&, const Report&) {
                   if (l.row == nullptr) return Cell{};
                   const bool look = l.row->group.placement.look;
                   return Cell{look ? "← LOOK" : "", look ? 1.0 : 0.0, Tone::warn};
                 }});
  out.push_back({data("tier", Align::left), [](const Line& l, const Cells&, const Report&) {
                   return text_cell(l.row != nullptr ? std::string(to_string(l.row->group.placement.tier)) : "");
                 }});
  out.push_back({data("mixed"), [](const Line& l, const Cells&, const Report&) {
                   return l.row != nullptr ? number_cell(l.row->group.mixed ? 1 : 0) : Cell{};
                 }});
}

std::vector<Cell> cells_of(const Line& line, const std::vector<ColumnSpec>& specs, const Cells& cells,
                           const Report& report) {
  std::vector<Cell> out;
  out.reserve(specs.size());
  for (const auto& spec : specs) {
    out.push_back(spec.cell(line, cells, report));
    if (out.back().tone == Tone::normal) out.back().tone = line.tone;
  }
  return out;
}

// What the verdict says before its first comma: the position.
std::string position_words(const Placement& p) {
  if (p.position == Position::unplaced && !p.fraction && p.cache_resident) return "cache-resident";
  if (p.position == Position::unplaced && p.fraction) return "undecided";
  return std::string(to_string(p.position));
}

// Columns that the widest position takes: a verdict without it says nothing.
std::size_t verdict_least(const Report& report) {
  std::size_t least = display_width("99.9% placed");  // of the total line
  for (const auto& row : report.rows) least = std::max(least, display_width(position_words(row.group.placement)) + 1);
  return least;
}

std::string other_regime(const KernelRow& row) {
  const auto& p = row.group.placement;
  const auto& d = row.datasheet;
  if (!d || d->ceiling == p.ceiling || d->regime == p.regime) return {};
  if (d->regime == Regime::unknown || p.regime == Regime::unknown) return {};
  return fmt::format(", {}-bound under the datasheet's roofs", to_string(d->regime));
}

}  // namespace

std::string verdict(const KernelRow& row) {
  const auto& p = row.group.placement;
  auto out = position_words(p);
  const auto why = !p.reason.empty() ? p.reason : p.limiter.empty() ? std::string() : "limited by " + p.limiter;
  if (why.starts_with(out))
    out = why;
  else if (!why.empty())
    out += ", " + why;
  return out + other_regime(row);
}

Table kernel_table(const Report& report, const TableOptions& options, const std::vector<std::string>& marks) {
  const auto labels = row_labels(report);
  const auto shown = shown_columns(report, options, labels);
  std::vector<ColumnSpec> specs;
  add_identity(specs, shown);
  add_work(specs);
  add_place(specs);
  add_datasheet(specs, shown);
  add_time(specs, shown);
  add_verdict(specs, verdict_least(report));

  Table table;
  for (const auto& spec : specs) table.columns.push_back(spec.column);
  const Cells cells(options);
  const auto add = [&](const Line& line) { return cells_of(line, specs, cells, report); };
  const auto order = sorted_rows(report, options.sort);
  const auto top = options.top == 0 ? order.size() : std::min(options.top, order.size());
  for (std::size_t i = 0; i < top; ++i)
    table.rows.push_back(add(line_of(report.rows[order[i]], labels[order[i]], marks[order[i]])));
  if (top < order.size()) table.rows.push_back(add(rest_line(report, std::span(order).subspan(top))));
  if (!report.rows.empty()) table.footer = add(total_line(report));
  return table;
}

}  // namespace report
}  // namespace roofline
