#include "cli/plan_command.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/threshold_options.h"
#include "roofline/analysis.h"
#include "roofline/error.h"
#include "roofline/forecast.h"
#include "roofline/profile.h"

namespace roofline::cli {
namespace {

double number_of(const std::string& option, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(fmt::format("{}: '{}' is not a number", option, text));
  return value;
}

// "-40%", "+10%", "0.6" or "0.6x": a factor above 0.
double factor_of(const std::string& option, std::string text) {
  if (text.empty()) return 1;
  double factor = 0;
  if (text.ends_with('%')) {
    std::string_view number(text);
    number.remove_suffix(1);
    if (number.starts_with('+')) number.remove_prefix(1);
    factor = 1 + number_of(option, number) / 100;
  } else {
    if (text.ends_with('x')) text.pop_back();
    factor = number_of(option, text);
  }
  if (!(factor >= 0) || factor > 1e6)
    throw UsageError(fmt::format("{}: '{}' leaves less than nothing; expected -40%, +10% or a factor", option, text));
  return factor;
}

// One row per launch: each is placed by itself.
Report launches_of(const std::vector<std::string>& files, AnalysisOptions analysis) {
  analysis.per_launch = true;
  return analyze(open_watched(files), analysis);
}

class WhatIfCommand : public Command {
 public:
  void setup(CLI::App& app) override {
    command_ = app.add_subcommand("what-if", "What fewer FLOPs or bytes would be worth, kernel by kernel");
    command_->add_option("FILE", files_, "Profiler reports or tables (or --model)");
    command_->add_option("--flops", flops_, "Change of the operations: -40%, 0.6");
    command_->add_option("--bytes", bytes_, "Change of the DRAM bytes: -50%");
    command_->add_option("--link-bytes", link_, "Change of the bytes between GPUs");
    command_->add_option("-k,--kernel,--filter", analysis_.filter, "Only kernels whose full name matches");
    command_->add_option("--machine", analysis_.machine, "Catalogue machine");
    model_.setup_beside_file(*command_);
    thresholds_.setup(*command_);
    output_.setup(*command_);
  }

  bool chosen() const override { return command_->parsed(); }

  int run() override {
    analysis_.thresholds = model_.thresholds = thresholds_.resolve();
    const model::WorkChange change = {factor_of("--flops", flops_), factor_of("--bytes", bytes_),
                                      factor_of("--link-bytes", link_)};
    if (flops_.empty() && bytes_.empty() && link_.empty())
      throw UsageError("what-if needs a change: --flops -40%, --bytes -50% or --link-bytes -50%");
    output_.print(model::what_if_document(report(), change));
    return kOk;
  }

 private:
  Report report() {
    if (!files_.empty() && model_.given()) throw UsageError("what-if takes a file or --model, not both");
    if (!files_.empty()) return launches_of(files_, analysis_);
    if (!model_.given()) throw UsageError("what-if needs a file or --model");
    if (!analysis_.filter.empty()) throw UsageError("--kernel filters measured kernels; the model has none");
    model_.machine = analysis_.machine;
    return model::forecast_report(model_.forecast());
  }

  CLI::App* command_ = nullptr;
  std::vector<std::string> files_;
  std::string flops_, bytes_, link_;
  AnalysisOptions analysis_;
  ModelOptions model_;
  ThresholdOptions thresholds_;
  Output output_;
};

class PlanCommand : public Command {
 public:
  void setup(CLI::App& app) override {
    command_ = app.add_subcommand("plan", "One page: software, fewer bytes, or other hardware?");
    command_->add_option("FILE", files_, "Profiler reports of one step");
    command_->add_option("--machine", analysis_.machine, "Catalogue machine, where the file does not name one");
    command_->add_option("--step-ms", step_ms_, "Measured wall time of the step, milliseconds")
        ->check(CLI::PositiveNumber);
    command_->add_option("--tokens-per-s", tokens_per_s_, "Measured throughput, instead of --step-ms (needs --model)")
        ->check(CLI::PositiveNumber);
    command_->add_option("--weigh", machines_, "Machines to weigh (default h100, h200, b200)")->delimiter(',');
    command_->add_option("--price", prices_, "MACHINE=PRICE per GPU and hour, any currency")->delimiter(',');
    model_.setup_beside_file(*command_);
    thresholds_.setup(*command_);
    output_.setup(*command_);
  }

  bool chosen() const override { return command_->parsed(); }

  int run() override {
    analysis_.thresholds = model_.thresholds = thresholds_.resolve();
    if (files_.empty() && !model_.given()) throw UsageError("plan needs a measured file, --model, or both");
    model::PlanInput input;
    input.machines = machines_;
    for (const auto& text : prices_) input.prices.push_back(price_of(text));
    if (!files_.empty()) input.measured = launches_of(files_, analysis_);
    if (model_.given()) input.forecast = forecast(input);
    input.wall_s = wall(input);
    output_.print(model::plan_document(input));
    return model::decide(input).verdict == model::PlanVerdict::undecided ? kInconclusive : kOk;
  }

 private:
  model::Forecast forecast(const model::PlanInput& input) {
    model_.machine = analysis_.machine;
    if (model_.machine.empty() && input.measured && !input.measured->machines.empty())
      model_.machine = input.measured->machines.front().id;
    return model_.forecast();
  }

  std::optional<double> wall(const model::PlanInput& input) const {
    constexpr double kMilli = 1e-3;
    if (step_ms_) return kMilli * *step_ms_;
    if (!tokens_per_s_) return std::nullopt;
    if (!input.forecast) throw UsageError("--tokens-per-s needs --model, to know the tokens of a step");
    return input.forecast->step.tokens / *tokens_per_s_;
  }

  static std::pair<std::string, double> price_of(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos)
      throw UsageError(fmt::format("--price {}: expected MACHINE=PRICE, such as h100=2.50", text));
    const double price = number_of("--price", std::string_view(text).substr(equals + 1));
    if (!(price > 0)) throw UsageError(fmt::format("--price {}: expected a price above 0", text));
    return {model::find_machine(text.substr(0, equals)).id, price};
  }

  CLI::App* command_ = nullptr;
  std::vector<std::string> files_;
  AnalysisOptions analysis_;
  std::optional<double> step_ms_;
  std::optional<double> tokens_per_s_;
  std::vector<std::string> machines_;
  std::vector<std::string> prices_;
  ModelOptions model_;
  ThresholdOptions thresholds_;
  Output output_;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }
std::unique_ptr<Command> make_what_if_command() { return std::make_unique<WhatIfCommand>(); }

}  // namespace roofline::cli
