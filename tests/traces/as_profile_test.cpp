#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "roofline/timeline.h"

namespace roofline {
namespace {

using ::testing::HasSubstr;

bool has_warning(const Profile& profile, const std::string& code) {
  return std::any_of(profile.warnings.begin(), profile.warnings.end(), [&](const auto& w) { return w.code == code; });
}

class ProfileOf : public ::testing::Test {
 protected:
  Timeline timeline_;
  NameTable names_{timeline_.names};

  void SetUp() override { timeline_.devices.emplace_back(); }

  void add_operator(std::int64_t start, std::int64_t end, const char* name, const char* shapes) {
    OperatorCall call;
    call.span = {start, end};
    call.name = names_.intern(name);
    call.shapes = names_.intern(shapes);
    call.types = names_.intern(R"(["c10::BFloat16","c10::BFloat16"])");
    call.thread = 1;
    timeline_.operators.push_back(call);
  }
  GpuActivity& add_activity(std::int64_t start, std::int64_t length, std::uint64_t correlation, const char* name,
                            GpuWork work = GpuWork::kernel) {
    timeline_.calls.push_back(
        {{start / 10, start / 10 + 1}, names_.intern("launch"), 1, correlation, HostCallKind::launch});
    GpuActivity activity;
    activity.span = {start, start + length};
    activity.full_name = names_.intern(std::string("void ") + name + "<float>(int)");
    activity.name = names_.intern(name);
    activity.correlation = correlation;
    activity.work = work;
    activity.grid = {4, 1, 1};
    timeline_.activities.push_back(activity);
    return timeline_.activities.back();
  }
};

TEST_F(ProfileOf, OneLaunchPerModelledOperator) {
  add_operator(100, 130, "aten::mm", "[[8,16],[16,4]]");
  add_activity(1'000, 10, 1, "memset", GpuWork::fill);
  add_activity(1'200, 90, 2, "gemm");
  add_activity(2'000, 50, 3, "other");
  add_activity(3'000, 50, 4, "copy", GpuWork::copy);
  const auto profile = profile_of(timeline_);
  ASSERT_EQ(profile.launches.size(), 2);
  const auto& product = profile.launches[0];
  EXPECT_EQ(product.name, "void gemm<float>(int)");
  EXPECT_EQ(product.function, "gemm");
  EXPECT_EQ(product.op, "aten::mm 8x16 . 16x4");
  EXPECT_EQ(product.time_basis, TimeBasis::timeline);
  ASSERT_TRUE(product.given);
  EXPECT_DOUBLE_EQ(product.given->time.value(), 100e-9);
  EXPECT_EQ(product.given->time.evidence(), Evidence::counter);
  EXPECT_EQ(product.given->flops().value(), 2 * 8 * 16 * 4);
  EXPECT_EQ(product.given->flops().evidence(), Evidence::model);
  EXPECT_EQ(product.given->level(MemoryLevel::dram).total.value(), 2 * (8 * 16 + 16 * 4 + 8 * 4));
  EXPECT_FALSE(product.given->level(MemoryLevel::l2).total);
  const auto& other = profile.launches[1];
  EXPECT_DOUBLE_EQ(other.given->time.value(), 50e-9);
  EXPECT_FALSE(other.given->flops());
  EXPECT_FALSE(other.given->level(MemoryLevel::dram).total);  // absent, not 0
  EXPECT_FALSE(other.given->coverage.complete());
  ASSERT_TRUE(has_warning(profile, "no-shapes"));
  EXPECT_THAT(profile.warnings[0].message, HasSubstr("35.7 %"));  // 50 of 140: fills are no kernels
}

TEST_F(ProfileOf, LowerBoundsStayLowerBounds) {
  add_operator(100, 130, "aten::exp", "[[8,16]]");
  add_activity(1'000, 10, 1, "exp_kernel");
  const auto profile = profile_of(timeline_);
  ASSERT_EQ(profile.launches.size(), 1);
  const auto flops = profile.launches[0].given->flops();
  EXPECT_EQ(flops.value(), 8 * 16);
  EXPECT_EQ(flops.bound(), Bound::lower);
}

TEST_F(ProfileOf, ManyLaunchesBecomeMeans) {
  constexpr int kCount = 50'001;
  for (int i = 0; i < kCount; ++i) add_activity(1'000 + 20 * i, i % 2 == 0 ? 4 : 8, 0, "k");
  const auto profile = profile_of(timeline_);
  ASSERT_EQ(profile.launches.size(), 1);
  EXPECT_EQ(profile.launches[0].count, kCount);
  EXPECT_NEAR(profile.launches[0].given->time.value(), 6e-9, 1.1e-9);
  EXPECT_TRUE(has_warning(profile, "means"));
}

TEST_F(ProfileOf, DeclaredTotals) {
  KernelTotals totals;
  totals.name = names_.intern("matmul [M=64]");
  totals.launches = 10;
  totals.total_s = 1e-3;
  totals.flops = 1e9;
  totals.bytes = 1e6;
  totals.flops_kind = "flops8";
  timeline_.totals.push_back(totals);
  totals.flops.reset();
  totals.bytes.reset();
  timeline_.totals.push_back(totals);
  const auto profile = profile_of(timeline_);
  ASSERT_EQ(profile.launches.size(), 2);
  const auto& launch = profile.launches[0];
  EXPECT_EQ(launch.count, 10);
  EXPECT_DOUBLE_EQ(launch.given->time.value(), 1e-4);  // of one launch
  EXPECT_DOUBLE_EQ(launch.given->flops().value(), 1e8);
  EXPECT_EQ(launch.given->flops().evidence(), Evidence::given);
  EXPECT_EQ(to_string(launch.given->operations[0].precision), "fp8.tensor");
  EXPECT_DOUBLE_EQ(launch.given->level(MemoryLevel::dram).total.value(), 1e5);
  EXPECT_FALSE(profile.launches[1].given->flops());
  EXPECT_FALSE(profile.launches[1].given->level(MemoryLevel::dram).total);
}

TEST_F(ProfileOf, AKernelOfNoLengthHasNoTime) {
  add_activity(1'000, 0, 0, "k");
  const auto profile = profile_of(timeline_);
  EXPECT_FALSE(profile.launches[0].given->time);
}

TEST(OpenInputs, TimelinesAndTablesTogether) {
  const auto folder = std::filesystem::temp_directory_path() / "roofline_open_inputs_test";
  std::filesystem::create_directories(folder);
  const auto trace = (folder / "a").string();
  const auto table = (folder / "b").string();
  std::ofstream(trace) << R"([{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2,"args":{"device":0}}])";
  std::ofstream(table) << "kernel,flops,bytes,time_us\nk,1e9,1e6,10\n";
  const auto profiles = open_inputs(std::vector{trace, table});
  ASSERT_EQ(profiles.size(), 2);
  EXPECT_EQ(profiles[0].format, "torch-trace");
  EXPECT_EQ(profiles[0].path, trace);
  EXPECT_EQ(profiles[1].format, "table");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace roofline
