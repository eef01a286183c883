// Kernel names across versions.
#include "compare/families.h"

#include <gtest/gtest.h>

#include <fstream>

#include "roofline/compare.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

TEST(NameFamily, EveryRuleExplainsItself) {
  ASSERT_GT(comparing::family_rules().size(), 15U);
  for (const auto& rule : comparing::family_rules()) {
    EXPECT_EQ(name_family(rule.example), rule.family) << "line " << rule.line << " of data/name_families.csv";
    EXPECT_NE(rule.example, rule.family) << rule.line;
  }
}

}  // namespace
}  // namespace roofline
