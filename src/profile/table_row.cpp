#include "profile/table_row.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace roofline::table {
namespace {

constexpr double kMaxCalls = 1e15;
constexpr double kSurelyPercent = 2.0;  // a fraction above this was meant as a percentage, or is wrong

class RowReader {
 public:
  RowReader(const Row& row, const std::vector<Column>& columns, const ColumnIndex& index, NumberLocale locale,
            std::vector<ReadWarning>& warnings)
      : row_(row), columns_(columns), index_(index), locale_(locale), warnings_(warnings) {}

  RowNumbers read(const Caption& caption) {
    RowNumbers out;
    out.line = row_.line;
    out.name = text(Role::kernel);
    out.op = text(Role::op);
    out.precision_text = text(Role::precision);
    out.calls = read_calls();
    default_scope_ = caption.per_call;
    read_numbers(out);
    out.assumed_totals = assumed_totals_;
    sort_rates(out);
    read_fraction(out);
    read_evidence(out, caption);
    return out;
  }

 private:
  std::string text(Role role) const {
    const int at = index_.of(role);
    return at < 0 ? std::string() : row_.cells[static_cast<std::size_t>(at)];
  }

  void bad(const Column& column, const std::string& problem) {
    warnings_.push_back(
        {"bad-cell", fmt::format("line {}, column '{}': {}; the value is left out", row_.line, column.title, problem),
         std::nullopt});
  }

  std::optional<Printed> cell(int at) {
    if (at < 0) return std::nullopt;
    const auto& column = columns_[static_cast<std::size_t>(at)];
    auto reading = read_cell(row_.cells[static_cast<std::size_t>(at)], column.unit, locale_);
    if (reading.state == CellReading::State::bad) bad(column, reading.problem);
    if (reading.state != CellReading::State::value || !fits(column, reading.printed)) return std::nullopt;
    return reading.printed;
  }

  // Units of another kind of quantity are faults, but a rate may be FLOPs or bytes per second whatever the title says.
  bool fits(const Column& column, const Printed& value) {
    const auto wanted = measure_of(column.role);
    const auto measure = value.measure.value_or(wanted);
    const bool speed = (wanted == Measure::flop_rate || wanted == Measure::byte_rate) &&
                       (measure == Measure::flop_rate || measure == Measure::byte_rate);
    const bool calls = column.role == Role::calls;
    // "GFLOPS" in a column of FLOPs counts.
    const bool counts = wanted == Measure::flops && measure == Measure::flop_rate && !has_slash(column);
    if (measure == wanted || speed || counts || calls) return one_sided_is_fine(column, value);
    bad(column, fmt::format("{} where {} is expected", to_string(measure), to_string(wanted)));
    return false;
  }

  bool has_slash(const Column& column) const {
    const auto at = static_cast<std::size_t>(&column - columns_.data());
    return row_.cells[at].find('/') != std::string::npos;
  }

  bool one_sided_is_fine(const Column& column, const Printed& value) {
    if (value.side == Side::exact || value.side == Side::about) return true;
    if (column.role == Role::time || column.role == Role::calls) {
      bad(column, "a limit is no measurement");
      return false;
    }
    return true;
  }

  double read_calls() {
    const auto value = cell(index_.of(Role::calls));
    if (!value) return 1;
    if (value->value >= 1 && value->value <= kMaxCalls && value->value == std::floor(value->value)) return value->value;
    bad(columns_[static_cast<std::size_t>(index_.of(Role::calls))], "not a whole number of launches from 1 up");
    return 1;
  }

  // Sums over the calls of the row.
  std::optional<Printed> sum(int at, double calls) {
    auto value = cell(at);
    if (!value || calls == 1) return value;
    const auto typed = columns_[static_cast<std::size_t>(at)].per_call;
    const auto scope = typed ? typed : default_scope_;
    if (!scope && value->value > 0) assumed_totals_ = true;
    if (scope.value_or(false)) {
      value->value *= calls;
      value->range = value->range * calls;
    }
    return value;
  }

  void read_numbers(RowNumbers& out) {
    out.flops = sum(index_.of(Role::flops), out.calls);
    out.aux = sum(index_.of(Role::aux), out.calls);
    out.bytes = sum(index_.of(Role::bytes), out.calls);
    out.read = sum(index_.of(Role::read), out.calls);
    out.write = sum(index_.of(Role::write), out.calls);
    out.time = sum(index_.of(Role::time), out.calls);
    if (out.time && out.time->value == 0) {
      bad(columns_[static_cast<std::size_t>(index_.of(Role::time))], "no kernel takes no time");
      out.time.reset();
    }
    out.intensity = cell(index_.of(Role::intensity));
    for (const int at : index_.precise()) {
      if (const auto value = sum(at, out.calls)) {
        out.precise_flops.emplace_back(*columns_[static_cast<std::size_t>(at)].precision, *value);
      }
    }
  }

  // "2.9 TB/s" under "Achieved" is a bandwidth.
  void sort_rates(RowNumbers& out) {
    for (const auto role : {Role::rate, Role::bandwidth}) {
      const auto value = cell(index_.of(role));
      if (!value) continue;
      const auto& column = columns_[static_cast<std::size_t>(index_.of(role))];
      const auto measure = value->measure.value_or(column.unit.measure.value_or(measure_of(role)));
      auto& field = measure == Measure::byte_rate ? out.bandwidth : out.rate;
      if (!field) field = value;
    }
  }

  void read_fraction(RowNumbers& out) {
    const int at = index_.of(Role::fraction);
    out.fraction = cell(at);
    if (!out.fraction) return;
    out.fraction_text = row_.cells[static_cast<std::size_t>(at)];
    const auto& column = columns_[static_cast<std::size_t>(at)];
    const bool percent = out.fraction->measure == Measure::percent || column.unit.measure == Measure::percent;
    if (!percent && out.fraction->value > kSurelyPercent) {
      bad(column, "a fraction above 2; write a percentage with its sign");
      out.fraction.reset();
    }
  }

  void read_evidence(RowNumbers& out, const Caption& caption) {
    out.evidence = caption.evidence;
    if (const auto kind = evidence(Role::evidence)) out.evidence = {*kind, *kind, *kind};
    if (const auto kind = evidence(Role::evidence_flops)) out.evidence.flops = *kind;
    if (const auto kind = evidence(Role::evidence_bytes)) out.evidence.bytes = *kind;
    if (const auto kind = evidence(Role::evidence_time)) out.evidence.time = *kind;
  }

  std::optional<Evidence> evidence(Role role) {
    const auto typed = text(role);
    if (typed.empty()) return std::nullopt;
    const auto kind = parse_stated_evidence(typed);
    if (!kind) {
      bad(columns_[static_cast<std::size_t>(index_.of(role))],
          fmt::format("'{}' is no evidence that a table can state; expected given or model", excerpt(typed)));
    }
    return kind;
  }

  const Row& row_;
  const std::vector<Column>& columns_;
  const ColumnIndex& index_;
  NumberLocale locale_;
  std::vector<ReadWarning>& warnings_;
  std::optional<bool> default_scope_;
  bool assumed_totals_ = false;
};

std::optional<Printed> product(const std::optional<Printed>& a, const std::optional<Printed>& b) {
  if (!a || !b || a->side != Side::exact || b->side != Side::exact) return std::nullopt;
  const double value = a->value * b->value;
  if (!std::isfinite(value)) return std::nullopt;
  return Printed{value, a->range * b->range, std::nullopt, Side::exact};
}

std::optional<Printed> quotient(const std::optional<Printed>& a, const std::optional<Printed>& b) {
  if (!a || !b || a->side != Side::exact || b->side != Side::exact || a->value <= 0 || b->value <= 0) {
    return std::nullopt;
  }
  const double value = a->value / b->value;
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return Printed{value, a->range / b->range, std::nullopt, Side::exact};
}

void fill(Derived& target, const std::optional<Printed>& value, std::string_view how) {
  if (target.value || !value) return;
  target.value = value;
  target.how = how;
}

std::optional<Printed> total_bytes(const RowNumbers& row) {
  if (!row.read && !row.write) return std::nullopt;
  const Printed zero{};
  const auto& read = row.read ? *row.read : zero;
  const auto& write = row.write ? *row.write : zero;
  Printed sum{read.value + write.value, read.range + write.range, std::nullopt, Side::exact};
  // One direction alone, or a limit, is not all of the traffic.
  if (!row.read || !row.write || read.side == Side::at_least || write.side == Side::at_least) sum.side = Side::at_least;
  return sum;
}

std::optional<Printed> total_flops(const RowNumbers& row) {
  if (row.precise_flops.empty()) return std::nullopt;
  Printed sum{};
  for (const auto& [precision, value] : row.precise_flops) {
    if (is_integer(precision.type)) continue;
    sum.value += value.value;
    sum.range = sum.range + value.range;
  }
  return sum;
}

}  // namespace

ColumnIndex::ColumnIndex(const std::vector<Column>& columns, std::vector<ReadWarning>& warnings) {
  first_.fill(-1);
  std::string unknown;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& column = columns[i];
    if (column.role == Role::unknown) {
      if (unknown.size() < 400) unknown += fmt::format("{}'{}'", unknown.empty() ? "" : ", ", excerpt(column.title));
      continue;
    }
    if (column.role == Role::ignored) continue;
    if (column.role == Role::precise_flops) {
      precise_.push_back(static_cast<int>(i));
      continue;
    }
    if (column.ambiguous) {
      warnings.push_back({"ambiguous-column",
                          fmt::format("column '{}' is read as {}; write FLOP or FLOP/s", excerpt(column.title),
                                      column.role == Role::rate ? "FLOP/s" : "FLOPs"),
                          std::nullopt});
    }
    auto& slot = first_[static_cast<std::size_t>(column.role)];
    if (slot < 0) {
      slot = static_cast<int>(i);
      continue;
    }
    warnings.push_back({"duplicate-column",
                        fmt::format("columns '{}' and '{}' say the same; the first one is read",
                                    excerpt(columns[static_cast<std::size_t>(slot)].title), excerpt(column.title)),
                        std::nullopt});
  }
  if (!unknown.empty()) {
    warnings.push_back({"unknown-columns", fmt::format("columns that are not read: {}", unknown), std::nullopt});
  }
}

RowNumbers read_row(const Row& row, const std::vector<Column>& columns, const ColumnIndex& index,
                    const Caption& caption, NumberLocale locale, std::vector<ReadWarning>& warnings) {
  return RowReader(row, columns, index, locale, warnings).read(caption);
}

RowWork derive(const RowNumbers& row) {
  RowWork work;
  fill(work.flops, row.flops, "");
  fill(work.flops, total_flops(row), "");
  fill(work.bytes, row.bytes, "");
  fill(work.bytes, total_bytes(row), "read + write");
  fill(work.time, row.time, "");
  fill(work.flops, product(row.rate, work.time.value), "achieved x time");
  fill(work.flops, product(row.intensity, work.bytes.value), "intensity x bytes");
  fill(work.bytes, product(row.bandwidth, work.time.value), "bandwidth x time");
  fill(work.bytes, quotient(work.flops.value, row.intensity), "FLOPs / intensity");
  fill(work.time, quotient(work.flops.value, row.rate), "FLOPs / achieved");
  fill(work.time, quotient(work.bytes.value, row.bandwidth), "bytes / bandwidth");
  return work;
}

bool is_total_name(std::string_view name, bool last) {
  const auto text = lower(name.substr(0, 64));
  const auto first = std::string_view(text).substr(0, text.find_first_of(" :("));
  if (first == "total" || first == "totals" || text == "grand total" || text == "σ" || text == "Σ") return true;
  // Reductions are called "sum" too; below all others it is one.
  return last && (text == "sum" || text == "step" || text == "overall" || text == "all" || text == "whole step");
}

}  // namespace roofline::table
