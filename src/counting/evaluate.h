// Recipes applied to the metrics of one launch.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "counting/recipes.h"
#include "roofline/counting.h"
#include "roofline/launch.h"

namespace roofline::counting {

// The numbers of one launch with constant-time access. At most one per thread at a time.
class MetricView {
 public:
  explicit MetricView(const MetricSet& metrics);
  ~MetricView();
  MetricView(const MetricView&) = delete;
  MetricView& operator=(const MetricView&) = delete;

  std::optional<double> get(MetricId id) const;
  std::optional<double> first(std::span<const MetricId> ids) const;

 private:
  const MetricSet& metrics_;
  std::vector<double>& dense_;  // by id; NaN where the launch has no value
};

// What a recipe may look at.
struct CountContext {
  const Launch& launch;
  const MetricView& values;
  std::optional<int> capability;  // 10 x major + minor
  std::optional<double> time;     // seconds; set once it is known
  std::vector<CountingWarning>& warnings;
};

// Absent when the recipe does not hold for the chip or misses a metric.
Quantity evaluate(const Recipe& recipe, const CountContext& context);

// The first recipe that gives a value; `chosen` receives it.
Quantity first_of(const RecipeList& list, const CountContext& context, const Recipe** chosen = nullptr);

// Compares `value` with what the other exact recipes for the same thing give. Passes of one report that disagree by
// more than 1 % make one warning with the spread.
void check_agreement(const std::string& what, const Quantity& value, const Recipe& chosen, const RecipeList& list,
                     const CountContext& context);

// Tensor operations of the launch into `work`, and what is known of their completeness into work.coverage.
// Expects work.activity and the CUDA-core operations to be there.
void count_tensor(const CountContext& context, const DeviceInfo& device, Work& work);

// Whether the launch holds counters of AMD's profilers.
bool has_amd_counters(const MetricView& values);
// Time, operations, bytes and hit rate from them. Sets context.time.
void count_amd(CountContext& context, Work& work);

}  // namespace roofline::counting
