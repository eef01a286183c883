#include "machines/table.h"

#include <fmt/format.h>

#include <utility>

namespace roofline::machines {
namespace {

constexpr std::string_view kBlank = " \t\r";

// Takes one cell off the front of `rest` (the remainder of one line).
std::string take_quoted(std::string_view& rest, const std::string& label, std::uint64_t line) {
  std::string cell;
  std::size_t i = 1;
  for (; i < rest.size(); ++i) {
    if (rest[i] != '"') {
      cell += rest[i];
    } else if (i + 1 < rest.size() && rest[i + 1] == '"') {
      cell += rest[i++];
    } else {
      break;
    }
  }
  if (i >= rest.size()) fail(label, line, "unclosed-quote", std::string(rest), "a closing quote", "close the quote");
  rest.remove_prefix(i + 1);
  return cell;
}

std::vector<std::string> split_line(std::string_view rest, const std::string& label, std::uint64_t line) {
  std::vector<std::string> cells;
  while (true) {
    if (rest.starts_with('"')) {
      cells.push_back(take_quoted(rest, label, line));
      if (!rest.empty() && rest.front() != ',')
        fail(label, line, "ragged-row", std::string(rest), "a comma after the quote", "quote the whole cell");
    } else {
      const auto end = std::min(rest.find(','), rest.size());
      cells.emplace_back(trim(rest.substr(0, end)));
      rest.remove_prefix(end);
    }
    if (rest.empty()) return cells;
    rest.remove_prefix(1);
  }
}

}  // namespace

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t i = text.find_first_not_of(' '); i < text.size(); i = text.find_first_not_of(' ', i)) {
    const auto end = std::min(text.find(' ', i), text.size());
    words.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return words;
}

void fail(const std::string& label, std::uint64_t line, std::string kind, std::string found, std::string expected,
          std::string action) {
  InputProblem problem;
  problem.kind = std::move(kind);
  problem.path = label;
  if (line > 0) problem.line = line;
  problem.found = std::move(found);
  problem.expected = std::move(expected);
  problem.action = std::move(action);
  throw InputError(std::move(problem));
}

Table read_table(std::string_view text, const std::string& label) {
  Table table;
  std::uint64_t number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.front() == '#') continue;
    auto cells = split_line(line, label, number);
    if (table.header.empty()) {
      table.header = std::move(cells);
    } else if (cells.size() != table.header.size()) {
      fail(label, number, "ragged-row", fmt::format("{} cells", cells.size()),
           fmt::format("{} cells as in the header", table.header.size()), "quote cells that contain commas");
    } else {
      table.rows.push_back({number, std::move(cells)});
    }
  }
  if (table.header.empty()) fail(label, 0, "no-header", "no lines", "a header line", "check the file");
  return table;
}

}  // namespace roofline::machines
