// Every row of the expected tables: an independent implementation's operations, bytes and times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "roofline/error.h"
#include "roofline/machines.h"
#include "roofline/model.h"
#include "support/shared_data.h"

namespace roofline::model {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream stream(line);
  std::string cell;
  while (std::getline(stream, cell, ',')) cells.push_back(cell);
  return cells;
}

std::vector<Row> read_rows(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  const auto header = split(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const auto cells = split(line);
    Row row;
    for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = i < cells.size() ? cells[i] : "";
    rows.push_back(std::move(row));
  }
  return rows;
}

// The peaks that the tables were made with (their H100 has 3.35 TB/s; the catalogue says 3.352).
Ceiling table_ceiling(const std::string& gpu) {
  const auto key = [](const char* text) { return *parse_precision(text); };
  Ceiling c;
  c.peaks = {{key("bf16.tensor"), 989.4e12, "table"},
             {key("fp8.tensor"), 1978.9e12, "table"},
             {key("fp32.vector"), 66.9e12, "table"}};
  c.bandwidths = {{MemoryLevel::dram, "dram", gpu == "H200-SXM" ? 4.8e12 : 3.35e12, "table"}};
  c.links = {{"nvlink", 450e9, "table"}};
  return c;
}

const Calibration& table_calibration(const std::string& gpu) {
  static const auto kH100 = calibration_for(*MachineCatalogue::instance().find("h100"), table_ceiling("H100-SXM"));
  static const auto kH200 = calibration_for(*MachineCatalogue::instance().find("h200"), table_ceiling("H200-SXM"));
  return gpu == "H200-SXM" ? kH200 : kH100;
}

struct Case {
  const char* file;
  const char* preset;
  double norms;  // parameters of norms and routing offsets, which the tables leave out of the memory
};

StepOptions options_of(const Row& row) {
  StepOptions o;
  o.phase = row.at("phase") == "decode" ? Phase::decode : Phase::prefill;
  o.batch = std::stol(row.at("batch"));
  o.context = std::stol(row.at("context"));
  o.query_length = std::stol(row.at("q_len"));
  o.scheme = find_scheme(row.at("dtype"));
  o.tp = std::stol(row.at("tp"));
  o.ep = std::stol(row.at("ep"));
  return o;
}

// Integers must agree to the last digit; expected values (experts) to the printed fourth decimal.
void expect_count(const std::string& text, double value, const std::string& what) {
  if (text.find('.') == std::string::npos) {
    EXPECT_EQ(std::stoll(text), std::llround(value)) << what;
    EXPECT_NEAR(value, std::round(value), 1e-9 * std::max(1.0, value)) << what;
  } else {
    EXPECT_NEAR(std::stod(text), value, 1.01e-4 + 4e-16 * value) << what;
  }
}

// Times are printed in microseconds with five decimals.
void expect_time(const std::string& text, double seconds, double digits, const std::string& what) {
  const double expected = std::stod(text);
  EXPECT_NEAR(expected, seconds * 1e6, 1e-6 * expected + digits) << what;
}

struct Sums {
  double calls = 0, aux = 0, operations = 0, read = 0, write = 0, link = 0, roof = 0, predicted = 0, launches = 0;
};

Sums sums_of(const StepRow& row) {
  Sums s;
  const auto& work = row.group.work;
  s.calls = row.calls;
  s.aux = row.aux_ops;
  s.operations = work.operations.empty() ? 0 : work.operations.front().operations.value_or(0);
  s.read = work.level(MemoryLevel::dram).read.value_or(0);
  s.write = work.level(MemoryLevel::dram).write.value_or(0);
  s.link = work.link.bus_bytes.value_or(0);
  s.roof = row.group.placement.roof_time_s.value_or(0);
  s.predicted = row.predicted_s;
  s.launches = work.launches;
  return s;
}

void compare(const Row& row, const Sums& s, const std::string& what) {
  expect_count(row.at("calls"), s.calls, what + " calls");
  expect_count(row.at("launches"), s.launches, what + " launches");
  expect_count(row.at("flops"), s.operations, what + " flops");
  expect_count(row.at("aux_flops"), s.aux, what + " aux");
  expect_count(row.at("read_bytes"), s.read, what + " read");
  expect_count(row.at("write_bytes"), s.write, what + " write");
  expect_count(row.at("link_bytes"), s.link, what + " link");
  expect_time(row.at("t_roof_us"), s.roof, 6e-6, what + " roof");
  expect_time(row.at("t_est_us"), s.predicted, 6e-3, what + " predicted");
}

class Expected : public ::testing::TestWithParam<Case> {};

TEST_P(Expected, EveryRowAgrees) {
  const std::string file = std::string("oracle/llm/") + GetParam().file;
  ROOFLINE_NEEDS_SHARED(file);
  const auto config = resolve_config(GetParam().preset);
  std::size_t compared = 0;
  std::size_t steps = 0;
  StepPrediction prediction;
  std::map<std::string, Sums> by_name;
  std::string current;
  for (const auto& row : read_rows(roofline::testing::shared_path(file))) {
    const auto point =
        row.at("phase") + " " + row.at("dtype") + " batch " + row.at("batch") + " context " + row.at("context");
    if (point != current) {
      current = point;
      auto options = options_of(row);
      ASSERT_NE(options.scheme, nullptr) << row.at("dtype");
      options.beyond_context = true;
      prediction =
          predict_step(config, options, table_ceiling(row.at("gpu")), {}, table_calibration(row.at("gpu")), {});
      by_name.clear();
      for (const auto& r : prediction.rows) by_name[r.name] = sums_of(r);
      ++steps;
    }
    const auto name = row.at("kernel");
    const auto what = point + " " + name;
    if (name != "TOTAL") {
      ASSERT_TRUE(by_name.contains(name)) << what;
      compare(row, by_name.at(name), what);
      by_name.erase(name);
      ++compared;
      continue;
    }
    EXPECT_TRUE(by_name.empty()) << what << ": the table lacks " << by_name.begin()->first;
    const auto& t = prediction.totals;
    expect_count(row.at("flops"), t.operations, what + " flops");
    expect_count(row.at("bytes"), t.bytes, what + " bytes");
    expect_count(row.at("link_bytes"), t.link_bytes, what + " link");
    expect_count(row.at("launches"), t.launches, what + " launches");
    expect_time(row.at("t_roof_us"), t.roof_s, 6e-6, what + " roof");
    expect_time(row.at("t_est_us"), t.predicted_s, 6e-3, what + " predicted");
    // The table divides the tokens of all sequences by the time.
    EXPECT_NEAR(std::stod(row.at("tokens_per_s_roof")), prediction.bound_tokens_per_s(),
                0.06 + 1e-6 * prediction.bound_tokens_per_s());
    const double gigabytes = std::stod(row.at("weights_plus_kv_GB"));
    EXPECT_NEAR(gigabytes, (prediction.memory.total() - 2 * GetParam().norms) / 1e9, 6e-4) << what;
    const double device = row.at("gpu") == "H200-SXM" ? 141e9 : 80e9;
    EXPECT_EQ(row.at("fits") == "1", prediction.memory.total() < 0.95 * device) << what;
    ++compared;
  }
  std::cout << GetParam().file << ": " << compared << " rows of " << steps << " steps compared\n";
  EXPECT_GT(compared, 600U);
}

INSTANTIATE_TEST_SUITE_P(Tables, Expected,
                         ::testing::Values(Case{"llama3-8b-h100.csv", "llama-3-8b", 65 * 4096.0},
                                           Case{"llama3-8b-h200.csv", "llama-3-8b", 65 * 4096.0},
                                           Case{"llama3-70b-tp8-h100.csv", "llama-3-70b", 161 * 8192.0},
                                           Case{"mixtral-8x7b-h100.csv", "mixtral-8x7b", 65 * 4096.0},
                                           Case{"deepseek-v3-tp8-h100.csv", "deepseek-v3",
                                                123 * 7168.0 + 61 * (1536 + 512) + 58 * 256},
                                           Case{"qwen3-30b-a3b-h100.csv", "qwen3-30b-a3b", 97 * 2048.0 + 48 * 2 * 128}),
                         [](const auto& param_info) {
                           std::string name = param_info.param.file;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace roofline::model
