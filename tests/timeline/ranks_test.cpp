#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/timeline_ranks.h"
#include "timeline/timeline_builder.h"

namespace roofline {
namespace {

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
AnalyzedTimeline moving(const std::string& what, const std::string& ranks, std::uint32_t group_size) {
  auto one = rank_of(5'000, 5'000, "a", 0);
  auto& t = one.timeline;
  t.devices[0].name = "NVIDIA H100 80GB HBM3";
  t.names.insert(t.names.end(), {what, "BFloat16", ranks});
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
  const auto partner = placed(moving("send", "[0, 8]", 2), {50e9, 8});
  EXPECT_FALSE(partner.share_of_link) << "whether the partner is on another node is not known";
  auto listed = two;
  listed.timeline.listed_devices = 8;
  EXPECT_EQ(placed(listed, {50e9, std::nullopt}).link->kind, "network");
}

}  // namespace
}  // namespace roofline
