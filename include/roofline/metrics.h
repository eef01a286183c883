// Every profiler metric we know, as data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/metric_id.h"

namespace roofline {

// One declared metric, by its full name with roll-up: "dram__bytes.sum.per_second".
struct MetricInfo {
  std::string name;
  std::string unit;                  // base unit as in report files: "ns", "byte", "inst", "%", "hz", "" ...
  std::vector<std::string> aliases;  // other spellings, and "Section Name|Metric Name" of the details page
  std::string description;
};

// The catalogue in data/metrics.csv, compiled in. Readers keep the metrics that stand here and skip all others;
// recipes and rules may only name metrics that stand here.
class MetricCatalogue {
 public:
  static const MetricCatalogue& instance();

  std::size_t size() const { return infos_.size(); }
  const MetricInfo& info(MetricId id) const { return infos_[id]; }
  std::optional<MetricId> find(std::string_view name_or_alias) const;
  // Throws std::logic_error for a name that is not declared: a fault in our own data.
  MetricId require(std::string_view name) const;

  // Passes that the metric alone needs on a chip ("GH100"); nullopt when the chip does not have it or the library
  // that counts passes does not know it (metrics that the profiler itself computes).
  std::optional<int> passes(MetricId id, std::string_view chip) const;
  // Whether the library that counts passes knows the metric on that chip; false for the profiler's own metrics.
  bool exists(MetricId id, std::string_view chip) const;
  std::span<const std::string> chips() const;

 private:
  MetricCatalogue();
  struct Impl;
  std::vector<MetricInfo> infos_;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace roofline
