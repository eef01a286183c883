#include <cmath>
#include <nlohmann/json.hpp>

#include "roofline/timeline_ranks.h"
#include "roofline/timeline_views.h"
#include "timeline/words.h"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

class Writer {
 public:
  explicit Writer(const AnalyzedTimeline& analyzed) : timeline_(analyzed.timeline), devices_(analyzed.devices) {}

  Json write() const {
    Json out = {{"path", timeline_.path},
                {"format", timeline_.format},
                {"producer", timeline_.producer},
                {"rank", timeline_.rank ? Json(*timeline_.rank) : Json(nullptr)},
                {"world_size", timeline_.world_size ? Json(*timeline_.world_size) : Json(nullptr)},
                {"recorded_s", timeline_.recorded ? Json(seconds(timeline_.recorded->length())) : Json(nullptr)}};
    Json devices = Json::array();
    for (const auto& step : devices_) devices.push_back(device(step));
    out["devices"] = std::move(devices);
    out["totals"] = totals();
    Json warnings = Json::array();
    for (const auto& w : timeline_.warnings) warnings.push_back({{"code", w.code}, {"message", w.message}});
    out["warnings"] = std::move(warnings);
    return out;
  }

 private:
  Json name(std::uint32_t index) const { return index == kNone ? Json(nullptr) : Json(timeline_.names[index]); }

  static Json dim(const Dim3& d) { return d.count() == 0 ? Json(nullptr) : Json{d.x, d.y, d.z}; }

  static Json number(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
  }

  Json account(const StepAccount& a) const {
    Json parts = Json::object();
    for (std::size_t i = 0; i < kStepParts; ++i) {
      const auto& e = a.evidence[i];
      Json calls = Json::array();
      for (const auto& [call, ns] : e.calls) calls.push_back({{"name", name(call)}, {"time_s", seconds(ns)}});
      parts[std::string(to_string(static_cast<StepPart>(i)))] = {{"time_s", seconds(a.parts[i])},
                                                                 {"pieces", e.pieces},
                                                                 {"longest_s", seconds(e.longest.length())},
                                                                 {"host_calls", std::move(calls)}};
    }
    return {{"wall_s", seconds(a.wall_ns)},
            {"busy_s", seconds(a.busy_ns())},
            {"idle_s", seconds(a.idle_ns())},
            {"parts", std::move(parts)},
            {"union_s",
             {{"compute", seconds(a.compute_ns)},
              {"communication", seconds(a.communication_ns)},
              {"copy", seconds(a.copy_ns)}}},
            {"kernel_sum_s", seconds(a.kernel_sum_ns)},
            {"concurrent_s", seconds(a.concurrent_ns)}};
  }

  Json device(const DeviceStep& step) const {
    const auto* info = step.device < timeline_.devices.size() ? &timeline_.devices[step.device] : nullptr;
    Json out = {{"device", info ? info->id : step.device},
                {"name", info && !info->name.empty() ? Json(info->name) : Json(nullptr)},
                {"bottleneck", to_string(step.bottleneck)},
                {"verdict", step.verdict},
                {"steps_by", step.steps_by == StepsBy::ranges       ? "ranges"
                             : step.steps_by == StepsBy::repetition ? "repetition"
                                                                    : "none"},
                {"steps_of", step.steps_of},
                {"windows", step.windows},
                {"step_s", step.step_s ? Json{{"count", step.step_s->count},
                                              {"median", step.step_s->median},
                                              {"min", step.step_s->min},
                                              {"max", step.step_s->max}}
                                       : Json(nullptr)},
                {"counted", account(step.counted)},
                {"whole", account(step.whole)}};
    out["steps"] = steps(step);
    out["kernels"] = kernels(step);
    out["copies"] = copies(step);
    out["shapes"] = {{"kernel_s", seconds(step.shapes.kernel_ns)},
                     {"with_launch_shape_s", seconds(step.shapes.launch_ns)},
                     {"with_operator_shape_s", seconds(step.shapes.operator_ns)}};
    out["savings_at_most"] = {{"launch_gaps_s", seconds(step.savings.launch_gaps_ns)},
                              {"launch_gaps", step.savings.launch_gaps},
                              {"short_kernels", step.savings.short_kernels},
                              {"short_kernels_s", seconds(step.savings.short_ns)}};
    Json artefacts = Json::array();
    for (const auto& a : step.artefacts) artefacts.push_back({{"code", a.code}, {"message", a.message}});
    out["artefacts"] = std::move(artefacts);
    return out;
  }

  Json steps(const DeviceStep& step) const {
    Json out = Json::array();
    for (const auto& s : step.steps)
      out.push_back({{"name", name(s.name)},
                     {"begin_s", seconds(s.window.start_ns)},
                     {"time_s", seconds(s.window.length())},
                     {"busy_s", seconds(s.busy_ns)},
                     {"kernels", s.kernels},
                     {"ahead_s", seconds(s.ahead_ns)},
                     {"warm_up", s.warm_up},
                     {"last", s.last}});
    return out;
  }

  Json kernels(const DeviceStep& step) const {
    Json out = Json::array();
    for (const auto& k : step.kernels)
      out.push_back(
          {{"name", kernel_label(timeline_, k.name, k.full_name)},
           {"full_name", name(k.full_name)},
           {"grid", dim(k.grid)},
           {"block", dim(k.block)},
           {"communication", k.communication},
           {"launches", k.launches},
           {"time_s", seconds(k.total_ns)},
           {"time_stats", {{"min", seconds(k.min_ns)}, {"median", seconds(k.median_ns)}, {"max", seconds(k.max_ns)}}},
           {"share_of_wall", k.share_of_wall},
           {"share_of_kernels", k.share_of_kernels},
           {"deserves_roofline", k.deserves_roofline}});
    return out;
  }

  Json copies(const DeviceStep& step) const {
    Json out = Json::array();
    for (const auto& c : step.copies) {
      const auto link = link_of(timeline_.devices, step.device, c.kind);
      out.push_back({{"kind", copy_words(c.work, c.kind)},
                     {"count", c.count},
                     {"time_s", seconds(c.total_ns)},
                     {"bytes", c.bytes > 0 ? Json(c.bytes) : Json(nullptr)},
                     {"link", link ? Json{{"kind", link->kind}, {"bytes_per_s", link->bytes_per_s}} : Json(nullptr)}});
    }
    return out;
  }

  Json totals() const {
    Json out = Json::array();
    for (const auto& t : timeline_.totals)
      out.push_back(
          {{"name", kernel_label(timeline_, t.name, t.name)},
           {"full_name", name(t.name)},
           {"device", t.device},
           {"grid", dim(t.grid)},
           {"block", dim(t.block)},
           {"launches", t.launches},
           {"time_s", t.total_s},
           {"time_stats", {{"min", number(t.min_s)}, {"median", number(t.median_s)}, {"max", number(t.max_s)}}},
           {"flops", number(t.flops)},
           {"bytes", number(t.bytes)}});
    return out;
  }

  const Timeline& timeline_;
  const std::vector<DeviceStep>& devices_;
};

Json optional(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json ranks(const RankComparison& c) {
  Json list = Json::array(), kernels = Json::array(), collectives = Json::array();
  for (const auto& r : c.ranks)
    list.push_back({{"rank", r.number},
                    {"timeline", r.timeline},
                    {"step_s", r.step_s},
                    {"compute_s", r.compute_s},
                    {"exposed_communication_s", r.exposed_communication_s},
                    {"idle_s", r.idle_s},
                    {"waiting_s", optional(r.waiting_s)}});
  for (const auto& k : c.kernels)
    kernels.push_back({{"full_name", k.name},
                       {"min_s", k.min_s},
                       {"median_s", k.median_s},
                       {"max_s", k.max_s},
                       {"slowest_rank", k.slowest},
                       {"ranks", k.ranks}});
  for (const auto& k : c.collectives)
    collectives.push_back(
        {{"name", k.name},
         {"count", k.count},
         {"matched", k.matched},
         {"median_s", k.median_s},
         {"transfer_s", optional(k.transfer_s)},
         {"waiting_s", optional(k.waiting_s)},
         {"bus_bytes", optional(k.bus_bytes)},
         {"bus_bytes_per_s", optional(k.bytes_per_s)},
         {"nodes", k.nodes > 0 ? Json(k.nodes) : Json(nullptr)},
         {"nodes_assumed", k.nodes > 0 ? Json(k.nodes_assumed) : Json(nullptr)},
         {"network_bytes", optional(k.network_bytes)},
         {"share_of_link", optional(k.share_of_link)},
         {"link", k.link ? Json{{"kind", k.link->kind}, {"bytes_per_s", k.link->bytes_per_s}} : Json(nullptr)},
         {"link_unknown", k.link_unknown.empty() ? Json(nullptr) : Json(k.link_unknown)}});
  return {{"straggler", c.straggler ? Json(*c.straggler) : Json(nullptr)},
          {"verdict", c.verdict},
          {"gpus_per_node", c.gpus_per_node > 0 ? Json(c.gpus_per_node) : Json(nullptr)},
          {"ranks", std::move(list)},
          {"kernels", std::move(kernels)},
          {"collectives", std::move(collectives)}};
}

}  // namespace

std::string timeline_json(std::span<const AnalyzedTimeline> timelines, const std::string& report_json,
                          const Network& network) {
  Json list = Json::array();
  for (const auto& t : timelines) list.push_back(Writer(t).write());
  const Json out = {{"schema", "roofline/timeline/1"},
                    {"tool", {{"name", "roofline"}, {"version", ROOFLINE_VERSION}}},
                    {"timelines", std::move(list)},
                    {"ranks", ranks(compare_ranks(timelines, network))},
                    {"report", report_json.empty() ? Json(nullptr) : Json::parse(report_json)}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace roofline
