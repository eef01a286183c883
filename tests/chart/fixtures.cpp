#include "chart/fixtures.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "support/report_builder.h"

namespace roofline::testing {
namespace {

Precision precision(const char* key) { return *parse_precision(key); }

Machine h100() {
  Machine m;
  m.id = "h100-sxm5-80";
  m.name = "NVIDIA H100 80GB HBM3";
  m.chip = "GH100";
  m.compute_capability = "9.0";
  m.sm_count = 132;
  Ceiling c;
  c.kind = CeilingKind::datasheet;
  c.sm_clock_hz = 1.98e9;
  c.peaks = {{precision("bf16.tensor"), 989.4e12, "test"}, {precision("fp32.vector"), 66.9e12, "test"}};
  c.bandwidths = {{MemoryLevel::dram, "dram", 3.352e12, "test"}};
  m.ceilings = {c};
  return m;
}

// The same chip in a profiled run: clocks below the datasheet's, cache ceilings known.
Machine h100_profiled() {
  auto m = h100();
  auto c = m.ceilings.front();
  c.kind = CeilingKind::at_clock;
  c.sm_clock_hz = 1.59e9;
  c.peaks = {{precision("bf16.tensor"), 860e12, "test"}, {precision("fp32.vector"), 53.7e12, "test"}};
  c.bandwidths = {{MemoryLevel::dram, "dram", 3.2e12, "test"},
                  {MemoryLevel::l2, "lts_t", 7.2e12, "test"},
                  {MemoryLevel::l1, "lsu_writeback", 26.9e12, "test"}};
  m.ceilings.push_back(c);
  return m;
}

WorkSpec spec_of(const char* key, double flops, double read, double write, double time_s, double launches = 1) {
  WorkSpec spec;
  spec.operations = {{key, flops}};
  spec.dram_read = read;
  spec.dram_write = write;
  spec.time_s = time_s;
  spec.launches = launches;
  return spec;
}

// A row of one piece of work, placed under the last ceiling of the first machine.
KernelRow& add_work(Report& report, const std::string& name, const Work& work) {
  const auto& machine = report.machines.front();
  const auto placement = place(work, machine.ceilings.back(), machine.pipe_groups, report.thresholds);
  const PlacedWork placed[] = {{&work, &placement}};
  KernelRow row;
  row.id = report.rows.size();
  row.machine = 0;
  row.name = name;
  row.full_name = "void " + name + "<float>(float*)";
  row.grid = {132, 1, 1};
  row.group = aggregate(placed, report.thresholds);
  report.rows.push_back(std::move(row));
  return report.rows.back();
}

Report finish(Report report) {
  ReportBuilder builder;
  builder.report = std::move(report);
  return builder.build();
}

Report start(Machine machine, std::string path) {
  Report report;
  report.machines.push_back(std::move(machine));
  report.inputs.push_back({std::move(path), "table", ""});
  return report;
}

// Numbers in [0, 1) that are the same on every machine (Knuth's MMIX constants).
class Numbers {
 public:
  double next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11U) / 9007199254740992.0;
  }
  double between(double low, double high) { return low * std::pow(high / low, next()); }

 private:
  std::uint64_t state_ = 20240229;
};

constexpr std::array<const char*, 10> kStems = {"sm90_xmma_gemm_bf16bf16_bf16f32",
                                                "vectorized_elementwise_kernel",
                                                "reduce_kernel",
                                                "flash_fwd_splitkv_kernel",
                                                "fused_add_rms_norm_kernel",
                                                "copy_kernel",
                                                "triton_poi_fused",
                                                "cutlass_gemm_unknown",
                                                "index_put_kernel",
                                                "softmax_warp_forward"};

WorkSpec crowd_member(std::size_t kind, Numbers& numbers) {
  const double bytes = numbers.between(1e6, 4e9);
  const double efficiency = numbers.between(0.08, 0.97);
  const double time = std::max(bytes / 3.2e12 / efficiency, 2.3e-6);
  switch (kind) {
    case 0: {
      const double intensity = numbers.between(20, 900);
      const double roof = std::max(bytes / 3.2e12, bytes * intensity / 860e12);
      return spec_of("bf16.tensor", bytes * intensity, 0.8 * bytes, 0.2 * bytes, std::max(roof / efficiency, 2.3e-6));
    }
    case 3:
      return spec_of("bf16.tensor", bytes * numbers.between(2, 60), bytes, 0.02 * bytes, time * 1.1);
    case 5:
      return spec_of("fp32.vector", 0, bytes / 2, bytes / 2, time);
    case 7: {
      auto spec = spec_of("fp32.vector", bytes * numbers.between(0.05, 0.3), bytes, 0.1 * bytes, time * 1.2);
      spec.uncounted = {"tensor"};
      return spec;
    }
    case 8: {
      WorkSpec spec;
      spec.time_s = time;
      spec.dram_fraction = efficiency;
      spec.uncounted = {"cuda-core", "tensor"};
      return spec;
    }
    default:
      return spec_of("fp32.vector", bytes * numbers.between(0.1, 2.5), 0.6 * bytes, 0.4 * bytes, time);
  }
}

}  // namespace

Report llama_step() {
  auto report = start(h100(), "llama3-8b-decode-h100.md");
  const auto add = [&](const char* name, const char* key, double n, double flops, double read, double write,
                       double us) {
    add_work(report, name, make_work(spec_of(key, flops, read, write, us * 1e-6, n)));
  };
  add("embedding", "fp32.vector", 1, 0, 0.2624e6, 0.2621e6, 2.41);
  add("rms_norm", "fp32.vector", 1, 0.5243e6, 0.2703e6, 0.2621e6, 2.41);
  add("add_rms_norm", "fp32.vector", 64, 41.94e6, 34.08e6, 33.55e6, 167.85);
  add("qkv_proj", "bf16.tensor", 32, 51.54e9, 1.6190e9, 12.58e6, 760.0);
  add("rope", "fp32.vector", 32, 15.73e6, 10.76e6, 10.49e6, 78.90);
  add("kv_cache_write", "fp32.vector", 32, 0, 4.202e6, 4.194e6, 73.76);
  add("attention", "bf16.tensor", 32, 34.36e9, 8.5988e9, 8.389e6, 3224.3);
  add("o_proj", "bf16.tensor", 32, 34.36e9, 1.0821e9, 8.389e6, 528.3);
  add("gate_up_proj", "bf16.tensor", 32, 240.52e9, 7.5246e9, 58.72e6, 3030.7);
  add("silu_and_mul", "fp32.vector", 32, 73.40e6, 58.72e6, 29.36e6, 105.63);
  add("down_proj", "bf16.tensor", 32, 120.26e9, 3.7875e9, 8.389e6, 1409.6);
  add("lm_head", "bf16.tensor", 1, 33.62e9, 1.0509e9, 8.208e6, 429.17);
  add("sampling", "fp32.vector", 2, 4.104e6, 24.63e6, 16.42e6, 20.82);
  return finish(std::move(report));
}

Report tiled_gemm() {
  auto report = start(h100_profiled(), "gemm.ncu-rep");
  auto work = make_work(spec_of("fp32.vector", 137.4e9, 0.9e9, 0.07e9, 5.1e-3));
  auto& l2 = work.level(MemoryLevel::l2);
  l2.total = counter(27.5e9, Bound::upper);
  l2.definition = "lts_t";
  auto& l1 = work.level(MemoryLevel::l1);
  l1.total = counter(104e9, Bound::exact);
  l1.definition = "lsu_writeback";
  add_work(report, "tiled_sgemm_128x64", work);
  return finish(std::move(report));
}

Report crowded_step(std::size_t n) {
  auto report = start(h100_profiled(), "step.ncu-rep");
  Numbers numbers;
  for (std::size_t i = 0; i < n; ++i) {
    const auto kind = static_cast<std::size_t>(numbers.next() * kStems.size());
    add_work(report, fmt::format("{}_{}", kStems[kind], i), make_work(crowd_member(kind, numbers)));
  }
  return finish(std::move(report));
}

Report batch_sweep() {
  auto report = start(h100(), "sweep.csv");
  const double weights = 2.0 * 4096 * 14336;
  for (const double batch : {1.0, 8.0, 64.0, 256.0, 1024.0}) {
    const double flops = batch * weights;
    const double bytes = weights + 2 * batch * (4096 + 14336);
    const double time = std::max(bytes / 3.352e12 / 0.85, flops / 989.4e12 / 0.7) + 2e-6;
    add_work(report, "up_proj",
             make_work(spec_of("bf16.tensor", flops, bytes - 2 * batch * 14336, 2 * batch * 14336, time)));
  }
  return finish(std::move(report));
}

std::vector<ChartStep> sweep_steps(const Report& sweep) {
  std::vector<ChartStep> steps;
  for (const int batch : {1, 8, 64, 256, 1024}) steps.push_back({&sweep, steps.size(), fmt::format("batch {}", batch)});
  return steps;
}

Report before_change() {
  auto report = start(h100(), "before.csv");
  add_work(report, "qkv_proj", make_work(spec_of("bf16.tensor", 51.5e9, 1.62e9, 0.01e9, 760e-6)));
  add_work(report, "attention", make_work(spec_of("bf16.tensor", 34.4e9, 8.6e9, 0.01e9, 4100e-6)));
  add_work(report, "gate_up_proj", make_work(spec_of("bf16.tensor", 240e9, 7.5e9, 0.06e9, 3030e-6)));
  add_work(report, "rms_norm", make_work(spec_of("fp32.vector", 42e6, 34e6, 33e6, 168e-6)));
  add_work(report, "silu", make_work(spec_of("fp32.vector", 73e6, 59e6, 29e6, 105e-6)));
  return finish(std::move(report));
}

Report after_change() {
  auto report = start(h100(), "after.csv");
  add_work(report, "qkv_proj", make_work(spec_of("bf16.tensor", 51.5e9, 0.81e9, 0.01e9, 390e-6)));
  add_work(report, "attention", make_work(spec_of("bf16.tensor", 34.4e9, 8.6e9, 0.01e9, 3000e-6)));
  add_work(report, "gate_up_silu", make_work(spec_of("bf16.tensor", 240e9, 3.7e9, 0.03e9, 1550e-6)));
  add_work(report, "rms_norm", make_work(spec_of("fp32.vector", 42e6, 34e6, 33e6, 60e-6)));
  return finish(std::move(report));
}

std::vector<ChartMatch> matches() { return {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, std::nullopt}}; }

}  // namespace roofline::testing
