#include "profile/table_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace roofline::table {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSlack = 1e-9;         // relative; decimal digits are not exact in binary
constexpr double kAbout = 0.05;         // "~" stands for that much, either way
constexpr std::size_t kMaxNumber = 64;  // characters; no person types more digits
constexpr std::size_t kExcerpt = 40;

constexpr std::array<std::string_view, 8> kMeasureNames = {"a plain number", "FLOPs",   "bytes",     "a time",
                                                           "FLOP/s",         "bytes/s", "FLOP/byte", "a percentage"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<double> prefix_factor(char c) {
  switch (c) {
    case 'k':
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'G':
      return 1e9;
    case 'T':
      return 1e12;
    case 'P':
      return 1e15;
    case 'E':
      return 1e18;
    default:
      return std::nullopt;
  }
}

struct Prefixed {
  double factor = 1;
  std::string_view rest;
};

Prefixed split_prefix(std::string_view word) {
  if (word.size() > 1) {
    if (const auto factor = prefix_factor(word.front())) return {*factor, word.substr(1)};
  }
  return {1, word};
}

// Spellings that the shared unit table leaves to the context of a kernel table.
std::optional<CellUnit> table_unit(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, Measure>, 17> kSpellings = {{
      {"FLOP", Measure::flops},
      {"FLOPs", Measure::flops},
      {"Flop", Measure::flops},
      {"Flops", Measure::flops},
      {"flop", Measure::flops},
      {"F", Measure::flops},
      {"OP", Measure::flops},
      {"OPs", Measure::flops},
      {"F/s", Measure::flop_rate},
      {"FLOPS", Measure::flop_rate},
      {"flops", Measure::flop_rate},
      {"FLOPs/s", Measure::flop_rate},
      {"FLOPS/s", Measure::flop_rate},
      {"OPS", Measure::flop_rate},
      {"OP/s", Measure::flop_rate},
      {"OPs/s", Measure::flop_rate},
      {"B", Measure::bytes},
  }};
  const auto [factor, rest] = split_prefix(word);
  for (const auto& [spelling, measure] : kSpellings) {
    if (rest == spelling) return CellUnit{measure, factor};
  }
  return std::nullopt;
}

std::optional<CellUnit> intensity_unit(std::string_view word) {
  static constexpr std::array<std::string_view, 9> kSpellings = {"flop/b", "flop/byte", "flops/b", "flops/byte", "f/b",
                                                                 "op/b",   "ops/b",     "op/byte", "ops/byte"};
  const auto text = lower(word);
  if (std::find(kSpellings.begin(), kSpellings.end(), text) == kSpellings.end()) return std::nullopt;
  return CellUnit{Measure::intensity, 1};
}

std::optional<CellUnit> shared_unit(std::string_view word) {
  const auto unit = parse_unit(word);
  if (!unit) return std::nullopt;
  switch (unit->dimension) {
    case Dimension::percent:
      return CellUnit{Measure::percent, 0.01};
    case Dimension::time:
      return CellUnit{Measure::time, unit->factor()};
    case Dimension::bytes:
      return CellUnit{Measure::bytes, unit->factor()};
    case Dimension::byte_rate:
      return CellUnit{Measure::byte_rate, unit->factor()};
    case Dimension::flops:
      return CellUnit{Measure::flops, unit->factor()};
    case Dimension::flop_rate:
      return CellUnit{Measure::flop_rate, unit->factor()};
    default:
      return std::nullopt;
  }
}

// --- the number ---

bool starts_with_any(std::string_view text, std::string_view& matched, std::initializer_list<std::string_view> marks) {
  for (const auto mark : marks) {
    if (text.starts_with(mark)) {
      matched = mark;
      return true;
    }
  }
  return false;
}

Side take_side(std::string_view& text) {
  std::string_view mark;
  auto side = Side::exact;
  if (starts_with_any(text, mark, {"≥", ">=", ">"})) {
    side = Side::at_least;
  } else if (starts_with_any(text, mark, {"≤", "<=", "<"}) && !text.starts_with("<-")) {
    side = Side::at_most;
  } else if (starts_with_any(text, mark, {"~", "≈", "∼", "ca.", "about "})) {
    side = Side::about;
  }
  if (side != Side::exact) text = trim(text.substr(mark.size()));
  return side;
}

// End of the digits and separators from `at` on; a blank belongs to the number only between groups of digits.
std::size_t mantissa_end(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    const bool blank = c == ' ' && at > 0 && is_digit(text[at - 1]) && at + 1 < text.size() && is_digit(text[at + 1]);
    if (!is_digit(c) && c != '.' && c != ',' && c != '\'' && !blank) break;
    ++at;
  }
  return at;
}

std::size_t exponent_end(std::string_view text, std::size_t at) {
  if (at >= text.size() || (text[at] != 'e' && text[at] != 'E')) return at;
  auto digits = at + 1;
  if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
  auto end = digits;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end == digits ? at : end;
}

struct Mantissa {
  std::string_view digits;  // with separators, no sign
  int exponent = 0;
  bool negative = false;
};

Mantissa split_number(std::string_view text) {
  Mantissa m;
  if (text.starts_with('-') || text.starts_with('+')) {
    m.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const auto end = mantissa_end(text, 0);
  m.digits = text.substr(0, end);
  auto power = text.substr(end);
  if (power.size() > 1) power.remove_prefix(1);
  const bool down = power.starts_with('-');
  for (const char c : power) {
    if (is_digit(c)) m.exponent = std::min(m.exponent * 10 + (c - '0'), 9999);
  }
  if (down) m.exponent = -m.exponent;
  return m;
}

char decimal_mark(std::string_view digits, NumberLocale locale) {
  switch (number_shape(digits)) {
    case NumberShape::comma:
      return ',';
    case NumberShape::ambiguous:
      return locale == NumberLocale::comma ? ',' : '.';
    default:
      return '.';
  }
}

// Half a unit of the last digit that means something. Zeros at the end of a whole number may be filling: two digits
// are taken for meant.
double half_step(std::string_view digits, char mark) {
  const auto point = digits.rfind(mark);
  const auto is_digit_char = [](char c) { return is_digit(c); };
  if (point != std::string_view::npos) {
    const auto fraction = digits.substr(point + 1);
    return 0.5 * std::pow(10.0, -static_cast<double>(std::count_if(fraction.begin(), fraction.end(), is_digit_char)));
  }
  std::string plain;
  std::copy_if(digits.begin(), digits.end(), std::back_inserter(plain), is_digit_char);
  std::size_t zeros = 0;
  while (plain.size() - zeros > 2 && plain[plain.size() - 1 - zeros] == '0') ++zeros;
  return 0.5 * std::pow(10.0, static_cast<double>(zeros));
}

// --- the unit behind it ---

// Words that may follow a number and its unit without changing them.
bool is_note(std::string_view text) {
  std::string_view mark;
  return text.empty() || starts_with_any(text, mark, {"(", "[", "←", "<-", "<=", "#", "*", "†", "‡", "of ", "—", "–"});
}

struct UnitReading {
  CellUnit unit;
  bool present = false;
  std::string problem;
};

UnitReading read_unit(std::string_view rest) {
  UnitReading reading;
  if (is_note(rest)) return reading;
  const auto space = rest.find_first_of(" \t");
  auto word = rest.substr(0, space);
  auto after = space == std::string_view::npos ? std::string_view{} : trim(rest.substr(space));
  if (word.size() > 1 && word.starts_with('%')) {  // "97%of roof"
    after = rest.substr(1);
    word = rest.substr(0, 1);
    if (!is_note(trim(after)) && !after.starts_with("of")) after = rest;
  }
  auto unit = parse_cell_unit(word);
  if (!unit) {
    reading.problem = fmt::format("unknown unit '{}'", excerpt(word));
    return reading;
  }
  if (!unit->measure && !is_note(after)) {  // "1.2 G FLOP"
    const auto next = after.substr(0, after.find_first_of(" \t"));
    if (const auto base = parse_cell_unit(next); base && base->measure) {
      unit = CellUnit{base->measure, unit->factor * base->factor};
      after = trim(after.substr(next.size()));
    }
  }
  if (!is_note(after) && !after.starts_with("of")) {
    reading.problem = fmt::format("unexpected '{}' after the number", excerpt(after));
    return reading;
  }
  reading.unit = *unit;
  reading.present = true;
  return reading;
}

CellReading bad(std::string problem) { return {CellReading::State::bad, {}, std::move(problem)}; }

bool is_blank_cell(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kBlank = {"-", "--", "—", "–", "?", "n/a", "na", "none", "unknown"};
  if (text.empty()) return true;
  if (text.size() > 8) return false;
  return std::find(kBlank.begin(), kBlank.end(), lower(text)) != kBlank.end();
}

double factor_of(const UnitReading& cell, const CellUnit& column) {
  if (!cell.present) return column.factor;
  return cell.unit.factor;
}

Interval range_of(double value, double half, Side side) {
  switch (side) {
    case Side::at_least:
      return {std::max(0.0, value - half), kInfinity};
    case Side::at_most:
      return {0, value + half};
    case Side::about:
      half = std::max(half, kAbout * value);
      break;
    case Side::exact:
      break;
  }
  return {std::max(0.0, value - half), value + half};
}

}  // namespace

std::string_view to_string(Measure measure) { return kMeasureNames[static_cast<std::size_t>(measure)]; }

bool Interval::overlaps(const Interval& other) const {
  return low <= other.high * (1 + kSlack) && other.low <= high * (1 + kSlack);
}

std::optional<Interval> Interval::intersect(const Interval& other) const {
  const Interval both{std::max(low, other.low), std::min(high, other.high)};
  if (both.low > both.high * (1 + kSlack)) return std::nullopt;
  return Interval{std::min(both.low, both.high), both.high};
}

Interval operator+(const Interval& a, const Interval& b) { return {a.low + b.low, a.high + b.high}; }

Interval operator*(const Interval& a, const Interval& b) {
  // An open end times an exact zero says nothing about the product's upper end.
  const double high = a.high * b.high;
  if (std::isnan(high)) return {a.low * b.low, kInfinity};
  return {a.low * b.low, high};
}

Interval operator/(const Interval& a, const Interval& b) {
  const double low = a.low / b.high;
  return {std::isnan(low) ? 0.0 : low, b.low > 0 ? a.high / b.low : kInfinity};
}

Interval operator*(const Interval& a, double factor) { return {a.low * factor, a.high * factor}; }

Interval max(const Interval& a, const Interval& b) { return {std::max(a.low, b.low), std::max(a.high, b.high)}; }

std::optional<CellUnit> parse_cell_unit(std::string_view word) {
  word = trim(word);
  if (word.empty() || word.size() > 24) return std::nullopt;
  if (word.size() == 1) {
    if (const auto factor = prefix_factor(word.front())) return CellUnit{std::nullopt, *factor};
    if (word == "%") return CellUnit{Measure::percent, 0.01};
  }
  if (auto unit = table_unit(word)) return unit;
  if (auto unit = intensity_unit(word)) return unit;
  return shared_unit(word);
}

bool is_ambiguous_flops(std::string_view word) {
  const auto text = lower(word);
  if (text.size() != 6 || text.substr(1) != "flops") return false;
  return std::string_view("kmgtpe").find(text.front()) != std::string_view::npos && !word.ends_with("FLOPs");
}

std::string_view plain_text(std::string_view cell) {
  cell = trim(cell);
  while (cell.size() >= 2 && (cell.front() == '*' || cell.front() == '`' || cell.front() == '_') &&
         cell.back() == cell.front()) {
    cell = trim(cell.substr(1, cell.size() - 2));
  }
  return cell;
}

std::string_view number_part(std::string_view cell) {
  auto text = plain_text(cell);
  take_side(text);
  const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  if (sign >= text.size() || !(is_digit(text[sign]) || (text[sign] == '.' || text[sign] == ','))) return {};
  const auto end = mantissa_end(text, sign);
  return text.substr(0, exponent_end(text, end));
}

CellReading read_cell(std::string_view cell, const CellUnit& column, NumberLocale locale) {
  auto text = plain_text(cell);
  if (is_blank_cell(text) || is_note(text)) return {};
  const auto side = take_side(text);
  const auto number = number_part(text);
  if (number.empty() || number.size() > kMaxNumber) return bad(fmt::format("'{}' is not a number", excerpt(cell)));
  const auto parts = split_number(number);
  const auto mark = decimal_mark(parts.digits, locale);
  const auto digits = parse_number(parts.digits, mark == ',' ? NumberLocale::comma : NumberLocale::point);
  if (!digits) return bad(fmt::format("'{}' is not a number", excerpt(cell)));
  if (parts.negative && *digits != 0) return bad(fmt::format("'{}' is negative", excerpt(cell)));
  const auto unit = read_unit(trim(text.substr(number.size())));
  if (!unit.problem.empty()) return bad(unit.problem);
  const double scale = std::pow(10.0, parts.exponent) * factor_of(unit, column);
  CellReading reading{CellReading::State::value, {}, {}};
  reading.printed.value = *digits * scale;
  if (!std::isfinite(reading.printed.value)) return bad(fmt::format("'{}' is not a finite number", excerpt(cell)));
  reading.printed.range = range_of(reading.printed.value, half_step(parts.digits, mark) * scale, side);
  reading.printed.side = side;
  if (unit.present) reading.printed.measure = unit.unit.measure;
  return reading;
}

std::string excerpt(std::string_view text) {
  text = trim(text);
  const bool cut = text.size() > kExcerpt;
  std::string shown(text.substr(0, kExcerpt));
  // A cut inside a character would leave broken UTF-8 in the message.
  if (cut) {
    while (!shown.empty() && (static_cast<unsigned char>(text[shown.size()]) & 0xC0U) == 0x80U) shown.pop_back();
    shown += "...";
  }
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return shown;
}

}  // namespace roofline::table
