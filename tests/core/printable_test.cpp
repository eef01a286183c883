#include "core/printable.h"

#include <gtest/gtest.h>

namespace roofline {
namespace {

TEST(Printable, IsOneShortLineWithoutTricks) {
  EXPECT_EQ(printable("plain Gerät µ", 80), "plain Gerät µ");
  EXPECT_EQ(printable("a\nb\tc\x1b[31m\x7f", 80), "a?b?c?[31m?");
  EXPECT_EQ(printable("x\xC2\x9By", 80), "x?y");                     // C1
  EXPECT_EQ(printable("x\xE2\x80\xAEy\xE2\x80\x8By", 80), "x?y?y");  // right to left, zero width
  EXPECT_EQ(printable("x\xE2\x81\xA6y\xEF\xBB\xBFz", 80), "x?y?z");
  EXPECT_EQ(printable("0123456789", 4), "0123...");
  EXPECT_EQ(printable("\xE2\x80", 80), "\xE2\x80");  // cut short: as it is
  EXPECT_EQ(printable("", 4), "");
}

}  // namespace
}  // namespace roofline
