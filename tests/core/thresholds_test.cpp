#include "roofline/thresholds.h"

#include <gtest/gtest.h>

#include <set>

namespace roofline {
namespace {

// A threshold that is not in the table could be neither set nor seen in a report.
TEST(Thresholds, EachHasAName) {
  EXPECT_EQ(threshold_fields().size() * sizeof(double), sizeof(Thresholds));
  std::set<std::string_view> names;
  Thresholds marked;
  double mark = 1000;
  for (const auto& field : threshold_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    marked.*field.member = ++mark;
  }
  mark = 1000;
  for (const auto& field : threshold_fields()) EXPECT_EQ(marked.*field.member, ++mark) << field.name;
}

TEST(Thresholds, TheUsualOnesMakeSense) {
  const Thresholds usual;
  for (const auto& field : threshold_fields()) {
    EXPECT_GE(usual.*field.member, field.least) << field.name;
    EXPECT_LE(usual.*field.member, field.most) << field.name;
  }
}

TEST(Thresholds, AreFoundByName) {
  ASSERT_NE(find_threshold("optimal"), nullptr);
  EXPECT_EQ(find_threshold("optimal")->member, &Thresholds::optimal);
  EXPECT_EQ(find_threshold("Optimal"), nullptr);
  EXPECT_EQ(find_threshold(""), nullptr);
}

}  // namespace
}  // namespace roofline
