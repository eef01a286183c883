#include "profile/ncu_csv_values.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "profile/ncu_display_names.h"
#include "profile/ncu_rep_device.h"
#include "roofline/metrics.h"

namespace roofline {
namespace {

constexpr std::string_view kByName = "Command line profiler metrics";  // the section of metrics asked for by name
constexpr std::string_view kForceLocale = "say how it writes numbers with --locale point or --locale comma";

std::string_view words(NumberLocale locale) {
  return locale == NumberLocale::comma ? "a decimal comma (1.234,5)" : "a decimal point (1,234.5)";
}

bool has_unit(Dimension dimension) { return dimension != Dimension::count && dimension != Dimension::percent; }

// Attributes are printed in their own unit without naming it.
bool is_attribute(std::string_view name) {
  return name.starts_with("device__attribute_") || name.starts_with("launch__");
}

// The unit that values of a metric have in report files; those nobody declared get the files' convention.
std::optional<Unit> stored_unit(MetricId id, const Unit& printed) {
  const auto& catalogue = MetricCatalogue::instance();
  if (id < catalogue.size()) return parse_unit(catalogue.info(id).unit);
  return Unit{printed.dimension, printed.dimension == Dimension::time ? -9 : 0, 1};
}

bool is_text_metric(MetricId id) {
  const auto& catalogue = MetricCatalogue::instance();
  return id < catalogue.size() && catalogue.info(id).unit == "text";
}

std::optional<double> plain_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Array metrics print their total and then each instance: "96 (32; 64)".
std::string_view without_instances(std::string_view text) {
  const auto open = text.find(" (");
  return open != std::string_view::npos && text.ends_with(')') ? text.substr(0, open) : text;
}

}  // namespace

NcuValues::NcuValues(const Input& input, std::string_view text, const ReadOptions& options, Profile& profile)
    : input_(input), text_(text), options_(options), profile_(profile), names_(options), lines_(text) {}

void NcuValues::use_locale(const LocaleEvidence& evidence) {
  if (locale_is_forced()) {
    locale_ = options_.locale;
    return;
  }
  std::string clash;
  const auto verdict = evidence.verdict(&clash);
  if (!verdict) {
    refuse(input_, "ambiguous-locale",
           "numbers that could be read two ways, and their units contradict each other: " + clash, "",
           std::string(kForceLocale));
  }
  // A table without a telling number of its own is written like the one before it.
  if (verdict->guessed && firm_before_) {
    verdict_ = *firm_before_;
  } else {
    verdict_ = *verdict;
  }
  locale_ = verdict_.locale;
  if (!verdict_.guessed && !verdict_.evidence.empty()) firm_before_ = verdict_;
  if (verdict_.guessed) {
    warn("ambiguous-locale", fmt::format("no number tells how the file writes decimals; read with {} because of {}; {}",
                                         words(locale_), verdict_.evidence, kForceLocale));
  } else if (locale_ == NumberLocale::comma) {
    warn("decimal-comma", fmt::format("numbers read with {} because of {}", words(locale_), verdict_.evidence));
  }
}

std::vector<CellTarget> NcuValues::targets_of(const Row& row, std::uint64_t line) {
  std::vector<CellTarget> targets;
  const bool full_name = row.label.find("__") != std::string_view::npos;
  if (full_name || (row.section && *row.section == kByName)) {
    add_target(targets, row.label, 1, row, line);
    return targets;
  }
  const auto named =
      metrics_of_display_row({row.section, row.item, row.label, parse_unit(row.unit), row.compute_capability});
  for (const NamedMetric& metric : named) add_target(targets, metric.name, metric.scale, row, line);
  if (!named.empty()) return targets;
  const std::string alias = row.section ? fmt::format("{}|{}", *row.section, row.label) : std::string(row.label);
  const bool declared = row.item.empty() && MetricCatalogue::instance().find(alias).has_value();
  if (declared || options_.keep_all_metrics) add_target(targets, alias, 1, row, line);
  return targets;
}

void NcuValues::add_target(std::vector<CellTarget>& targets, std::string_view name, double scale, const Row& row,
                           std::uint64_t line) {
  const auto id = names_.id(name);
  if (!id) return;
  CellTarget target;
  target.id = *id;
  target.is_text = is_text_metric(*id);
  target.is_fallback = scale != 1;
  if (target.is_text || set_conversion(target, name, scale, row, line)) targets.push_back(target);
}

bool NcuValues::set_conversion(CellTarget& target, std::string_view name, double scale, const Row& row,
                               std::uint64_t line) {
  const auto printed = parse_unit(row.unit);
  const auto stored = printed ? stored_unit(target.id, *printed) : std::nullopt;
  if (!stored) {
    warn_once(fmt::format("{} {}", name, row.unit), "unknown-unit",
              fmt::format("line {}: {} is in \"{}\", an unknown unit: left out", line, name, row.unit));
    return false;
  }
  target.may_be_negative = !has_unit(stored->dimension);
  target.multiply = scale;
  if (row.unit.empty() && has_unit(stored->dimension)) {
    target.lacks_unit = !is_attribute(name);
    return true;
  }
  const auto up = convert(1, *printed, *stored);
  if (!up) {
    warn_once(
        fmt::format("{} {}", name, row.unit), "unknown-unit",
        fmt::format("line {}: {} is in \"{}\", which does not convert to its unit: left out", line, name, row.unit));
    return false;
  }
  // Division by a power of ten is exact where multiplication by its inverse is not.
  if (*up >= 1) {
    target.multiply *= *up;
  } else {
    target.divide = *convert(1, *stored, *printed);
  }
  return true;
}

void NcuValues::store(Launch& launch, std::size_t index, const CellTarget& target, const CsvCell& cell) {
  const char first = cell.raw.empty() ? '\0' : cell.raw.front();
  if (!target.is_text && locale_ == NumberLocale::point && ((first >= '0' && first <= '9') || first == '-')) {
    if (const auto value = plain_number(cell.raw)) {
      store_number(launch, index, target, *value, cell.raw.data());
      return;
    }
  }
  store_other(launch, index, target, cell);
}

void NcuValues::store_other(Launch& launch, std::size_t index, const CellTarget& target, const CsvCell& cell) {
  std::string storage;
  const std::string_view text = trim(cell.value(storage));
  if (is_not_available(text)) return;
  if (!target.is_text) {
    for (const std::string_view candidate : {text, without_instances(text)}) {
      if (const auto value = parse_number(candidate, locale_)) {
        store_number(launch, index, target, *value, cell.raw.data());
        return;
      }
      const NumberShape shape = number_shape(candidate);
      if (shape != NumberShape::not_a_number) refuse_number(cell.raw, shape);
    }
  }
  launch.metrics.set_text(target.id, text);
}

void NcuValues::store_number(Launch& launch, std::size_t index, const CellTarget& target, double value,
                             const char* position) {
  if (target.lacks_unit || (value < 0 && !target.may_be_negative)) {
    profile_.extra_metrics = names_.extra();  // so that undeclared metrics have their names, too
    const auto name = profile_.metric_name(target.id);
    const std::string_view what = target.lacks_unit ? "has no unit" : "is negative";
    warn_once(fmt::format("{} {}", target.id, what), target.lacks_unit ? "missing-unit" : "negative-value",
              fmt::format("line {}: {} {}: left out", line_of(position), name, what));
    return;
  }
  value = value * target.multiply / target.divide;
  if (!std::isfinite(value)) return;
  if (target.is_fallback) {
    fallbacks_.push_back({index, target.id, value});
  } else {
    launch.metrics.set(target.id, value);
  }
}

void NcuValues::refuse_number(std::string_view cell, NumberShape shape) {
  const auto other = shape == NumberShape::comma ? NumberLocale::comma : NumberLocale::point;
  const std::string why = locale_is_forced()          ? "--locale says otherwise"
                          : verdict_.evidence.empty() ? "the other numbers have no decimals"
                                                      : "others do not, as " + verdict_.evidence;
  refuse_at_line(input_, line_of(cell.data()), "contradictory-locale",
                 fmt::format("\"{}\" has {}, but {}", cell, words(other), why), "one number format in the whole file",
                 locale_is_forced() ? "leave out --locale" : "export the report again, or split the file");
}

void NcuValues::finish() {
  for (Launch& launch : profile_.launches) launch.metrics.finish();
  for (const Fallback& fallback : fallbacks_) {
    MetricSet& metrics = profile_.launches[fallback.launch].metrics;
    if (metrics.get(fallback.id)) continue;
    metrics.set(fallback.id, fallback.value);
    metrics.finish();
  }
  profile_.extra_metrics = names_.extra();
  std::vector<bool> done(profile_.devices.size(), false);
  for (const Launch& launch : profile_.launches) {
    if (done[launch.device]) continue;
    done[launch.device] = true;
    ncu_rep::Facts facts;
    for (const auto& [id, value] : launch.metrics.values())
      facts.set(ncu_rep::fact_of(profile_.metric_name(id)), value);
    const std::uint32_t id = profile_.devices[launch.device].id;
    for (const auto& [text_id, text] : launch.metrics.texts()) {
      if (ncu_rep::fact_of(profile_.metric_name(text_id)) == ncu_rep::Fact::display_name) facts.set_name(text);
    }
    profile_.devices[launch.device] = facts.over(profile_.devices[launch.device]);
    profile_.devices[launch.device].id = id;
  }
}

void NcuValues::warn(std::string code, std::string message) {
  profile_.warnings.push_back({std::move(code), std::move(message), std::nullopt});
}

void NcuValues::warn_once(std::string key, std::string code, std::string message) {
  if (told_.insert(std::move(key)).second) warn(std::move(code), std::move(message));
}

std::uint64_t NcuValues::line_of(const char* position) {
  return lines_.line_at(static_cast<std::size_t>(position - text_.data()));
}

}  // namespace roofline
