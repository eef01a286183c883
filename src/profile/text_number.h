// Numbers and units as text exports write them. Shared by every text reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "roofline/profile.h"

namespace roofline {

enum class Dimension : std::uint8_t {
  count,       // instructions, sectors, warps, cycles, plain numbers ...: base 1
  percent,     // base 1 %
  time,        // base second
  frequency,   // base hertz; cycles per second are hertz
  bytes,       // base byte
  byte_rate,   // base byte per second
  count_rate,  // base 1 per second (inst/s, sector/s); not hertz
  flops,       // base FLOP
  flop_rate,   // base FLOP per second
};

// A unit as dimension and factor to the dimension's base unit: 10^exponent x multiple. Kept apart so that decimal
// conversions are exact. Per-cycle, per-warp, per-block ... denominators do not scale and are dropped.
struct Unit {
  Dimension dimension = Dimension::count;
  int exponent = 0;
  double multiple = 1;  // for binary prefixes and minutes
  double factor() const;
};

// Any spelling of ncu and nvprof ("nsecond", "us", "Mbyte", "Gbyte/s", "cycle/nsecond", "inst/cycle", "%", "") and the
// usual hand-written ones ("KB", "GB/s", "KiB", "GFLOP/s", "TFLOPS", "MHz", "µs", "sec"). K, M, G are powers of 1000;
// KiB, MiB, GiB of 1024. nullopt for an unknown unit.
std::optional<Unit> parse_unit(std::string_view text);

// `value` given in `from`, expressed in `to`. nullopt when the dimensions differ in a way that changes the number.
std::optional<double> convert(double value, const Unit& from, const Unit& to);

// What the spelling alone says about the decimal separator.
enum class NumberShape : std::uint8_t {
  not_a_number,
  plain,      // no separator: the same in every locale
  point,      // only readable with a decimal point: "1,234.5", "0.25", "12.5"
  comma,      // only readable with a decimal comma: "1.234,5", "65,77"
  ambiguous,  // one kind of separator before exactly three digits: "117.344", "1,234"
};
NumberShape number_shape(std::string_view text);

// Grouping marks (comma or point, also space, no-break space, apostrophe) must stand where groups end. `automatic`
// reads only what has one reading. nullopt for anything else, also for "", "n/a", "nan" and "inf". No unit suffix.
std::optional<double> parse_number(std::string_view text, NumberLocale locale);

// "", "n/a", "N/A", "nan", "-nan(ind)", "inf", "-": the profiler has no value.
bool is_not_available(std::string_view text);

// Without leading and trailing blanks.
std::string_view trim(std::string_view text);

}  // namespace roofline
