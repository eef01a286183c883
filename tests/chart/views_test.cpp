// SVG, PNG, PDF and the terminal.
#include <gtest/gtest.h>
#include <librsvg/rsvg.h>

#include "chart/fixtures.h"
#include "report/hostile.h"
#include "roofline/error.h"
#include "support/report_builder.h"

namespace roofline::testing {
namespace {

// What librsvg, whose XML parser forgives nothing, says of the file; empty for nothing.
std::string complaint(const std::string& svg) {
  GError* error = nullptr;
  GInputStream* stream = g_memory_input_stream_new_from_data(svg.data(), static_cast<gssize>(svg.size()), nullptr);
  RsvgHandle* handle = rsvg_handle_new_from_stream_sync(stream, nullptr, RSVG_HANDLE_FLAGS_NONE, nullptr, &error);
  g_object_unref(stream);
  if (handle != nullptr) {
    g_object_unref(handle);
    return {};
  }
  std::string out = error->message;
  g_error_free(error);
  return out;
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

TEST(Svg, IsWellFormed) {
  const auto sweep = batch_sweep();
  EXPECT_EQ(complaint(to_svg(report_chart(llama_step()))), "");
  EXPECT_EQ(complaint(to_svg(report_chart(crowded_step(300)))), "");
  EXPECT_EQ(complaint(to_svg(hierarchical_chart(tiled_gemm(), 0))), "");
  EXPECT_EQ(complaint(to_svg(trajectory_chart("a < b & c", sweep_steps(sweep)))), "");
  EXPECT_EQ(complaint(to_svg(report_chart(Report{}))), "");
  EXPECT_NE(complaint("<svg><text>&</text></svg>"), "");  // the check itself can fail
}

TEST(Svg, SaysWhatItShows) {
  const auto svg = to_svg(report_chart(llama_step()));
  EXPECT_EQ(count(svg, "<title id=\"title\">Roofline: llama3-8b-decode-h100.md</title>"), 1U);
  EXPECT_EQ(count(svg, "<desc id=\"desc\">"), 1U);
  EXPECT_NE(svg.find("role=\"img\""), std::string::npos);
  EXPECT_NE(svg.find(">attention −"), std::string::npos);  // text as text
  EXPECT_NE(svg.find("prefers-color-scheme:dark"), std::string::npos);
}

TEST(Svg, NeedsNothingFromOutside) {
  const auto svg = to_svg(report_chart(hostile_report()));
  EXPECT_EQ(count(svg, "http://www.w3.org/2000/svg"), 1U);
  for (const auto* part : {"<script", "<image", "href", "@import", "url(", "onload", "<!DOCTYPE", "<!ENTITY"})
    EXPECT_EQ(svg.find(part), std::string::npos) << part;
}

TEST(Svg, HostileNamesAreText) {
  const auto report = hostile_report();
  const auto svg = to_svg(report_chart(report));
  EXPECT_EQ(complaint(svg), "");
  EXPECT_NE(svg.find("&lt;script&gt;"), std::string::npos);
  for (const char c : svg) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_LT(svg.size(), 100'000U);  // the 5 kB name is cut

  auto noncharacters = report;
  noncharacters.rows.front().full_name = noncharacters.rows.front().name = "a\xEF\xBF\xBE\xEF\xBF\xBF]]>b";
  EXPECT_EQ(complaint(to_svg(report_chart(noncharacters))), "");
}

TEST(Svg, ThemesDiffer) {
  const auto c = report_chart(llama_step());
  EXPECT_EQ(to_svg(c, {SvgTheme::light}).find("prefers-color-scheme"), std::string::npos);
  EXPECT_NE(to_svg(c, {SvgTheme::dark}), to_svg(c, {SvgTheme::light}));
}

TEST(Png, IsAPictureOfTheRightSize) {
  const auto png = to_png(report_chart(llama_step()), 1.0);
  ASSERT_GT(png.size(), 1000U);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(png[i])); };
  EXPECT_EQ(byte(18) << 8U | byte(19), 1000U);  // width, big-endian
}

TEST(Pdf, IsAPdf) {
  const auto pdf = to_pdf(report_chart(llama_step()));
  EXPECT_EQ(pdf.substr(0, 5), "%PDF-");
  EXPECT_NE(pdf.find("%%EOF"), std::string::npos);
}

TEST(Raster, HostileNames) {
  EXPECT_NO_THROW(to_png(report_chart(hostile_report()), 1.0));
  EXPECT_NO_THROW(to_pdf(report_chart(hostile_report())));
}

class TerminalWidth : public ::testing::TestWithParam<std::size_t> {};

TEST_P(TerminalWidth, Fits) {
  for (const auto& report : {llama_step(), decode_step(), crowded_step(300), hostile_report(), Report{}}) {
    for (const bool unicode : {true, false}) {
      const auto text = to_terminal(report_chart(report), {GetParam(), false, unicode});
      for (std::size_t at = 0; at < text.size();) {
        const auto end = text.find('\n', at);
        EXPECT_LE(display_width(text.substr(at, end - at)), GetParam());
        at = end + 1;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Terminal, TerminalWidth, ::testing::Values(40, 60, 80, 100, 160, 200));

TEST(Terminal, AsciiIsAscii) {
  for (const auto& report : {llama_step(), decode_step(), hostile_report()})
    for (const char c : to_terminal(report_chart(report), {80, false, false}))
      EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7F)) << static_cast<int>(c);
}

TEST(Terminal, EscapesOnlyWithColour) {
  EXPECT_EQ(to_terminal(report_chart(hostile_report()), {100, false, true}).find('\x1b'), std::string::npos);
  EXPECT_NE(to_terminal(report_chart(llama_step()), {100, true, true}).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace roofline::testing
