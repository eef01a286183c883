#include "cli/history_command.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "cli/ceiling_options.h"
#include "cli/history_part.h"
#include "cli/output.h"
#include "roofline/error.h"
#include "roofline/profile.h"

namespace roofline::cli {
namespace {

// Some editors put it in front of UTF-8; JSON has none.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string without_mark(std::string text) {
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

// By the first characters: readers of profiles refuse what is a report already.
bool is_report_json(std::string_view head) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  const auto brace = head.find_first_not_of(" \t\r\n");
  return brace != std::string_view::npos && head[brace] == '{' &&
         head.find("\"roofline/report/") != std::string_view::npos;
}

std::string whole_stream(std::istream& in) {
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

void StoreOption::setup(CLI::App& command) {
  command.add_option("--store", where_,
                     "A file, or postgresql://USER@HOST/DATABASE; else $ROOFLINE_STORE, else "
                     "$XDG_DATA_HOME/roofline/history.db");
}

void StoreOption::protect_from(const std::string& output) const {
  std::string where;
  try {
    where = location();
  } catch (const UsageError&) {
    return;  // no home, no store
  }
  if (where.find("://") != std::string::npos) return;
  constexpr std::string_view kScheme = "sqlite:";
  const auto path = where.starts_with(kScheme) ? where.substr(kScheme.size()) : where;
  for (const auto* beside : {"", "-wal", "-shm", "-journal"})
    if (same_file(path + beside, output))
      throw UsageError(fmt::format("-o {}: this is the store itself; write elsewhere", output));
}

std::string output_path(const CLI::App& command) {
  const auto* option = command.get_option("--output");
  return option->count() > 0 ? option->as<std::string>() : std::string();
}

void LabelOption::setup(CLI::App& command, const std::string& help) {
  command.add_option("-l,--label", texts_, help)->type_name("KEY=VALUE")->allow_extra_args(false)->take_all();
}

history::Labels LabelOption::labels() const {
  history::Labels out;
  for (const auto& text : texts_) {
    auto label = history::parse_label(text);
    if (!out.insert(label).second) throw UsageError(fmt::format("label '{}' is given twice", label.first));
  }
  return out;
}

void ReportSource::setup(CLI::App& command) {
  auto* group = command.add_option_group("Roofs", "For profiles; a JSON report is taken as it is");
  group->add_option("--machine", analysis_.machine, "Catalogue machine, instead of the one that the file names");
  ceilings_.setup(*group);
  group->add_option("-k,--kernel", analysis_.filter, "Only kernels whose full name matches this expression");
  thresholds_.setup(*group);
}

std::string ReportSource::json(const std::string& path) {
  constexpr std::size_t kHead = 4096;
  Profile profile;
  if (path == "-") {
    auto text = whole_stream(std::cin);
    if (is_report_json(std::string_view(text).substr(0, kHead))) return without_mark(std::move(text));
    profile = read_profile(text, path);
  } else {
    std::ifstream in(path, std::ios::binary);
    std::array<char, kHead> head{};
    in.read(head.data(), head.size());
    if (is_report_json({head.data(), static_cast<std::size_t>(in.gcount())})) {
      in.clear();
      in.seekg(0);
      return without_mark(whole_stream(in));
    }
    profile = open_profile(path);
  }
  analysis_.thresholds = thresholds_.resolve();
  ceilings_.apply(analysis_);
  auto report = analyze({&profile, 1}, analysis_);
  ThresholdOptions::note_changes(report);
  return to_json(report);
}

std::unique_ptr<Command> make_history_command() {
  auto command = std::make_unique<CommandOfParts>(
      "history", "Reports kept over time: record, list, show, trend, gate, export, import, prune");
  command->add(make_record_part());
  command->add(make_list_part());
  command->add(make_show_part());
  command->add(make_trend_part());
  command->add(make_export_part());
  command->add(make_import_part());
  command->add(make_prune_part());
  command->add(make_gate_part());
  return command;
}

}  // namespace roofline::cli
