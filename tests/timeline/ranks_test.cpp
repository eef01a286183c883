#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/timeline_ranks.h"
#include "timeline/timeline_builder.h"

namespace roofline {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::TimelineBuilder;

// Each step computes for `compute`, then meets the others: whoever is early waits for the latest, and 1000 ns transfer.
AnalyzedTimeline rank_of(std::int64_t compute, std::int64_t latest, const std::string& path, std::int64_t origin) {
  TimelineBuilder b;
  std::int64_t t = origin;
  for (int i = 0; i < 5; ++i) {
    b.kernel("embedding", t, t + 100).kernel("gemm", t + 100, t + compute);
    b.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", t + compute,
             t + latest + 1'000);
    t += latest + 1'200;
  }
  AnalyzedTimeline out{b.build(), {}};
  out.timeline.path = path;
  out.devices = analyze_steps(out.timeline);
  return out;
}

TEST(Ranks, TheStragglerIsWhoWaitsLeast) {
  std::vector<AnalyzedTimeline> ranks;
  ranks.push_back(rank_of(5'000, 9'000, "trace_rank1.json", 0));
  ranks.push_back(rank_of(9'000, 9'000, "trace_rank0.json", 777'777));  // clocks are not aligned
  ranks.push_back(rank_of(6'000, 9'000, "trace_rank2.json", -5'000));
  const auto c = compare_ranks(ranks);
  ASSERT_EQ(c.ranks.size(), 3U);
  EXPECT_EQ(c.ranks[0].number, 0);
  EXPECT_EQ(c.ranks[0].timeline, 1U);
  EXPECT_NEAR(*c.ranks[0].waiting_s, 0, 1e-15);
  EXPECT_NEAR(*c.ranks[1].waiting_s, 5 * 4e-6, 1e-12);
  EXPECT_NEAR(*c.ranks[2].waiting_s, 5 * 3e-6, 1e-12);
  EXPECT_EQ(c.straggler, 0);
  EXPECT_THAT(c.verdict, HasSubstr("Rank 0 is the straggler"));
  ASSERT_EQ(c.collectives.size(), 1U);
  EXPECT_TRUE(c.collectives[0].matched);
  EXPECT_NEAR(*c.collectives[0].transfer_s, 1e-6, 1e-15);
  ASSERT_FALSE(c.kernels.empty());
  EXPECT_EQ(c.kernels[0].name, "gemm");
  EXPECT_EQ(c.kernels[0].slowest, 0);
  EXPECT_NEAR(c.kernels[0].max_s - c.kernels[0].min_s, 4e-6, 1e-12);
}

TEST(Ranks, EqualRanksHaveNoStraggler) {
  std::vector<AnalyzedTimeline> ranks;
  ranks.push_back(rank_of(9'000, 9'000, "a", 0));
  ranks.push_back(rank_of(8'950, 9'000, "b", 0));
  const auto c = compare_ranks(ranks);
  EXPECT_FALSE(c.straggler);
  EXPECT_THAT(c.verdict, HasSubstr("No rank holds up the others"));
  EXPECT_THAT(c.verdict, HasSubstr("All ranks take"));
}

TEST(Ranks, CollectivesThatDoNotPairTellNoWaiting) {
  std::vector<AnalyzedTimeline> ranks;
  ranks.push_back(rank_of(5'000, 9'000, "a", 0));
  ranks.push_back(rank_of(9'000, 9'000, "b", 0));
  ranks[1].timeline.activities.pop_back();
  const auto c = compare_ranks(ranks);
  EXPECT_FALSE(c.collectives.at(0).matched);
  EXPECT_FALSE(c.collectives.at(0).waiting_s);
  EXPECT_FALSE(c.ranks[0].waiting_s);
  EXPECT_FALSE(c.straggler);
}

// One rank whose collectives of 1 us move 100,000 BF16.
AnalyzedTimeline moving(const std::string& what, const std::string& ranks, std::uint32_t group_size,
                        const std::string& type = "BFloat16") {
  auto one = rank_of(5'000, 5'000, "a", 0);
  auto& t = one.timeline;
  t.devices[0].name = "NVIDIA H100 80GB HBM3";
  t.names.insert(t.names.end(), {what, type, ranks});
  CollectiveCall call;
  call.name = static_cast<std::uint32_t>(t.names.size() - 3);
  call.type = static_cast<std::uint32_t>(t.names.size() - 2);
  if (!ranks.empty()) call.ranks = static_cast<std::uint32_t>(t.names.size() - 1);
  call.elements_in = call.elements_out = 100'000;
  call.group_size = group_size;
  t.collectives.push_back(call);
  for (auto& a : t.activities)
    if (is_communication(t.names[a.full_name])) a.collective = 0;
  return one;
}

CollectiveTotals placed(const AnalyzedTimeline& one, const Network& network) {
  return compare_ranks({&one, 1}, network).collectives.at(0);
}

TEST(Ranks, BytesAgainstTheLink) {
  const auto one = moving("allreduce", "", 8);
  const auto c = compare_ranks({&one, 1});
  ASSERT_EQ(c.collectives.size(), 1U);
  // All-reduce over a ring: 2 (n-1)/n of 200 kB, in 1 us.
  EXPECT_NEAR(*c.collectives[0].bus_bytes, 350'000, 1e-6);
  EXPECT_NEAR(*c.collectives[0].bytes_per_s, 350e9, 1);
  ASSERT_TRUE(c.collectives[0].link);
  EXPECT_EQ(c.collectives[0].link->kind, "nvlink");
  EXPECT_FALSE(c.collectives[0].matched);  // one rank alone
}

TEST(Ranks, SeveralGpusOfOneFileAreRanks) {
  TimelineBuilder b;
  b.kernel("a", 0, 100).kernel("a", 0, 200, -1, 7, 1);
  AnalyzedTimeline one{b.build(), {}};
  one.devices = analyze_steps(one.timeline);
  const auto c = compare_ranks({&one, 1});
  ASSERT_EQ(c.ranks.size(), 2U);
  EXPECT_EQ(c.ranks[1].number, 1);
  EXPECT_THAT(c.verdict, HasSubstr("Rank 1 has the longest step"));
}

TEST(Network, AnAllReduceOverTwoNodesSharesTheirPorts) {
  const auto one = moving("allreduce", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]", 16);
  const auto c = placed(one, {50e9, 8});
  EXPECT_EQ(c.nodes, 2U);
  EXPECT_NEAR(*c.bus_bytes, 2.0 * 15 / 16 * 200'000, 1e-6);
  // 2 (N-1)/N of 200 kB leave each node of two, through eight ports.
  EXPECT_NEAR(*c.network_bytes, 25'000, 1e-6);
  ASSERT_TRUE(c.link);
  EXPECT_EQ(c.link->kind, "network");
  EXPECT_NEAR(*c.share_of_link, 0.5, 1e-9);  // 25 GB/s of 50
}

TEST(Network, WhichRanksItJoinsDecides) {
  EXPECT_NEAR(*placed(moving("allreduce", "[0, 8]", 2), {400e9, 8}).network_bytes, 200'000, 1e-6);
  EXPECT_EQ(placed(moving("allreduce", "[8, 9, 10, 11]", 4), {400e9, 8}).link->kind, "nvlink");
  const auto uneven = placed(moving("all_to_all", "[6, 7, 8]", 3), {400e9, 8});
  EXPECT_EQ(uneven.nodes, 2U);
  EXPECT_NEAR(*uneven.network_bytes, 200'000 * 2.0 / 3, 1e-6) << "the rank that is alone sends two thirds away";
  const auto cut = placed(moving("reduce_scatter", "[0, 4, 8, 12, 16, 20, ...]", 64), {400e9, 8});
  EXPECT_EQ(cut.nodes, 32U);
  EXPECT_NEAR(*cut.network_bytes, 200'000 * 31.0 / 32 / 2, 1e-6);
  EXPECT_NEAR(*placed(moving("_allgather_base", "", 16), {400e9, 8}).network_bytes, 200'000 * 0.5 / 8, 1e-6);
}

TEST(Network, WhatNobodySaidIsUnknown) {
  const auto two = moving("allreduce", "[0, 8]", 2);
  const auto unrated = placed(two, {std::nullopt, 8});
  EXPECT_FALSE(unrated.link);
  EXPECT_THAT(unrated.link_unknown, HasSubstr("--network"));
  const auto unplaced = placed(two, {});
  EXPECT_EQ(unplaced.nodes, 0U);
  EXPECT_FALSE(unplaced.link);
  EXPECT_FALSE(unplaced.share_of_link);
  EXPECT_THAT(unplaced.link_unknown, HasSubstr("--gpus-per-node"));
  EXPECT_THAT(unplaced.name, EndsWith("nodes unknown")) << "or it shares a row, and a link, with one inside a node";
  const auto partner = placed(moving("send", "[0, 8]", 2), {50e9, 8});
  EXPECT_FALSE(partner.share_of_link) << "whether the partner is on another node is not known";
  auto listed = two;
  listed.timeline.listed_devices = 8;
  EXPECT_EQ(placed(listed, {50e9, std::nullopt}).link->kind, "network");
}

// "[0, 1, 2]", and as the file cuts it: "[0, 1, 2, ...]".
std::string listed(std::uint32_t count, bool cut = false, std::uint32_t first = 0, std::uint32_t stride = 1) {
  std::string out;
  for (std::uint32_t i = 0; i < count; ++i) out += (i == 0 ? "[" : ", ") + std::to_string(first + i * stride);
  return out + (cut ? ", ...]" : "]");
}

TEST(Network, AListCutInsideTheFirstNodeGoesOn) {
  const auto c = placed(moving("allreduce", listed(30, true), 144), {50e9, 72});
  EXPECT_EQ(c.nodes, 2U);
  EXPECT_TRUE(c.nodes_assumed);
  EXPECT_NEAR(*c.network_bytes, 200'000.0 / 72, 1e-6);
  EXPECT_THAT(c.name, HasSubstr("144 ranks on 2 nodes, assumed"));
  // From rank 70 on: two of the first node, 72 of the second, 70 of the third.
  const auto late = placed(moving("allreduce", listed(30, true, 70), 144), {50e9, 72});
  EXPECT_EQ(late.nodes, 3U);
  EXPECT_NEAR(*late.network_bytes, 200'000.0 / 2, 1e-6);
  // Every third rank on nodes of eight: three, three, two.
  const auto third = placed(moving("all_to_all", listed(30, true, 0, 3), 40), {50e9, 8});
  EXPECT_EQ(third.nodes, 15U);
  EXPECT_NEAR(*third.network_bytes, 200'000.0 * 38 / 40, 1e-6);
  // One GPU of each node, of more nodes than a file could list.
  const auto apart = placed(moving("allreduce", listed(30, true, 5, 8), 0xfffffffe), {50e9, 8});
  EXPECT_EQ(apart.nodes, 0xfffffffe);
}

TEST(Network, AListCutWithoutEqualStepsIsAssumedOnlyWhereItReachesASecondNode) {
  const auto one = placed(moving("allreduce", "[0, 1, 3, 4, ...]", 64), {50e9, 72});
  EXPECT_EQ(one.nodes, 0U);
  EXPECT_FALSE(one.network_bytes);
  EXPECT_FALSE(one.link);
  EXPECT_FALSE(one.link_unknown.empty());
  EXPECT_EQ(placed(moving("allreduce", "[7, ...]", 64), {50e9, 72}).nodes, 0U);
  EXPECT_EQ(placed(moving("allreduce", "[9, 8, 7, ...]", 64), {50e9, 72}).nodes, 0U);
  const auto pairs = placed(moving("allreduce", "[0, 1, 8, 9, 16, ...]", 64), {50e9, 8});
  EXPECT_EQ(pairs.nodes, 32U);
  EXPECT_TRUE(pairs.nodes_assumed);
  // A job of 128 ranks has no 64 of them in steps of four.
  auto small = moving("allreduce", "[0, 4, 8, 12, ...]", 64);
  small.timeline.world_size = 128;
  EXPECT_EQ(placed(small, {50e9, 72}).nodes, 0U);
}

TEST(Network, UnevenNodesNeedWhatTheSmallestNeeds) {
  // 8 + 8 + 8 + 1: the lone GPU takes in and gives one message, no more.
  EXPECT_NEAR(*placed(moving("allreduce", listed(25), 25), {50e9, 8}).network_bytes, 200'000, 1e-6);
  // 3 + 3 + 3 + 2: all together move 2 (N-1) messages, through 11 ports.
  EXPECT_NEAR(*placed(moving("allreduce", listed(11), 11), {50e9, 3}).network_bytes, 2 * 3 * 200'000.0 / 11, 1e-6);
  // 8 + 1: it takes in, or sends, the parts of the eight.
  EXPECT_NEAR(*placed(moving("_allgather_base", listed(9), 9), {50e9, 8}).network_bytes, 200'000 * 8.0 / 9, 1e-6);
  EXPECT_NEAR(*placed(moving("reduce_scatter", listed(9), 9), {50e9, 8}).network_bytes, 200'000 * 8.0 / 9, 1e-6);
  // 8 + 8 + 4
  EXPECT_NEAR(*placed(moving("_allgather_base", listed(20), 20), {50e9, 8}).network_bytes, 200'000 * 0.8 / 4, 1e-6);
  EXPECT_NEAR(*placed(moving("broadcast", listed(9), 9), {50e9, 8}).network_bytes, 200'000, 1e-6);
}

TEST(Network, WithoutAListThePlaceIsAssumedUnlessTheJobLeavesNoOther) {
  const auto place = [](std::uint32_t n, std::optional<int> world) {
    auto one = moving("allreduce", "", n);
    one.timeline.world_size = world;
    return placed(one, {50e9, 8});
  };
  EXPECT_TRUE(place(8, std::nullopt).nodes_assumed);
  EXPECT_EQ(place(8, std::nullopt).nodes, 1U);
  EXPECT_TRUE(place(16, std::nullopt).nodes_assumed);
  EXPECT_TRUE(place(16, 128).nodes_assumed);
  EXPECT_EQ(place(16, 128).nodes, 2U);
  EXPECT_TRUE(place(8, 128).nodes_assumed);
  EXPECT_TRUE(place(12, 12).nodes_assumed) << "8 + 4, or 6 + 6";
  EXPECT_TRUE(place(8, -1).nodes_assumed);
  EXPECT_FALSE(place(16, 16).nodes_assumed);
  EXPECT_FALSE(place(4, 8).nodes_assumed);
  EXPECT_FALSE(placed(moving("allreduce", listed(16), 16), {50e9, 8}).nodes_assumed);
}

TEST(Ranks, ElementsCountByTheWholeNameOfTheirType) {
  const auto bytes = [](const std::string& type) { return placed(moving("broadcast", "", 8, type), {}).bus_bytes; };
  const std::pair<const char*, int> sizes[] = {
      {"UInt8", 1},        {"Byte", 1},      {"Int8", 1},         {"Bool", 1},          {"Float8_e4m3fn", 1},
      {"UInt16", 2},       {"Short", 2},     {"BFloat16", 2},     {"Half", 2},          {"Int", 4},
      {"Float", 4},        {"UInt32", 4},    {"Long", 8},         {"UInt64", 8},        {"Double", 8},
      {"ComplexFloat", 8}, {"ncclUint8", 1}, {"ncclBfloat16", 2}, {"ComplexDouble", 16}};
  for (const auto& [type, size] : sizes) EXPECT_EQ(bytes(type), size * 100'000.0) << type;
  for (const auto* type : {"Float4", "Weird", "nccl", "", "Int7", "QUInt4x2"}) EXPECT_FALSE(bytes(type)) << type;
}

TEST(Network, AnUnknownTypeIsNotPutUnderTheLinkOfItsMachine) {
  const auto one = moving("allreduce", listed(16), 16, "Weird");
  const auto c = compare_ranks({&one, 1}, {50e9, 8});
  const auto& k = c.collectives.at(0);
  EXPECT_EQ(k.nodes, 2U);
  EXPECT_EQ(k.link->kind, "network");
  EXPECT_FALSE(k.share_of_link);
  EXPECT_TRUE(k.element_size_unknown);
  EXPECT_FALSE(placed(moving("allreduce", "", 64, "Weird"), {}).link) << "one node or several?";
  EXPECT_EQ(placed(moving("allreduce", listed(8), 8, "Weird"), {50e9, 8}).link->kind, "nvlink");
}

TEST(Network, TheJsonSaysWhatIsAssumed) {
  const auto one = moving("allreduce", "", 16);
  const auto assumed = timeline_json({&one, 1}, "", {std::nullopt, 8});
  EXPECT_THAT(assumed, HasSubstr("\"nodes_assumed\": true"));
  EXPECT_THAT(assumed, HasSubstr("\"gpus_per_node\": 8"));
  EXPECT_THAT(assumed, HasSubstr("\"link_unknown\": \"network (--network)\""));
  const auto unknown = timeline_json({&one, 1});
  EXPECT_THAT(unknown, HasSubstr("\"nodes_assumed\": null"));
  EXPECT_THAT(unknown, HasSubstr("\"gpus_per_node\": null"));
  const auto known = moving("allreduce", listed(8), 8);
  EXPECT_THAT(timeline_json({&known, 1}, "", {50e9, 8}), HasSubstr("\"link_unknown\": null"));
}

}  // namespace
}  // namespace roofline
