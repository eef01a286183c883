#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/counting.h"
#include "roofline/error.h"
#include "roofline/metrics.h"

namespace roofline {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CollectionCommand, IsACompleteCommand) {
  const auto command = collection_command({"time", "dram"}, "9.0", {"saxpy"});
  EXPECT_THAT(command, StartsWith("ncu --metrics "));
  EXPECT_THAT(command, EndsWith(" -k regex:saxpy -o report ./app"));
  EXPECT_THAT(command, HasSubstr("gpu__time_duration.sum"));
  EXPECT_THAT(command, HasSubstr("dram__bytes_read.sum,dram__bytes_write.sum"));
}

TEST(CollectionCommand, SpellsMetricsAsTheChipDoes) {
  EXPECT_THAT(collection_command({"dram"}, "12.0"), HasSubstr("dram__bytes_op_read.sum,dram__bytes_op_write.sum"));
  EXPECT_THAT(collection_command({"dram"}, "12.0"), Not(HasSubstr("dram__bytes_read.sum")));
  EXPECT_THAT(collection_command({"flops"}, "7.0"), HasSubstr("sm__ops_path_tensor_src_fp16_dst_fp32.sum"));
  EXPECT_THAT(collection_command({"flops"}, "9.0"),
              HasSubstr("sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum"));
  EXPECT_THAT(collection_command({"flops"}, "9.0"), Not(HasSubstr("ffma2")));
  EXPECT_THAT(collection_command({"flops"}, "10.0"), HasSubstr("ffma2"));
  EXPECT_THAT(collection_command({"l2"}, "8.0"), HasSubstr("ltcfabric"));
  EXPECT_THAT(collection_command({"l2"}, "8.6"), Not(HasSubstr("ltcfabric")));
}

TEST(CollectionCommand, NamesNoMetricThatTheChipDoesNotHave) {
  const auto& catalogue = MetricCatalogue::instance();
  const std::pair<const char*, const char*> chips[] = {
      {"7.0", "GV100"}, {"7.5", "TU102"},  {"8.0", "GA100"},  {"8.6", "GA102"},  {"8.7", "GA10B"},  {"8.9", "AD102"},
      {"9.0", "GH100"}, {"10.0", "GB100"}, {"10.3", "GB110"}, {"11.0", "GB10B"}, {"12.0", "GB202"}, {"12.1", "GB20B"}};
  for (const auto& [cc, chip] : chips) {
    auto command = collection_command({"time", "dram", "flops", "l2", "l1", "shared"}, cc);
    std::string_view list(command);
    list.remove_prefix(std::string_view("ncu --metrics ").size());
    list = list.substr(0, list.find(' '));
    while (!list.empty()) {
      const auto name = list.substr(0, list.find(','));
      list.remove_prefix(std::min(list.size(), name.size() + 1));
      const auto id = catalogue.find(name);
      ASSERT_TRUE(id) << name;
      EXPECT_TRUE(catalogue.exists(*id, chip)) << name << " on " << chip;
    }
  }
}

TEST(CollectionCommand, UnknownChipGetsWhatMostHave) {
  const auto command = collection_command({"dram", "flops"}, "");
  EXPECT_THAT(command, HasSubstr("dram__bytes_read.sum"));
  EXPECT_THAT(command, HasSubstr("sm__inst_executed_pipe_tensor.sum"));
  EXPECT_THAT(command, Not(HasSubstr("ops_path")));
}

TEST(CollectionCommand, NoDramCountersNoCommand) {
  EXPECT_EQ(collection_command({"dram"}, "12.1"), "");  // memory shared with the CPU: no such counter
  EXPECT_EQ(collection_command({}, "9.0"), "");
}

TEST(CollectionCommand, KernelNamesAreSafeInAShell) {
  EXPECT_THAT(collection_command({"time"}, "9.0", {"operator+"}), HasSubstr(" -k 'regex:operator\\+' "));
  EXPECT_THAT(collection_command({"time"}, "9.0", {"x'; rm -rf y"}), HasSubstr(" -k 'regex:x.; rm -rf y' "));
  EXPECT_THAT(collection_command({"time"}, "9.0", {"a\nb"}), HasSubstr(" -k 'regex:a.b' "));
}

TEST(CollectionCommand, SeveralKernelsAreOneExpression) {
  EXPECT_THAT(collection_command({"time"}, "9.0", {"saxpy", "gemm"}), HasSubstr(" -k 'regex:saxpy|gemm' "));
}

TEST(CollectionCommand, UnknownQuantity) { EXPECT_THROW(collection_command({"colour"}, "9.0"), UsageError); }

}  // namespace
}  // namespace roofline
