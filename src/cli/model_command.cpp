#include "cli/model_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "cli/model_options.h"
#include "cli/output.h"
#include "roofline/error.h"
#include "roofline/forecast.h"

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
        ->transform(CLI::CheckedTransformer(kSortKeys, CLI::ignore_case));
    output_.setup(*command_);
  }

  bool chosen() const override { return command_->parsed(); }

  int run() override {
    if (list_) {
      output_.print(preset_list());
      return kOk;
    }
    const auto forecast = options_.forecast();
    output_.print(model::forecast_document(forecast, sort_),
                  [&] { return to_json(model::forecast_report(forecast)); });
    return kOk;
  }

 private:
  CLI::App* command_ = nullptr;
  ModelOptions options_;
  Output output_;
  bool list_ = false;
  SortKey sort_ = SortKey::order;
};

}  // namespace

std::unique_ptr<Command> make_model_command() { return std::make_unique<ModelCommand>(); }

}  // namespace roofline::cli
