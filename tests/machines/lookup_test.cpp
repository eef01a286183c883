// Names people type and names drivers print.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machines/lookup.h"
#include "roofline/machines.h"

namespace roofline {
namespace {

std::string found(std::string_view name) {
  const auto* machine = MachineCatalogue::instance().find(name);
  return machine == nullptr ? "" : machine->id;
}

std::string matched(const DeviceInfo& device) {
  const auto* machine = MachineCatalogue::instance().match(device);
  return machine == nullptr ? "" : machine->id;
}

DeviceInfo named(std::string name) {
  DeviceInfo device;
  device.name = std::move(name);
  return device;
}

DeviceInfo unnamed(std::string cc, int sms, double memory_mhz, int bus) {
  DeviceInfo device;
  device.compute_capability = std::move(cc);
  device.sm_count = sms;
  device.max_memory_clock_hz = memory_mhz * 1e6;
  device.memory_bus_bits = bus;
  return device;
}

TEST(Find, ShortNames) {
  EXPECT_EQ(found("H100"), "h100-sxm5-80");
  EXPECT_EQ(found("h100"), "h100-sxm5-80");
  EXPECT_EQ(found("a100"), "a100-sxm4-80");
  EXPECT_EQ(found("b200"), "b200-sxm");
  EXPECT_EQ(found("H200"), "h200-sxm-141");
  EXPECT_EQ(found("mi300x"), "mi300x");
  EXPECT_EQ(found("4090"), "rtx-4090");
  EXPECT_EQ(found("L40S"), "l40s");
  EXPECT_EQ(found("l4"), "l4");
  EXPECT_EQ(found("GH200"), "gh200-96");
  EXPECT_EQ(found("v100"), "v100-sxm2-16");
}

TEST(Find, DriverNamesWithAndWithoutMaker) {
  EXPECT_EQ(found("NVIDIA H100 80GB HBM3"), "h100-sxm5-80");
  EXPECT_EQ(found("H100 80GB HBM3"), "h100-sxm5-80");
  EXPECT_EQ(found("nvidia geforce rtx 3090"), "rtx-3090");
  EXPECT_EQ(found("GeForce RTX 3090"), "rtx-3090");
  EXPECT_EQ(found("AMD Instinct MI210"), "mi210");
  EXPECT_EQ(found("Tesla V100S-PCIE-32GB (0)"), "v100s-pcie-32");
}

TEST(Find, DistinctiveWords) {
  EXPECT_EQ(found("h100 pcie"), "h100-pcie-80");
  EXPECT_EQ(found("A100 80GB PCIe"), "a100-pcie-80");
  EXPECT_EQ(found("rtx 3080"), "rtx-3080-10");
  EXPECT_EQ(found("GeForce RTX 4090"), "rtx-4090");
  EXPECT_EQ(found("ironwood"), "tpu7x-ironwood");
  EXPECT_EQ(found("Max 1550"), "intel-max-1550");
}

// Substring look-up has given each of these a wrong machine in some tool.
TEST(Find, WholeWordsOnly) {
  for (const auto* name :
       {"RTX A1000", "RTX A2000", "NVIDIA RTX A4000", "T400", "RTX 4090 Laptop GPU", "GTX 480", "A1", "H10", "L400", "",
        "   ", "NVIDIA", "80GB", "480GB", "10", "server", "GeForce RTX", "--", "\xff"})
    EXPECT_EQ(found(name), "") << name;
  EXPECT_EQ(found("GH200 480GB"), "gh200-96");  // not the H200 in it
  EXPECT_EQ(found("NVIDIA L40"), "l40");        // not the L4 in it
  EXPECT_EQ(found("NVIDIA A10G"), "a10g");      // not the A10 in it
}

TEST(Find, AmbiguousIsRefused) {
  EXPECT_EQ(found("a100 80gb"), "");
  EXPECT_EQ(found("blackwell"), "");
  EXPECT_EQ(found("mi350"), "");
}

TEST(Suggestions, NearNamesFirst) {
  const auto& catalogue = MachineCatalogue::instance();
  EXPECT_EQ(catalogue.suggestions("rtx 4091").at(0), "rtx-4090");
  EXPECT_EQ(catalogue.suggestions("mi300").at(0).substr(0, 5), "mi300");
  EXPECT_THAT(catalogue.suggestions("h100"), testing::Contains("h100-pcie-80"));
  EXPECT_THAT(catalogue.suggestions("h100"), testing::Contains("h100-nvl"));
  EXPECT_THAT(catalogue.suggestions("a100 80gb"), testing::IsSupersetOf({"a100-sxm4-80", "a100-pcie-80"}));
  EXPECT_LE(catalogue.suggestions("x").size(), 5U);
  EXPECT_TRUE(catalogue.suggestions("completely unrelated words of great length").empty());
}

TEST(Match, ByDriverName) {
  for (const auto& machine : MachineCatalogue::instance().machines()) {
    const auto& facts = MachineCatalogue::instance().facts(machine);
    if (facts.find("driver_name") != nullptr) {
      EXPECT_EQ(matched(named(machine.name)), machine.id);
    }
    for (const auto alias : facts.texts("alias")) EXPECT_EQ(matched(named(std::string(alias))), machine.id);
  }
  EXPECT_EQ(matched(named("A100-SXM4-40GB")), "a100-sxm4-40");
  EXPECT_EQ(matched(named("NVIDIA A100-SXM4-80GB MIG 1g.10gb")), "a100-sxm4-80");
}

// A profile's name is never guessed at: short names are for people.
TEST(Match, UnknownNamesStayUnknown) {
  EXPECT_EQ(matched(named("NVIDIA H100")), "");
  EXPECT_EQ(matched(named("NVIDIA RTX A4000")), "");
  EXPECT_EQ(matched(named("H100")), "");
}

TEST(Match, SameNameOtherPart) {
  auto device = named("NVIDIA GeForce RTX 3080");
  device.sm_count = 68;
  device.memory_bus_bits = 320;
  EXPECT_EQ(matched(device), "rtx-3080-10");
  device.sm_count = 70;
  device.memory_bus_bits = 384;  // the 12 GB card
  EXPECT_EQ(matched(device), "");
  auto slice = named("NVIDIA H100 80GB HBM3");
  slice.sm_count = 16;
  EXPECT_EQ(matched(slice), "h100-sxm5-80");
}

TEST(Match, WithoutNameByAttributesTogether) {
  EXPECT_EQ(matched(unnamed("12.0", 48, 14001, 192)), "rtx-5070");
  EXPECT_EQ(matched(unnamed("12.0", 170, 14001, 512)), "rtx-5090");  // the same compute capability
  EXPECT_EQ(matched(unnamed("8.6", 82, 9751, 384)), "rtx-3090");
  EXPECT_EQ(matched(unnamed("8.9", 58, 6251, 192)), "l4");
  EXPECT_EQ(matched(unnamed("9.0", 132, 2619, 5120)), "");  // H100 SXM or H800
  EXPECT_EQ(matched(unnamed("8.0", 108, 1215, 5120)), "");  // A100 40GB, SXM or PCIe
  EXPECT_EQ(matched(unnamed("8.6", 82, 5001, 384)), "");
  EXPECT_EQ(matched(unnamed("8.6", 81, 9751, 384)), "");
  EXPECT_EQ(matched(DeviceInfo{}), "");
  auto without_bus = unnamed("8.6", 82, 9751, 384);
  without_bus.memory_bus_bits.reset();
  EXPECT_EQ(matched(without_bus), "");
}

TEST(Names, Normalized) {
  EXPECT_EQ(machines::normalize("NVIDIA GeForce RTX 4090"), "geforce rtx 4090");
  EXPECT_EQ(machines::normalize("geforce-rtx-4090"), "geforce rtx 4090");
  EXPECT_EQ(machines::normalize("Intel(R) Data Center GPU Max 1550"), "data center gpu max 1550");
  EXPECT_EQ(machines::normalize("Tesla T4 (3)"), "tesla t4");
  EXPECT_EQ(machines::edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(machines::edit_distance("", "abc"), 3U);
}

}  // namespace
}  // namespace roofline
