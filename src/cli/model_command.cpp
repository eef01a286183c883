#include "cli/model_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "cli/chart_choice.h"
#include "cli/choices.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/threshold_options.h"
#include "roofline/analysis.h"
#include "roofline/error.h"
#include "roofline/forecast.h"
#include "roofline/page.h"
#include "roofline/profile.h"

namespace roofline::cli {
namespace {

const std::map<std::string, SortKey> kSortKeys = {{"time", SortKey::time},         {"gain", SortKey::gain},
                                                  {"fraction", SortKey::fraction}, {"flops", SortKey::flops},
                                                  {"bytes", SortKey::bytes},       {"intensity", SortKey::intensity},
                                                  {"name", SortKey::name},         {"order", SortKey::order}};

Document preset_list() {
  Table table;
  table.columns = {{"Preset", "preset", Align::left, false, 0, false},
                   {"Parameters", "parameters", Align::right, false, 0, false},
                   {"Also known as", "aliases", Align::left, true, 1, false}};
  for (const auto& preset : model::presets()) {
    const auto parameters = static_cast<double>(preset.parameters);
    table.rows.push_back({{preset.name, std::nullopt},
                          {fmt::format("{}", preset.parameters), parameters},
                          {fmt::format("{}", fmt::join(preset.aliases, ", ")), std::nullopt}});
  }
  Document document;
  document.blocks.emplace_back(std::move(table));
  return document;
}

class ModelCommand : public Command {
 public:
  void setup(CLI::App& app) override {
    command_ = app.add_subcommand("model", "What a step of a language model takes on a machine, from its config.json");
    command_->add_option("MODEL", options_.model, "A preset, a config.json, or the folder of one");
    command_->add_flag("--list-presets", list_, "The models known by name");
    options_.setup(*command_);
    auto* views = command_->add_option_group("Views");
    views->add_option("--sort", sort_, "order, time, gain, fraction, flops, bytes, intensity or name")
        ->transform(one_of(kSortKeys))
        ->type_name("KEY");
    auto* sweep =
        views->add_option("--sweep", sweeps_,
                          "AXIS=VALUE,...: a table over batch, context, query-length, tp, ep, dtype, kv-dtype "
                          "or machine; several sweeps multiply");
    auto* compare = views->add_option("--compare", compare_, "AXIS=VALUE: what this change brings, per operator");
    auto* throughput = views->add_option("--tokens-per-s", tokens_per_s_, "Measured throughput, set beside the model")
                           ->check(CLI::PositiveNumber);
    auto* calibrate = views->add_option("--calibrate", calibrate_,
                                        "Fit the constants to a measured report of this very step, where its kernels "
                                        "suffice");
    calibrate->excludes(sweep)->excludes(compare);
    sweep->excludes(compare)->excludes(throughput);
    compare->excludes(throughput);
    thresholds_.setup(*command_);
    output_.setup(*command_);
  }

  bool chosen() const override { return command_->parsed(); }

  int run() override {
    options_.thresholds = thresholds_.resolve();
    if (list_) {
      output_.print(preset_list());
      return kOk;
    }
    if (!sweeps_.empty()) return run_sweep();
    if (!compare_.empty()) return run_comparison();
    const auto forecast = calibrate_.empty() ? options_.forecast() : calibrated(options_.forecast());
    if (tokens_per_s_) {
      auto document = model::forecast_document(forecast, sort_);
      document.blocks.emplace_back(model::throughput_notes(forecast, *tokens_per_s_));
      output_.print(document);
      return model::measured_throughput(forecast, *tokens_per_s_).fraction > 1 ? kCheckFailed : kOk;
    }
    auto report = model::forecast_report(forecast);
    ThresholdOptions::note_changes(report);
    output_.print(model::forecast_document(forecast, sort_),
                  Output::Forms{[&] { return to_json(report); }, [&] { return chosen_chart(report, "report"); },
                                [&] { return to_html(to_json(report)); }});
    return kOk;
  }

 private:
  // The same with constants fitted to the kernels of a measured step of this model.
  model::Forecast calibrated(const model::Forecast& f) const {
    AnalysisOptions analysis;
    analysis.thresholds = options_.thresholds;
    analysis.per_launch = true;
    analysis.machine = options_.machine;
    const auto measured = analyze(open_watched(std::vector{calibrate_}), analysis);
    const auto samples = model::samples_of(f, model::match_kernels(f, measured));
    if (samples.empty())
      throw UsageError(fmt::format("{}: none of its kernels is an operator of {}", calibrate_, f.config.name));
    auto constants = model::fit_calibration(samples, model::Roofs(f.ceiling), f.calibration);
    return model::make_forecast(f.config, f.options, f.machine, std::move(constants), f.thresholds);
  }

  int run_sweep() {
    std::vector<model::Axis> axes;
    for (const auto& text : sweeps_) axes.push_back(model::parse_axis(text));
    for (const auto& axis : axes) options_.set_if_absent(axis);
    const auto input = options_.sweep_input();
    const auto sweep = model::run_sweep(input, axes);
    output_.print(
        model::sweep_document(input, sweep),
        Output::Forms{nullptr, [&] { return chosen_chart(model::sweep_report(input, sweep), "trajectory"); }});
    return kOk;
  }

  int run_comparison() {
    const auto base = options_.sweep_input();
    auto changed = base;
    for (const auto& text : compare_) {
      const auto axis = model::parse_axis(text);
      if (axis.values.size() != 1)
        throw UsageError(fmt::format("--compare {}: expected one value; --sweep takes several", text));
      changed = model::with_axis(changed, axis);
    }
    const auto forecast = [](const model::SweepInput& i) {
      return model::make_forecast(i.config, i.options, i.machine, i.calibration, i.thresholds);
    };
    output_.print(
        model::comparison_document(forecast(base), forecast(changed), fmt::format("{}", fmt::join(compare_, ", "))));
    return kOk;
  }

  CLI::App* command_ = nullptr;
  ModelOptions options_;
  ThresholdOptions thresholds_;
  Output output_;
  bool list_ = false;
  std::vector<std::string> sweeps_;
  std::vector<std::string> compare_;
  std::optional<double> tokens_per_s_;
  std::string calibrate_;
  SortKey sort_ = SortKey::order;
};

}  // namespace

std::unique_ptr<Command> make_model_command() { return std::make_unique<ModelCommand>(); }

}  // namespace roofline::cli
