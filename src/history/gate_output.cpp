// What the gate says, for machines that read it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "history/kernel_rows.h"
#include "roofline/history.h"

namespace roofline::history {
namespace {

using Json = nlohmann::ordered_json;

Json number(std::optional<double> value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

Json change_json(const Change& c) {
  Json interval = nullptr;
  if (c.interval) interval = Json::array({number(c.interval->low), number(c.interval->high)});
  return {{"before", number(c.before)},
          {"after", number(c.after)},
          {"ratio", number(c.ratio)},
          {"ratio_interval", interval},
          {"noise", number(c.noise)}};
}

Json finding_json(const GateFinding& f) {
  return {{"kernel", f.before_name},
          {"kernel_after", f.after_name},
          {"family", f.family},
          {"operator", f.op.empty() ? Json(nullptr) : Json(f.op)},
          {"verdict", to_string(f.verdict)},
          {"match", to_string(f.kind)},
          {"matched_by", to_string(f.by)},
          {"time_share", number(f.time_share)},
          {"fraction", change_json(f.fraction)},
          {"call_time_s", change_json(f.call_time_s)},
          {"chance", number(f.chance)},
          {"reasons", f.reasons},
          {"what_changed", f.what_changed}};
}

std::string name_of(const GateFinding& f) {
  if (!f.op.empty()) return f.op;
  return !f.before_name.empty() ? f.before_name : f.after_name;
}

std::string percent(std::optional<double> value) { return value ? fmt::format("{:.1f} %", *value * 100) : "unknown"; }

std::string sentence(const GateFinding& f) {
  std::string out = fmt::format("{}: {}", name_of(f), to_string(f.verdict));
  if (f.fraction.before || f.fraction.after)
    out += fmt::format(", {} of the roof after {}", percent(f.fraction.after), percent(f.fraction.before));
  if (f.call_time_s.ratio) out += fmt::format(", time per launch {:+.1f} %", (*f.call_time_s.ratio - 1) * 100);
  for (const auto& reason : f.reasons) out += "; " + reason;
  for (const auto& change : f.what_changed)
    if (std::none_of(f.reasons.begin(), f.reasons.end(),
                     [&](const std::string& reason) { return reason.find(change) != std::string::npos; }))
      out += "; " + change;
  return out;
}

// ---------------------------------------------------------------- XML

// Characters that XML 1.0 cannot hold, not even escaped, become U+FFFD.
std::string xml(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  const auto whole = storable(text);
  std::string out;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto c = static_cast<unsigned char>(whole[i]);
    const bool noncharacter =
        c == 0xef && whole.compare(i, 2, "\xEF\xBF") == 0 && static_cast<unsigned char>(whole[i + 2]) >= 0xbe;
    if (noncharacter) {
      out += kReplacement;
      i += 2;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\n' || c == '\t' || c == '\r') {
      out += fmt::format("&#{};", c);  // as they are they would become spaces in an attribute
    } else if (c < 0x20) {
      out += kReplacement;
    } else {
      out += whole[i];
    }
  }
  return out;
}

std::string test_case(const GateFinding& f) {
  const auto seconds = f.call_time_s.after.value_or(0);
  auto out = fmt::format("    <testcase classname=\"roofline.gate\" name=\"{}\" time=\"{}\"", xml(name_of(f)), seconds);
  const auto text = xml(sentence(f));
  // What was not decided must not look like a pass.
  if (f.verdict == GateVerdict::drop)
    return out + fmt::format(">\n      <failure type=\"drop\" message=\"{}\"/>\n    </testcase>\n", text);
  if (f.verdict == GateVerdict::inconclusive)
    return out + fmt::format(">\n      <error type=\"inconclusive\" message=\"{}\"/>\n    </testcase>\n", text);
  return out + fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", text);
}

// ---------------------------------------------------------------- GitHub

// Rules: GitHub Actions, "Workflow commands"; the escapes are those of its toolkit (packages/core/src/command.ts).
std::string message(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '%')
      out += "%25";
    else if (c == '\r')
      out += "%0D";
    else if (c == '\n')
      out += "%0A";
    else
      out += c;
  }
  return out;
}
std::string property(std::string_view text) {
  std::string out;
  for (const char c : message(text)) {
    if (c == ':')
      out += "%3A";
    else if (c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

const char* level(GateVerdict verdict) {
  if (verdict == GateVerdict::drop) return "error";
  return verdict == GateVerdict::inconclusive ? "warning" : "notice";
}

std::string annotation(GateVerdict verdict, std::string_view title, std::string_view text) {
  return fmt::format("::{} title={}::{}\n", level(verdict), property(storable(title)), message(storable(text)));
}

}  // namespace

std::string gate_json(const GateResult& result, const GateContext& context) {
  Json findings = Json::array();
  for (const auto& f : result.findings) findings.push_back(finding_json(f));
  const Json out = {{"schema", "roofline/gate/1"},
                    {"verdict", to_string(result.verdict)},
                    {"sentence", result.sentence},
                    {"reasons", result.reasons},
                    {"judged", result.judged},
                    {"judged_time_share", number(result.judged_time_share)},
                    {"max_drop", number(context.max_drop)},
                    {"candidate", context.candidate},
                    {"baseline", context.baseline},
                    {"findings", std::move(findings)}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string gate_junit(const GateResult& result, const GateContext& context) {
  std::size_t failures = 0;
  std::size_t errors = 0;
  for (const auto& f : result.findings) {
    failures += f.verdict == GateVerdict::drop ? 1 : 0;
    errors += f.verdict == GateVerdict::inconclusive ? 1 : 0;
  }
  // The whole can be undecided although no kernel is: then it is a case of its own.
  const bool whole = errors == 0 && result.verdict == GateVerdict::inconclusive;
  const auto tests = result.findings.size() + (whole ? 1 : 0);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  const auto counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\"", tests, failures,
                                  errors + (whole ? 1 : 0));
  out += fmt::format("<testsuites name=\"roofline gate\" {}>\n", counts);
  out += fmt::format("  <testsuite name=\"{}\" {}>\n", xml(context.candidate + " against " + context.baseline), counts);
  for (const auto& f : result.findings) out += test_case(f);
  if (whole)
    out += fmt::format(
        "    <testcase classname=\"roofline.gate\" name=\"(the whole)\">\n      <error "
        "type=\"inconclusive\" message=\"{}\"/>\n    </testcase>\n",
        xml(result.sentence));
  std::string reasons = result.sentence;
  for (const auto& reason : result.reasons) reasons += "\n" + reason;
  out += fmt::format("    <system-out>{}</system-out>\n", xml(reasons));
  return out + "  </testsuite>\n</testsuites>\n";
}

std::string gate_github(const GateResult& result, const GateContext& context) {
  // GitHub shows ten annotations of a kind a step, so the whole comes first.
  auto text = result.sentence;
  for (const auto& reason : result.reasons) text += "\n" + reason;
  // Passes are not annotated, but a rename or another precision is no secret.
  for (const auto& f : result.findings)
    if (f.verdict == GateVerdict::pass && !f.what_changed.empty())
      text += fmt::format("\n{}: {}; {}", name_of(f), to_string(f.verdict), fmt::join(f.what_changed, "; "));
  auto out = annotation(result.verdict, "roofline gate: " + std::string(to_string(result.verdict)),
                        text + "\n" + context.candidate + " against " + context.baseline);
  for (const auto& f : result.findings)
    if (f.verdict != GateVerdict::pass)
      out += annotation(f.verdict, fmt::format("{}: {}", name_of(f), to_string(f.verdict)), sentence(f));
  return out;
}

}  // namespace roofline::history
