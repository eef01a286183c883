#include "profile/table_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "profile/csv_lines.h"

namespace roofline::table {
namespace {

constexpr std::size_t kMaxHeaderLine = 8192;   // bytes
constexpr std::size_t kHeadLines = 400;        // how far a header is looked for
constexpr std::size_t kMaxCells = 1024;        // of one row; the rest is not a table
constexpr std::size_t kMaxQuotedLines = 1024;  // bytes after the line on which a quoted cell begins

enum class Style : std::uint8_t { pipes, tabs, semicolons, commas, blanks };
constexpr std::array<Style, 5> kStyles = {Style::pipes, Style::tabs, Style::semicolons, Style::commas, Style::blanks};

// A cell and the characters it covers: columns aligned with blanks are told apart by place.
struct Cell {
  std::string_view text;
  std::size_t begin = 0;
  std::size_t end = 0;
};

char separator_of(Style style) {
  switch (style) {
    case Style::tabs:
      return '\t';
    case Style::semicolons:
      return ';';
    default:
      return ',';
  }
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<Cell> split_pipes(std::string_view line) {
  std::vector<Cell> cells;
  line = trim(line);
  if (line.find('|') == std::string_view::npos) return cells;
  if (line.starts_with('|')) line.remove_prefix(1);
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '\\') ++i;
    if (i < line.size() && line[i] != '|') continue;
    if (i >= line.size() && begin >= line.size()) break;  // the closing pipe
    const auto end = std::min(i, line.size());
    cells.push_back({trim(line.substr(begin, end - begin)), begin, end});
    begin = end + 1;
    if (cells.size() > kMaxCells) break;
  }
  return cells;
}

// Two blanks or more part two cells.
std::vector<Cell> split_blanks(std::string_view line) {
  std::vector<Cell> cells;
  std::size_t at = 0;
  std::size_t column = 0;
  while (at < line.size() && cells.size() <= kMaxCells) {
    const auto begin = line.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    column += characters(line.substr(at, begin - at));
    auto end = begin;
    while (end < line.size() && line[end] != '\t' && line.substr(end, 2) != "  ") ++end;
    const auto text = trim(line.substr(begin, end - begin));
    const auto width = characters(text);
    cells.push_back({text, column, column + width});
    column += characters(line.substr(begin, end - begin));
    at = end;
  }
  return cells;
}

bool is_rule(const std::vector<Cell>& cells) {
  return !cells.empty() && std::all_of(cells.begin(), cells.end(), [](const Cell& c) {
    return !c.text.empty() && c.text.find_first_not_of("-=:+ ") == std::string_view::npos &&
           c.text.find_first_of("-=") != std::string_view::npos;
  });
}

bool is_comment_cell(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kMarks = {"←", "<-", "<=", "#", "//", "→", "⟵"};
  return std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view m) { return text.starts_with(m); });
}

// "Total step: 15.2 GFLOP, 8.0 GB": a sentence about the sums, whatever the style of the table.
bool is_total_sentence(std::string_view line) {
  const auto text = plain_text(line);
  const auto colon = text.substr(0, 40).find(':');
  if (colon == std::string_view::npos) return false;
  const auto start = lower(text.substr(0, colon));
  if (start.find_first_of("|;,\t") != std::string::npos || start.find("  ") != std::string::npos) return false;
  if (text.substr(colon).size() > 1 && text[colon + 1] != ' ') return false;  // "sum::kernel" is a name
  const auto first = start.substr(0, start.find(' '));
  return first == "total" || first == "totals" || first == "sum" || first == "step" || first == "overall" ||
         first == "grand";
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  TableText run() {
    while (at_ < text_.size()) {
      const auto begin = at_;
      const auto end = std::min(text_.find('\n', at_), text_.size());
      ++line_;
      at_ = end + 1;
      auto line = text_.substr(begin, end - begin);
      if (line.ends_with('\r')) line.remove_suffix(1);
      take(line, begin);
    }
    return std::move(out_);
  }

 private:
  void take(std::string_view line, std::size_t begin) {
    if (trim(line).empty()) {
      gap_ = true;
      return;
    }
    if (is_total_sentence(line)) return add_free(line);
    if ((!style_ || gap_) && open_header(line)) return;
    if (style_ && !closes_table(line)) {
      gap_ = false;
      return add_row(line, begin);
    }
    add_free(line);
  }

  void add_free(std::string_view line) { out_.lines.push_back({line_, line, out_.rows.empty()}); }

  // Prose ends a table of pipes or of aligned columns; CSV goes on to the end. Comments are no rows.
  bool closes_table(std::string_view line) {
    const auto text = trim(line);
    if (text.starts_with('#') || text.starts_with("<!--") || text.starts_with("```")) return true;
    const bool ended = (*style_ == Style::pipes && text.find('|') == std::string_view::npos) ||
                       (*style_ == Style::blanks && gap_ && split_blanks(line).size() * 2 < columns_.size());
    if (ended) style_.reset();
    return ended;
  }

  std::vector<Cell> split(std::string_view line, Style style) {
    if (style == Style::pipes) return split_pipes(line);
    if (style == Style::blanks) return split_blanks(line);
    CsvCursor cursor(line, separator_of(style));
    std::vector<CsvCell> raw;
    read_record(cursor, raw);
    return keep(raw);
  }

  // A quoted cell may hold line ends. How far they are looked for is bounded, or a quote at the start of every line
  // would cost the whole file every time.
  std::vector<Cell> split_record(std::size_t begin, Style style) {
    const auto window = text_.find('\n', std::min(at_ + kMaxQuotedLines, text_.size()));
    CsvCursor cursor(text_.substr(begin, window == std::string_view::npos ? window : window - begin + 1),
                     separator_of(style));
    std::vector<CsvCell> raw;
    read_record(cursor, raw);
    const auto next = begin + cursor.offset();
    if (next > at_) {
      line_ += static_cast<std::uint64_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                     text_.begin() + static_cast<std::ptrdiff_t>(next), '\n'));
      at_ = next;
    }
    return keep(raw);
  }

  std::vector<Cell> keep(const std::vector<CsvCell>& raw) {
    std::vector<Cell> cells;
    storage_.resize(std::min(raw.size(), kMaxCells));
    for (std::size_t i = 0; i < storage_.size(); ++i) cells.push_back({raw[i].value(storage_[i]), 0, 0});
    return cells;
  }

  bool open_header(std::string_view line) {
    if (line.size() > kMaxHeaderLine) return false;
    std::size_t best = 0;
    for (const auto style : kStyles) {
      const auto cells = split(line, style);
      std::vector<std::string_view> titles;
      titles.reserve(cells.size());
      for (const auto& cell : cells) titles.push_back(cell.text);
      auto columns = recognise_header(titles);
      const auto known = static_cast<std::size_t>(
          std::count_if(columns.begin(), columns.end(), [](const Column& c) { return c.role != Role::unknown; }));
      if (known <= best) continue;
      best = known;
      style_ = style;
      places_.clear();
      for (const auto& cell : cells) places_.push_back({{}, cell.begin, cell.end});
      columns_ = std::move(columns);
    }
    if (best == 0) return false;
    if (out_.headers.empty()) out_.header_line = line_;
    out_.headers.push_back(columns_);
    gap_ = false;
    return true;
  }

  void add_row(std::string_view line, std::size_t begin) {
    const auto first_line = line_;
    const bool separated = *style_ != Style::pipes && *style_ != Style::blanks;
    auto cells = separated ? split_record(begin, *style_) : split(line, *style_);
    if (is_rule(cells)) return;
    drop_comments(cells);
    Row row{first_line, std::vector<std::string>(columns_.size()), out_.headers.size() - 1};
    if (*style_ == Style::blanks && cells.size() != columns_.size()) {
      if (!align(cells, row)) return ragged(first_line, cells.size());
    } else {
      if (cells.size() > columns_.size() || cells.size() < 2) return ragged(first_line, cells.size());
      for (std::size_t i = 0; i < cells.size(); ++i) row.cells[i] = std::string(plain_text(cells[i].text));
    }
    out_.rows.push_back(std::move(row));
  }

  // Arrows and remarks at the end of a row have no column of their own, unless the last title is one for remarks.
  void drop_comments(std::vector<Cell>& cells) const {
    const bool remarks = columns_.back().role == Role::ignored;
    while (!cells.empty()) {
      const bool spare = cells.size() > columns_.size() || (*style_ == Style::blanks && !remarks);
      if (!spare || !(cells.back().text.empty() || is_comment_cell(cells.back().text))) return;
      cells.pop_back();
    }
  }

  // Gives each cell to the title above it; false when two cells claim one.
  bool align(const std::vector<Cell>& cells, Row& row) const {
    if (cells.size() < 2 || cells.size() > columns_.size()) return false;
    std::size_t next = 0;
    for (const auto& cell : cells) {
      if (next >= places_.size()) return false;
      auto best = next;
      for (auto i = next; i < places_.size(); ++i) {
        if (distance(cell, places_[i]) < distance(cell, places_[best])) best = i;
      }
      row.cells[best] = std::string(plain_text(cell.text));
      next = best + 1;
    }
    return true;
  }

  // 0 where they overlap, else the gap between them.
  static std::size_t distance(const Cell& a, const Cell& b) {
    if (a.end <= b.begin) return b.begin - a.end + 1;
    if (b.end <= a.begin) return a.begin - b.end + 1;
    return 0;
  }

  void ragged(std::uint64_t line, std::size_t cells) {
    out_.warnings.push_back(
        {"ragged-row", fmt::format("line {}: {} cells where the header has {} columns; the row is not read", line,
                                   cells, columns_.size())});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 0;
  std::optional<Style> style_;
  bool gap_ = false;  // a blank line stands above
  std::vector<Column> columns_;
  std::vector<Cell> places_;
  std::vector<std::string> storage_;
  TableText out_;
};

}  // namespace

TableText split_table(std::string_view text) { return Splitter(text).run(); }

bool has_header(std::string_view head) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < kHeadLines && at < head.size(); ++i)
    at = std::min(head.find('\n', at), head.size() - 1) + 1;
  return !split_table(head.substr(0, at)).headers.empty();
}

}  // namespace roofline::table
