// The command line of ncu, and which runs a request takes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <re2/re2.h>

#include <algorithm>
#include <regex>

#include "roofline/collect.h"
#include "roofline/error.h"

namespace roofline::collect {
namespace {

constexpr int kWorthARun = 2;              // passes per launch that the first run has to save
constexpr std::uint64_t kFewLaunches = 3;  // so few are measured completely in one go
// context:stream:kernel:invocation. ncu counts invocations of a kernel's name, grid, block and shared memory apart, and
// takes what both this and --kernel-name let pass. A regular expression stands in the latter alone: its colons would
// end the name here.
constexpr std::string_view kFirstOfEach = ":::1";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("@%_+=:,./-").find(c) != std::string_view::npos;
}

// ncu expands %p, %i, ... in file names.
std::string literal_file_name(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c == '%') text += '%';
    text += c;
  }
  return text;
}

void check_output(const std::string& output) {
  if (output.empty()) throw UsageError("-o: where to write the report is missing");
  const auto name = std::string_view(output).substr(output.rfind('/') + 1);
  if (name.empty() || name == "." || name == "..")
    throw UsageError(fmt::format("-o '{}': a folder, not a file", output));
  if (output.front() == '-')
    throw UsageError(fmt::format("-o '{}': the profiler would take it for an option; write ./{}", output, output));
}

// The profiler has a grammar of its own: only what no common one accepts is refused.
void check_kernel(const std::string& expression) {
  const RE2 re2(expression, RE2::Quiet);
  if (re2.ok()) return;
  try {
    const std::regex ecma(expression);
  } catch (const std::regex_error&) {
    throw UsageError(fmt::format("--kernel '{}': no regular expression: {}", expression, re2.error()));
  }
}

}  // namespace

void check(const Request& request) {
  check_output(request.output);
  if (!request.kernel.empty()) check_kernel(request.kernel);
  if (request.launch_count == std::uint64_t{0})
    throw UsageError("--launch-count 0: nothing would be profiled; give 1 or more");
  for (const auto& range : request.nvtx)
    if (range.empty()) throw UsageError("--nvtx '': the name of a range is missing");
  if (request.command.empty()) throw UsageError("what to run is missing: roofline collect -o out -- ./app ARGUMENTS");
  if (request.command.front().empty()) throw UsageError("the program to run has an empty name");
  if (request.command.front().front() == '-')
    throw UsageError(fmt::format("'{}': ncu would take it for an option; write ./{}", request.command.front(),
                                 request.command.front()));
}

namespace {

class Builder {
 public:
  Builder(const Request& request, const NcuOptions& ncu) : request_(request), ncu_(ncu) { add({request.ncu}); }

  // Children too: programs start workers, and Python scripts start programs.
  void following() {
    add({"--target-processes", "all"});
    // Each kernel of a CUDA graph by itself: of a graph as a whole there are no FLOPs of the CUDA cores.
    if (ncu_.graph_profiling) add({"--graph-profiling", "node"});
  }
  void controls() {
    add({"--clock-control", request_.lock_clocks ? "base" : "none"});
    add({"--cache-control", request_.flush_caches ? "all" : "none"});
    add({"--replay-mode", "kernel"});
  }
  void kernels() {
    if (request_.kernel.empty()) return;
    // The same text that `roofline report -k` searches.
    if (ncu_.kernel_name_base) add({"--kernel-name-base", "demangled"});
    add({"--kernel-name", "regex:" + request_.kernel});
  }
  void window() {
    if (request_.launch_skip) add({"--launch-skip", std::to_string(*request_.launch_skip)});
    if (request_.launch_count) add({"--launch-count", std::to_string(*request_.launch_count)});
    if (request_.nvtx.empty()) return;
    add({"--nvtx"});
    for (const auto& range : request_.nvtx) add({"--nvtx-include", range});
  }
  void first_of_each() { add({"--kernel-id", std::string(kFirstOfEach)}); }
  void metrics(const std::vector<std::string>& names) { add({"--metrics", fmt::format("{}", fmt::join(names, ","))}); }
  void output(const std::string& name) {
    if (request_.overwrite) add({"--force-overwrite"});
    add({"--export", literal_file_name(name)});
    arguments_.insert(arguments_.end(), request_.command.begin(), request_.command.end());
  }
  std::vector<std::string> take() { return std::move(arguments_); }

 private:
  void add(std::initializer_list<std::string> words) { arguments_.insert(arguments_.end(), words); }

  const Request& request_;
  const NcuOptions& ncu_;
  std::vector<std::string> arguments_;
};

Run types_run(const Request& request, const NcuOptions& ncu, const Declarations& declared) {
  Run run;
  run.purpose = "types";
  run.title = "find the number formats of tensor operations";
  run.metrics = types_metrics(declared, request.target);
  run.report = request.output + ".types.ncu-rep";
  run.first_launches_only = true;
  if (const auto count = passes_of_types_run(request.target)) run.passes = Passes{*count, true};
  Builder builder(request, ncu);
  builder.following();
  builder.controls();
  builder.kernels();
  builder.first_of_each();  // no window: what instructions a kernel holds does not depend on when it runs
  builder.metrics(run.metrics);
  builder.output(request.output + ".types");
  run.arguments = builder.take();
  return run;
}

bool types_first(const Request& request, const NcuOptions& ncu) {
  if (request.tensor != TensorCounters::automatic || !request.target.known() || !ncu.kernel_id) return false;
  if (request.launch_count && *request.launch_count <= kFewLaunches) return false;
  const auto all = passes_of(request.target, request.question, leaves_of(request.target, "all"));
  const auto none = passes_of(request.target, request.question, {});
  return all && none && all->count - none->count >= kWorthARun;
}

}  // namespace

NcuOptions NcuOptions::parse(std::string_view version_text, std::string_view help_text) {
  NcuOptions options;
  constexpr std::string_view kVersion = "Version ";
  if (const auto at = version_text.find(kVersion); at != std::string_view::npos) {
    const auto rest = version_text.substr(at + kVersion.size());
    options.version = rest.substr(0, rest.find_first_not_of("0123456789."));
  }
  if (help_text.empty()) return options;
  const auto knows = [&](std::string_view option) { return help_text.find(option) != std::string_view::npos; };
  options.graph_profiling = knows("--graph-profiling");
  options.kernel_name_base = knows("--kernel-name-base");
  options.kernel_id = knows("--kernel-id");
  return options;
}

Run measuring_run(const Request& request, const NcuOptions& ncu, std::span<const std::string> leaves) {
  check(request);
  Run run;
  run.purpose = "measure";
  run.title = fmt::format("measure --set {}", to_string(request.question));
  run.metrics = select(declarations(request.target), request.target, request.question, leaves).metrics;
  run.report = request.output + ".ncu-rep";
  run.passes = passes_of(request.target, request.question, leaves);
  Builder builder(request, ncu);
  builder.following();
  builder.controls();
  builder.kernels();
  builder.window();
  builder.metrics(run.metrics);
  builder.output(request.output);
  run.arguments = builder.take();
  return run;
}

Plan plan(const Request& request, const NcuOptions& ncu) {
  check(request);
  Plan plan;
  const auto declared = declarations(request.target);
  if (types_first(request, ncu)) {
    plan.runs.push_back(types_run(request, ncu, declared));
  } else if (request.tensor != TensorCounters::none) {
    plan.leaves = leaves_of(request.target, "all");
  }
  plan.runs.push_back(measuring_run(request, ncu, plan.leaves));
  plan.selection = select(declared, request.target, request.question, plan.leaves);
  return plan;
}

std::string shell_quote(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  }
  return text + "'";
}

std::string shell_line(std::span<const std::string> words) {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + shell_quote(word);
  return line;
}

}  // namespace roofline::collect
