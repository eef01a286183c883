// Figures that public databases and well-known tools carry wrongly: ours must differ from each, and equal the right
// one. The databases are named by kind of error, not by author; each figure was seen in at least one of them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "roofline/machines.h"

namespace roofline {
namespace {

struct KnownError {
  std::string_view machine;
  std::string_view key;  // a precision (TFLOP/s), "dram" (GB/s), "sm_count", "l2_size" (MiB), "memory" (GB), "power"
  double wrong;
  double right;
  std::string_view why;
};

constexpr std::array kErrors = std::to_array<KnownError>({
    {"h100-sxm5-80", "bf16.tensor", 1979, 989.4, "sparse taken as dense"},
    {"h100-sxm5-80", "fp8.tensor", 3958, 1978.9, "sparse taken as dense"},
    {"h100-sxm5-80", "tf32.tensor", 156, 494.7, "the A100's figure"},
    {"h100-sxm5-80", "bf16.tensor", 1000, 989.4, "launch preview"},
    {"h100-sxm5-80", "bf16.tensor", 1070.5, 989.4, "computed at the maximum clock"},
    {"h100-sxm5-80", "bf16.tensor", 267.6, 989.4, "vector and tensor mixed"},
    {"h100-sxm5-80", "fp64.vector", 66.9, 33.5, "tensor path taken for vector"},
    {"h100-sxm5-80", "fp16.tensor", 204.9, 989.4, "wrong precision"},
    {"h100-sxm5-80", "dram", 3072, 3352, "launch preview"},
    {"h100-sxm5-80", "dram", 2400, 3352, "a custom part"},
    {"h100-sxm5-80", "memory", 144, 80, "swapped with the H200"},
    {"h100-pcie-80", "bf16.tensor", 1513, 756.5, "sparse taken as dense"},
    {"h100-pcie-80", "dram", 2048, 2039, "binary units"},
    {"h100-nvl", "bf16.tensor", 1671, 835.5, "sparse taken as dense"},
    {"h100-nvl", "bf16.tensor", 3958, 835.5, "a pair of GPUs, sparse"},
    {"h200-sxm-141", "bf16.tensor", 241.3, 989.4, "vector and tensor mixed"},
    {"h200-sxm-141", "dram", 3360, 4800, "the H100's figure"},
    {"h200-sxm-141", "memory", 80, 141, "swapped with the H100"},
    {"h800-sxm", "bf16.tensor", 756, 989.4, "swapped with the PCIe part"},
    {"gh200-96", "bf16.tensor", 1979, 989.4, "sparse taken as dense"},
    {"gh200-96", "dram", 4800, 4000, "H200 found inside the name"},
    {"a100-sxm4-80", "fp64.vector", 19.5, 9.7, "tensor path taken for vector"},
    {"a100-sxm4-80", "bf16.tensor", 77.97, 312, "vector taken for tensor"},
    {"a100-sxm4-80", "dram", 1935, 2039, "the PCIe part's figure"},
    {"a100-sxm4-80", "dram", 2048, 2039, "rounded"},
    {"a100-pcie-80", "dram", 2039, 1935, "the SXM part's figure"},
    {"a100-sxm4-40", "dram", 1935, 1555, "one figure for every A100"},
    {"a100-sxm4-40", "dram", 1600, 1555, "rounded"},
    {"v100-sxm2-16", "memory", 32, 16, "the other memory size"},
    {"a10", "memory", 28, 24, "capacity"},
    {"a10", "fp64.vector", 0.976, 0.49, "1:32 instead of 1:64"},
    {"a40", "memory", 45, 48, "capacity"},
    {"a10g", "bf16.tensor", 125, 70, "copied from the A10"},
    {"a10g", "fp32.vector", 31.2, 35, "copied from the A10"},
    {"a10g", "shared_size", 164, 100, "GA100's shared memory"},
    {"l4", "bf16.tensor", 242, 121, "sparse taken as dense"},
    {"l4", "fp8.tensor", 485, 242, "sparse taken as dense"},
    {"l4", "dram", 3350, 300, "the H100's figure"},
    {"l4", "sm_count", 60, 58, "mirror of a database"},
    {"l40", "bf16.tensor", 121, 181.05, "L4 found inside the name"},
    {"l40", "bf16.tensor", 362, 181.05, "the L40S's figure"},
    {"l40", "dram", 300, 864, "L4 found inside the name"},
    {"l40", "l2_size", 48, 96, "mirror of a database"},
    {"l40s", "bf16.tensor", 733, 362.05, "sparse taken as dense"},
    {"l40s", "bf16.tensor", 121, 362.05, "L4 found inside the name"},
    {"l40s", "power", 300, 350, "the L40's figure"},
    {"t4", "dram", 300, 320, "rounded"},
    {"t4", "fp32.vector", 65.13, 8.1, "tensor taken for vector"},
    {"rtx-a6000", "bf16.tensor", 310, 154.8, "sparse taken as dense"},
    {"rtx-a6000", "bf16.tensor", 38.7, 154.8, "vector taken for tensor"},
    {"rtx-3090", "bf16.tensor", 142, 71, "FP16 accumulation"},
    {"rtx-3090", "bf16.tensor", 285, 71, "sparse, FP16 accumulation"},
    {"rtx-3090", "bf16.tensor", 35.6, 71, "vector taken for tensor"},
    {"rtx-3090", "int8.tensor", 142, 284, "precisions mixed"},
    {"rtx-3080-10", "bf16.tensor", 119, 59.5, "FP16 accumulation"},
    {"rtx-4070", "bf16.tensor", 147, 58.29, "wrong precision"},
    {"rtx-4080", "bf16.tensor", 204, 97.5, "wrong precision"},
    {"rtx-4090", "fp16.tensor", 661, 165.2, "sparse, FP16 accumulation"},
    {"rtx-4090", "fp16.tensor", 330, 165.2, "FP16 accumulation"},
    {"rtx-4090", "bf16.tensor", 82.6, 165.2, "vector taken for tensor"},
    {"rtx-4090", "int8.tensor", 330, 660.6, "precisions mixed"},
    {"rtx-5090", "bf16.tensor", 838, 209.5, "FP8 with FP16 accumulation"},
    {"rtx-5090", "bf16.tensor", 380, 209.5, "unknown origin"},
    {"rtx-5090", "fp16.acc16.tensor", 838, 419, "FP8 taken for FP16"},
    {"rtx-5090", "dram", 1.792e6, 1792, "a factor of 1000"},
    {"rtx-5090", "dram", 1568, 1792, "before launch"},
    {"rtx-5090", "power", 600, 575, "before launch"},
    {"rtx-5080", "bf16.tensor", 453, 112.6, "wrong precision"},
    {"rtx-5080", "dram", 1024, 960, "before launch"},
    {"rtx-5080", "dram", 784, 960, "before launch"},
    {"rtx-5080", "power", 400, 360, "before launch"},
    {"b100", "bf16.tensor", 3500, 1750, "sparse taken as dense"},
    {"b200-sxm", "bf16.tensor", 4500, 2250, "sparse taken as dense"},
    {"b200-sxm", "sm_count", 144, 148, "wrong part"},
    {"b200-sxm", "sm_count", 264, 148, "wrong value"},
    {"b200-sxm", "sm_count", 192, 148, "wrong value"},
    {"b200-sxm", "l2_size", 64, 126.5, "wrong part"},
    {"b200-sxm", "l2_size", 192, 126.5, "wrong part"},
    {"gb200", "bf16.tensor", 2250, 2500, "the HGX bin's figure"},
    {"gb200", "bf16.tensor", 4500, 2500, "sparse taken as dense"},
    {"b300-sxm", "bf16.tensor", 3500, 2250, "wrong value"},
    {"b300-sxm", "fp8.tensor", 7000, 4500, "wrong value"},
    {"b300-sxm", "fp4.tensor", 12600, 14000, "wrong value"},
    {"b300-sxm", "int8.tensor", 4500, 153.5, "INT8 is cut on this chip"},
    {"gb300", "int8.tensor", 5000, 165, "INT8 is cut on this chip"},
    {"b300-sxm", "sm_count", 160, 148, "wrong value"},
    {"b300-sxm", "sm_count", 158, 148, "synthetic device"},
    {"dgx-spark-gb10", "fp4.tensor", 1000, 500, "sparse taken as dense"},
    {"mi210", "int8.tensor", 362, 181, "INT8 runs at the FP16 rate"},
    {"mi250x", "int8.tensor", 766, 383, "INT8 runs at the FP16 rate"},
    {"mi300x", "fp16.tensor", 383, 1307.4, "the MI250X's figure"},
    {"mi300x", "fp8.tensor", 2209, 2614.9, "wrong value"},
    {"mi300x", "l2_size", 256, 32, "the Infinity Cache taken for L2"},
    {"mi300x", "l2_size", 4, 32, "one die of eight"},
    {"mi300x", "dram", 6810, 5300, "wrong part"},
    {"mi355x", "last_level_size", 64, 256, "wrong value"},
    {"gaudi3", "fp32.vector", 1835, 229, "BF16 taken for FP32"},
    {"intel-max-1550", "bf16.tensor", 340.8, 838.86, "one stack of two, at a guide's clock"},
});

double scale_of(std::string_view key) {
  if (parse_precision(key)) return 1e12;
  if (key == "dram" || key == "memory") return 1e9;
  if (key == "l2_size" || key == "last_level_size") return 1024.0 * 1024;
  if (key == "shared_size") return 1024;
  return 1;
}

TEST(PublicErrors, OursDiffersFromEachWrongFigure) {
  const auto& catalogue = MachineCatalogue::instance();
  for (const auto& e : kErrors) {
    const auto* machine = catalogue.find(e.machine);
    ASSERT_NE(machine, nullptr) << e.machine;
    double ours = catalogue.facts(*machine).value(e.key).value_or(-1) / scale_of(e.key);
    if (const auto precision = parse_precision(e.key))
      ours = machine->ceiling(CeilingKind::datasheet)->peak(*precision)->high / 1e12;
    EXPECT_NEAR(ours / e.right, 1, 0.011) << e.machine << " " << e.key << " (" << e.why << ")";
    EXPECT_GT(std::abs(ours / e.wrong - 1), 0.002) << e.machine << " " << e.key << " (" << e.why << ")";
    EXPECT_LT(std::abs(ours / e.right - 1), std::abs(ours / e.wrong - 1)) << e.machine << " " << e.key;
  }
}

// Formats some tables list for chips that have no such path.
TEST(PublicErrors, NoPeakForFormatsTheChipLacks) {
  const auto& catalogue = MachineCatalogue::instance();
  const auto absent = [&](std::string_view id, std::string_view key) {
    EXPECT_FALSE(catalogue.find(id)->ceiling(CeilingKind::datasheet)->peak(*parse_precision(key))) << id << key;
  };
  absent("h100-sxm5-80", "int4.tensor");
  absent("h200-sxm-141", "int4.tensor");
  absent("mi300x", "int4.tensor");
  absent("a100-sxm4-80", "fp8.tensor");
  absent("v100-sxm2-32", "tf32.tensor");
  absent("v100-sxm2-32", "bf16.tensor");
  absent("mi100", "fp64.tensor");
  absent("t4", "bf16.tensor");
}

TEST(PublicErrors, ComputeCapabilities) {
  const auto& catalogue = MachineCatalogue::instance();
  EXPECT_EQ(catalogue.find("b300")->compute_capability, "10.3");  // not 10.0
  EXPECT_EQ(catalogue.find("gb10")->compute_capability, "12.1");
  EXPECT_EQ(catalogue.rates("ga10x-geforce")->rate(*parse_precision("fp64.vector")), 4);  // not 128
  EXPECT_EQ(catalogue.rates("gb100")->rate(*parse_precision("fp64.vector")), 128);        // not 148
  EXPECT_EQ(catalogue.rates("cdna4")->rate(*parse_precision("fp4.tensor")), 16384);       // not 16834
  EXPECT_EQ(catalogue.rates("cdna4")->shared_bytes, 256);                                 // not 128
}

TEST(PublicErrors, NamesThatOtherTablesNeverFind) {
  const auto id = [](std::string_view name) {
    DeviceInfo device;
    device.name = name;
    const auto* machine = MachineCatalogue::instance().match(device);
    return machine == nullptr ? std::string() : machine->id;
  };
  EXPECT_EQ(id("NVIDIA H100 80GB HBM3"), "h100-sxm5-80");
  EXPECT_EQ(id("NVIDIA H200"), "h200-sxm-141");
  EXPECT_EQ(id("AMD Instinct MI210"), "mi210");
  EXPECT_EQ(id("NVIDIA L40S"), "l40s");
  EXPECT_EQ(id("NVIDIA A10"), "a10");
  EXPECT_EQ(id("NVIDIA B300 SXM6 AC"), "b300-sxm");
  EXPECT_EQ(id("NVIDIA H20"), "h20");
  EXPECT_EQ(id("NVIDIA RTX PRO 6000 Blackwell Server Edition"), "rtx-pro-6000-bw-server");
  EXPECT_EQ(id("NVIDIA GeForce RTX 4090 Laptop GPU"), "");
}

}  // namespace
}  // namespace roofline
