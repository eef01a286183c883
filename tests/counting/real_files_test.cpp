// Counting against published figures and against the rooflines that NVIDIA's own section files define in each report.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "counting/launches.h"
#include "roofline/counting.h"
#include "roofline/profile.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

using ::testing::Contains;
using testing::find_operations;
using ::testing::HasSubstr;
using testing::operations;
using testing::shared_path;

Profile open(const std::string& relative) { return open_profile(shared_path(relative).string()); }

DeviceInfo device_of(const Profile& profile, const Launch& launch) {
  return launch.device < profile.devices.size() ? profile.devices[launch.device] : DeviceInfo{};
}

Work work_of(const Profile& profile, std::size_t index) {
  const auto& launch = profile.launches.at(index);
  return count(launch, device_of(profile, launch)).work;
}

double dram_bytes(const Work& work) { return work.level(MemoryLevel::dram).total.value(); }

TEST(RealFiles, NaiveGemmOnH100CountsTwiceTheProduct) {
  const std::string file = "data/ncu-rep/ScalingIntelligence__KernelBench__matmul_kernel.ncu-rep";
  ROOFLINE_NEEDS_SHARED(file);
  const auto work = work_of(open(file), 0);
  EXPECT_NEAR(work.flops().value(), 2.0 * 4096 * 4096 * 4096, 0.5);
  EXPECT_DOUBLE_EQ(dram_bytes(work), 17051640064.0 + 68741888.0);
  // The tensor pipe shows 0.004 % (HFMA2.MMA runs on it): open in principle, bounded to nothing.
  EXPECT_LT(work.coverage.uncounted_fraction.value_or(0), 0.0001);
}

// Gyrokinetics kernels on V100, published with the paper's artifacts. Each file holds two runs one after the other: the
// first with bytes and time, the second with instruction counts and the time those stretched.
struct GeneKernel {
  const char* file;
  double dram_bytes, flops, seconds, gigaflops_per_second;
};

const Launch* launch_where(const Profile& profile, const std::function<bool(const Work&)>& fits) {
  for (const auto& launch : profile.launches)
    if (fits(count(launch, device_of(profile, launch)).work)) return &launch;
  return nullptr;
}

TEST(RealFiles, GeneOnV100) {
  const std::string folder = "data/ncu-csv/wdmapp__gene-paper-artifacts-pop2020__";
  ROOFLINE_NEEDS_SHARED(folder + "nvroof_ncuroof_region-dgdxy-1.csv");
  const GeneKernel kernels[] = {
      {"nvroof_ncuroof_region-dgdxy-1.csv", 690960320, 330301440, 0.9235e-3, 357.7},
      {"nvroof_ncuroof_region-dgdxy-1.csv", 891760416, 110100480, 1.0574e-3, 104.1},
      {"fused-roof2_ncuroof_region-dgdxy-1.csv", 700872736, 440401920, 0.8868e-3, 496.6},
  };
  for (const auto& kernel : kernels) {
    const auto profile = open(folder + kernel.file);
    const auto* bytes = launch_where(profile, [&](const Work& w) { return dram_bytes(w) == kernel.dram_bytes; });
    ASSERT_NE(bytes, nullptr) << kernel.dram_bytes;
    const auto* flops = launch_where(profile, [&](const Work& w) {
      return find_operations(w, "fp64.vector") != nullptr && w.flops().value() == kernel.flops;
    });
    ASSERT_NE(flops, nullptr) << kernel.flops;
    EXPECT_EQ(bytes->name, flops->name);
    const double time = count(*bytes, device_of(profile, *bytes)).work.time.value();
    EXPECT_NEAR(time, kernel.seconds, 0.001 * kernel.seconds);
    EXPECT_NEAR(kernel.flops / time / 1e9, kernel.gigaflops_per_second, 0.001 * kernel.gigaflops_per_second);
  }
}

TEST(RealFiles, TheTimeOfACountingRunIsDoubted) {
  const std::string file = "data/ncu-csv/wdmapp__gene-paper-artifacts-pop2020__flops_ncuroof-time-0.csv";
  ROOFLINE_NEEDS_SHARED(file);
  const auto profile = open(file);
  const auto counted = count(profile.launches.at(0), device_of(profile, profile.launches.at(0)));
  EXPECT_DOUBLE_EQ(operations(counted.work, "fp64.vector"), 330301440);
  EXPECT_NEAR(counted.work.time.value(), 136.9e-3, 0.1e-3);  // 148 times the true one
  EXPECT_TRUE(testing::has_warning(counted, "time-of-counting-run"));
}

TEST(RealFiles, GeneBytesAgreeBetweenTextAndBinary) {
  const std::string csv = "data/ncu-csv/wdmapp__gene-paper-artifacts-pop2020__dram_ncuroof-time-0.csv";
  const std::string rep = "data/ncu-rep-pairs/wdmapp__gene-paper-artifacts-pop2020__dram_ncuroof-time-0.ncu-rep";
  ROOFLINE_NEEDS_SHARED(rep);
  const auto text = open(csv);
  const auto binary = open(rep);
  ASSERT_EQ(text.launches.size(), binary.launches.size());
  for (std::size_t i = 0; i < text.launches.size(); ++i) {
    EXPECT_DOUBLE_EQ(dram_bytes(work_of(text, i)), dram_bytes(work_of(binary, i))) << i;
    const double time = work_of(binary, i).time.value();
    EXPECT_NEAR(work_of(text, i).time.value(), time, 1e-6 * time) << i;
  }
}

TEST(RealFiles, PicongpuIntensitiesPerLevel) {
  const std::string file =
      "data/ncu-csv/Techercise__AMD-Instruction-Roofline-using-rocProf-Metrics__v100_lw_cc_output.csv";
  ROOFLINE_NEEDS_SHARED(file);
  const auto profile = open(file);
  DeviceInfo v100;  // the export does not name its GPU, its authors do
  v100.compute_capability = "7.0";
  const auto work = count(profile.launches.at(0), v100).work;
  EXPECT_DOUBLE_EQ(operations(work, "fp32.vector"), 42506040);
  EXPECT_NEAR(work.intensity(MemoryLevel::dram).value(), 0.3056, 0.00005);
  EXPECT_NEAR(work.intensity(MemoryLevel::l2).value(), 0.1897, 0.00005);
  EXPECT_NEAR(work.intensity(MemoryLevel::l1).value(), 0.1159, 0.00005);
}

TEST(RealFiles, SaxpyReads) {
  const std::string file = "data/ncu-csv/Olajide-Badejo__GPU-Roofline-Profiler__saxpy.csv";
  ROOFLINE_NEEDS_SHARED(file);
  const auto work = work_of(open(file), 0);
  EXPECT_DOUBLE_EQ(work.level(MemoryLevel::dram).read.value(), 134221568);
  EXPECT_DOUBLE_EQ(work.level(MemoryLevel::dram).write.value(), 43631104);
  EXPECT_NEAR(work.time.value(), 292.928e-6, 1e-9);
}

// Inference kernels on an RTX 5090: the chart counts FP32 only, and these kernels live on the tensor cores.
TEST(RealFiles, InferenceKernelsKeepTheirTensorWorkOpen) {
  const std::string folder = "data/ncu-csv/CodeGandee__llm-perf-opt__dsocr_k";
  ROOFLINE_NEEDS_SHARED(folder + "0001_ncu.details.csv");
  const std::map<std::string, double> gigaflops_per_second = {
      {"0001", 344.2}, {"0004", 0.0}, {"0005", 146.2}, {"0009", 1574.7}};
  for (const auto& [kernel, rate] : gigaflops_per_second) {
    const auto charts = open(folder + kernel + "_ncu.section_SpeedOfLight_RooflineChart.csv");
    auto launch = charts.launches.at(0);
    const auto details = open(folder + kernel + "_ncu.details.csv");
    for (const auto& [id, value] : details.launches.at(0).metrics.values())
      if (!launch.metrics.get(id)) launch.metrics.set(id, value);
    launch.metrics.finish();
    const auto counted = count(launch, device_of(charts, charts.launches[0]));
    const auto* fp32 = find_operations(counted.work, "fp32.vector");
    ASSERT_NE(fp32, nullptr) << kernel;
    EXPECT_NEAR(fp32->operations.value() / counted.work.time.value() / 1e9, rate, 0.001 * rate + 0.05) << kernel;
    if (kernel == "0004") {  // a copy that keeps the SMs 0.02 % busy: whatever was not counted is nothing
      EXPECT_TRUE(counted.work.coverage.complete());
      continue;
    }
    EXPECT_THAT(counted.work.coverage.uncounted, Contains("tensor")) << kernel;
    EXPECT_THAT(counted.work.coverage.reason, HasSubstr("tensor operations not counted")) << kernel;
    EXPECT_EQ(counted.work.flops().bound(), Bound::lower) << kernel;
  }
}

// --- the rooflines inside the reports ---

struct Comparison {
  int work = 0, traffic = 0, differing = 0;
  std::map<std::string, int> uncompared;

  void compare(const std::string& what, double ours, double theirs, int& counter) {
    ++counter;
    const double tolerance = 0.001 * std::max(std::abs(ours), std::abs(theirs));
    if (std::abs(ours - theirs) <= tolerance) return;
    ++differing;
    ADD_FAILURE() << what << ": ours " << ours << ", the report's chart " << theirs;
  }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The FLOP rate of ours that an achieved point of a chart means; nullopt when none does.
std::optional<double> our_rate(const Work& work, const SectionRoofline& point) {
  const auto& e = point.work_expression;
  const double time = work.time.value();
  const auto rate = [&](const char* key) -> std::optional<double> {
    if (find_operations(work, key) == nullptr) return std::nullopt;
    return operations(work, key) / time;
  };
  if (contains(e, "op_dfma")) return rate("fp64.vector");
  if (contains(e, "op_ffma")) return rate("fp32.vector");
  if (contains(e, "op_hfma")) {
    const bool packed = contains(e, "hfma_pred_on_x4");
    const auto scalar = fp16_with_scalar_weights(work);
    if (packed) return rate("fp16.vector");
    return scalar ? std::optional<double>(scalar.value() / time) : std::nullopt;
  }
  constexpr std::string_view kOps = "sm__ops_path_tensor_";
  if (const auto at = e.find(kOps); at != std::string::npos) {
    const auto name = e.substr(at, e.find('.', at) - at) + ".sum";
    for (const auto& entry : work.operations)
      if (entry.operations.provenance() && !entry.operations.provenance()->metrics.empty() &&
          entry.operations.provenance()->metrics.front().starts_with(name))
        return entry.operations.value() / time;
  }
  return std::nullopt;
}

std::optional<double> our_bandwidth(const Work& work, const SectionRoofline& point) {
  const auto& e = point.traffic_expression;
  const auto rate = [&](MemoryLevel level, std::string_view definition) -> std::optional<double> {
    const auto& traffic = work.level(level);
    if (!traffic.total || traffic.definition != definition) return std::nullopt;
    return traffic.total.value() / work.time.value();
  };
  if (contains(e, "dram__bytes")) return rate(MemoryLevel::dram, "dram");
  if (contains(e, "lts2xbar")) return rate(MemoryLevel::l2, "lts2xbar");
  if (contains(e, "lsu_writeback")) return rate(MemoryLevel::l1, "lsu_writeback");
  return std::nullopt;
}

void compare_launch(const std::string& file, const Profile& profile, const Launch& launch, Comparison& comparison) {
  if (launch.failed) return;
  const auto work = count(launch, device_of(profile, launch)).work;
  if (!work.time) return;
  for (const auto& point : section_rooflines(profile, launch)) {
    if (point.roof) continue;
    const auto what = fmt::format("{} #{} {} ({})", file, launch.ordinal, point.label, point.work_expression);
    if (std::isfinite(point.work)) {
      const auto ours = our_rate(work, point);
      if (ours) comparison.compare(what, *ours, point.work, comparison.work);
      if (!ours && point.work > 0) ++comparison.uncompared[point.work_expression];
    }
    if (std::isfinite(point.traffic)) {
      const auto ours = our_bandwidth(work, point);
      if (ours) comparison.compare(what + " traffic", *ours, point.traffic, comparison.traffic);
      if (!ours && point.traffic > 0) ++comparison.uncompared[point.traffic_expression];
    }
  }
}

TEST(RealFiles, AchievedPointsOfTheReportsOwnRooflines) {
  ROOFLINE_NEEDS_SHARED("data/ncu-rep");
  Comparison comparison;
  int launches = 0;
  for (const char* folder : {"data/ncu-rep", "data/ncu-rep-pairs"})
    for (const auto& entry : std::filesystem::directory_iterator(shared_path(folder))) {
      if (entry.path().extension() != ".ncu-rep") continue;
      const auto profile = open_profile(entry.path().string());
      for (const auto& launch : profile.launches) compare_launch(entry.path().filename(), profile, launch, comparison);
      launches += static_cast<int>(profile.launches.size());
    }
  fmt::print("compared with the reports' own rooflines, over {} launches: {} FLOP rates, {} bandwidths\n", launches,
             comparison.work, comparison.traffic);
  for (const auto& [expression, times] : comparison.uncompared)
    fmt::print("  not compared {} times: {}\n", times, expression);
  EXPECT_EQ(comparison.differing, 0);
  EXPECT_GT(comparison.work, 0);
  EXPECT_GT(comparison.traffic, 0);
}

}  // namespace
}  // namespace roofline
