// Rows counted by what they have in common.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace roofline::report {

struct RowGroup {
  std::string text;
  std::size_t rows = 0;
  double share = 0;  // of the report's time
};

// Groups rows by a text. Texts that differ only in their numbers ("SM 61 % busy", "SM 74 % busy") are one group, shown
// with the numbers left out.
class RowGroups {
 public:
  // Returns the group's number, in order of first appearance.
  std::size_t add(const std::string& text, double share);
  const std::vector<RowGroup>& groups() const { return groups_; }
  // Numbers of the groups, most time first.
  std::vector<std::size_t> by_share() const;
  bool empty() const { return groups_.empty(); }

 private:
  std::vector<RowGroup> groups_;
  std::unordered_map<std::string, std::size_t> index_;  // by the text without its numbers
};

}  // namespace roofline::report
