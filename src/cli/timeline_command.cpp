#include "cli/timeline_command.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/threshold_options.h"
#include "roofline/error.h"
#include "roofline/forecast.h"
#include "roofline/timeline_views.h"

namespace roofline::cli {
namespace {

class TimelineCommand : public Command {
 public:
  void setup(CLI::App& app) override {
    command_ = app.add_subcommand("timeline", "The whole step: what the GPU did, why it idled, and whether it is the bottleneck");
    command_->add_option("FILE", files_, "Exports of Nsight Systems, traces of PyTorch or rocprofv3, Proton; several: one per rank")
        ->required();
    auto* steps = command_->add_option_group("Steps");
    steps->add_option("--range", analysis_.range, "The ranges (NVTX, annotations) that are steps, by an expression on their names");
    steps->add_option("--machine", machine_, "Catalogue machine, where the file does not name its GPU: for the ceilings of links");
    steps->add_option("--gpu", gpu_, "The GPU whose lanes a picture shows (default: the first)");
    auto* kernels = command_->add_option_group("Kernels");
    kernels->add_flag("--by-shape", analysis_.by_shape, "One row per grid and block");
    kernels->add_option("--top", view_.top, "Only the first N kernels (0: all)");
    kernels->add_flag("--steps", view_.all_steps, "A table of all steps as well");
    output_.setup(*command_);
  }

  bool chosen() const override { return command_->parsed(); }

  int run() override {
    view_.by_shape = analysis_.by_shape;
    const auto* machine = machine_.empty() ? nullptr : &model::find_machine(machine_);
    for (const auto& file : files_) {
      AnalyzedTimeline one{open_timeline(file), {}};
      if (machine) name_devices(one.timeline, *machine);
      one.devices = analyze_steps(one.timeline, analysis_);
      timelines_.push_back(std::move(one));
    }
    Document document;
    for (const auto& t : timelines_) append(document, timeline_document(t, view_));
    Output::Forms forms;
    forms.json = [&] { return timeline_json(timelines_); };
    forms.svg = [&](SvgTheme theme) { return picture(theme); };
    output_.print(document, forms);
    return kOk;
  }

 private:
  // The first GPU that did something, or the one asked for.
  std::string picture(SvgTheme theme) const {
    for (const auto& t : timelines_)
      for (const auto& step : t.devices) {
        const auto id = step.device < t.timeline.devices.size() ? t.timeline.devices[step.device].id : step.device;
        if (!gpu_ || *gpu_ == id) return lanes_svg(t.timeline, step, {theme});
      }
    throw UsageError(gpu_ ? fmt::format("--gpu {}: no such GPU did anything", *gpu_) : "sums have no lanes to draw");
  }

  static void name_devices(Timeline& timeline, const Machine& machine) {
    for (auto& device : timeline.devices) device.name = machine.name;
  }

  static void append(Document& all, Document one) {
    if (all.title.empty()) {
      all = std::move(one);
      return;
    }
    all.blocks.emplace_back(Heading{one.title});
    for (auto& block : one.blocks) all.blocks.push_back(std::move(block));
  }

  CLI::App* command_ = nullptr;
  std::string machine_;
  std::optional<std::uint32_t> gpu_;
  std::vector<std::string> files_;
  StepAnalysisOptions analysis_;
  TimelineViewOptions view_;
  std::vector<AnalyzedTimeline> timelines_;
  Output output_;
};

}  // namespace

std::unique_ptr<Command> make_timeline_command() { return std::make_unique<TimelineCommand>(); }

}  // namespace roofline::cli
