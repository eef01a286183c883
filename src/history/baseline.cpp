// Which records a gate compares with.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "history/noise.h"
#include "roofline/error.h"
#include "roofline/history.h"

namespace roofline::history {
namespace {

constexpr std::string_view kLatest = "latest";
constexpr std::string_view kLabel = "label:";
constexpr std::size_t kMostRepeats = 20;
constexpr std::size_t kNoiseRecords = 40;

bool is_number_list(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789,@") == std::string_view::npos;
}

std::string machine_of(const StepRecord& step) {
  std::string out;
  for (const auto& machine : step.machines) out += (out.empty() ? "" : ", ") + machine;
  return out;
}

std::vector<RecordInfo> latest(const Store& store, std::string_view what, Filter filter) {
  auto rest = what.substr(kLatest.size());
  if (rest.empty()) {
    filter.newest = 1;
    auto records = store.list(filter);
    if (records.empty() || records.front().labels.empty()) return records;
    // Repeats of one commit bear the same labels.
    filter.labels = records.front().labels;
    filter.newest = kMostRepeats;
    const auto same = store.list(filter);
    records.clear();
    std::copy_if(same.begin(), same.end(), std::back_inserter(records),
                 [&](const RecordInfo& r) { return r.labels == filter.labels; });
    return records;
  }
  rest.remove_prefix(1);
  constexpr std::size_t kMostDigits = 4;
  if (rest.empty() || rest.size() > kMostDigits || rest.find_first_not_of("0123456789") != std::string_view::npos ||
      std::stoul(std::string(rest)) == 0)
    throw UsageError(fmt::format("baseline '{}': expected latest:N with a number of records", what));
  filter.newest = std::stoul(std::string(rest));
  return store.list(filter);
}

std::vector<RecordInfo> by_id(const Store& store, std::string_view what) {
  std::vector<RecordInfo> records;
  while (!what.empty()) {
    const auto comma = std::min(what.find(','), what.size());
    records.push_back(store.find(what.substr(0, comma)));
    what.remove_prefix(std::min(comma + 1, what.size()));
  }
  return records;
}

std::string described(const std::vector<RecordInfo>& records) {
  if (records.empty()) return "nothing";
  auto out = fmt::format("record {}", records.front().id);
  if (records.size() > 1) out += fmt::format(" and {} more", records.size() - 1);
  std::string labels;
  for (const auto& [key, value] : records.front().labels) {
    const bool all = std::all_of(records.begin(), records.end(), [&, k = key, v = value](const RecordInfo& r) {
      const auto it = r.labels.find(k);
      return it != r.labels.end() && it->second == v;
    });
    if (all) labels += fmt::format("{}{}={}", labels.empty() ? " with " : " ", key, value);
  }
  return out + labels;
}

// Of the kernels that matter in `step`, which is one of the records, and of no others: a history is long.
std::optional<double> noise_of(const Store& store, Filter filter, const StepRecord& step) {
  const auto matter = kernels_that_matter(step);
  std::set<std::string> names;
  for (const auto& key : matter) names.insert(std::get<std::string>(key));
  filter.newest = kNoiseRecords;
  auto records = store.list(filter);
  std::reverse(records.begin(), records.end());  // oldest first, as neighbours in time
  auto steps = store.times(records, std::vector(names.begin(), names.end()));
  for (auto& one : steps)
    std::erase_if(one.kernels, [&](const KernelRecord& k) { return !matter.contains(noise_key(k)); });
  return estimate_noise(steps);
}

}  // namespace

bool names_records(std::string_view what) {
  return what == kLatest || what.starts_with("latest:") || what.starts_with(kLabel) || is_number_list(what);
}

Baseline find_baseline(const Store& store, std::string_view what, const StepRecord& candidate, const Labels& labels,
                       bool learn_noise) {
  Filter filter;
  filter.machine = machine_of(candidate);
  filter.labels = labels;
  std::vector<RecordInfo> records;
  if (what == kLatest || what.starts_with("latest:")) {
    records = latest(store, what, filter);
  } else if (what.starts_with(kLabel)) {
    auto labelled = filter;
    labelled.labels.insert(parse_label(what.substr(kLabel.size())));
    labelled.newest = kMostRepeats;
    records = store.list(labelled);
  } else if (is_number_list(what)) {
    records = by_id(store, what);
  } else {
    throw UsageError(fmt::format("baseline '{}': expected latest, latest:N, label:key=value, ids, or a file", what));
  }
  Baseline baseline;
  baseline.what = described(records);
  for (const auto& record : records) {
    baseline.side.repeats.push_back(store.step(record));
    baseline.records.push_back(record.id);
  }
  // It reads many records: only where the runs themselves cannot tell.
  if (learn_noise && records.size() == 1) baseline.noise = noise_of(store, filter, baseline.side.repeats.front());
  return baseline;
}

}  // namespace roofline::history
