// The newest records as metrics for Prometheus. Format: OpenMetrics 1.0; what it shares with the older text format of
// Prometheus is enough for us, so both kinds of reader take it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "roofline/error.h"
#include "roofline/history.h"

namespace roofline::history {
namespace {

// Sums of all rows that share the labels.
struct Sum {
  double launches = 0;
  std::optional<double> time_s, flops, dram_bytes, gain_s;
  double placed_s = 0, roof_s = 0;
  bool lower = false;

  static void add(std::optional<double> part, std::optional<double>& sum) {
    if (part) sum = sum.value_or(0) + *part;
  }
  void add(const KernelRecord& k) {
    launches += static_cast<double>(k.launches);
    add(k.time_s, time_s);
    add(k.flops, flops);
    add(k.dram_bytes, dram_bytes);
    add(k.gain_s, gain_s);
    if (!k.fraction || !k.time_s) return;
    placed_s += *k.time_s;
    roof_s += *k.fraction * *k.time_s;
    lower = lower || k.bound == Bound::lower;
  }
  std::optional<double> fraction() const { return placed_s > 0 ? std::optional(roof_s / placed_s) : std::nullopt; }
};

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '"')
      out += "\\\"";
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += ' ';
    else
      out += c;
  }
  return out;
}

std::string in_braces(const MetricLabels& labels) {
  std::string out;
  for (const auto& [name, value] : labels)
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, escaped(value));
  return "{" + out + "}";
}

// Families keep the order in which they were declared; their samples stand together, as the format demands.
class Families {
 public:
  void declare(std::string name, std::string unit, std::string help) {
    order_.push_back(name);
    auto& text = text_[name];
    text = fmt::format("# TYPE {} gauge\n", name);
    if (!unit.empty()) text += fmt::format("# UNIT {} {}\n", name, unit);
    text += fmt::format("# HELP {} {}\n", name, help);
  }
  void add(const std::string& name, const MetricLabels& labels, std::optional<double> value) {
    if (value && std::isfinite(*value)) text_.at(name) += fmt::format("{}{} {}\n", name, in_braces(labels), *value);
  }
  std::string text() const {
    std::string out;
    for (const auto& name : order_) out += text_.at(name);
    return out + "# EOF\n";
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::string> text_;
};

void declare_all(Families& f) {
  f.declare("roofline_step_time_seconds", "seconds", "Time of all kernels of the newest record.");
  f.declare("roofline_step_fraction_of_roof_ratio", "ratio", "Roof time by time over the placed kernels, 0 to 1.");
  f.declare("roofline_step_placed_time_ratio", "ratio", "Share of the time that the fraction is about, 0 to 1.");
  f.declare("roofline_step_wall_seconds", "seconds", "Wall time of the step, where a timeline gave it.");
  f.declare("roofline_step_clock_hertz", "hertz", "SM clock of the run, median over the kernels' time.");
  f.declare("roofline_step_kernels", "", "Rows of the newest record.");
  f.declare("roofline_step_prediction_error_ratio", "ratio", "Mean error of the prediction, by time, 0.1 is 10 %.");
  f.declare("roofline_record_timestamp_seconds", "seconds", "When the newest record was taken, since 1970.");
  f.declare("roofline_kernel_time_seconds", "seconds", "Time of all launches of this kernel.");
  f.declare("roofline_kernel_roof_time_seconds", "seconds", "Least time that the roof allows for the placed launches.");
  f.declare("roofline_kernel_fraction_of_roof_ratio", "ratio", "Roof time by time, 0 to 1.");
  f.declare("roofline_kernel_fraction_is_lower_bound", "", "1 where operations were not all counted, else 0.");
  f.declare("roofline_kernel_launches", "", "Launches of this kernel.");
  f.declare("roofline_kernel_floating_point_operations", "", "Floating-point operations of all launches.");
  f.declare("roofline_kernel_dram_bytes", "bytes", "DRAM traffic of all launches.");
  f.declare("roofline_kernel_gain_seconds", "seconds", "Time above the roof: what the same work could save.");
}

// [a-zA-Z_][a-zA-Z0-9_]*, none of ours, none that Prometheus or the format (le, quantile: OpenMetrics 1.0) keeps for
// itself.
std::string label_name(std::string_view key) {
  static const std::set<std::string, std::less<>> kOurs = {"kernel", "operator", "machine", "ceiling",
                                                           "job",    "instance", "le",      "quantile"};
  std::string out;
  for (const char c : key) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += letter ? c : '_';
  }
  const bool reserved = kOurs.contains(out) || out.starts_with("__") || (out.front() >= '0' && out.front() <= '9');
  return reserved ? "label_" + out : out;
}

void add_record(const RecordInfo& r, const MetricLabels& labels, Families& f) {
  constexpr double kMicrosecond = 1e-6;
  f.add("roofline_step_time_seconds", labels, r.time_s);
  f.add("roofline_step_fraction_of_roof_ratio", labels, r.fraction);
  if (r.time_s) f.add("roofline_step_placed_time_ratio", labels, r.placed_time_share);
  f.add("roofline_step_wall_seconds", labels, r.wall_s);
  f.add("roofline_step_clock_hertz", labels, r.clock_hz);
  f.add("roofline_step_kernels", labels, static_cast<double>(r.kernels));
  f.add("roofline_step_prediction_error_ratio", labels, r.prediction_error);
  f.add("roofline_record_timestamp_seconds", labels, static_cast<double>(r.time) * kMicrosecond);
}

void add_kernel(const Sum& s, const MetricLabels& labels, Families& f) {
  f.add("roofline_kernel_time_seconds", labels, s.time_s);
  f.add("roofline_kernel_roof_time_seconds", labels, s.fraction() ? std::optional(s.roof_s) : std::nullopt);
  f.add("roofline_kernel_fraction_of_roof_ratio", labels, s.fraction());
  if (s.fraction()) f.add("roofline_kernel_fraction_is_lower_bound", labels, s.lower ? 1 : 0);
  f.add("roofline_kernel_launches", labels, s.launches);
  f.add("roofline_kernel_floating_point_operations", labels, s.flops);
  f.add("roofline_kernel_dram_bytes", labels, s.dram_bytes);
  f.add("roofline_kernel_gain_seconds", labels, s.gain_s);
}

std::string cut(std::string text) {
  constexpr std::size_t kMost = 100;
  if (text.size() <= kMost) return text;
  auto end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return text.substr(0, end);
}

// By family and operator: versions and tile sizes of one kernel stay one series.
void add_kernels(const StepRecord& step, const MetricLabels& labels, std::size_t top, Families& f) {
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (const auto& k : step.kernels)
    sums[{cut(name_family(k.full_name.empty() ? k.name : k.full_name)), cut(k.op)}].add(k);
  std::vector<std::pair<std::pair<std::string, std::string>, Sum>> order(sums.begin(), sums.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second.time_s.value_or(0) > b.second.time_s.value_or(0);
  });
  const auto shown = top == 0 ? order.size() : std::min(top, order.size());
  for (std::size_t i = 0; i < shown; ++i) {
    auto own = labels;
    own.emplace_back("kernel", order[i].first.first);
    own.emplace_back("operator", order[i].first.second);
    add_kernel(order[i].second, own, f);
  }
  if (shown == order.size()) return;
  Sum rest;
  for (const auto& k : step.kernels) {
    const std::pair key{cut(name_family(k.full_name.empty() ? k.name : k.full_name)), cut(k.op)};
    if (std::any_of(order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](const auto& entry) { return entry.first == key; }))
      rest.add(k);
  }
  auto own = labels;
  own.emplace_back("kernel", "(other)");
  own.emplace_back("operator", "");
  add_kernel(rest, own, f);
}

void check_names(const std::vector<std::string>& keys) {
  std::set<std::string> names;
  for (const auto& key : keys) {
    check_labels({{key, ""}});
    if (!names.insert(label_name(key)).second)
      throw UsageError(fmt::format("two labels would be called '{}' as labels of metrics", label_name(key)));
  }
}

}  // namespace

std::string export_openmetrics(const Store& store, const Filter& filter, const MetricsOptions& options) {
  check_names(options.labels);
  Families families;
  declare_all(families);
  std::set<MetricLabels> seen;
  constexpr std::size_t kMostGroups = 200;
  for (const auto& record : store.list(filter)) {
    MetricLabels labels = {{"machine", record.machine}, {"ceiling", std::string(to_string(record.ceiling))}};
    for (const auto& key : options.labels) {
      const auto it = record.labels.find(key);
      labels.emplace_back(label_name(key), it != record.labels.end() ? it->second : "");
    }
    if (!seen.insert(labels).second) continue;  // newest first
    if (seen.size() > kMostGroups)
      throw UsageError(
          fmt::format("more than {} combinations of machine and labels: metrics want labels with few "
                      "values (a branch, a model), not one per run",
                      kMostGroups));
    add_record(record, labels, families);
    add_kernels(store.step(record), labels, options.top, families);
  }
  return families.text();
}

}  // namespace roofline::history
