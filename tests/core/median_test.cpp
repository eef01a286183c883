#include "core/median.h"

#include <gtest/gtest.h>

namespace roofline {
namespace {

TEST(Median, IsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_FALSE(median({}));
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 4}), 4);
  EXPECT_EQ(median({9, 1, 4, 2}), 3);
  EXPECT_EQ(median({2, 2, 2, 100}), 2);
}

}  // namespace
}  // namespace roofline
