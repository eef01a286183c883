#include "profile/csv_lines.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace roofline {
namespace {

const char* find_char(const char* from, const char* to, char wanted) {
  if (from == to) return nullptr;
  return static_cast<const char*>(std::memchr(from, wanted, static_cast<std::size_t>(to - from)));
}

// Offset of the first quote among eight bytes; 8 for none. Exact for the first one: a borrow only runs upwards.
std::size_t quote_among_eight(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  const std::uint64_t differing = word ^ (kOnes * static_cast<unsigned char>('"'));
  const std::uint64_t zero_bytes = (differing - kOnes) & ~differing & (kOnes * 0x80);
  return zero_bytes == 0 ? 8 : static_cast<std::size_t>(std::countr_zero(zero_bytes)) / 8;
}

// Most cells are a few bytes long: looking at words of them is faster than calling memchr.
const char* find_quote(const char* from, const char* to) {
  if constexpr (std::endian::native == std::endian::little) {
    for (int words = 0; words < 2 && to - from >= 8; ++words) {
      const std::size_t at = quote_among_eight(from);
      if (at < 8) return from + at;
      from += 8;
    }
  }
  return find_char(from, to, '"');
}

// Lines are long: jumping from one end to the next beats looking at every byte.
std::uint64_t count_line_ends(std::string_view text) {
  std::uint64_t count = 0;
  const char* end = text.data() + text.size();
  for (const char* p = find_char(text.data(), end, '\n'); p != nullptr; p = find_char(p + 1, end, '\n')) ++count;
  return count;
}

std::string_view view(const char* from, const char* to) { return {from, static_cast<std::size_t>(to - from)}; }

}  // namespace

std::string_view CsvCell::value(std::string& storage) const {
  if (!doubled_quotes) return raw;
  storage.clear();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    storage += raw[i];
    if (raw[i] == '"' && i + 1 < raw.size() && raw[i + 1] == '"') ++i;
  }
  return storage;
}

CsvCursor::CsvCursor(std::string_view text, char separator)
    : begin_(text.data()),
      pos_(text.data()),
      end_(text.data() + text.size()),
      unclosed_before_(text.data()),
      separator_(separator) {}

bool CsvCursor::next_cell(CsvCell& cell) {
  if (!record_open_ || pos_ == end_) return false;
  cell.doubled_quotes = false;
  if (*pos_ == '"') {
    if (const char* close = find_closing_quote(cell)) {
      cell.raw = view(pos_ + 1, close);
      leave_cell(close + 1);
      return true;
    }
    cell.doubled_quotes = false;
  }
  const char* stop = find_plain_end();
  const bool carriage_return = stop != pos_ && stop[-1] == '\r' && (stop == end_ || *stop == '\n');
  cell.raw = view(pos_, carriage_return ? stop - 1 : stop);
  leave_cell(stop);
  return true;
}

bool CsvCursor::skip_cells(std::size_t count) {
  CsvCell ignored;
  for (; count > 0; --count) {
    if (!next_cell(ignored)) return false;
  }
  return true;
}

void CsvCursor::next_record() {
  CsvCell ignored;
  while (next_cell(ignored)) {
  }
  record_open_ = true;
}

std::string_view CsvCursor::peek_line() const {
  const char* stop = find_char(pos_, end_, '\n');
  if (stop == nullptr) stop = end_;
  if (stop != pos_ && stop[-1] == '\r') --stop;
  return view(pos_, stop);
}

void CsvCursor::skip_line() {
  if (record_open_) {
    const char* stop = find_char(pos_, end_, '\n');
    pos_ = stop == nullptr ? end_ : stop + 1;
  }
  record_open_ = true;
}

void CsvCursor::use_separator(char separator) {
  separator_ = separator;
  unclosed_before_ = pos_;  // what closes a cell has changed
}

const char* CsvCursor::find_closing_quote(CsvCell& cell) {
  if (pos_ < unclosed_before_) return nullptr;
  for (const char* from = pos_ + 1;;) {
    const char* quote = find_quote(from, end_);
    const char* next = quote == nullptr ? end_ : quote + 1;
    if (quote != nullptr) {
      if (next == end_ || *next == separator_ || *next == '\n') return quote;
      if (*next == '\r' && (next + 1 == end_ || next[1] == '\n')) return quote;
      if (*next == '"') {
        cell.doubled_quotes = true;
        from = next + 1;
        continue;
      }
    }
    // Not a closing quote: part of the value, but only while still on the cell's own line.
    const char* seen = quote == nullptr ? end_ : quote;
    if (quote == nullptr || find_char(from, seen, '\n') != nullptr) {
      unclosed_before_ = seen;
      return nullptr;
    }
    from = next;
  }
}

const char* CsvCursor::find_plain_end() const {
  const char* p = pos_;
  while (p != end_ && *p != separator_ && *p != '\n') ++p;
  return p;
}

void CsvCursor::leave_cell(const char* after) {
  if (after != end_ && *after == separator_) {
    pos_ = after + 1;
    // A separator as the last byte of the text leaves an empty cell that no byte stands for.
    record_open_ = pos_ != end_;
    return;
  }
  if (after != end_ && *after == '\r') ++after;
  if (after != end_ && *after == '\n') ++after;
  pos_ = after;
  record_open_ = false;
}

void read_record(CsvCursor& cursor, std::vector<CsvCell>& cells) {
  cells.clear();
  CsvCell cell;
  while (cursor.next_cell(cell)) cells.push_back(cell);
  cursor.next_record();
}

std::uint64_t LineCounter::line_at(std::size_t offset) {
  offset = std::min(offset, text_.size());
  if (offset >= counted_) {
    line_ += count_line_ends(text_.substr(counted_, offset - counted_));
  } else {
    line_ -= count_line_ends(text_.substr(offset, counted_ - offset));
  }
  counted_ = offset;
  return line_;
}

}  // namespace roofline
