#include <algorithm>
#include <array>
#include <limits>

#include "report/text.h"
#include "roofline/document.h"

namespace roofline {
namespace {

constexpr int kAbsent = std::numeric_limits<int>::max();  // drop order of a column without a value
constexpr std::size_t kGap = 2;                           // between columns
constexpr std::size_t kReadable = 16;    // columns that a shrinking column gets before the table is set tighter
constexpr std::size_t kTight = 12;       // and before others are dropped for it
constexpr std::size_t kNarrowest = 8;    // of a shrinking column
constexpr std::size_t kLeastWidth = 40;  // no terminal is taken to be narrower

constexpr std::array<std::string_view, 6> kTones = {"", "\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[2m"};

// One column as it will be printed: its texts are safe for the terminal.
struct Shown {
  const Column* column;
  std::string title;
  std::vector<std::string> texts;  // rows, then the footer if there is one
  std::size_t natural = 0;
  std::size_t natural_tight = 0;  // without the blanks between numbers and units
  std::size_t width = 0;
  int drop_order = 0;
};

// "3.68 TF/s" as "3.68TF/s", "≥ 41%" as "≥41%": the first blanks to go where columns are short.
std::string without_unit_blanks(std::string_view s) {
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto before = s.substr(0, i);
    const bool one_word_follows = s.find(' ', i + 1) == std::string_view::npos;
    const bool after_number = one_word_follows && i > 0 && s[i - 1] >= '0' && s[i - 1] <= '9';
    const bool after_sign = before.ends_with("≥") || before.ends_with("≤") || before.ends_with("=");
    if (s[i] != ' ' || !(after_number || after_sign)) out += s[i];
  }
  return out;
}

class TerminalView {
 public:
  explicit TerminalView(const TerminalStyle& style) : style_(style) {
    width_ = style.width == 0 ? std::numeric_limits<std::size_t>::max() / 2 : std::max(style.width, kLeastWidth);
  }

  std::string print(const Document& document) {
    if (!document.title.empty()) paragraph({document.title, Tone::strong}, "");
    for (const auto& block : document.blocks) std::visit([this](const auto& b) { add(b); }, block);
    return std::move(out_);
  }

 private:
  void add(const Heading& heading) {
    blank_line();
    paragraph({heading.text, Tone::strong}, "");
  }

  void add(const Paragraph& p) {
    if (after_ == After::table || after_ == After::bullets) blank_line();
    paragraph(p, "");
    after_ = After::paragraph;
  }

  void add(const Bullets& bullets) {
    if (after_ != After::heading) blank_line();
    for (const auto& item : bullets.items) paragraph(item, style_.unicode ? "· " : "- ");
    after_ = After::bullets;
  }

  void add(const Command& command) {
    line("  " + safe(command.text), Tone::normal);
    after_ = After::paragraph;
  }

  void add(const Table& table) {
    if (table.rows.empty()) return;
    blank_line();
    if (!table.title.empty()) paragraph({table.title, Tone::strong}, "");
    auto columns = shown_columns(table);
    fit_columns(columns);
    header(columns);
    for (std::size_t i = 0; i < table.rows.size(); ++i) row(columns, table.rows[i], i, table);
    if (!table.footer.empty()) {
      rule(columns);
      row(columns, table.footer, table.rows.size(), table);
    }
    after_ = After::table;
  }

  // ---------------------------------------------------------------- lines

  std::string safe(std::string_view s) const { return text::printable(s, style_.unicode); }

  std::string toned(std::string_view s, Tone tone) const {
    const auto code = kTones[static_cast<std::size_t>(tone)];
    if (!style_.color || code.empty() || s.empty()) return std::string(s);
    return std::string(code) + std::string(s) + "\x1b[0m";
  }

  void line(std::string_view s, Tone tone) {
    out_ += toned(s, tone);
    out_ += '\n';
    after_ = After::heading;
  }

  void blank_line() {
    if (!out_.empty()) out_ += '\n';
  }

  void paragraph(const Paragraph& p, std::string_view lead) {
    const auto indent = display_width(lead);
    bool first = true;
    for (const auto& part : text::wrap(safe(p.text), width_ - indent)) {
      line((first ? std::string(lead) : std::string(indent, ' ')) + part, p.tone);
      first = false;
    }
  }

  // ---------------------------------------------------------------- tables

  std::string cell_text(const Cell& cell, const Column& column) const {
    auto s = safe(cell.text);
    if (s.empty() && column.align == Align::right) return style_.unicode ? "—" : "-";
    if (s.find_first_not_of(' ') == std::string::npos) s.clear();
    return s;
  }

  // The columns for people; one whose cells are all blank says nothing.
  std::vector<Shown> shown_columns(const Table& table) const {
    std::vector<Shown> out;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const auto& column = table.columns[c];
      if (column.data_only) continue;
      Shown shown{&column, safe(column.title), {}, 0, 0, 0, drop_order(table, c)};
      std::size_t widest = 0;
      std::size_t tight = display_width(shown.title);
      const auto take = [&](const std::vector<Cell>& cells) {
        shown.texts.push_back(c < cells.size() ? cell_text(cells[c], column) : "");
        widest = std::max(widest, display_width(shown.texts.back()));
        tight = std::max(tight, display_width(set_tight(shown.texts.back(), column)));
      };
      for (const auto& cells : table.rows) take(cells);
      if (!table.footer.empty()) take(table.footer);
      if (widest == 0) continue;
      shown.natural = std::max(widest, display_width(shown.title));
      shown.natural_tight = tight;
      out.push_back(std::move(shown));
    }
    return out;
  }

  // A column without a single value goes before all others.
  static int drop_order(const Table& table, std::size_t c) {
    const auto order = table.columns[c].drop_order;
    const bool absent = std::all_of(table.rows.begin(), table.rows.end(),
                                    [&](const auto& cells) { return c >= cells.size() || cells[c].text.empty(); });
    return order > 0 && absent ? kAbsent : order;
  }

  static std::string set_tight(const std::string& s, const Column& column) {
    return column.align == Align::right ? without_unit_blanks(s) : s;
  }

  static std::size_t least(const Shown& s, std::size_t floor) {
    if (!s.column->shrink) return s.natural;
    return std::min(s.natural, s.column->least > 0 ? std::max(s.column->least, kNarrowest) : floor);
  }

  static std::size_t total_width(const std::vector<Shown>& columns, std::size_t floor) {
    std::size_t sum = columns.empty() ? 0 : kGap * (columns.size() - 1);
    for (const auto& s : columns) sum += least(s, floor);
    return sum;
  }

  static std::vector<Shown> tightened(std::vector<Shown> columns) {
    for (auto& s : columns) {
      for (auto& text : s.texts) text = set_tight(text, *s.column);
      s.natural = s.natural_tight;
    }
    return columns;
  }

  static std::size_t full_width(const std::vector<Shown>& columns) {
    std::size_t sum = columns.empty() ? 0 : kGap * (columns.size() - 1);
    for (const auto& s : columns) sum += s.natural;
    return sum;
  }

  // What no row has takes no room from the names of the kernels; the notes say what is missing.
  void drop_absent(std::vector<Shown>& columns) const {
    while (full_width(columns) > width_) {
      const auto absent =
          std::find_if(columns.begin(), columns.end(), [](const Shown& s) { return s.drop_order == kAbsent; });
      if (absent == columns.end()) return;
      columns.erase(absent);
    }
  }

  // Sets the columns tighter where they do not fit, and drops one after the other until they do.
  void fit_columns(std::vector<Shown>& columns) const {
    if (full_width(columns) > width_) std::erase_if(columns, [](const Shown& s) { return s.column->spare; });
    drop_absent(columns);
    while (total_width(columns, kReadable) > width_) {
      if (auto tight = tightened(columns); total_width(tight, kTight) <= width_) {
        columns = std::move(tight);
        return set_widths(columns, kTight);
      }
      const auto victim = std::max_element(columns.begin(), columns.end(),
                                           [](const Shown& a, const Shown& b) { return a.drop_order < b.drop_order; });
      if (victim == columns.end() || victim->drop_order == 0) {
        columns = tightened(std::move(columns));
        return set_widths(columns, kNarrowest);
      }
      columns.erase(victim);
    }
    set_widths(columns, kReadable);
  }

  // What is left of the width goes to the narrowest shrinking columns first, until they are as wide as their text.
  void set_widths(std::vector<Shown>& columns, std::size_t floor) const {
    for (auto& s : columns) s.width = least(s, floor);
    const auto used = total_width(columns, floor);
    for (std::size_t left = width_ > used ? width_ - used : 0; left > 0; --left) {
      Shown* narrowest = nullptr;
      for (auto& s : columns)
        if (s.width < s.natural && (narrowest == nullptr || s.width < narrowest->width)) narrowest = &s;
      if (narrowest == nullptr) return;
      ++narrowest->width;
    }
  }

  void cells(const std::vector<Shown>& columns, const std::vector<std::string>& texts, const std::vector<Tone>& tones) {
    std::string printed;
    std::size_t owed = 0;  // blanks before the next text: none are left at the end of a line
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& s = columns[i];
      const auto cut = s.column->cut_end ? text::cut_end(texts[i], s.width, style_.unicode)
                                         : cut_middle(texts[i], s.width, style_.unicode);
      const auto pad = s.width - std::min(s.width, display_width(cut));
      if (i > 0) owed += kGap;
      if (s.column->align == Align::right) owed += pad;
      if (!cut.empty()) {
        printed += std::string(owed, ' ') + toned(cut, tones[i]);
        owed = 0;
      }
      if (s.column->align == Align::left) owed += pad;
    }
    out_ += printed;
    out_ += '\n';
  }

  void header(const std::vector<Shown>& columns) {
    std::vector<std::string> titles;
    titles.reserve(columns.size());
    for (const auto& s : columns) titles.push_back(s.title);
    cells(columns, titles, std::vector<Tone>(columns.size(), Tone::strong));
    rule(columns);
  }

  void rule(const std::vector<Shown>& columns) {
    std::size_t width = columns.empty() ? 0 : kGap * (columns.size() - 1);
    for (const auto& s : columns) width += s.width;
    std::string s;
    for (std::size_t i = 0; i < width; ++i) s += style_.unicode ? "─" : "-";
    line(s, Tone::faint);
  }

  void row(const std::vector<Shown>& columns, const std::vector<Cell>& source, std::size_t index, const Table& table) {
    std::vector<std::string> texts;
    std::vector<Tone> tones;
    for (const auto& s : columns) {
      texts.push_back(s.texts[index]);
      const auto c = static_cast<std::size_t>(s.column - table.columns.data());
      tones.push_back(c < source.size() ? source[c].tone : Tone::normal);
    }
    cells(columns, texts, tones);
  }

  enum class After { heading, paragraph, table, bullets };

  const TerminalStyle& style_;
  std::size_t width_ = 0;
  std::string out_;
  After after_ = After::heading;
};

}  // namespace

std::string to_terminal(const Document& document, const TerminalStyle& style) {
  return TerminalView(style).print(document);
}

}  // namespace roofline
