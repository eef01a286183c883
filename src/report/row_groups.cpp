#include "report/row_groups.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace roofline::report {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool starts_number(std::string_view text, std::size_t at) {
  return is_digit(text[at]) && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '(');
}

// Numbers that stand alone become "…"; digits inside names (L2, fp16, mma.m16n8k8) stay.
std::string without_numbers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (!starts_number(text, i)) {
      out += text[i++];
      continue;
    }
    auto end = i;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
    while (end > i && text[end - 1] == '.') --end;
    const bool alone = end == text.size() || std::string_view(" ,;:%).").find(text[end]) != std::string_view::npos;
    out += alone ? std::string_view("…") : text.substr(i, end - i);
    i = end;
  }
  return out;
}

}  // namespace

std::size_t RowGroups::add(const std::string& text, double share) {
  const auto key = without_numbers(text);
  const auto [it, is_new] = index_.try_emplace(key, groups_.size());
  if (is_new) groups_.push_back({text, 0, 0});
  auto& group = groups_[it->second];
  if (group.text != text) group.text = key;
  ++group.rows;
  group.share += share;
  return it->second;
}

std::vector<std::size_t> RowGroups::by_share() const {
  std::vector<std::size_t> order(groups_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return groups_[a].share > groups_[b].share; });
  return order;
}

}  // namespace roofline::report
