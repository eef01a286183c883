#include "profile/text_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>

#include "core/letter_case.h"

namespace roofline {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// --- units ---

constexpr std::string_view kMicro = "\xC2\xB5";  // micro sign
constexpr std::string_view kMu = "\xCE\xBC";     // Greek letter mu

// Things that are counted. Profilers name a handful; an unknown word must not pass for a count.
constexpr auto kCounted = std::to_array<std::string_view>(
    {"inst",     "instruction", "instructions", "op",      "ops",       "sector",     "sectors",  "request",
     "requests", "transaction", "transactions", "warp",    "warps",     "thread",     "threads",  "block",
     "blocks",   "register",    "registers",    "cycle",   "cycles",    "cluster",    "clusters", "sample",
     "samples",  "sm",          "tpc",          "gpc",     "wavefront", "wavefronts", "packet",   "packets",
     "tag",      "tags",        "query",        "queries", "pass",      "passes",     "unit",     "units",
     "bit",      "bits",        "quad",         "event",   "events",    "branch",     "branches", "link"});

bool is_counted(std::string_view word) { return std::find(kCounted.begin(), kCounted.end(), word) != kCounted.end(); }

struct Prefix {
  int exponent = 0;
  double multiple = 1;
};

// K, M, G, T, P in either case; "Ki" ... are binary.
std::optional<Prefix> large_prefix(std::string_view text) {
  if (text.empty()) return Prefix{};
  constexpr std::string_view kLetters = "kmgtp";
  const auto step = kLetters.find(lower(text[0]));
  if (step == std::string_view::npos) return std::nullopt;
  const int power = static_cast<int>(step) + 1;
  if (text.size() == 1) return Prefix{3 * power, 1};
  if (text.size() == 2 && text[1] == 'i') return Prefix{0, std::pow(1024.0, power)};
  return std::nullopt;
}

// The text before `suffix` as a prefix; nullopt when `text` ends otherwise.
std::optional<Prefix> prefix_before(std::string_view text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return std::nullopt;
  return large_prefix(text.substr(0, text.size() - suffix.size()));
}

std::optional<Unit> time_unit(std::string_view text) {
  const std::string word = lower(text);
  if (is_one_of(word, {"ns", "nsec", "nsecond", "nseconds", "nanosecond", "nanoseconds"})) {
    return Unit{Dimension::time, -9, 1};
  }
  if (is_one_of(word, {"us", "usec", "usecond", "useconds", "microsecond", "microseconds"}) ||
      word == std::string(kMicro) + "s" || word == std::string(kMu) + "s") {
    return Unit{Dimension::time, -6, 1};
  }
  if (is_one_of(word, {"ms", "msec", "msecond", "mseconds", "millisecond", "milliseconds"})) {
    return Unit{Dimension::time, -3, 1};
  }
  if (is_one_of(word, {"s", "sec", "secs", "second", "seconds"})) return Unit{Dimension::time, 0, 1};
  if (is_one_of(word, {"min", "minute", "minutes"})) return Unit{Dimension::time, 0, 60};
  return std::nullopt;
}

std::optional<Unit> byte_unit(std::string_view text) {
  // "Gb" is gigabit to some and gigabyte to others: unknown. All lower case is bytes, nobody writes bits so.
  const bool plain_lower = lower(text) == text;
  if (text.ends_with('b') && !plain_lower) return std::nullopt;
  const std::string word = lower(text);
  for (const std::string_view suffix : {"bytes", "byte", "b"}) {
    if (!word.ends_with(suffix)) continue;
    if (const auto prefix = large_prefix(text.substr(0, text.size() - suffix.size()))) {
      return Unit{Dimension::bytes, prefix->exponent, prefix->multiple};
    }
  }
  return std::nullopt;
}

std::optional<Unit> hertz_unit(std::string_view text) {
  const std::string word = lower(text);
  const auto prefix = prefix_before(word, "hz");
  if (!prefix || prefix->multiple != 1) return std::nullopt;
  return Unit{Dimension::frequency, prefix->exponent, 1};
}

std::optional<Unit> flop_unit(std::string_view text) {
  const std::string word = lower(text);
  for (const std::string_view suffix : {"flops", "flop"}) {
    if (const auto prefix = prefix_before(word, suffix); prefix && prefix->multiple == 1) {
      return Unit{Dimension::flops, prefix->exponent, 1};
    }
  }
  return std::nullopt;
}

std::optional<Unit> count_unit(std::string_view text) {
  const std::string word = lower(text);
  if (word.empty() || is_counted(word)) return Unit{};
  if (word == "%" || word == "percent" || word == "pct") return Unit{Dimension::percent, 0, 1};
  if (const auto prefix = large_prefix(word.substr(0, 1)); prefix && is_counted(std::string_view(word).substr(1))) {
    return Unit{Dimension::count, prefix->exponent, prefix->multiple};
  }
  return std::nullopt;
}

std::optional<Unit> simple_unit(std::string_view text) {
  if (const auto unit = time_unit(text)) return unit;
  if (const auto unit = hertz_unit(text)) return unit;
  if (const auto unit = flop_unit(text)) return unit;
  if (const auto unit = count_unit(text)) return unit;
  return byte_unit(text);
}

std::optional<Dimension> rate_of(Dimension dimension, bool cycles) {
  switch (dimension) {
    case Dimension::bytes:
      return Dimension::byte_rate;
    case Dimension::flops:
      return Dimension::flop_rate;
    case Dimension::count:
      return cycles ? Dimension::frequency : Dimension::count_rate;
    default:
      return std::nullopt;
  }
}

std::optional<Unit> ratio_unit(std::string_view over, std::string_view under) {
  std::optional<Unit> unit = over == "1" ? Unit{} : simple_unit(over);
  if (!unit || over.empty() || under.empty()) return std::nullopt;
  const std::optional<Unit> time = time_unit(under);
  if (!time) {
    // Per cycle, per block, per request: does not scale.
    return is_counted(lower(under)) ? unit : std::nullopt;
  }
  const bool cycles = lower(over).find("cycle") != std::string::npos;
  const auto rate = rate_of(unit->dimension, cycles);
  if (!rate) return std::nullopt;
  unit->dimension = *rate;
  unit->exponent -= time->exponent;
  unit->multiple /= time->multiple;
  return unit;
}

double power_of_ten(int exponent) {
  constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const auto size = static_cast<std::size_t>(std::abs(exponent));
  return size < kPowers.size() ? kPowers[size] : std::pow(10.0, std::abs(exponent));
}

bool is_plain_number(Dimension dimension) {
  return dimension == Dimension::count || dimension == Dimension::percent || dimension == Dimension::flops;
}

// Same scale by another name: percent and ratio are told apart by the metric, operations may be FLOPs, and a clock is
// a count of cycles per second.
bool comparable(Dimension a, Dimension b) {
  const auto is_rate = [](Dimension d) { return d == Dimension::count_rate || d == Dimension::flop_rate; };
  return a == b || (is_plain_number(a) && is_plain_number(b)) || (is_rate(a) && is_rate(b));
}

// --- numbers ---

constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
constexpr std::string_view kNarrowNoBreakSpace = "\xE2\x80\xAF";
constexpr std::string_view kTypographicApostrophe = "\xE2\x80\x99";

// A grouping mark that is never a decimal mark, at the start of `text`: its length, 0 for none.
std::size_t neutral_mark(std::string_view text) {
  if (text.starts_with(' ') || text.starts_with('\'')) return 1;
  for (const std::string_view mark : {kNoBreakSpace, kNarrowNoBreakSpace, kTypographicApostrophe}) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

struct Run {
  std::size_t digits = 0;  // before the mark
  char mark = '\0';        // '.', ',', 'n' for a neutral mark, '\0' at the end
};

// A number cut into runs of digits and the marks between them.
struct Pieces {
  bool ok = false;
  bool negative = false;
  bool leading_zero = false;  // starts with 0 and goes on
  std::array<Run, 16> runs;
  std::size_t count = 0;
  std::string digits;         // of all runs
  std::string_view exponent;  // with its 'e', may be empty

  std::size_t marks(char mark) const {
    return static_cast<std::size_t>(std::count_if(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(count),
                                                  [mark](const Run& r) { return r.mark == mark; }));
  }
};

bool is_exponent(std::string_view text) {
  std::size_t i = 1;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  return i < text.size() && text.size() - i <= 4 &&
         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(), is_digit);
}

bool take_run(std::string_view& text, Pieces& pieces) {
  if (pieces.count == pieces.runs.size()) return false;
  Run& run = pieces.runs[pieces.count++];
  while (run.digits < text.size() && is_digit(text[run.digits])) ++run.digits;
  pieces.digits += text.substr(0, run.digits);
  text.remove_prefix(run.digits);
  if (text.empty() || text[0] == 'e' || text[0] == 'E') return true;
  if (text[0] == '.' || text[0] == ',') {
    run.mark = text[0];
    text.remove_prefix(1);
    return true;
  }
  const std::size_t neutral = neutral_mark(text);
  if (neutral == 0) return false;
  run.mark = 'n';
  text.remove_prefix(neutral);
  return true;
}

Pieces cut(std::string_view text) {
  Pieces pieces;
  text = trim(text);
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    pieces.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || text.size() > 64) return pieces;
  do {
    if (!take_run(text, pieces)) return pieces;
  } while (pieces.runs[pieces.count - 1].mark != '\0');
  pieces.exponent = text;
  if (!text.empty() && !is_exponent(text)) return pieces;
  pieces.leading_zero = pieces.runs[0].digits > 0 && pieces.digits[0] == '0';
  pieces.ok = !pieces.digits.empty();
  return pieces;
}

// Whether the runs up to `last` are groups as people write them: 1 to 3 digits, then threes (India: twos before the
// last three), all behind the same mark.
bool grouped(const Pieces& pieces, std::size_t last) {
  if (last == 0) return true;
  if (pieces.runs[0].digits < 1 || pieces.runs[0].digits > 3 || pieces.leading_zero) return false;
  for (std::size_t i = 1; i <= last; ++i) {
    if (i > 1 && pieces.runs[i - 1].mark != pieces.runs[0].mark) return false;
    const std::size_t digits = pieces.runs[i].digits;
    if (digits != 3 && (digits != 2 || i == last)) return false;
  }
  return true;
}

// Whether the number reads with `decimal` as its decimal mark; `whole_runs` are the groups before it.
bool reads_with(const Pieces& pieces, char decimal, std::size_t& whole_runs) {
  const std::size_t marks = pieces.marks(decimal);
  if (marks > 1) return false;
  if (marks == 0) {
    whole_runs = pieces.count;
    return grouped(pieces, pieces.count - 1) && (pieces.count == 1 || pieces.exponent.empty());
  }
  if (pieces.count < 2 || pieces.runs[pieces.count - 2].mark != decimal) return false;
  whole_runs = pieces.count - 1;
  if (pieces.runs[0].digits == 0 && pieces.count > 2) return false;
  return grouped(pieces, pieces.count - 2);
}

NumberShape shape_of(const Pieces& pieces) {
  if (!pieces.ok) return NumberShape::not_a_number;
  std::size_t ignored = 0;
  const bool point = reads_with(pieces, '.', ignored);
  const bool comma = reads_with(pieces, ',', ignored);
  if (!point && !comma) return NumberShape::not_a_number;
  if (pieces.marks('.') + pieces.marks(',') == 0) return NumberShape::plain;
  if (point && comma) return NumberShape::ambiguous;
  return point ? NumberShape::point : NumberShape::comma;
}

std::optional<double> value_of(const Pieces& pieces, std::size_t whole_runs) {
  std::size_t whole = 0;
  for (std::size_t i = 0; i < whole_runs; ++i) whole += pieces.runs[i].digits;
  std::string text = pieces.negative ? "-" : "";
  text += whole == 0 ? std::string("0") : pieces.digits.substr(0, whole);
  if (whole < pieces.digits.size()) text.append(".").append(pieces.digits, whole);
  text += pieces.exponent;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

double Unit::factor() const {
  return exponent >= 0 ? multiple * power_of_ten(exponent) : multiple / power_of_ten(exponent);
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<Unit> parse_unit(std::string_view text) {
  text = trim(text);
  if (text.size() > 40) return std::nullopt;
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    return ratio_unit(trim(text.substr(0, slash)), trim(text.substr(slash + 1)));
  }
  if (const auto unit = simple_unit(text)) return unit;
  // "GBps", "TFLOPS": rates without a slash. FLOPS alone is read as FLOP/s only by those who expect a rate.
  const std::string word = lower(text);
  if (word.ends_with("ps")) return ratio_unit(text.substr(0, text.size() - 2), "s");
  return std::nullopt;
}

std::optional<double> convert(double value, const Unit& from, const Unit& to) {
  if (!comparable(from.dimension, to.dimension)) return std::nullopt;
  const int exponent = from.exponent - to.exponent;
  const double multiple = from.multiple / to.multiple;
  const double scaled = multiple == 1 ? value : value * multiple;
  return exponent >= 0 ? scaled * power_of_ten(exponent) : scaled / power_of_ten(exponent);
}

NumberShape number_shape(std::string_view text) { return shape_of(cut(text)); }

std::optional<double> parse_number(std::string_view text, NumberLocale locale) {
  const Pieces pieces = cut(text);
  const NumberShape shape = shape_of(pieces);
  if (shape == NumberShape::not_a_number) return std::nullopt;
  if (locale == NumberLocale::automatic) {
    if (shape == NumberShape::ambiguous) return std::nullopt;
    locale = shape == NumberShape::comma ? NumberLocale::comma : NumberLocale::point;
  }
  std::size_t whole_runs = 0;
  if (!reads_with(pieces, locale == NumberLocale::comma ? ',' : '.', whole_runs)) return std::nullopt;
  return value_of(pieces, whole_runs);
}

bool is_not_available(std::string_view text) {
  text = trim(text);
  if (text.empty() || text == "-") return true;
  std::string word = lower(text);
  if (word[0] == '-' || word[0] == '+') word.erase(0, 1);
  return is_one_of(word, {"n/a", "na", "nan", "nan(ind)", "nan(snan)", "inf", "infinity"});
}

}  // namespace roofline
