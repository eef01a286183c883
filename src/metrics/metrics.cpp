#include "roofline/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <unordered_map>

#include "data/metrics.csv.h"
#include "roofline/launch.h"

namespace roofline {
namespace {

constexpr std::string_view kPassesTitle = "passes:";
enum Column : std::size_t { kName, kUnit, kAliases, kPasses, kDescription, kColumns };
using Row = std::array<std::string, kColumns>;

// Splits off the text before `separator` and moves behind it.
std::string_view take(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const auto part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return part;
}

// One field of a CSV line: quotes are needed only where a text holds a comma.
std::string take_field(std::string_view& line) {
  if (!line.starts_with('"')) return std::string(take(line, ','));
  std::string field;
  std::size_t i = 1;
  for (; i < line.size(); ++i) {
    if (line[i] == '"' && (++i == line.size() || line[i] != '"')) break;
    field += line[i];
  }
  line = i < line.size() ? line.substr(i + 1) : std::string_view{};
  return field;
}

Row split_row(std::string_view line) {
  Row row;
  for (auto& field : row) field = take_field(line);
  return row;
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) parts.emplace_back(take(text, separator));
  return parts;
}

}  // namespace

struct MetricCatalogue::Impl {
  std::unordered_map<std::string_view, MetricId> index;  // views of the names and aliases in infos_
  std::vector<std::string> passes;                       // per metric, one word per chip; empty: not in the library
  std::vector<std::string> chips;

  // The word of `chip` in the row of `id`; empty when there is none.
  std::string_view cell(MetricId id, std::string_view chip) const {
    const auto it = std::find(chips.begin(), chips.end(), chip);
    if (it == chips.end() || id >= passes.size()) return {};
    std::string_view words = passes[id];
    for (auto skip = it - chips.begin(); skip > 0; --skip) take(words, ' ');
    return take(words, ' ');
  }
};

MetricCatalogue::MetricCatalogue() {
  auto impl = std::make_shared<Impl>();
  std::string_view text = data::metrics_csv();
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  infos_.reserve(lines);
  impl->passes.reserve(lines);
  const auto header = split_row(take(text, '\n'));
  impl->chips = split_list(std::string_view(header[kPasses]).substr(kPassesTitle.size()), ' ');
  while (!text.empty()) {
    auto row = split_row(take(text, '\n'));
    auto aliases = split_list(row[kAliases], ';');
    impl->passes.push_back(std::move(row[kPasses]));
    infos_.push_back({std::move(row[kName]), std::move(row[kUnit]), std::move(aliases), std::move(row[kDescription])});
  }
  impl->index.reserve(2 * infos_.size());
  const auto add = [&](std::string_view name, std::size_t id) {
    if (!impl->index.emplace(name, static_cast<MetricId>(id)).second)
      throw std::logic_error(fmt::format("metrics.csv: \"{}\" stands twice", name));
  };
  for (std::size_t id = 0; id < infos_.size(); ++id) {
    add(infos_[id].name, id);
    for (const auto& alias : infos_[id].aliases) add(alias, id);
  }
  impl_ = std::move(impl);
}

const MetricCatalogue& MetricCatalogue::instance() {
  static const MetricCatalogue catalogue;
  return catalogue;
}

std::optional<MetricId> MetricCatalogue::find(std::string_view name_or_alias) const {
  const auto it = impl_->index.find(name_or_alias);
  return it == impl_->index.end() ? std::nullopt : std::optional<MetricId>(it->second);
}

MetricId MetricCatalogue::require(std::string_view name) const {
  if (const auto id = find(name)) return *id;
  throw std::logic_error(fmt::format("metric \"{}\" is not declared in metrics.csv", name));
}

std::optional<int> MetricCatalogue::passes(MetricId id, std::string_view chip) const {
  const auto word = impl_->cell(id, chip);
  int count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  return error == std::errc{} && !word.empty() ? std::optional<int>(count) : std::nullopt;
}

bool MetricCatalogue::exists(MetricId id, std::string_view chip) const {
  const auto word = impl_->cell(id, chip);
  return !word.empty() && word != "-";
}

std::span<const std::string> MetricCatalogue::chips() const { return impl_->chips; }

std::string_view Profile::metric_name(MetricId id) const {
  const auto& catalogue = MetricCatalogue::instance();
  if (id < catalogue.size()) return catalogue.info(id).name;
  const auto index = id - catalogue.size();
  return extra_metrics && index < extra_metrics->size() ? std::string_view((*extra_metrics)[index]) : "";
}

}  // namespace roofline
