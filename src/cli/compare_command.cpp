#include "cli/compare_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "cli/amount.h"
#include "cli/ceiling_options.h"
#include "cli/choices.h"
#include "cli/history_part.h"
#include "cli/output.h"
#include "cli/threshold_options.h"
#include "roofline/analysis.h"
#include "roofline/compare.h"
#include "roofline/error.h"
#include "roofline/timeline.h"

namespace roofline::cli {
namespace {

constexpr std::size_t kChartKernels = 20;                    // more arrows than that hide each other
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors begin UTF-8 with it

// "3%" or "0.03".
double parse_share(const std::string& text, const char* option) {
  const auto amount = parse_amount(text);
  if (!amount || (!amount->unit.empty() && amount->unit != "%") || !(amount->number > 0))
    throw UsageError(fmt::format("{} {}: expected a share such as 3% or 0.03", option, text));
  const double value = amount->unit.empty() ? amount->number : amount->number / 100;
  if (value >= 1) throw UsageError(fmt::format("{} {}: expected less than 100%", option, text));
  return value;
}

bool is_report_json(const std::string& path) {
  constexpr std::size_t kHead = 4096;
  std::array<char, kHead> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  const std::string_view text(head.data(), static_cast<std::size_t>(file.gcount()));
  const auto first = text.find_first_not_of(" \t\r\n", text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  return first != std::string_view::npos && text[first] == '{' && text.find("\"roofline/") != std::string_view::npos;
}

std::string whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class CompareCommand : public Command {
 public:
  void setup(CLI::App& app) override {
    command_ =
        app.add_subcommand("compare", "What changed between two reports, and what each kernel has to do with it");
    auto* files = command_->add_option("FILE", files_,
                                       "Before and after: profiles, JSON reports, or records of the history (@12)");
    auto* sides = command_->add_option_group("Repeats", "Several runs a side tell the noise");
    auto* before = sides->add_option("-a,--before", before_, "Runs before the change")->excludes(files);
    sides->add_option("-b,--after", after_, "Runs after the change")->needs(before);
    add_roofs();
    add_matching();
    store_.setup(*command_);
    output_.setup(*command_);
  }

  bool chosen() const override { return command_->parsed(); }

  int run() override {
    take_sides();
    store_.protect_from(output_path(*command_));
    for (const auto& [old_name, new_name] : same_pairs()) options_.same.emplace_back(old_name, new_name);
    if (!noise_.empty()) options_.noise = parse_share(noise_, "--noise");
    auto before = side_of(before_, before_filter_.empty() ? filter_ : before_filter_);
    auto after = side_of(after_, after_filter_.empty() ? filter_ : after_filter_);
    const bool predicted_before = all_predictions(before), predicted_after = all_predictions(after);
    if (predicted_before != predicted_after) return print_score(before, after, predicted_before);
    const auto aligned = history::align_catalogues(before, after);
    auto comparison = compare(before, after, options_);
    for (auto& note : history::describe(aligned)) comparison.caveats.push_back(std::move(note));
    output_.print(comparison_document(comparison, options_),
                  Output::Forms{[&] { return comparison_json(comparison); }, [&] { return chart(comparison); }});
    return kOk;
  }

 private:
  void add_roofs() {
    auto* group = command_->add_option_group("Roofs", "For profiles; reports and records are taken as they are");
    group->add_option("--machine", analysis_.machine, "Catalogue machine, instead of the one that the file names");
    ceilings_.setup(*group);
    thresholds_.setup(*group);
  }

  void add_matching() {
    auto* group = command_->add_option_group("Kernels");
    group->add_option("-k,--kernel", filter_, "Only kernels whose full name matches this expression");
    group->add_option("--kernel-before", before_filter_, "The same for one side");
    group->add_option("--kernel-after", after_filter_, "The same for one side");
    group
        ->add_option("--same", same_, "OLD=NEW: take these as one kernel; operator, short or full name, or name family")
        ->type_name("OLD=NEW")
        ->allow_extra_args(false)  // the next word is a file
        ->take_all();
    group->add_option("--noise", noise_, "How much the time of a kernel varies from run to run, where it is known: 3%");
    group->add_option("--top", options_.top, "Only the first N rows (0: all that matter)")->check(at_most(kMostRows));
  }

  void take_sides() {
    if (!files_.empty()) {
      if (files_.size() != 2)
        throw UsageError(
            fmt::format("compare takes two files, one before and one after; these are {}. For several runs "
                        "a side use --before F1 F2 --after G1 G2",
                        files_.size()));
      before_ = {files_[0]};
      after_ = {files_[1]};
    }
    if (before_.empty() || after_.empty())
      throw UsageError("compare needs two sides: compare A B, or compare --before A1 A2 --after B1 B2");
  }

  std::vector<std::pair<std::string, std::string>> same_pairs() const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& text : same_) {
      const auto at = text.find('=');
      if (at == std::string::npos || at == 0 || at + 1 == text.size())
        throw UsageError(fmt::format("--same {}: expected OLD=NEW", text));
      out.emplace_back(text.substr(0, at), text.substr(at + 1));
    }
    return out;
  }

  GateSide side_of(const std::vector<std::string>& texts, const std::string& filter) {
    GateSide side;
    for (const auto& text : texts) {
      side.repeats.push_back(load_record(text));
      if (!filter.empty()) keep_kernels(side.repeats.back(), filter);
    }
    return side;
  }

  // A record of the history, a JSON report, or any profile.
  StepRecord load_record(const std::string& text) {
    if (text.starts_with('@') && text.size() > 1) return recorded(text.substr(1));
    if (text != "-" && is_report_json(text)) {
      auto record = read_record(whole_file(text), text);
      record.inputs = {text};
      return record;
    }
    const auto profiles = open_inputs(std::vector{text});
    auto options = analysis_;
    ceilings_.apply(options);
    options.thresholds = thresholds_.resolve();
    const auto report = analyze(profiles, options);
    machines_.insert(machines_.end(), report.machines.begin(), report.machines.end());
    return record_of(report);
  }

  StepRecord recorded(const std::string& id) const {
    const auto store = store_.open(history::Store::Access::read);
    auto record = store.step(store.find(id));
    record.inputs = {"@" + id};
    return record;
  }

  static bool all_predictions(const GateSide& side) {
    return std::all_of(side.repeats.begin(), side.repeats.end(), is_prediction);
  }

  int print_score(const GateSide& before, const GateSide& after, bool predicted_before) {
    const auto& prediction = predicted_before ? before : after;
    const auto& measured = predicted_before ? after : before;
    if (prediction.repeats.size() != 1)
      throw UsageError(
          fmt::format("{} predictions are set against one measurement; give one", prediction.repeats.size()));
    const auto score = score_prediction(prediction.repeats.front(), measured);
    output_.print(prediction_document(score), [&] { return prediction_json(score); });
    return kOk;
  }

  Chart chart(const Comparison& c) const {
    const auto before = chart_report(c.side_before, c.before, machines_);
    const auto after = chart_report(c.side_after, c.after, machines_);
    std::vector<const ComparedKernel*> rows;
    for (const auto& row : c.kernels) rows.push_back(&row);
    const auto weight = [](const ComparedKernel* r) {
      return std::max(r->time_s.before.value_or(0), r->time_s.after.value_or(0));
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const auto* x, const auto* y) { return weight(x) > weight(y); });
    const auto most = options_.top > 0 ? options_.top : kChartKernels;
    std::vector<ChartMatch> matches;
    for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) add_matches(*rows[i], matches);
    auto out = comparison_chart(before, after, matches);
    if (rows.size() > most) out.notes.push_back(fmt::format("The {} kernels with most time of {}.", most, rows.size()));
    for (const auto& caveat : c.caveats) out.notes.push_back(caveat + ".");
    return out;
  }

  static void add_matches(const ComparedKernel& row, std::vector<ChartMatch>& out) {
    const auto n = std::max(row.before.size(), row.after.size());
    for (std::size_t i = 0; i < n; ++i) {
      ChartMatch match;
      if (i < row.before.size()) match.before = row.before[i];
      if (i < row.after.size()) match.after = row.after[i];
      out.push_back(match);
    }
  }

  CLI::App* command_ = nullptr;
  std::vector<std::string> files_, before_, after_;
  std::string filter_, before_filter_, after_filter_, noise_;
  std::vector<std::string> same_;
  AnalysisOptions analysis_;
  CeilingOptions ceilings_;
  ThresholdOptions thresholds_;
  StoreOption store_;
  CompareOptions options_;
  Output output_;
  std::vector<Machine> machines_;  // of the profiles read: they know their clocks
};

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace roofline::cli
