// Which kernels of two sides belong together.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roofline/compare.h"

namespace roofline::comparing {

struct KernelGroup {
  MatchKind kind = MatchKind::matched;
  MatchedBy by = MatchedBy::nothing;
  std::vector<std::size_t> before, after;  // indices, most time first
};

struct PartsRule {
  std::string whole;
  std::vector<std::string> parts;
};
std::span<const PartsRule> parts_rules();  // data/kernel_parts.csv

// Every kernel of either side is in exactly one group. Time grows as n log n.
std::vector<KernelGroup> match_kernels(std::span<const SideKernel> before, std::span<const SideKernel> after,
                                       std::span<const std::pair<std::string, std::string>> same);

bool is_called(const SideKernel& kernel, std::string_view name);  // operator, full name, short name or family

}  // namespace roofline::comparing
