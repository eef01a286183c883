// What the model says of measured kernels, as a field of their JSON report.
#include <cmath>
#include <nlohmann/json.hpp>

#include "roofline/forecast.h"

namespace roofline::model {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(const Quantity& q) { return q ? number(q.value()) : Json(nullptr); }

Json operator_of(const MatchedOperator& m) {
  return {{"name", m.name},
          {"assigned_by", m.by},
          {"calls", number(m.calls)},
          {"time_s", number(m.time_s)},
          {"flops", number(m.flops)},
          {"dram_bytes", number(m.bytes)},
          {"model_flops", number(m.model_flops)},
          {"model_dram_bytes", number(m.model_bytes)},
          {"roof_time_s", number(m.roof_s)},
          {"fraction", m.time_s > 0 ? number(m.roof_s / m.time_s) : Json(nullptr)},
          {"predicted_s", number(m.predicted_s)}};
}

Json unmatched_of(const UnmatchedKernel& u) {
  return {{"name", u.name}, {"launches", number(u.launches)}, {"time_s", number(u.time_s)}, {"reason", u.reason}};
}

template <typename T, typename View>
Json list_of(const std::vector<T>& items, View view) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(view(item));
  return out;
}

}  // namespace

std::string match_json(const Forecast& f, const Report& measured, const Match& match) {
  const auto& o = f.options;
  const Json model = {{"name", f.config.name},
                      {"machine", f.machine.id},
                      {"phase", f.decode() ? "decode" : "prefill"},
                      {"batch", o.batch},
                      {"context", o.context},
                      {"query_length", query_length_of(o)},
                      {"dtype", scheme_of(f.config, o).name},
                      {"kv_dtype", kv_format_of(f.config, o).name},
                      {"tp", o.tp},
                      {"ep", o.ep},
                      {"steps", match.operators.empty() ? Json(nullptr) : number(match.steps)},
                      {"operators", list_of(match.operators, operator_of)},
                      {"unmatched", list_of(match.unmatched, unmatched_of)},
                      {"missing", match.missing}};
  return to_json(measured, model.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace roofline::model
