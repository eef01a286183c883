#include "profile/ncu_csv_header.h"

#include <algorithm>
#include <array>

#include "profile/csv_lines.h"
#include "profile/text_number.h"

namespace roofline {
namespace {

struct Known {
  std::string_view title;
  std::size_t NcuHeader::*column;
};

// Titles of ncu, and those that hand-made cuts of its tables use.
constexpr auto kKnown = std::to_array<Known>({
    {"ID", &NcuHeader::id},
    {"Process ID", &NcuHeader::process},
    {"Kernel Name", &NcuHeader::kernel},
    {"Context", &NcuHeader::context},
    {"Stream", &NcuHeader::stream},
    {"Block Size", &NcuHeader::block},
    {"Grid Size", &NcuHeader::grid},
    {"Device", &NcuHeader::device},
    {"CC", &NcuHeader::cc},
    {"Invocations", &NcuHeader::invocations},
    {"Section Name", &NcuHeader::section},
    {"Section", &NcuHeader::section},
    {"Body Item Label", &NcuHeader::item},
    {"Metric Name", &NcuHeader::metric},
    {"Metric Unit", &NcuHeader::unit},
    {"Metric Value", &NcuHeader::value},
    {"Average", &NcuHeader::average},
    {"Rule Name", &NcuHeader::rule},
});

// Columns that are neither needed nor metrics.
constexpr auto kIgnored =
    std::to_array<std::string_view>({"Process Name", "Host Name", "Kernel Time", "Minimum", "Maximum", "Rule Type",
                                     "Rule Description", "Estimated Speedup Type", "Estimated Speedup"});

constexpr std::string_view kKernelName = "Kernel Name";
constexpr std::string_view kMark = "\xEF\xBB\xBF";

bool assign_known(NcuHeader& header, std::string_view title, std::size_t column) {
  for (const Known& known : kKnown) {
    if (title != known.title) continue;
    if (header.*known.column == kNoColumn) header.*known.column = column;
    return true;
  }
  // NVTX columns carry the names of their fields in the title.
  return std::find(kIgnored.begin(), kIgnored.end(), title) != kIgnored.end() ||
         title.find(":Domain:") != std::string_view::npos || title.find("Domain:") == 0;
}

bool has_double_underscore(const NcuHeader& header) {
  return std::any_of(header.metrics.begin(), header.metrics.end(),
                     [](const NcuHeader::Metric& m) { return m.name.find("__") != std::string::npos; });
}

std::optional<NcuLayout> layout_of(const NcuHeader& header) {
  if (header.kernel == kNoColumn) return std::nullopt;
  if (header.metric != kNoColumn && header.average != kNoColumn) return NcuLayout::summary;
  if (header.metric != kNoColumn && header.value != kNoColumn) return NcuLayout::details;
  if (header.metric == kNoColumn && has_double_underscore(header)) return NcuLayout::raw;
  return std::nullopt;
}

std::optional<NcuHeader> parse_with(std::string_view line, char separator) {
  NcuHeader header;
  header.separator = separator;
  CsvCursor cursor(line, separator);
  CsvCell cell;
  std::string storage;
  for (; cursor.next_cell(cell); ++header.width) {
    const std::string_view title = trim(cell.value(storage));
    if (title.empty() || assign_known(header, title, header.width)) continue;
    header.metrics.push_back({header.width, std::string(title)});
  }
  const auto layout = layout_of(header);
  if (!layout) return std::nullopt;
  header.layout = *layout;
  if (*layout != NcuLayout::raw) header.metrics.clear();
  return header;
}

}  // namespace

std::optional<NcuHeader> parse_ncu_header(std::string_view line) {
  if (line.find(kKernelName) == std::string_view::npos) return std::nullopt;
  // Files that were joined keep the byte order marks of their parts.
  if (line.starts_with(kMark)) line.remove_prefix(kMark.size());
  // Spreadsheets of countries with a decimal comma separate by semicolons.
  for (const char separator : {',', ';', '\t'}) {
    if (auto header = parse_with(line, separator)) return header;
  }
  return std::nullopt;
}

std::size_t find_ncu_header(std::string_view text, std::size_t from) {
  for (auto at = text.find(kKernelName, from); at != std::string_view::npos;) {
    const auto before = text.rfind('\n', at);
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    const auto after = text.find('\n', at);
    const std::string_view line = text.substr(start, after == std::string_view::npos ? after : after - start);
    if (start >= from && parse_ncu_header(line)) return start;
    if (after == std::string_view::npos) break;
    at = text.find(kKernelName, after);
  }
  return std::string_view::npos;
}

}  // namespace roofline
