// Short hands for hand-made work and ceilings.
#pragma once

#include <string>

#include "roofline/machine.h"
#include "roofline/work.h"

namespace roofline::testing {

inline Quantity counted(double value, Bound bound = Bound::exact) {
  return Quantity::of(value, Evidence::counter, nullptr, bound);
}

inline Precision key(const char* text) { return *parse_precision(text); }

// Round figures, so that expected values can be checked by eye: 1 TFLOP/s and 1 TB/s at every level but L2 and L1.
inline Ceiling unit_ceiling(CeilingKind kind = CeilingKind::at_clock) {
  Ceiling c;
  c.kind = kind;
  c.sm_clock_hz = 1e9;
  c.peaks = {{key("fp32.vector"), 1e12, "test"},         {key("fp64.vector"), 0.5e12, "test"},
             {key("fp16.vector"), 2e12, "test"},         {key("bf16.tensor"), 10e12, "test"},
             {key("bf16.tensor.sparse"), 20e12, "test"}, {key("fp8.tensor"), 20e12, "test"},
             {key("fp4.tensor"), 40e12, "test"},         {key("int8.tensor"), 20e12, "test"}};
  c.bandwidths = {{MemoryLevel::dram, "dram", 1e12, "test"},
                  {MemoryLevel::l2, "lts_t", 4e12, "test"},
                  {MemoryLevel::l1, "lsu_writeback", 16e12, "test"},
                  {MemoryLevel::shared, "shared_wavefronts", 16e12, "test"}};
  c.links = {{"nvlink", 0.1e12, "test"}};
  return c;
}

// A kernel of `time_us` microseconds.
class WorkBuilder {
 public:
  explicit WorkBuilder(double time_us) { work_.time = counted(time_us * 1e-6); }

  WorkBuilder& flops(const char* precision, double flop, Bound bound = Bound::exact) {
    work_.operations.push_back({key(precision), counted(flop, bound), std::nullopt});
    return *this;
  }
  WorkBuilder& dram(double bytes) { return bytes_at(MemoryLevel::dram, bytes, "dram"); }
  WorkBuilder& bytes_at(MemoryLevel level, double bytes, const char* definition, Bound bound = Bound::exact) {
    work_.level(level).total = counted(bytes, bound);
    work_.level(level).definition = definition;
    return *this;
  }
  WorkBuilder& percent(MemoryLevel level, double fraction) {
    work_.level(level).direct_fraction = Quantity::of(fraction, Evidence::derived);
    return *this;
  }
  WorkBuilder& uncounted(const char* part) {
    work_.coverage.uncounted.emplace_back(part);
    work_.coverage.reason = std::string(part) + " operations not counted";
    return *this;
  }
  // At most this share of the time can be operations that were not counted.
  WorkBuilder& at_most(double fraction) {
    work_.coverage.uncounted_fraction = Quantity::of(fraction, Evidence::derived, nullptr, Bound::upper);
    return *this;
  }
  WorkBuilder& busiest(const char* unit, UnitClass kind, double value) {
    work_.activity.busiest_unit = unit;
    work_.activity.busiest_class = kind;
    return busy(&Activity::sm_throughput, value);
  }
  WorkBuilder& busy(Quantity Activity::*member, double value) {
    work_.activity.*member = Quantity::of(value, Evidence::derived);
    return *this;
  }
  WorkBuilder& link(const char* kind, double bytes) {
    work_.link.kind = kind;
    work_.link.bus_bytes = counted(bytes);
    return *this;
  }
  WorkBuilder& launches(double n) {
    work_.launches = n;
    return *this;
  }
  const Work& get() const { return work_; }
  operator const Work&() const { return work_; }  // NOLINT(google-explicit-constructor)

 private:
  Work work_;
};

}  // namespace roofline::testing
