#include "cli/collect_command.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/choices.h"
#include "cli/collect_view.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "roofline/analysis.h"
#include "roofline/collect.h"
#include "roofline/document.h"
#include "roofline/error.h"
#include "roofline/machines.h"
#include "roofline/model.h"
#include "roofline/profile.h"

namespace roofline::cli {
namespace {

using collect::Plan;
using collect::Preflight;
using collect::Question;
using collect::Request;
using collect::Run;
using collect::Target;
using collect::TensorCounters;

constexpr int kSignalled = 128;

enum class Profiler { ncu, native, rocprof };

const std::map<std::string, Profiler> kProfilers = {
    {"ncu", Profiler::ncu}, {"native", Profiler::native}, {"rocprof", Profiler::rocprof}};
const std::map<std::string, Question> kQuestions = {{"table", Question::table},
                                                    {"hierarchy", Question::hierarchy},
                                                    {"diagnose", Question::diagnose},
                                                    {"all", Question::all}};
const std::map<std::string, TensorCounters> kTensor = {
    {"auto", TensorCounters::automatic}, {"all", TensorCounters::every}, {"none", TensorCounters::none}};

// Digits alone: the parser of options would take -1 for the largest number there is.
std::optional<std::uint64_t> count_of(const char* option, const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end)
    throw UsageError(fmt::format("{} '{}': expected a whole number of launches, 0 or more", option, *text));
  return number;
}

// A missing folder would be found out only after the program has run.
void check_folder(const std::string& output) {
  auto folder = std::filesystem::path(output).parent_path();
  if (folder.empty()) folder = ".";
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    throw UsageError(
        fmt::format("-o '{}': {} is no folder; make it first, or choose another", output, folder.string()));
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw UsageError(fmt::format("-o '{}': {} cannot be written to; choose another", output, folder.string()));
}

// Reports written beside those that they replace, which stay as they are until the new ones are complete.
class Staging {
 public:
  explicit Staging(std::string output)
      : final_(std::move(output)), beside_(fmt::format("{}.{}.new", final_, getpid())) {}
  ~Staging() {
    std::error_code ignored;
    for (const char* ending : kEndings) std::filesystem::remove(beside_ + ending, ignored);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  const std::string& output() const { return beside_; }
  void commit() const {
    for (const char* ending : kEndings) {
      const auto from = beside_ + ending, to = final_ + ending;
      std::error_code error;
      if (std::filesystem::exists(from))
        std::filesystem::rename(from, to, error);
      else
        std::filesystem::remove(to, error);  // of another collection
      if (error) throw UsageError(fmt::format("{} cannot be replaced: {}", to, error.message()));
    }
  }

 private:
  static constexpr std::array<const char*, 2> kEndings = {".types.ncu-rep", ".ncu-rep"};
  std::string final_, beside_;
};

void say(const Document& document) {
  auto style = detect_style(0);
  style.color = false;
  fmt::print(stderr, "{}\n", to_terminal(document, style));
}

// A chip, a compute capability, or a machine of the catalogue.
Target target_named(const std::string& name) {
  if (const auto target = collect::find_target(name)) return *target;
  const auto& catalogue = MachineCatalogue::instance();
  if (const auto* machine = catalogue.find(name)) {
    if (const auto target = collect::find_target(machine->compute_capability, machine->name)) return *target;
    throw UsageError(
        fmt::format("--chip '{}': {} has no counters that ncu reads; for AMD add --with rocprof", name, machine->name));
  }
  if (name.starts_with("gfx"))
    throw UsageError(fmt::format("--chip '{}': an AMD chip, which ncu cannot read; add --with rocprof", name));
  std::string chips;
  for (const auto& chip : collect::MetricMatrix::instance().chips()) chips += " " + chip.name;
  throw UsageError(
      fmt::format("--chip '{}': no chip, compute capability or machine; chips are{}; machines: roofline machine list",
                  name, chips));
}

// One decoding step of Llama 3 8B, as engines run it: how many launches, how many different kernels.
collect::StepShape step_shape(const std::string& name, const std::string& scheme, const std::string& formats) {
  model::StepOptions options;
  options.batch = 64;
  options.context = 2048;
  options.scheme = model::find_scheme(scheme);
  std::vector<model::Operator> operators;
  model::build_step(model::resolve_config("llama-3-8b"), options, operators);
  collect::StepShape shape{name, formats, 0, 0};
  for (const auto& op : operators) {
    shape.launches += op.calls * op.launches;
    shape.kernels += op.launches;
  }
  return shape;
}

class CollectCommand : public Command {
 public:
  void setup(CLI::App& app) override {
    command_ = app.add_subcommand("collect", "Run a profiler with the fewest passes that answer the question");
    command_->footer(
        "Finds ncu and the chip, says what it will do, runs the program under ncu and\n"
        "prints the report; OUT.ncu-rep stays. Where the counters of tensor operations\n"
        "cost passes, a short run first finds which of them the program needs\n"
        "(OUT.types.ncu-rep).\n\n"
        "  roofline collect -o decode -- python decode.py\n"
        "  roofline collect --launch-skip 500 --launch-count 300 -- ./server --once\n"
        "  roofline collect --set diagnose -k 'gemm|attention' -- ./app\n"
        "  roofline collect --dry-run --chip H100 -- ./app   commands to run elsewhere\n"
        "  roofline collect --check                          can counters be read here?\n\n"
        "The program's own output goes to standard error, the report to standard output.\n\n"
        "Exit codes: 0 fine; 1 the program or ncu failed though kernels were profiled,\n"
        "or --check found an obstacle; 2 wrong usage; 3 the report cannot be read;\n"
        "4 nothing could be measured; 128 + N ended by signal N (130: Ctrl-C).");
    add_question();
    add_choice();
    add_conditions();
    add_modes();
    // An option of many values would take "[1,2]" apart; so all but the name go by as they are.
    command_->add_option("PROGRAM", program_, "What to profile, with its arguments, after --");
    command_->prefix_command();
  }

  bool chosen() const override { return command_->parsed(); }

  int run() override {
    request_.question = kQuestions.at(set_);
    take_program();
    request_.launch_skip = count_of("--launch-skip", skip_);
    request_.launch_count = count_of("--launch-count", count_);
    request_.lock_clocks = clocks_ == "base";
    request_.flush_caches = caches_ == "all";
    if (request_.output.ends_with(".ncu-rep")) request_.output.resize(request_.output.size() - 8);
    if (with_ == Profiler::native)
      throw UsageError("--with native: this build collects through ncu only; leave --with out");
    if (plan_table_) return print_plan_table();
    if (with_ == Profiler::rocprof) return print_rocprof();
    if (report_only_) return report("");
    const auto checked = collect::preflight(collect::System::real(), request_.ncu, request_.lock_clocks);
    if (check_) return print_check(checked);
    choose_target(checked);
    if (!checked.ncu.empty()) request_.ncu = checked.ncu;
    const auto plan = collect::plan(request_, checked.options);
    say(plan_document(request_, plan));
    if (dry_run_) return print_commands(plan);
    check_folder(request_.output);
    if (const int code = refuse(checked); code != kOk) return code;
    return measure(plan, checked.options);
  }

 private:
  void add_question() {
    auto* group = command_->add_option_group("What to measure");
    group
        ->add_option("--set", set_,
                     "table (default): time, DRAM bytes, FLOPs\n"
                     "hierarchy: L2, L1 and shared memory too\n"
                     "diagnose: the table, and what tells why\n"
                     "all: everything")
        ->transform(CLI::IsMember({"table", "hierarchy", "diagnose", "all"}).description(""))
        ->type_name("SET");
    group
        ->add_option("--tensor", request_.tensor,
                     "Counters of tensor operations\n"
                     "auto (default): those in use, which a short\n"
                     "first run finds where that saves passes\n"
                     "all: every one, in one run\n"
                     "none: only whether tensor cores were used")
        ->transform(one_of(kTensor))
        ->type_name("WHICH");
  }
  void add_choice() {
    auto* group = command_->add_option_group("Which kernels");
    group->add_option("-k,--kernel", request_.kernel, "Only kernels whose full name matches")->type_name("REGEX");
    group->add_option("--launch-skip", skip_, "Leave out the first N launches (warm-up)")->type_name("N");
    group->add_option("--launch-count", count_, "Profile N launches; the rest run as ever")->type_name("N");
    group
        ->add_option("--nvtx", request_.nvtx,
                     "Only inside this NVTX range, as ncu writes\n"
                     "it: 'decode/' push/pop, 'decode' start/end")
        ->type_name("RANGE")
        ->expected(1)
        ->take_all();
  }
  void add_conditions() {
    auto* group = command_->add_option_group("Conditions");
    group
        ->add_option("--clock-control", clocks_,
                     "none (default): clocks of a normal run\n"
                     "base: locked; repeats better, runs slower")
        ->transform(CLI::IsMember({"none", "base"}).description(""))
        ->type_name("HOW");
    group
        ->add_option("--cache-control", caches_,
                     "none (default): caches are left alone\n"
                     "all: flushed before every pass")
        ->transform(CLI::IsMember({"none", "all"}).description(""))
        ->type_name("HOW");
    group
        ->add_option("--chip", chip_,
                     "Collect for this chip: GH100, 9.0, h100,\n"
                     "gfx942; default: the GPU that is here")
        ->type_name("CHIP");
    group
        ->add_option("--ncu", request_.ncu, "Nsight Compute's program; default: on the\nPATH, else in the CUDA toolkit")
        ->type_name("PATH");
    group
        ->add_option("--with", with_,
                     "ncu (default)\n"
                     "rocprof: prints commands for an AMD --chip")
        ->transform(one_of(kProfilers))
        ->type_name("PROFILER");
  }
  void add_modes() {
    auto* group = command_->add_option_group("Output");
    group->add_option("-o,--output", request_.output, "The report's name; writes OUT.ncu-rep\n(default: report)")
        ->type_name("OUT");
    group->add_flag("-f,--force", request_.overwrite, "Replace a report of that name");
    group->add_flag("--json", json_, "Print the report as JSON");
    group->add_flag("--dry-run", dry_run_, "Print the commands; run nothing");
    group->add_flag("--check", check_, "Only look for obstacles: permission, driver,\ncontainers, other profilers");
    group->add_flag("--anyway", anyway_, "Run in spite of an obstacle");
    group->add_flag("--report-only", report_only_, "Print the report of an OUT collected before");
    group->add_flag("--plan-table", plan_table_, "Print passes per chip for a step of Llama 3 8B");
  }

  void take_program() {
    auto rest = command_->remaining();
    const bool marked = !rest.empty() && rest.front() == "--";
    if (marked) rest.erase(rest.begin());
    if (command_->count("PROGRAM") == 0 && !rest.empty())
      throw UsageError(fmt::format("{}: no option of collect (see roofline collect --help); the program goes behind --",
                                   rest.front()));
    if (command_->count("PROGRAM") == 0) return;
    request_.command = {program_};
    request_.command.insert(request_.command.end(), rest.begin(), rest.end());
  }

  int print_plan_table() const {
    constexpr double kAmpere = 8.0;  // the first with BF16
    auto fp16 = step_shape("FP16", "bf16", "fp16+dense"), bf16 = step_shape("BF16", "bf16", "bf16+dense");
    fp16.below = bf16.from = kAmpere;
    const std::array<collect::StepShape, 3> steps = {fp16, bf16, step_shape("FP8", "fp8", "bf16+fp8+dense")};
    write_output(to_markdown(collect::pass_document(steps)), "");
    return kOk;
  }

  int print_rocprof() const {
    if (chip_.empty()) throw UsageError("--with rocprof needs --chip gfx90a, gfx942, gfx950 or another AMD chip");
    if (request_.command.empty()) throw UsageError("what to run is missing: roofline collect --with rocprof -- ./app");
    const auto* machine = MachineCatalogue::instance().find(chip_);
    write_output(to_terminal(collect::rocprof_document(machine ? machine->compute_capability : chip_, request_),
                             detect_style(0)),
                 "");
    return kOk;
  }

  static int print_check(const Preflight& checked) {
    write_output(to_terminal(collect::preflight_document(checked), detect_style(0)), "");
    return checked.blocked() ? kCheckFailed : kOk;
  }

  void choose_target(const Preflight& checked) {
    if (!chip_.empty())
      request_.target = target_named(chip_);
    else if (!checked.gpus.empty())
      request_.target = checked.gpus.front();
    else
      fmt::print(stderr, "roofline: no GPU found and no --chip given: taking metrics that most chips have\n");
  }

  static int print_commands(const Plan& plan) {
    std::string text;
    for (const auto& run : plan.runs) {
      if (plan.runs.size() > 1)
        text += fmt::format("# {}{}\n", run.title,
                            run.first_launches_only ? ": every counter, first launch of each kernel" : "");
      text += collect::shell_line(run.arguments) + "\n";
    }
    if (plan.runs.size() > 1)
      text += "# then roofline adds the counters that the first run found above 0; without it add --tensor all\n";
    write_output(text, "");
    return kOk;
  }

  int refuse(const Preflight& checked) const {
    if (!checked.obstacles.empty()) say(collect::preflight_document(checked));
    if (!checked.blocked()) return kOk;
    if (anyway_) return kOk;
    fmt::print(stderr, "roofline: nothing was run (--anyway tries, --dry-run prints the commands)\n");
    return kInconclusive;
  }

  std::string types_report() const { return request_.output + ".types.ncu-rep"; }

  // Runs of one plan must not find reports of another.
  void check_free(const Plan& plan) const {
    for (const auto& path : {plan.runs.back().report, types_report()})
      if (!request_.overwrite && std::filesystem::exists(path))
        throw UsageError(fmt::format("{} is there already; choose another -o, or --force", path));
  }

  int measure(const Plan& plan, const collect::NcuOptions& options) {
    check_free(plan);
    if (!std::filesystem::exists(plan.runs.back().report) && !std::filesystem::exists(types_report()))
      return measure(request_, plan, options, nullptr);
    const Staging staging(request_.output);
    auto beside = request_;
    beside.output = staging.output();
    const int code = measure(beside, collect::plan(beside, options), options, &staging);
    if (code > kCheckFailed)
      fmt::print(stderr, "roofline: the report of before is kept: {}\n", plan.runs.back().report);
    return code;
  }

  int measure(const Request& request, const Plan& plan, const collect::NcuOptions& options, const Staging* staging) {
    auto last = plan.runs.back();
    int first_code = kOk;
    if (plan.runs.size() > 1) {
      first_code = perform(plan.runs.front());
      if (first_code > kCheckFailed) return first_code;
      const auto found = collect::leaves_found(request.target, open_profile(plan.runs.front().report));
      last = collect::measuring_run(request, options, found);
      fmt::print(stderr, "{} of {} counters of tensor operations are in use; the second run takes {}\n", found.size(),
                 collect::leaves_of(request_.target, "all").size(), passes_text(last.passes));
    }
    const int code = std::max(first_code, perform(last));
    if (code > kCheckFailed) return code;
    if (staging != nullptr) {
      open_profile(last.report);  // throws where it cannot be read: then the old one stays
      staging->commit();
    }
    const int shown = report(collect::shell_line(last.arguments));
    return shown == kOk ? code : shown;
  }

  // kOk, kCheckFailed where the program or some launches failed but others were profiled, else a code to end with.
  int perform(const Run& run) {
    fmt::print(stderr, "$ {}\n", collect::shell_line(run.arguments));
    std::error_code ignored;
    std::filesystem::remove(run.report, ignored);
    collect::NcuLog log;
    std::string pending;  // a write for each line would slow down programs that print millions of them
    const auto exit = collect::run_program(
        run.arguments,
        [&](std::string_view line) {
          log.line(line);
          (pending += line) += '\n';
        },
        [&] {
          std::fwrite(pending.data(), 1, pending.size(), stderr);
          pending.clear();
        });
    if (const auto failure = log.failure(exit, std::filesystem::exists(run.report))) {
      fmt::print(stderr, "roofline: {}: {}{}{}\n", failure->id, failure->finding, failure->remedy.empty() ? "" : "; ",
                 failure->remedy);
      if (failure->id != "interrupted") return kInconclusive;
      return kSignalled + (exit.interrupted_by != 0 ? exit.interrupted_by : exit.signal);
    }
    fmt::print(stderr, "{} launch{} profiled{}\n", log.profiled(), log.profiled() == 1 ? "" : "es",
               log.passes() ? fmt::format(" in {} passes each, as ncu counts", *log.passes()) : std::string());
    for (const auto& text : log.warnings()) remarks_.push_back({"ncu-warning", "ncu: " + text, std::nullopt});
    for (const auto& text : log.errors()) remarks_.push_back({"ncu-error", "ncu: " + text, std::nullopt});
    if (!log.application_code()) return log.errors().empty() ? kOk : kCheckFailed;
    fmt::print(stderr, "roofline: the program ended with code {}; what was profiled before stands\n",
               *log.application_code());
    return kCheckFailed;
  }

  // The chip that the report is of, wherever it is printed; --chip where it does not say.
  Target target_of(const Profile& profile) const {
    for (const auto& device : profile.devices)
      if (const auto target = collect::find_target(device.compute_capability, device.name)) return *target;
    if (!request_.target.known() && !chip_.empty()) return target_named(chip_);
    return request_.target;
  }

  // The same as `roofline report`, with what the first run knows of tensor operations. `command_line` is how the
  // report came to be, for formats that do not keep it; may be empty.
  int report(const std::string& command_line) const {
    std::vector<Profile> profiles = {open_profile(request_.output + ".ncu-rep")};
    if (profiles.front().command_line.empty()) profiles.front().command_line = command_line;
    const auto types_path = types_report();
    std::optional<std::string> remark;
    if (std::filesystem::exists(types_path)) {
      const auto types = open_profile(types_path);
      std::size_t filled = 0;
      const auto target = target_of(profiles.front());
      profiles.front() = collect::with_types(std::move(profiles.front()), types, target, filled);
      if (filled > 0)
        remark = fmt::format(
            "tensor counters that read 0 in {} were not collected again: taken as 0 for {} launch{} of "
            "the same kernels",
            types_path, filled, filled == 1 ? "" : "es");
    }
    auto result = analyze(profiles, {});
    if (remark) result.warnings.push_back({"tensor-types", *remark, std::nullopt});
    result.warnings.insert(result.warnings.end(), remarks_.begin(), remarks_.end());
    write_output(json_ ? to_json(result) : to_terminal(report_document(result, {}), detect_style(0)), "");
    return profiles.front().partial ? kUnreadable : kOk;
  }

  CLI::App* command_ = nullptr;
  Request request_ = with_defaults();
  std::optional<std::string> skip_, count_;
  std::vector<ReportWarning> remarks_;  // of ncu, on runs that stand
  Profiler with_ = Profiler::ncu;
  std::string program_, set_ = "table", clocks_ = "none", caches_ = "none", chip_;
  bool json_ = false, dry_run_ = false, check_ = false, anyway_ = false, report_only_ = false, plan_table_ = false;

  static Request with_defaults() {
    Request request;
    request.output = "report";
    return request;
  }
};

}  // namespace

std::unique_ptr<Command> make_collect_command() { return std::make_unique<CollectCommand>(); }

}  // namespace roofline::cli
