#include "roofline/launch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

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

// Whether each value of `part` is in `all`; both sorted.
bool holds_all(const MetricSet::Values& all, const MetricSet::Values& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

// The values to share: those that launches before had in common, else those that are equal in this set and `like`.
std::shared_ptr<const MetricSet::Values> common_values(const MetricSet::Values& values,
                                                       const std::shared_ptr<const MetricSet::Values>& before,
                                                       const MetricSet& like) {
  if (before && holds_all(values, *before)) return before;
  constexpr std::size_t kWorthSharing = 8;
  MetricSet::Values common;
  const auto others = like.values();
  std::set_intersection(values.begin(), values.end(), others.begin(), others.end(), std::back_inserter(common));
  if (common.size() < kWorthSharing) return nullptr;
  return std::make_shared<const MetricSet::Values>(std::move(common));
}

constexpr std::array<std::string_view, 6> kTimeBasisNames = {"unknown",  "profiled-locked", "profiled",
                                                             "timeline", "given",           "model"};

}  // namespace

void MetricSet::set(MetricId id, double value) {
  if (ids_) unpack();
  values_.emplace_back(id, value);
}

void MetricSet::set_text(MetricId id, std::string_view text) { own_texts().emplace_back(id, text); }

const MetricSet::Texts& MetricSet::texts() const {
  static const Texts none;
  return texts_ ? *texts_ : none;
}

MetricSet::Texts& MetricSet::own_texts() {
  if (!texts_) texts_ = std::make_shared<Texts>();
  if (texts_.use_count() > 1) texts_ = std::make_shared<Texts>(*texts_);
  return *texts_;
}

void MetricSet::finish() {
  if (ids_) unpack();
  duplicates_ += static_cast<std::uint32_t>(keep_last(values_));
  if (texts_) duplicates_ += static_cast<std::uint32_t>(keep_last(own_texts()));
  // NaN means "not collected": after the duplicates, so that a late NaN hides an early number as the file says.
  std::erase_if(values_, [](const auto& v) { return std::isnan(v.second); });
  values_.shrink_to_fit();
}

void MetricSet::pack(const MetricSet& like) {
  if (ids_) unpack();
  constants_ = common_values(values_, like.constants_, like);
  auto ids = std::vector<MetricId>();
  ids.reserve(values_.size());
  packed_.reserve(values_.size() - (constants_ ? constants_->size() : 0));
  auto constant = constants_ ? constants_->begin() : Values::const_iterator();
  for (const auto& [id, value] : values_) {
    if (constants_ && constant != constants_->end() && constant->first == id) {
      ++constant;
      continue;
    }
    ids.push_back(id);
    packed_.push_back(value);
  }
  ids_ = like.ids_ && *like.ids_ == ids ? like.ids_ : std::make_shared<const std::vector<MetricId>>(std::move(ids));
  Values().swap(values_);  // gives the memory back
}

void MetricSet::unpack() {
  values_ = values();
  constants_.reset();
  ids_.reset();
  packed_.clear();
}

MetricSet::Values MetricSet::values() const {
  Values all;
  all.reserve(size());
  for_each([&](MetricId id, double value) { all.emplace_back(id, value); });
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

std::optional<double> MetricSet::get(MetricId id) const {
  if (const auto it = find_id(values_, id); it != values_.end()) return it->second;
  if (!ids_) return std::nullopt;
  if (constants_)
    if (const auto it = find_id(*constants_, id); it != constants_->end()) return it->second;
  const auto it = std::lower_bound(ids_->begin(), ids_->end(), id);
  if (it == ids_->end() || *it != id) return std::nullopt;
  return packed_[static_cast<std::size_t>(it - ids_->begin())];
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
