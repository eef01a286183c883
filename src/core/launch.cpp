#include "roofline/launch.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace roofline {
namespace {

// Sorts by id and keeps the last of equal ids: the one that agrees with the rates of the same result in real reports.
template <typename Pair>
std::size_t keep_last(std::vector<Pair>& items) {
  const auto by_id = [](const Pair& a, const Pair& b) { return a.first < b.first; };
  if (!std::is_sorted(items.begin(), items.end(), by_id)) std::stable_sort(items.begin(), items.end(), by_id);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i + 1 < items.size() && items[i + 1].first == items[i].first) continue;
    if (kept != i) items[kept] = std::move(items[i]);
    ++kept;
  }
  const auto dropped = items.size() - kept;
  items.resize(kept);
  return dropped;
}

template <typename Items>
auto find_id(const Items& items, MetricId id) {
  const auto it =
      std::lower_bound(items.begin(), items.end(), id, [](const auto& a, MetricId b) { return a.first < b; });
  return it != items.end() && it->first == id ? it : items.end();
}

constexpr std::array<std::string_view, 6> kTimeBasisNames = {"unknown",  "profiled-locked", "profiled",
                                                             "timeline", "given",           "model"};

}  // namespace

void MetricSet::set(MetricId id, double value) { values_.emplace_back(id, value); }

void MetricSet::set_text(MetricId id, std::string_view text) { own_texts().emplace_back(id, text); }

const std::vector<std::pair<MetricId, std::string>>& MetricSet::texts() const {
  static const std::vector<std::pair<MetricId, std::string>> none;
  return texts_ ? *texts_ : none;
}

std::vector<std::pair<MetricId, std::string>>& MetricSet::own_texts() {
  using Texts = std::vector<std::pair<MetricId, std::string>>;
  if (!texts_) texts_ = std::make_shared<Texts>();
  if (texts_.use_count() > 1) texts_ = std::make_shared<Texts>(*texts_);
  return *texts_;
}

void MetricSet::finish() {
  duplicates_ += static_cast<std::uint32_t>(keep_last(values_));
  if (texts_) duplicates_ += static_cast<std::uint32_t>(keep_last(own_texts()));
  // NaN means "not collected": after the duplicates, so that a late NaN hides an early number as the file says.
  std::erase_if(values_, [](const auto& v) { return std::isnan(v.second); });
  values_.shrink_to_fit();
}

std::optional<double> MetricSet::get(MetricId id) const {
  const auto it = find_id(values_, id);
  return it == values_.end() ? std::nullopt : std::optional<double>(it->second);
}

std::optional<std::string_view> MetricSet::text(MetricId id) const {
  const auto& all = texts();
  const auto it = find_id(all, id);
  return it == all.end() ? std::nullopt : std::optional<std::string_view>(it->second);
}

std::string_view StringPool::intern(std::string_view text) {
  if (const auto it = index_.find(text); it != index_.end()) return it->second;
  const std::string_view kept = storage_.emplace_back(text);
  index_.emplace(kept, kept);
  return kept;
}

std::string_view to_string(TimeBasis basis) { return kTimeBasisNames[static_cast<std::size_t>(basis)]; }

}  // namespace roofline
