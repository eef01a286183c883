// Reports made by hand: launches typed as work, placed and added up by the library itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "roofline/report.h"

namespace roofline::testing {

Quantity counter(double value, Bound bound = Bound::exact);

// Work of one launch. Absent members stay absent.
struct WorkSpec {
  std::optional<double> time_s;
  std::vector<std::pair<std::string, double>> operations;  // precision key, operations
  std::optional<double> dram_read, dram_write;             // bytes
  std::optional<double> l2_bytes;                          // definition lts_t
  std::optional<double> dram_fraction;                     // the profiler's percentage, 0..1
  std::optional<double> uncounted_fraction;                // at most this share of the time went to what is uncounted
  std::vector<std::string> uncounted;                      // parts of the FLOPs that were not counted
  std::string uncounted_reason;
  double launches = 1;
};
Work make_work(const WorkSpec& spec);

// A made-up GPU, "Test GPU 100": 1000 TF/s bf16.tensor, 50 TF/s fp32.vector, 4 TB/s DRAM, 10 TB/s L2, 100 SMs.
Machine test_machine(CeilingKind kind = CeilingKind::datasheet);

class ReportBuilder {
 public:
  explicit ReportBuilder(CeilingKind ceiling = CeilingKind::datasheet);

  // Adds one row of these launches and returns it for further changes; the reference holds until the next call.
  KernelRow& add(std::string name, const std::vector<WorkSpec>& launches);
  KernelRow& add(std::string name, const WorkSpec& launch) { return add(std::move(name), std::vector{launch}); }

  ReportBuilder& input(std::string path, std::string format = "ncu-rep");
  ReportBuilder& warn(std::string code, std::string message);

  // Shares, looks and the total.
  Report build();

  Report report;

 private:
  CeilingKind ceiling_;
};

// The Llama-like step of the documentation: GEMMs, attention, two outliers, one kernel without counters.
Report decode_step();

}  // namespace roofline::testing
