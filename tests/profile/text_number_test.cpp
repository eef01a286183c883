#include "profile/text_number.h"

#include <gtest/gtest.h>

#include <string>

#include "profile/number_locale.h"

namespace roofline {
namespace {

struct ShapeCase {
  const char* text;
  NumberShape shape;
};

TEST(TextNumber, Shapes) {
  const ShapeCase cases[] = {
      {"0", NumberShape::plain},
      {"12345", NumberShape::plain},
      {"-7", NumberShape::plain},
      {"1e9", NumberShape::plain},
      {"1 234 567", NumberShape::plain},
      {"12.5", NumberShape::point},
      {"0.123", NumberShape::point},
      {"1234.567", NumberShape::point},
      {"1,234,567", NumberShape::point},
      {"1,234.5", NumberShape::point},
      {"1.234e5", NumberShape::point},
      {"12753920.000000", NumberShape::point},
      {"65,77", NumberShape::comma},
      {"27.595.520", NumberShape::comma},
      {"1.234,5", NumberShape::comma},
      {"0,123", NumberShape::comma},
      {"1 234,567", NumberShape::comma},
      {"117.344", NumberShape::ambiguous},
      {"292,928", NumberShape::ambiguous},
      {"", NumberShape::not_a_number},
      {"n/a", NumberShape::not_a_number},
      {"1.2.3", NumberShape::not_a_number},
      {"12,34.5.6", NumberShape::not_a_number},
      {".", NumberShape::not_a_number},
      {"1,,2", NumberShape::not_a_number},
      {"1e", NumberShape::not_a_number},
      {"12ab", NumberShape::not_a_number},
      {"2020-10-25", NumberShape::not_a_number},
      {"1,23,456", NumberShape::point},
  };
  for (const auto& c : cases) EXPECT_EQ(number_shape(c.text), c.shape) << c.text;
}

TEST(TextNumber, OneTextTwoReadings) {
  EXPECT_EQ(parse_number("117.344", NumberLocale::point), 117.344);
  EXPECT_EQ(parse_number("117.344", NumberLocale::comma), 117344.0);
  EXPECT_EQ(parse_number("292,928", NumberLocale::point), 292928.0);
  EXPECT_EQ(parse_number("292,928", NumberLocale::comma), 292.928);
  EXPECT_EQ(parse_number("117.344", NumberLocale::automatic), std::nullopt);
  EXPECT_EQ(parse_number("65,77", NumberLocale::automatic), 65.77);
  EXPECT_EQ(parse_number("4,963,609,951.19", NumberLocale::automatic), 4963609951.19);
}

TEST(TextNumber, WhatALocaleCannotReadIsNoNumber) {
  EXPECT_EQ(parse_number("65,77", NumberLocale::point), std::nullopt);
  EXPECT_EQ(parse_number("27.595.520", NumberLocale::point), std::nullopt);
  EXPECT_EQ(parse_number("12.5", NumberLocale::comma), std::nullopt);
  EXPECT_EQ(parse_number("1,234.5", NumberLocale::comma), std::nullopt);
  for (const char* text : {"", "nan", "inf", "n/a", "-", "+", "--1", "0x10", "1e99999"}) {
    EXPECT_EQ(parse_number(text, NumberLocale::point), std::nullopt) << text;
  }
}

TEST(TextNumber, GroupsOfOtherCountries) {
  EXPECT_EQ(parse_number("1\xC2\xA0"
                         "234,5",
                         NumberLocale::comma),
            1234.5);
  EXPECT_EQ(parse_number("1\xE2\x80\xAF"
                         "234",
                         NumberLocale::point),
            1234.0);
  EXPECT_EQ(parse_number("1'234.5", NumberLocale::point), 1234.5);
}

TEST(TextNumber, NotAvailable) {
  for (const char* text : {"", "  ", "n/a", "N/A", "nan", "-nan(ind)", "-inf", "-"}) {
    EXPECT_TRUE(is_not_available(text)) << text;
  }
  for (const char* text : {"0", "all", "No-CC", "CachePreferNone"}) EXPECT_FALSE(is_not_available(text)) << text;
}

struct UnitCase {
  const char* text;
  Dimension dimension;
  double factor;
};

TEST(TextNumber, Units) {
  const UnitCase cases[] = {
      {"ns", Dimension::time, 1e-9},
      {"nsecond", Dimension::time, 1e-9},
      {"us", Dimension::time, 1e-6},
      {"usecond", Dimension::time, 1e-6},
      {"\xC2\xB5s", Dimension::time, 1e-6},
      {"ms", Dimension::time, 1e-3},
      {"msecond", Dimension::time, 1e-3},
      {"s", Dimension::time, 1},
      {"second", Dimension::time, 1},
      {"hz", Dimension::frequency, 1},
      {"khz", Dimension::frequency, 1e3},
      {"Ghz", Dimension::frequency, 1e9},
      {"MHz", Dimension::frequency, 1e6},
      {"cycle/second", Dimension::frequency, 1},
      {"cycle/nsecond", Dimension::frequency, 1e9},
      {"cycle/usecond", Dimension::frequency, 1e6},
      {"byte", Dimension::bytes, 1},
      {"Kbyte", Dimension::bytes, 1e3},
      {"Mbyte", Dimension::bytes, 1e6},
      {"Tbyte", Dimension::bytes, 1e12},
      {"KiB", Dimension::bytes, 1024},
      {"GB", Dimension::bytes, 1e9},
      {"byte/block", Dimension::bytes, 1},
      {"Kbyte/block", Dimension::bytes, 1e3},
      {"byte/cycle", Dimension::bytes, 1},
      {"byte/second", Dimension::byte_rate, 1},
      {"Gbyte/s", Dimension::byte_rate, 1e9},
      {"Kbyte/second", Dimension::byte_rate, 1e3},
      {"GB/s", Dimension::byte_rate, 1e9},
      {"byte/ns", Dimension::byte_rate, 1e9},
      {"", Dimension::count, 1},
      {"inst", Dimension::count, 1},
      {"inst/cycle", Dimension::count, 1},
      {"sector/request", Dimension::count, 1},
      {"register/thread", Dimension::count, 1},
      {"1/cycle", Dimension::count, 1},
      {"Kinst", Dimension::count, 1e3},
      {"op/second", Dimension::count_rate, 1},
      {"%", Dimension::percent, 1},
      {"GFLOP/s", Dimension::flop_rate, 1e9},
      {"TFLOP", Dimension::flops, 1e12},
      {"transactions", Dimension::count, 1},
  };
  for (const auto& c : cases) {
    const auto unit = parse_unit(c.text);
    ASSERT_TRUE(unit) << c.text;
    EXPECT_EQ(unit->dimension, c.dimension) << c.text;
    EXPECT_DOUBLE_EQ(unit->factor(), c.factor) << c.text;
  }
}

TEST(TextNumber, UnknownUnitsAreNotGuessed) {
  for (const char* text : {"furlong", "Gb/s", "Mb", "byte/furlong", "/s", "byte/", "Xbyte", "%/s", "time/s"}) {
    EXPECT_FALSE(parse_unit(text)) << text;
  }
}

TEST(TextNumber, ConversionsAreExact) {
  EXPECT_EQ(convert(6.75, *parse_unit("us"), *parse_unit("ns")), 6750.0);
  EXPECT_EQ(convert(345.14, *parse_unit("Gbyte/s"), *parse_unit("byte/second")), 345.14e9);
  EXPECT_EQ(convert(117344, *parse_unit("ns"), *parse_unit("us")), 117.344);
  EXPECT_EQ(convert(1, *parse_unit("KiB"), *parse_unit("byte")), 1024.0);
  EXPECT_EQ(convert(3, *parse_unit("inst"), *parse_unit("")), 3.0);
  EXPECT_EQ(convert(3, *parse_unit("byte"), *parse_unit("ns")), std::nullopt);
  EXPECT_EQ(convert(3, *parse_unit("byte/second"), *parse_unit("byte")), std::nullopt);
}

LocaleEvidence::Verdict verdict_of(std::initializer_list<std::pair<const char*, const char*>> cells) {
  LocaleEvidence evidence;
  std::uint64_t line = 1;
  for (const auto& [cell, unit] : cells) evidence.add(cell, unit, line++);
  return evidence.verdict(nullptr).value();
}

TEST(NumberLocaleEvidence, OneTellingNumberDecides) {
  EXPECT_EQ(verdict_of({{"117.344", "ns"}, {"65,77", "%"}}).locale, NumberLocale::comma);
  EXPECT_FALSE(verdict_of({{"117.344", "ns"}, {"65,77", "%"}}).guessed);
  EXPECT_EQ(verdict_of({{"117,344", "ns"}, {"65.77", "%"}}).locale, NumberLocale::point);
  EXPECT_EQ(verdict_of({{"1", ""}, {"22", "ns"}}).locale, NumberLocale::point);
  EXPECT_FALSE(verdict_of({{"1", ""}, {"22", "ns"}}).guessed);
}

TEST(NumberLocaleEvidence, AUnitMakesAGuessThatSaysSo) {
  const auto nanoseconds = verdict_of({{"117.344", "ns"}});
  EXPECT_EQ(nanoseconds.locale, NumberLocale::comma);
  EXPECT_TRUE(nanoseconds.guessed);
  EXPECT_EQ(nanoseconds.evidence, "\"117.344\" ns in line 1");
  EXPECT_EQ(verdict_of({{"117,344", "ns"}}).locale, NumberLocale::point);
  EXPECT_EQ(verdict_of({{"17,504", "Mbyte"}}).locale, NumberLocale::comma);
  EXPECT_EQ(verdict_of({{"17.504", "Mbyte"}}).locale, NumberLocale::point);
  EXPECT_TRUE(verdict_of({{"3.456", ""}}).guessed);
}

TEST(NumberLocaleEvidence, ContradictingUnitsGiveNoVerdict) {
  LocaleEvidence evidence;
  evidence.add("117.344", "ns", 3);
  evidence.add("1.234", "%", 4);
  std::string clash;
  EXPECT_FALSE(evidence.verdict(&clash));
  EXPECT_EQ(clash, "\"117.344\" ns in line 3 and \"1.234\" % in line 4");
}

}  // namespace
}  // namespace roofline
