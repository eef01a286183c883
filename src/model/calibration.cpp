#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/calibration.json.h"
#include "model/json_keys.h"
#include "roofline/error.h"

namespace roofline::model {
namespace {

double positive(const JsonKeys& keys, const char* key) {
  const auto value = keys.number(key);
  if (!value) refuse(keys.label(), "missing-key", fmt::format("\"{}\" is missing", key), "a number", "add the key");
  if (!(*value > 0) || !std::isfinite(*value))
    refuse(keys.label(), "out-of-range", fmt::format("\"{}\" is {}", key, *value), "a positive number", "correct it");
  return *value;
}

ClassConstants read_class(const JsonKeys& keys) {
  return {positive(keys, "launch_s"), positive(keys, "bytes_per_s"), positive(keys, "peak_fraction"),
          keys.text_or("source", "")};
}

Calibration read_machine(const JsonKeys& keys) {
  Calibration result;
  result.machine = keys.text_or("machine", "");
  result.note = keys.text_or("source", "");
  const auto* classes = keys.child("classes");
  for (std::size_t i = 0; i < kOperatorClasses; ++i) {
    const std::string name(to_string(static_cast<OperatorClass>(i)));
    const auto* entry = classes == nullptr ? nullptr : JsonKeys(*classes, keys.label()).child(name.c_str());
    if (entry == nullptr)
      refuse(keys.label(), "missing-key", fmt::format("no constants for \"{}\" of {}", name, result.machine),
             "all kernel classes", "add the class");
    result.classes[i] = read_class(JsonKeys(*entry, keys.label()));
  }
  return result;
}

const nlohmann::json* find_machine(const JsonKeys& root, std::string_view machine) {
  const auto it = root.object().find("machines");
  if (it == root.object().end() || !it->is_array())
    refuse(root.label(), "missing-key", "\"machines\" is missing", "a list of machines", "add the key");
  for (const auto& entry : *it)
    if (entry.is_object() && JsonKeys(entry, root.label()).text_or("machine", "") == machine) return &entry;
  return nullptr;
}

// Rates go with the bandwidth; latencies and the reachable share of the tensor peak are taken as they are.
void scale(Calibration& calibration, double dram_ratio, double link_ratio) {
  for (std::size_t i = 0; i < kOperatorClasses; ++i)
    calibration.classes[i].bytes_per_s *=
        static_cast<OperatorClass>(i) == OperatorClass::collective ? link_ratio : dram_ratio;
  calibration.scaled = true;
}

}  // namespace

Calibration parse_calibration(std::string_view json, std::string_view machine, const std::string& label) {
  const auto object = parse_object(json, label);
  const JsonKeys root(object, label);
  if (const auto* entry = find_machine(root, machine)) return read_machine(JsonKeys(*entry, label));
  refuse(label, "unknown-machine", fmt::format("no constants for {}", machine), "a machine of the file",
         "fit constants for it");
}

Calibration calibration_for(const Machine& machine, const Ceiling& ceiling) {
  constexpr const char* kLabel = "calibration.json";
  const auto object = parse_object(data::calibration_json(), kLabel);
  const JsonKeys root(object, kLabel);
  if (const auto* entry = find_machine(root, machine.id)) return read_machine(JsonKeys(*entry, kLabel));
  const auto* reference = find_machine(root, root.text_or("reference", ""));
  if (reference == nullptr) throw std::logic_error("calibration.json: no reference machine");
  const JsonKeys keys(*reference, kLabel);
  auto result = read_machine(keys);
  const auto dram = ceiling.bandwidth(MemoryLevel::dram, "dram");
  if (!dram) throw UsageError("the machine states no DRAM bandwidth; name another, or add it");
  const double link = ceiling.links.empty() ? 0 : ceiling.links.front().bytes_per_s;
  const double link_reference = positive(keys, "link_bytes_per_s");
  scale(result, *dram / positive(keys, "dram_bytes_per_s"), link > 0 ? link / link_reference : 1);
  result.note =
      fmt::format("constants of {} with rates scaled by bandwidth: not measured on this machine", result.machine);
  return result;
}

double Calibration::time(const Operator& op, const Roofs& roofs) const {
  const auto& c = of(op.kind);
  const double floor = op.launches * c.launch_s;
  if (op.kind == OperatorClass::collective) return floor + op.link_bytes / c.bytes_per_s;
  const double compute = op.operations > 0 ? op.operations / (c.peak_fraction * roofs.peak(op.precision)) : 0;
  return floor + std::max(compute, op.bytes() / c.bytes_per_s);
}

namespace {

// Sums of a line through (x, y) with weights 1 / y^2: y = a + b x.
struct Line {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  void add(double at, double value) {
    const double weight = 1 / (value * value);
    w += weight;
    x += weight * at;
    y += weight * value;
    xx += weight * at * at;
    xy += weight * at * value;
  }
  // nullopt unless the points determine a rising line with a positive start.
  std::optional<std::pair<double, double>> solve() const {
    constexpr double kDegenerate = 1e-9;  // relative spread of x below which the slope is noise
    const double determinant = w * xx - x * x;
    if (!(determinant > kDegenerate * w * xx)) return std::nullopt;
    const double slope = (w * xy - x * y) / determinant;
    const double start = (y - slope * x) / w;
    if (!(slope > 0) || !(start > 0)) return std::nullopt;
    return std::pair{start, slope};
  }
};

double traffic(const Operator& op) { return op.kind == OperatorClass::collective ? op.link_bytes : op.bytes(); }

void fit_class(std::span<const Sample> samples, const Roofs& roofs, OperatorClass kind, ClassConstants& c) {
  Line memory;
  for (const auto& s : samples) {
    if (s.op.kind != kind || !(s.seconds > 0)) continue;
    if (roofs.compute_time(s.op) > roofs.memory_time(s.op)) continue;
    memory.add(traffic(s.op) / s.op.launches, s.seconds / s.op.launches);
  }
  if (const auto line = memory.solve()) {
    c.launch_s = line->first;
    c.bytes_per_s = 1 / line->second;
    c.source = "fitted";
  }
  // What is left of compute-bound times after the launch is spent at a share of the peak.
  // Least squares in 1 / share, weighted like the line above.
  double products = 0;
  double squares = 0;
  for (const auto& s : samples) {
    if (s.op.kind != kind || roofs.compute_time(s.op) <= roofs.memory_time(s.op)) continue;
    const double weight = 1 / (s.seconds * s.seconds);
    const double ideal = roofs.compute_time(s.op);
    products += weight * ideal * (s.seconds - s.op.launches * c.launch_s);
    squares += weight * ideal * ideal;
  }
  if (products > 0) c.peak_fraction = std::min(1.0, squares / products);
}

}  // namespace

Calibration fit_calibration(std::span<const Sample> samples, const Roofs& roofs, Calibration start) {
  for (std::size_t i = 0; i < kOperatorClasses; ++i)
    fit_class(samples, roofs, static_cast<OperatorClass>(i), start.classes[i]);
  start.scaled = false;
  start.note = fmt::format("fitted to {} measured times", samples.size());
  return start;
}

}  // namespace roofline::model
