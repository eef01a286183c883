// Writes a raw page as `ncu --csv --page raw` does, of any size: launches x metric columns, about a third of them
// metrics that this program reads, as in real exports.
#include <fmt/format.h>
#include <roofline/metrics.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kIdentity = 11;

struct Column {
  std::string name;
  std::string unit;
};

std::vector<Column> make_columns(std::size_t count) {
  const auto& catalogue = roofline::MetricCatalogue::instance();
  std::vector<Column> columns;
  std::size_t declared = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 3 == 0 && declared < catalogue.size()) {
      const auto& info = catalogue.info(static_cast<roofline::MetricId>(declared++));
      columns.push_back({info.name, info.unit});
    } else {
      columns.push_back({fmt::format("sm__bench_filler_{:04}.avg.pct_of_peak_sustained_active", i), "%"});
    }
  }
  return columns;
}

std::string header_of(const std::vector<Column>& columns) {
  std::string text =
      R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC")";
  for (const Column& column : columns) text += fmt::format(",\"{}\"", column.name);
  text += "\n";
  for (std::size_t i = 0; i < kIdentity; ++i) text += i == 0 ? "\"\"" : ",\"\"";
  for (const Column& column : columns) text += fmt::format(",\"{}\"", column.unit);
  return text + "\n";
}

// Values of the sizes that occur: percentages, small counts, large counts, all with six decimals.
std::string value_of(std::uint64_t random) {
  if (random % 3 == 0) return fmt::format("{:.6f}", static_cast<double>(random % 10000) / 100);
  if (random % 3 == 1) return fmt::format("{}", random % 4096);
  return fmt::format("{:.6f}", static_cast<double>(random % 2000000000));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: make_ncu_csv FILE LAUNCHES COLUMNS\n");
    return 2;
  }
  const std::size_t launches = std::strtoull(argv[2], nullptr, 10);
  const auto columns = make_columns(std::strtoull(argv[3], nullptr, 10));
  std::FILE* out = std::fopen(argv[1], "wb");
  if (out == nullptr) {
    fmt::print(stderr, "{}: cannot be written\n", argv[1]);
    return 1;
  }
  const std::string header = header_of(columns);
  std::fwrite(header.data(), 1, header.size(), out);
  std::uint64_t random = 1;
  std::string row;
  for (std::size_t i = 0; i < launches; ++i) {
    row = fmt::format(
        R"csv("{}","4711","app","127.0.0.1","void gemm_{}<float, (int)4, (bool)1>(T1 *, const T2 *, int, int)","1","7","(256, 1, 1)","({}, 1, 1)","0","9.0")csv",
        i, i % 37, 64 + i % 1000);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      row += fmt::format(",\"{}\"", value_of(random >> 33U));
    }
    row += "\n";
    std::fwrite(row.data(), 1, row.size(), out);
  }
  return std::fclose(out) == 0 ? 0 : 1;
}
