// Operators of real traces against tables that TraceLens published for them: GFLOP, bytes (its "MB" are 2^20 bytes) and
// kernel time per operator and shape.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "profile/csv_lines.h"
#include "roofline/operator_work.h"
#include "roofline/timeline.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

constexpr double kMebi = 1 << 20;

using Row = std::map<std::string, std::string>;

std::vector<Row> read_table(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream buffer;
  buffer << file.rdbuf();
  const std::string text = buffer.str();
  CsvCursor cursor(text);
  std::vector<CsvCell> cells;
  std::vector<std::string> header;
  std::vector<Row> rows;
  std::string storage;
  while (!cursor.at_end()) {
    read_record(cursor, cells);
    if (header.empty()) {
      for (const auto& cell : cells) header.emplace_back(cell.value(storage));
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < cells.size() && i < header.size(); ++i) row[header[i]] = cells[i].value(storage);
    rows.push_back(std::move(row));
  }
  return rows;
}

// "((8944, 1024), (1024, 2816))" and "[[8944, 1024], [1024, 2816]]" as one spelling, without blanks.
std::string spelled(const std::string& text) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') in_string = !in_string;
    if (c == ' ' && !in_string) continue;
    if (c == ',' && (i + 1 == text.size() || text[i + 1] == ')')) continue;  // "(1024,)"
    out += c == '(' ? '[' : c == ')' ? ']' : c == '\'' ? '"' : c;
  }
  return out;
}

struct Total {
  std::uint64_t calls = 0;
  double busy_s = 0;
  OperatorWork work;
};

// By name, shapes and types.
std::map<std::string, Total> totals_of(const Timeline& timeline, const OperatorJoin& join) {
  std::map<std::string, Total> totals;
  for (const auto& call : join.modelled) {
    const auto& op = timeline.operators[call.call];
    auto& total = totals[timeline.names[op.name] + timeline.names[op.shapes] + timeline.names[op.types]];
    ++total.calls;
    total.busy_s += 1e-9 * static_cast<double>(call.busy_ns);
    total.work = call.work;
  }
  return totals;
}

constexpr const char* kTrace = "data/torch/AMD-AGI__TraceLens__h100_Qwen1.5-0.5B-Chat.json.gz";

class ReferenceTables : public ::testing::Test {
 protected:
  void SetUp() override {
    ROOFLINE_NEEDS_SHARED(kTrace);
    timeline_ = open_timeline(testing::shared_path(kTrace).string());
    join_ = join_operators(timeline_);
    totals_ = totals_of(timeline_, join_);
  }
  const Total* find(const std::string& name, const std::string& dims, const std::string& types) const {
    const auto it = totals_.find(name + spelled(dims) + spelled(types));
    return it == totals_.end() ? nullptr : &it->second;
  }

  Timeline timeline_;
  OperatorJoin join_;
  std::map<std::string, Total> totals_;
};

TEST_F(ReferenceTables, MatrixProductsAndAttention) {
  std::size_t compared = 0;
  for (const char* file : {"data/ground-truth/AMD-AGI__TraceLens__h100_Qwen__GEMM.csv",
                           "data/ground-truth/AMD-AGI__TraceLens__h100_Qwen__SDPA_fwd.csv"}) {
    ROOFLINE_NEEDS_SHARED(file);
    for (auto& row : read_table(testing::shared_path(file))) {
      SCOPED_TRACE(row["name"] + row["Input Dims_first"]);
      const auto* total = find(row["name"], row["Input Dims_first"], row["Input type_first"]);
      ASSERT_NE(total, nullptr);
      const double count = std::stod(row["name_count"]);
      EXPECT_EQ(static_cast<double>(total->calls), count);
      EXPECT_NEAR(total->work.flops() / 1e9, std::stod(row["GFLOPS_first"]), 1e-9);
      EXPECT_NEAR(total->work.bytes / kMebi, std::stod(row["Data Moved (MB)_first"]), 1e-6);
      EXPECT_NEAR(total->busy_s * 1e6, std::stod(row["Kernel Time (µs)_sum"]), 0.5);
      EXPECT_NEAR(total->work.flops() * count / total->busy_s / 1e12, std::stod(row["TFLOPS/s_mean"]),
                  0.005 * std::stod(row["TFLOPS/s_mean"]));
      ++compared;
    }
  }
  EXPECT_EQ(compared, 6U);
}

// Every operator of the summary that has a model there: bytes alike, and times of all that are modelled here.
TEST_F(ReferenceTables, Summary) {
  const char* const file = "data/ground-truth/AMD-AGI__TraceLens__h100_Qwen__unified_perf_summary.csv";
  ROOFLINE_NEEDS_SHARED(file);
  std::size_t modelled = 0, same_flops = 0;
  std::map<std::string, double> copies;
  for (auto& row : read_table(testing::shared_path(file))) {
    if (row["Data Moved (MB)"].empty()) continue;
    SCOPED_TRACE(row["name"] + row["Input Dims"] + row["Input type"]);
    const auto* total = find(row["name"], row["Input Dims"], row["Input type"]);
    ASSERT_NE(total, nullptr);
    ++modelled;
    const double bytes = std::stod(row["Data Moved (MB)"]) * kMebi;
    // Means keep their dimension: one result per row here, a single one in the table.
    const bool is_mean = row["name"] == "aten::mean";
    EXPECT_NEAR(total->work.bytes, bytes, is_mean ? 0.001 * bytes : 1);
    // A copy computes nothing; the table counts one operation per element.
    if (row["name"] == "aten::copy_")
      EXPECT_EQ(total->work.flops(), 0);
    else if (std::abs(total->work.flops() / 1e9 - std::stod(row["GFLOPS"])) < 1e-9)
      ++same_flops;
  }
  EXPECT_EQ(modelled, 26U);
  EXPECT_EQ(same_flops, modelled - 6);
}

TEST_F(ReferenceTables, GraphsHideShapes) {
  const char* const file = "data/torch/AMD-AGI__TraceLens__vllm_decode_full_graph_execution.json.gz";
  ROOFLINE_NEEDS_SHARED(file);
  const auto graph = open_timeline(testing::shared_path(file).string());
  const auto join = join_operators(graph);
  EXPECT_GT(join.kernel_ns, 0);
  EXPECT_GT(static_cast<double>(join.shapeless_ns) / static_cast<double>(join.kernel_ns), 0.97);
  // Without a graph nearly all time has a shape.
  EXPECT_LT(static_cast<double>(join_.shapeless_ns) / static_cast<double>(join_.kernel_ns), 0.5);
}

}  // namespace
}  // namespace roofline
