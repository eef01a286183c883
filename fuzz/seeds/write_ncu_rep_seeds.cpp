// Fills a folder with small reports for the fuzzer to start from: each shows the reader one thing.
#include <zstd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "support/ncu_rep_writer.h"

namespace {

using namespace roofline::testing;

ReportResult kernel() {
  ReportResult result{.mangled = "_Z1kv", .function = "k", .demangled = "k()", .grid = {8, 1, 1}, .block = {64, 1, 1}};
  result.metrics = {{"gpu__time_duration.sum", 1000.0},
                    {"launch__grid_size", std::uint64_t{8}},
                    {"device__attribute_display_name", std::string("GPU")}};
  return result;
}

ReportResult everything() {
  auto result = kernel();
  result.nvtx = {"step", "layer"};
  result.other_nvtx = {"loader"};
  result.rules = {{"Rule", "Title", "Section", {{"text", 2}}, 1, 3.0}};
  result.metrics.push_back({"m.sum", 2.0, {{std::uint64_t{16}, 1.0}, {std::string("FFMA"), 3.0}}});
  result.metrics.push_back({"m.sum", 3.0});
  result.metrics.push_back({"nothing", {}});
  ReportSection section{.id = "S", .title = "T", .chart = "Chart"};
  section.roofs = {{"roof", {{"m.sum", "derived__m"}, "m.sum"}, {{"m.sum"}, ""}}};
  section.points = {{"point", {{"m.sum"}, "m.sum"}, {{"absent"}, ""}}};
  section.derived = {{"derived__m", "( m.sum * 2 ) / 3"}};
  result.sections = {section};
  result.unknown_fields = true;
  return result;
}

std::string zstd(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

void store(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  NcuRepWriter().save(folder / "empty");
  NcuRepWriter()
      .session({.devices = {report_device({})}, .command_line = "ncu ./a.out"})
      .source(1, "cubin")
      .result(kernel())
      .save(folder / "small");
  NcuRepWriter().result(everything()).save(folder / "everything");
  NcuRepWriter().result(everything(), Names::later).save(folder / "names_later");
  NcuRepWriter().result(everything(), Names::two_pieces).result(kernel()).save(folder / "names_in_pieces");
  NcuRepWriter(8).result(kernel()).extra_entry("extra").save(folder / "extra_entry");
  auto failed = kernel();
  failed.grid = failed.block = {0, 0, 0};
  failed.metrics[0].value = std::numeric_limits<double>::quiet_NaN();
  failed.clock_lock = {{0, 0}};
  NcuRepWriter().result(failed).save(folder / "failed_launch");
  NcuRepWriter packed;
  packed.result(everything());
  store(folder / "zstd", zstd(packed.bytes()));
  return 0;
}
