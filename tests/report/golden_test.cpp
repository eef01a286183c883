// Transcripts of whole reports, in tests/report/golden. ROOFLINE_UPDATE_GOLDEN=1 writes them anew: read the difference.
#include <gtest/gtest.h>

#include "report/hostile.h"
#include "roofline/document.h"
#include "support/golden.h"
#include "support/report_builder.h"

namespace roofline::testing {
namespace {

const std::string kFolder = "report/golden/";

std::string terminal(const Report& report, std::size_t width, bool color = false, bool unicode = true,
                     const TableOptions& options = {}) {
  return to_terminal(report_document(report, options), {width, color, unicode});
}

class Width : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Width, DecodeStep) {
  expect_golden(kFolder + "decode-" + std::to_string(GetParam()) + ".txt", terminal(decode_step(), GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Golden, Width, ::testing::Values(60, 80, 120, 200));

TEST(Golden, Colour) { expect_golden(kFolder + "decode-colour.txt", terminal(decode_step(), 120, true)); }

TEST(Golden, Ascii) { expect_golden(kFolder + "decode-ascii.txt", terminal(decode_step(), 100, false, false)); }

TEST(Golden, TopByGainInBaseUnits) {
  TableOptions options;
  options.top = 3;
  options.sort = SortKey::gain;
  options.base_units = true;
  expect_golden(kFolder + "decode-gain-base.txt", terminal(decode_step(), 160, false, true, options));
}

TEST(Golden, Markdown) { expect_golden(kFolder + "decode.md", to_markdown(report_document(decode_step(), {}))); }

TEST(Golden, Csv) { expect_golden(kFolder + "decode.csv", to_csv(report_document(decode_step(), {}))); }

TEST(Golden, HostileNames) { expect_golden(kFolder + "hostile.txt", terminal(hostile_report(), 120)); }

TEST(Golden, Empty) { expect_golden(kFolder + "empty.txt", terminal(Report{}, 80)); }

TEST(Golden, AllUnplaced) {
  ReportBuilder b;
  b.input("basic.ncu-rep");
  WorkSpec bare;
  bare.time_s = 3e-6;
  bare.uncounted = {"all"};
  bare.uncounted_reason = "no operation counters";
  const std::string command = "ncu --metrics dram__bytes_read.sum,dram__bytes_write.sum -o more ./app";
  for (const auto* name : {"first_kernel", "second_kernel"})
    b.add(name, bare).missing = {{"flops", "no operation counters", command}, {"dram", "no DRAM counters", command}};
  expect_golden(kFolder + "unplaced.txt", terminal(b.build(), 80));
}

}  // namespace
}  // namespace roofline::testing
