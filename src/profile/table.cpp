// Tables that a person typed: CSV, Markdown or aligned columns. docs/tables.md describes what is understood.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "profile/reader.h"
#include "profile/table_caption.h"
#include "profile/table_checks.h"
#include "profile/table_layout.h"
#include "profile/table_row.h"
#include "profile/text_encoding.h"

namespace roofline {
namespace {

using namespace table;  // NOLINT(google-build-using-namespace): this file is that namespace's front door

constexpr std::size_t kMaxPerCode = 100;  // warnings of one kind; more say nothing new
constexpr std::string_view kExpectedHeader =
    "a line of column titles with 'kernel' and at least one of FLOPs, bytes, intensity, achieved, bandwidth, time "
    "(CSV, Markdown, or columns two blanks apart)";

bool is_number_cell(const Row& row, const std::vector<std::vector<Column>>& headers, std::size_t i) {
  return is_number_role(headers[row.header][i].role);
}

struct LocaleVotes {
  std::size_t point = 0;
  std::size_t comma = 0;
  std::size_t ambiguous = 0;
};

LocaleVotes count_votes(const TableText& text) {
  LocaleVotes votes;
  for (const auto& row : text.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (!is_number_cell(row, text.headers, i)) continue;
      const auto number = number_part(row.cells[i]);
      switch (number_shape(number.substr(0, number.find_first_of("eE")))) {
        case NumberShape::point:
          ++votes.point;
          break;
        case NumberShape::comma:
          ++votes.comma;
          break;
        case NumberShape::ambiguous:
          ++votes.ambiguous;
          break;
        default:
          break;
      }
    }
  }
  return votes;
}

NumberLocale decide_locale(const TableText& text, NumberLocale asked, std::vector<ReadWarning>& warnings) {
  if (asked != NumberLocale::automatic) return asked;
  const auto votes = count_votes(text);
  const auto locale = votes.comma > votes.point ? NumberLocale::comma : NumberLocale::point;
  if (votes.comma > 0) {
    warnings.push_back(
        {"decimal-comma",
         fmt::format("{} numbers have a decimal comma, {} a decimal point; {} that could be either are "
                     "read with a decimal {}; --locale decides",
                     votes.comma, votes.point, votes.ambiguous, locale == NumberLocale::comma ? "comma" : "point"),
         std::nullopt});
  }
  return locale;
}

// --- rows to launches ---

std::string rows_counted(std::size_t n) { return n == 1 ? "one row" : fmt::format("{} rows", n); }

std::string rows_having(std::size_t n) { return rows_counted(n) + (n == 1 ? " has" : " have"); }

class TableReader {
 public:
  TableReader(const Input& input, const TableText& text, const ReadOptions& options)
      : input_(input), text_(text), locale_(decide_locale(text, options.locale, warnings_)) {
    std::vector<LayoutWarning> found = text.warnings;
    caption_ = read_caption(text.lines, locale_, found);
    for (auto& w : found) warnings_.push_back({std::move(w.code), std::move(w.message), std::nullopt});
    profile_.format = "table";
    profile_.strings = std::make_shared<StringPool>();
    profile_.machine = caption_.machine;
    DeviceInfo device;
    device.name = caption_.machine;
    profile_.devices.push_back(std::move(device));
    set_default_precision();
  }

  Profile read() {
    for (const auto& columns : text_.headers) indices_.emplace_back(columns, warnings_);
    for (std::size_t i = 0; i < text_.rows.size(); ++i) read_one(i);
    for (const auto& line : text_.lines) {
      if (line.before_rows) continue;
      if (const auto total = read_total(line, locale_)) totals_.push_back(*total);
    }
    if (rows_.empty()) {
      refuse_at_line(input_, text_.header_line, "no-rows", "a table without kernels below this header",
                     "one line per kernel");
    }
    refuse_if_empty();
    check_caption(caption_, warnings_);
    for (const auto& row : rows_) check_row(row, caption_, warnings_);
    for (const auto& total : totals_) check_totals(rows_, total, caption_, warnings_);
    warn_about_precision();
    if (assumed_totals_ > 0) {
      warnings_.push_back(
          {"assumed-totals",
           fmt::format("{} several launches, with figures that are taken as sums over them; a line 'values: total' or "
                       "'values: per call' above the table says it for sure",
                       rows_having(assumed_totals_)),
           std::nullopt});
    }
    hand_over_warnings();
    return std::move(profile_);
  }

 private:
  void set_default_precision() {
    const auto& typed = caption_.precision.empty() ? caption_.data_type : caption_.precision;
    if (typed.empty()) return;
    default_ = parse_stated_precision(typed);
    if (!default_) {
      warnings_.push_back({"bad-precision",
                           fmt::format("'{}' is no precision; expected one like bf16.tensor or "
                                       "fp32.vector",
                                       excerpt(typed)),
                           std::nullopt});
    }
  }

  void read_one(std::size_t i) {
    const auto& row = text_.rows[i];
    if (std::all_of(row.cells.begin(), row.cells.end(), [](const std::string& c) { return c.empty(); })) return;
    const bool last = i + 1 == text_.rows.size() || text_.rows[i + 1].header != row.header;
    auto numbers = read_row(row, text_.headers[row.header], indices_[row.header], caption_, locale_, warnings_);
    if (is_total_name(numbers.name, last)) {
      totals_.push_back({row.line, numbers.flops, numbers.bytes, numbers.time});
      return;
    }
    if (numbers.name.empty()) {
      warnings_.push_back({"no-name", fmt::format("line {}: a row without a kernel name", row.line), std::nullopt});
      numbers.name = fmt::format("(line {})", row.line);
    }
    CheckedRow checked{std::move(numbers), {}, {}, profile_.launches.size()};
    checked.work = derive(checked.numbers);
    const auto precision = precision_of(checked.numbers);
    if (precision) checked.precision = precision->precision;
    if (checked.numbers.assumed_totals) ++assumed_totals_;
    add_launch(checked);
    rows_.push_back(std::move(checked));
  }

  // A table whose titles fit by chance.
  void refuse_if_empty() const {
    const bool any = std::any_of(rows_.begin(), rows_.end(), [](const CheckedRow& r) {
      const auto& n = r.numbers;
      return r.work.flops.value || r.work.bytes.value || r.work.time.value || n.intensity || n.rate || n.bandwidth;
    });
    if (any) return;
    refuse_at_line(input_, text_.header_line, "no-values",
                   rows_.size() == 1
                       ? "a table whose only row has neither FLOPs, bytes, time nor a rate"
                       : fmt::format("a table in which none of {} rows has FLOPs, bytes, time or a rate", rows_.size()),
                   "numbers such as 1.2 G, 0.61 GB or 2.4 ms");
  }

  std::optional<StatedPrecision> precision_of(const RowNumbers& row) {
    const auto typed = lower(row.precision_text.substr(0, 16));
    if (typed.empty() || typed == "-" || typed == "?" || typed == "unknown") {
      if (row.flops && row.flops->value > 0 && default_ && caption_.precision.empty()) ++from_caption_;
      if (row.flops && default_ && default_->assumed_path) ++assumed_path_;
      return default_;
    }
    auto stated = parse_stated_precision(row.precision_text);
    if (!stated) {
      warnings_.push_back({"bad-precision",
                           fmt::format("line {}: '{}' is no precision; expected one like bf16.tensor or fp32.vector",
                                       row.line, excerpt(row.precision_text)),
                           profile_.launches.size()});
    } else if (stated->assumed_path) {
      ++assumed_path_;
    }
    return stated;
  }

  void add_launch(const CheckedRow& row) {
    Launch launch;
    launch.name = intern_name(row.numbers.name);
    if (!row.numbers.op.empty()) launch.op = intern_name(row.numbers.op);
    launch.ordinal = row.launch;
    launch.count = static_cast<std::uint64_t>(row.numbers.calls);
    launch.time_basis = time_evidence(row) == Evidence::model ? TimeBasis::model : TimeBasis::given;
    launch.given = std::make_shared<const Work>(work_of(row));
    launch.claims = std::make_shared<const Claims>(claims_of(row));
    profile_.launches.push_back(std::move(launch));
  }

  // Control characters would reach terminals and JSON.
  std::string_view intern_name(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
    return profile_.strings->intern(name);
  }

  static Claims claims_of(const CheckedRow& row) {
    const auto value = [](const std::optional<Printed>& p) { return p ? std::optional(p->value) : std::nullopt; };
    const auto& n = row.numbers;
    Claims claims;
    claims.intensity = value(n.intensity);
    claims.flops_per_s = value(n.rate);
    claims.bytes_per_s = value(n.bandwidth);
    claims.fraction = value(n.fraction);
    claims.fraction_text = n.fraction_text;
    claims.line = n.line;
    return claims;
  }

  static Evidence stated_or_given(Evidence evidence) {
    return evidence == Evidence::absent ? Evidence::given : evidence;
  }

  static Evidence time_evidence(const CheckedRow& row) { return stated_or_given(row.numbers.evidence.time); }

  // Rows of one table share their provenance.
  ProvenancePtr provenance(std::string_view recipe) {
    auto& slot = provenance_[std::string(recipe)];
    if (!slot) {
      const std::string note = caption_.source.empty() ? std::string() : fmt::format("source: {}", caption_.source);
      slot = std::make_shared<const Provenance>(
          Provenance{recipe.empty() ? "typed" : fmt::format("typed {}", recipe), {}, note});
    }
    return slot;
  }

  // Per launch. What follows from typed numbers is as typed as they are: no better evidence than `given`.
  Quantity quantity(const std::optional<Printed>& value, std::string_view how, Evidence evidence, double calls) {
    if (!value) return Quantity::absent("the table does not say");
    const auto bound = value->side == Side::at_least  ? Bound::lower
                       : value->side == Side::at_most ? Bound::upper
                                                      : Bound::exact;
    const auto kind = how.empty() || how == "read + write" ? stated_or_given(evidence) : Evidence::given;
    return Quantity::of(value->value / calls, kind, provenance(how), bound);
  }

  Work work_of(const CheckedRow& row) {
    const auto& n = row.numbers;
    Work work;
    work.time = quantity(row.work.time.value, row.work.time.how, n.evidence.time, n.calls);
    auto& dram = work.level(MemoryLevel::dram);
    dram.definition = "dram";
    dram.total = quantity(row.work.bytes.value, row.work.bytes.how, n.evidence.bytes, n.calls);
    if (n.read) dram.read = quantity(n.read, "", n.evidence.bytes, n.calls);
    if (n.write) dram.write = quantity(n.write, "", n.evidence.bytes, n.calls);
    if (n.aux) work.aux_ops = quantity(n.aux, "", n.evidence.flops, n.calls);
    set_operations(row, work);
    return work;
  }

  void set_operations(const CheckedRow& row, Work& work) {
    const auto& n = row.numbers;
    for (const auto& [precision, value] : n.precise_flops) {
      work.operations.push_back({precision, quantity(value, "", n.evidence.flops, n.calls), std::nullopt});
      if (precision.type == NumberType::unknown && value.value > 0) ++without_precision_;
    }
    if (!work.operations.empty()) return;
    const auto flops = quantity(row.work.flops.value, row.work.flops.how, n.evidence.flops, n.calls);
    if (!flops) {
      work.coverage.uncounted.emplace_back("flops");
      work.coverage.reason = "the table has no FLOPs for this row";
      return;
    }
    // No operations are none under every roof; others of unknown precision count, but no peak is theirs.
    const Precision unstated = {flops.value() == 0 ? NumberType::fp32 : NumberType::unknown, Path::vector};
    const auto precision = row.precision.value_or(unstated);
    if (precision.type == NumberType::unknown) ++without_precision_;
    work.operations.push_back({precision, flops, std::nullopt});
  }

  void warn_about_precision() {
    if (without_precision_ > 0) {
      warnings_.push_back(
          {"no-precision",
           fmt::format(
               "{} FLOPs of unknown precision: they are shown, but no compute roof applies to them; add a column "
               "'precision' or a line 'precision: bf16.tensor' above the table",
               rows_having(without_precision_)),
           std::nullopt});
    }
    if (from_caption_ > 0) {
      warnings_.push_back(
          {"assumed-precision",
           fmt::format("the FLOPs of {} are taken as {}, because the caption says '{}'; a column 'precision' "
                       "says it for sure",
                       rows_counted(from_caption_), to_string(default_->precision), caption_.data_type),
           std::nullopt});
    } else if (assumed_path_ > 0) {
      warnings_.push_back(
          {"assumed-path",
           fmt::format("the precision of {} does not name its path; FP64 is taken as vector, smaller types as "
                       "tensor; write for example bf16.tensor",
                       rows_counted(assumed_path_)),
           std::nullopt});
    }
  }

  void hand_over_warnings() {
    std::map<std::string, std::size_t> seen;
    for (auto& warning : warnings_) {
      if (++seen[warning.code] <= kMaxPerCode) profile_.warnings.push_back(std::move(warning));
    }
    for (const auto& [code, count] : seen) {
      if (count <= kMaxPerCode) continue;
      profile_.warnings.push_back({code, fmt::format("{} more of this kind", count - kMaxPerCode), std::nullopt});
    }
  }

  const Input& input_;
  const TableText& text_;
  std::vector<ReadWarning> warnings_;  // before locale_: deciding it may warn
  NumberLocale locale_;
  Caption caption_;
  std::optional<StatedPrecision> default_;
  std::vector<ColumnIndex> indices_;
  std::vector<CheckedRow> rows_;
  std::vector<StatedTotal> totals_;
  std::map<std::string, ProvenancePtr> provenance_;
  std::size_t without_precision_ = 0;
  std::size_t from_caption_ = 0;
  std::size_t assumed_path_ = 0;
  std::size_t assumed_totals_ = 0;
  Profile profile_;
};

}  // namespace

bool looks_like_table(std::string_view given) {
  std::string storage;
  const auto head = head_as_utf8(given, storage);
  if (head.find('\0') != std::string_view::npos) return false;
  return has_header(head);
}

Profile read_table(const Input& input, const ReadOptions& options) {
  const auto utf8 = to_utf8(input.bytes);
  const auto text = split_table(utf8.text);
  try {
    if (text.headers.empty()) refuse(input, "no-header", "no table", std::string(kExpectedHeader));
    return TableReader(input, text, options).read();
  } catch (const InputError& fault) {
    if (!options.partial) throw;
    Profile nothing;
    nothing.format = "table";
    nothing.strings = std::make_shared<StringPool>();
    keep_partial(nothing, fault);
    return nothing;
  }
}

}  // namespace roofline
