// From the names in a file to metric ids.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "roofline/metric_id.h"
#include "roofline/profile.h"

namespace roofline {

// Decides which metrics of one file are kept and under which id. Names and aliases that MetricCatalogue declares get
// the catalogue's id. All others are dropped, or, with ReadOptions::keep_all_metrics, get ids from
// MetricCatalogue::size() upwards in the order they turn up. One object per profile; not for several threads.
class MetricNames {
 public:
  explicit MetricNames(const ReadOptions& options) : keep_all_(options.keep_all_metrics) {}

  // nullopt: nobody declared it and undeclared ones are not wanted.
  std::optional<MetricId> id(std::string_view name);

  // Goes into Profile::extra_metrics once reading is done; null when there are none.
  std::shared_ptr<const std::vector<std::string>> extra() const;

 private:
  bool keep_all_;
  std::deque<std::string> names_;  // a deque: the index below holds views of its elements
  std::unordered_map<std::string_view, MetricId> index_;
};

}  // namespace roofline
