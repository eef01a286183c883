#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/hostile.h"
#include "roofline/document.h"
#include "support/golden.h"
#include "support/report_builder.h"

namespace roofline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Html, AWholeStep) { expect_golden("report/golden/decode.html", to_html(report_document(decode_step(), {}))); }

TEST(Html, NamesNeverBecomeMarkup) {
  const auto page = to_html(report_document(hostile_report(), {}));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  for (const char c : page) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ');
  Document d;
  d.title = "</title><script>alert(1)</script>";
  d.blocks.emplace_back(Paragraph{"a & b < c > d \" e ' f"});
  const auto small = to_html(d);
  EXPECT_THAT(small, HasSubstr("<title>&lt;/title&gt;&lt;script&gt;"));
  EXPECT_THAT(small, HasSubstr("<p>a &amp; b &lt; c &gt; d &quot; e &#39; f</p>"));
}

TEST(Html, ShowsWhatIsAbsentAsADash) {
  Document d;
  Table t;
  t.columns = {{"Kernel", "kernel", Align::left}, {"FLOPs", "flops"}, {"raw", "raw", Align::right, false, 0, true}};
  t.rows = {{Cell{"copy"}}};
  d.blocks.emplace_back(t);
  const auto page = to_html(d);
  EXPECT_THAT(page, HasSubstr("<td class=\"r\"><span>—</span></td></tr>"));
  EXPECT_THAT(page, Not(HasSubstr("raw</th>")));
}

}  // namespace
}  // namespace roofline::testing
