#include "counting/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "roofline/metrics.h"

namespace roofline::counting {
namespace {

constexpr double kAgreement = 0.01;   // passes of one report agree within this
constexpr double kTooSmall = 10'000;  // bytes or operations: below this a few stray ones are a large share
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<double>& scratch() {
  thread_local std::vector<double> values(MetricCatalogue::instance().size(), kNone);
  return values;
}

struct Sum {
  double value = 0;
  std::size_t mask = 0;  // of the terms that are there
  bool complete = true;
};

Sum add_up(const std::vector<Term>& terms, const MetricView& values, bool largest) {
  Sum sum;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto value = values.get(terms[i].id);
    if (!value) {
      sum.complete = false;
      continue;
    }
    const double part = *value * terms[i].weight;
    sum.value = largest && sum.mask != 0 ? std::max(sum.value, part) : largest ? part : sum.value + part;
    sum.mask |= std::size_t{1} << i;
  }
  return sum;
}

std::optional<std::size_t> first_present(const std::vector<MetricId>& ids, const MetricView& values) {
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (values.get(ids[i])) return i;
  return std::nullopt;
}

// The value by the recipe's formula; NaN when a metric, the clock or the time is missing.
double apply(const Recipe& recipe, const CountContext& context, double sum, std::optional<std::size_t> clock_index) {
  const double clock = clock_index ? *context.values.get(recipe.clocks[*clock_index]) : kNone;
  const double time = context.time.value_or(kNone);
  switch (recipe.formula) {
    case Formula::sum:
    case Formula::max:
      return sum;
    case Formula::rate:
      return sum * time;
    case Formula::cycle_rate:
      return sum * clock * time;
    case Formula::over_clock:
      return clock > 0 ? sum / clock : kNone;
    case Formula::ratio: {
      const auto below = add_up(recipe.over, context.values, false);
      return below.complete && below.value > 0 ? sum / below.value : kNone;
    }
  }
  return kNone;
}

}  // namespace

MetricView::MetricView(const MetricSet& metrics) : metrics_(metrics), dense_(scratch()) {
  metrics_.for_each([this](MetricId id, double value) {
    if (id < dense_.size()) dense_[id] = value;
  });
}

MetricView::~MetricView() {
  metrics_.for_each([this](MetricId id, double) {
    if (id < dense_.size()) dense_[id] = kNone;
  });
}

std::optional<double> MetricView::get(MetricId id) const {
  return id < dense_.size() && std::isfinite(dense_[id]) ? std::optional<double>(dense_[id]) : std::nullopt;
}

std::optional<double> MetricView::first(std::span<const MetricId> ids) const {
  for (const auto id : ids)
    if (const auto value = get(id)) return value;
  return std::nullopt;
}

Quantity evaluate(const Recipe& recipe, const CountContext& context) {
  if (!recipe.chips.holds(context.capability)) return {};
  const auto sum = add_up(recipe.terms, context.values, recipe.formula == Formula::max);
  const bool some = recipe.partial || recipe.formula == Formula::max;
  if (sum.mask == 0 || (!some && !sum.complete)) return {};
  const auto clock = first_present(recipe.clocks, context.values);
  const double value = apply(recipe, context, sum.value, clock);
  // A difference of counters from two passes may fall below zero when it is nothing.
  const double kept = std::isfinite(value) ? std::max(0.0, value) : value;
  if (some) return Quantity::of(kept, recipe.evidence, recipe.provenance[sum.mask], recipe.bound);
  for (std::size_t i = 0; i < recipe.exact_if_zero.size(); ++i)
    if (context.values.get(recipe.exact_if_zero[i]) == 0.0)
      return Quantity::of(kept, recipe.evidence, recipe.provenance[i + 1], Bound::exact);
  return Quantity::of(kept, recipe.evidence, recipe.provenance[clock.value_or(0)], recipe.bound);
}

Quantity first_of(const RecipeList& list, const CountContext& context, const Recipe** chosen) {
  for (const auto& recipe : list)
    if (auto value = evaluate(recipe, context)) {
      if (chosen != nullptr) *chosen = &recipe;
      return value;
    }
  return {};
}

void check_agreement(const std::string& what, const Quantity& value, const Recipe& chosen, const RecipeList& list,
                     const CountContext& context) {
  if (value.bound() != Bound::exact) return;
  Quantity farthest = value;
  for (const auto& recipe : list) {
    if (&recipe == &chosen || recipe.definition != chosen.definition) continue;
    const auto other = evaluate(recipe, context);
    if (!other || other.bound() != Bound::exact) continue;
    if (std::abs(other.value() - value.value()) > std::abs(farthest.value() - value.value())) farthest = other;
  }
  const double most = std::max(farthest.value(), value.value());
  if (most < kTooSmall || std::abs(farthest.value() - value.value()) <= kAgreement * most) return;
  context.warnings.push_back(
      {"passes-disagree", fmt::format("{}: {:.4g} by {}, but {:.4g} by {} ({:.1f} % apart): not from one pass", what,
                                      value.value(), value.recipe(), farthest.value(), farthest.recipe(),
                                      100 * std::abs(farthest.value() - value.value()) / most)});
}

}  // namespace roofline::counting
