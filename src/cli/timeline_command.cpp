#include "cli/timeline_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/amount.h"
#include "cli/choices.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "roofline/analysis.h"
#include "roofline/error.h"
#include "roofline/forecast.h"
#include "roofline/machines.h"
#include "roofline/timeline_join.h"
#include "roofline/timeline_ranks.h"
#include "roofline/timeline_views.h"

namespace roofline::cli {
namespace {

// Bits or bytes per second as bytes per second: networks are sold by bits.
double parse_network(const std::string& text) {
  static const std::map<std::string, double> kUnits = {
      {"Mb/s", 1e6 / 8}, {"Gb/s", 1e9 / 8},    {"Tb/s", 1e12 / 8}, {"Mbit/s", 1e6 / 8}, {"Gbit/s", 1e9 / 8},
      {"Gbps", 1e9 / 8}, {"Tbit/s", 1e12 / 8}, {"MB/s", 1e6},      {"GB/s", 1e9},       {"TB/s", 1e12}};
  const auto amount = parse_amount(text);
  const auto it = amount ? kUnits.find(amount->unit) : kUnits.end();
  constexpr double kSlowest = 1e6 / 8;  // bytes/s
  constexpr double kFastest = 1e14;
  const double rate = it == kUnits.end() ? 0 : amount->number * it->second;
  if (!(rate >= kSlowest && rate <= kFastest))
    throw UsageError(fmt::format(
        "--network {}: expected a rate of 1 Mb/s to 100 TB/s, such as 400Gb/s (bits) or 50GB/s (bytes)", text));
  return rate;
}

class TimelineCommand : public Command {
 public:
  void setup(CLI::App& app) override {
    command_ = app.add_subcommand("timeline",
                                  "The whole step: what the GPU did, why it idled, and whether it is the bottleneck");
    command_
        ->add_option("FILE", files_,
                     "Exports of Nsight Systems, traces of PyTorch or rocprofv3, Proton; several: the ranks of one job")
        ->required();
    auto* steps = command_->add_option_group("Steps");
    steps->add_option("--range", analysis_.range,
                      "The ranges (NVTX, annotations) that are steps, by an expression on their names");
    steps->add_option("--machine", machine_, "Catalogue machine, instead of the one that the file names");
    steps->add_option("--gpu", gpu_, "The GPU to join, and whose lanes a picture shows (default: the first)");
    auto* kernels = command_->add_option_group("Kernels");
    kernels->add_flag("--by-shape", analysis_.by_shape, "One row per grid and block");
    kernels->add_option("--top", view_.top, "Only the first N kernels (0: all)")->check(at_most(kMostRows));
    kernels->add_flag("--steps", view_.all_steps, "A table of all steps as well");
    kernels->add_option("--with", with_,
                        "A counter report of the same program: each kernel's share of the step beside its roof");
    auto* links = command_->add_option_group("Links", "For collectives between machines, of which no trace says more");
    links->add_option("--network", network_text_,
                      "The network port of each GPU, one direction: 400Gb/s (bits) or 50GB/s (bytes)");
    links->add_option("--gpus-per-node", network_.gpus_per_node, "GPUs in each machine (default: as the file lists)")
        ->check(CLI::Range(1U, 1024U));
    model_.setup_beside_file(*command_);
    command_->add_option_group("Picture")->add_flag(
        "--chart", chart_,
        "Draw one step as lanes below the tables (alone: --format chart; as a picture: -o FILE.svg)");
    output_.setup(*command_);
  }

  bool chosen() const override { return command_->parsed(); }

  int run() override {
    if (!network_text_.empty()) network_.bytes_per_s = parse_network(network_text_);
    // Rows of a counter report are of one shape each.
    if (!with_.empty()) analysis_.by_shape = true;
    view_.by_shape = analysis_.by_shape;
    read();
    if (gpu_) chosen_gpu();  // refuses before anything is printed
    Document document;
    const auto ranks = compare_ranks(timelines_, network_);
    if (files_.size() == 1) {
      document = timeline_document(timelines_.front(), view_);
      if (ranks.ranks.size() > 1) append_ranks(document, ranks);
    } else if (ranks.ranks.size() > 1) {
      append(document, ranks_document(ranks, timelines_, view_.top));
    }
    if (files_.size() > 1)
      for (const auto& t : timelines_) append(document, verdicts(t));
    if (ranks.ranks.size() == 1) append(document, ranks_document(ranks, timelines_, view_.top));
    std::optional<Joined> joined;
    if (!with_.empty()) joined = join(document);
    if (model_.given()) append(document, beside_model());
    Output::Forms forms;
    forms.json = [&] { return timeline_json(timelines_, joined ? joined->json : std::string(), network_); };
    forms.svg = [&](SvgTheme theme) { return picture(theme); };
    forms.html = [&] { return page(document); };
    forms.terminal = [&](const TerminalStyle& style) {
      const auto [t, step] = chosen_gpu();
      return lanes_text(t->timeline, *step, style);
    };
    forms.chart_below = chart_;
    output_.print(document, forms);
    return kOk;
  }

 private:
  struct Joined {
    std::string json;  // the report's, with the wall time
  };

  void read() {
    const auto* machine = machine_.empty() ? nullptr : &model::find_machine(machine_);
    Progress progress;
    TimelineOptions options;
    options.progress = [&](std::uint64_t done, std::uint64_t total) { progress(done, total); };
    for (const auto& file : files_) {
      AnalyzedTimeline one{open_timeline(file, options), {}};
      if (machine)
        for (auto& device : one.timeline.devices) {
          require_same_gpu(file, device, *machine);
          device.name = machine->name;
        }
      one.devices = analyze_steps(one.timeline, analysis_);
      timelines_.push_back(std::move(one));
    }
  }

  static void append(Document& all, Document one) {
    if (all.title.empty()) all.title = one.title;
    for (auto& block : one.blocks) all.blocks.push_back(std::move(block));
  }

  // The GPUs of one file below what each of them did.
  void append_ranks(Document& document, const RankComparison& ranks) const {
    auto one = ranks_document(ranks, timelines_, view_.top);
    document.blocks.emplace_back(Heading{one.title});
    append(document, std::move(one));
  }

  // Of many files the verdicts alone: each has its own page.
  static Document verdicts(const AnalyzedTimeline& t) {
    Document out;
    out.blocks.emplace_back(Heading{t.timeline.path});
    Bullets list;
    for (const auto& step : t.devices) {
      list.items.push_back({step.verdict, Tone::normal});
      for (const auto& a : step.artefacts) list.items.push_back({a.message, Tone::warn});
    }
    for (const auto& w : t.timeline.warnings) list.items.push_back({w.message, Tone::warn});
    if (!list.items.empty()) out.blocks.emplace_back(std::move(list));
    return out;
  }

  // The document with the lanes on top, as a picture of its own: its styles do not reach the page's.
  std::string page(const Document& document) const {
    auto html = to_html(document);
    const bool lanes =
        std::any_of(timelines_.begin(), timelines_.end(), [](const auto& t) { return !t.devices.empty(); });
    if (!lanes) return html;
    std::string image = "<p><img alt=\"one step as lanes\" src=\"data:image/svg+xml,";
    for (const char c : picture(SvgTheme::automatic)) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) != 0)
        image += c;
      else
        image += fmt::format("%{:02X}", byte);
    }
    constexpr std::string_view kBody = "<body>\n";
    return html.insert(html.find(kBody) + kBody.size(), image + "\"></p>\n");
  }

  // The first GPU that did something, or the one asked for.
  std::pair<const AnalyzedTimeline*, const DeviceStep*> chosen_gpu() const {
    for (const auto& t : timelines_)
      for (const auto& step : t.devices)
        if (!gpu_ || *gpu_ == id_of(t, step)) return {&t, &step};
    const auto known = gpus();
    if (known.empty()) throw UsageError("the file holds sums: there are no lanes to draw, and no step to join");
    throw UsageError(fmt::format("--gpu {}: no such GPU did anything in {}; GPU {} did", *gpu_,
                                 files_.size() == 1 ? files_.front() : "these files", fmt::join(known, ", ")));
  }

  // Those that did something, by the numbers that --gpu takes.
  std::set<std::uint32_t> gpus() const {
    std::set<std::uint32_t> out;
    for (const auto& t : timelines_)
      for (const auto& step : t.devices) out.insert(id_of(t, step));
    return out;
  }

  static std::uint32_t id_of(const AnalyzedTimeline& t, const DeviceStep& step) {
    return step.device < t.timeline.devices.size() ? t.timeline.devices[step.device].id : step.device;
  }

  std::string picture(SvgTheme theme) const {
    const auto [t, step] = chosen_gpu();
    return lanes_svg(t->timeline, *step, {theme});
  }

  // Counters that do not name their GPU ran on the timeline's.
  static std::string gpu_of_timeline(const Profile& counters, const Timeline& timeline, const DeviceStep& step) {
    for (const auto& device : counters.devices)
      if (!device.name.empty()) return {};
    if (step.device >= timeline.devices.size()) return {};
    const auto& name = timeline.devices[step.device].name;
    return MachineCatalogue::instance().find(name) != nullptr ? name : std::string();
  }

  Joined join(Document& document) const {
    const auto [t, step] = chosen_gpu();
    const std::vector<Profile> profiles = {open_profile(with_)};
    AnalysisOptions options;
    options.machine = machine_.empty() ? gpu_of_timeline(profiles.front(), t->timeline, *step) : machine_;
    auto report = analyze(profiles, options);
    const auto joined = join_report(t->timeline, *step, report);
    add_wall_time(report, joined);
    append(document, join_document(t->timeline, *step, report, joined));
    return {to_json(report)};
  }

  // Kernels in their order: a matrix product is told by its place in the layer.
  Document beside_model() {
    const auto& t = timelines_.front();
    const std::vector<Profile> profiles = {profile_of(counted_part(t.timeline, t.devices))};
    AnalysisOptions options;
    options.per_launch = true;
    options.machine = machine_;
    const auto report = analyze(profiles, options);
    model_.machine = machine_;
    if (model_.machine.empty() && !report.machines.empty()) model_.machine = report.machines.front().id;
    const auto forecast = model_.forecast();
    return model::match_document(forecast, report, model::match_kernels(forecast, report));
  }

  CLI::App* command_ = nullptr;
  std::string machine_, with_, network_text_;
  Network network_;
  std::optional<std::uint32_t> gpu_;
  std::vector<std::string> files_;
  StepAnalysisOptions analysis_;
  TimelineViewOptions view_;
  ModelOptions model_;
  bool chart_ = false;
  std::vector<AnalyzedTimeline> timelines_;
  Output output_;
};

}  // namespace

std::unique_ptr<Command> make_timeline_command() { return std::make_unique<TimelineCommand>(); }

}  // namespace roofline::cli
