// One launch as a rule sees it, and what a rule says of it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roofline/diagnosis.h"

namespace roofline::diagnosis {

// More than any rule declares; a test checks it.
inline constexpr std::size_t kMostMetrics = 48;

// What a rule reports when it fires. Texts are made only then.
struct Hit {
  std::string why;
  std::optional<double> share;         // of the launch's time that the remedy could save, 0..1
  std::vector<FindingEvidence> extra;  // figures that are no profiler metric
  std::optional<std::size_t> only;     // show this metric alone as evidence; else every declared one that is present
  std::string_view action = {};        // instead of the rule's own, where the case decides it
};

// Facts that many rules ask for, worked out once per launch.
struct Facts {
  std::optional<double> busiest;        // largest of the throughput fractions, 0..1
  std::optional<double> issue;          // issue slots used per active cycle, 0..1
  std::optional<double> l1_hits;        // 0..1
  std::optional<double> l2_hits;        // 0..1
  std::optional<double> blocks_per_sm;  // the smallest occupancy limit
  bool tensor_or_tma = false;           // matrix or bulk-copy units did work
  bool optimal = false;                 // nothing to gain from the same work
  double launches = 1;
};

class Case {
 public:
  Case(const DiagnosisInput& input, const Facts& facts) : input_(input), facts_(facts) {}

  // Value of the rule's i-th declared metric.
  std::optional<double> operator[](std::size_t i) const { return values_[i]; }
  double or_zero(std::size_t i) const { return values_[i].value_or(0); }
  bool has(std::initializer_list<std::size_t> indices) const {
    for (const auto i : indices)
      if (!values_[i]) return false;
    return true;
  }
  double threshold() const { return threshold_; }
  const Facts& facts() const { return facts_; }
  const Work& work() const { return input_.work; }
  const Placement& placement() const { return input_.placement; }
  const DeviceInfo& device() const { return input_.device; }
  const Launch& launch() const { return input_.launch; }
  const Thresholds& limits() const { return input_.thresholds; }
  // Of one launch, seconds; absent without time.
  std::optional<double> time() const;
  // Share of time that no unit covers: what hiding latency better can give back at most.
  double idle() const { return 1 - facts_.busiest.value_or(0); }
  // Few fat warps by design: matrix or bulk-copy work with one block per SM.
  bool warp_specialised() const { return facts_.tensor_or_tma && facts_.blocks_per_sm && *facts_.blocks_per_sm <= 1; }
  double compute_fraction() const;  // of the counted operations; 0 when none
  double dram_fraction() const;

  void load(std::span<const MetricId> ids, double threshold);

 private:
  const DiagnosisInput& input_;
  const Facts& facts_;
  std::array<std::optional<double>, kMostMetrics> values_ = {};
  std::size_t used_ = 0;
  double threshold_ = 0;
};

using Check = bool (*)(const Case&, Hit&);

struct Rule {
  RuleInfo info;
  Check check;
  bool when_optimal;  // also worth saying of a kernel that is done
};

// The registry, in the order of triage.
std::span<const Rule> rules();

// Parts of the registry, by subject.
std::span<const Rule> parallelism_rules();
std::span<const Rule> memory_rules();
std::span<const Rule> compute_rules();
std::span<const Rule> scheduler_rules();
std::span<const Rule> caveat_rules();

}  // namespace roofline::diagnosis
