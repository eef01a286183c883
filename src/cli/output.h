// Where a command's document goes, and in which form.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>

#include "roofline/document.h"

namespace roofline::cli {

class Output {
 public:
  // Adds --format, --json, -o and --width.
  void setup(CLI::App& command);
  // Whether it will be text for a terminal.
  bool for_terminal() const { return format() == Format::automatic || format() == Format::table; }
  // Prints in the chosen form. `json` makes the JSON text; without one it is the document's tables (see below).
  // Throws UsageError for a file whose extension names no format.
  void print(const Document& document, const std::function<std::string()>& json = nullptr) const;

 private:
  enum class Format { automatic, table, markdown, csv, json };
  Format format() const;
  void write(std::string text) const;

  Format format_ = Format::automatic;
  bool json_ = false;
  std::string output_;
  std::size_t width_ = 0;
};

// The tables of a document as JSON: {"schema": "roofline/tables/1", "title", "notes": [text],
// "tables": [{"title", "columns": [key], "rows": [[number, text or null]]}]}; numbers in SI units.
std::string tables_json(const Document& document);

}  // namespace roofline::cli
