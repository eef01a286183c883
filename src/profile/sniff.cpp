#include "profile/sniff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <string>

#include "profile/ncu_rep_wire.h"
#include "profile/text_encoding.h"
#include "profile/text_number.h"

namespace roofline {
namespace {

constexpr std::size_t kTextLook = std::size_t{1} << 16;  // nsys prints its progress before the first table

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  const char* kind;
  const char* found;
  const char* action;
};

constexpr const char* kUnpack = "unpack it and name the report inside";
constexpr const char* kExportNsys =
    "it has times and no counters: export it for the timeline (nsys export --type sqlite FILE), and profile the "
    "kernels with "
    "Nsight Compute (ncu -o FILE)";
constexpr const char* kFetchRaw = "download the file itself, not the page about it";

// Bytes at fixed offsets, from the formats' own definitions.
constexpr Signature kSignatures[] = {
    {0, "version https://git-lfs", "git-lfs-pointer", "a Git LFS pointer, not the file it stands for",
     "run `git lfs pull` in the repository it comes from"},
    {0, std::string_view("SQLite format 3\0", 16), "nsys-sqlite", "an SQLite database, as Nsight Systems exports it",
     kExportNsys},
    {0,
     "\x7f"
     "ELF",
     "elf", "an ELF file (a program, a library or a cubin)", "profile it: ncu -o FILE PROGRAM"},
    {0, "QDSTREAM", "nsys-report", "a raw Nsight Systems capture", kExportNsys},
    {0, "PK\x03\x04", "archive", "a zip archive", kUnpack},
    {257, "ustar", "archive", "a tar archive", kUnpack},
    {0, "7z\xBC\xAF\x27\x1C", "archive", "a 7z archive", kUnpack},
    {0, "Rar!\x1A\x07", "archive", "a rar archive", kUnpack},
    {0,
     std::string_view("\xFD"
                      "7zXZ\0",
                      6),
     "unsupported-compression", "xz compression", "unpack it: xz -d FILE"},
    {0, "BZh", "unsupported-compression", "bzip2 compression", "unpack it: bzip2 -d FILE"},
    {0, "\x04\x22\x4D\x18", "unsupported-compression", "lz4 compression", "unpack it: lz4 -d FILE"},
    {0, "%PDF-", "document", "a PDF document", "name the profiler's report itself"},
    {0, "\x89PNG", "picture", "a picture", "name the profiler's report itself"},
};

// Two marks on one line: titles of `nsys stats`, as CSV or in columns, and what nsys says while it makes them; files
// that lie beside counters and hold none.
struct LineMarks {
  std::string_view first, second;
  const char* kind;
  const char* found;
  const char* action = kExportNsys;
};
constexpr const char* kImportCeilings = "roofline machine measure --import FILE takes such ceilings";
constexpr LineMarks kForeignLines[] = {
    {"Time (%)", "Total Time (ns)", "nsys-csv", "a table of Nsight Systems"},
    {"Start (ns)", "Duration (ns)", "nsys-csv", "a table of Nsight Systems"},
    {"Executing '", "' stats report", "nsys-text", "text that Nsight Systems printed"},
    {"Generating '", ".qdstrm'", "nsys-text", "text that Nsight Systems printed"},
    {"%]", ".nsys-rep", "nsys-text", "text that Nsight Systems printed"},
    {"HBMBw", "FP32Flops", "measured-ceilings", "ceilings that rocprof-compute measured, without kernels",
     "name the pmc_perf.csv beside it, or the folder; roofline machine measure --import FILE takes the ceilings"},
    {"gpu_arch", "cu_per_gpu", "system-information", "what rocprof-compute wrote down of the machine, without kernels",
     "name the pmc_perf.csv beside it, or the folder"},
    {"\"empirical\": {", "", "measured-ceilings",
     "ceilings that the Empirical Roofline Toolkit measured, without kernels", kImportCeilings},
    {"ERT_VERSION", "", "measured-ceilings", "a log of the Empirical Roofline Toolkit: ceilings, without kernels",
     "roofline machine measure --import takes its roofline.json"},
};

InputProblem problem(std::string_view path, std::string kind, std::string found, std::string action) {
  return {std::move(kind), std::string(path), std::nullopt, std::nullopt, std::move(found), "", std::move(action)};
}

std::string lower_start(std::string_view head, std::size_t n) {
  const auto first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  std::string text(first == std::string_view::npos ? "" : head.substr(first, n));
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_web_page(std::string_view head) {
  const std::string start = lower_start(head, 16);
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

// A report whose first ten bytes are missing starts with a block: its length, then the counts of sources and results.
bool is_lone_block(std::string_view head) {
  if (head.size() < 16) return false;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(head[i])); };
  const std::uint32_t length = byte(0) | byte(1) << 8U | byte(2) << 16U | byte(3) << 24U;
  return length >= 4 && length < (1U << 24U) && byte(4) == 0x08 && byte(5) < 0x80 && byte(6) == 0x10;
}

bool is_zeros(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) { return c == '\0'; });
}

// Nsight Systems' own format is not published; its reports carry the names of the tool's messages.
bool is_nsys_report(std::string_view head, std::string_view path) {
  const bool named_so = path.ends_with(".nsys-rep") || path.ends_with(".qdrep") || path.ends_with(".qdstrm");
  return head.find("QuadD") != std::string_view::npos || (named_so && head.find('\0') != std::string_view::npos);
}

std::string first_bytes(std::string_view head) {
  std::string text;
  for (const char c : head.substr(0, 8)) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return text;
}

// The start of the first line with anything on it; empty when the file is no text.
std::string first_words(std::string_view head) {
  constexpr std::size_t kLook = 4096;
  constexpr std::size_t kMost = 48;
  std::string storage;
  auto text = head_as_utf8(head.substr(0, kLook), storage);
  const auto is_control = [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return (u < 0x20 && c != '\t' && c != '\n' && c != '\r') || u == 0x7F;
  };
  if (std::any_of(text.begin(), text.end(), is_control)) return {};
  text = trim(text);
  const auto line = trim(text.substr(0, text.find_first_of("\r\n")));
  std::string scratch;
  const auto valid = ncu_rep::valid_utf8(line, scratch);
  std::string words(valid.substr(0, kMost));
  if (valid.size() > kMost) {
    const auto cut = [&] { return (static_cast<unsigned char>(valid[words.size()]) & 0xC0U) == 0x80U; };
    while (cut()) words.pop_back();
    words += "...";
  }
  std::replace(words.begin(), words.end(), '\t', ' ');
  return words;
}

}  // namespace

std::optional<InputProblem> recognise_foreign(std::string_view head, std::string_view path) {
  if (head.empty()) return problem(path, "empty", "an empty file", "check that the profiler finished writing it");
  for (const auto& s : kSignatures) {
    if (head.size() > s.offset && head.substr(s.offset).starts_with(s.bytes)) {
      return problem(path, s.kind, s.found, s.action);
    }
  }
  if (is_web_page(head)) return problem(path, "html-page", "a web page", kFetchRaw);
  if (is_zeros(head)) {
    return problem(path, "zeros", "nothing but zero bytes", "fetch the file again: the disk or the download failed");
  }
  if (is_lone_block(head)) {
    return problem(path, "lone-block", "a block of an Nsight Compute report without the start of the file",
                   "use the report as ncu -o wrote it");
  }
  if (is_nsys_report(head, path)) return problem(path, "nsys-report", "an Nsight Systems report", kExportNsys);
  return std::nullopt;
}

std::optional<InputProblem> recognise_foreign_text(std::string_view head, std::string_view path) {
  auto look = head.substr(0, kTextLook);
  while (!look.empty()) {
    const auto line = look.substr(0, look.find('\n'));
    look.remove_prefix(std::min(line.size() + 1, look.size()));
    const auto* marks = std::find_if(std::begin(kForeignLines), std::end(kForeignLines), [&](const LineMarks& m) {
      const auto at = line.find(m.first);
      return at != std::string_view::npos && line.find(m.second, at) != std::string_view::npos;
    });
    if (marks != std::end(kForeignLines)) return problem(path, marks->kind, marks->found, marks->action);
  }
  return std::nullopt;
}

InputProblem unknown_format(std::string_view head, std::string_view path) {
  constexpr const char* kAction = "name an .ncu-rep file, an ncu --csv export or a table";
  const std::string start = lower_start(head, 1);
  if (start == "{" && head.find("\"roofline/measurement/") != std::string_view::npos)
    return problem(path, "measured-ceilings", "ceilings that this program measured, without kernels", kImportCeilings);
  if (start == "{" && head.find("\"roofline/") != std::string_view::npos)
    return problem(path, "own-json", "JSON that this program wrote",
                   "roofline compare and roofline history read reports; name the profiler's file here");
  if (start == "{" && head.find("\"num_hidden_layers\"") != std::string_view::npos) {
    return problem(path, "model-config", "the configuration of a model, without kernels",
                   "roofline model FILE --machine NAME predicts a step from it; beside a report: --model FILE");
  }
  if (start == "{" || start == "[") {
    return problem(path, "unknown-format", "JSON, which is no profiler report that can be read here", kAction);
  }
  const auto words = first_words(head);
  if (!words.empty()) {
    return problem(path, "unknown-format", fmt::format("text of an unknown format (it starts with \"{}\")", words),
                   kAction);
  }
  return problem(path, "unknown-format",
                 fmt::format("a file of an unknown format (it starts with {})", first_bytes(head)), kAction);
}

}  // namespace roofline
