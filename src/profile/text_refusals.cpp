#include "profile/text_refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "profile/text_number.h"

namespace roofline {
namespace {

constexpr const char* kNeedHeader = "a header line with \"Kernel Name\" and \"Metric Name\", or with metric names";
constexpr const char* kMakeTable = "write one: ncu --csv --page raw --log-file FILE, or a report: ncu -o FILE";

struct Symptom {
  std::string_view mark;  // what gives it away
  const char* kind;
  const char* found;
  const char* action;
};

// The most telling first: a failed run also says that nothing was profiled.
constexpr auto kSymptoms = std::to_array<Symptom>({
    {"ERR_NVGPUCTRPERM", "no-permission", "a log: no permission to read GPU performance counters (ERR_NVGPUCTRPERM)",
     "run ncu as root (sudo, or --cap-add SYS_ADMIN in a container), or load the driver with "
     "NVreg_RestrictProfilingToAdminUsers=0, and profile again"},
    {"The user does not have permission", "no-permission", "a log: no permission to read GPU performance counters",
     "run ncu as root (sudo, or --cap-add SYS_ADMIN in a container), or load the driver with "
     "NVreg_RestrictProfilingToAdminUsers=0, and profile again"},
    {"The application returned an error code", "application-failed", "a log: the profiled program failed",
     "run the program without ncu first; then profile it again"},
    {"No kernels were profiled", "nothing-profiled", "a log: no kernels were profiled",
     "check the filters (--kernel-name, --launch-skip) and whether the program launches kernels"},
    {"==ERROR==", "profiler-error", "a log of a profiler that failed", "see to that error and profile again"},
    {"======== Error:", "profiler-error", "a log of nvprof that failed", "see to that error and profile again"},
});

struct Line {
  std::uint64_t number = 0;
  std::string_view text;
};

// The first line that `wanted` accepts. One pass.
template <typename Predicate>
std::optional<Line> find_line(std::string_view text, Predicate wanted) {
  Line line;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    line = {line.number + 1, text.substr(0, end)};
    if (wanted(line)) return Line{line.number, trim(line.text)};
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

std::optional<Line> line_with(std::string_view text, std::string_view mark) {
  if (text.find(mark) == std::string_view::npos) return std::nullopt;
  return find_line(text, [mark](const Line& line) { return line.text.find(mark) != std::string_view::npos; });
}

std::string shortened(std::string_view line) {
  constexpr std::size_t kMost = 100;
  if (line.size() <= kMost) return std::string(line);
  auto cut = kMost;
  while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xC0) == 0x80) --cut;
  return std::string(line.substr(0, cut)) + "...";
}

InputProblem problem(const std::string& path, std::string_view kind, std::optional<std::uint64_t> line,
                     std::string found, std::string expected, std::string action) {
  return {std::string(kind), path, std::nullopt, line, std::move(found), std::move(expected), std::move(action)};
}

bool has_line_starting(std::string_view text, std::string_view start) {
  return text.starts_with(start) || text.find("\n" + std::string(start)) != std::string_view::npos;
}

constexpr std::string_view kSection = "Section: ";

// "    Section: GPU Speed Of Light Throughput", as the command line prints pages.
std::optional<Line> printed_section(std::string_view text) {
  if (text.find(kSection) == std::string_view::npos) return std::nullopt;
  return find_line(
      text, [](const Line& line) { return line.text.starts_with(' ') && trim(line.text).starts_with(kSection); });
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

bool names_a_metric(std::string_view line) {
  constexpr auto kUnits = std::to_array<std::string_view>(
      {"sm__", "smsp__", "dram__", "lts__", "l1tex__", "gpu__", "gpc__", "fbpa__", "launch__", "nvlrx__", "pcie__"});
  return std::any_of(kUnits.begin(), kUnits.end(), [line](std::string_view unit) {
    const auto at = line.find(unit);
    return at != std::string_view::npos && (at == 0 || !is_name_char(line[at - 1]));
  });
}

// A header of full metric names ("dram__bytes.sum") near the top: a table that somebody made from a profile.
std::optional<Line> derived_header(std::string_view text) {
  constexpr std::uint64_t kTop = 5;
  const auto line = find_line(text, [](const Line& l) {
    return l.number > kTop || (names_a_metric(l.text) && l.text.find_first_of(",;\t|") != std::string_view::npos);
  });
  return line && line->number <= kTop ? line : std::nullopt;
}

// ncu followed only programs that launch nothing: it connected and left.
std::optional<InputProblem> only_connections(std::string_view text, const std::string& path) {
  std::size_t connected = 0;
  std::size_t profiled = 0;
  std::string_view program;
  for (auto at = text.find("==PROF== "); at != std::string_view::npos; at = text.find("==PROF== ", at + 9)) {
    const auto rest = text.substr(at + 9, text.find('\n', at) - at - 9);
    if (rest.starts_with("Profiling ")) ++profiled;
    if (!rest.starts_with("Connected to ")) continue;
    ++connected;
    const auto open = rest.rfind('/');
    if (open != std::string_view::npos) program = trim(rest.substr(open + 1));
    if (program.ends_with(')')) program.remove_suffix(1);
  }
  if (connected == 0 || profiled > 0) return std::nullopt;
  return problem(path, "nothing-profiled", std::nullopt,
                 fmt::format("a log: ncu followed {} process{}{}{} and profiled no kernel", connected,
                             connected == 1 ? "" : "es", program.empty() ? "" : ", the last one ", program),
                 kNeedHeader,
                 "check that the program launches kernels and which child processes ncu should follow "
                 "(--target-processes, --target-processes-filter)");
}

}  // namespace

bool looks_like_profiler_text(std::string_view text) {
  if (has_line_starting(text, "==PROF==") || has_line_starting(text, "==ERROR==") ||
      has_line_starting(text, "==WARNING==")) {
    return true;
  }
  return text.find("ERR_NVGPUCTRPERM") != std::string_view::npos || printed_section(text).has_value() ||
         derived_header(text).has_value();
}

InputProblem why_no_table(std::string_view text, const std::string& path) {
  for (const Symptom& symptom : kSymptoms) {
    const auto line = line_with(text, symptom.mark);
    if (!line) continue;
    return problem(path, symptom.kind, line->number, fmt::format("{}: \"{}\"", symptom.found, shortened(line->text)),
                   "", symptom.action);
  }
  if (const auto line = printed_section(text)) {
    return problem(path, "text-report", line->number, "pages as ncu prints them for people", kNeedHeader,
                   "run it again with --csv, or turn a report into a table: ncu --import FILE --csv --page raw");
  }
  if (auto found = only_connections(text, path)) return *std::move(found);
  if (const auto line = derived_header(text)) {
    return problem(path, "derived-table", line->number,
                   fmt::format("a table that somebody made from a profile, without kernel names or units: \"{}\"",
                               shortened(line->text)),
                   kNeedHeader, "use the profiler's own export");
  }
  return problem(path, "no-header", std::nullopt, "profiler output without a table", kNeedHeader, kMakeTable);
}

}  // namespace roofline
