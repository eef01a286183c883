// A neutral document of text and tables, and the views that print it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "roofline/report.h"

namespace roofline {

enum class Tone : std::uint8_t { normal, strong, good, warn, bad, faint };
enum class Align : std::uint8_t { left, right };

struct Cell {
  std::string text;  // formatted for people; empty for "no value", which a right-aligned column shows as —
  std::optional<double> number = {};  // the raw SI value behind the text, for CSV and base units
  Tone tone = Tone::normal;
};

struct Column {
  std::string title;  // for people
  std::string key;    // for CSV headers, with the SI unit: "dram_bytes", "time_s"
  Align align = Align::right;
  bool shrink = false;     // may be cut to fit the width: in the middle, or at the end (see below)
  int drop_order = 0;      // narrow terminals drop columns with the highest value first; 0 is never dropped
  bool data_only = false;  // for CSV alone: people find it elsewhere
  bool cut_end = false;    // a shrinking column whose first words matter most
  std::size_t least = 0;   // columns without which a shrinking column says nothing; 0: as the view finds best
  bool spare = false;      // a narrow terminal drops it before it cuts any text
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<Cell> footer;  // a total line; empty for none
};

struct Heading {
  std::string text;
};
struct Paragraph {
  std::string text;
  Tone tone = Tone::normal;
};
struct Bullets {
  std::vector<Paragraph> items;
};

// A command line to copy: never wrapped, never cut.
struct Command {
  std::string text;
};

using Block = std::variant<Heading, Paragraph, Bullets, Table, Command>;

struct Document {
  std::string title;
  std::vector<Block> blocks;
};

enum class SortKey : std::uint8_t { time, gain, fraction, flops, bytes, intensity, name, order };
std::optional<SortKey> parse_sort_key(std::string_view text);

struct TableOptions {
  SortKey sort = SortKey::time;
  std::size_t top = 0;      // 0: all rows
  bool base_units = false;  // plain SI numbers instead of prefixes
  bool per_launch = false;
};

// The table of the report, its total line, warnings and footer.
Document report_document(const Report& report, const TableOptions& options);

struct TerminalStyle {
  std::size_t width = 100;  // columns; 0: no limit
  bool color = false;
  bool unicode = true;
};
std::string to_terminal(const Document& document, const TerminalStyle& style);
std::string to_markdown(const Document& document);
// A page of its own: no script, nothing fetched. Reports have an interactive one (roofline/page.h).
std::string to_html(const Document& document);
std::string to_csv(const Document& document);  // the tables only; RFC 4180, raw SI values

// The JSON contract, schema/report-1.json.
std::string to_json(const Report& report);
// The same with `model`, a JSON object, as a further field of that name: what a model says of the measured kernels.
std::string to_json(const Report& report, std::string_view model);

// --- numbers for people ---
// Three significant digits and an SI prefix: 1.23 G, 45.6 µ. `unit` is appended to the prefix.
std::string si(double value, std::string_view unit, bool unicode = true);
// Cuts the middle of `text` (UTF-8) so that it takes at most `width` columns.
std::string cut_middle(std::string_view text, std::size_t width, bool unicode = true);
// Columns that `text` (UTF-8) takes in a terminal.
std::size_t display_width(std::string_view text);

}  // namespace roofline
