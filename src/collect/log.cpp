// What ncu says, recognised by the words that identify each message.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>

#include "roofline/collect.h"

namespace roofline::collect {
namespace {

struct Mark {
  std::string_view text;
  std::string_view id, finding, remedy;
};

constexpr std::string_view kReplayFailed = "Failed to profile";
constexpr std::string_view kNoKernels = "No kernels were profiled";

// The most telling first: a refused run also profiles nothing.
constexpr std::array<Mark, 9> kMarks = {{
    {"ERR_NVGPUCTRPERM", "no-permission", "no permission to read the GPU's performance counters (ERR_NVGPUCTRPERM)",
     "for this run: sudo -E env \"PATH=$PATH\" roofline collect ..., in a container --cap-add SYS_ADMIN; for good: the "
     "driver option NVreg_RestrictProfilingToAdminUsers=0 on the host; roofline collect --check tells more"},
    {"driver resource was unavailable", "counters-in-use", "another tool holds the GPU's counters",
     "end other profilers; with DCGM: dcgmi profile --pause before, dcgmi profile --resume afterwards"},
    {"not compatible with", "driver-too-old", "this ncu does not work with the driver that is loaded",
     "use the ncu of the toolkit that came with the driver: --ncu PATH, or update the driver"},
    {"Failed to find metric", "unknown-metric", "ncu does not know one of the metrics on this chip",
     "check --chip, or leave it out; with an older ncu choose --set table"},
    {"unrecognised option", "unknown-option", "this ncu does not know one of the options",
     "use a newer Nsight Compute: --ncu PATH"},
    {"already exists", "file-exists", "the report is there already", "choose another -o, or --force to replace it"},
    {kReplayFailed, "replay-failed", "a kernel could not be replayed",
     "leave it out with --kernel, or collect less at a time: --set table --tensor none"},
    {kNoKernels, "nothing-profiled", "no kernels were profiled",
     "check --kernel, --nvtx, --launch-skip and whether the program launches kernels at all; under WSL update the "
     "Windows driver"},
    {"LibraryNotLoaded", "no-driver", "the driver's library could not be loaded",
     "in a container start it with its GPUs (docker run --gpus all); else install the driver"},
}};

constexpr std::string_view kApplication = "The application returned an error code (";

std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

std::optional<int> number_at(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional<int>(number) : std::nullopt;
}

// "..100% - 3 passes" at the end of a line.
std::optional<int> passes_in(std::string_view text) {
  const auto at = text.rfind(" - ");
  if (at == std::string_view::npos || text.find(" pass", at) == std::string_view::npos) return std::nullopt;
  return number_at(text.substr(at + 3));
}

// Of a program: shells tell by codes above 128 that a signal ended it.
std::string code_text(int code) {
  constexpr int kSignalled = 128, kMostSignals = 64;
  const int signal = code - kSignalled;
  if (signal <= 0 || signal > kMostSignals) return fmt::format("code {}", code);
  return fmt::format("code {}, which stands for signal {} ({})", code, signal, strsignal(signal));
}

Failure failure_of(std::string_view id, std::string finding, std::string_view remedy) {
  return {std::string(id), std::move(finding), std::string(remedy)};
}

}  // namespace

void NcuLog::connected(std::string_view text) {
  const auto open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return;
  programs_.emplace_back(text.substr(open + 1, close - open - 1));
}

void NcuLog::line(std::string_view text) {
  if (const auto info = after(text, "==PROF== ")) {
    if (const auto process = after(*info, "Connected to process ")) connected(*process);
    if (!info->starts_with("Profiling ")) return;
    ++profiled_;
    if (const auto passes = passes_in(*info)) {
      passes_ = std::max(passes_.value_or(0), *passes);
      ++finished_;
    }
    return;
  }
  if (const auto error = after(text, "==ERROR== ")) {
    if (const auto code = after(*error, kApplication)) application_code_ = number_at(*code);
    if (error->starts_with(kReplayFailed)) ++failed_;
    errors_.push_back({std::string(*error), false});
  } else if (const auto warning = after(text, "==WARNING== ")) {
    errors_.push_back({std::string(*warning), true});
  }
}

// Each program once, in order.
std::string NcuLog::programs() const {
  std::vector<std::string> names;
  for (const auto& program : programs_) {
    const auto quoted = "'" + program + "'";
    if (std::find(names.begin(), names.end(), quoted) == names.end()) names.push_back(quoted);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Each text once, in order. A parent that launches nothing leaves "no kernels" beside the kernels of its children.
std::vector<std::string> NcuLog::texts(bool warnings) const {
  std::vector<std::string> all;
  for (const auto& error : errors_) {
    if (error.warning != warnings || error.text.starts_with(kApplication) || error.text.starts_with(kNoKernels))
      continue;
    if (std::find(all.begin(), all.end(), error.text) == all.end()) all.push_back(error.text);
  }
  return all;
}

std::vector<std::string> NcuLog::warnings() const { return texts(true); }
std::vector<std::string> NcuLog::errors() const { return texts(false); }

// Whether a launch came through. ncu announces also those that then fail; what it finished it counts the passes of.
bool NcuLog::measured() const { return finished_ > 0 || (profiled_ > 0 && failed_ == 0); }

std::optional<Failure> NcuLog::known_failure(bool warnings) const {
  for (const auto& mark : kMarks)
    for (const auto& error : errors_)
      if (error.warning == warnings && error.text.find(mark.text) != std::string::npos)
        return failure_of(mark.id,
                          profiled_ > 0 && !error.warning ? fmt::format("{} (after {} launch{})", mark.finding,
                                                                        profiled_, profiled_ == 1 ? "" : "es")
                                                          : std::string(mark.finding),
                          mark.remedy);
  return std::nullopt;
}

std::optional<Failure> NcuLog::failure(const Exit& exit, bool report_exists) const {
  // Ctrl-C goes from the terminal to the profiler, past us.
  const int interruption = exit.interrupted_by != 0 ? exit.interrupted_by : exit.signal == SIGINT ? SIGINT : 0;
  if (interruption != 0) return failure_of("interrupted", fmt::format("interrupted by signal {}", interruption), "");
  if (exit.signal != 0)
    return failure_of("killed", fmt::format("ncu was ended by signal {} ({})", exit.signal, strsignal(exit.signal)),
                      exit.signal == 9
                          ? "the machine may have run out of memory: collect fewer launches (--launch-count)"
                          : "run the program without ncu first");
  if (report_exists && measured()) return std::nullopt;  // whatever else was said: warnings() and errors() have it
  if (auto known = known_failure(false)) return known;
  if (auto known = known_failure(true); known && !(application_code_ && known->id == "nothing-profiled")) return known;
  if (application_code_)
    return failure_of(
        "application-failed",
        fmt::format("the program ended with {} before a kernel was profiled", code_text(*application_code_)),
        "run it without ncu first; if it works there, it may need another working folder or environment");
  if (profiled_ == 0 && !programs_.empty() && exit.code == 0)
    return failure_of(
        programs_.size() > 1 ? "children" : "nothing-profiled",
        fmt::format("ncu followed {}, and none of them launched a kernel that was asked for", programs()),
        "check --kernel, --nvtx and --launch-skip; a server that is started in the background, or a process "
        "that was there before, is not followed");
  const auto error = std::find_if(errors_.begin(), errors_.end(), [](const Error& e) { return !e.warning; });
  if (error != errors_.end())
    return failure_of("ncu-error", "ncu: " + error->text, "see to that error and collect again");
  return failure_of("no-report", fmt::format("ncu ended with code {} and left no report", exit.code),
                    "what it said stands above; run the program without ncu first");
}

}  // namespace roofline::collect
