// `machine measure`: ceilings of this machine's processor, or those that another tool measured.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>

#include "cli/command.h"
#include "cli/machine_part.h"
#include "cli/machine_view.h"
#include "cli/measure_view.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/user_machines.h"
#include "measure/cpu.h"
#include "roofline/error.h"
#include "roofline/measure.h"

namespace roofline::cli {
namespace {

// "Intel(R) Core(TM) i7-1165G7 @ 2.80GHz" becomes "intel-r-core-tm-i7-1165g7-2.80ghz".
std::string id_from(const std::string& name) {
  constexpr std::size_t kLongest = 48;
  std::string id;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0 || c == '.')
      id += static_cast<char>(std::tolower(u));
    else if (!id.empty() && id.back() != '-')
      id += '-';
  }
  id = id.substr(0, kLongest);
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id.empty() || std::isalnum(static_cast<unsigned char>(id.front())) == 0 ? "this-cpu" : id;
}

class MeasurePart : public MachinePart {
 public:
  void setup(CLI::App& machine) override {
    command_ = machine.add_subcommand("measure",
                                      "Measure the roofs of this machine's processor, or import those of another tool");
    command_->add_flag("--quick", options_.quick, "In under 5 seconds, with more noise");
    command_->add_option("--threads", options_.threads, "Beside one thread: so many\n(default: one per core)")
        ->check(CLI::Range(1, 4096).description(""))
        ->type_name("N");
    save_option_ = command_
                       ->add_option("--save", save_,
                                    "Keep the ceilings as a machine of this name\n"
                                    "(default: the processor's); what one thread\n"
                                    "reaches becomes NAME-1t")
                       ->expected(0, 1)
                       ->type_name("[NAME]");
    command_->add_flag("--replace", replace_, "Take the place of a machine added before under\nthe same name");
    setup_import();
    output_.setup(*command_);
  }

  int run() override {
    if (!import_.empty()) return import_file();
    for (const auto* option : {device_option_, precision_option_, machine_option_})
      if (option->count() > 0) throw UsageError(fmt::format("{} goes with --import", option->get_name()));
    processor_ = measure::processor_text(measure::cpu_facts());
    if (save_option_->count() > 0) check_name();
    StatusLine line;
    options_.progress = [&](std::string_view what) { line.show(what); };
    const auto measurement = measure_cpu(options_);
    line.wipe();
    Output::Forms forms;
    forms.json = [&] { return measurement_json(measurement); };
    forms.chart = [&] { return measurement_chart(measurement); };
    forms.chart_above = true;
    output_.print(measurement_document(measurement), forms);
    if (save_option_->count() > 0 && !measurement.complete)
      fmt::print(stderr, "roofline: not saved: figures are missing; measure again on a quieter machine\n");
    else if (save_option_->count() > 0)
      save(measurement);
    return measurement.complete ? kOk : kInconclusive;
  }

 private:
  void setup_import() {
    auto* group = command_->add_option_group("Import");
    group
        ->add_option("--import", import_,
                     "Ceilings of ERT (roofline.json), of\nrocprof-compute (roofline.csv), or what\n"
                     "measure --json printed elsewhere")
        ->type_name("FILE");
    machine_option_ = group->add_option("--machine", base_,
                                        "The machine they were measured on: the ceilings\n"
                                        "join its figures, and are compared with them");
    device_option_ = group->add_option("--device", device_,
                                       "Which device of a file with several (default 0);\n"
                                       "of a measurement, 0 is all threads, 1 is one");
    precision_option_ = group->add_option("--precision", precision_,
                                          "Of ERT's operations, which do not say:\nfp64.vector, fp32.vector");
  }

  // Before a measurement is made that could not be kept.
  void check_name() const {
    if (!save_.empty()) check_machine_id(save_);
    // A machine with measured figures alone would hide the one with a datasheet.
    if (const auto* ours = save_.empty() ? nullptr : MachineCatalogue::built_in().find(save_); ours != nullptr)
      throw UsageError(fmt::format("'{}' means {} of the catalogue; save it under another name", save_, ours->name));
    const auto path = user_machine_folder() / (save_ + ".toml");
    if (!save_.empty() && std::filesystem::exists(path) && !replace_ && !may_follow(save_))
      throw UsageError(fmt::format("'{}' was added before, as {}; add --replace to replace it", save_, path.string()));
  }

  static void report_kept(const KeptMachine& kept) {
    fmt::print(stderr, "{} as {}; use it with --machine {}\n", kept.replaced ? "replaced" : "saved", kept.path.string(),
               kept.id);
  }

  void keep(const MeasuredMachine& made, const std::string& id) const {
    Machine named;
    named.id = id;
    const MachineFile file{id + ".toml", to_toml(named, made.facts)};
    report_kept(keep_user_machine(file, replace_ || may_follow(id)));
  }

  // A measurement takes the place of an older one of the same processor without being told so; an import never does.
  bool may_follow(const std::string& id) const {
    const auto* before = MachineCatalogue::instance().find(id);
    if (before == nullptr || before->id != id || !import_.empty() || !before->name.starts_with(processor_ + ","))
      return false;
    const auto* datasheet = before->ceiling(CeilingKind::datasheet);
    const bool stated = datasheet != nullptr && (!datasheet->peaks.empty() || !datasheet->bandwidths.empty());
    return !stated && MachineCatalogue::instance().facts(*before).find("measured_with") != nullptr;
  }

  void save(const CpuMeasurement& measurement) const {
    const auto id = save_.empty() ? id_from(measurement.cpu.name) : save_;
    keep(measured_machine(measurement, true, id), id);
    if (measurement.all.cpus.size() > 1) keep(measured_machine(measurement, false, id + "-1t"), id + "-1t");
  }

  ImportOptions import_options() const {
    ImportOptions options;
    options.device = device_;
    if (!precision_.empty()) {
      options.precision = parse_precision(precision_);
      if (!options.precision) throw UsageError(fmt::format("unknown precision '{}': write fp64.vector", precision_));
    }
    const auto& catalogue = MachineCatalogue::instance();
    if (!base_.empty()) {
      options.base = catalogue.find(base_);
      if (options.base == nullptr)
        throw UsageError(fmt::format("unknown or ambiguous machine '{}'; see roofline machine list", base_));
      options.facts = &catalogue.facts(*options.base);
    }
    if (!save_.empty()) check_machine_id(save_);
    options.id = !save_.empty() ? save_ : options.base != nullptr ? options.base->id : "imported";
    return options;
  }

  int import_file() const {
    if (save_option_->count() > 0 && base_.empty()) check_name();
    const auto options = import_options();
    const auto file = read_machine_file(import_);
    const auto made = import_ceilings(file.text, import_, options);
    for (const auto& w : made.warnings) fmt::print(stderr, "roofline: warning: {}\n", w);
    const ShownMachine shown{&made.machine, &made.facts, std::nullopt};
    const auto& catalogue = MachineCatalogue::instance();
    print_machine(catalogue, shown, output_);
    if (save_option_->count() > 0) keep(made, options.id);
    return kOk;
  }

  MeasureOptions options_;
  std::string processor_;  // the one to measure
  std::string save_, import_, base_, precision_;
  std::size_t device_ = 0;
  bool replace_ = false;
  CLI::Option* save_option_ = nullptr;
  CLI::Option* machine_option_ = nullptr;
  CLI::Option* device_option_ = nullptr;
  CLI::Option* precision_option_ = nullptr;
  Output output_;
};

}  // namespace

std::unique_ptr<MachinePart> make_measure_part() { return std::make_unique<MeasurePart>(); }

}  // namespace roofline::cli
