// The regression gate: whether a fraction of the roof fell, and whether that can be known.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "compare/compare_sides.h"
#include "compare/match.h"
#include "compare/noise.h"
#include "compare/words.h"
#include "report/numbers.h"
#include "roofline/compare.h"
#include "roofline/error.h"

namespace roofline {
namespace comparing {
namespace {

constexpr double kSameBytes = 1.02;    // factor within which DRAM bytes say that the work is the same
constexpr double kSameWork = 1.05;     // factor of work per launch within which another shape is still the same work
constexpr double kNoiseShare = 0.005;  // of the time: smaller kernels tell nothing of the noise of larger ones
constexpr double kMissed = 0.10;       // chance with which a drop of twice the limit may pass unnoticed
constexpr double kExcused = 0.05;  // chance with which a fallen share may be excused by a time that only seems faster
constexpr double kFaster =
    0.0075;  // nominal, all kernels together: degrees of freedom are estimated, so that 1 % is kept
constexpr double kSameCalls = 0.01;    // of the logarithm: calls and launches tell the same change of time
constexpr double kWorthNaming = 0.01;  // of the candidate's time, from which a new kernel is named
constexpr std::size_t kMostNew = 5;    // new kernels that are named
// Of two runs the noise is too uncertain to accuse anybody: what others tell of it may not hold for this side.
constexpr std::size_t kLeastRuns = 3;

LogChange logs(const Change& change) {
  return {change.ratio ? std::log(*change.ratio) : 0, change.noise ? *change.noise * *change.noise : 0, change.freedom,
          change.scale, std::isfinite(change.freedom) ? 0 : change.freedom};
}

bool too_few_runs(const LogChange& c) { return c.own_freedom < static_cast<double>(kLeastRuns - 1); }

double standard_error(const LogChange& c) { return std::sqrt(c.variance * c.scale); }

// Chance that noise alone makes the value this low or lower.
double chance_below(const LogChange& c) {
  const double error = standard_error(c);
  if (c.freedom <= 0 || error <= 0) return 1;
  return student_above(-c.difference / error, c.freedom);
}

double chance_above(LogChange c) {
  c.difference = -c.difference;
  return chance_below(c);
}

const std::string& name_of(const GateFinding& f) { return f.before_name.empty() ? f.after_name : f.before_name; }

// What changed, unless the reasons say it.
std::vector<std::string> further_changes(const GateFinding& f) {
  std::vector<std::string> out;
  for (const auto& change : f.what_changed)
    if (std::none_of(f.reasons.begin(), f.reasons.end(),
                     [&](const std::string& reason) { return reason.find(change) != std::string::npos; }))
      out.push_back(change);
  return out;
}

// ---------------------------------------------------------------- one kernel

// A kernel of the baseline on its way to a verdict.
struct Case {
  const ComparedKernel* row = nullptr;
  GateFinding finding;
  LogChange fraction, time;
  LogChange total;  // time of all launches: of groups, since nobody knows for certain how often they were called
  LogChange own_time, own_total;         // by the runs of this kernel alone
  LogChange fraction_after, time_after;  // noise of the candidate alone
  double limit = 0;                      // relative drop that is let pass
  bool open = true;                      // no verdict yet
  KernelBudget budget;
};

// That noise alone looks like this change, corrected for the number of kernels.
struct Chances {
  double drop = 1, faster = 1, slower = 1;
};

void close(Case& c, GateVerdict verdict, std::string reason) {
  c.open = false;
  c.finding.verdict = verdict;
  c.finding.reasons.push_back(std::move(reason));
}

void inconclusive(Case& c, std::string reason) { close(c, GateVerdict::inconclusive, std::move(reason)); }

std::optional<double> per_call(const Change& total, const Change& launches, bool after) {
  const auto& t = after ? total.after : total.before;
  const auto& n = after ? launches.after : launches.before;
  if (!t || !n || *n <= 0) return std::nullopt;
  return *t / *n;
}

// Whether a call does the same work within a factor. Nothing where it was not counted.
std::optional<bool> same_amount(const Change& total, const Change& launches, double factor) {
  const auto a = per_call(total, launches, false), b = per_call(total, launches, true);
  if (!a || !b) return std::nullopt;
  if (*a <= 0 || *b <= 0) return *a == *b;
  return *a <= factor * *b && *b <= factor * *a;
}

// The same function with the same shape that moves the same bytes: what nobody counted is the same, too.
bool same_launch(const ComparedKernel& row) {
  return row.kind == MatchKind::matched && row.by == MatchedBy::identity &&
         same_amount(row.dram_bytes, row.launches, kSameBytes) == true;
}

bool another_shape(const ComparedKernel& row, const Comparison& c) {
  if (row.kind != MatchKind::matched) return false;
  const auto& a = c.before[row.before.front()];
  const auto& b = c.after[row.after.front()];
  if (a.grid == b.grid && a.block == b.block) return false;
  const auto flops = same_amount(row.flops, row.launches, kSameWork);
  const auto bytes = same_amount(row.dram_bytes, row.launches, kSameWork);
  return flops == false && bytes == false;
}

std::string why_unplaced(const std::vector<std::size_t>& group, std::span<const SideKernel> kernels) {
  for (const auto i : group)
    if (!kernels[i].mean.fraction && !kernels[i].mean.reason.empty()) return kernels[i].mean.reason;
  return "counters are missing";
}

// Why a kernel of the candidate may not be set against that of the baseline, nor against a limit.
std::string incomparable(const ComparedKernel& row, const Comparison& comparison) {
  if (!comparison.comparable)
    return fmt::format("{}", fmt::join(differences(comparison.side_before, comparison.side_after), "; "));
  return row.fraction_comparable ? "" : "another clock or kind of roof";
}

// What can be said before any statistics.
void judge_data(Case& c, const Comparison& comparison) {
  const auto& row = *c.row;
  if (row.after.empty()) return inconclusive(c, "not found in the candidate");
  if (auto why = incomparable(row, comparison); !why.empty()) return inconclusive(c, std::move(why));
  if (!row.fraction.before)
    return inconclusive(
        c, fmt::format("no share of the roof in the baseline: {}", why_unplaced(row.before, comparison.before)));
  if (!row.fraction.after)
    return inconclusive(
        c, fmt::format("no share of the roof in the candidate: {}", why_unplaced(row.after, comparison.after)));
  if (another_shape(row, comparison))
    return inconclusive(c, "another launch shape doing other work: not the same problem");
  const bool bounded = row.fraction_bound_before != Bound::exact || row.fraction_bound_after != Bound::exact;
  if (bounded && !same_launch(row))
    return inconclusive(c, "FLOPs are not counted: the share of the roof is a lower bound only");
  if (bounded) {
    // The roof time is unknown, but equal: the share changed as the inverse of the time.
    c.fraction = c.time;
    c.fraction.difference = -c.time.difference;
    c.fraction_after = c.time_after;
    c.finding.reasons.emplace_back(
        "FLOPs are not counted; same kernel, shape and bytes: the share changed as the time");
  }
  if (!row.fraction.ratio || !row.call_time_s.ratio)
    return inconclusive(c, "not in every repeat, or without a positive time");
}

std::string shares(const Case& c) {
  const auto& f = c.row->fraction;
  const auto change = std::exp(c.fraction.difference);
  const auto interval = interval_of(c.fraction);
  return fmt::format("share of the roof {} → {} ({}{})", numbers::percent(*f.before), numbers::percent(*f.after),
                     change_text(change), interval ? ", 95%: " + interval_text(*interval) : "");
}

std::string times(const Case& c) {
  const auto& t = c.row->call_time_s;
  return fmt::format("time per {} {} → {} ({})", c.row->kind == MatchKind::matched ? "launch" : "call",
                     seconds_text(*t.before), seconds_text(*t.after), change_text(std::exp(c.time.difference)));
}

bool fell(const Case& c) { return c.fraction.difference <= std::log1p(-c.limit); }

// A group must be faster, or slower, however its calls are counted.
bool is_group(const Case& c) { return c.row->kind != MatchKind::matched; }
double chance_faster(const Case& c) {
  return is_group(c) ? std::max(chance_below(c.time), chance_below(c.total)) : chance_below(c.time);
}
// That a kernel improved has to show in its own runs: what others tell of the noise may be far too little for it.
double chance_improved(const Case& c) {
  const double own =
      is_group(c) ? std::max(chance_below(c.own_time), chance_below(c.own_total)) : chance_below(c.own_time);
  return std::max(chance_faster(c), own);
}
double chance_slower(const Case& c) {
  return is_group(c) ? std::max(chance_above(c.time), chance_above(c.total)) : chance_above(c.time);
}
bool excused(const Case& c) { return chance_faster(c) <= kExcused; }

// Whether it depends on how calls are counted.
bool calls_decide(const Case& c) {
  return is_group(c) && std::abs(c.time.difference - c.total.difference) > kSameCalls &&
         std::min(chance_below(c.time), chance_below(c.total)) <= kExcused;
}

bool much_slower(const Case& c) {
  const double least = -std::log1p(-c.limit);
  return c.time.difference >= least && (!is_group(c) || c.total.difference >= least);
}

// What made a kernel slower that is as near to its roof as before.
std::string more_work(const Case& c) {
  std::vector<std::string> out;
  for (const auto& change : c.finding.what_changed)
    for (const std::string_view what : {"operations", "DRAM bytes", "FLOPs", "link bytes"})
      if (change.starts_with(what)) out.push_back(change);
  return out.empty() ? "its roof time grew" : fmt::format("{}", fmt::join(out, ", "));
}

// Whether a drop of twice the limit would too often stay below the limit.
bool too_noisy(const Case& c) {
  const double gap = std::log1p(-c.limit) - std::log1p(-std::min(2 * c.limit, (1 + c.limit) / 2));
  return student_quantile_above(kMissed, c.fraction.freedom) * standard_error(c.fraction) > gap;
}

void judge_change(Case& c, const Chances& chances, double false_alarms) {
  const double corrected = chances.drop;
  const auto noise = numbers::percent(std::sqrt(c.fraction.variance));
  if (fell(c)) {
    if (excused(c))
      return close(c, GateVerdict::improved, fmt::format("improved, headroom opened: {}; {}", times(c), shares(c)));
    if (calls_decide(c))
      return inconclusive(
          c, fmt::format("{}; {}, but of all launches {}: other kernels, launched another number of times, do not tell "
                         "whether the operator is faster",
                         shares(c), times(c), change_text(std::exp(c.total.difference))));
    c.finding.chance = corrected;
    if (corrected <= false_alarms) {
      if (too_few_runs(c.fraction))
        return inconclusive(c, fmt::format("{}; {}: looks like a drop, but a side of fewer than {} runs does not tell "
                                           "its noise; record more repeats, or state the noise",
                                           shares(c), times(c), kLeastRuns));
      return close(c, GateVerdict::drop, fmt::format("{}; {}", shares(c), times(c)));
    }
    return inconclusive(c, fmt::format("{}: looks like a drop, but noise of {} a run does this with a chance of {}; "
                                       "record more repeats",
                                       shares(c), noise, numbers::percent(corrected)));
  }
  if (much_slower(c) && chances.slower <= false_alarms) {
    const bool nearer = c.fraction.difference >= -std::log1p(-c.limit);
    return inconclusive(
        c, fmt::format("slower {}: {}; {}; {}", nearer ? "though nearer to its roof" : "at the same share of the roof",
                       more_work(c), times(c), shares(c)));
  }
  if (too_noisy(c))
    return inconclusive(c, fmt::format("{}: with noise of {} a run a drop of {} could pass unnoticed; record more "
                                       "repeats",
                                       shares(c), noise, numbers::percent(2 * c.limit)));
  if (chances.faster <= kFaster)
    return close(c, GateVerdict::improved, fmt::format("faster: {}; {}", times(c), shares(c)));
  close(c, GateVerdict::pass, shares(c));
}

// ---------------------------------------------------------------- budgets

// Chance that a mean over the candidate's repeats lies this far beyond a limit by noise alone; 1 where it does not.
double chance_beyond(double log_excess, const LogChange& noise) {
  const double error = standard_error(noise);
  if (log_excess <= 0 || too_few_runs(noise) || noise.freedom <= 0 || error <= 0) return 1;
  return student_above(log_excess / error, noise.freedom);
}

struct BudgetBreach {
  Case* at = nullptr;
  std::string text;
  double chance = 1;
};

void add_breaches(Case& c, std::vector<BudgetBreach>& out) {
  const auto& f = c.row->fraction;
  const auto& t = c.row->time_s;
  if (c.budget.min_fraction && f.after && *f.after<*c.budget.min_fraction&& * f.after> 0)
    out.push_back({&c,
                   fmt::format("share of the roof {} is below its budget of {}", numbers::percent(*f.after),
                               numbers::percent(*c.budget.min_fraction)),
                   chance_beyond(std::log(*c.budget.min_fraction / *f.after), c.fraction_after)});
  if (c.budget.max_time_s && t.after && *t.after > *c.budget.max_time_s && *c.budget.max_time_s > 0)
    out.push_back(
        {&c,
         fmt::format("time {} is above its budget of {}", seconds_text(*t.after), seconds_text(*c.budget.max_time_s)),
         chance_beyond(std::log(*t.after / *c.budget.max_time_s), c.time_after)});
}

// A budget that was broken for certain is a drop, whatever the baseline was; else it is not known. Budgets are of the
// baseline's machine, roofs and clock.
void apply(const BudgetBreach& breach, bool comparable, double corrected, double false_alarms) {
  auto& finding = breach.at->finding;
  finding.reasons.push_back(breach.text);
  if (comparable && corrected <= false_alarms)
    finding.verdict = GateVerdict::drop;
  else if (finding.verdict != GateVerdict::drop)
    finding.verdict = GateVerdict::inconclusive;
}

// ---------------------------------------------------------------- all kernels

class Gate {
 public:
  Gate(const GateSide& baseline, const GateSide& candidate, const GateOptions& options) : options_(options) {
    check(options);
    CompareOptions compare_options;
    compare_options.noise = options.noise;
    comparison_ = compare(baseline, candidate, compare_options);
  }

  GateResult run() {
    result_.reasons = differences(comparison_.side_before, comparison_.side_after);
    choose();
    tell_noise();
    for (auto& c : cases_) judge_data(c, comparison_);
    if (!noise_known()) explain_unknown_noise();
    general_reasons_ = result_.reasons.size();
    judge();
    finish();
    return std::move(result_);
  }

 private:
  static void check(const GateOptions& o) {
    const auto share = [](double x) { return x > 0 && x < 1; };
    if (!share(o.max_drop))
      throw UsageError(fmt::format("a largest drop of {}: expected above 0 and below 1", o.max_drop));
    if (!share(o.false_alarms))
      throw UsageError(fmt::format("a chance of false alarms of {}: expected above 0 and below 1", o.false_alarms));
    if (o.noise && !(*o.noise > 0 && *o.noise < 1))
      throw UsageError(fmt::format("noise of {}: expected above 0 and below 1", *o.noise));
    for (const auto& [name, b] : o.budget)
      if (b.max_drop && !share(*b.max_drop))
        throw UsageError(
            fmt::format("budget of {}: a largest drop of {}: expected above 0 and below 1", name, *b.max_drop));
  }

  // All budgets that name it, the strictest limits of each; nothing where none does.
  std::optional<KernelBudget> budget_of(const ComparedKernel& row) {
    std::optional<KernelBudget> out;
    const auto stricter = [](std::optional<double>& limit, const std::optional<double>& other, auto strictest) {
      if (other) limit = limit ? strictest(*limit, *other) : *other;
    };
    const auto lower = [](double a, double b) { return std::min(a, b); };
    const auto higher = [](double a, double b) { return std::max(a, b); };
    for (const auto& [name, budget] : options_.budget) {
      const auto named = [&, &wanted = name](std::size_t i) { return is_called(comparison_.before[i], wanted); };
      if (std::none_of(row.before.begin(), row.before.end(), named)) continue;
      used_budgets_.insert(name);
      if (!out) out.emplace();
      stricter(out->max_drop, budget.max_drop, lower);
      stricter(out->min_fraction, budget.min_fraction, higher);
      stricter(out->max_time_s, budget.max_time_s, lower);
    }
    return out;
  }

  // The kernels of the baseline with most time, and those with a budget.
  void choose() {
    std::vector<const ComparedKernel*> rows;
    for (const auto& row : comparison_.kernels)
      if (!row.before.empty()) rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
      return a->time_s.before.value_or(0) > b->time_s.before.value_or(0);
    });
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto budget = budget_of(*rows[i]);
      if (budget || options_.top == 0 || i < options_.top) add_case(*rows[i], budget.value_or(KernelBudget()));
    }
    for (const auto& [name, budget] : options_.budget)
      if (!used_budgets_.contains(name)) lost_budgets_.push_back(name);
  }

  void add_case(const ComparedKernel& row, const KernelBudget& budget) {
    Case c;
    c.row = &row;
    c.budget = budget;
    c.limit = c.budget.max_drop.value_or(options_.max_drop);
    c.fraction = logs(row.fraction);
    c.time = logs(row.call_time_s);
    c.total = logs(row.time_s);
    // Where the noise was given; else tell_noise() knows better.
    c.fraction_after = c.fraction;
    c.time_after = c.time;
    c.fraction_after.scale = c.time_after.scale = 1 / runs_of_candidate(row);
    c.own_time = own(row.call_time_s);
    c.own_total = own(row.time_s);
    auto& f = c.finding;
    const auto& a = comparison_.before[row.before.front()];
    f.before_name = a.name;
    f.family = a.family;
    f.op = a.op;
    if (!row.after.empty()) f.after_name = comparison_.after[row.after.front()].name;
    f.kind = row.kind;
    f.by = row.by;
    const double total = comparison_.side_before.time_s.value_or(0);
    f.time_share = total > 0 ? row.time_s.before.value_or(0) / total : 0;
    f.fraction = row.fraction;
    f.call_time_s = row.call_time_s;
    f.what_changed = row.what_changed;
    cases_.push_back(std::move(c));
  }

  // One run given several times is one.
  double runs_of_candidate(const ComparedKernel& row) const {
    if (row.after.empty()) return 1;
    const auto& times = comparison_.after[row.after.front()].time_s;
    const bool one = std::all_of(times.begin(), times.end(), [&](const auto& t) { return t == times.front(); });
    return one ? 1 : static_cast<double>(times.size());
  }

  LogChange own(const Change& change) const {
    if (!std::isfinite(change.freedom)) return logs(change);
    return unpooled(logs(change).difference, noise_of_side(change.noise_before, comparison_.side_before.repeats),
                    noise_of_side(change.noise_after, comparison_.side_after.repeats));
  }

  bool noise_known() const {
    return options_.noise || comparison_.side_before.repeats > 1 || comparison_.side_after.repeats > 1;
  }

  void explain_unknown_noise() {
    result_.reasons.emplace_back(
        "one run each: noise unknown, so nothing can be concluded; record at least 3 runs a side");
  }

  // The kernels that are not judged help to tell the noise of a run. Each side has its own: a busy machine makes all
  // runs of one side noisy.
  void tell_noise() {
    if (options_.noise) return;
    std::vector<const ComparedKernel*> rows;
    std::set<const ComparedKernel*> judged;
    for (const auto& c : cases_) {
      rows.push_back(c.row);
      judged.insert(c.row);
    }
    const double least = kNoiseShare * comparison_.side_before.time_s.value_or(0);
    for (const auto& row : comparison_.kernels)
      if (!judged.contains(&row) && !row.after.empty() && row.time_s.before.value_or(0) >= least) rows.push_back(&row);
    tell_noise_of(rows, &ComparedKernel::fraction, &Case::fraction, &Case::fraction_after);
    tell_noise_of(rows, &ComparedKernel::call_time_s, &Case::time, &Case::time_after);
    tell_noise_of(rows, &ComparedKernel::time_s, &Case::total, nullptr);
  }

  // The first rows are those of the cases.
  void tell_noise_of(const std::vector<const ComparedKernel*>& rows, Change ComparedKernel::*quantity,
                     LogChange Case::*member, LogChange Case::*of_candidate) {
    std::vector<LogChange> before, after;
    for (const auto* row : rows) {
      before.push_back(noise_of_side((row->*quantity).noise_before, comparison_.side_before.repeats));
      after.push_back(noise_of_side((row->*quantity).noise_after, comparison_.side_after.repeats));
    }
    for (auto* side : {&before, &after}) {
      std::vector<LogChange*> all;
      for (auto& noise : *side) all.push_back(&noise);
      moderate(all);
    }
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      auto& change = cases_[i].*member;
      change = unpooled(change.difference, before[i], after[i]);
      if (of_candidate != nullptr) cases_[i].*of_candidate = after[i];
    }
  }

  void judge() {
    std::vector<double> chances, faster, slower;
    std::vector<BudgetBreach> breaches;
    for (auto& c : cases_) {
      if (c.open && c.fraction.freedom <= 0) inconclusive(c, fmt::format("{}: the noise is unknown", shares(c)));
      // A kernel without a verdict was looked at as well: the correction counts it.
      chances.push_back(c.open ? chance_below(c.fraction) : 1);
      faster.push_back(c.open ? chance_improved(c) : 1);
      slower.push_back(c.open ? chance_slower(c) : 1);
      add_breaches(c, breaches);
    }
    for (const auto& b : breaches) chances.push_back(b.chance);
    const auto corrected = holm(chances);
    faster = holm(faster);
    slower = holm(slower);
    for (std::size_t i = 0; i < cases_.size(); ++i)
      if (cases_[i].open) judge_change(cases_[i], {corrected[i], faster[i], slower[i]}, options_.false_alarms);
    for (std::size_t i = 0; i < breaches.size(); ++i)
      apply(breaches[i], incomparable(*breaches[i].at->row, comparison_).empty(), corrected[cases_.size() + i],
            options_.false_alarms);
  }

  // Kernels that the baseline did not have are judged against nothing, but must not hide what they cost.
  void look_at_new_kernels() {
    const auto& c = comparison_;
    const double before = c.side_before.time_s.value_or(0), after = c.side_after.time_s.value_or(0);
    const bool slower = c.time_s.before && c.time_s.after && *c.time_s.after > *c.time_s.before;
    double sum = 0;
    std::vector<GateFinding> fresh;
    for (const auto& row : c.kernels) {  // largest effect first
      if (!row.before.empty() || !row.time_s.after) continue;
      sum += *row.time_s.after;
      if (*row.time_s.after < kWorthNaming * after || fresh.size() >= kMostNew) continue;
      const auto& kernel = c.after[row.after.front()];
      GateFinding f;
      f.after_name = kernel.name;
      f.family = kernel.family;
      f.op = kernel.op;
      f.verdict = GateVerdict::inconclusive;
      f.kind = MatchKind::appeared;
      f.fraction = row.fraction;
      f.call_time_s = row.call_time_s;
      f.reasons.push_back(fmt::format("new, with nothing to judge it by: {}, {} of the candidate's time",
                                      seconds_text(*row.time_s.after), numbers::share(*row.time_s.after / after)));
      fresh.push_back(std::move(f));
    }
    if (slower && sum > options_.max_drop * before)
      std::move(fresh.begin(), fresh.end(), std::back_inserter(result_.findings));
    else
      for (const auto& f : fresh) result_.reasons.push_back(name_of(f) + ": " + f.reasons.front());
  }

  void finish() {
    for (auto& c : cases_) {
      if (c.finding.verdict != GateVerdict::inconclusive) {
        ++result_.judged;
        result_.judged_time_share += c.finding.time_share;
      }
      if (auto interval = interval_of(c.fraction); interval && c.finding.fraction.interval)
        c.finding.fraction.interval = interval;
      if (auto interval = interval_of(c.time); interval && c.finding.call_time_s.interval)
        c.finding.call_time_s.interval = interval;
      result_.findings.push_back(std::move(c.finding));
    }
    for (const auto& name : lost_budgets_) {
      GateFinding f;
      f.before_name = name;
      f.verdict = GateVerdict::inconclusive;
      f.kind = MatchKind::vanished;
      f.reasons.emplace_back("has a budget, but the baseline has no such kernel");
      result_.findings.push_back(std::move(f));
    }
    look_at_new_kernels();
    std::stable_sort(result_.findings.begin(), result_.findings.end(), [](const auto& a, const auto& b) {
      return (a.verdict == GateVerdict::drop) > (b.verdict == GateVerdict::drop);
    });
    result_.verdict = overall();
    result_.sentence = sentence();
  }

  bool any(GateVerdict verdict) const {
    return std::any_of(result_.findings.begin(), result_.findings.end(),
                       [&](const GateFinding& f) { return f.verdict == verdict; });
  }

  GateVerdict overall() const {
    if (any(GateVerdict::drop)) return GateVerdict::drop;
    if (result_.findings.empty() || any(GateVerdict::inconclusive)) return GateVerdict::inconclusive;
    return any(GateVerdict::improved) ? GateVerdict::improved : GateVerdict::pass;
  }

  // Why not: what is wrong with all of it, else with the first kernel.
  std::string why_undecided() const {
    if (general_reasons_ > 0) return result_.reasons.front();
    for (const auto& f : result_.findings)
      if (f.verdict == GateVerdict::inconclusive) return fmt::format("{}: {}", name_of(f), fmt::join(f.reasons, "; "));
    return {};
  }

  std::string sentence() const {
    const auto& findings = result_.findings;
    const auto count = [&](GateVerdict v) {
      return std::count_if(findings.begin(), findings.end(), [&](const auto& f) { return f.verdict == v; });
    };
    if (findings.empty()) return "inconclusive: the baseline has no kernels";
    const auto& first = findings.front();
    switch (result_.verdict) {
      case GateVerdict::drop:
        return fmt::format(
            "drop: {}{}: {}", name_of(first),
            count(GateVerdict::drop) > 1 ? fmt::format(" and {} more", count(GateVerdict::drop) - 1) : "",
            fmt::join(first.reasons, "; "));
      case GateVerdict::inconclusive:
        return fmt::format("inconclusive: {} of {} could not be judged: {}", count(GateVerdict::inconclusive),
                           numbers::counted(findings.size(), "kernel"), why_undecided());
      case GateVerdict::improved:
        return fmt::format("improved: {} of {}, and no drop", count(GateVerdict::improved),
                           numbers::counted(findings.size(), "kernel"));
      case GateVerdict::pass:
        break;
    }
    return fmt::format("pass: no drop of more than {} in {}, {} of the baseline's time",
                       numbers::percent(options_.max_drop), numbers::counted(findings.size(), "kernel"),
                       numbers::share(result_.judged_time_share));
  }

  GateOptions options_;
  Comparison comparison_;
  std::vector<Case> cases_;
  std::vector<std::string> lost_budgets_;
  std::set<std::string> used_budgets_;
  GateResult result_;
  std::size_t general_reasons_ = 0;  // of its reasons, those that keep all kernels from a verdict
};

}  // namespace
}  // namespace comparing

std::string_view to_string(GateVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"pass", "improved", "drop", "inconclusive"};
  return kNames[static_cast<std::size_t>(verdict)];
}

GateResult gate(const GateSide& baseline, const GateSide& candidate, const GateOptions& options) {
  return comparing::Gate(baseline, candidate, options).run();
}

Document gate_document(const GateResult& result) {
  using namespace comparing;
  Document out;
  out.title = "Roofline gate";
  const auto tone = result.verdict == GateVerdict::drop           ? Tone::bad
                    : result.verdict == GateVerdict::inconclusive ? Tone::warn
                                                                  : Tone::good;
  out.blocks.emplace_back(Paragraph{result.sentence, tone});
  Table t;
  t.columns = {comparing::name_column("Kernel", "kernel", 12),  {"Verdict", "verdict", Align::left, false, 0},
               {"Share", "time_share", Align::right, false, 3}, {"% of roof", "fraction_after", Align::right, false, 0},
               {"95%", "interval", Align::left, false, 4},      {"Time", "call_time_ratio", Align::right, false, 1}};
  for (const auto& f : result.findings) {
    const bool renamed = !f.before_name.empty() && !f.after_name.empty() && f.after_name != f.before_name;
    const auto name = renamed ? f.before_name + " → " + f.after_name : name_of(f);
    const auto fraction = [](const std::optional<double>& x) { return x ? numbers::percent(*x) : std::string("—"); };
    t.rows.push_back(
        {{name},
         {std::string(to_string(f.verdict)), std::nullopt,
          f.verdict == GateVerdict::drop           ? Tone::bad
          : f.verdict == GateVerdict::inconclusive ? Tone::warn
                                                   : Tone::good},
         {numbers::share(f.time_share), f.time_share},
         {fmt::format("{} → {}", fraction(f.fraction.before), fraction(f.fraction.after)), f.fraction.after},
         f.fraction.interval ? Cell{interval_text(*f.fraction.interval)} : Cell{},
         f.call_time_s.ratio ? Cell{change_text(*f.call_time_s.ratio), f.call_time_s.ratio} : Cell{}});
  }
  out.blocks.emplace_back(std::move(t));
  Bullets notes;
  for (const auto& reason : result.reasons) notes.items.push_back({reason, Tone::warn});
  for (const auto& f : result.findings) {
    const auto changes = further_changes(f);
    // A pass needs no reason, but what is different about it is said.
    auto parts = f.verdict == GateVerdict::pass ? std::vector<std::string>() : f.reasons;
    parts.insert(parts.end(), changes.begin(), changes.end());
    if (!parts.empty()) notes.items.push_back({fmt::format("{}: {}", name_of(f), fmt::join(parts, "; "))});
  }
  if (!notes.items.empty()) out.blocks.emplace_back(std::move(notes));
  return out;
}

}  // namespace roofline
