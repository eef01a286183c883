#include "profile/amd_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "profile/text_number.h"

namespace roofline {
namespace {

std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '_' || c == '-' || c == ' ') continue;
    text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

bool is_empty(const std::vector<CsvCell>& cells) {
  return std::all_of(cells.begin(), cells.end(), [](const CsvCell& c) { return trim(c.raw).empty(); });
}

}  // namespace

AmdTable::AmdTable(const Input& input)
    : input_(input), cursor_(without_mark(input.text())), lines_(without_mark(input.text())) {
  if (!next()) refuse(input_, "empty", "no header", "a table with named columns");
  std::string storage;
  for (const auto& cell : cells_) {
    header_.emplace_back(trim(cell.value(storage)));
    index_.try_emplace(folded(header_.back()), header_.size() - 1);
  }
}

std::optional<std::size_t> AmdTable::column(std::initializer_list<std::string_view> names) const {
  for (const auto name : names)
    if (const auto it = index_.find(folded(name)); it != index_.end()) return it->second;
  return std::nullopt;
}

bool AmdTable::next() {
  while (!cursor_.at_end()) {
    row_begin_ = cursor_.offset();
    line_ = lines_.line_at(cursor_.offset());
    read_record(cursor_, cells_);
    if (is_empty(cells_)) continue;
    storage_.resize(cells_.size());
    return true;
  }
  return false;
}

std::string_view AmdTable::cell(std::optional<std::size_t> column) const {
  if (!column || *column >= cells_.size()) return {};
  return trim(cells_[*column].value(storage_[*column]));
}

std::optional<double> AmdTable::number(std::optional<std::size_t> column) const {
  const auto text = cell(column);
  if (is_not_available(text)) return std::nullopt;
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size() || !std::isfinite(value))
    refuse_cell(*column, "a number");
  return value;
}

std::optional<std::uint64_t> AmdTable::whole(std::optional<std::size_t> column) const {
  const auto text = cell(column);
  if (is_not_available(text)) return std::nullopt;
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) refuse_cell(*column, "a whole number");
  return value;
}

std::uint64_t AmdTable::digits(std::optional<std::size_t> column) const {
  const auto text = cell(column);
  const auto first = text.find_first_of("0123456789");
  if (first == std::string_view::npos) return 0;
  std::uint64_t value = 0;
  std::from_chars(text.data() + first, text.data() + text.size(), value);
  return value;
}

void AmdTable::refuse_cell(std::size_t column, const char* expected) const {
  constexpr std::size_t kMost = 40;
  refuse_at_line(input_, line_, "not-a-number",
                 fmt::format("'{}' in column {}", cell(column).substr(0, kMost), header_[column]), expected,
                 "use the table as the profiler wrote it");
}

bool header_names(std::string_view head, std::initializer_list<std::string_view> names) {
  head = without_mark(head);
  const auto first = head.find_first_not_of("\r\n");
  if (first == std::string_view::npos) return false;
  head.remove_prefix(first);
  const auto line = head.substr(0, head.find_first_of("\r\n"));
  if (line.find(',') == std::string_view::npos) return false;
  CsvCursor cursor(line);
  std::vector<CsvCell> cells;
  read_record(cursor, cells);
  std::string storage;
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
    return std::any_of(cells.begin(), cells.end(),
                       [&](const CsvCell& c) { return folded(trim(c.value(storage))) == folded(name); });
  });
}

std::string_view amd_kernel_name(std::string_view name) {
  for (const std::string_view tail : {"[clone .kd]", "(.kd)", ".kd"})
    if (name.ends_with(tail)) name.remove_suffix(tail.size());
  return trim(name);
}

}  // namespace roofline
