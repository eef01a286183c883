#include "report/hostile.h"

#include "support/report_builder.h"

namespace roofline::testing {
namespace {

std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

}  // namespace

std::vector<std::string> hostile_names() {
  return {
      "\x1b[31mred\x1b[0m",     // colours
      "title\x1b]0;owned\x07",  // window title
      "c1\xC2\x9B"
      "31mred",                                    // CSI as one C1 character
      "back\b\b\b\b\rspace\x7F",                   // overwriting
      "first\nsecond\tthird\r\nfourth\v",          // lines
      std::string("nul\0byte", 8),                 //
      "bad\xFF\xFE\xC3(\xE2\x82\xED\xA0\x80\xF5",  // ill-formed UTF-8, a surrogate
      "rtl\xE2\x80\xAE"
      "lenrek\xE2\x80\xAC\xE2\x81\xA6",                                           // direction overrides
      "שלום_kernel",                                                              // right-to-left letters
      "🚀🔥👩‍💻 kernel",                                               // wide and joined
      "日本語カーネル",                                                           // wide
      "zalgo" + repeated("\xCC\x81", 300),                                        // combining marks
      "void gemm<" + repeated("cutlass::arch::OpClassTensorOp, ", 160) + "int>",  // 5 kB
      "=HYPERLINK(\"http://x\")",                                                 // formulas
      "+1+2",
      "@SUM(A1)",
      "-2+3|cmd",
      "a|b`c``d*e_f[g](h)<script>alert(1)</script>\\",  // markup
      "comma,quote\"semicolon;",
      "",
  };
}

Report hostile_report() {
  ReportBuilder b;
  b.input("dir\x1b[2J/evil\n.ncu-rep").input("b|c.csv", "ncu-csv");
  for (const auto& name : hostile_names()) {
    WorkSpec spec;
    spec.operations = {{"fp32.vector", 1e9}};
    spec.dram_read = 1e9;
    spec.dram_write = 1e8;
    spec.time_s = 400e-6;
    b.add(name, spec);
  }
  WorkSpec bare;
  bare.time_s = 1e-5;
  auto& row = b.add("unplaced", bare);
  row.group.placement.reason = "because \x1b[31m|\nof";
  row.missing = {{"dram", "no\x1b counters", "ncu --metrics x \x1b[31m-o y ./app"}};
  b.warn("odd", "kernel \x1b]0;x\x07 is odd\nvery");
  return b.build();
}

}  // namespace roofline::testing
