#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "roofline/metrics.h"
#include "roofline/profile.h"
#include "support/shared_data.h"

namespace roofline {
namespace {

using ::testing::HasSubstr;

std::optional<double> value(const Launch& launch, const char* name) {
  return launch.metrics.get(MetricCatalogue::instance().require(name));
}

bool has_warning(const Profile& profile, const std::string& code) {
  for (const auto& w : profile.warnings)
    if (w.code == code) return true;
  return false;
}

InputProblem refusal(const std::string& text, bool partial = false) {
  ReadOptions options;
  options.partial = partial;
  try {
    read_profile(text, "table.csv", options);
  } catch (const InputError& error) {
    return error.problem();
  }
  return {};
}

// A folder of its own, gone afterwards.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "roofline_amd_counters_test") {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string add(const std::string& name, const std::string& text) const {
    const auto file = path_ / name;
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

constexpr const char* kWide =
    "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,SQ_INSTS_VALU_FMA_F32,Wave_Size_1,SQC_DCACHE_REQ_READ_1,"
    "TCC_EA_RDREQ[0],TCC_EA_RDREQ[1],TCC_EA_WRREQ[0],TCC_EA_WRREQ[1],TCC_EA_WRREQ_sum,Start_Timestamp,End_Timestamp\r\n"
    "0,2,1000,256,\"copy(float*, int) [clone .kd]\",12,64,99,100,20,7,8,16,1411551767635712,1411551767656192\r\n"
    "1,2,1024,256,\"copy(float*, int) [clone .kd]\",,64,99,1,2,3,4,5,1411551767700000,1411551767710000\r\n";

TEST(AmdCounters, WideTable) {
  const auto profile = read_profile(kWide, "pmc_perf.csv");
  EXPECT_EQ(profile.format, "rocprof-wide");
  ASSERT_EQ(profile.launches.size(), 2);
  const auto& launch = profile.launches[0];
  EXPECT_EQ(launch.name, "copy(float*, int)");
  EXPECT_EQ(launch.grid, (Dim3{4, 1, 1}));  // work items in whole blocks
  EXPECT_EQ(launch.block, (Dim3{256, 1, 1}));
  EXPECT_EQ(profile.devices[launch.device].id, 2);
  EXPECT_EQ(launch.time_basis, TimeBasis::profiled);
  EXPECT_EQ(value(launch, "rocprof__duration"), 20'480);
  EXPECT_EQ(value(launch, "SQ_INSTS_VALU_FMA_F32"), 12);
  EXPECT_EQ(value(launch, "TCC_EA_RDREQ_sum"), 120);  // channels added up
  EXPECT_EQ(value(launch, "TCC_EA_WRREQ_sum"), 16);   // the profiler's own total is preferred to 7 + 8
  EXPECT_EQ(value(profile.launches[1], "SQ_INSTS_VALU_FMA_F32"), std::nullopt);  // empty is not 0
}

TEST(AmdCounters, LongTablesOfBothReleases) {
  const auto old = read_profile(
      "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Grid_Size\",\"Kernel_Name\","
      "\"Workgroup_Size\",\"Counter_Name\",\"Counter_Value\"\n"
      "1,1,1,1,19,1024,\"k(int)\",64,\"SQ_WAVES\",16\n"
      "1,1,1,1,19,1024,\"k(int)\",64,\"SQ_INSTS_VALU_ADD_F32\",3\n"
      "1,1,1,1,19,1024,\"k(int)\",64,\"SQ_INSTS_VALU_ADD_F32\",4\n"
      "2,2,1,1,19,1024,\"k(int)\",64,\"SQ_WAVES\",32\n\n",
      "counter_collection.csv");
  EXPECT_EQ(old.format, "rocprof-long");
  ASSERT_EQ(old.launches.size(), 2);
  EXPECT_EQ(value(old.launches[0], "SQ_WAVES"), 16);
  EXPECT_EQ(value(old.launches[0], "SQ_INSTS_VALU_ADD_F32"), 7);  // instances add up
  EXPECT_EQ(value(old.launches[1], "SQ_WAVES"), 32);
  EXPECT_TRUE(has_warning(old, "no-times"));
  const auto newer = read_profile(
      "\"Dispatch_Id\",\"Agent_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_"
      "Timestamp\"\n7,\"Agent 4\",\"k\",\"FETCH_SIZE\",1.5,100,350\n",
      "counter_collection.csv");
  ASSERT_EQ(newer.launches.size(), 1);
  EXPECT_EQ(newer.devices[0].id, 4);
  EXPECT_EQ(value(newer.launches[0], "FETCH_SIZE"), 1.5);
  EXPECT_EQ(value(newer.launches[0], "rocprof__duration"), 250);
}

TEST(AmdCounters, TimestampsThatLostDigitsAreNoTimes) {
  const auto profile = read_profile(
      "Kernel_Name,SQ_WAVES,Start_Timestamp,End_Timestamp\nk,1,8.1097E+14,8.1098E+14\nk,1,5,5\nk,1,9,5\n", "x.csv");
  for (const auto& launch : profile.launches) EXPECT_EQ(value(launch, "rocprof__duration"), std::nullopt);
  ASSERT_EQ(profile.warnings.size(), 1);
  EXPECT_THAT(profile.warnings[0].message, HasSubstr("3 of 3"));
}

TEST(AmdCounters, SystemBesideTheCountersNamesTheMachine) {
  const Folder folder;
  folder.add("pmc_perf.csv", kWide);
  const auto sysinfo = [&](const char* model, const char* arch, int units, int dies) {
    folder.add("sysinfo.csv", fmt::format("workload_name,rocm_version,gpu_model,gpu_arch,gpu_l2,cu_per_gpu,max_sclk,"
                                          "max_mclk,num_xcd,hbm_bw\nrun,6.2.0,{},{},4096,{},2100,1300,{},NA\n",
                                          model, arch, units, dies));
  };
  sysinfo("MI300X_A1", "gfx942", 304, 8);
  for (const auto& path : {folder.path(), folder.path() + "/pmc_perf.csv"}) {
    const auto profile = open_profile(path);
    EXPECT_EQ(profile.format, "rocprof-compute");
    EXPECT_EQ(profile.producer, "rocprof-compute, ROCm 6.2.0");
    ASSERT_EQ(profile.devices.size(), 1);
    const auto& device = profile.devices[0];
    EXPECT_EQ(device.id, 2);
    EXPECT_EQ(device.name, "AMD Instinct MI300X");
    EXPECT_EQ(device.compute_capability, "gfx942");
    EXPECT_EQ(device.sm_count, 304);
    EXPECT_EQ(device.max_sm_clock_hz, 2.1e9);
    EXPECT_EQ(device.l2_bytes, 32 * 1024 * 1024);  // eight dies
  }
  // One partition of the GPU must not get the limits of the whole.
  sysinfo("MI300X_A1", "gfx942", 38, 1);
  const auto part = open_profile(folder.path());
  EXPECT_EQ(part.devices[0].name, "MI300X_A1");
  EXPECT_TRUE(has_warning(part, "part-of-a-gpu"));
}

TEST(AmdCounters, FaultsNameTheirLine) {
  const std::string header = "Kernel_Name,SQ_WAVES,GPU_ID\n";
  auto problem = refusal(header + "k,1,0\nk,many,0\n");
  EXPECT_EQ(problem.kind, "not-a-number");
  EXPECT_EQ(problem.line, 3U);
  EXPECT_THAT(problem.found, HasSubstr("SQ_WAVES"));
  EXPECT_EQ(refusal(header + "k,-1,0\n").kind, "not-a-number");
  EXPECT_EQ(refusal(header + "k,1e400,0\n").kind, "not-a-number");
  EXPECT_EQ(refusal(header).kind, "no-rows");
  EXPECT_EQ(refusal("Kernel_Name,Counter_Name,Counter_Value\nk,SQ_WAVES,1\n").kind, "missing-column");
  ReadOptions options;
  options.partial = true;
  const auto profile = read_profile(header + "k,1,0\nk,many,0\n", "x.csv", options);
  EXPECT_TRUE(profile.partial);
}

TEST(AmdCounters, EveryCutOfTheTableIsReadOrRefused) {
  const std::string text = kWide;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    try {
      read_profile(text.substr(0, size), "pmc_perf.csv");
    } catch (const InputError& error) {
      EXPECT_FALSE(error.problem().kind.empty());
    }
  }
}

TEST(AmdCounters, WhatLiesBesideCountersSaysWhatItIs) {
  EXPECT_EQ(refusal("device,HBMBw,HBMBwLow,L2Bw,FP32Flops\n0,1388.9,1388.3,5018.2,20941.9\n").kind,
            "measured-ceilings");
  EXPECT_EQ(refusal("workload_name,gpu_model,gpu_arch,gpu_l1,cu_per_gpu\nx,MI200,gfx90a,16,104\n").kind,
            "system-information");
  EXPECT_EQ(refusal("{\n  \"empirical\": {\n  \"gbytes\": {}}}\n").kind, "measured-ceilings");
  EXPECT_EQ(refusal("  11.03 GFLOPs\n\nMETA_DATA\nERT_VERSION  1.1.0\n").kind, "measured-ceilings");
}

TEST(AmdCounters, RealFiles) {
  const char* const mi200 = "data/rocprof/ROCm__rocprofiler-compute__vcopy_MI200_pmc_perf.csv";
  ROOFLINE_NEEDS_SHARED(mi200);
  const auto old = open_profile(testing::shared_path(mi200).string());
  EXPECT_EQ(old.format, "rocprof-compute");  // its neighbour sysinfo.csv bears the same prefix
  ASSERT_EQ(old.launches.size(), 3);
  EXPECT_EQ(old.devices[0].name, "AMD Instinct MI210");
  EXPECT_EQ(old.devices[0].compute_capability, "gfx90a");
  EXPECT_EQ(old.launches[0].function, "vecCopy");
  EXPECT_EQ(value(old.launches[0], "rocprof__duration"), 20'480);
  EXPECT_EQ(value(old.launches[0], "TCC_EA_RDREQ_sum"), 131'086);
  const auto newer =
      open_profile(testing::shared_path("data/rocprof/ROCm__rocprofiler-compute__vcopy_MI300X_pmc_perf.csv").string());
  EXPECT_EQ(newer.devices[0].name, "AMD Instinct MI300X");
  EXPECT_EQ(value(newer.launches[0], "TCC_BUBBLE_sum"), 65'536);
  EXPECT_TRUE(has_warning(newer, "no-times"));  // saved by a spreadsheet
  const auto old_long =
      open_profile(testing::shared_path("data/rocprof/ROCm__rocprofiler-sdk__counter_collection.csv").string());
  EXPECT_EQ(old_long.launches.size(), 7);
  const auto new_long =
      open_profile(testing::shared_path("data/rocprof/ROCm__rocm-systems__newer_counter_collection.csv").string());
  ASSERT_EQ(new_long.launches.size(), 4);
  EXPECT_EQ(value(new_long.launches[0], "SQ_WAVES"), 16'384);
  EXPECT_EQ(value(new_long.launches[0], "rocprof__duration"), 52'151);
}

}  // namespace
}  // namespace roofline
