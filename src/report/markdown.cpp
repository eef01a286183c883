#include <algorithm>

#include "report/text.h"
#include "roofline/document.h"

namespace roofline {
namespace {

constexpr std::string_view kMarkup = "\\`*_[]<>|~#&";

bool needs_care(std::string_view s) { return s.find_first_of(kMarkup) != std::string_view::npos; }

// Longest run of backticks: a code span needs a longer fence.
std::size_t longest_ticks(std::string_view s) {
  std::size_t best = 0;
  std::size_t run = 0;
  for (const char c : s) {
    run = c == '`' ? run + 1 : 0;
    best = std::max(best, run);
  }
  return best;
}

std::string escaped(std::string_view s) {
  std::string out;
  for (const char c : s) {
    if (kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Kernel names are full of markup: a code span shows them as they are. Table cells end at a pipe even inside one.
std::string code_span(std::string_view s) {
  const std::string fence(longest_ticks(s) + 1, '`');
  const std::string pad = fence.size() > 1 ? " " : "";
  std::string out = fence + pad;
  for (const char c : s) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out + pad + fence;
}

std::string safe(std::string_view s) { return text::printable(s, true); }

std::string cell_text(const Cell& cell, const Column& column) {
  auto s = safe(cell.text);
  if (s.empty()) return column.align == Align::right ? "—" : "";
  s.erase(0, s.find_first_not_of(' '));
  if (s.empty()) return s;
  auto out = !needs_care(s) ? s : column.shrink ? code_span(s) : escaped(s);
  return cell.tone == Tone::strong ? "**" + out + "**" : out;
}

class MarkdownView {
 public:
  std::string print(const Document& document) {
    if (!document.title.empty()) add(Heading{document.title});
    for (const auto& block : document.blocks) std::visit([this](const auto& b) { add(b); }, block);
    return std::move(out_);
  }

 private:
  void begin() {
    if (!out_.empty()) out_ += '\n';
  }

  void add(const Heading& heading) {
    begin();
    out_ += "### " + escaped(safe(heading.text)) + "\n";
  }

  void add(const Paragraph& p) {
    begin();
    const auto s = escaped(safe(p.text));
    out_ += (p.tone == Tone::strong && !s.empty() ? "**" + s + "**" : s) + "\n";
  }

  void add(const Bullets& bullets) {
    begin();
    for (const auto& item : bullets.items) out_ += "- " + escaped(safe(item.text)) + "\n";
  }

  void add(const Command& command) {
    begin();
    const auto s = safe(command.text);
    const std::string fence(std::max<std::size_t>(3, longest_ticks(s) + 1), '`');
    out_ += fence + "sh\n" + s + "\n" + fence + "\n";
  }

  void add(const Table& table) {
    if (table.rows.empty()) return;
    begin();
    if (!table.title.empty()) out_ += "**" + escaped(safe(table.title)) + "**\n\n";
    std::vector<std::size_t> shown;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (!table.columns[c].data_only && !blank(table, c)) shown.push_back(c);
    std::string rule;
    out_ += '|';
    for (const auto c : shown) {
      const auto& column = table.columns[c];
      out_ += " " + escaped(safe(column.title)) + " |";
      rule += column.align == Align::right ? " ---: |" : " :--- |";
    }
    out_ += "\n|" + rule + "\n";
    for (const auto& cells : table.rows) row(table, shown, cells);
    if (!table.footer.empty()) row(table, shown, table.footer);
  }

  static bool blank(const Table& table, std::size_t c) {
    return table.columns[c].align == Align::left &&
           std::all_of(table.rows.begin(), table.rows.end(),
                       [&](const auto& cells) { return c >= cells.size() || cells[c].text.empty(); });
  }

  void row(const Table& table, const std::vector<std::size_t>& shown, const std::vector<Cell>& cells) {
    out_ += '|';
    for (const auto c : shown)
      out_ += " " + (c < cells.size() ? cell_text(cells[c], table.columns[c]) : std::string()) + " |";
    out_ += '\n';
  }

  std::string out_;
};

}  // namespace

std::string to_markdown(const Document& document) { return MarkdownView().print(document); }

}  // namespace roofline
