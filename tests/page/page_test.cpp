#include "roofline/page.h"

#include <gtest/gtest.h>

#include <string>

#include "roofline/error.h"

namespace roofline {
namespace {

constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"roofline-report\">";

// What stands in the data element.
std::string data_of(const std::string& html) {
  const auto begin = html.find(kBegin) + kBegin.size();
  return html.substr(begin, html.find("</script>", begin) - begin);
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

class Page : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_page()) GTEST_SKIP() << "built without the page";
  }
};

TEST_F(Page, HoldsTheReport) {
  EXPECT_EQ(data_of(to_html(R"({"schema":"roofline/report/1"})")), R"({"schema":"roofline/report/1"})");
}

TEST_F(Page, NothingInTheReportIsMarkup) {
  const auto plain = to_html("{}");
  const auto html = to_html(R"({"name":"</script><script>alert(1)</script><!-- & > ' ]]>"})");
  EXPECT_EQ(
      data_of(html),
      R"({"name":"\u003c/script\u003e\u003cscript\u003ealert(1)\u003c/script\u003e\u003c!-- \u0026 \u003e ' ]]\u003e"})");
  EXPECT_EQ(count(html, "<script"), count(plain, "<script"));
  EXPECT_EQ(count(html, "<!--"), count(plain, "<!--"));
}

TEST_F(Page, LineSeparatorsAreEscapedAndOtherCharactersKept) {
  EXPECT_EQ(data_of(to_html("{\"a\":\"\xE2\x80\xA8 \xE2\x80\xA9 \xE2\x80\xAE \xE2\x82\xAC \xC3\xA4\"}")),
            "{\"a\":\"\\u2028 \\u2029 \xE2\x80\xAE \xE2\x82\xAC \xC3\xA4\"}");
  EXPECT_EQ(data_of(to_html("\"\xE2\"")), "\"\xE2\"");  // a cut sequence at the end is no way out
}

TEST_F(Page, AllowsItsOwnScriptAndNothingElse) {
  const auto html = to_html("{}");
  EXPECT_NE(html.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_EQ(html.find("unsafe-"), std::string::npos);
  EXPECT_EQ(count(html, " src=\""), 0U);
  EXPECT_EQ(count(html, "@import"), 0U);
}

TEST(NoPage, SaysHowToGetOne) {
  if (has_page()) GTEST_SKIP() << "built with the page";
  try {
    to_html("{}");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("-DROOFLINE_WEB=ON"), std::string::npos);
  }
}

}  // namespace
}  // namespace roofline
