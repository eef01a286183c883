// Terminal, Markdown and CSV: what must hold for every report, however hostile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "report/build_kind.h"
#include "report/hostile.h"
#include "report/text.h"
#include "roofline/document.h"
#include "support/report_builder.h"

namespace roofline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

Document simple_table(std::vector<Column> columns, std::vector<std::vector<Cell>> rows) {
  Document d;
  d.blocks.emplace_back(Table{"", std::move(columns), std::move(rows), {}});
  return d;
}

// A small RFC 4180 reader: records of fields.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto& field = records.back().back();
    const char c = text[i];
    if (quoted) {
      if (c != '"')
        field += c;
      else if (i + 1 < text.size() && text[i + 1] == '"')
        field += text[++i];
      else
        quoted = false;
    } else if (c == '"') {
      EXPECT_EQ(field, "");
      quoted = true;
    } else if (c == ',') {
      records.back().emplace_back();
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      records.push_back({""});
    } else {
      field += c;
    }
  }
  records.pop_back();
  return records;
}

// ---------------------------------------------------------------- terminal

TEST(Terminal, NoLineIsWiderThanTheTerminal) {
  for (const auto& report : {decode_step(), hostile_report()}) {
    const auto document = report_document(report, {});
    for (std::size_t width = 40; width <= 230; width += 5)
      for (const bool unicode : {true, false})
        for (const auto& line : lines_of(to_terminal(document, {width, false, unicode})))
          EXPECT_TRUE(display_width(line) <= width || line.rfind("  ncu ", 0) == 0) << line;
  }
}

TEST(Terminal, NothingButTextAndLineEndsGetsThrough) {
  const auto out = to_terminal(report_document(hostile_report(), {}), {120, false, true});
  EXPECT_EQ(text::valid_utf8(out), out);
  for (std::size_t at = 0; at < out.size();) {
    const auto c = text::decode(out, at);
    at += c.size;
    EXPECT_TRUE(!text::is_control(c.value) || c.value == '\n') << static_cast<unsigned>(c.value);
    EXPECT_FALSE(c.value >= 0x202A && c.value <= 0x202E);
  }
}

TEST(Terminal, AsciiIsAscii) {
  for (const auto& report : {decode_step(), hostile_report()}) {
    const auto out = to_terminal(report_document(report, {}), {100, false, false});
    EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7F); }));
  }
}

TEST(Terminal, ColourOnlyAddsEscapes) {
  const auto document = report_document(decode_step(), {});
  const auto plain = to_terminal(document, {100, false, true});
  auto colored = to_terminal(document, {100, true, true});
  EXPECT_THAT(colored, HasSubstr("\x1b["));
  for (auto at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b'))
    colored.erase(at, colored.find('m', at) - at + 1);
  EXPECT_EQ(colored, plain);
}

TEST(Terminal, ColourIsClosedOnEveryLine) {
  for (const auto& line : lines_of(to_terminal(report_document(decode_step(), {}), {100, true, true}))) {
    const auto last = line.rfind('\x1b');
    EXPECT_TRUE(last == std::string::npos || line.substr(last, 4) == "\x1b[0m") << line;
  }
}

TEST(Terminal, DropsTheHighestColumnsFirst) {
  const auto document = simple_table(
      {{"Name", "name", Align::left, true, 0}, {"A", "a", Align::right, false, 1}, {"B", "b", Align::right, false, 2}},
      {{{"a name of forty columns, or nearly as many"}, {"12345678901234"}, {"76543217654321"}}});
  EXPECT_THAT(to_terminal(document, {200}), HasSubstr("76543217654321"));
  const auto narrow = to_terminal(document, {40});
  EXPECT_THAT(narrow, HasSubstr("12345678901234"));
  EXPECT_THAT(narrow, Not(HasSubstr("76543217654321")));
  EXPECT_THAT(narrow, HasSubstr("…"));
}

TEST(Terminal, DropsColumnsWithoutValuesBeforeOthers) {
  const auto document =
      simple_table({{"Name", "name", Align::left, true, 0},
                    {"Empty", "a", Align::right, false, 1},
                    {"B", "b", Align::right, false, 2}},
                   {{{"a name of forty columns, or nearly as many"}, {""}, {"7654321076543217654321"}}});
  EXPECT_THAT(to_terminal(document, {80}), HasSubstr("Empty"));
  const auto narrow = to_terminal(document, {40});
  EXPECT_THAT(narrow, Not(HasSubstr("Empty")));
  EXPECT_THAT(narrow, HasSubstr("7654321076543217654321"));
}

// A report with everything in it, and what each width shows of it.
std::string titles_at(std::size_t width) {
  ReportBuilder b(CeilingKind::at_clock);
  WorkSpec spec;
  spec.operations = {{"fp32.vector", 7e9}};
  spec.dram_read = 1e9;
  spec.dram_write = 0;
  spec.time_s = 500e-6;
  for (const auto* name : {"compute_tendencies_x_279_gpu", "compute_tendencies_x_309_gpu"}) b.add(name, spec);
  const auto report = b.build();
  const auto lines = lines_of(to_terminal(report_document(report, {}), {width, false, true}));
  const auto header = std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("Kernel"); });
  EXPECT_THAT(*(header + 2), ::testing::EndsWith("← LOOK")) << width;
  std::vector<std::string> words = {*header};
  for (std::size_t at = 0; (at = words[0].find("  ", at)) != std::string::npos;) words[0].erase(at, 1);
  return words[0];
}

TEST(Terminal, ShowsWhatMattersMostAtEveryWidth) {
  EXPECT_EQ(titles_at(60), "Kernel FLOP/B % of roof Time Share");
  EXPECT_EQ(titles_at(80), "Kernel FLOPs Bytes FLOP/B Achieved % of roof Time Share");
  EXPECT_EQ(titles_at(100), "Kernel N FLOPs Bytes FLOP/B Achieved % of roof Roof Time Share");
  for (const std::size_t width : {120, 140, 200})
    EXPECT_EQ(titles_at(width), "Kernel N FLOPs Bytes FLOP/B Achieved % of roof Roof Time Share Verdict");
}

TEST(Terminal, BlanksBeforeUnitsGoBeforeColumns) {
  const auto document = simple_table(
      {{"Name", "name", Align::left, true, 0}, {"A", "a", Align::right, false, 1}, {"B", "b", Align::right, false, 2}},
      {{{"twelve chars and more"}, {"12.3 TF/s"}, {"≥ 4.56 TB/s"}}, {{"second"}, {"in cache"}, {"1 of 2 rows"}}});
  const auto wide = to_terminal(document, {50});
  EXPECT_THAT(wide, HasSubstr("12.3 TF/s  ≥ 4.56 TB/s"));
  const auto narrow = to_terminal(document, {40});
  EXPECT_THAT(wide, HasSubstr("12.3 TF/s"));
  EXPECT_THAT(narrow, HasSubstr("1 of 2 rows"));
  EXPECT_THAT(narrow, HasSubstr("in cache"));
}

TEST(Terminal, AlignsWideCharacters) {
  const auto document = simple_table({{"K", "k", Align::left, true, 0}, {"N", "n", Align::right, false, 0}},
                                     {{{"日本語"}, {"1"}}, {{"abcdef"}, {"22"}}});
  const auto lines = lines_of(to_terminal(document, {80}));
  EXPECT_EQ(display_width(lines[2]), display_width(lines[3]));
}

TEST(Terminal, DataOnlyAndBlankColumnsAreNotShown) {
  Column hidden{"secret", "secret", Align::right, false, 0, true};
  const auto document = simple_table({{"K", "k", Align::left, true, 0}, hidden, {"Blank", "b", Align::left, false, 0}},
                                     {{{"x"}, {"1"}, {""}}});
  const auto out = to_terminal(document, {80});
  EXPECT_THAT(out, Not(HasSubstr("secret")));
  EXPECT_THAT(out, Not(HasSubstr("Blank")));
}

TEST(Terminal, CommandsAreNeverBroken) {
  Document d;
  const std::string command = "ncu --metrics " + std::string(300, 'x') + " ./app";
  d.blocks.emplace_back(Command{command});
  EXPECT_EQ(to_terminal(d, {60}), "  " + command + "\n");
}

// ---------------------------------------------------------------- Markdown

TEST(Markdown, EveryTableLineHasTheSameCells) {
  const auto out = to_markdown(report_document(hostile_report(), {}));
  std::size_t expected = 0;
  std::size_t rows = 0;
  for (const auto& line : lines_of(out)) {
    if (line.empty() || line[0] != '|') continue;
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++bars;
    }
    if (expected == 0) expected = bars;
    EXPECT_EQ(bars, expected) << line;
    ++rows;
  }
  EXPECT_EQ(rows, hostile_names().size() + 4);  // header, rule, the unplaced row, total
}

TEST(Markdown, NamesAreCode) {
  const auto document = simple_table({{"K", "k", Align::left, true, 0}, {"N", "n", Align::right, false, 0}},
                                     {{{"a|b"}, {""}}, {{"t`i``k"}, {"<b>"}}, {{"plain"}, {"*1"}}});
  const auto out = to_markdown(document);
  EXPECT_THAT(out, HasSubstr("| `a\\|b` | — |\n"));
  EXPECT_THAT(out, HasSubstr("| ``` t`i``k ``` | \\<b\\> |\n"));
  EXPECT_THAT(out, HasSubstr("| plain | \\*1 |\n"));
}

TEST(Markdown, HtmlIsNeverLive) {
  const auto out = to_markdown(report_document(hostile_report(), {}));
  for (auto at = out.find("<script"); at != std::string::npos; at = out.find("<script", at + 1)) {
    const auto line = out.substr(out.rfind('\n', at) + 1, at - out.rfind('\n', at) - 1);
    EXPECT_GT(std::count(line.begin(), line.end(), '`'), 0) << "outside a code span";
  }
}

// ---------------------------------------------------------------- CSV

TEST(Csv, ReadsBackToTheNumbers) {
  const auto records = parse_csv(to_csv(report_document(decode_step(), {})));
  ASSERT_EQ(records.size(), 11U);
  for (const auto& r : records) EXPECT_EQ(r.size(), records[0].size());
  const auto at = [&](std::size_t row, const std::string& key) {
    const auto it = std::find(records[0].begin(), records[0].end(), key);
    return records[row].at(static_cast<std::size_t>(it - records[0].begin()));
  };
  EXPECT_EQ(at(1, "kernel"), "fused_add_rms_norm_kernel");
  EXPECT_EQ(at(1, "flops"), "1280000000");
  EXPECT_EQ(at(1, "launches"), "64");
  EXPECT_EQ(at(1, "look"), "1");
  EXPECT_EQ(at(1, "input"), "traces/decode.ncu-rep");
  EXPECT_EQ(at(5, "flops"), "");  // not counted: empty, not 0
  EXPECT_EQ(at(8, "flops"), "0");
}

TEST(Csv, SurvivesHostileNames) {
  const auto out = to_csv(report_document(hostile_report(), {}));
  EXPECT_EQ(text::valid_utf8(out), out);
  EXPECT_EQ(out.find('\0'), std::string::npos);
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
  const auto records = parse_csv(out);
  ASSERT_EQ(records.size(), hostile_names().size() + 2);
  for (const auto& r : records) EXPECT_EQ(r.size(), records[0].size());
}

TEST(Csv, FormulasStayText) {
  const auto document =
      simple_table({{"K", "k", Align::left, true, 0}, {"N", "n", Align::right, false, 0}},
                   {{{"=1+1"}, {"", -5.0}}, {{"@x"}, {"1.00 G", 1e9}}, {{"-f,\"g\""}, {"—"}}, {{"f-g"}, {""}}});
  EXPECT_EQ(to_csv(document), "k,n\r\n'=1+1,-5\r\n'@x,1000000000\r\n\"'-f,\"\"g\"\"\",\r\nf-g,\r\n");
}

TEST(Csv, WhatIsNotFiniteIsEmpty) {
  const auto document = simple_table({{"N", "n"}}, {{{"x", std::nan("")}}, {{"y", HUGE_VAL}}});
  EXPECT_EQ(to_csv(document), "n\r\n\r\n\r\n");
}

// ---------------------------------------------------------------- size

TEST(Views, ManyRowsAreQuick) {
  ReportBuilder b(CeilingKind::at_clock);
  b.input("large.ncu-rep");
  WorkSpec spec;
  spec.operations = {{"fp32.vector", 1e9}};
  spec.dram_read = 1e9;
  spec.dram_write = 0;
  for (std::size_t i = 0; i < kManyRows; ++i) {
    spec.time_s = 300e-6 + static_cast<double>(i) * 1e-9;
    b.add("kernel_" + std::to_string(i % (kManyRows / 4)), spec).full_name = "kernel<" + std::to_string(i) + ">";
  }
  const auto report = b.build();
  const CpuTimer timer;
  TableOptions options;
  options.top = kManyRows / 2;
  const auto document = report_document(report, options);
  const auto size = to_terminal(document, {160, true, true}).size() + to_csv(document).size();
  EXPECT_LT(timer.seconds(), kPatience_s);
  EXPECT_GT(size, 100 * kManyRows);
}

}  // namespace
}  // namespace roofline::testing
