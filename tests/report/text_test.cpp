#include "report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/hostile.h"
#include "report/numbers.h"
#include "report/row_groups.h"
#include "roofline/document.h"

namespace roofline {
namespace {

using ::testing::ElementsAre;

TEST(CutEnd, KeepsWhatStandsBeforeTheComma) {
  const std::string verdict = "memory-suboptimal, limited by l2";
  EXPECT_EQ(text::cut_end(verdict, 32, true), verdict);
  EXPECT_EQ(text::cut_end(verdict, 28, true), "memory-suboptimal, limited…");
  EXPECT_EQ(text::cut_end(verdict, 20, true), "memory-suboptimal…");
  EXPECT_EQ(text::cut_end(verdict, 18, true), "memory-suboptimal…");
  EXPECT_EQ(text::cut_end(verdict, 17, true), "memory-suboptimal");  // whole, though not marked
  EXPECT_EQ(text::cut_end(verdict, 18, false), "memory-suboptimal");
  EXPECT_EQ(text::cut_end(verdict, 10, true), "memory-su…");
  EXPECT_EQ(text::cut_end("日本語日本語", 5, true), "日本…");
}

TEST(CutEnd, NeverTakesMoreThanTheWidth) {
  for (std::size_t width = 0; width < 20; ++width)
    for (const bool unicode : {true, false})
      for (const std::string s : {"latency-bound, 12 blocks for 132 SMs", "", " ", ", , , ,", "a, b", "éééééééééééééé"})
        EXPECT_LE(display_width(text::cut_end(s, width, unicode)), width) << s;
}

TEST(Si, HasThreeDigitsAndAPrefix) {
  EXPECT_EQ(si(1.234e9, "B"), "1.23 GB");
  EXPECT_EQ(si(45.6e-6, "s"), "45.6 µs");
  EXPECT_EQ(si(123e12, "F/s"), "123 TF/s");
  EXPECT_EQ(si(1.6e9, ""), "1.60 G");
  EXPECT_EQ(si(-2.5e-3, "s"), "-2.50 ms");
  EXPECT_EQ(si(1.5, "s"), "1.50 s");
  EXPECT_EQ(si(1.5, ""), "1.50");
  EXPECT_EQ(si(7e-13, "s"), "700 fs");
}

TEST(Si, RoundsBeforeItChoosesThePrefix) {
  EXPECT_EQ(si(999.4e3, "B"), "999 kB");
  EXPECT_EQ(si(999.6e3, "B"), "1.00 MB");
  EXPECT_EQ(si(9.996, "s"), "10.0 s");
  EXPECT_EQ(si(99.96e-6, "s"), "100 µs");
  EXPECT_EQ(si(0.9999e-3, "s"), "1.00 ms");
}

TEST(Si, WholeNumbersBelowAThousandHaveNoDecimals) {
  EXPECT_EQ(si(32, "B"), "32 B");
  EXPECT_EQ(si(0, "B"), "0 B");
  EXPECT_EQ(si(0, ""), "0");
  EXPECT_EQ(si(7, ""), "7");
}

TEST(Si, WhatIsNoNumberIsADash) {
  EXPECT_EQ(si(std::numeric_limits<double>::quiet_NaN(), "B"), "—");
  EXPECT_EQ(si(std::numeric_limits<double>::infinity(), "B", false), "-");
}

TEST(Si, GoesBeyondThePrefixesAndToAscii) {
  EXPECT_EQ(si(1e30, "B"), "1.00e+30 B");
  EXPECT_EQ(si(3e-20, "s"), "3.00e-20 s");
  EXPECT_EQ(si(45.6e-6, "s", false), "45.6 us");
}

TEST(Numbers, APercentageThatMissesItsLimitIsNotRoundedUpToIt) {
  EXPECT_EQ(numbers::percent_below(0.797, 0.80), "79.7%");
  EXPECT_EQ(numbers::percent_below(0.79996, 0.80), "79.9%");
  EXPECT_EQ(numbers::percent_below(0.80, 0.80), "80%");
  EXPECT_EQ(numbers::percent_below(0.794, 0.80), "79%");
  EXPECT_EQ(numbers::percent_below(0.897, 0.90), "89.7%");
}

TEST(Numbers, PercentKeepsTwoDigitsAndNeverShowsSomethingAsNothing) {
  EXPECT_EQ(numbers::percent(0.973), "97%");
  EXPECT_EQ(numbers::percent(1.04), "104%");
  EXPECT_EQ(numbers::percent(0.0994), "9.9%");
  EXPECT_EQ(numbers::percent(0.0996), "10%");
  EXPECT_EQ(numbers::percent(0.0321), "3.2%");
  EXPECT_EQ(numbers::percent(0.0004), "0.04%");
  EXPECT_EQ(numbers::percent(0.00001), "<0.01%");
  EXPECT_EQ(numbers::percent_at_least(0.41), "≥ 41%");
  EXPECT_EQ(numbers::percent_at_least(0.00001), "≥ 0%");
  EXPECT_EQ(numbers::percent(0), "0%");
  EXPECT_EQ(numbers::share(0.0003), "<0.1%");
  EXPECT_EQ(numbers::share(0.9996), "100%");
  EXPECT_EQ(numbers::share(0.123), "12.3%");
}

TEST(Numbers, RatiosAndPlainNumbers) {
  EXPECT_EQ(numbers::ratio(2), "2.00");
  EXPECT_EQ(numbers::ratio(0.917), "0.917");
  EXPECT_EQ(numbers::ratio(9.996), "10.0");
  EXPECT_EQ(numbers::ratio(295.6), "296");
  EXPECT_EQ(numbers::ratio(12345.4), "12345");
  EXPECT_EQ(numbers::ratio(0), "0");
  EXPECT_EQ(numbers::ratio(1e-5), "1.00e-05");
  EXPECT_EQ(numbers::base(1610612736, "B"), "1610612736 B");
  EXPECT_EQ(numbers::base(2.34e-5, "s"), "2.34e-05 s");
  EXPECT_EQ(numbers::counted(1, "row"), "1 row");
  EXPECT_EQ(numbers::counted(2, "row"), "2 rows");
}

TEST(Utf8, IllFormedBytesBecomeReplacements) {
  EXPECT_EQ(text::valid_utf8("a\xFF"
                             "b"),
            "a\uFFFDb");
  EXPECT_EQ(text::valid_utf8("\xE2\x82"), "\uFFFD");                            // cut short: one replacement
  EXPECT_EQ(text::valid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // surrogate
  EXPECT_EQ(text::valid_utf8("\xC0\xAF"), "\uFFFD\uFFFD");                      // overlong
  EXPECT_EQ(text::valid_utf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // past U+10FFFF
  EXPECT_EQ(text::valid_utf8("日本🚀é"), "日本🚀é");
}

TEST(Utf8, EveryCodePointSurvivesTheRoundTrip) {
  for (const char32_t c : {0x24, 0xA2, 0x7FF, 0x800, 0x20AC, 0xFFFF, 0x10000, 0x10FFFF}) {
    std::string s;
    text::encode(c, s);
    const auto back = text::decode(s, 0);
    EXPECT_TRUE(back.valid);
    EXPECT_EQ(back.value, c);
    EXPECT_EQ(back.size, s.size());
  }
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("µ≥—"), 3U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("🚀"), 2U);
  EXPECT_EQ(display_width("e\u0301"), 1U);  // combining acute
  EXPECT_EQ(display_width("a\u200D"), 1U);  // joiner
  EXPECT_EQ(display_width("\xFF\xFF"), 2U);
  EXPECT_EQ(display_width("한국"), 4U);
}

TEST(CutMiddle, LeavesShortTextAlone) {
  EXPECT_EQ(cut_middle("kernel", 6), "kernel");
  EXPECT_EQ(cut_middle("", 0), "");
}

TEST(CutMiddle, KeepsBothEnds) {
  EXPECT_EQ(cut_middle("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(cut_middle("abcdefghij", 6), "abc…ij");
  EXPECT_EQ(cut_middle("abcdefghij", 7, false), "ab...ij");
  EXPECT_EQ(cut_middle("abcdefghij", 1), "…");
  EXPECT_EQ(cut_middle("abcdefghij", 0), "");
  EXPECT_EQ(cut_middle("abcdefghij", 2, false), "..");
}

TEST(CutMiddle, NeverPartsACharacter) {
  EXPECT_EQ(cut_middle("日本語カーネル", 7), "日…ネル");  // two columns each
  EXPECT_EQ(cut_middle("e\u0301e\u0301e\u0301e\u0301", 3), "e\u0301…e\u0301");
  for (const auto& name : testing::hostile_names())
    for (std::size_t width = 0; width < 40; ++width) {
      const auto safe = text::printable(name, true);
      const auto cut = cut_middle(safe, width);
      EXPECT_LE(display_width(cut), width) << safe;
      EXPECT_EQ(text::valid_utf8(cut), cut);
    }
}

TEST(Printable, LetsNothingThroughThatMovesTheCursor) {
  EXPECT_EQ(text::printable("\x1b[31mred", true), "\uFFFD[31mred");
  EXPECT_EQ(text::printable("\xC2\x9B"
                            "31m",
                            true),
            "\uFFFD31m");
  EXPECT_EQ(text::printable("a\nb\tc\r", true), "a b c ");
  EXPECT_EQ(text::printable("a\u202Eb", true), "a\uFFFDb");
  EXPECT_EQ(text::printable("a\u200Db", true), "ab");
  EXPECT_EQ(text::printable("\x1b[31m", false), "?[31m");
  EXPECT_EQ(text::printable("e\u0301\u0301\u0301\u0301\u0301x", true), "e\u0301\u0301\u0301x");
}

TEST(Printable, SpellsOurSignsInAscii) {
  EXPECT_EQ(text::printable("≥ 41% — 12 µs … ← LOOK 1–2", false), ">= 41% - 12 us ... <- LOOK 1-2");
  EXPECT_EQ(text::printable("日é", false), "??");
}

TEST(Wrap, BreaksAtSpacesAndWithinLongWords) {
  EXPECT_THAT(text::wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(text::wrap("abcdefghij k", 4), ElementsAre("abcd", "efgh", "ij k"));
  EXPECT_THAT(text::wrap("x abcdefgh", 4), ElementsAre("x", "abcd", "efgh"));
  EXPECT_THAT(text::wrap("", 10), ElementsAre(""));
  EXPECT_THAT(text::wrap("a b", 0), ElementsAre("a b"));
  EXPECT_THAT(text::wrap("日本語", 4), ElementsAre("日本", "語"));
}

TEST(RowGroups, ReasonsThatDifferInNumbersAreOne) {
  report::RowGroups g;
  g.add("SM 61 % busy, but L2 and fp16 unknown", 0.1);
  g.add("SM 74.5 % busy, but L2 and fp16 unknown", 0.2);
  g.add("no time", 0.5);
  ASSERT_EQ(g.groups().size(), 2U);
  EXPECT_EQ(g.groups()[0].text, "SM … % busy, but L2 and fp16 unknown");
  EXPECT_EQ(g.groups()[0].rows, 2U);
  EXPECT_NEAR(g.groups()[0].share, 0.3, 1e-12);
  EXPECT_THAT(g.by_share(), ElementsAre(1U, 0U));
}

TEST(RowGroups, OneReasonKeepsItsNumbers) {
  report::RowGroups g;
  g.add("(12 blocks on 132 SMs)", 0.1);
  g.add("(12 blocks on 132 SMs)", 0.1);
  EXPECT_EQ(g.groups()[0].text, "(12 blocks on 132 SMs)");
}

}  // namespace
}  // namespace roofline
