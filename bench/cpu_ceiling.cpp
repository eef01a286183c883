// One figure of `roofline machine measure`, by itself: for comparing it with other tools, in turns.
// usage: cpu_ceiling PATTERN THREADS KIB [SECONDS] | cpu_ceiling PRECISION[-mix] THREADS
// where PRECISION is fp64.vector, fp32.vector, bf16.vector or int8.vector, and -mix allows additions beside
// multiply-adds. Prints GB/s or GFLOP/s: ceiling, median, lowest, highest, samples, and samples left out.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "measure/cpu.h"
#include "measure/meter.h"

namespace {

using namespace roofline;
using namespace roofline::measure;

std::vector<const KernelSet*> sets() {
  std::vector<const KernelSet*> out;
  for (const auto* const* set = kernel_sets(); *set != nullptr; ++set) out.push_back(*set);
  return out;
}

void print(const MeasuredValue& v) {
  constexpr double kGiga = 1e9;
  fmt::print("{:.2f} {:.2f} {:.2f} {:.2f} {} {}\n", v.value / kGiga, v.median / kGiga, v.low / kGiga, v.high / kGiga,
             v.samples, v.disturbed);
}

MeasuredValue best(const std::vector<MeasuredValue>& values) {
  MeasuredValue out;
  for (const auto& v : values)
    if (v.value > out.value) out = v;
  return out;
}

MeasuredValue measured(Meter& meter, const std::string& what, std::size_t bytes) {
  constexpr std::string_view kMix = "-mix";
  const bool mix = what.ends_with(kMix);
  const auto precision = mix ? what.substr(0, what.size() - kMix.size()) : what;
  std::vector<MeasuredValue> values;
  for (const auto* set : sets()) {
    if (const auto pattern = parse_access_pattern(what)) {
      if (auto v = meter.bandwidth(*set, *pattern, bytes, false)) values.push_back(*v);
    } else {
      for (std::size_t i = 0; i < set->compute_count; ++i)
        if (const auto& k = set->compute[i]; precision == k.precision && (mix || !k.mix))
          values.push_back(meter.compute(k, false));
    }
  }
  for (const auto* kernel : {bf16_kernel(), int8_kernel()})
    if (kernel != nullptr && precision == kernel->precision) values.push_back(meter.compute(*kernel, false));
  return best(values);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: cpu_ceiling PATTERN|PRECISION[-mix] THREADS [KIB [SECONDS]]\n");
    return 2;
  }
  constexpr std::size_t kKiB = 1024;
  const auto threads = std::strtoul(argv[2], nullptr, 10);
  const auto bytes = (argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 24) * kKiB;
  auto cpus = processors().one_per_core;
  if (threads < 1 || threads > cpus.size()) {
    fmt::print(stderr, "cpu_ceiling: {} threads on {} cores\n", threads, cpus.size());
    return 2;
  }
  cpus.resize(threads);
  StopRule rule;
  rule.seconds = rule.more_seconds = argc > 4 ? std::strtod(argv[4], nullptr) : rule.seconds;
  Meter meter(thread_bench(cpus, bytes + 64 * kKiB), rule);
  print(measured(meter, argv[1], bytes));
}
