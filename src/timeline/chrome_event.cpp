#include "timeline/chrome_event.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "profile/ncu_rep_wire.h"
#include "timeline/json_window.h"

namespace roofline {
namespace {

using simdjson::error_code;
namespace od = simdjson::ondemand;

constexpr std::int64_t kFarthest = std::int64_t{1} << 62;  // ns; 146 years

constexpr std::pair<std::string_view, TraceCategory> kCategories[] = {
    {"kernel", TraceCategory::kernel},
    {"Kernel", TraceCategory::kernel},
    {"gpu_memcpy", TraceCategory::copy},
    {"Memcpy", TraceCategory::copy},
    {"gpu_memset", TraceCategory::fill},
    {"Memset", TraceCategory::fill},
    {"cuda_runtime", TraceCategory::host_call},
    {"cuda_driver", TraceCategory::host_call},
    {"hip_runtime", TraceCategory::host_call},
    {"hip_driver", TraceCategory::host_call},
    {"privateuse1_runtime", TraceCategory::host_call},
    {"privateuse1_driver", TraceCategory::host_call},
    {"xpu_runtime", TraceCategory::host_call},
    {"Runtime", TraceCategory::host_call},
    {"cpu_op", TraceCategory::operator_call},
    {"Operator", TraceCategory::operator_call},
    {"user_annotation", TraceCategory::annotation},
    {"gpu_user_annotation", TraceCategory::gpu_annotation},
    {"Trace", TraceCategory::recording},
    {"cuda_profiler_range", TraceCategory::profiler_range},
};

std::string_view trimmed(std::string_view token) {
  constexpr std::string_view kAround = " \t\r\n\"";
  const auto first = token.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return token.substr(first, token.find_last_not_of(kAround) - first + 1);
}

// Ids are numbers, or numbers in quotes in old traces; words ("Spans") get a number that differs from word to word.
std::uint64_t parse_id(std::string_view token) {
  const auto text = trimmed(token);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) return value;
  std::int64_t negative = 0;
  const auto signed_result = std::from_chars(text.data(), text.data() + text.size(), negative);
  if (signed_result.ec == std::errc{} && signed_result.ptr == text.data() + text.size())
    return static_cast<std::uint64_t>(negative);
  return std::hash<std::string_view>{}(text);
}

// 0 for what is no whole number.
std::uint64_t parse_count(std::string_view token) {
  const auto text = trimmed(token);
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} ? value : 0;
}

// "[17888, 1, 1]"; all zero for anything else.
Dim3 parse_dim(std::string_view text) {
  std::array<std::uint64_t, 3> sizes{};
  std::size_t n = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end && n < sizes.size()) {
    const auto result = std::from_chars(at, end, sizes[n]);
    if (result.ec == std::errc{}) {
      ++n;
      at = result.ptr;
    } else {
      ++at;
    }
  }
  return n == sizes.size() ? Dim3{sizes[0], sizes[1], sizes[2]} : Dim3{};
}

// The text of an array or object, or of a scalar with what stands around it trimmed.
error_code raw_text(od::value value, std::string_view& out) {
  od::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  if (type == od::json_type::array) {
    od::array array;
    if (const auto error = value.get_array().get(array)) return error;
    return array.raw_json().get(out);
  }
  if (type == od::json_type::object) {
    od::object object;
    if (const auto error = value.get_object().get(object)) return error;
    return object.raw_json().get(out);
  }
  out = trimmed(value.raw_json_token());
  return simdjson::SUCCESS;
}

// Text of a string; of one with a broken escape, as it stands.
error_code text_of(od::value value, std::string_view& out) {
  const std::string_view token = value.raw_json_token();
  const auto error = value.get_string().get(out);
  if (error == simdjson::SUCCESS) return error;
  if (error == simdjson::STRING_ERROR || error == simdjson::INCORRECT_TYPE) {
    out = trimmed(token);
    return simdjson::SUCCESS;
  }
  return error;
}

enum class Argument : std::uint8_t {
  device,
  context,
  stream,
  correlation,
  external_id,
  graph_node,
  bytes,
  grid,
  block,
  shapes,
  types,
  values,
  collective,
  collective_type,
  group,
  ranks,
  elements_in,
  elements_out,
  group_size,
};

struct ArgumentName {
  std::string_view name;
  Argument argument;
};
constexpr ArgumentName kArguments[] = {
    {"device", Argument::device},
    {"context", Argument::context},
    {"stream", Argument::stream},
    {"correlation", Argument::correlation},
    {"External id", Argument::external_id},
    {"external id", Argument::external_id},
    {"graph node id", Argument::graph_node},
    {"bytes", Argument::bytes},
    {"grid", Argument::grid},
    {"block", Argument::block},
    {"Input Dims", Argument::shapes},
    {"Input dims", Argument::shapes},
    {"Input type", Argument::types},
    {"Concrete Inputs", Argument::values},
    {"Collective name", Argument::collective},
    {"dtype", Argument::collective_type},
    {"Process Group Name", Argument::group},
    {"Process Group Ranks", Argument::ranks},
    {"In msg nelems", Argument::elements_in},
    {"Out msg nelems", Argument::elements_out},
    {"Group size", Argument::group_size},
};

std::optional<Argument> find_argument(const od::raw_json_string& key) {
  const char first = key.raw()[0];
  for (const auto& entry : kArguments)
    if (entry.name[0] == first && key.unsafe_is_equal(entry.name)) return entry.argument;
  return std::nullopt;
}

error_code read_argument(Argument argument, od::value value, ChromeEvent& event) {
  const auto count = [&](std::uint64_t& out) {
    out = parse_count(value.raw_json_token());
    return simdjson::SUCCESS;
  };
  const auto dim = [&](Dim3& out) {
    std::string_view text;
    const auto error = raw_text(value, text);
    if (!error) out = parse_dim(text);
    return error;
  };
  switch (argument) {
    case Argument::device:
      event.device = parse_id(value.raw_json_token());
      return simdjson::SUCCESS;
    case Argument::context:
      event.context = parse_id(value.raw_json_token());
      return simdjson::SUCCESS;
    case Argument::stream:
      event.stream = parse_id(value.raw_json_token());
      return simdjson::SUCCESS;
    case Argument::correlation:
      return count(event.correlation);
    case Argument::external_id:
      return count(event.external_id);
    case Argument::graph_node:
      return count(event.graph_node);
    case Argument::bytes:
      return count(event.bytes);
    case Argument::grid:
      return dim(event.grid);
    case Argument::block:
      return dim(event.block);
    case Argument::shapes:
      return raw_text(value, event.shapes);
    case Argument::types:
      return raw_text(value, event.types);
    case Argument::values:
      return raw_text(value, event.values);
    case Argument::collective:
      return text_of(value, event.collective);
    case Argument::collective_type:
      return text_of(value, event.collective_type);
    case Argument::group:
      return text_of(value, event.group);
    case Argument::ranks:
      return text_of(value, event.ranks);
    case Argument::elements_in:
      return count(event.elements_in);
    case Argument::elements_out:
      return count(event.elements_out);
    case Argument::group_size:
      return count(event.group_size);
  }
  return simdjson::SUCCESS;
}

error_code read_arguments(od::value value, ChromeEvent& event) {
  od::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  if (type != od::json_type::object) return simdjson::SUCCESS;
  od::object object;
  if (const auto error = value.get_object().get(object)) return error;
  for (auto item : object) {
    od::field field;
    if (const auto error = std::move(item).get(field)) return error;
    const auto argument = find_argument(field.key());
    if (!argument) continue;
    if (const auto error = read_argument(*argument, field.value(), event)) return error;
  }
  return simdjson::SUCCESS;
}

// Phases other than these are flow arrows, counters and metadata.
bool is_span_phase(char phase) { return phase == 'X' || phase == 'B' || phase == 'E'; }

// One field of an event; `ignored` is set as soon as the event is known to be of no interest.
error_code read_field(od::field& field, ChromeEvent& event, bool& ignored) {
  const auto key = field.key();
  const auto is = [&](std::string_view name) { return key.unsafe_is_equal(name); };
  std::string_view text;
  switch (key.raw()[0]) {
    case 'p':
      if (is("ph")) {
        if (const auto error = text_of(field.value(), text)) return error;
        event.phase = text.size() == 1 ? text.front() : '\0';
        ignored = !is_span_phase(event.phase);
      } else if (is("pid")) {
        event.process = parse_id(field.value().raw_json_token());
      }
      return simdjson::SUCCESS;
    case 'c':
      if (!is("cat")) return simdjson::SUCCESS;
      if (const auto error = text_of(field.value(), text)) return error;
      event.category = trace_category(text);
      ignored = event.category == TraceCategory::ignored;
      return simdjson::SUCCESS;
    case 'n':
      return is("name") ? text_of(field.value(), event.name) : simdjson::SUCCESS;
    case 't':
      if (is("tid")) event.thread = parse_id(field.value().raw_json_token());
      if (is("ts")) event.start_ns = parse_microseconds(trimmed(field.value().raw_json_token()));
      return simdjson::SUCCESS;
    case 'd':
      if (is("dur")) event.duration_ns = parse_microseconds(trimmed(field.value().raw_json_token()));
      return simdjson::SUCCESS;
    case 'a':
      return is("args") ? read_arguments(field.value(), event) : simdjson::SUCCESS;
    default:
      return simdjson::SUCCESS;
  }
}

// A decimal number without exponent, scaled by 1000 and rounded. nullopt where it is none or too large.
std::optional<std::int64_t> parse_plain_microseconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  constexpr std::int64_t kMostBeforeDigit = kFarthest / 10 - 1;
  std::int64_t value = 0;
  int decimals = -1;  // digits after the point
  int digits = 0;
  bool round_up = false;
  for (const char c : text) {
    if (c == '.' && decimals < 0) {
      decimals = 0;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    ++digits;
    if (decimals == 3) {
      round_up = c >= '5';
      ++decimals;
    }
    if (decimals > 3) continue;
    if (value > kMostBeforeDigit) return std::nullopt;
    value = value * 10 + (c - '0');
    if (decimals >= 0) ++decimals;
  }
  if (digits == 0) return std::nullopt;
  for (int i = std::max(decimals, 0); i < 3; ++i) {
    if (value > kMostBeforeDigit) return std::nullopt;
    value *= 10;
  }
  value += round_up ? 1 : 0;
  return negative ? -value : value;
}

}  // namespace

TraceCategory trace_category(std::string_view text) {
  if (text.empty()) return TraceCategory::none;
  for (const auto& [name, category] : kCategories)
    if (name == text) return category;
  return TraceCategory::ignored;
}

std::optional<std::int64_t> parse_microseconds(std::string_view text) {
  if (text.find_first_of("eE") == std::string_view::npos) return parse_plain_microseconds(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  const double ns = value * 1e3;
  if (std::abs(ns) >= static_cast<double>(kFarthest)) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(ns));
}

error_code ChromeEventParser::read(od::document& document, ChromeEvent& event, bool& ignored) {
  od::object object;
  if (const auto error = document.get_object().get(object)) return error;
  for (auto item : object) {
    od::field field;
    if (const auto error = std::move(item).get(field)) return error;
    if (const auto error = read_field(field, event, ignored)) return error;
    if (ignored) return simdjson::SUCCESS;
  }
  return simdjson::SUCCESS;
}

ChromeEventParser::Result ChromeEventParser::parse_valid(std::string_view text, ChromeEvent& event) {
  event = {};
  const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + JsonWindow::kPadding);
  od::document document;
  auto error = parser_.iterate(padded).get(document);
  bool ignored = false;
  if (!error) error = read(document, event, ignored);
  if (error) {
    error_ = simdjson::error_message(error);
    return Result::broken;
  }
  return ignored || !is_span_phase(event.phase) ? Result::ignored : Result::event;
}

// Names come from programs: bytes that are no UTF-8 and bare control characters do occur. They are replaced.
ChromeEventParser::Result ChromeEventParser::parse_repaired(std::string_view text, ChromeEvent& event) {
  std::string scratch;
  repaired_text_ = ncu_rep::valid_utf8(text, scratch);
  std::replace_if(
      repaired_text_.begin(), repaired_text_.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  if (repaired_text_ == text) return Result::broken;
  const auto size = repaired_text_.size();
  repaired_text_.resize(size + JsonWindow::kPadding);
  const auto result = parse_valid(std::string_view(repaired_text_).substr(0, size), event);
  if (result != Result::broken) ++repaired_;
  return result;
}

ChromeEventParser::Result ChromeEventParser::parse(std::string_view text, ChromeEvent& event) {
  const auto result = parse_valid(text, event);
  if (result != Result::broken) return result;
  const auto error = error_;
  const auto again = parse_repaired(text, event);
  if (again == Result::broken) error_ = error;
  return again;
}

}  // namespace roofline
