#include "history/sql.h"

#include <fmt/format.h>

#include <algorithm>

#include "roofline/error.h"

namespace roofline::history::sql {

Value value_of(std::optional<double> number) { return number ? Value(*number) : Value(); }
Value value_of(std::optional<std::int64_t> number) { return number ? Value(*number) : Value(); }

std::int64_t Row::integer(std::size_t column) const { return maybe_integer(column).value_or(0); }

std::optional<std::int64_t> Row::maybe_integer(std::size_t column) const {
  if (const auto* whole = std::get_if<std::int64_t>(&values_.at(column))) return *whole;
  return std::nullopt;
}

std::optional<double> Row::number(std::size_t column) const {
  if (const auto* real = std::get_if<double>(&values_.at(column))) return *real;
  // Numeric columns of SQLite hold whole numbers as such.
  if (const auto* whole = std::get_if<std::int64_t>(&values_.at(column))) return static_cast<double>(*whole);
  return std::nullopt;
}

std::string Row::text(std::size_t column) const {
  const auto* text = std::get_if<std::string>(&values_.at(column));
  return text != nullptr ? *text : std::string();
}

std::string Row::blob(std::size_t column) const {
  const auto* blob = std::get_if<Blob>(&values_.at(column));
  return blob != nullptr ? blob->bytes : std::string();
}

void fail(const std::string& store, const char* kind, std::string found, std::string action) {
  throw InputError(InputProblem{kind, store, std::nullopt, std::nullopt, std::move(found), {}, std::move(action)});
}

std::string without_password(const std::string& url) {
  auto out = url;
  const auto scheme = out.find("://");
  if (scheme == std::string::npos) return out;
  const auto authority = scheme + 3;
  // A password may hold an unescaped '/' or '?', by mistake: rather hide too much.
  const auto query = std::min(out.find('?', authority), out.size());
  const auto before_query = out.rfind('@', query);
  const auto at = before_query != std::string::npos && before_query > authority ? before_query : out.rfind('@');
  const auto colon = out.find(':', authority);
  if (at != std::string::npos && at >= authority && colon < at) out.replace(colon, at - colon, ":***");
  constexpr std::string_view kKey = "password=";
  for (auto found = out.find(kKey); found != std::string::npos; found = out.find(kKey, found + kKey.size())) {
    const auto stop = std::min(out.find('&', found), out.size());
    out.replace(found + kKey.size(), stop - found - kKey.size(), "***");
  }
  return out;
}

std::string parameter_list(std::size_t from, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += fmt::format("{}${}", i == 0 ? "" : ", ", from + i);
  return out;
}

std::string parameter_rows(std::size_t rows, std::size_t columns) {
  std::string out;
  for (std::size_t row = 0; row < rows; ++row)
    out += fmt::format("{}({})", row == 0 ? "" : ", ", parameter_list(1 + row * columns, columns));
  return out;
}

}  // namespace roofline::history::sql
