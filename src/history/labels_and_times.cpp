// What users type: labels, times, durations.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "history/kernel_rows.h"
#include "roofline/error.h"
#include "roofline/history.h"

namespace roofline::history {
namespace {

constexpr std::size_t kKeyBytes = 100;
constexpr std::size_t kValueBytes = 1000;
constexpr std::int64_t kMicrosecond = 1000000;  // per second
constexpr std::int64_t kDay = 86400;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

[[noreturn]] void bad_label(std::string_view key, const char* why) {
  std::string shown;
  constexpr std::size_t kShown = 40;
  for (const char c : key.substr(0, kShown)) shown += is_control(c) || static_cast<unsigned char>(c) > 0x7e ? '?' : c;
  throw UsageError(fmt::format("label '{}': {}", shown, why));
}

// Reads decimal digits at the front of `text`.
std::optional<std::int64_t> take_number(std::string_view& text, std::size_t digits) {
  std::int64_t value = 0;
  if (text.size() < digits) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (error != std::errc{} || end != text.data() + digits || text.front() == '-') return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

[[noreturn]] void bad_time(std::string_view text) {
  throw UsageError(fmt::format("'{}' is no time; expected 2026-01-31 or 2026-01-31T12:34:56Z", text));
}

// Microseconds after the dot.
std::int64_t take_fraction(std::string_view& text) {
  std::int64_t micros = 0;
  std::int64_t place = 100000;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    micros += (text.front() - '0') * place;
    place /= 10;
    text.remove_prefix(1);
  }
  return micros;
}

// "Z", "+02:00" or nothing (UTC), in seconds east.
std::optional<std::int64_t> take_zone(std::string_view& text) {
  if (text.empty() || take(text, "Zz")) return 0;
  const bool west = text.front() == '-';
  if (!take(text, "+-")) return std::nullopt;
  const auto hours = take_number(text, 2);
  take(text, ":");
  const auto minutes = take_number(text, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const auto east = *hours * 3600 + *minutes * 60;
  return west ? -east : east;
}

std::optional<std::int64_t> take_date(std::string_view& text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, "-")) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, "-")) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * kDay;
}

std::optional<Time> take_clock(std::string_view& text) {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ":")) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  std::optional<std::int64_t> second = 0;
  if (take(text, ":")) second = take_number(text, 2);
  if (!second || *second > 59) return std::nullopt;
  const auto micros = take(text, ".") ? take_fraction(text) : 0;
  return (*hour * 3600 + *minute * 60 + *second) * kMicrosecond + micros;
}

}  // namespace

std::pair<std::string, std::string> parse_label(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos)
    throw UsageError(fmt::format("label '{}': expected key=value", std::string_view(text).substr(0, kKeyBytes)));
  std::pair<std::string, std::string> label(text.substr(0, equals), text.substr(equals + 1));
  check_labels({label});
  return label;
}

void check_labels(const Labels& labels) {
  for (const auto& [key, value] : labels) {
    if (key.empty()) bad_label(key, "the key is empty");
    if (key.size() > kKeyBytes) bad_label(key, "the key is longer than 100 bytes");
    if (key.find('=') != std::string::npos) bad_label(key, "the key holds '='");
    if (std::any_of(key.begin(), key.end(), is_control)) bad_label(key, "the key holds a control character");
    if (value.size() > kValueBytes) bad_label(key, "the value is longer than 1000 bytes");
    if (value.find('\0') != std::string::npos) bad_label(key, "the value holds a NUL byte");
    if (storable(key) != key || storable(value) != value) bad_label(key, "it is not UTF-8");
  }
}

Time now() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

Time parse_time(std::string_view text) {
  auto rest = text;
  const auto date = take_date(rest);
  if (!date) bad_time(text);
  Time time = *date * kMicrosecond;
  if (rest.empty()) return time;
  if (!take(rest, "T t")) bad_time(text);
  const auto clock = take_clock(rest);
  const auto zone = clock ? take_zone(rest) : std::nullopt;
  if (!zone || !rest.empty()) bad_time(text);
  return time + *clock - *zone * kMicrosecond;
}

std::string format_time(Time time) {
  auto seconds = time / kMicrosecond;
  auto micros = time % kMicrosecond;
  if (micros < 0) {
    micros += kMicrosecond;
    --seconds;
  }
  const auto day = seconds >= 0 ? seconds / kDay : -((-seconds + kDay - 1) / kDay);
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  const auto rest = seconds - day * kDay;
  auto out = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                         static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), rest / 3600,
                         rest / 60 % 60, rest % 60);
  if (micros != 0) out += fmt::format(".{:06}", micros);
  return out + "Z";
}

std::int64_t parse_duration(std::string_view text) {
  const auto refuse = [&] {
    throw UsageError(fmt::format("'{}' is no duration; expected a number and s, m, h, d or w, as in 90d", text));
  };
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr std::int64_t kMost = 1000000;
  if (error != std::errc{} || number < 0 || number > kMost) refuse();
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::map<std::string_view, std::int64_t> units = {
      {"s", 1}, {"m", 60}, {"h", 3600}, {"d", kDay}, {"w", 7 * kDay}};
  const auto it = units.find(unit);
  if (it == units.end()) refuse();
  return number * it->second * kMicrosecond;
}

}  // namespace roofline::history
