// One cell of a table that a person typed: a number, a unit, and how far rounding may have moved it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/letter_case.h"
#include "profile/text_number.h"

namespace roofline::table {

enum class Measure : std::uint8_t { plain, flops, bytes, time, flop_rate, byte_rate, intensity, percent };
std::string_view to_string(Measure measure);

// A closed range of non-negative numbers. Sums, products and quotients are those of interval arithmetic.
struct Interval {
  double low = 0;
  double high = 0;
  bool overlaps(const Interval& other) const;  // with a little slack for binary rounding
  std::optional<Interval> intersect(const Interval& other) const;
};
Interval operator+(const Interval& a, const Interval& b);
Interval operator*(const Interval& a, const Interval& b);
Interval operator/(const Interval& a, const Interval& b);  // b.low == 0 gives an open end
Interval operator*(const Interval& a, double factor);
Interval max(const Interval& a, const Interval& b);

// `measure` is absent for a bare prefix ("1.2 G"): the column says what it counts.
struct CellUnit {
  std::optional<Measure> measure;
  double factor = 1;
};
// "G", "GB", "GiB", "TF/s", "TFLOP/s", "us", "%", "FLOP/byte", ... "GFLOPs" counts, "GFLOPS" is a rate.
// nullopt for anything else.
std::optional<CellUnit> parse_cell_unit(std::string_view word);
// An SI prefix before "flops", not followed by "/s", in a spelling that people use for counts and for rates alike.
bool is_ambiguous_flops(std::string_view word);

// Side of the truth that "≥" or "<" before a number puts it on.
enum class Side : std::uint8_t { exact, about, at_least, at_most };

struct Printed {
  double value = 0;                // base units
  Interval range;                  // every value that prints like this
  std::optional<Measure> measure;  // from the cell's own unit
  Side side = Side::exact;
};

// The number in front of the unit: "97" of "97% of memory roof"; empty when the cell does not start with one.
std::string_view number_part(std::string_view cell);

struct CellReading {
  enum class State : std::uint8_t { empty, value, bad };
  State state = State::empty;
  Printed printed;
  std::string problem;  // what is wrong with a bad cell
};
// `column` scales a cell that brings no unit or only a prefix. Never throws.
CellReading read_cell(std::string_view cell, const CellUnit& column, NumberLocale locale);

// Without Markdown emphasis and blanks around: "**qkv**" is "qkv".
std::string_view plain_text(std::string_view cell);
// For messages: at most 40 characters, no control characters.
std::string excerpt(std::string_view text);

}  // namespace roofline::table
