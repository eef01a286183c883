// Every rule at its border, on launches made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "diagnosis/cases.h"
#include "model/allocation_count.h"

namespace roofline {
namespace {

using testing::CaseBuilder;
using testing::fast_copy;
using testing::find;
using testing::Metrics;
using testing::slow_copy;
using testing::slow_math;
using testing::WorkBuilder;

const std::string kLoads = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";
const std::string kLoadBytes = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio";
const std::string kStores = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio";
const std::string kTheoretical = "sm__maximum_warps_per_active_cycle_pct";

bool fires(CaseBuilder builder, const Metrics& metrics, std::string_view id) {
  return find(builder.metrics(metrics).findings(), id) != nullptr;
}

// ---------------------------------------------------------------- the registry

TEST(DiagnosisRules, AreComplete) {
  std::set<std::string_view> ids;
  for (const auto& rule : diagnosis_rules()) {
    SCOPED_TRACE(rule.id);
    EXPECT_TRUE(ids.insert(rule.id).second) << "twice";
    EXPECT_THAT(rule.kind, ::testing::AnyOf("cause", "advice", "pitfall"));
    for (const auto text : {rule.title, rule.condition, rule.source, rule.action, rule.next})
      EXPECT_FALSE(text.empty());
    EXPECT_TRUE(!rule.metrics.empty() || !rule.reads.empty());
    EXPECT_LE(rule.metrics.size(), 48u);
  }
  EXPECT_GE(ids.size(), 30u);
}

TEST(DiagnosisRules, ReadDeclaredMetricsOnly) {
  for (const auto& rule : diagnosis_rules())
    for (const auto name : rule.metrics) {
      const auto id = MetricCatalogue::instance().find(name);
      ASSERT_TRUE(id) << rule.id << ": " << name;
      EXPECT_EQ(MetricCatalogue::instance().info(*id).name, name) << "by its full name";
    }
}

TEST(DiagnosisRules, SayNothingWithoutMetrics) {
  Launch launch;
  launch.metrics.finish();
  std::vector<Finding> out;
  diagnose({launch, DeviceInfo{}, Work{}, Placement{}, Thresholds{}}, out);
  EXPECT_TRUE(out.empty());
  EXPECT_TRUE(slow_copy().findings().empty());
  EXPECT_TRUE(slow_math().findings().empty());
}

TEST(DiagnosisRules, CounterpartsAreOurs) {
  std::set<std::string_view> ids;
  for (const auto& rule : diagnosis_rules()) ids.insert(rule.id);
  for (const auto* nvidia : {"CPIStall", "TheoreticalOccupancy", "LaunchConfiguration", "SharedMemoryConflicts"}) {
    EXPECT_FALSE(counterparts(nvidia).empty()) << nvidia;
    for (const auto id : counterparts(nvidia)) EXPECT_TRUE(ids.count(id)) << id;
  }
  EXPECT_TRUE(counterparts("SomethingNew").empty());
}

// ---------------------------------------------------------------- borders

struct Border {
  const char* id;
  CaseBuilder (*base)();
  Metrics fires, silent;
};

TEST(DiagnosisRules, FireAtTheirBorder) {
  const std::string block = "launch__block_size", waves = "launch__waves_per_multiprocessor";
  const std::vector<Border> borders = {
      {"small-grid",
       slow_copy,
       {{"launch__grid_size", 99}, {"launch__sm_count", 100}},
       {{"launch__grid_size", 100}, {"launch__sm_count", 100}}},
      {"few-blocks",
       slow_copy,
       {{"launch__grid_size", 199}, {"launch__sm_count", 100}},
       {{"launch__grid_size", 200}, {"launch__sm_count", 100}}},
      {"few-blocks",
       slow_copy,
       {{"launch__grid_size", 101}, {"launch__sm_count", 100}},
       {{"launch__grid_size", 100}, {"launch__sm_count", 100}}},
      {"tail-wave", slow_copy, {{waves, 4.5}}, {{waves, 5.5}}},
      {"tail-wave", slow_copy, {{waves, 1.1}}, {{waves, 0.9}}},
      {"tail-wave", slow_copy, {{waves, 1.5}}, {{waves, 2.0}}},
      {"tail-wave", slow_copy, {{waves, 1.8}}, {{waves, 1.95}}},
      {"block-size", slow_copy, {{block, 33}}, {{block, 64}}},
      {"low-theoretical-occupancy", slow_copy, {{kTheoretical, 79.9}}, {{kTheoretical, 80}}},
      {"achieved-below-theoretical",
       slow_copy,
       {{kTheoretical, 100}, {"sm__warps_active.avg.pct_of_peak_sustained_active", 89}},
       {{kTheoretical, 100}, {"sm__warps_active.avg.pct_of_peak_sustained_active", 90}}},
      {"imbalance",
       slow_copy,
       {{"sm__cycles_active.avg", 95}, {"sm__cycles_active.max", 100}},
       {{"sm__cycles_active.avg", 96}, {"sm__cycles_active.max", 100}}},
      // 4-byte accesses: 4 sectors are ideal; with 32 sectors only 4 of 32 bytes are used.
      {"uncoalesced-global-loads", slow_copy, {{kLoads, 32}, {kLoadBytes, 4}}, {{kLoads, 4}, {kLoadBytes, 32}}},
      // 8- and 16-byte accesses need 8 and 16 sectors by right.
      {"uncoalesced-global-loads", slow_copy, {{kLoads, 10}, {kLoadBytes, 25}}, {{kLoads, 8}, {kLoadBytes, 32}}},
      {"uncoalesced-global-loads", slow_copy, {{kLoads, 20}}, {{kLoads, 16}}},
      // One sector for a whole warp is a broadcast, not a bad access.
      {"uncoalesced-global-loads", slow_copy, {{kLoads, 1.3}, {kLoadBytes, 4}}, {{kLoads, 1}, {kLoadBytes, 4}}},
      {"uncoalesced-global-stores", slow_copy, {{kStores, 20}}, {{kStores, 16}}},
      {"excessive-sectors",
       slow_copy,
       {{"memory_l2_theoretical_sectors_global", 100}, {"memory_l2_theoretical_sectors_global_ideal", 95}},
       {{"memory_l2_theoretical_sectors_global", 100}, {"memory_l2_theoretical_sectors_global_ideal", 96}}},
      {"partial-sectors", slow_copy, {{kLoadBytes, 25.5}}, {{kLoadBytes, 25.6}}},
      {"narrow-loads", slow_copy, {{kLoads, 4}, {kLoadBytes, 32}}, {{kLoads, 8}, {kLoadBytes, 32}}},
      {"local-memory",
       slow_copy,
       {{"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", 5}, {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 95}},
       {{"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", 4}, {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 96}}},
      {"shared-bank-conflicts-loads",
       slow_copy,
       {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 10},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 100}},
       {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 9},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 100}}},
      // Arbitration is no conflict: the source counters know.
      {"shared-bank-conflicts-stores",
       slow_copy,
       {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 50},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 100},
        {"memory_l1_wavefronts_shared", 100},
        {"memory_l1_wavefronts_shared_ideal", 50}},
       {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 50},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 100},
        {"memory_l1_wavefronts_shared", 100},
        {"memory_l1_wavefronts_shared_ideal", 100}}},
      {"l2-fabric",
       slow_copy,
       {{"lts__t_sectors_srcunit_ltcfabric.sum", 25}, {"lts__t_sectors.sum", 100}},
       {{"lts__t_sectors_srcunit_ltcfabric.sum", 24}, {"lts__t_sectors.sum", 100}}},
      {"host-memory",
       slow_copy,
       {{"lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum", 41},
        {"lts__t_sectors_srcunit_tex_lookup_miss.sum", 100}},
       {{"lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum", 40},
        {"lts__t_sectors_srcunit_tex_lookup_miss.sum", 100}}},
      {"divergence",
       slow_math,
       {{"smsp__thread_inst_executed_per_inst_executed.ratio", 23.9}},
       {{"smsp__thread_inst_executed_per_inst_executed.ratio", 24}}},
      {"unfused-multiply-add",
       slow_math,
       {{"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 12},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 12},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 76}},
       {{"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 100},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 0},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 0}}},
      {"tensor-cores-unused",
       slow_math,
       {{"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 20},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 0},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 80}},
       {{"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 21},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 0},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 79}}},
      {"special-functions",
       slow_math,
       {{"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", 60}},
       {{"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", 59.9}}},
      {"wrong-pipe",
       slow_math,
       {{"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", 60}},
       {{"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", 59.9}}},
      {"issue-slots",
       slow_math,
       {{"smsp__issue_active.avg.per_cycle_active", 0.59}},
       {{"smsp__issue_active.avg.per_cycle_active", 0.60}}},
      {"top-stall",
       slow_math,
       {{"smsp__issue_active.avg.per_cycle_active", 0.5},
        {"smsp__average_warp_latency_per_inst_issued.ratio", 100},
        {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 31}},
       {{"smsp__issue_active.avg.per_cycle_active", 0.5},
        {"smsp__average_warp_latency_per_inst_issued.ratio", 100},
        {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 30}}},
      {"tma-l1-bytes",
       slow_copy,
       {{"smsp__inst_executed_op_tma_ld.sum", 1}},
       {{"smsp__inst_executed_op_tma_ld.sum", 0}}},
  };
  for (const auto& b : borders) {
    SCOPED_TRACE(b.id);
    EXPECT_TRUE(fires(b.base(), b.fires, b.id));
    EXPECT_FALSE(fires(b.base(), b.silent, b.id));
  }
}

// What the work itself shows, without further metrics.
TEST(DiagnosisRules, OfTheWorkFireAtTheirBorder) {
  const auto has = [](CaseBuilder c, const char* id) { return find(c.findings(), id) != nullptr; };
  const auto lasting = [](double us) { return CaseBuilder(WorkBuilder(us).flops("fp32.vector", 1e3).dram(1e6)); };
  EXPECT_TRUE(has(lasting(4.99), "short-kernel"));
  EXPECT_FALSE(has(lasting(5.01), "short-kernel"));

  // 100 us at 30 % of DRAM; the data lives in L2 below a quarter of its bytes.
  const auto resident = [](double l2_bytes) {
    return CaseBuilder(
        WorkBuilder(100).flops("fp32.vector", 1e6).dram(30e6).bytes_at(MemoryLevel::l2, l2_bytes, "lts_t"));
  };
  EXPECT_TRUE(has(resident(121e6), "cache-resident"));
  EXPECT_FALSE(has(resident(119e6), "cache-resident"));

  CaseBuilder reads(WorkBuilder(100).flops("fp32.vector", 1e6));
  auto& dram = reads.work().level(MemoryLevel::dram);
  dram.read = testing::counted(30e6);
  dram.total = testing::counted(30e6, Bound::lower);
  EXPECT_TRUE(has(reads, "writes-unknown"));
  dram.write = testing::counted(1e6);
  dram.total = testing::counted(31e6);
  EXPECT_FALSE(has(reads, "writes-unknown"));
}

// L1 serves little more than DRAM in a kernel that computes; a copy may do so.
TEST(DiagnosisRules, NoReuse) {
  const Metrics once = {{"l1tex__t_bytes.sum", 35e6}, {"dram__bytes.sum", 30e6}};
  const Metrics again = {{"l1tex__t_bytes.sum", 37e6}, {"dram__bytes.sum", 30e6}};
  const auto middling = [] { return CaseBuilder(WorkBuilder(100).flops("fp32.vector", 20e6).dram(30e6)); };
  EXPECT_TRUE(fires(middling(), once, "no-reuse"));
  EXPECT_FALSE(fires(middling(), again, "no-reuse"));
  EXPECT_FALSE(fires(slow_copy(), once, "no-reuse"));
}

TEST(DiagnosisRules, Fp64InFp32Code) {
  const auto mixed = [](double fp32, double fp64) {
    return CaseBuilder(WorkBuilder(100).flops("fp32.vector", fp32).flops("fp64.vector", fp64).dram(1e6));
  };
  EXPECT_TRUE(find(mixed(20e6, 8e6).findings(), "fp64-in-fp32"));   // FP64 at 16 % of 0.5 TFLOP/s
  EXPECT_FALSE(find(mixed(20e6, 7e6).findings(), "fp64-in-fp32"));  // 14 %
  EXPECT_FALSE(find(mixed(61e6, 8e6).findings(), "fp64-in-fp32"));  // FP32 is busy itself
  EXPECT_FALSE(find(mixed(1e6, 20e6).findings(), "fp64-in-fp32"));  // code that means FP64
}

TEST(DiagnosisRules, LegacyTensorPath) {
  CaseBuilder c(WorkBuilder(100).flops("bf16.tensor", 500e6).dram(1e6));
  EXPECT_FALSE(find(c.findings(), "legacy-tensor-path"));
  c.work().operations.front().path_peak = 6e12;  // of 10
  const auto findings = c.findings();
  const auto* f = find(findings, "legacy-tensor-path");
  ASSERT_TRUE(f);
  // 500 MFLOP take 83.3 us at 6 TFLOP/s and 50 us at 10.
  EXPECT_NEAR(f->gain_s.value(), 33.3e-6, 0.1e-6);
}

// ---------------------------------------------------------------- exceptions

TEST(DiagnosisRules, WarpSpecialisedKernelsMayRunAtLowOccupancy) {
  const Metrics low = {{kTheoretical, 18.75}, {"launch__occupancy_limit_registers", 1}};
  CaseBuilder gemm(WorkBuilder(100).flops("bf16.tensor", 400e6).dram(1e6));
  EXPECT_FALSE(find(gemm.metrics(low).findings(), "low-theoretical-occupancy"));
  EXPECT_TRUE(fires(slow_math(), low, "low-theoretical-occupancy"));
  EXPECT_FALSE(
      fires(slow_copy().metrics({{"smsp__inst_executed_op_tma_ld.sum", 10}}), low, "low-theoretical-occupancy"));
}

TEST(DiagnosisRules, OccupancyDoesNotMatterWhereIssueSlotsAreFull) {
  EXPECT_FALSE(fires(slow_math(), {{kTheoretical, 25}, {"smsp__issue_active.avg.per_cycle_active", 0.8}},
                     "low-theoretical-occupancy"));
}

TEST(DiagnosisRules, NameTheLimiterOfOccupancy) {
  const auto findings = slow_math()
                            .metrics({{kTheoretical, 25},
                                      {"launch__occupancy_limit_registers", 3},
                                      {"launch__occupancy_limit_shared_mem", 2},
                                      {"launch__occupancy_limit_warps", 8},
                                      {"launch__occupancy_limit_blocks", 32}})
                            .findings();
  const auto* f = find(findings, "low-theoretical-occupancy");
  ASSERT_TRUE(f);
  EXPECT_THAT(f->why, ::testing::HasSubstr("shared memory allow 2 blocks"));
  EXPECT_THAT(f->action, ::testing::HasSubstr("shared memory"));
}

TEST(DiagnosisRules, DoneKernelsAreLeftAlone) {
  const auto findings = fast_copy()
                            .metrics({{kTheoretical, 20},
                                      {"smsp__issue_active.avg.per_cycle_active", 0.05},
                                      {"launch__waves_per_multiprocessor", 1.1}})
                            .findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().id, "fewer-bytes");
  EXPECT_EQ(findings.front().gain_list, "less-work");
}

TEST(DiagnosisRules, DoneKernelsThatWasteBytesAreNot) {
  EXPECT_TRUE(fires(fast_copy(), {{kLoads, 32}, {kLoadBytes, 4}}, "uncoalesced-global-loads"));
}

TEST(DiagnosisRules, NameTheTopStall) {
  const auto findings = slow_copy()
                            .metrics({{"smsp__issue_active.avg.per_cycle_active", 0.1},
                                      {"smsp__average_warp_latency_per_inst_issued.ratio", 20},
                                      {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 15},
                                      {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", 2}})
                            .findings();
  const auto* f = find(findings, "top-stall");
  ASSERT_TRUE(f);
  EXPECT_THAT(f->why, ::testing::HasSubstr("75 % "));
  EXPECT_THAT(f->why, ::testing::HasSubstr("long_scoreboard"));
  EXPECT_THAT(f->action, ::testing::HasSubstr("Coalesce"));
}

// ---------------------------------------------------------------- gains

TEST(DiagnosisGains, NeverExceedTimeMinusRoof) {
  // 99 of 100 SMs idle, but DRAM at 30 %: at most 70 us of 100.
  const auto findings = slow_copy().metrics({{"launch__grid_size", 1}, {"launch__sm_count", 100}}).findings();
  const auto* f = find(findings, "small-grid");
  ASSERT_TRUE(f);
  EXPECT_NEAR(f->gain_s.value(), 70e-6, 1e-9);
  EXPECT_EQ(f->gain_list, "same-work");
}

TEST(DiagnosisGains, NeverReachBelowTheLaunchFloor) {
  CaseBuilder c(WorkBuilder(3).flops("fp32.vector", 1e3).dram(0.03e6));
  const auto findings = c.metrics({{"launch__grid_size", 1}, {"launch__sm_count", 100}}).findings();
  EXPECT_NEAR(find(findings, "small-grid")->gain_s.value(), 0.8e-6, 1e-9);  // 3 - 2.2
}

TEST(DiagnosisGains, AreAbsentWhereTheRoofIsUnknown) {
  CaseBuilder c(WorkBuilder(100).dram(1e6).uncounted("tensor"));
  const auto findings = c.metrics({{"launch__grid_size", 1}, {"launch__sm_count", 100}}).findings();
  ASSERT_TRUE(find(findings, "small-grid"));
  EXPECT_FALSE(find(findings, "small-grid")->gain_s);
  EXPECT_TRUE(find(findings, "small-grid")->gain_list.empty());
}

TEST(DiagnosisGains, RankTheFindings) {
  const auto findings = slow_copy()
                            .metrics({{"launch__block_size", 48},
                                      {"launch__grid_size", 50},
                                      {"launch__sm_count", 100},
                                      {"smsp__issue_active.avg.per_cycle_active", 0.59}})
                            .findings();
  ASSERT_GE(findings.size(), 3u);
  EXPECT_EQ(findings[0].id, "small-grid");
  EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.gain_s.value_or(-1) > b.gain_s.value_or(-1);
  }));
}

TEST(DiagnosisGains, OfARowCoverAllItsLaunches) {
  auto c = slow_copy();
  c.metrics({{"launch__grid_size", 80}, {"launch__sm_count", 100}});
  c.launch.metrics.finish();
  const auto placement = c.placed();
  const std::vector<PlacedWork> launches = {{&c.work(), &placement}, {&c.work(), &placement}};
  const auto group = aggregate(launches, c.limits);
  std::vector<Finding> out;
  diagnose_row({c.launch, c.device, c.work(), placement, c.limits}, group, out);
  EXPECT_NEAR(find(out, "small-grid")->gain_s.value(), 2 * 20e-6, 1e-9);
}

// ---------------------------------------------------------------- launch-bound

TEST(LaunchBound, AddRmsNormAtDecodeSizes) {
  // Batch 32, hidden 4096, BF16: 1.05 MB are 0.31 us on 3.35 TB/s; no launch takes less than 2.2 us.
  Ceiling h100;
  h100.bandwidths = {{MemoryLevel::dram, "dram", 3.35e12, "datasheet"}};
  h100.peaks = {{*parse_precision("fp32.vector"), 66.9e12, "datasheet"}};
  const Work norm = WorkBuilder(3.2).flops("fp32.vector", 0.6e6).dram(1.05e6);
  const Thresholds limits;
  const auto placement = place(norm, h100, {}, limits);
  EXPECT_EQ(placement.position, Position::latency_bound);
  Launch launch;
  std::vector<Finding> out;
  diagnose({launch, DeviceInfo{}, norm, placement, limits}, out);
  const auto* f = find(out, "launch-bound");
  ASSERT_TRUE(f);
  EXPECT_THAT(f->action, ::testing::HasSubstr("Fuse"));
  EXPECT_THAT(f->why, ::testing::HasSubstr("1.05 MB take 0.31 µs"));
  EXPECT_THAT(f->why, ::testing::HasSubstr("0.31 µs < 3 x 2.20 µs"));
  EXPECT_EQ(f->gain_list, "less-work");
  EXPECT_NEAR(f->gain_s.value(), 3.2e-6 - 0.313e-6, 1e-8);
}

TEST(LaunchBound, FollowsItsThreshold) {
  CaseBuilder c(WorkBuilder(8).flops("fp32.vector", 1e3).dram(4e6));  // roof 4 us, 8 us in all
  EXPECT_TRUE(find(c.findings(), "launch-bound"));
  c.limits.launch_bound = 1;
  EXPECT_FALSE(find(c.findings(), "launch-bound"));
}

TEST(LaunchBound, Borders) {
  const auto at = [](double time_us, double bytes) {
    return find(CaseBuilder(WorkBuilder(time_us).flops("fp32.vector", 1).dram(bytes)).findings(), "launch-bound") !=
           nullptr;
  };
  EXPECT_TRUE(at(10, 6.5e6));   // 6.5 us of roof time < 6.6
  EXPECT_FALSE(at(10, 6.7e6));  // more work than three launches cost
  EXPECT_TRUE(at(21, 1e6));
  EXPECT_FALSE(at(23, 1e6));  // over ten floors long: the launch is not what takes the time
}

// ---------------------------------------------------------------- a decode step as published

// Operations, bytes and rates of a published decode step on an H100: seven kernels are done, two deserve a look.
TEST(DecodeStep, LooksAtTheTwoThatAreBelowTheRoof) {
  struct Kernel {
    const char* name;
    double flops, bytes, flops_per_s;
    bool look;
  };
  const std::vector<Kernel> kernels = {
      {"qkv_proj", 1.2e9, 0.61e9, 6.5e12, false},        {"o_proj", 1.1e9, 0.55e9, 6.4e12, false},
      {"gate_up", 7.5e9, 3.8e9, 6.4e12, false},          {"down", 3.8e9, 1.9e9, 6.5e12, false},
      {"paged_attention", 0.5e9, 0.55e9, 2.9e12, false}, {"add_rms_norm", 0.02e9, 0.016e9, 1.4e12, true},
      {"silu_and_mul", 0.03e9, 0.05e9, 2.0e12, false},   {"lm_head", 1.05e9, 0.53e9, 6.4e12, false},
      {"sampling", 0.01e9, 0.03e9, 0.6e12, true}};
  Ceiling h100;
  h100.bandwidths = {{MemoryLevel::dram, "dram", 3.35e12, "datasheet"}};
  h100.peaks = {{*parse_precision("bf16.tensor"), 990e12, "datasheet"}};
  const Thresholds limits;
  std::vector<PlacementGroup> groups;
  double total = 0;
  for (const auto& k : kernels) {
    const double time = k.flops / k.flops_per_s;
    const Work work = WorkBuilder(time * 1e6).flops("bf16.tensor", k.flops).dram(k.bytes);
    const auto placement = place(work, h100, {}, limits);
    const PlacedWork one{&work, &placement};
    groups.push_back(aggregate({&one, 1}, limits));
    total += time;
  }
  for (auto& group : groups) mark_look(group, total, limits);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    SCOPED_TRACE(kernels[i].name);
    EXPECT_EQ(groups[i].placement.look, kernels[i].look);
    EXPECT_EQ(is_optimal(groups[i].placement.position), !kernels[i].look);
  }
}

// ---------------------------------------------------------------- cost

TEST(DiagnosisCost, RulesThatStaySilentAllocateNothing) {
  auto c = slow_copy();
  for (const auto& rule : diagnosis_rules())
    for (const auto name : rule.metrics) c.launch.metrics.set(MetricCatalogue::instance().require(name), 0.0);
  c.metrics({{"smsp__issue_active.avg.per_cycle_active", 1}});
  c.launch.metrics.finish();
  const auto placement = c.placed();
  std::vector<Finding> out;
  const DiagnosisInput input{c.launch, c.device, c.work(), placement, c.limits};
  diagnose(input, out);
  ASSERT_TRUE(out.empty());
  const auto before = testing::allocation_count();
  for (int i = 0; i < 100; ++i) diagnose(input, out);
  const auto after = testing::allocation_count();
  if (testing::allocations_are_counted()) {
    EXPECT_EQ(after, before);
  }
}

}  // namespace
}  // namespace roofline
