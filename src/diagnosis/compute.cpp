// Is the arithmetic of the right kind, and on the right unit?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "diagnosis/case.h"

namespace roofline::diagnosis {
namespace {

using Names = std::string_view;

// Time at the peak of one kind of operations / time of the kernel. Absent without a peak.
std::optional<double> fraction_of(const Case& c, std::string_view precision) {
  const auto* use = c.placement().resource(precision);
  return use == nullptr ? std::nullopt : std::optional<double>(use->fraction);
}

double operations(const Work& work, NumberType type, Path path) {
  double sum = 0;
  for (const auto& op : work.operations)
    if (op.precision.type == type && op.precision.path == path) sum += op.operations.value_or(0);
  return sum;
}

bool any_tensor_operations(const Work& work) {
  return std::any_of(work.operations.begin(), work.operations.end(), [](const OperationCount& op) {
    return op.precision.path == Path::tensor && op.operations.value_or(0) > 0;
  });
}

// ---------------------------------------------------------------- divergence

constexpr std::array<Names, 3> kDivergenceMetrics = {"smsp__thread_inst_executed_per_inst_executed.ratio",
                                                     "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
                                                     "sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed"};

bool divergence(const Case& c, Hit& hit) {
  constexpr double kWarp = 32;
  const auto lanes = c[1] ? c[1] : c[0];
  if (!lanes || *lanes <= 0 || *lanes >= c.threshold()) return false;
  const double busy = c[2] ? std::min(1.0, *c[2] / 100) : c.facts().busiest.value_or(0);
  hit.share = (1 - *lanes / kWarp) * busy;
  hit.why = fmt::format("{:.1f} of the 32 threads of a warp do something in an average instruction", *lanes);
  if (c.has({0, 1}) && *c[0] >= c.threshold())
    hit.why += fmt::format(" ({:.1f} are there, the rest is switched off by predicates)", *c[0]);
  return true;
}

// ---------------------------------------------------------------- multiply-add

// [add, mul, fma] of FP32, then of FP64; behind them the same per cycle, as charts collect them.
constexpr std::array<Names, 12> kFmaMetrics = {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
                                               "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
                                               "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                                               "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
                                               "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
                                               "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
                                               "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed",
                                               "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed",
                                               "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed",
                                               "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum.per_cycle_elapsed",
                                               "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum.per_cycle_elapsed",
                                               "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum.per_cycle_elapsed"};
constexpr std::size_t kDouble = 3;  // index of the first FP64 metric

struct FmaMix {
  double add = 0, mul = 0, fma = 0;  // instructions, or instructions per cycle
  double all() const { return add + mul + fma; }
};

std::optional<FmaMix> fma_mix(const Case& c, std::size_t first) {
  constexpr std::size_t kPerCycle = 6;
  for (const auto i : {first, first + kPerCycle})
    if (c.has({i, i + 1, i + 2})) return FmaMix{*c[i], *c[i + 1], *c[i + 2]};
  return std::nullopt;
}

// Only an addition with a multiplication can become one instruction; a sum alone has nothing to fuse.
double fusable(const Case& c, std::size_t first) {
  const auto mix = fma_mix(c, first);
  return mix && mix->all() > 0 ? std::min(mix->add, mix->mul) / mix->all() : 0;
}

bool unfused(const Case& c, Hit& hit) {
  constexpr double kNotNegligible = 0.05;
  const bool is_double = fusable(c, kDouble) * fraction_of(c, "fp64.vector").value_or(0) >
                         fusable(c, 0) * fraction_of(c, "fp32.vector").value_or(0);
  const double pairs = fusable(c, is_double ? kDouble : 0);
  const auto fraction = fraction_of(c, is_double ? "fp64.vector" : "fp32.vector");
  if (pairs <= c.threshold() || fraction.value_or(0) < kNotNegligible) return false;
  hit.share = std::min(1.0, pairs * *fraction);
  hit.why =
      fmt::format("{:.0f} % of the {} instructions are additions and multiplications that could be one instruction",
                  200 * pairs, is_double ? "FP64" : "FP32");
  return true;
}

// ---------------------------------------------------------------- FP64

constexpr std::array<Names, 2> kDoubleMetrics = {"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
                                                 "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"};

bool fp64_in_fp32(const Case& c, Hit& hit) {
  constexpr double kSingleBusy = 0.60;
  if (operations(c.work(), NumberType::fp32, Path::vector) <= 0) return false;
  const auto single = fraction_of(c, "fp32.vector");
  auto twice = fraction_of(c, "fp64.vector");
  if (!twice && (c[0] || c[1])) twice = std::max(c.or_zero(0), c.or_zero(1)) / 100;
  if (!twice || *twice <= c.threshold() || single.value_or(0) >= kSingleBusy) return false;
  // Code that means FP64 uses FP32 for a few indices and conversions only.
  const double fp32 = operations(c.work(), NumberType::fp32, Path::vector);
  const double fp64 = operations(c.work(), NumberType::fp64, Path::vector);
  if (fp64 > fp32) return false;
  hit.share = std::max(0.0, *twice - std::max(c.dram_fraction(), single.value_or(0)));
  hit.why = fmt::format("FP64 units are {:.0f} % busy although {:.0f} % of the operations are FP32", 100 * *twice,
                        100 * fp32 / (fp32 + fp64));
  return true;
}

// ---------------------------------------------------------------- tensor cores

// From Volta on, but for the small Turing chips.
bool has_tensor_cores(const Case& c) {
  constexpr double kVolta = 7;
  return std::atof(c.device().compute_capability.c_str()) >= kVolta &&
         c.device().name.find("GTX 16") == std::string::npos;
}

bool tensor_unused(const Case& c, Hit& hit) {
  constexpr double kMostlyFma = 0.8;  // share of multiply-adds in code that multiplies matrices
  if (!has_tensor_cores(c) || any_tensor_operations(c.work()) || !c.work().coverage.complete()) return false;
  if (c.facts().tensor_or_tma || c.placement().regime != Regime::compute) return false;
  const auto single = fraction_of(c, "fp32.vector");
  if (!single || *single < c.threshold() || c.dram_fraction() > *single) return false;
  const auto mix = fma_mix(c, 0);
  if (!mix || mix->all() <= 0 || mix->fma / mix->all() < kMostlyFma) return false;
  hit.why = fmt::format(
      "FP32 units are {:.0f} % busy with multiply-adds ({:.0f} % of the FP32 instructions), tensor "
      "cores do nothing",
      100 * *single, 100 * mix->fma / mix->all());
  return true;
}

bool legacy_tensor_path(const Case& c, Hit& hit) {
  for (const auto& op : c.work().operations) {
    const auto key = to_string(op.precision);
    const auto* use = c.placement().resource(key);
    if (!op.path_peak || use == nullptr || use->peak <= 0 || *op.path_peak >= c.threshold() * use->peak) continue;
    const double at_cap = op.operations.value_or(0) / *op.path_peak;
    const auto time = c.time();
    if (!time || at_cap <= 0) continue;
    hit.why = fmt::format(
        "{} ran through instructions that reach {:.0f} % of the chip's peak; of what they can reach, "
        "{:.0f} % was used",
        key, 100 * *op.path_peak / use->peak, 100 * at_cap / (*time * c.facts().launches));
    hit.share = std::max(0.0, at_cap / (*time * c.facts().launches) - use->fraction);
    hit.extra = {{"peak of the instructions used", op.path_peak, "op/s"}, {"peak of the chip", use->peak, "op/s"}};
    return true;
  }
  return false;
}

// ---------------------------------------------------------------- pipes

constexpr std::array<Names, 2> kSpecialMetrics = {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
                                                  "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed"};

bool special_functions(const Case& c, Hit& hit) {
  const auto busy = c[1] ? c[1] : c[0];
  if (!busy || *busy < c.threshold()) return false;
  hit.share = std::max(0.0, std::min(1.0, *busy / 100) - std::max(c.compute_fraction(), c.dram_fraction()));
  hit.why = fmt::format("the special-function and conversion unit is {:.0f} % busy", *busy);
  return true;
}

constexpr std::array<Names, 3> kIntegerMetrics = {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
                                                  "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active",
                                                  "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed"};

bool wrong_pipe(const Case& c, Hit& hit) {
  const double busy = std::max({c.or_zero(0), c.or_zero(1), c.or_zero(2)});
  if (busy < c.threshold()) return false;
  const double useful = std::max(c.compute_fraction(), c.dram_fraction());
  if (useful >= busy / 100 || c.facts().tensor_or_tma) return false;
  hit.share = std::min(1.0, busy / 100) - useful;
  hit.why = fmt::format(
      "the integer and logic pipe is {:.0f} % busy, the counted floating-point work fills {:.0f} % of "
      "its roof",
      busy, 100 * c.compute_fraction());
  return true;
}

constexpr std::array<Rule, 7> kRules = {{
    {{"divergence", "cause", "Threads of a warp are idle", kDivergenceMetrics, "busiest unit", 24.0,
      "active threads per instruction < 24 of 32", "Nsight Compute rule ThreadDivergence",
      "Group equal work in a warp: sort or compact the items, move the condition out of the loop.",
      "Source page: lines with few active threads; compact the work before that line.", GainList::same_work},
     divergence,
     false},
    {{"unfused-multiply-add", "cause", "Additions and multiplications are not fused", kFmaMetrics,
      "FP32 and FP64 fractions", 0.10, "min(add, mul) / (add + mul + fma) > 0.1, at >= 5 % of the peak",
      "Nsight Compute rule FPInstructions; pairs ours",
      "Let the compiler fuse (no -fmad=false, no volatile, a * b + c in one expression).",
      "Compile with -fmad=true and compare the instruction counts and the result.", GainList::same_work},
     unfused,
     false},
    {{"fp64-in-fp32", "cause", "FP64 arithmetic in FP32 code", kDoubleMetrics, "FP32 and FP64 operations and fractions",
      0.15, "FP64 > 15 % of its peak, FP32 < 60 % of its own, fewer FP64 than FP32 operations",
      "Nsight Compute rule for the FP roofline; share ours",
      "Look for constants without an f, double-precision library calls and accidental promotions.",
      "Compile with warnings for double promotion; count the FP64 instructions again.", GainList::same_work},
     fp64_in_fp32,
     false},
    {{"tensor-cores-unused", "cause", "Tensor cores are unused", kFmaMetrics, "operations by precision, placement",
      0.20, "compute regime, FP32 >= 20 % of its peak, >= 80 % multiply-adds, no tensor operations", "ours",
      "Use tensor cores (TF32, BF16 or FP16 matrix operations) where the precision allows.",
      "Call the library's GEMM with TF32 or BF16 allowed and compare time and error.", GainList::none},
     tensor_unused,
     true},
    {{"legacy-tensor-path",
      "cause",
      "Older tensor instructions",
      {},
      "tensor operations and their own peak",
      0.95,
      "peak of the instructions used < 95 % of the chip's peak",
      "peaks of the counters themselves",
      "Use the chip's own matrix instructions (warp-group or tcgen05 operations) through a current library.",
      "Run the same shape with a current CUTLASS or cuBLAS kernel and compare.",
      GainList::same_work},
     legacy_tensor_path,
     true},
    {{"special-functions", "cause", "Special functions fill their unit", kSpecialMetrics, "FP and DRAM fractions", 60.0,
      "special-function pipe >= 60 % busy", "Nsight Compute rule HighPipeUtilization",
      "Use fewer or cheaper special functions and conversions: exp2 instead of exp, reuse results, polynomials on the "
      "FMA pipe.",
      "Replace the function by a constant and compare the time: that is the most it can cost.", GainList::same_work},
     special_functions,
     false},
    {{"wrong-pipe", "cause", "Integer work fills the pipes", kIntegerMetrics, "FP and DRAM fractions", 60.0,
      "integer and logic pipe >= 60 % busy and above the useful fraction", "Nsight Compute rule HighPipeUtilization",
      "Hoist index arithmetic, use 32-bit indices, strength-reduce, unroll; let conversions and masks go.",
      "Count the integer instructions per useful operation before and after hoisting.", GainList::same_work},
     wrong_pipe,
     false},
}};

}  // namespace

std::span<const Rule> compute_rules() { return kRules; }

}  // namespace roofline::diagnosis
