// Small data tables: comma-separated text with a header line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/error.h"

namespace roofline::machines {

struct Row {
  std::uint64_t line = 0;  // 1-based
  std::vector<std::string> cells;
};

struct Table {
  std::vector<std::string> header;
  std::vector<Row> rows;
};

// RFC 4180 quoting; blank lines and lines starting with # are skipped. Every row must have as many cells as the
// header. Throws InputError ("ragged-row", "unclosed-quote", "no-header").
Table read_table(std::string_view text, const std::string& label);

std::string_view trim(std::string_view text);
std::vector<std::string> split_words(std::string_view text);

[[noreturn]] void fail(const std::string& label, std::uint64_t line, std::string kind, std::string found,
                       std::string expected, std::string action);

}  // namespace roofline::machines
