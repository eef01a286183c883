// What the first run found, and what the second may leave out because of it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "roofline/collect.h"
#include "roofline/metrics.h"

namespace roofline::collect {
namespace {

struct Leaf {
  std::string metric;
  MetricId id;
};

std::vector<Leaf> leaves_with_ids(const Target& target) {
  std::vector<Leaf> leaves;
  for (auto& metric : leaves_of(target, "all")) {
    const auto id = MetricCatalogue::instance().require(metric);
    leaves.push_back({std::move(metric), id});
  }
  return leaves;
}

// Per kernel the leaves that read 0 in every one of its launches.
using Zeros = std::map<std::string_view, std::set<MetricId>>;

Zeros zeros_of(const Profile& types, const std::vector<Leaf>& leaves) {
  Zeros zeros;
  std::map<std::string_view, std::set<MetricId>> others;
  for (const auto& launch : types.launches) {
    if (launch.failed) continue;
    for (const auto& leaf : leaves) {
      const auto value = launch.metrics.get(leaf.id);
      (value && *value == 0 ? zeros : others)[launch.name].insert(leaf.id);
    }
  }
  for (const auto& [name, ids] : others)
    if (const auto it = zeros.find(name); it != zeros.end())
      for (const auto id : ids) it->second.erase(id);
  return zeros;
}

}  // namespace

std::vector<std::string> leaves_found(const Target& target, const Profile& types) {
  std::vector<std::string> found;
  for (const auto& leaf : leaves_with_ids(target)) {
    const bool counts = std::any_of(types.launches.begin(), types.launches.end(),
                                    [&](const Launch& launch) { return launch.metrics.get(leaf.id).value_or(0) > 0; });
    if (counts) found.push_back(leaf.metric);
  }
  return found;
}

Profile with_types(Profile measured, const Profile& types, const Target& target, std::size_t& filled) {
  const auto leaves = leaves_with_ids(target);
  const auto zeros = zeros_of(types, leaves);
  filled = 0;
  for (auto& launch : measured.launches) {
    const auto it = zeros.find(launch.name);
    if (launch.failed || it == zeros.end()) continue;
    // A set being changed answers no questions: first what is absent, then the zeros.
    std::vector<MetricId> absent;
    for (const auto id : it->second)
      if (!launch.metrics.get(id)) absent.push_back(id);
    if (absent.empty()) continue;
    for (const auto id : absent) launch.metrics.set(id, 0);
    launch.metrics.finish();
    ++filled;
  }
  return measured;
}

}  // namespace roofline::collect
