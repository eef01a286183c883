#include <algorithm>

#include "diagnosis/case.h"
#include "roofline/metrics.h"

namespace roofline {
namespace diagnosis {
namespace {

struct Registry {
  std::vector<Rule> rules;
  std::vector<RuleInfo> infos;
  std::vector<std::vector<MetricId>> ids;  // of each rule's metrics
};

Registry build() {
  Registry r;
  for (const auto part : {parallelism_rules(), memory_rules(), compute_rules(), scheduler_rules(), caveat_rules()})
    r.rules.insert(r.rules.end(), part.begin(), part.end());
  const auto& catalogue = MetricCatalogue::instance();
  for (const auto& rule : r.rules) {
    r.infos.push_back(rule.info);
    auto& ids = r.ids.emplace_back();
    for (const auto name : rule.info.metrics) ids.push_back(catalogue.require(name));
  }
  return r;
}

const Registry& registry() {
  static const Registry instance = build();
  return instance;
}

// Metrics that the facts common to all rules need.
struct FactIds {
  MetricId issue, l1_hits, l2_hits, tma, tma_sass;
  std::array<MetricId, 4> limits;
};

const FactIds& fact_ids() {
  const auto id = [](std::string_view name) { return MetricCatalogue::instance().require(name); };
  static const FactIds ids = {id("smsp__issue_active.avg.per_cycle_active"),
                              id("l1tex__t_sector_hit_rate.pct"),
                              id("lts__t_sector_hit_rate.pct"),
                              id("smsp__inst_executed_op_tma_ld.sum"),
                              id("smsp__sass_inst_executed_op_tma_ld.sum"),
                              {id("launch__occupancy_limit_registers"), id("launch__occupancy_limit_shared_mem"),
                               id("launch__occupancy_limit_warps"), id("launch__occupancy_limit_blocks")}};
  return ids;
}

void largest(std::optional<double>& most, const Quantity& q) {
  if (q) most = std::max(most.value_or(0), std::min(1.0, q.value()));
}

bool does_tensor_work(const Work& work, double idle) {
  if (work.activity.tensor_pipe.value_or(0) > idle) return true;
  return std::any_of(work.operations.begin(), work.operations.end(), [](const OperationCount& op) {
    return op.precision.path == Path::tensor && op.operations.value_or(0) > 0;
  });
}

Facts facts_of(const DiagnosisInput& in) {
  Facts f;
  const auto& ids = fact_ids();
  const auto& metrics = in.launch.metrics;
  const auto& a = in.work.activity;
  for (const auto* q : {&a.sm_throughput, &a.memory_throughput, &a.l2_throughput, &a.l1_throughput})
    largest(f.busiest, *q);
  if (in.placement.fraction) f.busiest = std::max(f.busiest.value_or(0), std::min(1.0, *in.placement.fraction));
  f.issue = metrics.get(ids.issue);
  if (!f.issue) f.issue = a.issue_active.get();
  f.l1_hits = metrics.get(ids.l1_hits);
  f.l2_hits = metrics.get(ids.l2_hits);
  for (const auto id : ids.limits)
    if (const auto blocks = metrics.get(id); blocks && *blocks > 0)
      f.blocks_per_sm = std::min(f.blocks_per_sm.value_or(*blocks), *blocks);
  f.tensor_or_tma = does_tensor_work(in.work, in.thresholds.tensor_idle) || metrics.get(ids.tma).value_or(0) > 0 ||
                    metrics.get(ids.tma_sass).value_or(0) > 0;
  f.optimal = is_optimal(in.placement.position);
  f.launches = std::max(1.0, in.work.launches);
  return f;
}

// The most that this list may promise, seconds; absent where the roof is not known well enough.
std::optional<double> most_gain(const DiagnosisInput& in, GainList list) {
  if (list == GainList::same_work) return in.placement.gain_s;
  if (list == GainList::none || !in.work.time) return std::nullopt;
  return in.work.time.value();
}

Finding finding_of(const Rule& rule, std::span<const MetricId> ids, const Case& c, const DiagnosisInput& in,
                   Hit&& hit) {
  Finding f;
  const auto& info = rule.info;
  f.id = info.id;
  f.kind = info.kind;
  f.title = info.title;
  f.why = std::move(hit.why);
  f.action = hit.action.empty() ? info.action : hit.action;
  f.next = info.next;
  f.source = info.source;
  f.condition = info.condition;
  f.threshold = info.threshold;
  const auto& catalogue = MetricCatalogue::instance();
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (c[i] && (!hit.only || *hit.only == i))
      f.evidence.push_back({std::string(info.metrics[i]), c[i], catalogue.info(ids[i]).unit});
  for (auto& e : hit.extra) f.evidence.push_back(std::move(e));
  if (const auto most = most_gain(in, info.list); most && hit.share && in.work.time) {
    f.gain_s = std::min(*most, std::clamp(*hit.share, 0.0, 1.0) * in.work.time.value());
    f.gain_list = to_string(info.list);
  }
  return f;
}

void rank(std::vector<Finding>& findings, std::size_t from) {
  std::stable_sort(findings.begin() + static_cast<std::ptrdiff_t>(from), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.gain_s.value_or(-1) > b.gain_s.value_or(-1); });
}

}  // namespace

std::span<const Rule> rules() { return registry().rules; }

std::optional<double> Case::time() const {
  const auto t = input_.work.time.get();
  return t ? std::optional<double>(*t / facts_.launches) : std::nullopt;
}

double Case::compute_fraction() const {
  double most = 0;
  for (const auto& r : input_.placement.resources)
    if (r.required && r.regime == Regime::compute) most = std::max(most, r.fraction);
  return most;
}

double Case::dram_fraction() const {
  const auto* dram = input_.placement.resource("dram");
  return dram == nullptr ? 0 : dram->fraction;
}

void Case::load(std::span<const MetricId> ids, double threshold) {
  threshold_ = threshold;
  for (std::size_t i = 0; i < ids.size(); ++i) values_[i] = input_.launch.metrics.get(ids[i]);
  for (std::size_t i = ids.size(); i < used_; ++i) values_[i].reset();
  used_ = ids.size();
}

}  // namespace diagnosis

std::string_view to_string(GainList list) {
  switch (list) {
    case GainList::same_work:
      return "same-work";
    case GainList::less_work:
      return "less-work";
    case GainList::none:
      break;
  }
  return "";
}

std::span<const RuleInfo> diagnosis_rules() { return diagnosis::registry().infos; }

void diagnose(const DiagnosisInput& input, std::vector<Finding>& out) {
  using namespace diagnosis;
  const auto& registry = diagnosis::registry();
  const auto facts = facts_of(input);
  const auto first = out.size();
  Case c(input, facts);
  for (std::size_t i = 0; i < registry.rules.size(); ++i) {
    const auto& rule = registry.rules[i];
    if (facts.optimal && !rule.when_optimal) continue;
    c.load(registry.ids[i], rule.info.threshold);
    Hit hit;
    if (rule.check(c, hit)) out.push_back(finding_of(rule, registry.ids[i], c, input, std::move(hit)));
  }
  rank(out, first);
}

void diagnose_row(const DiagnosisInput& input, const PlacementGroup& group, std::vector<Finding>& out) {
  const auto first = out.size();
  diagnose(input, out);
  const double own = input.work.time.value_or(0);
  const double all = group.work.time.value_or(0);
  for (std::size_t i = first; i < out.size(); ++i) {
    auto& gain = out[i].gain_s;
    if (!gain || own <= 0 || all <= 0) continue;
    *gain *= all / own;
    if (out[i].gain_list != to_string(GainList::same_work)) continue;
    if (group.placement.gain_s) *gain = std::min(*gain, *group.placement.gain_s);
  }
  diagnosis::rank(out, first);
}

}  // namespace roofline
