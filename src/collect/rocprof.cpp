// AMD: the command to run. Nothing is started.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "roofline/collect.h"
#include "roofline/error.h"

namespace roofline::collect {
namespace {

struct Gfx {
  std::string_view name, parts, read, write;
  bool matrix_fp8, compute;  // FP8 matrix operations; whether rocprof-compute draws its roofline there
};

// MI200 and later have the roofline of rocprof-compute; MI100 is refused by it. From gfx940 on the counters of the
// memory interface have another name.
constexpr std::array<Gfx, 4> kChips = {
    {{"gfx908", "MI100", "TCC_EA_RDREQ", "TCC_EA_WRREQ", false, false},
     {"gfx90a", "MI210, MI250, MI250X", "TCC_EA_RDREQ", "TCC_EA_WRREQ", false, true},
     {"gfx942", "MI300A, MI300X, MI325X", "TCC_EA0_RDREQ", "TCC_EA0_WRREQ", true, true},
     {"gfx950", "MI350X, MI355X", "TCC_EA0_RDREQ", "TCC_EA0_WRREQ", true, true}}};

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

std::vector<std::string> compute_command(const Request& request) {
  std::vector<std::string> words = {"rocprof-compute", "profile", "--name", request.output};
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
  if (chip.matrix_fp8) matrix.emplace_back("SQ_INSTS_VALU_MFMA_MOPS_F8");
  runs.push_back({fmt::format("{}_sum", chip.read), fmt::format("{}_32B_sum", chip.read)});
  runs.push_back({fmt::format("{}_sum", chip.write), fmt::format("{}_64B_sum", chip.write)});
  return runs;
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
  Document document;
  document.title = fmt::format("{} ({}): commands to run, nothing is started here", chip.name, chip.parts);
  if (chip.compute) {
    document.blocks.emplace_back(Paragraph{
        "rocprof-compute runs the program several times and writes pmc_perf.csv, with one row per dispatch, into "
        "workloads/; it also measures the machine's roofs (roofline.csv):",
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
      "is "
      "counted as 32, a write request 32 unless it is counted as 64; MI300 and later also read 128 bytes at once.",
      Tone::faint});
  return document;
}

}  // namespace roofline::collect
