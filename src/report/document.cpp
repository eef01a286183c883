#include "roofline/document.h"

#include <fmt/format.h>

#include <iterator>
#include <set>

#include "report/findings.h"
#include "report/kernel_table.h"
#include "report/labels.h"
#include "report/notes.h"
#include "roofline/machine_words.h"

namespace roofline {
namespace {

std::string machine_text(const Machine& m) {
  const auto detail = device_words(m);
  const std::string name = !m.name.empty() ? m.name : !m.chip.empty() ? m.chip : "unnamed GPU";
  return detail.empty() ? name : fmt::format("{} ({})", name, detail);
}

std::string title_of(const Report& report) {
  constexpr std::size_t kShown = 2;
  std::set<std::size_t> used;
  for (const auto& row : report.rows)
    if (row.machine && *row.machine < report.machines.size()) used.insert(*row.machine);
  std::vector<std::string> names;
  names.reserve(used.size());
  for (const auto i : used) names.push_back(machine_text(report.machines[i]));
  std::string out = report::input_names(report);
  if (names.empty()) return out;
  out += out.empty() ? "" : " · ";
  const auto more = names.size() > kShown ? names.size() - kShown : 0;
  names.resize(names.size() - more);
  out += fmt::format("{}", fmt::join(names, ", "));
  if (more > 0) out += fmt::format(" and {} more", more);
  return out;
}

void append(std::vector<Block>& to, std::vector<Block> blocks) {
  std::move(blocks.begin(), blocks.end(), std::back_inserter(to));
}

}  // namespace

Document report_document(const Report& report, const TableOptions& options) {
  const auto unplaced = report::unplaced_rows(report);
  Document document;
  document.title = title_of(report);
  append(document.blocks, report::roof_lines(report));
  const auto table = report::kernel_table(report, options, unplaced.row_marks);
  document.blocks.emplace_back(table);
  if (report.rows.empty())
    document.blocks.emplace_back(Paragraph{"No kernels to show.", Tone::strong});
  else
    append(document.blocks, report::summary(report));
  append(document.blocks, report::finding_lists(report));
  if (auto notes = report::reading_notes(report, unplaced, table); !notes.items.empty())
    document.blocks.emplace_back(std::move(notes));
  append(document.blocks, report::limits_footer(report));
  append(document.blocks, report::warnings(report));
  append(document.blocks, report::collect_commands(report));
  return document;
}

}  // namespace roofline
