#include <fmt/format.h>

#include <memory>
#include <utility>

#include "profile/ncu_csv_tables.h"
#include "profile/reader.h"
#include "profile/text_encoding.h"
#include "profile/text_refusals.h"

namespace roofline {
namespace {

constexpr std::size_t kPreamble = std::size_t{1} << 16;  // as much program output as is searched for a GPU's name
constexpr std::size_t kMostWarnings = 20;

// What ncu has to say between its tables. The rest is the program's own output.
void note_profiler_line(NcuFile& file, std::string_view line) {
  const bool error = line.starts_with("==ERROR==");
  if (!error && !line.starts_with("==WARNING==")) return;
  if (file.profile.warnings.size() >= kMostWarnings) return;
  file.values.warn(error ? "profiler-error" : "profiler-warning", fmt::format("the profiler says: {}", line));
}

void read_tables(NcuFile& file, std::size_t header_at) {
  CsvCursor cursor(file.text);
  while (cursor.offset() < header_at) {
    note_profiler_line(file, cursor.peek_line());
    cursor.skip_line();
  }
  while (!cursor.at_end()) {
    const auto header = parse_ncu_header(cursor.peek_line());
    if (!header) {
      note_profiler_line(file, cursor.peek_line());
      cursor.skip_line();
      continue;
    }
    cursor.skip_line();
    cursor.use_separator(header->separator);
    file.runs.start_table();
    if (header->layout == NcuLayout::raw) {
      read_ncu_raw(file, *header, cursor);
    } else {
      read_ncu_rows(file, *header, cursor);
    }
  }
}

void refuse_empty(NcuFile& file, std::size_t header_at) {
  const auto line = file.values.line_of(file.text.data() + header_at);
  if (file.rule_rows > 0) {
    refuse_at_line(file.values.input(), line, "rules-only",
                   fmt::format("a table with {} row{} of rule texts and no number", file.rule_rows,
                               file.rule_rows == 1 ? "" : "s"),
                   "rows with a metric", "print the details as well: ncu --import FILE --csv --page raw");
  }
  const auto error = file.text.find("==ERROR==");
  const std::string said = error == std::string_view::npos
                               ? std::string()
                               : fmt::format("; the profiler says: {}",
                                             file.text.substr(error, file.text.find_first_of("\r\n", error) - error));
  refuse_at_line(file.values.input(), line, "no-rows", "a header and no rows below it" + said,
                 "a row per launch and metric", "check the filters (--kernel-name, --launch-skip) and profile again");
}

// Their launches are no repetitions of one another: one run may have counted bytes, the next one FLOPs.
void note_runs(NcuFile& file) {
  if (file.runs.count() < 2) return;
  file.values.warn("several-runs",
                   fmt::format("the file holds {} runs (the numbers of the launches start again), shown apart; --merge "
                               "joins them where they are runs of one program",
                               file.runs.count()));
}

void name_device(NcuFile& file, std::size_t header_at) {
  auto& devices = file.profile.devices;
  if (devices.size() != 1 || !devices[0].name.empty()) return;
  const std::size_t from = header_at > kPreamble ? header_at - kPreamble : 0;
  devices[0].name = gpu_named_in(file.text.substr(from, header_at - from));
}

}  // namespace

Launch& add_ncu_launch(NcuFile& file, const NcuIdentity& identity, const char* record) {
  auto& launches = file.profile.launches;
  Launch& launch = launches.emplace_back();
  std::string storage;
  launch.name = file.values.intern(trim(identity.kernel.value(storage)));
  launch.block = parse_dim3(identity.block.raw);
  launch.grid = parse_dim3(identity.grid.raw);
  launch.device = file.devices.index_of(identity);
  launch.process = parse_whole(identity.process.raw).value_or(0);
  launch.context = parse_whole(identity.context.raw).value_or(0);
  launch.stream = parse_whole(identity.stream.raw).value_or(0);
  launch.count = parse_whole(identity.invocations.raw).value_or(1);
  launch.ordinal = launches.size() - 1;
  launch.run = file.runs.of_launch(parse_whole(identity.id.raw), launch.process, launch.device);
  launch.time_basis = TimeBasis::profiled;
  launch.offset = static_cast<std::uint64_t>(record - file.text.data());
  return launch;
}

bool pass_other_line(NcuFile& file, CsvCursor& cursor) {
  const std::string_view line = cursor.peek_line();
  if (parse_ncu_header(line)) return true;
  note_profiler_line(file, line);
  cursor.skip_line();
  return false;
}

bool ends_without_line_end(const NcuFile& file, const CsvCursor& cursor) {
  return cursor.at_end() && !file.text.empty() && file.text.back() != '\n';
}

void refuse_cut_row(NcuFile& file, const char* record) {
  refuse_at_line(file.values.input(), file.values.line_of(record), "truncated",
                 "a row that the end of the file cuts off", "the whole row",
                 "fetch or export the file again, or read what is whole with --partial");
}

bool looks_like_ncu_csv(std::string_view head) {
  std::string storage;
  const std::string_view text = head_as_utf8(head, storage);
  return find_ncu_header(text) != std::string_view::npos || looks_like_profiler_text(text);
}

Profile read_ncu_csv(const Input& input, const ReadOptions& options) {
  const Utf8Text utf8 = to_utf8(input.bytes);
  Profile profile;
  profile.format = "ncu-csv";
  profile.producer = "Nsight Compute";
  profile.strings = std::make_shared<StringPool>();
  const std::size_t header_at = find_ncu_header(utf8.text);
  if (header_at == std::string_view::npos) throw InputError(why_no_table(utf8.text, input.path));
  NcuValues values(input, utf8.text, options, profile);
  NcuDevices devices(profile.devices);
  NcuFile file{profile, values, devices, utf8.text, 0, 0, options.progress};
  try {
    read_tables(file, header_at);
    if (profile.launches.empty()) refuse_empty(file, header_at);
  } catch (const InputError& fault) {
    if (!options.partial || profile.launches.empty()) throw;
    keep_partial(profile, fault);
  }
  note_runs(file);
  name_device(file, header_at);
  values.finish();
  return profile;
}

}  // namespace roofline
