#include <gtest/gtest.h>

#include "roofline/timeline.h"

namespace roofline {
namespace {

TEST(NameTable, EqualTextsGetEqualIndices) {
  std::vector<std::string> names;
  NameTable table(names);
  const auto a = table.intern("gemm");
  const auto b = table.intern("copy");
  EXPECT_NE(a, b);
  EXPECT_EQ(table.intern("gemm"), a);
  EXPECT_EQ(names[b], "copy");
}

}  // namespace
}  // namespace roofline
