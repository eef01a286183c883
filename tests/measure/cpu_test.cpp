// What the system says of its processors.
#include "measure/cpu.h"

#include <gtest/gtest.h>

namespace roofline::measure {
namespace {

TEST(CpuInfo, FieldsOfX86AndArm) {
  const std::string x86 =
      "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD X\n";
  EXPECT_EQ(cpuinfo_field(x86, "vendor_id"), "AuthenticAMD");
  EXPECT_EQ(cpuinfo_field(x86, "model"), "17");
  EXPECT_EQ(cpuinfo_field(x86, "model name"), "AMD X");
  EXPECT_EQ(cpuinfo_field("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "CPU part"), "0xd0c");
  EXPECT_EQ(cpuinfo_field(x86, "flags"), "");
  EXPECT_EQ(cpuinfo_field("", "flags"), "");
  EXPECT_EQ(cpuinfo_field("no colon\n:\nflags:", "flags"), "");
}

TEST(CpuList, RangesAndSingles) {
  EXPECT_EQ(parse_cpu_list("0-3,8\n"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("5"), std::vector<int>{5});
  for (const auto* bad : {"", "x", "3-1", "-2", "1,", "1-", "0-99999999", "1;2"})
    EXPECT_TRUE(parse_cpu_list(bad).empty() || std::string(bad) == "1,") << bad;
}

TEST(CacheSize, KibAndMib) {
  EXPECT_DOUBLE_EQ(parse_cache_size("32K\n"), 32 * 1024);
  EXPECT_DOUBLE_EQ(parse_cache_size("32M"), 32.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(parse_cache_size("512"), 512);
  for (const auto* bad : {"", "K", "-3K", "12Q", "nan"}) EXPECT_DOUBLE_EQ(parse_cache_size(bad), 0) << bad;
}

TEST(CpuMax, IsAQuotaOrNone) {
  EXPECT_DOUBLE_EQ(*parse_cpu_max("150000 100000\n"), 1.5);
  for (const auto* none : {"max 100000", "", "150000", "0 100000", "1 0", "x y"})
    EXPECT_FALSE(parse_cpu_max(none)) << none;
}

TEST(Processors, AreThere) {
  const auto p = processors();
  EXPECT_GE(p.one_per_core.size(), 1U);
  EXPECT_GE(p.all, p.one_per_core.size());
  const auto facts = cpu_facts();
  EXPECT_FALSE(facts.name.empty());
  EXPECT_FALSE(facts.vendor.empty());
  EXPECT_EQ(facts.cores, p.one_per_core.size());
}

}  // namespace
}  // namespace roofline::measure
