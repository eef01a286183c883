// Looks up cells of a document's table by the column's key.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/document.h"

namespace roofline::testing {

inline const Table& table_of(const Document& document) {
  for (const auto& block : document.blocks)
    if (const auto* table = std::get_if<Table>(&block)) return *table;
  throw std::logic_error("the document has no table");
}

inline const Cell& cell(const Table& table, const std::vector<Cell>& row, std::string_view key) {
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (table.columns[c].key == key) return row.at(c);
  throw std::logic_error("no column " + std::string(key));
}

inline std::vector<std::string> column(const Table& table, std::string_view key) {
  std::vector<std::string> out;
  for (const auto& row : table.rows) out.push_back(cell(table, row, key).text);
  return out;
}

// All paragraphs and bullets, a line each.
inline std::string prose(const Document& document) {
  std::string out;
  for (const auto& block : document.blocks) {
    if (const auto* p = std::get_if<Paragraph>(&block)) out += p->text + "\n";
    if (const auto* b = std::get_if<Bullets>(&block))
      for (const auto& item : b->items) out += item.text + "\n";
    if (const auto* h = std::get_if<Heading>(&block)) out += h->text + "\n";
    if (const auto* c = std::get_if<Command>(&block)) out += "$ " + c->text + "\n";
  }
  return out;
}

}  // namespace roofline::testing
