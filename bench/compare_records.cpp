// How long it takes to read, compare and gate reports of many kernels: compare_records ROWS [JSON REPORT].
// Kernels have long names of their own; a third is renamed and a tenth is gone on the other side. With a file, that
// report is read instead of made.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include "roofline/compare.h"

namespace {

roofline::StepRecord make(std::size_t rows, bool after) {
  roofline::StepRecord record;
  record.machines = {"NVIDIA H100 80GB HBM3"};
  for (std::size_t i = 0; i < rows; ++i) {
    if (after && i % 10 == 3) continue;
    roofline::KernelRecord k;
    k.full_name = fmt::format(
        "void at::native::vectorized_elementwise_kernel<{}, at::native::CUDAFunctor_{}<c10::BFloat16>, "
        "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_{}<c10::BFloat16>, std::array<char*, 3ul>)",
        after && i % 3 == 0 ? 8 : 4, i, i);
    k.name = "vectorized_elementwise_kernel";
    k.grid = {i % 977 + 1, 1, 1};
    k.block = {128, 1, 1};
    k.time_s = 1e-6 * static_cast<double>(1 + i % 100);
    k.fraction = 0.7;
    k.roof_time_s = 0.7 * *k.time_s;
    k.dram_bytes = 3e12 * *k.roof_time_s;
    k.flops = *k.dram_bytes;
    k.ops["fp32.vector"] = *k.flops;
    k.regime = roofline::Regime::memory;
    record.kernels.push_back(std::move(k));
  }
  return record;
}

template <typename Work>
void measure(const char* what, Work work) {
  const auto start = std::clock();  // of the processor: other programs do not count
  work();
  fmt::print("{:<28} {:8.3f} s\n", what, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rows = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100000;
  if (argc > 2) {
    std::ifstream file(argv[2], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    measure(fmt::format("read {} MB of JSON", text.size() / 1000000).c_str(),
            [&] { fmt::print("{} kernels\n", roofline::read_record(text, argv[2]).kernels.size()); });
    return 0;
  }
  const roofline::GateSide before{{make(rows, false)}}, after{{make(rows, true)}};
  roofline::Comparison comparison;
  measure("compare", [&] { comparison = roofline::compare(before, after); });
  measure("document", [&] { roofline::comparison_document(comparison); });
  measure("JSON", [&] { fmt::print("{} MB\n", roofline::comparison_json(comparison).size() / 1000000); });
  roofline::GateOptions options;
  options.noise = 0.03;
  measure("gate", [&] { roofline::gate(before, after, options); });
}
