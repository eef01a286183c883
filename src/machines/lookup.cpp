#include "machines/lookup.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

namespace roofline::machines {
namespace {

constexpr std::array<std::string_view, 4> kMakers = {"nvidia ", "amd ", "intel r ", "intel "};
constexpr std::array<std::string_view, 37> kGeneric = {
    "nvidia", "amd",         "intel",  "google", "aws",    "geforce", "tesla",     "quadro", "radeon", "instinct",
    "gpu",    "gpus",        "part",   "per",    "rtx",    "gtx",     "rx",        "pro",    "max",    "data",
    "center", "edition",     "server", "laptop", "design", "with",    "pcie",      "sxm",    "sxm2",   "sxm4",
    "sxm5",   "workstation", "hgx",    "nvl",    "oam",    "jetson",  "generation"};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

void drop_ordinal(std::string_view& name) {
  if (!name.ends_with(')')) return;
  const auto open = name.rfind(" (");
  if (open == std::string_view::npos) return;
  const auto inside = name.substr(open + 2, name.size() - open - 3);
  if (!inside.empty() && std::all_of(inside.begin(), inside.end(), is_digit)) name = name.substr(0, open);
}

}  // namespace

std::string normalize(std::string_view name) {
  drop_ordinal(name);
  std::string text;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0)
      text += static_cast<char>(std::tolower(u));
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  if (const auto mig = text.find(" mig "); mig != std::string::npos) text.resize(mig);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  for (const auto maker : kMakers)
    if (text.starts_with(maker)) return text.substr(maker.size());
  return text;
}

bool is_generic(std::string_view word) {
  if (word.size() < 2 || std::all_of(word.begin(), word.end(), is_digit)) return word.size() < 4;
  const bool size = is_digit(word.front()) && (word.ends_with("gb") || word.ends_with("g") || word.ends_with("w"));
  return size || std::find(kGeneric.begin(), kGeneric.end(), word) != kGeneric.end();
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::size_t matching_words(const std::vector<std::string>& query, const std::vector<std::string>& words) {
  return static_cast<std::size_t>(std::count_if(query.begin(), query.end(), [&](const std::string& q) {
    return std::find(words.begin(), words.end(), q) != words.end();
  }));
}

}  // namespace roofline::machines
