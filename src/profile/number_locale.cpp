#include "profile/number_locale.h"

#include <fmt/format.h>

namespace roofline {
namespace {

std::string quote(std::string_view cell, std::string_view unit, std::uint64_t line) {
  return fmt::format("\"{}\"{}{} in line {}", cell, unit.empty() ? "" : " ", unit, line);
}

NumberLocale with_decimal(char mark) { return mark == ',' ? NumberLocale::comma : NumberLocale::point; }
NumberLocale with_grouping(char mark) { return mark == ',' ? NumberLocale::point : NumberLocale::comma; }

// Fractions of a nanosecond or of a byte are not printed, so the mark groups digits. Larger units were chosen to keep
// the number small, and nothing has a thousand percent, so there the mark is the decimal one.
std::optional<NumberLocale> locale_by_unit(char mark, std::string_view unit_text) {
  const auto unit = parse_unit(unit_text);
  if (!unit || unit_text.empty()) return std::nullopt;
  const bool base = unit->dimension == Dimension::time ? unit->exponent == -9 : unit->exponent == 0;
  switch (unit->dimension) {
    case Dimension::time:
    case Dimension::bytes:
      return base ? with_grouping(mark) : with_decimal(mark);
    case Dimension::percent:
      return with_decimal(mark);
    case Dimension::frequency:
    case Dimension::byte_rate:
      if (!base) return with_decimal(mark);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

void LocaleEvidence::add(std::string_view cell, std::string_view unit, std::uint64_t line) {
  if (cell.find_first_of(".,") == std::string_view::npos) return;
  switch (number_shape(cell)) {
    case NumberShape::not_a_number:
    case NumberShape::plain:
      return;
    case NumberShape::ambiguous:
      add_ambiguous(cell, unit, line);
      return;
    case NumberShape::point:
    case NumberShape::comma:
      break;
  }
  auto& slot = unit.empty() ? without_unit_ : with_unit_;
  if (slot) return;
  const auto locale = number_shape(cell) == NumberShape::comma ? NumberLocale::comma : NumberLocale::point;
  slot = Verdict{locale, false, quote(cell, unit, line), line};
}

void LocaleEvidence::add_ambiguous(std::string_view cell, std::string_view unit, std::uint64_t line) {
  const char mark = cell[cell.find_first_of(".,")];
  const auto locale = locale_by_unit(mark, unit);
  if (!locale) {
    if (!undecided_) undecided_ = Verdict{NumberLocale::point, true, quote(cell, unit, line), line};
  } else if (!hint_) {
    hint_ = Verdict{*locale, true, quote(cell, unit, line), line};
  } else if (hint_->locale != *locale && !other_hint_) {
    other_hint_ = Verdict{*locale, true, quote(cell, unit, line), line};
  }
}

std::optional<LocaleEvidence::Verdict> LocaleEvidence::verdict(std::string* clash) const {
  if (with_unit_) return with_unit_;
  if (without_unit_) return without_unit_;
  if (hint_ && other_hint_) {
    if (clash != nullptr) *clash = hint_->evidence + " and " + other_hint_->evidence;
    return std::nullopt;
  }
  if (hint_) return hint_;
  if (undecided_) return undecided_;
  return Verdict{};
}

}  // namespace roofline
