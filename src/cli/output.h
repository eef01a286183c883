// Where a command's document goes, and in which form.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>

#include "roofline/chart.h"
#include "roofline/document.h"

namespace roofline::cli {

class Output {
 public:
  // Adds --format, --json, -o and --width.
  void setup(CLI::App& command);
  // Whether it will be text for a terminal.
  bool for_terminal() const { return format() == Format::automatic || format() == Format::table; }
  std::size_t width() const { return width_; }  // as asked for; 0: the terminal's
  // What else than text and tables a command can print.
  struct Forms {
    std::function<std::string()> json = nullptr;         // without one: the document's tables (see below)
    std::function<Chart()> chart = nullptr;              // without one chart formats are refused
    std::function<std::string()> html = nullptr;         // without one: the document as a plain page
    std::function<std::string(SvgTheme)> svg = nullptr;  // a picture in place of the chart
    // What stands for that picture in a terminal.
    std::function<std::string(const TerminalStyle&)> terminal = nullptr;
    bool chart_above = false;  // above the tables in a terminal as well, where there is anything to draw
    bool chart_below = false;  // below the table in a terminal as well
  };
  // Prints in the chosen form. Throws UsageError for a file whose extension names no format.
  void print(const Document& document, const Forms& forms) const;
  void print(const Document& document) const { print(document, Forms()); }
  void print(const Document& document, std::function<std::string()> json) const {
    print(document, Forms{std::move(json), nullptr, nullptr});
  }

 private:
  enum class Format { automatic, table, markdown, csv, json, chart, svg, png, pdf, html };
  static const std::map<std::string, Format>& formats();
  Format format() const;
  std::string picture(Format format, const Forms& forms) const;
  TerminalStyle style() const;
  void write(std::string text, bool binary = false) const;

  Format format_ = Format::automatic;
  bool json_ = false;
  std::string output_;
  std::size_t width_ = 0;
};

// Whether both names lead to one file that exists, by whatever path or link.
bool same_file(const std::string& a, const std::string& b);

// Throws UsageError where writing what -o names would overwrite a file that another argument of the parsed command
// names.
void protect_inputs(const CLI::App& app);

// Writes to a file, or to standard output where `path` is empty; text ends with a line end. Throws UsageError where it
// cannot: the place was chosen by the user (exit code 2), while 3 is for input that cannot be read.
void write_output(std::string text, const std::string& path, bool binary = false);

// The tables of a document as JSON: {"schema": "roofline/tables/1", "title", "notes": [text],
// "tables": [{"title", "columns": [key], "rows": [[number, text or null]]}]}; numbers in SI units.
std::string tables_json(const Document& document);

}  // namespace roofline::cli
