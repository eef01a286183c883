// Rules and section charts of a report, read on demand from the bytes a profile keeps.
#include <cmath>
#include <limits>
#include <unordered_map>

#include "profile/expression.h"
#include "profile/ncu_rep_blocks.h"
#include "profile/ncu_rep_result.h"
#include "profile/ncu_rep_wire.h"
#include "roofline/profile.h"

namespace roofline {
namespace {

using ncu_rep::Message;
using ncu_rep::ReportBytes;

std::string text_of(std::string_view bytes) {
  std::string scratch;
  return std::string(ncu_rep::valid_utf8(bytes, scratch));
}

// Calls `use` with each value of one repeated field.
template <typename Use>
void each_message(Message m, std::uint32_t field, const Use& use) {
  while (m.next()) {
    if (m.field() == field && m.is_bytes()) use(m.message());
  }
}

// First value of a text field; empty when absent.
std::string first_text(Message m, std::uint32_t field) {
  while (m.next()) {
    if (m.field() == field && m.is_bytes()) return text_of(m.bytes());
  }
  return {};
}

std::optional<Message> first_message(Message m, std::uint32_t field) {
  while (m.next()) {
    if (m.field() == field && m.is_bytes()) return m.message();
  }
  return std::nullopt;
}

std::uint64_t first_integer(Message m, std::uint32_t field, std::uint64_t otherwise) {
  while (m.next()) {
    if (m.field() == field && m.is_varint()) return m.varint();
  }
  return otherwise;
}

// The launch's record, if this profile came from a report.
struct Record {
  const ReportBytes* report = nullptr;
  Input input;

  Record(const Profile& profile, const Launch& launch) : input{profile.bytes, profile.path} {
    report = dynamic_cast<const ReportBytes*>(profile.bytes.get());
    if (report == nullptr) return;
    const bool inside = launch.offset <= report->size() && launch.size <= report->size() - launch.offset;
    if (inside) bytes_ = report->bytes().substr(launch.offset, launch.size);
  }
  explicit operator bool() const { return report != nullptr; }
  Message message() const { return {bytes_, input}; }

 private:
  std::string_view bytes_;
};

// --- rules ---

constexpr std::uint32_t kRules = 19;
constexpr std::string_view kMessageTypes[] = {"none", "ok", "warning", "error", "optimization"};

std::string message_type(std::uint64_t type) {
  return type < std::size(kMessageTypes) ? std::string(kMessageTypes[type]) : std::to_string(type);
}

void read_speedup(Message m, RuleResult& rule) {
  while (m.next()) {
    if (m.field() == 1) {
      const auto type = m.varint();
      rule.speedup_type = type == 1 ? "local" : type == 2 ? "global" : "";
    } else if (m.field() == 2) {
      rule.speedup_percent = m.fixed64();
    }
  }
}

void read_rule_item(Message item, RuleResult& rule) {
  while (item.next()) {
    if (item.field() == 1 && item.is_bytes()) {
      const Message message = item.message();
      rule.messages.push_back({first_text(message, 1), message_type(first_integer(message, 2, 0))});
    } else if (item.field() == 10 && item.is_bytes()) {
      read_speedup(item.message(), rule);
    }
  }
}

RuleResult read_rule(Message m) {
  RuleResult rule;
  while (m.next()) {
    switch (m.field()) {
      case 1:
        rule.rule = text_of(m.bytes());
        break;
      case 2:
        rule.title = text_of(m.bytes());
        break;
      case 3:
        each_message(m.message(), 1, [&](Message item) { read_rule_item(item, rule); });
        break;
      case 4:
        rule.section = text_of(m.bytes());
        break;
      default:
        break;
    }
  }
  return rule;
}

// --- rooflines that sections define ---

constexpr std::uint32_t kSections = 17;
constexpr std::uint64_t kNoUpperLimit = 9999;

double missing() { return std::numeric_limits<double>::quiet_NaN(); }

// Evaluates the charts of one result: its numbers by name, its chip, and what its sections derive.
class Charts {
 public:
  explicit Charts(const Record& record) : record_(record) {
    each_message(record.message(), 13, [&](Message m) { add_metric(m); });
    const auto major = stored("device__attribute_compute_capability_major").value_or(0);
    const auto minor = stored("device__attribute_compute_capability_minor").value_or(0);
    chip_ = major * 10 + minor;
    each_message(record.message(), kSections, [&](Message section) { add_derived(section); });
  }

  std::vector<SectionRoofline> all() {
    std::vector<SectionRoofline> out;
    each_message(record_.message(), kSections, [&](Message section) {
      const std::string name = first_text(section, 1);
      each_message(section, 5, [&](Message body) {
        each_message(body, 1, [&](Message item) {
          if (const auto chart = first_message(item, 6); chart && filters_fit(item, 200)) add_chart(*chart, name, out);
        });
      });
    });
    return out;
  }

 private:
  struct Amount {
    double value = missing();
    std::string expression;
  };

  void add_metric(Message m) {
    const auto metric = ncu_rep::read_metric(m);
    const auto& strings = record_.report->strings();
    if (metric.name >= strings.size()) return;  // its name was lost with the end of a cut file
    numbers_[strings[metric.name]] = metric.value.is_number ? metric.value.number : missing();
  }

  void add_derived(Message section) {
    each_message(section, 10, [&](Message group) {
      each_message(group, 1, [&](Message m) {
        if (filters_fit(m, 3)) derived_.emplace(first_text(m, 1), first_text(m, 2));
      });
    });
  }

  std::optional<double> stored(std::string_view name) const {
    const auto it = numbers_.find(name);
    return it == numbers_.end() || std::isnan(it->second) ? std::nullopt : std::optional<double>(it->second);
  }

  // The stored value, else what the sections' own formula gives. Formulas may use each other, in a hostile file in a
  // ring or in a tree that grows at every level: each is evaluated once, and one being evaluated has no value yet.
  std::optional<double> number(std::string_view name, int depth = 0) const {
    constexpr int kMaxDepth = 8;
    if (const auto value = stored(name)) return value;
    const auto formula = derived_.find(std::string(name));
    if (formula == derived_.end() || depth >= kMaxDepth) return std::nullopt;
    if (const auto [it, fresh] = evaluated_.try_emplace(formula->first, std::nullopt); !fresh) return it->second;
    const auto value = evaluate_expression(formula->second, [&](std::string_view n) { return number(n, depth + 1); });
    evaluated_[formula->first] = value;
    return value;
  }

  bool in_range(Message range) const {
    const auto low = static_cast<double>(first_integer(range, 1, 0));
    const auto high = static_cast<double>(first_integer(range, 2, kNoUpperLimit));
    return low <= chip_ && chip_ <= high;
  }

  bool filter_fits(Message filter) const {
    bool ranges = false;
    bool fits = false;
    each_message(filter, 3, [&](Message range) {
      ranges = true;
      fits = fits || in_range(range);
    });
    return ranges ? fits : in_range(filter);
  }

  bool filters_fit(Message m, std::uint32_t field) const {
    bool fits = true;
    each_message(m, field, [&](Message filter) { fits = fits && filter_fits(filter); });
    return fits;
  }

  // The name that holds on this chip; empty when the metric does not apply to it.
  std::string metric_name(Message metric) const {
    std::optional<std::string> name;
    each_message(metric, 7, [&](Message option) {
      if (!name && filters_fit(option, 3)) name = first_text(option, 1);
    });
    if (name) return *name;
    return filters_fit(metric, 6) ? first_text(metric, 1) : std::string();
  }

  // Sum of the metrics in `field`.
  Amount sum(Message m, std::uint32_t field) const {
    Amount total;
    each_message(m, field, [&](Message metric) {
      const std::string name = metric_name(metric);
      if (name.empty()) return;
      const double value = number(name).value_or(missing());
      total.value = total.expression.empty() ? value : total.value + value;
      total.expression += (total.expression.empty() ? "" : " + ") + name;
    });
    return total;
  }

  // Either metrics that are rates already, or metrics per cycle times the cycles per second.
  Amount amount(Message m) const {
    const auto product = first_message(m, 3);
    if (!product) {
      Amount plain = sum(m, 2);
      return plain.expression.empty() ? sum(m, 1) : plain;
    }
    const Amount per_cycle = sum(*product, 1);
    const Amount clock = sum(*product, 2);
    return {per_cycle.value * clock.value, "(" + per_cycle.expression + ") * " + clock.expression};
  }

  void add_chart(Message chart, const std::string& section, std::vector<SectionRoofline>& out) const {
    const std::string title = first_text(chart, 1);
    for (const bool roof : {true, false}) {
      each_message(chart, roof ? 4 : 5, [&](Message entry) {
        SectionRoofline line;
        line.section = section;
        line.chart = title;
        line.roof = roof;
        if (const auto options = first_message(entry, 3)) line.label = first_text(*options, 1);
        const auto work = first_message(entry, 1);
        const auto traffic = first_message(entry, 2);
        const Amount w = work ? amount(*work) : Amount();
        const Amount t = traffic ? amount(*traffic) : Amount();
        line.work = w.value;
        line.traffic = t.value;
        line.work_expression = w.expression;
        line.traffic_expression = t.expression;
        out.push_back(std::move(line));
      });
    }
  }

  const Record& record_;
  std::unordered_map<std::string_view, double> numbers_;  // the last of equal names; NaN: not collected
  std::unordered_map<std::string, std::string> derived_;
  mutable std::unordered_map<std::string, std::optional<double>> evaluated_;
  double chip_ = 0;  // 10 x compute capability
};

}  // namespace

std::vector<RuleResult> rule_results(const Profile& profile, const Launch& launch) {
  std::vector<RuleResult> rules;
  const Record record(profile, launch);
  if (record) each_message(record.message(), kRules, [&](Message m) { rules.push_back(read_rule(m)); });
  return rules;
}

std::vector<SectionRoofline> section_rooflines(const Profile& profile, const Launch& launch) {
  const Record record(profile, launch);
  return record ? Charts(record).all() : std::vector<SectionRoofline>();
}

}  // namespace roofline
