// Real reports: their device names, their own roofs and their own peaks per SM against ours.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "roofline/machines.h"
#include "roofline/metrics.h"
#include "roofline/profile.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

constexpr double kTolerance = 0.001;

std::vector<std::string> report_paths() {
  std::vector<std::string> paths;
  for (const auto* folder : {"data/ncu-rep", "data/ncu-rep-pairs"}) {
    const auto root = testing::shared_path(folder);
    if (!std::filesystem::exists(root)) continue;
    for (const auto& file : std::filesystem::recursive_directory_iterator(root))
      if (file.path().extension() == ".ncu-rep") paths.push_back(file.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Calls `use` with every report that opens; some are failures on purpose.
template <class Use>
int each_report(const Use& use) {
  int opened = 0;
  for (const auto& path : report_paths()) {
    try {
      ReadOptions options;
      options.partial = true;
      const auto profile = open_profile(path, options);
      ++opened;
      use(profile);
    } catch (const InputError&) {
    }
  }
  return opened;
}

const Machine* machine_of(const Profile& profile, const Launch& launch) {
  return MachineCatalogue::instance().match(profile.devices.at(launch.device));
}

TEST(Reports, EveryDeviceNameResolvesToItsRow) {
  ROOFLINE_NEEDS_SHARED("data/ncu-rep");
  const std::map<std::string, std::string> expected = {
      {"A100-PCIE-40GB", "a100-pcie-40"},
      {"GeForce GTX 1080", "gtx-1080"},
      {"NVIDIA A100 80GB PCIe", "a100-pcie-80"},
      {"NVIDIA A100-PCIE-40GB", "a100-pcie-40"},
      {"NVIDIA A100-SXM4-40GB", "a100-sxm4-40"},
      {"NVIDIA A10G", "a10g"},
      {"NVIDIA A40", "a40"},
      {"NVIDIA B200", "b200-sxm"},
      {"NVIDIA GH200 120GB", "gh200-96"},
      {"NVIDIA GH200 480GB", "gh200-96"},
      {"NVIDIA GeForce GTX 1660 Ti", "gtx-1660-ti"},
      {"NVIDIA GeForce RTX 2060 with Max-Q Design", "rtx-2060-max-q"},
      {"NVIDIA GeForce RTX 2080 Ti", "rtx-2080-ti"},
      {"NVIDIA GeForce RTX 3070", "rtx-3070"},
      {"NVIDIA GeForce RTX 3090", "rtx-3090"},
      {"NVIDIA GeForce RTX 5060 Laptop GPU", "rtx-5060-laptop"},
      {"NVIDIA GeForce RTX 5060 Ti", "rtx-5060-ti"},
      {"NVIDIA H100 PCIe", "h100-pcie-80"},
      {"NVIDIA H800", "h800-sxm"},
      {"Tesla T4", "t4"},
      {"Tesla V100-SXM2-16GB", "v100-sxm2-16"},
      {"Tesla V100-SXM2-32GB", "v100-sxm2-32"},
      {"Xavier", "jetson-agx-xavier"},
  };
  std::set<std::string> seen;
  const int opened = each_report([&](const Profile& profile) {
    for (const auto& device : profile.devices) {
      if (device.name.empty()) continue;
      seen.insert(device.name);
      const auto* machine = MachineCatalogue::instance().match(device);
      const auto want = expected.find(device.name);
      ASSERT_NE(want, expected.end()) << "new device name: " << device.name;
      ASSERT_NE(machine, nullptr) << device.name;
      EXPECT_EQ(machine->id, want->second);
      if (device.sm_count) {
        EXPECT_EQ(machine->sm_count, device.sm_count) << device.name;
      }
    }
  });
  fmt::print("{} reports, {} device names\n", opened, seen.size());
  EXPECT_EQ(seen.size(), expected.size());
}

// Names in timelines and text exports beside the reports.
TEST(Reports, OtherDeviceNames) {
  const std::map<std::string, std::string> expected = {
      {"NVIDIA GeForce RTX 4090", "rtx-4090"},   {"NVIDIA GeForce RTX 5060", "rtx-5060"},
      {"NVIDIA A100-PG509-200", "a100-sxm4-40"}, {"Tesla V100S-PCIE-32GB (0)", "v100s-pcie-32"},
      {"NVIDIA GeForce RTX 5070", "rtx-5070"},   {"NVIDIA GeForce RTX 5090", "rtx-5090"},
      {"AMD Instinct MI300X", "mi300x"}};
  for (const auto& [name, id] : expected) {
    DeviceInfo device;
    device.name = name;
    const auto* machine = MachineCatalogue::instance().match(device);
    ASSERT_NE(machine, nullptr) << name;
    EXPECT_EQ(machine->id, id);
  }
}

struct Comparison {
  int roofs = 0, launches = 0, left_out = 0;
  std::set<std::string> devices;
  std::map<std::string, int> by_kind;
};

// What a section's expression multiplies, in our terms. Empty where we have no such roof.
std::string precision_of(const std::string& expression) {
  for (const auto& [part, key] :
       std::map<std::string, std::string>{{"ffma", "fp32.vector"}, {"dfma", "fp64.vector"}, {"hfma", "fp16.vector"}})
    if (expression.find(part) != std::string::npos) return key;
  const auto at = expression.find("sm__ops_path_tensor_");
  if (at == std::string::npos) return {};
  const auto has = [&](const char* part) { return expression.find(part, at) != std::string::npos; };
  std::string key;
  if (has("src_bf16")) key = "bf16.tensor";
  if (has("src_fp16_dst_fp16")) key = "fp16.acc16.tensor";
  if (has("src_fp16_dst_fp32")) key = "fp16.tensor";
  if (has("src_tf32")) key = "tf32.tensor";
  if (has("src_int8")) key = "int8.tensor";
  if (has("src_int4")) key = "int4.tensor";
  if (has("src_int1")) key = "int1.tensor";
  if (has("src_fp64")) key = "fp64.tensor";
  if (!key.empty() && has("sparsity_on")) key += ".sparse";
  return key;
}

struct Traffic {
  MemoryLevel level = MemoryLevel::dram;
  std::string definition;  // empty where we have no such roof
};

Traffic traffic_of(const std::string& expression) {
  if (expression.find("dram__") != std::string::npos) return {MemoryLevel::dram, "dram"};
  if (expression.find("lts2xbar") != std::string::npos) return {MemoryLevel::l2, "lts2xbar"};
  if (expression.find("lsu_writeback") != std::string::npos) return {MemoryLevel::l1, "lsu_writeback"};
  return {};
}

void compare(const Ceiling& ours, const SectionRoofline& theirs, const std::string& where, Comparison& count) {
  const auto key = precision_of(theirs.work_expression);
  const auto peak = key.empty() ? std::nullopt : ours.peak(*parse_precision(key));
  if (peak && std::isfinite(theirs.work) && theirs.work > 0) {
    ++count.roofs;
    ++count.by_kind[key];
    EXPECT_NEAR(peak->high / theirs.work, 1, kTolerance)
        << where << " " << theirs.label << " " << theirs.work_expression;
  } else {
    ++count.left_out;
  }
  const auto [level, definition] = traffic_of(theirs.traffic_expression);
  const auto traffic = ours.bandwidth(level, definition);
  if (traffic && std::isfinite(theirs.traffic) && theirs.traffic > 0) {
    ++count.roofs;
    ++count.by_kind[definition];
    EXPECT_NEAR(*traffic / theirs.traffic, 1, kTolerance)
        << where << " " << theirs.label << " " << theirs.traffic_expression;
  } else {
    ++count.left_out;
  }
}

TEST(Reports, AtClockRoofsEqualTheReportsOwn) {
  ROOFLINE_NEEDS_SHARED("data/ncu-rep");
  Comparison count;
  each_report([&](const Profile& profile) {
    for (const auto& launch : profile.launches) {
      if (launch.failed) continue;
      const auto& device = profile.devices.at(launch.device);
      std::optional<Ceiling> ours;
      for (const auto& theirs : section_rooflines(profile, launch)) {
        if (!theirs.roof) continue;
        if (!ours) ours = at_clock_ceiling(launch, device, machine_of(profile, launch));
        if (!ours) break;
        compare(*ours, theirs, profile.path, count);
      }
      if (!ours) continue;
      ++count.launches;
      count.devices.insert(device.name);
    }
  });
  fmt::print("compared {} values of roofs in {} launches on {} GPUs ({} without a counterpart)\n", count.roofs,
             count.launches, count.devices.size(), count.left_out);
  for (const auto& [kind, n] : count.by_kind) fmt::print("  {}: {}\n", kind, n);
  EXPECT_GT(count.roofs, 200);
  EXPECT_GE(count.devices.size(), 6U);
}

struct RateMetric {
  std::string_view metric;
  std::string_view precision;
  double factor;
};
constexpr std::array kRates = std::to_array<RateMetric>({
    {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", "fp32.vector", 2},
    {"sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained", "fp64.vector", 2},
    {"sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained", "fp16.vector", 4},
    {"sm__ops_path_tensor_src_fp64.sum.peak_sustained", "fp64.tensor", 1},
    {"sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained", "bf16.tensor", 1},
    {"sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum.peak_sustained", "fp16.tensor", 1},
    {"sm__ops_path_tensor_src_fp16_dst_fp16_sparsity_off.sum.peak_sustained", "fp16.acc16.tensor", 1},
    {"sm__ops_path_tensor_src_tf32_dst_fp32_sparsity_off.sum.peak_sustained", "tf32.tensor", 1},
    {"sm__ops_path_tensor_src_int8_sparsity_off.sum.peak_sustained", "int8.tensor", 1},
    {"sm__ops_path_tensor_src_int4_sparsity_off.sum.peak_sustained", "int4.tensor", 1},
});

// The catalogue's rates come from vendor documents, the profiler's from the chip: they must be equal, not close.
TEST(Reports, PeakPerSmEqualsTheCataloguesRateExactly) {
  ROOFLINE_NEEDS_SHARED("data/ncu-rep");
  int compared = 0;
  std::set<std::string> kinds;
  each_report([&](const Profile& profile) {
    for (const auto& launch : profile.launches) {
      const auto* machine = machine_of(profile, launch);
      if (machine == nullptr || launch.failed) continue;
      const auto* rates = MachineCatalogue::instance().rates(machine->rates);
      const auto sms = profile.devices.at(launch.device).sm_count;
      ASSERT_NE(rates, nullptr) << machine->id;
      for (const auto& r : kRates) {
        const auto id = MetricCatalogue::instance().find(r.metric);
        const auto value = id ? launch.metrics.get(*id) : std::nullopt;
        const auto rate = rates->rate(*parse_precision(r.precision));
        // Zero is what a failed replay leaves behind.
        if (!value || *value == 0 || !sms) continue;
        ASSERT_TRUE(rate) << machine->id << " " << r.precision;
        EXPECT_EQ(*value * r.factor / *sms, *rate) << profile.path << " " << r.metric;
        ++compared;
        kinds.insert(machine->id + " " + std::string(r.precision));
      }
    }
  });
  fmt::print("{} peaks per SM equal the catalogue's rates ({} part and precision pairs)\n", compared, kinds.size());
  EXPECT_GE(kinds.size(), 20U);
}

// B200 profiled at its locked clock: the same kernel has two fractions, and both are right.
TEST(Reports, LockedClockGivesALowerRoofThanTheDatasheet) {
  ROOFLINE_NEEDS_SHARED("data/ncu-rep");
  int seen = 0;
  each_report([&](const Profile& profile) {
    for (const auto& launch : profile.launches) {
      const auto* machine = machine_of(profile, launch);
      if (launch.failed || machine == nullptr || machine->id != "b200-sxm") continue;
      const auto ours = at_clock_ceiling(launch, profile.devices.at(launch.device), machine);
      if (!ours || !ours->sm_clock_hz) continue;
      const auto fp32 = *parse_precision("fp32.vector");
      const auto datasheet = machine->ceiling(CeilingKind::datasheet)->peak(fp32)->high;
      EXPECT_NEAR(ours->peak(fp32)->high / datasheet, *ours->sm_clock_hz / 1.965e9, 0.01);
      EXPECT_LT(*ours->sm_clock_hz, 1.2e9);
      ++seen;
    }
  });
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace roofline
