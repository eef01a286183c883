#include "report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "report/labels.h"
#include "report/numbers.h"

namespace roofline::report {
namespace {

constexpr std::size_t kMostPerList = 3;  // a report stays short; `explain` has the rest
constexpr std::size_t kNameWidth = 40;   // template arguments run to thousands of characters

struct Entry {
  std::size_t row = 0;
  double gain_s = 0;
  const Finding* finding = nullptr;  // may be null
};

const Finding* first_of(const KernelRow& row, std::string_view list) {
  for (const auto& f : row.findings)
    if (f.gain_list == list) return &f;
  return nullptr;
}

// The cause with the largest estimate; without one the first that is about the same work.
const Finding* first_cause(const KernelRow& row) {
  if (const auto* f = first_of(row, "same-work")) return f;
  for (const auto& f : row.findings)
    if (f.kind == "cause" && f.gain_list.empty() && f.id != "launch-bound") return &f;  // that one asks for less work
  return nullptr;
}

void rank(std::vector<Entry>& entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.gain_s > b.gain_s; });
}

std::vector<Entry> same_work(const Report& report) {
  std::vector<Entry> out;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const auto& p = report.rows[i].group.placement;
    if (p.look && p.gain_s) out.push_back({i, *p.gain_s, first_cause(report.rows[i])});
  }
  rank(out);
  return out;
}

std::vector<Entry> less_work(const Report& report) {
  std::vector<Entry> out;
  const double least = report.thresholds.look_share * report.total.time_s;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const auto* f = first_of(report.rows[i], "less-work");
    if (f != nullptr && f->gain_s.value_or(0) > 0 && *f->gain_s >= least) out.push_back({i, *f->gain_s, f});
  }
  rank(out);
  return out;
}

std::string saving(double gain_s, double total_s) {
  return total_s > 0 ? fmt::format("{}, {} of the time", si(gain_s, "s"), numbers::share(gain_s / total_s))
                     : si(gain_s, "s");
}

// What to do about a row, or at least why it is slow; empty where neither is known: the table has marked it already.
std::string advice(const Report& report, const Entry& e) {
  if (e.finding != nullptr) return fmt::format("{}. {}", e.finding->title, e.finding->action);
  return report.rows[e.row].group.placement.reason;
}

struct Advised {
  std::string rows;
  std::string advice;
};

// Rows with the same advice share a line.
std::vector<Advised> by_advice(const Report& report, const std::vector<std::string>& labels,
                               const std::vector<Entry>& entries) {
  std::vector<Advised> out;
  for (const auto& e : entries) {
    auto text = advice(report, e);
    if (text.empty()) continue;
    const auto row =
        fmt::format("{} (at most {})", cut_middle(labels[e.row], kNameWidth), saving(e.gain_s, report.total.time_s));
    const auto same = std::find_if(out.begin(), out.end(), [&](const Advised& a) { return a.advice == text; });
    if (same != out.end())
      same->rows += ", " + row;
    else
      out.push_back({row, std::move(text)});
  }
  return out;
}

void add_list(const Report& report, const std::vector<std::string>& labels, std::string_view heading,
              const std::vector<Entry>& entries, std::vector<Block>& out) {
  const std::span<const Entry> first(entries.data(), std::min(entries.size(), kMostPerList));
  const auto lines = by_advice(report, labels, {first.begin(), first.end()});
  if (lines.empty()) return;
  out.emplace_back(Heading{std::string(heading)});
  Bullets list;
  for (const auto& l : lines) list.items.push_back({fmt::format("{}: {}", l.rows, l.advice), Tone::normal});
  if (entries.size() > first.size())
    list.items.push_back({fmt::format("{} more", entries.size() - first.size()), Tone::faint});
  out.emplace_back(std::move(list));
}

bool has_finding(const Report& report, std::string_view id) {
  return std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& f) { return f.id == id; });
}

// Time that rows lose in a partly filled last wave: the one tail effect that counters show.
double tail_loss(const Report& report) {
  double sum = 0;
  for (const auto& row : report.rows)
    for (const auto& f : row.findings)
      if (f.id == "tail-wave") sum += f.gain_s.value_or(0);
  return sum;
}

}  // namespace

std::vector<Block> finding_lists(const Report& report) {
  std::vector<Block> out;
  const auto labels = row_labels(report);
  add_list(report, labels, "Same work, done better", same_work(report), out);
  add_list(report, labels, "Less work", less_work(report), out);
  return out;
}

std::vector<Block> limits_footer(const Report& report) {
  if (!report.total.fraction || report.findings.empty()) return {};
  std::string text = "What this does not tell: ";
  if (has_finding(report, "no-timeline")) text += "gaps between kernels and the CPU's share (no timeline given), ";
  text += "whether the work is needed at all, and what kernels do to each other's caches.";
  if (const double lost = tail_loss(report); lost > 0)
    text += fmt::format(" Last waves that are partly filled cost up to {}.", saving(lost, report.total.time_s));
  std::string caveats;
  for (const auto& f : report.findings)
    if (f.id != "no-timeline") caveats += (caveats.empty() ? "" : "; ") + f.title;
  std::vector<Block> out;
  if (!caveats.empty()) out.emplace_back(Paragraph{"Mind: " + caveats + ".", Tone::faint});
  out.emplace_back(Paragraph{std::move(text), Tone::faint});
  return out;
}

}  // namespace roofline::report
