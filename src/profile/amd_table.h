// Tables as ROCm's profilers write them: CSV whose columns differ in order, case and number from release to release.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/csv_lines.h"
#include "profile/reader.h"

namespace roofline {

class AmdTable {
 public:
  // Reads the header: the first line with anything on it.
  explicit AmdTable(const Input& input);

  // By name; case, underscores and hyphens do not matter ("queue-id" is "Queue_Id"). The first of the names that is
  // there. nullopt without any.
  std::optional<std::size_t> column(std::initializer_list<std::string_view> names) const;
  const std::vector<std::string>& header() const { return header_; }

  // Goes to the next row with anything in it; false at the end. Rows may be shorter or longer than the header.
  bool next();
  // Empty for a column that the row or the table does not have. Valid until the next cell() of the same column.
  std::string_view cell(std::optional<std::size_t> column) const;
  // nullopt for an empty cell and a missing column; throws InputError "not-a-number" for anything else but a number.
  std::optional<double> number(std::optional<std::size_t> column) const;
  // The same for whole numbers of up to 64 bits, which timestamps need; "8.1E+14" is none.
  std::optional<std::uint64_t> whole(std::optional<std::size_t> column) const;
  // A whole number out of "Agent 4" or "4"; 0 without.
  std::uint64_t digits(std::optional<std::size_t> column) const;

  std::uint64_t line() const { return line_; }         // of the row, from 1
  std::uint64_t offset() const { return row_begin_; }  // of the row, in bytes
  std::uint64_t size() const { return cursor_.offset() - row_begin_; }
  [[noreturn]] void refuse_cell(std::size_t column, const char* expected) const;

 private:
  Input input_;
  CsvCursor cursor_;
  mutable LineCounter lines_;
  std::vector<CsvCell> cells_;
  mutable std::vector<std::string> storage_;  // of cells with doubled quotes
  std::vector<std::string> header_;
  std::unordered_map<std::string, std::size_t> index_;  // by folded name, the first of equal ones
  std::uint64_t line_ = 1, row_begin_ = 0;
};

// Whether the first line names all of these columns, in any order and case.
bool header_names(std::string_view head, std::initializer_list<std::string_view> names);

// The kernel's name without what ROCm adds to it (".kd", "[clone .kd]").
std::string_view amd_kernel_name(std::string_view name);

}  // namespace roofline
