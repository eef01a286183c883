// The JSON of a comparison and of a prediction's score: docs/compare.md has the schema.
#include <cmath>
#include <nlohmann/json.hpp>

#include "roofline/compare.h"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

Json number(std::optional<double> value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

Json text_or_null(const std::string& s) { return s.empty() ? Json(nullptr) : Json(s); }

Json interval(const std::optional<Interval>& i) {
  return i ? Json::array({number(i->low), number(i->high)}) : Json(nullptr);
}

Json change(const Change& c) {
  return {{"before", number(c.before)},
          {"after", number(c.after)},
          {"ratio", number(c.ratio)},
          {"ratio_95", interval(c.interval)},
          {"noise", number(c.noise)}};
}

Json effect(const Effect& e) {
  return {{"total_s", e.known ? number(e.total_s) : Json(nullptr)},
          {"work_s", e.split_known ? number(e.work_s) : Json(nullptr)},
          {"efficiency_s", e.split_known ? number(e.efficiency_s) : Json(nullptr)}};
}

Json dimensions(const Dim3& d) {
  if (d == Dim3{}) return nullptr;
  return Json::array({d.x, d.y, d.z});
}

Json side(const ComparedSide& s) {
  return {{"inputs", s.inputs},
          {"machines", s.machines},
          {"repeats", s.repeats},
          {"ceiling", to_string(s.ceiling)},
          {"clock_hz", number(s.clock_hz)},
          {"time_s", number(s.time_s)},
          {"time_basis", to_string(s.time_basis)},
          {"fraction", number(s.fraction)},
          {"bound", to_string(s.bound)},
          {"placed_time_share", number(s.placed_time_share)},
          {"untimed_kernels", s.untimed_kernels},
          {"tool_version", text_or_null(s.tool_version)},
          {"catalogue_version", text_or_null(s.catalogue_version)}};
}

Json kernels(const std::vector<std::size_t>& group, const std::vector<SideKernel>& all) {
  Json out = Json::array();
  for (const auto i : group) {
    const auto& k = all[i];
    out.push_back({{"name", k.name},
                   {"full_name", k.full_name},
                   {"operator", text_or_null(k.op)},
                   {"family", k.family},
                   {"grid", dimensions(k.grid)},
                   {"block", dimensions(k.block)},
                   {"time_s", number(k.mean.time_s)},
                   {"clock_hz", number(k.mean.clock_hz)},
                   {"binding", text_or_null(k.mean.binding)}});
  }
  return out;
}

Json row(const ComparedKernel& k, const Comparison& c) {
  auto fraction = change(k.fraction);
  fraction["bound_before"] = to_string(k.fraction_bound_before);
  fraction["bound_after"] = to_string(k.fraction_bound_after);
  fraction["comparable"] = k.fraction_comparable;
  return {{"kind", to_string(k.kind)},
          {"matched_by", k.by == MatchedBy::nothing ? Json(nullptr) : Json(to_string(k.by))},
          {"before", kernels(k.before, c.before)},
          {"after", kernels(k.after, c.after)},
          {"time_s", change(k.time_s)},
          {"call_time_s", change(k.call_time_s)},
          {"launches", change(k.launches)},
          {"flops", change(k.flops)},
          {"dram_bytes", change(k.dram_bytes)},
          {"link_bytes", change(k.link_bytes)},
          {"fraction", std::move(fraction)},
          {"position", {{"before", to_string(k.position_before)}, {"after", to_string(k.position_after)}}},
          {"effect", effect(k.effect)},
          {"what_changed", k.what_changed},
          {"worthless", text_or_null(k.worthless)}};
}

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

// One element a line, as in the report.
template <typename Items, typename Make>
void append_list(std::string_view key, const Items& items, Make make, std::string& out) {
  out += ",\n  \"" + std::string(key) + "\": [";
  bool first = true;
  for (const auto& item : items) {
    out += first ? "\n    " : ",\n    ";
    out += dump(make(item));
    first = false;
  }
  out += first ? "]" : "\n  ]";
}

void append_value(std::string_view key, const Json& value, std::string& out) {
  out += ",\n  \"" + std::string(key) + "\": " + dump(value);
}

Json tool() { return {{"name", "roofline"}, {"version", ROOFLINE_VERSION}}; }

}  // namespace

std::string comparison_json(const Comparison& c) {
  std::string out = "{\n  \"schema\": \"roofline/compare/1\"";
  append_value("tool", tool(), out);
  append_value("before", side(c.side_before), out);
  append_value("after", side(c.side_after), out);
  append_value("comparable", c.comparable, out);
  append_value("time_s", change(c.time_s), out);
  append_value("fraction", change(c.fraction), out);
  append_value("effect", effect(c.total), out);
  append_value("caveats", c.caveats, out);
  append_list(
      "kernels", c.kernels, [&](const ComparedKernel& k) { return row(k, c); }, out);
  return out + "\n}\n";
}

std::string prediction_json(const PredictionScore& s) {
  std::string out = "{\n  \"schema\": \"roofline/prediction/1\"";
  append_value("tool", tool(), out);
  append_value("steps", number(s.steps), out);
  append_value("matched_time_share", number(s.matched_time_share), out);
  append_value("mean_error", number(s.mean_error), out);
  append_value("mean_bound_error", number(s.mean_bound_error), out);
  append_value("total_ratio", number(s.total_ratio), out);
  append_value("only_predicted", s.only_predicted, out);
  append_value("only_measured", s.only_measured, out);
  append_value("caveats", s.caveats, out);
  append_list(
      "kernels", s.kernels,
      [](const PredictedKernel& k) {
        return Json{{"name", k.name},
                    {"matched_by", to_string(k.by)},
                    {"calls", number(k.calls)},
                    {"measured_s", number(k.measured_s)},
                    {"predicted_s", number(k.predicted_s)},
                    {"bound_s", number(k.bound_s)}};
      },
      out);
  return out + "\n}\n";
}

}  // namespace roofline
