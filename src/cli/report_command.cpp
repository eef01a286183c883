#include "cli/report_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "cli/ceiling_options.h"
#include "cli/chart_choice.h"
#include "cli/choices.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/threshold_options.h"
#include "roofline/analysis.h"
#include "roofline/chart.h"
#include "roofline/document.h"
#include "roofline/error.h"
#include "roofline/page.h"
#include "roofline/profile.h"

namespace roofline::cli {
namespace {

enum class Format { automatic, table, markdown, csv, json, chart, svg, png, pdf, html };

const std::map<std::string, Format> kFormats = {
    {"table", Format::table}, {"markdown", Format::markdown}, {"md", Format::markdown}, {"csv", Format::csv},
    {"json", Format::json},   {"chart", Format::chart},       {"svg", Format::svg},     {"png", Format::png},
    {"pdf", Format::pdf},     {"html", Format::html}};
const std::map<std::string, SortKey> kSortKeys = {{"time", SortKey::time},         {"gain", SortKey::gain},
                                                  {"fraction", SortKey::fraction}, {"flops", SortKey::flops},
                                                  {"bytes", SortKey::bytes},       {"intensity", SortKey::intensity},
                                                  {"name", SortKey::name},         {"order", SortKey::order}};
const std::map<std::string, NumberLocale> kLocales = {
    {"auto", NumberLocale::automatic}, {"point", NumberLocale::point}, {"comma", NumberLocale::comma}};

Format format_of(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension().string();
  if (const auto it = kFormats.find(extension.empty() ? extension : extension.substr(1)); it != kFormats.end())
    return it->second;
  if (extension == ".txt") return Format::table;
  throw UsageError(fmt::format("cannot tell the format of '{}' by its extension; add --format", path));
}

// A filter that left nothing.
void warn_of_empty_filter(std::span<const Profile> profiles, const std::string& filter, Report& report) {
  std::set<std::string_view> names;
  for (const auto& p : profiles)
    for (const auto& l : p.launches) names.insert(l.name);
  if (filter.empty() || !report.rows.empty() || names.empty()) return;
  constexpr std::size_t kNameWidth = 60;
  report.warnings.push_back({"filter",
                             fmt::format("-k '{}' matches none of {} kernel name{}, such as '{}'", filter, names.size(),
                                         names.size() == 1 ? "" : "s", cut_middle(*names.begin(), kNameWidth)),
                             std::nullopt});
}

// A ceiling that was asked for, where the input has no clock for it, or nobody measured the machine.
void warn_of_other_ceiling(CeilingChoice asked, Report& report) {
  if (asked == CeilingChoice::automatic) return;
  const auto kind = asked == CeilingChoice::datasheet  ? CeilingKind::datasheet
                    : asked == CeilingChoice::measured ? CeilingKind::measured
                                                       : CeilingKind::at_clock;
  std::map<CeilingKind, std::size_t> others;
  for (const auto& row : report.rows)
    if (row.group.placement.placed() && row.group.placement.ceiling != kind) ++others[row.group.placement.ceiling];
  for (const auto& [other, rows] : others)
    report.warnings.push_back({"ceiling",
                               fmt::format("--ceiling {}: no such roof is known for {} row{}, placed under the {} roof",
                                           to_string(kind), rows, rows == 1 ? "" : "s", to_string(other)),
                               std::nullopt});
}

class ReportCommand : public Command {
 public:
  void setup(CLI::App& app) override {
    command_ = app.add_subcommand("report", "The roofline table of profiler reports (the default command)");
    command_->add_option("FILE", files_, "Profiler reports or tables; '-' reads standard input")->required();
    add_reading_options();
    add_analysis_options();
    model_.setup_beside_file(*command_);
    add_output_options();
  }

  bool chosen() const override { return command_->parsed(); }

  int run() override {
    const auto view = chosen_format();
    auto profiles = open_watched(files_, reading_);
    if (!merge_.empty()) profiles = {merge_profiles(profiles, merge_mode())};
    bool look = false;
    if (model_.given()) {
      print(beside_model(profiles, view), false);
    } else {
      const auto report = analyzed(profiles);
      print(render(report, view), view == Format::png || view == Format::pdf);
      look = deserves_look(report);
    }
    for (const auto& p : profiles)
      if (p.partial) return kUnreadable;
    return look && fail_on_ == "look" ? kCheckFailed : kOk;
  }

 private:
  void add_reading_options() {
    auto* group = command_->add_option_group("Reading");
    group->add_flag("--partial", reading_.partial, "Report what stands before a fault in a damaged file (exit code 3)");
    group->add_option("--locale", reading_.locale, "Decimal separator of text exports: auto, point or comma")
        ->transform(one_of(kLocales))
        ->type_name("LOCALE");
    group->add_flag("--merge", merge_,
                    "Join runs of one program, launch by launch (bytes in one, FLOPs in another); --merge=by-shape "
                    "joins medians per kernel and shape; one file is enough where it holds several runs");
  }

  void add_analysis_options() {
    auto* group = command_->add_option_group("Roofs");
    group->add_option("--machine", analysis_.machine, "Catalogue machine, instead of the one that the file names");
    ceilings_.setup(*group);
    group->add_option("-k,--kernel,--filter", analysis_.filter, "Only kernels whose full name matches this expression");
    thresholds_.setup(*command_);
  }

  void add_output_options() {
    auto* group = command_->add_option_group("Output");
    group->add_option("--format", format_, "table, markdown, csv, json, chart (in the terminal), svg, png, pdf or html")
        ->transform(one_of(kFormats))
        ->type_name("FORMAT");
    group->add_flag("--json", json_, "Same as --format json");
    group->add_option("-o,--output", output_,
                      "Write to a file; its extension picks the format (.md .csv .json .txt .svg .png .pdf .html)");
    group->add_flag("--chart", chart_,
                    "Draw the chart below the table; --chart=report, hierarchical (one kernel, all memory levels) or "
                    "trajectory (rows joined in order) choose what any chart shows");
    group->add_option("--sort", table_.sort, "time, gain, fraction, flops, bytes, intensity, name or order")
        ->transform(one_of(kSortKeys))
        ->type_name("KEY");
    group->add_option("--top", table_.top, "Only the first N rows (0: all)")->check(at_most(kMostRows));
    group->add_flag("--per-launch", analysis_.per_launch, "One row per launch instead of one per kernel and shape");
    group->add_option("--units", units_, "si (prefixes) or base (plain SI numbers)")
        ->check(CLI::IsMember({"si", "base"}));
    group->add_option("--fail-on", fail_on_, "look: exit code 1 where a row deserves a look")
        ->check(CLI::IsMember({"look"}));
    group->add_option("--width", width_, "Columns of the table (0: the terminal's)")->check(at_most(kMostColumns));
  }

  MergeMode merge_mode() const {
    if (merge_ == "true") return MergeMode::launch_by_launch;
    if (merge_ == "by-shape") return MergeMode::by_shape;
    throw UsageError(fmt::format("--merge={}: expected --merge or --merge=by-shape", merge_));
  }

  Format chosen_format() {
    analysis_.thresholds = thresholds_.resolve();
    ceilings_.apply(analysis_);
    table_.base_units = units_ == "base";
    table_.per_launch = analysis_.per_launch;
    if (!merge_.empty()) merge_mode();  // refuses before anything is read
    if (chart_ == "true") chart_ = "auto";
    if (!chart_.empty() && !is_chart_mode(chart_))
      throw UsageError(fmt::format("--chart={}: expected report, hierarchical or trajectory", chart_));
    if (json_) return Format::json;
    if (format_ != Format::automatic) return format_;
    return output_.empty() ? Format::table : format_of(output_);
  }

  static bool deserves_look(const Report& report) {
    return std::any_of(report.rows.begin(), report.rows.end(),
                       [](const KernelRow& row) { return row.group.placement.look; });
  }

  Report analyzed(std::span<const Profile> profiles) const {
    auto report = analyze(profiles, analysis_);
    warn_of_empty_filter(profiles, analysis_.filter, report);
    warn_of_other_ceiling(analysis_.ceiling, report);
    ThresholdOptions::note_changes(report);
    return report;
  }

  std::string render(const Report& report, Format format) const {
    if (format == Format::json) return to_json(report);
    if (format == Format::html) return to_html(to_json(report));
    if (format == Format::svg) return to_svg(chart_of(report));
    if (format == Format::png) return to_png(chart_of(report));
    if (format == Format::pdf) return to_pdf(chart_of(report));
    const auto document = report_document(report, table_);
    if (format == Format::markdown) return to_markdown(document);
    if (format == Format::csv) return to_csv(document);
    auto style = detect_style(width_);
    if (!output_.empty()) style.color = false;
    if (format == Format::chart) return to_terminal(chart_of(report), style);
    const auto table = to_terminal(document, style);
    return chart_.empty() ? table : table + '\n' + to_terminal(chart_of(report), style);
  }

  // Launches keep their order there: a matrix product is told by its place in the layer.
  std::string beside_model(std::vector<Profile>& profiles, Format format) {
    auto in_order = analysis_;
    in_order.per_launch = true;
    const auto report = analyze(profiles, in_order);
    model_.machine = analysis_.machine;
    if (model_.machine.empty() && !report.machines.empty()) model_.machine = report.machines.front().id;
    model_.thresholds = analysis_.thresholds;
    const auto forecast = model_.forecast();
    const auto match = model::match_kernels(forecast, report);
    if (format == Format::json) {
      name_operators(report, match, profiles);
      return model::match_json(forecast, analyzed(profiles), match);
    }
    const auto document = model::match_document(forecast, report, match);
    if (format == Format::markdown) return to_markdown(document);
    if (format == Format::csv) return to_csv(document);
    if (format != Format::table) throw UsageError("--model has no chart; choose table, markdown, csv or json");
    auto style = detect_style(width_);
    if (!output_.empty()) style.color = false;
    return to_terminal(document, style);
  }

  // The launches of `report`, one a row, get the operator that the model has for them.
  static void name_operators(const Report& report, const model::Match& match, std::vector<Profile>& profiles) {
    std::map<std::pair<std::size_t, std::uint64_t>, const std::string*> operators;
    for (std::size_t i = 0; i < report.rows.size(); ++i)
      for (const auto ordinal : report.rows[i].launch_ids)
        operators[{report.rows[i].input, ordinal}] = &match.assigned[i];
    std::size_t input = 0;
    for (auto& profile : profiles) {
      if (!profile.strings) profile.strings = std::make_shared<StringPool>();
      for (auto& launch : profile.launches)
        if (const auto it = operators.find({input, launch.ordinal}); it != operators.end() && !it->second->empty())
          launch.op = profile.strings->intern(*it->second);
      input += profile.merged() ? profile.merged_paths.size() : 1;
    }
  }

  Chart chart_of(const Report& report) const { return chosen_chart(report, chart_); }

  void print(std::string text, bool binary) const { write_output(std::move(text), output_, binary); }

  CLI::App* command_ = nullptr;
  std::vector<std::string> files_;
  ReadOptions reading_;
  std::string merge_;
  AnalysisOptions analysis_;
  CeilingOptions ceilings_;
  ThresholdOptions thresholds_;
  TableOptions table_;
  ModelOptions model_;
  Format format_ = Format::automatic;
  bool json_ = false;
  std::string chart_;  // empty: no chart asked for
  std::string fail_on_;
  std::string units_ = "si";
  std::string output_;
  std::size_t width_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace roofline::cli
