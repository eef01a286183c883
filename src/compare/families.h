// The rules behind name_family(): data/name_families.csv.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace roofline::comparing {

struct FamilyRule {
  std::string regex, replacement;
  std::string example, family;  // a name that the rule changes, and what all rules make of it
  std::uint64_t line = 0;
};

// In the order of application.
std::span<const FamilyRule> family_rules();

}  // namespace roofline::comparing
