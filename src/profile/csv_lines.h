// Records and cells of separated text (RFC 4180), over memory, without copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

// One cell as it stands in the text, without its outer quotes.
struct CsvCell {
  std::string_view raw;
  bool doubled_quotes = false;  // `raw` holds "" for each quote of the value

  // The value: `raw` itself, or `storage` filled with the quotes undoubled.
  std::string_view value(std::string& storage) const;
};

// Walks over text cell by cell. Lines end with LF or CRLF, the last one also without. Quoted cells may hold
// separators, line ends and doubled quotes. Forgiving where exports are: a quote that no separator or line end follows
// belongs to the value, and an opening quote that nothing closes is an ordinary character, so that a stray one costs
// a cell and not the file. Cost is linear in the bytes whatever they are.
class CsvCursor {
 public:
  explicit CsvCursor(std::string_view text, char separator = ',');

  bool at_end() const { return pos_ == end_; }
  std::size_t offset() const { return static_cast<std::size_t>(pos_ - begin_); }

  // The next cell of the current record; false once the record has no more. An empty line is one empty cell.
  bool next_cell(CsvCell& cell);
  // Passes over `count` cells of the current record; false when the record has fewer.
  bool skip_cells(std::size_t count);
  // Goes to the start of the next record, whatever is left of this one.
  void next_record();
  // The current line without its end. Does not move.
  std::string_view peek_line() const;
  // Goes to the start of the next line, blind to quotes.
  void skip_line();
  void use_separator(char separator);

 private:
  const char* find_closing_quote(CsvCell& cell);
  const char* find_plain_end() const;
  void leave_cell(const char* after);

  const char* begin_;
  const char* pos_;
  const char* end_;
  const char* unclosed_before_;  // no quote from pos_ up to here closes a cell
  char separator_;
  bool record_open_ = true;  // a cell of the current record starts at pos_
};

// All cells of the record at the cursor, which moves to the next one.
void read_record(CsvCursor& cursor, std::vector<CsvCell>& cells);

// 1-based line numbers of offsets; costs as much as the way from the offset asked for before.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}
  std::uint64_t line_at(std::size_t offset);

 private:
  std::string_view text_;
  std::size_t counted_ = 0;
  std::uint64_t line_ = 1;
};

}  // namespace roofline
