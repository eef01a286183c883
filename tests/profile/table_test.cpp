#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "profile/reader.h"
#include "profile/table_caption.h"
#include "profile/table_cell.h"
#include "profile/table_columns.h"

namespace roofline {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Profile read(const std::string& text, const ReadOptions& options = {}) {
  return read_table({copy_bytes(text), "t.txt"}, options);
}

std::vector<std::string> messages(const Profile& profile, const std::string& code) {
  std::vector<std::string> found;
  for (const auto& w : profile.warnings) {
    if (w.code == code) found.push_back(w.message);
  }
  return found;
}

const Work& work(const Profile& profile, std::size_t i) { return *profile.launches.at(i).given; }
double dram(const Profile& profile, std::size_t i) { return work(profile, i).level(MemoryLevel::dram).total.value(); }

std::string fault_kind(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& e) {
    return e.problem().kind;
  }
  return "";
}

// The figures of a worked example that is known to contradict its own caption.
constexpr const char* kWorkedExample = R"(
Llama-3-8B decode, batch 32, H100 (peak 990 TF/s BF16, 3.35 TB/s):
Ridge point = 296 FLOP/byte

Kernel                    FLOPs      Bytes     I      Achieved   % of roof
qkv_proj GEMM             1.2 G      0.61 G    2.0    6.5 TF/s   97% of memory roof
o_proj GEMM               1.1 G      0.55 G    2.0    6.4 TF/s   96%
gate_up GEMM              7.5 G      3.8 G     2.0    6.4 TF/s   96%
down GEMM                 3.8 G      1.9 G     2.0    6.5 TF/s   97%
paged_attention           0.5 G      0.55 G    0.9    2.9 TF/s   96%
add_rms_norm (fused)      0.02 G     0.016 G   1.25   1.4 TF/s   33%   ← LOOK
silu_and_mul (fused)      0.03 G     0.05 G    0.6    2.0 TF/s   99%
lm_head GEMM              1.05 G     0.53 G    2.0    6.4 TF/s   96%
sampling                  0.01 G     0.03 G    0.3    0.6 TF/s   60%   ← LOOK

Total step: 15.2 GFLOP, 8.0 GB, 2.4 ms
)";

TEST(Table, ReadsTheWorkedExample) {
  const auto p = read(kWorkedExample);
  ASSERT_THAT(p.launches, SizeIs(9));
  EXPECT_EQ(p.format, "table");
  EXPECT_EQ(p.machine, "H100");
  EXPECT_EQ(p.launches[0].name, "qkv_proj GEMM");
  EXPECT_EQ(p.launches[5].name, "add_rms_norm (fused)");
  EXPECT_EQ(p.launches[5].time_basis, TimeBasis::given);
  const auto& norm = work(p, 5);
  ASSERT_THAT(norm.operations, SizeIs(1));
  EXPECT_EQ(to_string(norm.operations[0].precision), "bf16.tensor");
  EXPECT_DOUBLE_EQ(norm.flops().value(), 0.02e9);
  EXPECT_DOUBLE_EQ(dram(p, 5), 0.016e9);
  EXPECT_DOUBLE_EQ(norm.time.value(), 0.02e9 / 1.4e12);
  EXPECT_EQ(norm.time.recipe(), "typed FLOPs / achieved");
  EXPECT_EQ(norm.time.evidence(), Evidence::given);
  const auto& claims = *p.launches[0].claims;
  EXPECT_DOUBLE_EQ(*claims.intensity, 2.0);
  EXPECT_DOUBLE_EQ(*claims.fraction, 0.97);
  EXPECT_EQ(claims.fraction_text, "97% of memory roof");
  EXPECT_EQ(claims.line, 6U);
}

TEST(Table, NamesTheContradictionsOfTheWorkedExample) {
  const auto p = read(kWorkedExample);
  const auto found = messages(p, "contradiction");
  for (const auto* kernel : {"qkv_proj", "o_proj", "gate_up", "down", "lm_head"}) {
    EXPECT_THAT(found, Contains(AllOf(HasSubstr(kernel), HasSubstr("batch 32"), HasSubstr("about 32"))));
  }
  EXPECT_THAT(found, Contains(AllOf(HasSubstr("times add up to 2.5 ms"), HasSubstr("2.4 ms"))));
  EXPECT_THAT(found, Contains(AllOf(HasSubstr("15.2 G FLOPs"), HasSubstr("512 GFLOP"))));
  EXPECT_THAT(found, Contains(AllOf(HasSubstr("8 GB moved"), HasSubstr("16 GB"))));
  // All others agree within the rounding of their digits.
  EXPECT_THAT(found, SizeIs(8));
  std::vector<std::uint64_t> rows;
  for (const auto& w : p.warnings) {
    if (w.code == "contradiction" && w.launch) rows.push_back(*w.launch);
  }
  EXPECT_THAT(rows, ElementsAre(0, 1, 2, 3, 7));
  EXPECT_THAT(messages(p, "assumed-precision"), SizeIs(1));
}

// Without a caption nothing narrows the rows' rounding, which then reconciles 2.5 with 2.4: told, but not as an error.
TEST(Table, TotalsThatOnlyRoundingExplainsAreNamed) {
  std::string text(kWorkedExample);
  text.erase(0, text.find("Kernel "));
  const auto p = read(text);
  EXPECT_THAT(messages(p, "contradiction"), IsEmpty());
  EXPECT_THAT(messages(p, "total-differs"),
              ElementsAre(AllOf(HasSubstr("times add up to 2.5 ms"), HasSubstr("the total says 2.4 ms"))));
  EXPECT_DOUBLE_EQ(work(p, 0).flops().value(), 1.2e9);
  EXPECT_THAT(messages(read("kernel,bytes,time\na,1 GB,1 ms\nb,1 GB,1 ms\nTotal: 2 GB, 2 ms\n"), "total-differs"),
              IsEmpty());
}

TEST(Table, ExampleReadsWithoutContradiction) {
  const auto path = std::string(ROOFLINE_SOURCE_DIR) + "/examples/llama3-8b-decode-h100.md";
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  const auto p = read(text.str());
  EXPECT_THAT(p.warnings, IsEmpty()) << p.warnings.front().message;
  EXPECT_EQ(p.machine, "H100-SXM");
  ASSERT_THAT(p.launches, SizeIs(13));
  double flops = 0;
  double bytes = 0;
  double time = 0;
  for (std::size_t i = 0; i < p.launches.size(); ++i) {
    const auto n = static_cast<double>(p.launches[i].count);
    flops += n * work(p, i).flops().value();
    bytes += n * dram(p, i);
    time += n * work(p, i).time.value();
    EXPECT_EQ(work(p, i).flops().evidence(), Evidence::model);
    EXPECT_EQ(work(p, i).level(MemoryLevel::dram).total.evidence(), Evidence::model);
  }
  EXPECT_NEAR(flops, 514.79e9, 0.01e9);
  EXPECT_NEAR(bytes, 23.995e9, 0.002e9);
  EXPECT_NEAR(time, 9.834e-3, 0.001e-3);
  EXPECT_EQ(p.launches[3].name, "qkv_proj");
  EXPECT_EQ(p.launches[3].count, 32U);
  EXPECT_NEAR(work(p, 3).time.value(), 23.75e-6, 1e-9);  // per launch
  EXPECT_EQ(work(p, 3).time.evidence(), Evidence::given);
  EXPECT_EQ(work(p, 2).time.evidence(), Evidence::model);
  EXPECT_EQ(p.launches[2].time_basis, TimeBasis::model);
  EXPECT_THAT(std::string(work(p, 3).time.note()), HasSubstr("aiconfigurator"));
  EXPECT_DOUBLE_EQ(work(p, 6).aux_ops.value(), 335.5e6 / 32);
}

// --- layouts ---

TEST(Table, ReadsEveryLayout) {
  for (const std::string text : {
           "kernel,launches,FLOPs,bytes,time\na,2,4e9,2 GB,1 ms\n",
           "kernel;launches;FLOPs;bytes;time\na;2;4e9;2 GB;1 ms\n",
           "kernel\tlaunches\tFLOPs\tbytes\ttime\na\t2\t4e9\t2 GB\t1 ms\n",
           "| kernel | launches | FLOPs | bytes | time |\n|---|--:|--:|--:|--:|\n| a | 2 | 4e9 | 2 GB | 1 ms |\n",
           "kernel | launches | FLOPs | bytes | time\n--- | --- | --- | --- | ---\n`a` | 2 | 4e9 | 2 GB | 1 ms\n",
           "kernel  launches  FLOPs  bytes  time\n------  --------  -----  -----  ----\na       2         4e9    2 GB  "
           " 1 ms\n",
           "\xEF\xBB\xBFkernel,launches,FLOPs,bytes,time\r\n\"a\",2,4e9,\"2 GB\",1 ms\r\n",
           "time (us),Bytes [GB],GFLOP,kernel name,# calls\n1000,2,4,a,2\n",
           "kernel,calls,FLOPs per call,bytes per call,avg time (us)\na,2,2 G,1 GB,500\n",
       }) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(looks_like_table(text));
    const auto p = read(text);
    ASSERT_THAT(p.launches, SizeIs(1));
    EXPECT_EQ(p.launches[0].name, "a");
    EXPECT_EQ(p.launches[0].count, 2U);
    EXPECT_DOUBLE_EQ(dram(p, 0), 1e9);
    EXPECT_DOUBLE_EQ(work(p, 0).time.value(), 0.5e-3);
    // No precision anywhere: shown, and under no roof.
    EXPECT_DOUBLE_EQ(work(p, 0).flops().value(), 2e9);
    EXPECT_DOUBLE_EQ(work(p, 0).intensity().value(), 2.0);
    EXPECT_EQ(to_string(work(p, 0).operations.at(0).precision), "unknown.vector");
    EXPECT_FALSE(work(p, 0).aux_ops);
    EXPECT_TRUE(work(p, 0).coverage.complete());
    EXPECT_THAT(messages(p, "no-precision"), ElementsAre(HasSubstr("one row has FLOPs of unknown precision")));
    // "per call" in the titles leaves nothing to assume.
    EXPECT_THAT(messages(p, "assumed-totals"), SizeIs(text.find("per call") == std::string::npos ? 1 : 0));
  }
}

TEST(Table, ReadsUtf16) {
  std::string text("\xFF\xFE", 2);
  for (const char c : std::string("kernel,bytes,time\na,1 GB,1 ms\n")) {
    text += c;
    text += '\0';
  }
  EXPECT_TRUE(looks_like_table(text));
  EXPECT_THAT(read(text).launches, SizeIs(1));
}

TEST(Table, AlignedColumnsMayLackCells) {
  const auto p = read(
      "Kernel      FLOPs     Bytes     Time\n"
      "copy                  2 GB      1 ms\n"
      "gemm        4 G                 2 ms   # no counter\n"
      "both        4 G       1 GB      2 ms\n");
  ASSERT_THAT(p.launches, SizeIs(3));
  EXPECT_DOUBLE_EQ(dram(p, 0), 2e9);
  EXPECT_FALSE(work(p, 0).aux_ops);
  EXPECT_FALSE(work(p, 1).level(MemoryLevel::dram).total);
  EXPECT_DOUBLE_EQ(work(p, 1).flops().value(), 4e9);
  EXPECT_DOUBLE_EQ(work(p, 1).time.value(), 2e-3);
}

TEST(Table, QuotedCellsMayHoldSeparatorsAndLineEnds) {
  const auto p = read("kernel,bytes,time\n\"f<int, 2>\n(long)\",1 GB,1 ms\nb,2 GB,1 ms\n");
  ASSERT_THAT(p.launches, SizeIs(2));
  EXPECT_EQ(p.launches[0].name, "f<int, 2>?(long)");
  EXPECT_EQ(p.launches[1].claims->line, 4U);
}

TEST(Table, SeveralTablesAndProseBetween) {
  const auto p = read(
      "# Notes\n\n| kernel | bytes | time |\n|---|---|---|\n| a | 1 GB | 1 ms |\n\nThe next one is older.\n\n"
      "| time (us) | kernel | GB |\n|---|---|---|\n| 5 | b | 1 |\n");
  ASSERT_THAT(p.launches, SizeIs(2));
  EXPECT_EQ(p.launches[1].name, "b");
  EXPECT_DOUBLE_EQ(work(p, 1).time.value(), 5e-6);
}

TEST(Table, RowsWithTooManyCellsAreNotGuessed) {
  const auto p = read("kernel,bytes,time\na,1,234 GB,1 ms\nb,1 GB,1 ms\n");
  ASSERT_THAT(p.launches, SizeIs(1));
  EXPECT_THAT(messages(p, "ragged-row"), ElementsAre(HasSubstr("line 2")));
}

// --- columns and units ---

TEST(TableColumns, KnowManySpellings) {
  using table::Role;
  const auto role = [](std::string_view title) {
    const auto columns = table::recognise_header({"kernel", "bytes", title});
    return columns.empty() ? Role::unknown : columns[2].role;
  };
  EXPECT_EQ(role("GFLOP"), Role::flops);
  EXPECT_EQ(role("FLOPs (G)"), Role::flops);
  EXPECT_EQ(role("TFLOP/s"), Role::rate);
  EXPECT_EQ(role("TFLOPS"), Role::rate);
  EXPECT_EQ(role("TFLOP_per_s"), Role::rate);
  EXPECT_EQ(role("Achieved (TF/s)"), Role::rate);
  EXPECT_EQ(role("Throughput (TB/s)"), Role::bandwidth);
  EXPECT_EQ(role("TB_per_s"), Role::bandwidth);
  EXPECT_EQ(role("dram_bytes_read"), Role::read);
  EXPECT_EQ(role("Arithmetic Intensity"), Role::intensity);
  EXPECT_EQ(role("FLOP/byte"), Role::intensity);
  EXPECT_EQ(role("measured_us"), Role::time);
  EXPECT_EQ(role("Time (%)"), Role::ignored);
  EXPECT_EQ(role("roof_us"), Role::ignored);
  EXPECT_EQ(role("% of roof"), Role::fraction);
  EXPECT_EQ(role("frac_of_roof"), Role::fraction);
  EXPECT_EQ(role("dtype"), Role::precision);
  EXPECT_EQ(role("bf16.tensor FLOPs"), Role::precise_flops);
  EXPECT_EQ(role("Registers"), Role::unknown);
}

TEST(TableColumns, GflopsBesideARateIsACount) {
  const auto p = read("kernel,GFLOPS,TFLOPS/s,time (ms)\na,2,1,2\n");
  EXPECT_DOUBLE_EQ(work(p, 0).flops().value(), 2e9);
  EXPECT_THAT(messages(p, "ambiguous-column"), SizeIs(1));
  EXPECT_THAT(messages(p, "contradiction"), IsEmpty());
}

TEST(TableColumns, UnknownAndDuplicateOnesAreNamed) {
  const auto p = read("kernel,bytes,regs,time,occupancy,duration\na,1 GB,32,1 ms,50,2 ms\n");
  EXPECT_THAT(messages(p, "unknown-columns"), ElementsAre(AllOf(HasSubstr("'regs'"), HasSubstr("'occupancy'"))));
  EXPECT_THAT(messages(p, "duplicate-column"), ElementsAre(AllOf(HasSubstr("'time'"), HasSubstr("'duration'"))));
  EXPECT_DOUBLE_EQ(work(p, 0).time.value(), 1e-3);
}

TEST(TableCell, ReadsNumbersWithUnits) {
  const auto value = [](std::string_view text) {
    const auto cell = table::read_cell(text, {}, NumberLocale::point);
    return cell.state == table::CellReading::State::value ? cell.printed.value : std::nan("");
  };
  EXPECT_DOUBLE_EQ(value("1.2 G"), 1.2e9);
  EXPECT_DOUBLE_EQ(value("0.61 GB"), 0.61e9);
  EXPECT_DOUBLE_EQ(value("2 GiB"), 2.0 * 1024 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(value("6.5 TF/s"), 6.5e12);
  EXPECT_DOUBLE_EQ(value("6.5TFLOP/s"), 6.5e12);
  EXPECT_DOUBLE_EQ(value("2.4 ms"), 2.4e-3);
  EXPECT_DOUBLE_EQ(value("7 µs"), 7e-6);
  EXPECT_DOUBLE_EQ(value("97% of memory roof"), 0.97);
  EXPECT_DOUBLE_EQ(value("1.5e3 us"), 1.5e-3);
  EXPECT_DOUBLE_EQ(value("1,234,567"), 1234567);
  EXPECT_DOUBLE_EQ(value("1 234 567"), 1234567);
  EXPECT_DOUBLE_EQ(value("3 G FLOP"), 3e9);
  EXPECT_DOUBLE_EQ(value("**12 kB**"), 12e3);
  EXPECT_DOUBLE_EQ(value("~ 5 us"), 5e-6);
  for (const auto* text : {"-1 GB", "nan", "inf", "1.2 foo", "1.2 GB 3", "12 apples", "abc", "1e999", "1..2", "--1"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(table::read_cell(text, {}, NumberLocale::point).state, table::CellReading::State::bad);
  }
  for (const auto* text : {"", "-", "n/a", "?", "—", "← LOOK"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(table::read_cell(text, {}, NumberLocale::point).state, table::CellReading::State::empty);
  }
}

TEST(TableCell, KnowsWhatRoundingHides) {
  const auto range = [](std::string_view text) {
    return table::read_cell(text, {}, NumberLocale::point).printed.range;
  };
  EXPECT_DOUBLE_EQ(range("2.0").low, 1.95);
  EXPECT_DOUBLE_EQ(range("2.0").high, 2.05);
  EXPECT_DOUBLE_EQ(range("0.61 GB").high, 0.615e9);
  EXPECT_DOUBLE_EQ(range("97%").low, 0.965);
  EXPECT_DOUBLE_EQ(range("1.25e3").high, 1255);
  EXPECT_DOUBLE_EQ(range("7500").high, 7550);  // zeros at the end may be filling
  EXPECT_DOUBLE_EQ(range("7501").high, 7501.5);
  EXPECT_DOUBLE_EQ(range("≥ 41 %").low, 0.405);
  EXPECT_TRUE(std::isinf(range("≥ 41 %").high));
}

TEST(Table, DecimalCommasAreDecidedFromTheWholeTable) {
  const auto p = read("kernel;bytes;time (us)\na;1,5 GB;1.234,5\nb;1,234 GB;2\n");
  EXPECT_DOUBLE_EQ(dram(p, 0), 1.5e9);
  EXPECT_DOUBLE_EQ(work(p, 0).time.value(), 1234.5e-6);
  EXPECT_DOUBLE_EQ(dram(p, 1), 1.234e9);
  EXPECT_THAT(messages(p, "decimal-comma"), SizeIs(1));
  ReadOptions comma;
  comma.locale = NumberLocale::comma;
  const auto q = read("kernel;bytes;time\na;1,234 GB;1 ms\n", comma);
  EXPECT_DOUBLE_EQ(dram(q, 0), 1.234e9);
  EXPECT_DOUBLE_EQ(dram(read("kernel;bytes;time\na;1,234 MB;1 ms\n"), 0), 1234e6);
}

// --- what follows from the rest ---

TEST(Table, FillsInWhatFollows) {
  const auto p = read(
      "precision: fp32.vector\n"
      "kernel | FLOPs | bytes | I | achieved | bandwidth | time\n"
      "from_rate | 2 G | 1 GB |  | 1 TF/s | | \n"
      "from_bandwidth | | 1 GB | | | 2 TB/s | \n"
      "from_intensity | | 1 GB | 3 | | | 1 ms\n"
      "bytes_from_intensity | 6 G | | 3 | | | 1 ms\n"
      "from_time | | | | 2 TF/s | 1 TB/s | 1 ms\n"
      "rate_in_bytes | | 1 GB | | 2 TB/s | | \n");
  ASSERT_THAT(p.launches, SizeIs(6));
  EXPECT_DOUBLE_EQ(work(p, 0).time.value(), 2e-3);
  EXPECT_DOUBLE_EQ(work(p, 1).time.value(), 0.5e-3);
  EXPECT_FALSE(work(p, 1).coverage.complete());  // FLOPs are unknown, not none
  EXPECT_DOUBLE_EQ(work(p, 2).flops().value(), 3e9);
  EXPECT_DOUBLE_EQ(dram(p, 3), 2e9);
  EXPECT_DOUBLE_EQ(work(p, 4).flops().value(), 2e9);
  EXPECT_DOUBLE_EQ(dram(p, 4), 1e9);
  EXPECT_DOUBLE_EQ(work(p, 5).time.value(), 0.5e-3);
  EXPECT_EQ(work(p, 5).time.recipe(), "typed bytes / bandwidth");
  EXPECT_THAT(p.warnings, IsEmpty());
}

TEST(Table, ScopeOfTheFiguresCanBeStated) {
  const auto time = [](const std::string& key) {
    const auto p = read(key + "kernel,launches,bytes,time\na,4,8 GB,8 ms\n");
    EXPECT_THAT(messages(p, "assumed-totals"), SizeIs(key.empty() ? 1 : 0));
    return work(p, 0).time.value();
  };
  EXPECT_DOUBLE_EQ(time(""), 2e-3);
  EXPECT_DOUBLE_EQ(time("values: total\n"), 2e-3);
  EXPECT_DOUBLE_EQ(time("values: per call\n"), 8e-3);
  EXPECT_THAT(messages(read("values: some\nkernel,bytes,time\na,8 GB,8 ms\n"), "bad-values"), SizeIs(1));
}

TEST(Table, ZeroFlopsNeedNoPrecision) {
  const auto p = read("kernel,FLOPs,bytes,time\ncopy,0,1 GB,1 ms\n");
  EXPECT_EQ(work(p, 0).flops().value(), 0);
  EXPECT_TRUE(work(p, 0).coverage.complete());
  EXPECT_THAT(p.warnings, IsEmpty());
}

TEST(Table, UnknownPrecisionMayBeSaid) {
  const auto p = read("kernel,FLOPs,precision,bytes,time\na,1 G,unknown,1 GB,1 ms\nb,2 G,?,1 GB,1 ms\n");
  EXPECT_DOUBLE_EQ(work(p, 1).flops().value(), 2e9);
  EXPECT_THAT(messages(p, "bad-precision"), IsEmpty());
  EXPECT_THAT(messages(p, "no-precision"), ElementsAre(HasSubstr("2 rows have")));
  const auto q = read("kernel,unknown.vector FLOPs,bytes,time\na,1 G,1 GB,1 ms\n");
  EXPECT_DOUBLE_EQ(work(q, 0).flops().value(), 1e9);
  EXPECT_THAT(messages(q, "no-precision"), SizeIs(1));
}

TEST(Table, OneDirectionIsALowerBound) {
  const auto p = read("kernel,read,time\ncopy,1 GB,1 ms\n");
  EXPECT_EQ(work(p, 0).level(MemoryLevel::dram).total.bound(), Bound::lower);
  EXPECT_EQ(work(p, 0).level(MemoryLevel::dram).read.value(), 1e9);
  EXPECT_FALSE(work(p, 0).level(MemoryLevel::dram).write);
  EXPECT_EQ(read("kernel,bytes,time\ncopy,>= 1 GB,1 ms\n").launches[0].given->level(MemoryLevel::dram).total.bound(),
            Bound::lower);
}

TEST(Table, PrecisionsFromColumnsKeysAndTitles) {
  const auto p = read(
      "kernel,FLOPs,precision,bytes,time\n"
      "a,1 G,bf16.tensor,1 GB,1 ms\nb,1 G,FP8 tensor,1 GB,1 ms\nc,1 G,half,1 GB,1 ms\nd,1 G,float,1 GB,1 ms\n"
      "e,1 G,quaternion,1 GB,1 ms\nf,1 T,int8.tensor,1 GB,1 ms\n");
  const auto precision = [&](std::size_t i) { return to_string(work(p, i).operations.at(0).precision); };
  EXPECT_EQ(precision(0), "bf16.tensor");
  EXPECT_EQ(precision(1), "fp8.tensor");
  EXPECT_EQ(precision(2), "fp16.tensor");
  EXPECT_EQ(precision(3), "fp32.vector");
  EXPECT_EQ(precision(4), "unknown.vector");
  EXPECT_EQ(precision(5), "int8.tensor");
  EXPECT_THAT(messages(p, "bad-precision"), ElementsAre(HasSubstr("quaternion")));
  EXPECT_THAT(messages(p, "assumed-path"), SizeIs(1));
  const auto q = read("kernel,bf16.tensor GFLOP,fp32.vector GFLOP,FLOPs,time (us)\na,3.0,1.0,5.0 G,1\n");
  ASSERT_THAT(work(q, 0).operations, SizeIs(2));
  EXPECT_DOUBLE_EQ(work(q, 0).flops().value(), 4e9);
  EXPECT_THAT(messages(q, "contradiction"), SizeIs(1));  // 4 G is not 5 G
}

TEST(Table, EvidenceIsWhatTheTableSays) {
  const auto p = read(
      "evidence: model\nevidence time: measured\n"
      "kernel,FLOPs,bytes,time,bytes evidence\na,0,1 GB,1 ms,\nb,0,1 GB,1 ms,given\nc,0,1 GB,1 ms,counter\n");
  EXPECT_EQ(work(p, 0).flops().evidence(), Evidence::model);
  EXPECT_EQ(work(p, 0).time.evidence(), Evidence::given);
  EXPECT_EQ(work(p, 1).level(MemoryLevel::dram).total.evidence(), Evidence::given);
  EXPECT_EQ(work(p, 2).level(MemoryLevel::dram).total.evidence(), Evidence::model);
  EXPECT_THAT(messages(p, "bad-cell"), ElementsAre(HasSubstr("counter")));  // nobody types a counter
}

// --- contradictions ---

TEST(TableChecks, EachKindIsFound) {
  struct Case {
    const char* text;
    const char* says;
  };
  for (const auto& c : {
           Case{"kernel,FLOPs,bytes,I,time\na,2 G,1.0 GB,3.0,1 ms\n", "FLOPs / bytes"},
           Case{"kernel,FLOPs,achieved,time\na,2.0 G,3.0 TF/s,1.0 ms\n", "FLOPs / time"},
           Case{"kernel,bytes,bandwidth,time\na,2.0 GB,3.0 TB/s,1.0 ms\n", "bytes / time"},
           Case{"kernel,bytes,read,write,time\na,3.0 GB,1.0 GB,1.0 GB,1 ms\n", "read + write"},
           Case{"kernel,I,achieved,bandwidth\na,2.0,3.0 TF/s,1.0 TB/s\n", "achieved / bandwidth"},
           Case{"X100 (peak 10 TF/s, 1.0 TB/s)\nkernel,bytes,time\na,2.0 GB,1.0 ms\n", "more than the 1 TB/s"},
           Case{"X100 (peak 10 TF/s, 1.0 TB/s)\nkernel,FLOPs,time\na,20.0 G,1.0 ms\n", "more than the 10 TFLOP/s"},
           Case{"X100 (peak 10 TF/s, 1.0 TB/s)\nkernel,FLOPs,bytes,time,% of roof\na,1.0 G,0.50 GB,1.0 ms,97%\n",
                "50 % of the roof"},
           Case{"kernel,bytes,time\na,1.0 GB,1.0 ms\nb,1.0 GB,1.0 ms\nTotal,3.0 GB,2.0 ms\n", "bytes add up to 2 GB"},
           Case{"kernel,bytes,time\na,1.0 GB,1.0 ms\nb,1.0 GB,1.0 ms\n\nTotal: 2.0 GB, 3.0 ms\n",
                "times add up to 2 ms"},
           Case{"H100 (peak 990 TF/s BF16, 3.35 TB/s)\nridge point 150 FLOP/byte\n\nkernel,bytes,time\na,1 GB,1 ms\n",
                "peak / bandwidth"},
       }) {
    SCOPED_TRACE(c.text);
    const auto p = read(c.text);
    EXPECT_THAT(messages(p, "contradiction"), ElementsAre(HasSubstr(c.says)));
  }
}

TEST(TableChecks, RoundingIsNoContradiction) {
  for (const std::string text : {
           "kernel,FLOPs,bytes,I,time\na,2 G,1 GB,2.4,1 ms\n",              // 1.5 to 2.5 over 0.5 to 1.5
           "kernel,FLOPs,achieved,time\na,1.2 G,6.5 TF/s,0.18 ms\n",        // 6.22 to 7.14
           "kernel,bytes,time\na,1.0 GB,1 ms\nTotal,1.04 GB,1.4 ms\n",      //
           "kernel,bytes,time\na,1.0 GB,1 ms\nb,,1 ms\nTotal,5 GB,2 ms\n",  // b's bytes may be the rest
           "X100 (10 TF/s, 1.0 TB/s)\nkernel,bytes,time,% of roof\na,0.50 GB,1.0 ms,97%\n",  // FLOPs may bind
       }) {
    SCOPED_TRACE(text);
    EXPECT_THAT(messages(read(text), "contradiction"), IsEmpty());
  }
}

TEST(TableChecks, LinearLayersFollowBatchAndWeights) {
  const auto found = [](const std::string& caption, const std::string& row) {
    return messages(read(caption + "\nkernel,FLOPs,bytes,time\n" + row + "\n"), "contradiction").size();
  };
  EXPECT_EQ(found("decode, batch 32, BF16", "o_proj,32.0 G,1.0 GB,1 ms"), 0U);
  EXPECT_EQ(found("decode, batch 32, BF16", "o_proj,2.0 G,1.0 GB,1 ms"), 1U);
  EXPECT_EQ(found("decode, batch 32, BF16", "o_proj,64.0 G,1.0 GB,1 ms"), 1U);  // above what the weights allow
  EXPECT_EQ(found("decode, batch 32, FP8", "o_proj,60.0 G,1.0 GB,1 ms"), 0U);
  EXPECT_EQ(found("decode, batch 1, BF16", "o_proj,1.0 G,1.0 GB,1 ms"), 0U);
  EXPECT_EQ(found("decode, batch 32, W4A16 BF16", "o_proj,120.0 G,1.0 GB,1 ms"), 0U);
  EXPECT_EQ(found("prefill, batch 32, BF16", "o_proj,2000.0 G,1.0 GB,1 ms"), 0U);  // tokens unknown
  EXPECT_EQ(found("decode, batch 32, BF16", "attention GEMM,2.0 G,1.0 GB,1 ms"), 0U);
  EXPECT_EQ(found("decode, batch 32, BF16", "softmax,2.0 G,1.0 GB,1 ms"), 0U);
  EXPECT_EQ(found("BF16 only", "o_proj,2.0 G,1.0 GB,1 ms"), 0U);
}

// --- captions, keys, totals ---

TEST(TableCaption, FindsTheMachine) {
  const auto machine = [](const std::string& caption) {
    return read(caption + "\nkernel,bytes,time\na,1 GB,1 ms\n").machine;
  };
  EXPECT_EQ(machine("machine: NVIDIA H100 PCIe"), "NVIDIA H100 PCIe");
  EXPECT_EQ(machine("- **GPU:** A100-SXM4-80GB"), "A100-SXM4-80GB");
  EXPECT_EQ(machine("Some model on an MI300X, batch 4"), "MI300X");
  EXPECT_EQ(machine("Decode on H100 SXM5 with FP8"), "H100 SXM5");
  EXPECT_EQ(machine("RTX 4090, 1 TB/s"), "RTX 4090");
  EXPECT_EQ(machine("Llama decode, MyChip (peak 10 TF/s, 1 TB/s)"), "MyChip");
  EXPECT_EQ(machine("BF16 on MyChip (10 TF/s, 1 TB/s)"), "MyChip");
  EXPECT_EQ(machine("nothing to see, batch 32, L2 hits"), "");
}

TEST(Table, TotalsAreNoKernels) {
  const auto p = read("kernel,bytes,time\nsum,1 GB,1 ms\ntotal_variation,1 GB,1 ms\n**Total**,2 GB,2 ms\n");
  ASSERT_THAT(p.launches, SizeIs(2));
  EXPECT_EQ(p.launches[0].name, "sum");  // a reduction: not the last row
  EXPECT_THAT(p.warnings, IsEmpty());
}

// --- faults ---

TEST(Table, FaultyCellsAreNamedAndLeftOut) {
  const auto p = read(
      "kernel,launches,FLOPs,bytes,time\n"
      "a,0,-1 G,nan,1 ms\nb,1.5,inf,5 us,0\nc,1,1e400,2 GB,<1 ms\n,1,0,1 GB,1 ms\n");
  ASSERT_THAT(p.launches, SizeIs(4));
  const auto bad = messages(p, "bad-cell");
  EXPECT_THAT(bad, Contains(AllOf(HasSubstr("line 2"), HasSubstr("'launches'"))));
  EXPECT_THAT(bad, Contains(AllOf(HasSubstr("line 2"), HasSubstr("negative"))));
  EXPECT_THAT(bad, Contains(AllOf(HasSubstr("line 2"), HasSubstr("nan"))));
  EXPECT_THAT(bad, Contains(AllOf(HasSubstr("line 3"), HasSubstr("a time where bytes is expected"))));
  EXPECT_THAT(bad, Contains(AllOf(HasSubstr("line 3"), HasSubstr("no time"))));
  EXPECT_THAT(bad, Contains(AllOf(HasSubstr("line 4"), HasSubstr("finite"))));
  EXPECT_THAT(bad, Contains(AllOf(HasSubstr("line 4"), HasSubstr("limit"))));
  EXPECT_FALSE(work(p, 1).time);
  EXPECT_FALSE(work(p, 1).level(MemoryLevel::dram).total);
  EXPECT_EQ(p.launches[3].name, "(line 5)");
}

TEST(Table, RefusesWhatIsNoTable) {
  EXPECT_EQ(fault_kind(""), "no-header");
  EXPECT_EQ(fault_kind("hello world\n"), "no-header");
  EXPECT_EQ(fault_kind("kernel,registers\na,32\n"), "no-header");
  EXPECT_EQ(fault_kind("kernel,FLOPs,bytes\n"), "no-rows");
  EXPECT_EQ(fault_kind("| kernel | bytes |\n|---|---|\n"), "no-rows");
  EXPECT_EQ(fault_kind("kernel,FLOPs,bytes\nTotal,1 G,1 GB\n"), "no-rows");
  EXPECT_EQ(fault_kind("kernel,FLOPs,bytes\na,many,few\nb,,\n"), "no-values");
  for (const auto* text :
       {"", "hello", "a,b,c\n1,2,3\n", "{\"kernel\": 1, \"bytes\": 2}", "int kernel(int bytes);\n"}) {
    EXPECT_FALSE(looks_like_table(text)) << text;
  }
  EXPECT_FALSE(looks_like_table("kernel,bytes\n" + std::string(1, '\0') + ",1\n"));
  EXPECT_FALSE(
      looks_like_table("Time(%)  Total Time (ns)  Num Calls  Average (ns)  Name\n70.0     123456  3  41152  poll\n"));
  EXPECT_TRUE(looks_like_table("Total Time (ns)  Num Calls  Name\n123456           3          f\n"));
  ReadOptions partial;
  partial.partial = true;
  const auto p = read("kernel,FLOPs\n", partial);
  EXPECT_TRUE(p.partial);
  EXPECT_THAT(messages(p, "partial"), SizeIs(1));
}

TEST(Table, SurvivesHostileText) {
  const std::string megabyte(1U << 20U, 'x');
  const auto p = read("kernel,bytes,time\n" + megabyte + ",1 GB,1 ms\nb," + megabyte + ",1 ms\nc,1 GB," +
                      std::string(1U << 20U, '9') + "\n");
  ASSERT_THAT(p.launches, SizeIs(3));
  EXPECT_EQ(p.launches[0].name.size(), megabyte.size());
  for (const auto& w : p.warnings) EXPECT_LT(w.message.size(), 300U);
  EXPECT_THAT(messages(p, "bad-cell"), SizeIs(2));

  const auto nul = read("kernel,bytes,time\na" + std::string(1, '\0') + "b,1" + std::string(1, '\0') + " GB,1 ms\n");
  EXPECT_EQ(nul.launches[0].name, "a?b");
  EXPECT_THAT(messages(nul, "bad-cell"), SizeIs(1));

  std::string quotes = "kernel,bytes,time\n";
  for (int i = 0; i < 20000; ++i) quotes += "\"a,1 GB,1 ms\n";  // would be quadratic if each were searched to the end
  EXPECT_NO_THROW(read(quotes));

  EXPECT_NO_THROW(
      read("batch " + megabyte + " (peak 1 TF/s\nkernel,bytes,time\na,1 GB,1 ms\nTotal: " + megabyte + "\n"));
  EXPECT_EQ(fault_kind(std::string(1U << 20U, '|')), "no-header");
  EXPECT_EQ(fault_kind(std::string(1U << 20U, ',')), "no-header");
}

TEST(Table, ManyWarningsOfOneKindAreSummedUp) {
  std::string text = "kernel,bytes,time\n";
  for (int i = 0; i < 1000; ++i) text += "a,oops,1 ms\n";
  const auto bad = messages(read(text), "bad-cell");
  EXPECT_THAT(bad, SizeIs(101));
  EXPECT_EQ(bad.back(), "900 more of this kind");
}

}  // namespace
}  // namespace roofline
