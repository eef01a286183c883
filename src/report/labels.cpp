#include "report/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

namespace roofline::report {
namespace {

using RowList = std::vector<const KernelRow*>;

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; }

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto n = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin()).first - a.begin());
}

std::size_t common_suffix(std::string_view a, std::string_view b) {
  const auto n = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return static_cast<std::size_t>(std::mismatch(a.rbegin(), a.rbegin() + n, b.rbegin()).first - a.rbegin());
}

struct Common {
  std::size_t prefix, suffix;
};

Common common_parts(const RowList& rows) {
  const std::string_view first = rows.front()->full_name;
  Common c{first.size(), first.size()};
  for (const auto* row : rows) {
    if (row->full_name == first) continue;
    c.prefix = std::min(c.prefix, common_prefix(first, row->full_name));
    c.suffix = std::min(c.suffix, common_suffix(first, row->full_name));
  }
  return c;
}

// What only this name has, widened to whole words.
std::string_view distinct_part(std::string_view name, Common common) {
  auto begin = std::min(common.prefix, name.size());
  auto end = std::max(begin, name.size() - std::min(common.suffix, name.size()));
  while (begin > 0 && in_word(name[begin - 1])) --begin;
  while (end < name.size() && in_word(name[end])) ++end;
  return name.substr(begin, end - begin);
}

bool differ(const RowList& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const auto* row) { return row->full_name != rows.front()->full_name; });
}

std::string_view file_name(std::string_view path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string_view::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

}  // namespace

std::vector<std::string> row_labels(const Report& report) {
  std::map<std::string_view, RowList> by_name;
  for (const auto& row : report.rows) by_name[row.name].push_back(&row);
  std::map<std::string_view, Common> ambiguous;
  for (const auto& [name, rows] : by_name)
    if (rows.size() > 1 && differ(rows)) ambiguous.emplace(name, common_parts(rows));
  std::vector<std::string> labels;
  labels.reserve(report.rows.size());
  for (const auto& row : report.rows) {
    labels.push_back(row.name.empty() ? row.full_name : row.name);
    const auto it = ambiguous.find(row.name);
    if (it == ambiguous.end()) continue;
    if (const auto part = distinct_part(row.full_name, it->second); !part.empty() && part != row.name)
      labels.back() += fmt::format(" [{}]", part);
  }
  return labels;
}

std::string dimensions(const Dim3& d) {
  if (d == Dim3{}) return {};
  if (d.z != 1) return fmt::format("{}x{}x{}", d.x, d.y, d.z);
  return d.y != 1 ? fmt::format("{}x{}", d.x, d.y) : fmt::format("{}", d.x);
}

std::string input_names(const Report& report) {
  constexpr std::size_t kShown = 2;
  std::string out;
  const auto n = report.inputs.size();
  for (std::size_t i = 0; i < std::min(n, kShown); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", file_name(report.inputs[i].path));
  if (n > kShown) out += fmt::format(" and {} more", n - kShown);
  return out;
}

}  // namespace roofline::report
