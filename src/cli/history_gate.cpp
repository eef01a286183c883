// roofline history gate: whether a run fell behind its baseline, for people and for continuous integration.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/choices.h"
#include "cli/command.h"
#include "cli/history_part.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/text_file.h"
#include "roofline/error.h"

namespace roofline::cli {
namespace {

using history::Store;

enum class Form { table, markdown, json, junit, github };
const std::map<std::string, Form> kForms = {{"table", Form::table}, {"markdown", Form::markdown},
                                            {"md", Form::markdown}, {"json", Form::json},
                                            {"junit", Form::junit}, {"github", Form::github}};
const std::map<std::string, Form> kExtensions = {
    {".txt", Form::table}, {".md", Form::markdown}, {".json", Form::json}, {".xml", Form::junit}};

// "5%" or "0.05".
double share(const std::string& text, const char* option) {
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  const auto rest = text.substr(used);
  if (rest == "%") value /= 100;
  if (used == 0 || (!rest.empty() && rest != "%") || !(value > 0 && value < 1))
    throw UsageError(fmt::format("{} {}: expected a share such as 5% or 0.05", option, text));
  return value;
}

class GatePart : public HistoryPart {
 public:
  void setup(CLI::App& history) override {
    command_ = history.add_subcommand(
        "gate", "Compare with a baseline: exit code 0 pass or improved, 1 a real drop, 4 inconclusive (no pass)");
    command_->add_option("FILE", files_, "The runs to judge: several are repeats, which tell the noise")->required();
    command_
        ->add_option("--baseline", baselines_,
                     "latest, latest:N, label:key=value, ids, or a file; several are repeats (latest)")
        ->allow_extra_args(false)
        ->take_all();
    add_limits();
    auto* group = command_->add_option_group("Output");
    group->add_option("--format", formats_, "table, markdown, json, junit or github; may be given several times")
        ->type_name("FORMAT")
        ->allow_extra_args(false)
        ->take_all();
    group->add_flag("--json", json_, "Same as --format json");
    group->add_option("-o,--output", outputs_, "Also write to files (.xml for JUnit, .md, .json, .txt)")
        ->allow_extra_args(false)
        ->take_all();
    group->add_option("--width", width_, "Columns of the table (0: the terminal's)")->check(at_most(kMostColumns));
    labels_.setup(*command_, "Only baselines with this label");
    store_.setup(*command_);
    source_.setup(*command_);
  }

  int run() override {
    // Refused before anything is read.
    for (const auto& output : outputs_) {
      form_of(output);
      store_.protect_from(output);
    }
    const auto forms = chosen_forms();
    const auto options = limits();
    GateSide candidate;
    for (const auto& file : files_) candidate.repeats.push_back(read_record(source_.json(file), file));
    const auto baseline = find(candidate.repeats.front());
    const auto result = judge(baseline, std::move(candidate), options);
    context_.max_drop = options.max_drop;
    context_.candidate = fmt::format("{}", fmt::join(files_, ", "));
    context_.baseline = baseline.what;
    for (const auto& output : outputs_) write_output(text(result, form_of(output), false), output);
    for (const auto form : forms) write_output(text(result, form, true), "");
    if (result.verdict == GateVerdict::drop) return kCheckFailed;
    return result.verdict == GateVerdict::inconclusive ? kInconclusive : kOk;
  }

 private:
  void add_limits() {
    auto* group = command_->add_option_group("Limits");
    group->add_option("--max-drop", max_drop_, "Largest drop of the fraction of the roof that passes, of itself (5%)");
    group->add_option("--top", top_, "Kernels of the baseline with most time that are judged (0: all)")
        ->check(at_most(kMostRows));
    group->add_option("--budget", budget_, "A TOML file with limits of single kernels: docs/history.md")
        ->type_name("FILE.toml");
    group->add_option("--noise", noise_,
                      "How much a kernel's time varies from run to run (3%), or none; else from the store's records");
  }

  std::vector<Form> chosen_forms() const {
    std::vector<Form> forms;
    for (const auto& name : formats_) {
      const auto it = kForms.find(name);
      if (it == kForms.end())
        throw UsageError(fmt::format("--format: '{}' is none of table, markdown, json, junit, github", name));
      forms.push_back(it->second);
    }
    if (json_) forms.push_back(Form::json);
    if (forms.empty()) forms.push_back(Form::table);
    return forms;
  }

  static Form form_of(const std::string& path) {
    const auto it = kExtensions.find(std::filesystem::path(path).extension().string());
    if (it == kExtensions.end())
      throw UsageError(fmt::format("cannot tell the format of '{}' by its extension: .xml, .md, .json or .txt", path));
    return it->second;
  }

  GateOptions limits() const {
    GateOptions options;
    options.max_drop = share(max_drop_, "--max-drop");
    options.top = top_;
    if (!noise_.empty() && noise_ != "none") options.noise = share(noise_, "--noise");
    if (budget_.empty()) return options;
    const auto budget = history::read_budget(read_text_file(budget_), budget_);
    options.budget = budget.kernels;
    if (!budget.fallback) return options;
    if (budget.fallback->max_drop && command_->count("--max-drop") == 0) options.max_drop = *budget.fallback->max_drop;
    if (budget.fallback->min_fraction || budget.fallback->max_time_s)
      throw UsageError(fmt::format("{}: [default] takes max_drop only", budget_));
    return options;
  }

  history::Baseline find(const StepRecord& candidate) {
    history::Baseline all;
    std::vector<std::string> shown;
    std::optional<Store> store;
    if (baselines_.empty()) baselines_ = {"latest"};
    for (const auto& what : baselines_) {
      std::error_code error;
      // A file may be called 12; then it is meant.
      if (!history::names_records(what) || std::filesystem::exists(what, error)) {
        if (what != "-" && !std::filesystem::exists(what, error))
          throw UsageError(fmt::format(
              "--baseline {}: no such file, and none of latest, latest:N, label:key=value or ids of records", what));
        all.side.repeats.push_back(read_record(source_.json(what), what));
        shown.push_back(what);
        continue;
      }
      if (!store) store = store_.open(Store::Access::read);
      auto found = history::find_baseline(*store, what, candidate, labels_.labels(),
                                          noise_.empty() && files_.size() == 1 && baselines_.size() == 1);
      std::move(found.side.repeats.begin(), found.side.repeats.end(), std::back_inserter(all.side.repeats));
      if (found.noise) all.noise = found.noise;
      if (!found.records.empty()) shown.push_back(found.what);
    }
    all.what = fmt::format("{}", fmt::join(shown, ", "));
    return all;
  }

  GateResult judge(const history::Baseline& baseline, GateSide candidate, GateOptions options) const {
    if (baseline.side.repeats.empty()) {
      GateResult result;
      result.verdict = GateVerdict::inconclusive;
      result.sentence = "inconclusive: the history holds no baseline of this machine" +
                        std::string(labels_.labels().empty() ? "" : " with these labels") +
                        "; record one with `roofline history record`";
      return result;
    }
    auto before = baseline.side;
    auto reasons = history::describe(history::align_catalogues(before, candidate));
    if (!options.noise && noise_ != "none" && baseline.noise) {
      options.noise = baseline.noise;
      reasons.push_back(
          fmt::format("noise of a run: {:.1f}%, from the records of this machine", *baseline.noise * 100));
    }
    auto result = gate(before, candidate, options);
    result.reasons.insert(result.reasons.end(), reasons.begin(), reasons.end());
    return result;
  }

  std::string text(const GateResult& result, Form form, bool terminal) const {
    switch (form) {
      case Form::markdown:
        return to_markdown(gate_document(result));
      case Form::json:
        return history::gate_json(result, context_);
      case Form::junit:
        return history::gate_junit(result, context_);
      case Form::github:
        return history::gate_github(result, context_);
      case Form::table:
        break;
    }
    auto style = detect_style(width_);
    style.color = style.color && terminal;
    auto document = gate_document(result);
    if (!context_.baseline.empty())
      document.blocks.emplace_back(
          Paragraph{fmt::format("{} against {}", context_.candidate, context_.baseline), Tone::faint});
    return to_terminal(document, style);
  }

  std::vector<std::string> files_, baselines_, formats_, outputs_;
  std::string max_drop_ = "5%", budget_, noise_;
  std::size_t top_ = GateOptions{}.top;
  std::size_t width_ = 0;
  bool json_ = false;
  LabelOption labels_;
  StoreOption store_;
  ReportSource source_;
  history::GateContext context_;
};

}  // namespace

std::unique_ptr<HistoryPart> make_gate_part() { return std::make_unique<GatePart>(); }

}  // namespace roofline::cli
