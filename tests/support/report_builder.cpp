#include "support/report_builder.h"

#include <memory>
#include <stdexcept>

namespace roofline::testing {
namespace {

Quantity optional_counter(std::optional<double> value, const char* what) {
  return value ? counter(*value) : Quantity::absent(std::string(what) + " not collected");
}

Precision precision_of(const std::string& key) {
  const auto precision = parse_precision(key);
  if (!precision) throw std::invalid_argument("no such precision: " + key);
  return *precision;
}

}  // namespace

Quantity counter(double value, Bound bound) {
  static const auto provenance = std::make_shared<const Provenance>(Provenance{"test", {"test__metric.sum"}, {}});
  return Quantity::of(value, Evidence::counter, provenance, bound);
}

Work make_work(const WorkSpec& spec) {
  Work work;
  work.time = optional_counter(spec.time_s, "time");
  for (const auto& [key, operations] : spec.operations)
    work.operations.push_back({precision_of(key), counter(operations), std::nullopt});
  auto& dram = work.level(MemoryLevel::dram);
  dram.definition = "dram";
  dram.read = optional_counter(spec.dram_read, "DRAM reads");
  dram.write = optional_counter(spec.dram_write, "DRAM writes");
  if (spec.dram_read && spec.dram_write) dram.total = counter(*spec.dram_read + *spec.dram_write);
  if (spec.dram_fraction) dram.direct_fraction = counter(*spec.dram_fraction);
  auto& l2 = work.level(MemoryLevel::l2);
  l2.definition = "lts_t";
  if (spec.l2_bytes) l2.total = counter(*spec.l2_bytes);
  if (spec.uncounted_fraction) work.coverage.uncounted_fraction = counter(*spec.uncounted_fraction);
  work.coverage.uncounted = spec.uncounted;
  work.coverage.reason = spec.uncounted_reason;
  work.launches = spec.launches;
  return work;
}

Machine test_machine(CeilingKind kind) {
  Machine m;
  m.name = "Test GPU 100";
  m.vendor = "Test";
  m.chip = "T100";
  m.compute_capability = "9.0";
  m.sm_count = 100;
  Ceiling c;
  c.kind = kind;
  if (kind == CeilingKind::at_clock) {
    c.sm_clock_hz = 1.5e9;
    c.memory_clock_hz = 2.6e9;
  }
  c.peaks = {{precision_of("bf16.tensor"), 1000e12, "test"}, {precision_of("fp32.vector"), 50e12, "test"}};
  c.bandwidths = {{MemoryLevel::dram, "dram", 4e12, "test"}, {MemoryLevel::l2, "lts_t", 10e12, "test"}};
  m.ceilings.push_back(c);
  return m;
}

ReportBuilder::ReportBuilder(CeilingKind ceiling) : ceiling_(ceiling) {
  report.machines.push_back(test_machine(ceiling));
}

KernelRow& ReportBuilder::add(std::string name, const std::vector<WorkSpec>& launches) {
  const auto& machine = report.machines.front();
  std::vector<Work> works;
  std::vector<Placement> placements;
  for (const auto& spec : launches) {
    works.push_back(make_work(spec));
    placements.push_back(place(works.back(), machine.ceilings.front(), machine.pipe_groups, report.thresholds));
  }
  std::vector<PlacedWork> placed;
  for (std::size_t i = 0; i < works.size(); ++i) placed.push_back({&works[i], &placements[i]});

  KernelRow row;
  row.id = report.rows.size();
  row.machine = 0;
  row.full_name = "void " + name + "<float>(float*)";
  row.name = std::move(name);
  row.grid = {128, 1, 1};
  row.block = {256, 1, 1};
  for (std::size_t i = 0; i < launches.size(); ++i) row.launch_ids.push_back(100 * row.id + i);
  row.time_basis = ceiling_ == CeilingKind::at_clock ? TimeBasis::profiled_locked : TimeBasis::given;
  row.group = aggregate(placed, report.thresholds);
  report.rows.push_back(std::move(row));
  return report.rows.back();
}

ReportBuilder& ReportBuilder::input(std::string path, std::string format) {
  report.inputs.push_back({std::move(path), std::move(format), "test producer 1.0"});
  return *this;
}

ReportBuilder& ReportBuilder::warn(std::string code, std::string message) {
  report.warnings.push_back({std::move(code), std::move(message), std::nullopt});
  return *this;
}

Report ReportBuilder::build() {
  sum_up(report);
  return report;
}

Report decode_step() {
  ReportBuilder b(CeilingKind::at_clock);
  b.input("traces/decode.ncu-rep");
  const auto gemm = [](double flops, double bytes, double efficiency) {
    WorkSpec spec;
    spec.operations = {{"bf16.tensor", flops}};
    spec.dram_read = bytes * 0.98;
    spec.dram_write = bytes * 0.02;
    spec.l2_bytes = bytes * 1.1;
    spec.time_s = bytes / 4e12 / efficiency;
    return spec;
  };
  const auto vector = [](double flops, double bytes, double efficiency) {
    WorkSpec spec;
    if (flops > 0) spec.operations = {{"fp32.vector", flops}};
    if (flops == 0) spec.operations = {{"fp32.vector", 0}};
    spec.dram_read = bytes / 2;
    spec.dram_write = bytes / 2;
    spec.l2_bytes = bytes * 1.5;
    spec.time_s = bytes / 4e12 / efficiency;
    return spec;
  };
  b.add("qkv_proj_gemm", std::vector(32, gemm(1.61e9, 0.811e9, 0.97)));
  b.add("gate_up_proj_gemm", std::vector(32, gemm(7.5e9, 3.76e9, 0.96)));
  b.add("down_proj_gemm", std::vector(32, gemm(3.76e9, 1.88e9, 0.97)));
  b.add("flash_fwd_splitkv_kernel", {gemm(0.5e9, 0.5e9, 0.9), gemm(0.9e9, 0.9e9, 0.7), gemm(0.9e9, 0.9e9, 0.75)});
  auto& norm = b.add("fused_add_rms_norm_kernel", std::vector(64, vector(0.02e9, 1.6e9, 0.33)));
  norm.group.work.coverage.assumed_none = {"fp64.vector"};
  b.add("copy_kernel", vector(0, 0.9e9, 0.92));
  WorkSpec wgmma = gemm(0, 2.4e9, 0.55);
  wgmma.operations.clear();
  wgmma.uncounted = {"tensor"};
  wgmma.uncounted_reason = "wgmma instructions cannot be converted into FLOPs";
  b.add("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", wgmma);
  WorkSpec percent;
  percent.time_s = 300e-6;
  percent.dram_fraction = 0.41;
  percent.uncounted_fraction = 0.47;
  percent.uncounted = {"cuda-core", "tensor"};
  percent.uncounted_reason = "no operation counters";
  b.add("vectorized_elementwise_kernel", percent);
  WorkSpec resident = vector(0.1e9, 0.01e9, 0.05);
  resident.l2_bytes = 1e9;
  b.add("softmax_warp_forward", resident);
  WorkSpec bare;
  bare.time_s = 40e-6;
  bare.uncounted = percent.uncounted;
  bare.uncounted_reason = percent.uncounted_reason;
  auto& row = b.add("sampling_kernel", bare);
  row.missing = {{"flops", "no operation counters", "ncu --metrics a.sum,b.sum -o more ./app"},
                 {"dram", "no DRAM counters", "ncu --metrics a.sum,b.sum -o more ./app"}};
  b.report.failed_launches = 2;
  b.warn("clock-control", "clocks were locked to base").warn("clock-control", "clocks were locked to base");
  return b.build();
}

}  // namespace roofline::testing
