#include "profile/metric_names.h"

#include "roofline/metrics.h"

namespace roofline {

std::optional<MetricId> MetricNames::id(std::string_view name) {
  const auto& catalogue = MetricCatalogue::instance();
  if (const auto declared = catalogue.find(name)) return declared;
  if (!keep_all_) return std::nullopt;
  if (const auto it = index_.find(name); it != index_.end()) return it->second;
  const auto id = static_cast<MetricId>(catalogue.size() + names_.size());
  index_.emplace(names_.emplace_back(name), id);
  return id;
}

std::shared_ptr<const std::vector<std::string>> MetricNames::extra() const {
  if (names_.empty()) return nullptr;
  return std::make_shared<const std::vector<std::string>>(names_.begin(), names_.end());
}

}  // namespace roofline
