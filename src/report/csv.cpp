#include <fmt/format.h>

#include <cmath>

#include "report/text.h"
#include "roofline/document.h"

namespace roofline {
namespace {

constexpr std::string_view kLineEnd = "\r\n";  // RFC 4180, section 2

// Well-formed UTF-8 without control characters other than tab and line ends: a NUL stops many readers.
std::string clean(std::string_view s) {
  std::string out;
  for (std::size_t at = 0; at < s.size();) {
    const auto c = text::decode(s, at);
    at += c.size;
    const bool kept = !text::is_control(c.value) || c.value == '\t' || c.value == '\n' || c.value == '\r';
    text::encode(kept ? c.value : U'\uFFFD', out);
  }
  return out;
}

// Text that a spreadsheet would run as a formula. No C++ or Triton kernel name begins like that, so the apostrophe
// that keeps it text alters hostile names only; the JSON has every name as it is.
bool looks_like_formula(std::string_view s) {
  return !s.empty() && std::string_view("=+-@\t\r").find(s.front()) != std::string_view::npos;
}

std::string field(std::string_view s) {
  auto out = clean(s);
  if (looks_like_formula(out)) out.insert(out.begin(), '\'');
  if (out.find_first_of("\",\r\n") == std::string::npos) return out;
  std::string quoted = "\"";
  for (const char c : out) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string cell_field(const Cell& cell, const Column& column) {
  if (cell.number) return std::isfinite(*cell.number) ? fmt::format("{}", *cell.number) : std::string();
  return column.align == Align::left ? field(cell.text) : std::string();
}

void append_table(const Table& table, std::string& out) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (c > 0) out += ',';
    out += field(table.columns[c].key);
  }
  out += kLineEnd;
  for (const auto& cells : table.rows) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (c > 0) out += ',';
      if (c < cells.size()) out += cell_field(cells[c], table.columns[c]);
    }
    out += kLineEnd;
  }
}

}  // namespace

// The total line is left out: whoever reads the columns can add them up, and would otherwise count twice.
std::string to_csv(const Document& document) {
  std::string out;
  for (const auto& block : document.blocks) {
    const auto* table = std::get_if<Table>(&block);
    if (table == nullptr) continue;
    if (!out.empty()) out += kLineEnd;
    append_table(*table, out);
  }
  return out;
}

}  // namespace roofline
