#include "profile/csv_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "profile/text_encoding.h"

namespace roofline {
namespace {

using ::testing::ElementsAre;

std::vector<std::vector<std::string>> all_records(std::string_view text, char separator = ',') {
  CsvCursor cursor(text, separator);
  std::vector<std::vector<std::string>> records;
  std::vector<CsvCell> cells;
  while (!cursor.at_end()) {
    read_record(cursor, cells);
    auto& record = records.emplace_back();
    std::string storage;
    for (const CsvCell& cell : cells) record.emplace_back(cell.value(storage));
  }
  return records;
}

TEST(CsvLines, PlainAndQuotedCells) {
  EXPECT_THAT(all_records("a,b,c\n\"x, y\",\"\",z\n"),
              ElementsAre(ElementsAre("a", "b", "c"), ElementsAre("x, y", "", "z")));
}

TEST(CsvLines, LineEnds) {
  EXPECT_THAT(all_records("a,b\r\n\"c\",\"d\"\r\ne"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("c", "d"), ElementsAre("e")));
  EXPECT_THAT(all_records("a\n\nb"), ElementsAre(ElementsAre("a"), ElementsAre(""), ElementsAre("b")));
  EXPECT_THAT(all_records(""), ElementsAre());
}

TEST(CsvLines, DoubledQuotesAndLineEndsInsideQuotes) {
  EXPECT_THAT(all_records("\"say \"\"hi\"\"\",2\n\"two\nlines\",3\n\"\"\"\",4\n"),
              ElementsAre(ElementsAre("say \"hi\"", "2"), ElementsAre("two\nlines", "3"), ElementsAre("\"", "4")));
}

TEST(CsvLines, QuoteInsideAQuotedCellBelongsToTheValue) {
  EXPECT_THAT(all_records("\"f<\"x\">(int, int)\",\"1\"\n"), ElementsAre(ElementsAre("f<\"x\">(int, int)", "1")));
}

TEST(CsvLines, StrayQuoteCostsOneLine) {
  EXPECT_THAT(all_records("\"unclosed, text\n\"0\",\"1\"\n"),
              ElementsAre(ElementsAre("\"unclosed", " text"), ElementsAre("0", "1")));
  EXPECT_THAT(all_records("a\"b,c\n"), ElementsAre(ElementsAre("a\"b", "c")));
}

TEST(CsvLines, RaggedRecordsAndTrailingSeparators) {
  EXPECT_THAT(all_records("a,b,\nc\n,\n"),
              ElementsAre(ElementsAre("a", "b", ""), ElementsAre("c"), ElementsAre("", "")));
}

TEST(CsvLines, OtherSeparators) { EXPECT_THAT(all_records("\"1,5\";2\n", ';'), ElementsAre(ElementsAre("1,5", "2"))); }

TEST(CsvLines, SkippingCellsEqualsReadingThem) {
  CsvCursor cursor("\"a,1\",b,\"c\"\"\",d\ne,f\n");
  CsvCell cell;
  ASSERT_TRUE(cursor.skip_cells(3));
  ASSERT_TRUE(cursor.next_cell(cell));
  EXPECT_EQ(cell.raw, "d");
  EXPECT_FALSE(cursor.next_cell(cell));
  cursor.next_record();
  EXPECT_FALSE(cursor.skip_cells(3));
  cursor.next_record();
  EXPECT_TRUE(cursor.at_end());
}

TEST(CsvLines, LineNumbers) {
  LineCounter lines("a\nb\n\nc");
  EXPECT_EQ(lines.line_at(0), 1U);
  EXPECT_EQ(lines.line_at(5), 4U);
  EXPECT_EQ(lines.line_at(2), 2U);
  EXPECT_EQ(lines.line_at(100), 4U);
}

// Quotes that never close, or never where they should, must not make every cell search the whole text.
TEST(CsvLines, HostileQuotesCostLinearTime) {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "\"a\"b,";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(all_records(text).size(), 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(TextEncoding, Utf16BothOrdersWithAndWithoutMark) {
  const std::u16string text =
      u"\xFEFF"
      u"ID,\u00e9\U0001F600\n";
  std::string little;
  std::string big;
  for (const char16_t unit : text) {
    little += static_cast<char>(unit & 0xFF);
    little += static_cast<char>(unit >> 8);
    big += static_cast<char>(unit >> 8);
    big += static_cast<char>(unit & 0xFF);
  }
  const std::string expected = "ID,\xC3\xA9\xF0\x9F\x98\x80\n";
  EXPECT_EQ(to_utf8(copy_bytes(little)).text, expected);
  EXPECT_EQ(to_utf8(copy_bytes(big)).text, expected);
  std::string unmarked;
  for (const char c : std::string("Kernel Name,Metric\n")) unmarked.append(1, c).append(1, '\0');
  EXPECT_EQ(to_utf8(copy_bytes(unmarked)).text, "Kernel Name,Metric\n");
}

TEST(TextEncoding, BrokenUtf16IsReplacedNotTrusted) {
  const std::string lone_surrogate(
      "\xFF\xFE\x00\xD8"
      "A\0\x00\xDC",
      8);
  EXPECT_EQ(to_utf8(copy_bytes(lone_surrogate)).text,
            "\xEF\xBF\xBD"
            "A\xEF\xBF\xBD");
  EXPECT_EQ(to_utf8(copy_bytes(std::string("\xFF\xFE"
                                           "A",
                                           3)))
                .text,
            "");
}

TEST(TextEncoding, Utf8PassesWithoutItsMark) {
  EXPECT_EQ(to_utf8(copy_bytes("\xEF\xBB\xBF"
                               "ID"))
                .text,
            "ID");
  EXPECT_EQ(to_utf8(copy_bytes("\xC3\xA9")).text, "\xC3\xA9");
  std::string storage;
  EXPECT_EQ(head_as_utf8("\xEF\xBB\xBFID", storage), "ID");
}

}  // namespace
}  // namespace roofline
