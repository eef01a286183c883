// The JSON contract: schema/report-1.json. Keys come in the contract's order; what is not known is null.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "report/bounds.h"
#include "roofline/document.h"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

// Whole numbers print without ".0"; what is not finite is not known.
Json number(double value) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  if (!std::isfinite(value)) return nullptr;
  if (value == std::trunc(value) && std::abs(value) < kExactIntegers) return static_cast<std::int64_t>(value);
  return value;
}
Json number(std::optional<double> value) { return value ? number(*value) : Json(nullptr); }
Json number(const Quantity& q) { return number(q.get()); }

Json text_or_null(std::string_view s) { return s.empty() ? Json(nullptr) : Json(std::string(s)); }

template <typename T>
Json integer_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// ---------------------------------------------------------------- head

Json tool(const Report& report) {
  return {{"name", "roofline"},
          {"version", ROOFLINE_VERSION},
          {"catalogue_version", text_or_null(report.catalogue_version)}};
}

Json options(const Thresholds& t) {
  Json thresholds = Json::object();
  for (const auto& field : threshold_fields()) thresholds[std::string(field.name)] = number(t.*field.member);
  return {{"thresholds", std::move(thresholds)}};
}

Json input(const ReportInput& in, std::size_t id) {
  return {{"id", id}, {"path", in.path}, {"format", in.format}, {"producer", text_or_null(in.producer)}};
}

// The first bandwidth of a level; all of them, with their definitions, are in "bandwidths".
Json level_bandwidth(const Ceiling& c, MemoryLevel level) {
  for (const auto& b : c.bandwidths)
    if (b.level == level) return number(b.bytes_per_s);
  return nullptr;
}

Json ceiling(const Ceiling& c) {
  Json compute = Json::object();
  Json peaks = Json::array();
  for (const auto& p : c.peaks) {
    compute[to_string(p.precision)] = number(p.ops_per_s);
    peaks.push_back({{"precision", to_string(p.precision)},
                     {"ops_per_s", number(p.ops_per_s)},
                     {"clock_hz", number(p.clock_hz)},
                     {"source", text_or_null(p.source)}});
  }
  Json memory = Json::object();
  for (const auto level : kMemoryLevels) memory[std::string(to_string(level))] = level_bandwidth(c, level);
  Json bandwidths = Json::array();
  for (const auto& b : c.bandwidths)
    bandwidths.push_back({{"level", to_string(b.level)},
                          {"definition", b.definition},
                          {"bytes_per_s", number(b.bytes_per_s)},
                          {"source", text_or_null(b.source)}});
  Json link = Json::object();
  for (const auto& l : c.links) link[l.kind] = number(l.bytes_per_s);
  return {{"kind", to_string(c.kind)},
          {"clock_hz", number(c.sm_clock_hz)},
          {"sparsity", "dense"},
          {"compute", std::move(compute)},
          {"memory", std::move(memory)},
          {"link", std::move(link)},
          {"memory_clock_hz", number(c.memory_clock_hz)},
          {"peaks", std::move(peaks)},
          {"bandwidths", std::move(bandwidths)}};
}

Json machine(const Machine& m, std::size_t id) {
  Json ceilings = Json::array();
  for (const auto& c : m.ceilings) ceilings.push_back(ceiling(c));
  return {{"id", id},
          {"name", m.name},
          {"compute_capability", text_or_null(m.compute_capability)},
          {"sm_count", integer_or_null(m.sm_count)},
          {"ceilings", std::move(ceilings)},
          {"catalogue_id", text_or_null(m.id)},
          {"vendor", text_or_null(m.vendor)},
          {"chip", text_or_null(m.chip)},
          {"architecture", text_or_null(m.architecture)}};
}

// ---------------------------------------------------------------- work

Json dimensions(const Dim3& d) {
  if (d == Dim3{}) return nullptr;
  return Json::array({d.x, d.y, d.z});
}

Json flops(const Work& work) {
  const auto total = work.flops();
  // A work may name a precision twice: a product and its bias.
  std::map<std::string, double> sums;
  for (const auto& op : work.operations)
    if (!is_integer(op.precision.type) && op.operations) sums[to_string(op.precision)] += op.operations.value();
  Json by_precision = Json::object();
  for (const auto& [precision, operations] : sums) by_precision[precision] = number(operations);
  return {{"total", number(total)},
          {"by_precision", std::move(by_precision)},
          {"aux", number(work.aux_ops)},
          {"bound", total ? Json(to_string(total.bound())) : Json(nullptr)},
          {"uncounted", work.coverage.uncounted},
          {"assumed_none", work.coverage.assumed_none},
          {"reason", text_or_null(work.coverage.reason)},
          {"uncounted_fraction", number(work.coverage.uncounted_fraction)}};
}

Json integer_ops(const Work& work) {
  std::map<std::string, double> sums;
  for (const auto& op : work.operations)
    if (is_integer(op.precision.type) && op.operations) sums[to_string(op.precision)] += op.operations.value();
  Json out = Json::object();
  for (const auto& [precision, operations] : sums) out[precision] = number(operations);
  return out;
}

Json level(const LevelTraffic& t) {
  return {{"read", number(t.read)},
          {"write", number(t.write)},
          {"total", number(t.total)},
          {"definition", text_or_null(t.definition)},
          {"bound", t.total ? Json(to_string(t.total.bound())) : Json(nullptr)}};
}

Json bytes(const Work& work) {
  Json out = Json::object();
  for (const auto l : kMemoryLevels) out[std::string(to_string(l))] = level(work.level(l));
  out["link"] = {{"kind", text_or_null(work.link.kind)},
                 {"bus_bytes", number(work.link.bus_bytes)},
                 {"algorithm_bytes", number(work.link.algorithm_bytes)}};
  return out;
}

Json ratio(const Quantity& a, const Quantity& b) { return number(quotient(a, b)); }

Json reuse(const Work& work) {
  const auto& dram = work.level(MemoryLevel::dram).total;
  return {{"l1_per_dram", ratio(work.level(MemoryLevel::l1).total, dram)},
          {"l2_per_dram", ratio(work.level(MemoryLevel::l2).total, dram)}};
}

Json activity(const Activity& a) {
  return {{"sm_throughput", number(a.sm_throughput)},
          {"memory_throughput", number(a.memory_throughput)},
          {"l2_throughput", number(a.l2_throughput)},
          {"l1_throughput", number(a.l1_throughput)},
          {"l2_hit_rate", number(a.l2_hit_rate)},
          {"tensor_pipe", number(a.tensor_pipe)},
          {"issue_active", number(a.issue_active)},
          {"sector_efficiency", number(a.sector_efficiency)},
          {"waves", number(a.waves)},
          {"grid_blocks", number(a.grid_blocks)},
          {"sm_count", number(a.sm_count)},
          {"l2_size_bytes", number(a.l2_size)},
          {"busiest_unit", text_or_null(a.busiest_unit)},
          {"busiest_class", to_string(a.busiest_class)}};
}

Json evidence(const Quantity& q) {
  Json metrics = Json::array();
  if (q.provenance())
    for (const auto& m : q.provenance()->metrics) metrics.push_back(m);
  return {{"kind", to_string(q.evidence())},
          {"recipe", text_or_null(q.recipe())},
          {"metrics", std::move(metrics)},
          {"note", text_or_null(q.note())}};
}

Json all_evidence(const Work& work) {
  Json out = {{"time", evidence(work.time)}, {"flops", evidence(work.flops())}};
  for (const auto l : kMemoryLevels) {
    const auto& t = work.level(l);
    out[std::string(to_string(l))] = evidence(t.total ? t.total : t.direct_fraction ? t.direct_fraction : t.total);
  }
  out["link"] = evidence(work.link.bus_bytes);
  return out;
}

// ---------------------------------------------------------------- placement

Json resources(const Placement& p) {
  Json out = Json::array();
  for (const auto& r : p.resources)
    out.push_back({{"name", r.name},
                   {"time_s", number(r.time_s)},
                   {"fraction", number(r.fraction)},
                   {"bound", to_string(r.bound)},
                   {"definition", r.definition},
                   {"regime", to_string(r.regime)},
                   {"required", r.required},
                   {"peak", r.peak > 0 ? number(r.peak) : Json(nullptr)}});
  return out;
}

Json roof(const Placement& p) {
  return {{"ceiling", to_string(p.ceiling)},    {"time_s", number(p.roof_time_s)},
          {"fraction", number(p.fraction)},     {"bound", to_string(p.bound)},
          {"binding", text_or_null(p.binding)}, {"regime", to_string(p.regime)},
          {"resources", resources(p)},          {"fraction_upper", number(p.fraction_upper)}};
}

Json datasheet_roof(const std::optional<Placement>& p) {
  if (!p) return nullptr;
  return {{"time_s", number(p->roof_time_s)},
          {"fraction", number(p->fraction)},
          {"binding", text_or_null(p->binding)},
          {"regime", to_string(p->regime)},
          {"bound", to_string(p->bound)}};
}

Json findings(const std::vector<Finding>& list) {
  Json out = Json::array();
  for (const auto& f : list) {
    Json values = Json::array();
    for (const auto& e : f.evidence)
      values.push_back({{"metric", e.metric}, {"value", number(e.value)}, {"unit", e.unit}});
    out.push_back({{"id", f.id},
                   {"kind", f.kind},
                   {"evidence", std::move(values)},
                   {"threshold", number(f.threshold)},
                   {"action", f.action},
                   {"gain_s", number(f.gain_s)},
                   {"gain_list", text_or_null(f.gain_list)},
                   {"title", f.title},
                   {"why", f.why},
                   {"next", text_or_null(f.next)},
                   {"condition", text_or_null(f.condition)},
                   {"source", text_or_null(f.source)}});
  }
  return out;
}

Json missing(const std::vector<Missing>& list) {
  Json out = Json::array();
  for (const auto& m : list)
    out.push_back({{"quantity", m.quantity}, {"reason", m.reason}, {"collect", text_or_null(m.collect)}});
  return out;
}

// ---------------------------------------------------------------- kernels

// Launches that each record of the input stands for: inputs may hold means over many launches.
Json weight(const KernelRow& row) {
  const auto records = row.launch_ids.size();
  return records == 0 ? Json(1) : number(row.group.work.launches / static_cast<double>(records));
}

void add_identity(const KernelRow& row, Json& out) {
  out["id"] = row.id;
  out["input"] = row.input;
  out["machine"] = integer_or_null(row.machine);
  out["name"] = row.name;
  out["full_name"] = row.full_name;
  out["operator"] = text_or_null(row.op);
  out["grid"] = dimensions(row.grid);
  out["block"] = dimensions(row.block);
  out["device"] = row.device;
  out["stream"] = row.stream;
  out["rank"] = nullptr;
  out["nvtx"] = row.nvtx;
  out["launch_ids"] = row.launch_ids;
  out["launches"] = number(row.group.work.launches);
  out["weight"] = weight(row);
}

void add_work(const KernelRow& row, Json& out) {
  const auto& work = row.group.work;
  const auto& spread = row.group.time_s;
  const auto stat = [&](double v) { return work.time ? number(v) : Json(nullptr); };
  out["time_s"] = number(work.time);
  out["time_share"] = work.time ? number(row.time_share) : Json(nullptr);
  out["time_stats"] = {{"min", stat(spread.min)}, {"median", stat(spread.median)}, {"max", stat(spread.max)}};
  out["time_basis"] = to_string(row.time_basis);
  out["clock_hz"] = number(row.group.placement.clock_hz);
  out["mixed"] = row.group.mixed;
  out["flops"] = flops(work);
  out["ops"] = integer_ops(work);
  out["bytes"] = bytes(work);
  out["intensity"] = {{"dram", number(work.intensity(MemoryLevel::dram))},
                      {"l2", number(work.intensity(MemoryLevel::l2))},
                      {"l1", number(work.intensity(MemoryLevel::l1))}};
  out["reuse"] = reuse(work);
  out["achieved"] = {{"flops_per_s", ratio(work.flops(), work.time)},
                     {"dram_bytes_per_s", ratio(work.level(MemoryLevel::dram).total, work.time)}};
}

Json kernel(const KernelRow& row) {
  const auto& p = row.group.placement;
  Json out = Json::object();
  add_identity(row, out);
  add_work(row, out);
  out["roof"] = roof(p);
  out["roof_datasheet"] = datasheet_roof(row.datasheet);
  out["limiter"] = text_or_null(p.limiter);
  out["position"] = to_string(p.position);
  out["look"] = p.look;
  out["gain_s"] = number(p.gain_s);
  out["gain_less_work_s"] = number(p.gain_less_work_s);
  out["findings"] = findings(row.findings);
  out["diagnosed_launch"] = integer_or_null(row.diagnosed_launch);
  out["evidence"] = all_evidence(row.group.work);
  out["missing"] = missing(row.missing);
  out["tier"] = to_string(p.tier);
  out["reason"] = text_or_null(p.reason);
  out["cache_resident"] = p.cache_resident;
  out["failed_launches"] = row.failed_launches;
  out["notes"] = p.notes;
  out["activity"] = activity(row.group.work.activity);
  return out;
}

// A sum over no known time is not zero.
bool any_time(const Report& report) {
  return std::any_of(report.rows.begin(), report.rows.end(),
                     [](const KernelRow& row) { return row.group.work.time.has_value(); });
}

Json total(const Report& report) {
  const auto& t = report.total;
  const bool timed = any_time(report);
  const auto credible_upper = [](const Report& r) {
    return std::all_of(r.rows.begin(), r.rows.end(), [&](const KernelRow& row) {
      return report::has_known_upper(row.group.placement, r.total.ceiling);
    });
  };
  Json tiers = Json::object();
  for (const auto& [tier, share] : t.share_by_tier) tiers[std::string(to_string(tier))] = number(share);
  return {{"time_s", timed ? number(t.time_s) : Json(nullptr)},
          {"flops", number(t.flops)},
          {"dram_bytes", number(t.dram_bytes)},
          {"roof_time_s", t.fraction ? number(t.roof_time_s) : Json(nullptr)},
          {"fraction", number(t.fraction)},
          {"bound", to_string(t.bound)},
          {"placed_time_share", timed ? number(t.placed_time_share) : Json(nullptr)},
          {"wall_s", number(report.wall_s)},
          {"step_fraction", number(report.step_fraction)},
          {"ceiling", t.fraction ? Json(to_string(t.ceiling)) : Json(nullptr)},
          {"placed_time_s", number(t.placed_time_s)},
          {"fraction_upper", credible_upper(report) ? number(t.fraction_upper) : Json(nullptr)},
          {"cache_resident_time_s", number(t.cache_resident_time_s)},
          {"other_ceiling_time_s", number(t.other_ceiling_time_s)},
          {"share_by_tier", std::move(tiers)},
          {"flops_bound", t.flops ? Json(to_string(t.flops.bound())) : Json(nullptr)},
          {"dram_bytes_bound", t.dram_bytes ? Json(to_string(t.dram_bytes.bound())) : Json(nullptr)}};
}

Json warning(const ReportWarning& w) {
  return {{"code", w.code}, {"message", w.message}, {"kernel", integer_or_null(w.kernel)}};
}

// ---------------------------------------------------------------- text

// Ill-formed UTF-8 from file names and kernel names becomes U+FFFD; control characters are escaped.
std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

// One element a line: a report of many kernels stays readable line by line, and is never held twice in memory.
template <typename Items, typename Make>
void append_list(std::string_view key, const Items& items, Make make, std::string& out) {
  out += ",\n  \"" + std::string(key) + "\": [";
  std::size_t id = 0;
  for (const auto& item : items) {
    out += id == 0 ? "\n    " : ",\n    ";
    out += dump(make(item, id++));
  }
  out += items.empty() ? "]" : "\n  ]";
}

void append_value(std::string_view key, const Json& value, std::string& out) {
  out += ",\n  \"" + std::string(key) + "\": " + dump(value);
}

}  // namespace

std::string to_json(const Report& report) { return to_json(report, {}); }

std::string to_json(const Report& report, std::string_view model) {
  std::string out = "{\n  \"schema\": \"roofline/report/1\"";
  append_value("tool", tool(report), out);
  append_value("options", options(report.thresholds), out);
  append_list("inputs", report.inputs, input, out);
  append_list("machines", report.machines, machine, out);
  append_list(
      "kernels", report.rows, [](const KernelRow& r, std::size_t) { return kernel(r); }, out);
  append_value("total", total(report), out);
  append_list(
      "warnings", report.warnings, [](const ReportWarning& w, std::size_t) { return warning(w); }, out);
  append_value("failed_launches", report.failed_launches, out);
  append_value("findings", findings(report.findings), out);
  if (!model.empty()) out.append(",\n  \"model\": ").append(model);
  return out + "\n}\n";
}

}  // namespace roofline
