// Prints, for every report named, where each rule fires and where it stays silent, and how that compares with the rule
// results that Nsight Compute stored in the file. Markdown, for docs/diagnosis.md:
//   diagnosis_survey FILE...
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "roofline/analysis.h"
#include "roofline/diagnosis.h"
#include "roofline/error.h"
#include "roofline/names.h"
#include "roofline/profile.h"

namespace {

using namespace roofline;

struct Use {
  std::size_t fired = 0, silent = 0, blind = 0;  // blind: none of the metrics it reads is there
  std::string example, quiet;
};

struct Agreement {
  std::size_t both = 0, neither = 0, only_nvidia = 0, only_ours = 0, done = 0, blind = 0;
};

std::string place(const std::string& file, const Launch& launch) {
  return fmt::format("{}: {}", std::filesystem::path(file).filename().string(), short_kernel_name(launch.name));
}

std::string code(const std::string& text) { return text.empty() ? "–" : "`" + text + "`"; }

bool has(const KernelRow& row, std::string_view id) {
  return std::any_of(row.findings.begin(), row.findings.end(), [&](const Finding& f) { return f.id == id; });
}

bool can_see(const RuleInfo& rule, const Launch& launch, const Profile& profile) {
  if (rule.metrics.empty() || !rule.reads.empty()) return true;
  const auto values = launch.metrics.values();
  return std::any_of(values.begin(), values.end(), [&](const auto& v) {
    return std::find(rule.metrics.begin(), rule.metrics.end(), profile.metric_name(v.first)) != rule.metrics.end();
  });
}

// All metrics of the rule that a launch lacks make it blind, whatever else it reads.
bool sees_metric(const RuleInfo& rule, const Launch& launch, const Profile& profile) {
  if (rule.metrics.empty()) return true;
  RuleInfo only = rule;
  only.reads = {};
  return can_see(only, launch, profile);
}

class Survey {
 public:
  void add(const std::string& file) {
    const std::vector<Profile> profiles = {open_profile(file)};
    AnalysisOptions options;
    options.per_launch = true;
    const auto report = analyze(profiles, options);
    const auto& profile = profiles.front();
    std::map<std::uint64_t, const Launch*> launches;
    for (const auto& l : profile.launches) launches[l.ordinal] = &l;
    for (const auto& row : report.rows) {
      if (!row.diagnosed_launch) continue;
      const auto& launch = *launches.at(*row.diagnosed_launch);
      add_rules(file, profile, row, launch);
      if (profile.format == "ncu-rep") add_nvidia(profile, row, launch);
    }
  }

  static void print_registry() {
    fmt::print("| rule | fires where | source | reads | list |\n|---|---|---|---|---|\n");
    for (const auto& rule : diagnosis_rules()) {
      constexpr std::size_t kShown = 3;
      std::vector<std::string> reads;
      for (const auto name : rule.metrics.first(std::min(kShown, rule.metrics.size())))
        reads.push_back(fmt::format("`{}`", name));
      if (rule.metrics.size() > kShown) reads.push_back(fmt::format("{} more", rule.metrics.size() - kShown));
      if (!rule.reads.empty()) reads.emplace_back(rule.reads);
      fmt::print("| `{}` ({}) | {} | {} | {} | {} |\n", rule.id, rule.kind, rule.condition, rule.source,
                 fmt::join(reads, ", "), rule.list == GainList::none ? "–" : to_string(rule.list));
    }
    fmt::print("\n");
  }

  void print() const {
    fmt::print("| rule | fires | silent | not measured | fires on | silent on |\n|---|---|---|---|---|---|\n");
    for (const auto& rule : diagnosis_rules()) {
      const auto it = uses_.find(std::string(rule.id));
      const Use use = it == uses_.end() ? Use{} : it->second;
      fmt::print("| `{}` | {} | {} | {} | {} | {} |\n", rule.id, use.fired, use.silent, use.blind, code(use.example),
                 code(use.quiet));
    }
    fmt::print(
        "\n| rule of Nsight Compute | both object | both silent | only NVIDIA | of these done | of these not measured "
        "| only ours | ours |\n|---|---|---|---|---|---|---|---|\n");
    for (const auto& [name, a] : nvidia_) {
      const auto ours = counterparts(name);
      fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} |\n", name, a.both, a.neither, a.only_nvidia, a.done, a.blind,
                 a.only_ours, ours.empty() ? "none" : fmt::format("{}", fmt::join(ours, ", ")));
    }
  }

 private:
  void add_rules(const std::string& file, const Profile& profile, const KernelRow& row, const Launch& launch) {
    for (const auto& rule : diagnosis_rules()) {
      auto& use = uses_[std::string(rule.id)];
      if (has(row, rule.id)) {
        if (use.fired++ == 0) use.example = place(file, launch);
      } else if (!sees_metric(rule, launch, profile)) {
        ++use.blind;
      } else if (use.silent++ == 0) {
        use.quiet = place(file, launch);
      }
    }
  }

  void add_nvidia(const Profile& profile, const KernelRow& row, const Launch& launch) {
    for (const auto& r : rule_results(profile, launch)) {
      auto& a = nvidia_[r.rule];
      const auto ours = counterparts(r.rule);
      const bool fired = std::any_of(ours.begin(), ours.end(), [&](auto id) { return has(row, id); });
      const bool objects = nvidia_objects(r);
      if (fired && objects) ++a.both;
      if (!fired && !objects) ++a.neither;
      if (fired && !objects) {
        ++a.only_ours;
        tell_difference(r, profile, launch, row, ours);
      }
      if (fired || !objects) continue;
      ++a.only_nvidia;
      if (is_optimal(row.group.placement.position))
        ++a.done;
      else if (!sees_any(ours, launch, profile))
        ++a.blind;
      else if (std::getenv("SURVEY_DIFFERENCES") != nullptr)
        fmt::print(stderr, "{}\t{}\t{}\t{}\n", r.rule, place(profile.path, launch),
                   to_string(row.group.placement.position), r.messages.empty() ? "" : r.messages.back().text);
    }
  }

  // For people who ask why: set SURVEY_DIFFERENCES.
  static void tell_difference(const RuleResult& r, const Profile& profile, const Launch& launch, const KernelRow& row,
                              std::span<const std::string_view> ours) {
    if (std::getenv("SURVEY_DIFFERENCES") == nullptr) return;
    for (const auto id : ours)
      if (has(row, id))
        fmt::print(stderr, "only ours: {}\t{}\t{}\t{}\n", r.rule, id, profile.producer, place(profile.path, launch));
  }

  static bool sees_any(std::span<const std::string_view> ids, const Launch& launch, const Profile& profile) {
    for (const auto& rule : diagnosis_rules())
      if (std::find(ids.begin(), ids.end(), rule.id) != ids.end() && sees_metric(rule, launch, profile)) return true;
    return false;
  }

  std::map<std::string, Use> uses_;
  std::map<std::string, Agreement> nvidia_;
};

}  // namespace

int main(int argc, char** argv) {
  Survey survey;
  for (int i = 1; i < argc; ++i) {
    try {
      survey.add(argv[i]);
    } catch (const roofline::InputError& e) {
      fmt::print(stderr, "{}\n", e.what());
    }
  }
  Survey::print_registry();
  survey.print();
}
