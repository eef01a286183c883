// AMD: the command to run. Nothing is started.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "roofline/collect.h"
#include "roofline/error.h"

namespace roofline::collect {
namespace {

// Counters of one run; unused places are empty.
using Counters = std::array<std::string_view, 4>;

struct Gfx {
  std::string_view name, parts;
  Counters reads, writes;                  // what DRAM bytes are made of, as data/amd_recipes.json wants them
  std::array<std::string_view, 2> matrix;  // number formats of matrix operations beside those of all chips
  bool compute;                            // whether rocprof-compute draws its roofline there
};

constexpr Counters kReads = {"TCC_EA_RDREQ_sum", "TCC_EA_RDREQ_32B_sum"};
constexpr Counters kWrites = {"TCC_EA_WRREQ_sum", "TCC_EA_WRREQ_64B_sum"};
constexpr Counters kWrites0 = {"TCC_EA0_WRREQ_sum", "TCC_EA0_WRREQ_64B_sum"};

// MI200 and later have the roofline of rocprof-compute; MI100 is refused by it. From gfx940 on the counters of the
// memory interface have another name, and reads of 128 bytes have one of their own.
constexpr std::array<Gfx, 4> kChips = {
    {{"gfx908", "MI100", kReads, kWrites, {}, false},
     {"gfx90a", "MI210, MI250, MI250X", kReads, kWrites, {}, true},
     {"gfx942",
      "MI300A, MI300X, MI325X",
      {"TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum", "TCC_BUBBLE_sum"},
      kWrites0,
      {"F8", "XF32"},
      true},
     {"gfx950",
      "MI350X, MI355X",
      {"TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum", "TCC_EA0_RDREQ_64B_sum", "TCC_EA0_RDREQ_128B_sum"},
      kWrites0,
      {"F8", "F6F4"},
      true}}};

const Gfx& chip_of(std::string_view name) {
  const auto it = std::find_if(kChips.begin(), kChips.end(), [&](const Gfx& chip) { return chip.name == name; });
  if (it != kChips.end()) return *it;
  std::string known;
  for (const auto& chip : kChips) known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", chip.name, chip.parts);
  throw UsageError(fmt::format("--chip '{}': no AMD chip that is known here; known are {}", name, known));
}

std::vector<std::string> with_command(std::vector<std::string> words, const Request& request) {
  words.emplace_back("--");
  words.insert(words.end(), request.command.begin(), request.command.end());
  return words;
}

// Up to version 3.2 rocprof-compute ends where the name of a workload has '-' or '.' or is longer than 35 characters.
std::string workload_name(const std::string& output) {
  constexpr std::size_t kLongest = 35;
  std::string name = output.substr(output.rfind('/') + 1).substr(0, kLongest);
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return !((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')); },
      '_');
  return name;
}

std::vector<std::string> compute_command(const Request& request) {
  std::vector<std::string> words = {"rocprof-compute", "profile", "--name", workload_name(request.output)};
  if (request.question == Question::table) words.emplace_back("--roof-only");
  if (!request.kernel.empty()) words.insert(words.end(), {"--kernel", request.kernel});
  return with_command(std::move(words), request);
}

// One line of counters per run: the hardware counts only so many of a block at once.
std::vector<std::vector<std::string>> counter_runs(const Gfx& chip) {
  std::vector<std::vector<std::string>> runs;
  for (const char* type : {"F16", "F32", "F64"}) {
    auto& run = runs.emplace_back();
    for (const char* op : {"ADD", "MUL", "FMA", "TRANS"}) run.push_back(fmt::format("SQ_INSTS_VALU_{}_{}", op, type));
  }
  auto& matrix = runs.emplace_back();
  for (const char* type : {"F16", "BF16", "F32", "F64", "I8"})
    matrix.push_back(fmt::format("SQ_INSTS_VALU_MFMA_MOPS_{}", type));
  for (const auto type : chip.matrix)
    if (!type.empty()) matrix.push_back(fmt::format("SQ_INSTS_VALU_MFMA_MOPS_{}", type));
  for (const auto& counters : {chip.reads, chip.writes}) {
    auto& run = runs.emplace_back();
    for (const auto counter : counters)
      if (!counter.empty()) run.emplace_back(counter);
  }
  return runs;
}

// Windows that AMD's profilers do not have are refused: without them the numbers would be of other launches.
void check_window(const Request& request) {
  if (request.launch_skip || request.launch_count)
    throw UsageError(
        "--launch-skip and --launch-count: AMD's profilers count launches of each kernel by itself, not of the "
        "program; leave them out, choose by --kernel, or add --kernel-iteration-range to the printed rocprofv3 "
        "commands");
  if (!request.nvtx.empty())
    throw UsageError(
        "--nvtx: AMD's profilers know no NVTX ranges; leave it out, and choose by --kernel, or let the program call "
        "roctxProfilerResume and roctxProfilerPause and add --selected-regions to the printed rocprofv3 commands");
}

std::vector<std::string> trace_command(const Request& request) {
  return with_command({"rocprofv3", "--kernel-trace", "--output-format", "csv", "--output-directory", request.output},
                      request);
}

std::vector<std::string> counters_command(const Request& request, const std::vector<std::string>& counters,
                                          std::size_t number) {
  std::vector<std::string> words = {"rocprofv3", "--pmc"};
  words.insert(words.end(), counters.begin(), counters.end());
  if (!request.kernel.empty()) words.insert(words.end(), {"--kernel-include-regex", request.kernel});
  words.insert(words.end(),
               {"--output-format", "csv", "--output-directory", fmt::format("{}/{}", request.output, number)});
  return with_command(std::move(words), request);
}

}  // namespace

Document rocprof_document(std::string_view gfx, const Request& request) {
  const auto& chip = chip_of(gfx);
  check(request);
  check_window(request);
  Document document;
  document.title = fmt::format("{} ({}): commands to run, nothing is started here", chip.name, chip.parts);
  if (chip.compute) {
    document.blocks.emplace_back(Paragraph{
        fmt::format(
            "rocprof-compute runs the program several times and writes pmc_perf.csv, with one row per dispatch, "
            "into a folder below workloads/{}/; it also measures the machine's roofs (roofline.csv):",
            workload_name(request.output)),
        Tone::normal});
    document.blocks.emplace_back(Command{shell_line(compute_command(request))});
  } else {
    document.blocks.emplace_back(
        Paragraph{"rocprof-compute makes no roofline on this chip; rocprofv3 has the counters.", Tone::normal});
  }
  document.blocks.emplace_back(Paragraph{
      "Where rocprof-compute is not installed: times first, then counters, one run of the program for each line.",
      Tone::normal});
  document.blocks.emplace_back(Command{shell_line(trace_command(request))});
  std::size_t number = 0;
  for (const auto& counters : counter_runs(chip))
    document.blocks.emplace_back(Command{shell_line(counters_command(request, counters, ++number))});
  document.blocks.emplace_back(Paragraph{
      "FLOPs are 64 per vector instruction (128 for FMA) and 512 per MFMA_MOPS; a read request is 64 bytes unless it "
      "is counted as 32, a write request 32 unless it is counted as 64; MI300 and later also read 128 bytes at once. "
      "Options are those of ROCm 6.4 to 7.1.",
      Tone::faint});
  return document;
}

}  // namespace roofline::collect
