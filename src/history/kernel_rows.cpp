#include "history/kernel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

namespace roofline::history {
namespace {

using sql::Value;

constexpr std::array kBounds = {Bound::exact, Bound::lower, Bound::upper};
constexpr std::array kCeilings = {CeilingKind::datasheet, CeilingKind::at_clock, CeilingKind::measured};
constexpr std::array kRegimes = {Regime::unknown, Regime::memory, Regime::compute, Regime::link};
constexpr std::array kPositions = {
    Position::unplaced,           Position::memory_optimal, Position::memory_suboptimal,  Position::compute_optimal,
    Position::compute_suboptimal, Position::latency_bound,  Position::communication_bound};
constexpr std::array kBases = {TimeBasis::unknown,  TimeBasis::profiled_locked, TimeBasis::profiled,
                               TimeBasis::timeline, TimeBasis::given,           TimeBasis::model};

[[noreturn]] void damaged(const std::string& store, std::string_view text, const char* what) {
  sql::fail(store, "store-damaged", fmt::format("'{}' stands where a {} should", text, what),
            "restore a copy; `show ID --json` may still print the report");
}

template <typename Enum>
Enum parse(std::span<const Enum> values, std::string_view text, const char* what, const std::string& store) {
  for (const auto value : values)
    if (to_string(value) == text) return value;
  damaged(store, text, what);
}

std::string text_of(const Dim3& d) { return d == Dim3{} ? std::string() : fmt::format("{},{},{}", d.x, d.y, d.z); }

Dim3 dimensions_of(std::string_view text, const std::string& store) {
  Dim3 out;
  if (text.empty()) return out;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (auto* part : {&out.x, &out.y, &out.z}) {
    const auto [next, error] = std::from_chars(at, end, *part);
    if (error != std::errc{}) damaged(store, text, "size of a grid");
    at = next == end ? end : next + 1;
  }
  return out;
}

std::string text_of(const std::map<std::string, double>& ops) {
  if (ops.empty()) return {};
  return nlohmann::json(ops).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::map<std::string, double> ops_of(const std::string& text, const std::string& store) {
  if (text.empty()) return {};
  const auto parsed = nlohmann::json::parse(text, nullptr, false);
  if (!parsed.is_object()) damaged(store, text, "list of operations");
  std::map<std::string, double> out;
  for (const auto& [key, value] : parsed.items())
    if (value.is_number()) out[key] = value.get<double>();
  return out;
}

// What is not finite is not known; PostgreSQL would take it, SQLite turns it into NULL.
Value real(std::optional<double> number) { return number && std::isfinite(*number) ? Value(*number) : Value(); }
Value whole(std::uint64_t number) { return static_cast<std::int64_t>(number); }
Value word(std::string_view text) { return std::string(text); }

std::optional<double> part(const std::optional<Spread>& spread, double Spread::*member) {
  return spread ? std::optional((*spread).*member) : std::nullopt;
}

}  // namespace

Bound bound_of(std::string_view text, const std::string& store) { return parse<Bound>(kBounds, text, "bound", store); }
CeilingKind ceiling_of(std::string_view text, const std::string& store) {
  return parse<CeilingKind>(kCeilings, text, "kind of ceiling", store);
}
Position position_of(std::string_view text, const std::string& store) {
  return parse<Position>(kPositions, text, "position", store);
}

std::string storable(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  if (std::all_of(text.begin(), text.end(), [](char c) { return c > 0; })) return std::string(text);
  std::string out;
  out.reserve(text.size());
  // Through the JSON library's own replacement of ill-formed bytes; NUL is well-formed UTF-8.
  const auto quoted = nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (const char c : nlohmann::json::parse(quoted).get<std::string>()) {
    if (c == '\0')
      out += kReplacement;
    else
      out += c;
  }
  return out;
}

void append_values(const KernelRecord& k, std::vector<Value>& out) {
  const auto& spread = k.launch_time_s;
  for (auto&& value : std::initializer_list<Value>{text_of(k.grid),
                                                   text_of(k.block),
                                                   whole(k.device),
                                                   whole(k.launches),
                                                   real(k.time_s),
                                                   real(part(spread, &Spread::min)),
                                                   real(part(spread, &Spread::median)),
                                                   real(part(spread, &Spread::max)),
                                                   std::isfinite(k.time_share) ? k.time_share : 0.0,
                                                   word(to_string(k.time_basis)),
                                                   real(k.flops),
                                                   storable(text_of(k.ops)),
                                                   real(k.dram_bytes),
                                                   real(k.link_bytes),
                                                   word(to_string(k.flops_bound)),
                                                   word(to_string(k.dram_bound)),
                                                   real(k.roof_time_s),
                                                   real(k.fraction),
                                                   real(k.fraction_upper),
                                                   word(to_string(k.bound)),
                                                   storable(k.binding),
                                                   word(to_string(k.regime)),
                                                   real(k.fraction_datasheet),
                                                   word(to_string(k.ceiling)),
                                                   real(k.clock_hz),
                                                   storable(k.limiter),
                                                   word(to_string(k.position)),
                                                   storable(k.reason),
                                                   Value(std::int64_t{k.look}),
                                                   real(k.gain_s)})
    out.push_back(value);
}

KernelRecord kernel_of(const sql::Row& row, std::size_t first, const std::string& store) {
  KernelRecord k;
  std::size_t c = first;
  k.grid = dimensions_of(row.text(c++), store);
  k.block = dimensions_of(row.text(c++), store);
  k.device = static_cast<std::uint32_t>(row.integer(c++));
  k.launches = static_cast<std::uint64_t>(row.integer(c++));
  k.time_s = row.number(c++);
  const auto low = row.number(c++);
  const auto median = row.number(c++);
  const auto high = row.number(c++);
  if (low && median && high) k.launch_time_s = Spread{*low, *median, *high};
  k.time_share = row.number(c++).value_or(0);
  k.time_basis = parse<TimeBasis>(kBases, row.text(c++), "basis of times", store);
  k.flops = row.number(c++);
  k.ops = ops_of(row.text(c++), store);
  k.dram_bytes = row.number(c++);
  k.link_bytes = row.number(c++);
  k.flops_bound = bound_of(row.text(c++), store);
  k.dram_bound = bound_of(row.text(c++), store);
  k.roof_time_s = row.number(c++);
  k.fraction = row.number(c++);
  k.fraction_upper = row.number(c++);
  k.bound = bound_of(row.text(c++), store);
  k.binding = row.text(c++);
  k.regime = parse<Regime>(kRegimes, row.text(c++), "regime", store);
  k.fraction_datasheet = row.number(c++);
  k.ceiling = ceiling_of(row.text(c++), store);
  k.clock_hz = row.number(c++);
  k.limiter = row.text(c++);
  k.position = position_of(row.text(c++), store);
  k.reason = row.text(c++);
  k.look = row.integer(c++) != 0;
  k.gain_s = row.number(c++);
  return k;
}

void read_times(const sql::Row& row, std::size_t first, const std::string& store, KernelRecord& k) {
  k.grid = dimensions_of(row.text(first), store);
  k.block = dimensions_of(row.text(first + 1), store);
  k.launches = static_cast<std::uint64_t>(row.integer(first + 2));
  k.time_s = row.number(first + 3);
}

}  // namespace roofline::history
