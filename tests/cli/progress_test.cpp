#include "cli/progress.h"

#include <gtest/gtest.h>

#include "roofline/document.h"

namespace roofline::cli {
namespace {

TEST(Progress, LineSaysHowFarAndHowLong) {
  EXPECT_EQ(progress_line(0.5, 3, 40, false), "reading ########.........  50%, 3 s left");
  EXPECT_EQ(progress_line(0.25, 10, 40, true), "reading ████░░░░░░░░░░░░  25%, 30 s left");
}

TEST(Progress, TimeLeftIsNotGuessedFromNothing) {
  EXPECT_EQ(progress_line(0.01, 1, 30, false), "reading .................   1%");
  EXPECT_EQ(progress_line(1, 1, 30, false), "reading ################# 100%");
}

TEST(Progress, FitsAnyWidthAndAnyShare) {
  for (const double share : {-1.0, 0.0, 0.3, 0.999, 1.0, 7.0})
    for (const std::size_t width : {40, 60, 200}) {
      EXPECT_LE(display_width(progress_line(share, 5, width, true)), width) << share;
    }
  EXPECT_EQ(progress_line(0.5, 3, 0, true), "reading   50%, 3 s left");
}

}  // namespace
}  // namespace roofline::cli
