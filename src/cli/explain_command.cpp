#include "cli/explain_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/ceiling_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/threshold_options.h"
#include "roofline/analysis.h"
#include "roofline/chart.h"
#include "roofline/diagnosis.h"
#include "roofline/error.h"
#include "roofline/page.h"
#include "roofline/profile.h"

namespace roofline::cli {
namespace {

double time_of(const KernelRow& row) { return row.group.work.time.value_or(0); }

// Everything that the rules of this tool and the profiler's own read.
constexpr std::string_view kSections =
    "ncu --section SpeedOfLight --section Occupancy --section LaunchStats --section SchedulerStats "
    "--section WarpStateStats --section MemoryWorkloadAnalysis_Tables --section SourceCounters "
    "--section InstructionStats";

class ExplainCommand : public Command {
 public:
  void setup(CLI::App& app) override {
    command_ = app.add_subcommand("explain", "One kernel on one page: where it stands, why, and what to do about it");
    command_->add_option("FILE", file_, "A profiler report or table; '-' reads standard input")->required();
    auto* kernel =
        command_->add_option("-k,--kernel", analysis_.filter,
                             "Part of the name, or an expression; of several matches the one with most time");
    command_->add_option("--id", id_, "The launch with this number in the file, from 0, as ncu counts")
        ->check(CLI::NonNegativeNumber)
        ->excludes(kernel);
    command_->add_option("--machine", analysis_.machine, "Catalogue machine, instead of the one that the file names");
    thresholds_.setup(*command_);
    ceilings_.setup(*command_);
    command_->add_flag("!--no-chart", chart_, "Leave out the chart of all levels");
    output_.setup(*command_);
  }

  bool chosen() const override { return command_->parsed(); }

  int run() override {
    analysis_.thresholds = thresholds_.resolve();
    analysis_.per_launch = id_.has_value();
    ceilings_.apply(analysis_);
    const auto profiles = open_watched(std::vector{file_});
    const auto matching = analyze(profiles, analysis_);
    const auto chosen = chosen_row(matching);
    // Shares are of the whole file, not of what matches.
    analysis_.filter.clear();
    auto report = analyze(profiles, analysis_);
    ThresholdOptions::note_changes(report);
    const auto index = same_row(report, matching.rows[chosen]);
    const auto& row = report.rows[index];
    show_own_roofs(profiles.front(), report, index);
    const auto nvidia = rules_of(profiles.front(), row);
    const auto document = explain_document(report, index, nvidia, collect(profiles.front(), row, nvidia));
    output_.print(document, Output::Forms{[&] { return json(alone(report, index), nvidia); },
                                          [&] { return hierarchical_chart(report, index); },
                                          [&] { return to_html(to_json(alone(report, index))); }});
    if (chart_ && output_.for_terminal() && command_->count("--output") == 0) print_chart(report, index);
    return kOk;
  }

 private:
  std::size_t chosen_row(const Report& report) const {
    if (report.rows.empty())
      throw UsageError(analysis_.filter.empty() ? fmt::format("{}: no kernels", file_)
                                                : fmt::format("{}: no kernel matches '{}'; roofline report lists them",
                                                              file_, analysis_.filter));
    std::size_t best = report.rows.size();
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
      const auto& ids = report.rows[i].launch_ids;
      if (id_ && std::find(ids.begin(), ids.end(), *id_) == ids.end()) continue;
      if (best == report.rows.size() || time_of(report.rows[i]) > time_of(report.rows[best])) best = i;
    }
    if (best == report.rows.size())
      throw UsageError(fmt::format("{}: no launch {}; it holds 0 to {}", file_, *id_, report.rows.size() - 1));
    if (report.rows.size() > 1 && !id_)
      fmt::print(stderr, "{} kernels {}; this is the one with most time\n", report.rows.size(),
                 analysis_.filter.empty() ? "in the file (choose with --kernel or --id)" : "match");
    return best;
  }

  static std::size_t same_row(const Report& report, const KernelRow& row) {
    const auto it = std::find_if(report.rows.begin(), report.rows.end(),
                                 [&](const KernelRow& r) { return r.launch_ids.front() == row.launch_ids.front(); });
    return static_cast<std::size_t>(it - report.rows.begin());
  }

  // A machine's at-clock roofs in a report are those of its longest launch: here they are to be the row's.
  void show_own_roofs(const Profile& profile, Report& report, std::size_t index) const {
    const auto& row = report.rows[index];
    if (!row.machine) return;
    Profile alone = profile;
    std::erase_if(alone.launches, [&](const Launch& l) {
      return std::find(row.launch_ids.begin(), row.launch_ids.end(), l.ordinal) == row.launch_ids.end();
    });
    const auto own = analyze({&alone, 1}, analysis_);
    if (own.rows.size() == 1 && own.rows.front().machine)
      report.machines[*row.machine] = own.machines[*own.rows.front().machine];
  }

  static std::vector<RuleResult> rules_of(const Profile& profile, const KernelRow& row) {
    if (profile.format != "ncu-rep" || !row.diagnosed_launch) return {};
    const auto it = std::find_if(profile.launches.begin(), profile.launches.end(),
                                 [&](const Launch& l) { return l.ordinal == *row.diagnosed_launch; });
    return it == profile.launches.end() ? std::vector<RuleResult>{} : rule_results(profile, *it);
  }

  // Where the schedulers were not looked at, most rules had nothing to read.
  static std::string collect(const Profile& profile, const KernelRow& row, const std::vector<RuleResult>& nvidia) {
    if (!profile.format.starts_with("ncu") || !nvidia.empty() || !row.diagnosed_launch) return {};
    return std::string(kSections) + " -o report ./app";
  }

  // The report of this kernel alone, with the profiler's own rule results beside ours.
  static std::string json(const Report& one, const std::vector<RuleResult>& nvidia) {
    using Json = nlohmann::ordered_json;
    auto out = Json::parse(to_json(one));
    Json rules = Json::array();
    for (const auto& rule : nvidia) {
      Json messages = Json::array();
      for (const auto& m : rule.messages) messages.push_back({{"type", m.type}, {"text", m.text}});
      Json ours = Json::array();
      for (const auto id : counterparts(rule.rule)) ours.push_back(std::string(id));
      rules.push_back({{"rule", rule.rule},
                       {"title", rule.title},
                       {"objects", nvidia_objects(rule)},
                       {"messages", std::move(messages)},
                       {"speedup_percent", rule.speedup_type.empty() ? Json() : Json(rule.speedup_percent)},
                       {"counterparts", std::move(ours)}});
    }
    out["kernels"].at(0)["nvidia_rules"] = std::move(rules);
    return out.dump(1) + '\n';
  }

  static Report alone(const Report& report, std::size_t index) {
    Report one = report;
    one.rows = {report.rows[index]};
    return one;
  }

  void print_chart(const Report& report, std::size_t index) const {
    const auto& p = report.rows[index].group.placement;
    if (!p.placed() || !report.rows[index].machine) return;
    auto text = "\n" + to_terminal(hierarchical_chart(report, index), detect_style(output_.width()));
    if (!text.ends_with('\n')) text += '\n';
    std::fwrite(text.data(), 1, text.size(), stdout);
  }

  CLI::App* command_ = nullptr;
  std::string file_;
  std::optional<std::uint64_t> id_;
  AnalysisOptions analysis_;
  CeilingOptions ceilings_;
  ThresholdOptions thresholds_;
  bool chart_ = true;
  Output output_;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace roofline::cli
