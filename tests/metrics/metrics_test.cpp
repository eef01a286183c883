#include "roofline/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "roofline/launch.h"

namespace roofline {
namespace {

const MetricCatalogue& catalogue() { return MetricCatalogue::instance(); }

TEST(MetricCatalogue, FindsNamesAndAliases) {
  const auto time = catalogue().find("gpu__time_duration.sum");
  ASSERT_TRUE(time);
  EXPECT_EQ(catalogue().info(*time).name, "gpu__time_duration.sum");
  EXPECT_EQ(catalogue().info(*time).unit, "ns");
  EXPECT_EQ(catalogue().find("gpu__time_duration"), time);  // Pascal
  EXPECT_EQ(catalogue().find("GPU Speed Of Light Throughput|Duration"), time);
  EXPECT_EQ(catalogue().find("GPU Speed Of Light|Duration"), time);
  EXPECT_EQ(catalogue().find("dram__read_bytes"), catalogue().find("dram__bytes_read.sum"));
  EXPECT_FALSE(catalogue().find("gpu__time_duration.su"));
  EXPECT_FALSE(catalogue().find(""));
}

TEST(MetricCatalogue, TheDetailsPageShowsOneLabelForDifferentMetrics) {
  const auto percent = catalogue().find("GPU Speed Of Light Throughput|Memory Throughput");
  const auto rate = catalogue().find("Memory Workload Analysis|Memory Throughput");
  ASSERT_TRUE(percent && rate);
  EXPECT_EQ(catalogue().info(*percent).unit, "%");
  EXPECT_EQ(catalogue().info(*rate).name, "dram__bytes.sum.per_second");
  EXPECT_EQ(catalogue().info(*rate).unit, "byte/second");
}

TEST(MetricCatalogue, UnitsFollowTheNames) {
  const auto unit = [](std::string_view name) { return catalogue().info(catalogue().require(name)).unit; };
  EXPECT_EQ(unit("sm__cycles_elapsed.avg.per_second"), "hz");
  EXPECT_EQ(unit("device__attribute_max_gpu_frequency_khz"), "khz");
  EXPECT_EQ(unit("lts__t_sectors.sum"), "sector");
  EXPECT_EQ(unit("sm__throughput.avg.pct_of_peak_sustained_elapsed"), "%");
  EXPECT_EQ(unit("sm__ops_path_tensor_src_fp64.sum"), "op");
  EXPECT_EQ(unit("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed"), "inst/cycle");
  EXPECT_EQ(unit("launch__waves_per_multiprocessor"), "");
  EXPECT_EQ(unit("device__attribute_display_name"), "text");
  EXPECT_EQ(unit("breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed"), "text");
}

TEST(MetricCatalogue, PassesPerChip) {
  const auto passes = [](std::string_view name, std::string_view chip) {
    return catalogue().passes(catalogue().require(name), chip);
  };
  EXPECT_EQ(catalogue().chips().size(), 14u);
  EXPECT_EQ(passes("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "GV100"), 15);
  EXPECT_EQ(passes("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "GB20B"), 5);
  EXPECT_EQ(passes("dram__bytes_read.sum", "GH100"), 1);
  EXPECT_EQ(passes("dram__bytes_read.sum", "GB202"), std::nullopt);  // spelled dram__bytes_op_read there
  EXPECT_EQ(passes("dram__bytes.sum", "GB20B"), std::nullopt);       // SoC memory
  EXPECT_EQ(passes("launch__waves_per_multiprocessor", "GH100"), std::nullopt);
  EXPECT_EQ(passes("dram__bytes_read.sum", "GH101"), std::nullopt);
}

TEST(MetricCatalogue, ExistenceIsKnownBeyondThePassCounts) {
  const auto exists = [](std::string_view name, std::string_view chip) {
    return catalogue().exists(catalogue().require(name), chip);
  };
  EXPECT_TRUE(exists("dram__bytes_op_read.sum", "GB202"));
  EXPECT_FALSE(exists("dram__bytes_op_read.sum", "GH100"));
  EXPECT_TRUE(exists("sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum", "GH100"));
  EXPECT_FALSE(exists("sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum", "GB202"));
  EXPECT_FALSE(exists("launch__grid_size", "GH100"));
  EXPECT_FALSE(catalogue().exists(static_cast<MetricId>(catalogue().size()), "GH100"));
}

TEST(MetricCatalogue, RequireRefusesWhatIsNotDeclared) {
  EXPECT_THROW(catalogue().require("sm__made_up.sum"), std::logic_error);
}

TEST(MetricCatalogue, EveryNameAndAliasLeadsToItsOwnRow) {
  std::set<std::string> seen;
  for (std::size_t id = 0; id < catalogue().size(); ++id) {
    const auto& info = catalogue().info(static_cast<MetricId>(id));
    EXPECT_EQ(catalogue().find(info.name), static_cast<MetricId>(id));
    EXPECT_TRUE(seen.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.name.empty());
    EXPECT_EQ(info.name.find_first_of(",; \""), std::string::npos) << info.name;
    for (const auto& alias : info.aliases) {
      EXPECT_EQ(catalogue().find(alias), static_cast<MetricId>(id)) << alias;
      EXPECT_TRUE(seen.insert(alias).second) << alias;
    }
  }
  EXPECT_GT(catalogue().size(), 1000u);
}

TEST(Profile, NamesDeclaredAndBroughtMetrics) {
  Profile profile;
  const auto size = static_cast<MetricId>(catalogue().size());
  EXPECT_EQ(profile.metric_name(catalogue().require("dram__bytes.sum")), "dram__bytes.sum");
  EXPECT_EQ(profile.metric_name(size), "");
  profile.extra_metrics = std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"a.sum"});
  EXPECT_EQ(profile.metric_name(size), "a.sum");
  EXPECT_EQ(profile.metric_name(size + 1), "");
}

}  // namespace
}  // namespace roofline
