#include "cli/user_machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>

#include "cli/text_file.h"
#include "roofline/document.h"
#include "roofline/error.h"

namespace roofline::cli {
namespace {

namespace fs = std::filesystem;

fs::path folder_in(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return {};
  const fs::path path = value;
  return path.is_absolute() ? path : fs::path{};  // others are to be ignored, says the XDG specification
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".toml") files.push_back(it->path());
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw InputError(
        {"unreadable", folder.string(), {}, {}, "cannot be listed: " + error.message(), {}, "check its permissions"});
  std::sort(files.begin(), files.end());
  return files;
}

// Checked against a catalogue without users' machines: one that is to be replaced is no contradiction.
std::string id_of(const MachineFile& file) {
  const auto merged = MachineCatalogue::built_in().with(std::vector{file});
  for (const auto& machine : merged.machines())
    if (!merged.facts(machine).origin.empty()) return machine.id;
  return {};
}

// Replaced or new, it has to get along with all others.
void check_with_others(const MachineFile& file, const fs::path& target) {
  auto files = user_machine_files();
  std::erase_if(files, [&](const MachineFile& f) { return f.path == target.string(); });
  files.push_back(file);
  static_cast<void>(MachineCatalogue::built_in().with(files));
}

// Renamed into place, so that no half-written file is ever read.
void save(const std::string& text, const fs::path& target) {
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  auto draft = target;
  draft += ".new";
  std::ofstream out(draft, std::ios::binary);
  out << text;
  out.close();
  if (out) fs::rename(draft, target, error);
  if (!out || error) {
    fs::remove(draft, error);
    throw std::runtime_error(fmt::format("cannot write '{}'", target.string()));
  }
}

}  // namespace

fs::path user_machine_folder() {
  auto base = folder_in("XDG_CONFIG_HOME");
  if (base.empty()) {
    const auto home = folder_in("HOME");
    if (home.empty()) return {};
    base = home / ".config";
  }
  return base / "roofline" / "machines";
}

MachineFile read_machine_file(const fs::path& path) { return {path.string(), read_text_file(path)}; }

std::vector<MachineFile> user_machine_files() {
  const auto folder = user_machine_folder();
  std::vector<MachineFile> files;
  if (folder.empty()) return files;
  for (const auto& path : files_of(folder)) files.push_back(read_machine_file(path));
  return files;
}

void check_machine_id(const std::string& id) {
  if (user_machine_folder().empty()) throw UsageError("no folder to keep it in: set HOME or XDG_CONFIG_HOME");
  constexpr std::size_t kLongest = 64;
  const auto small = [](unsigned char c) { return std::islower(c) != 0 || std::isdigit(c) != 0; };
  const auto ok = [&](unsigned char c) { return small(c) || c == '-' || c == '.' || c == '_'; };
  if (!id.empty() && id.size() <= kLongest && small(static_cast<unsigned char>(id.front())) &&
      std::all_of(id.begin(), id.end(), ok))
    return;
  throw UsageError(fmt::format("'{}' is no name for a machine: small letters, digits, '-', '.' and '_', at most {}",
                               cut_middle(id, kLongest), kLongest));
}

// Names of the file that look-ups gave to another machine of the catalogue until now.
std::vector<std::string> names_taken(const MachineFile& file, const std::string& id) {
  const auto& built_in = MachineCatalogue::built_in();
  const auto with = built_in.with({&file, 1});
  const auto* machine = with.find(id);
  std::vector<std::string> taken;
  if (machine == nullptr) return taken;
  if (const auto* before = built_in.find(id); before != nullptr && before->id != id) taken.push_back(id);
  for (const auto& figure : with.facts(*machine).figures) {
    if (figure.key != "driver_name" && figure.key != "alias" && figure.key != "short_name") continue;
    const auto* before = built_in.find(figure.text);
    if (before != nullptr && before->id != id) taken.push_back(figure.text);
  }
  return taken;
}

KeptMachine keep_user_machine(const MachineFile& file, bool replace) {
  const auto folder = user_machine_folder();
  if (folder.empty()) throw UsageError("no folder to keep it in: set HOME or XDG_CONFIG_HOME");
  KeptMachine kept;
  kept.id = id_of(file);
  kept.path = folder / (kept.id + ".toml");
  kept.replaced = fs::exists(kept.path);
  if (kept.replaced && !replace)
    throw UsageError(
        fmt::format("'{}' was added before, as {}; add --replace to replace it", kept.id, kept.path.string()));
  const auto& ours = MachineCatalogue::built_in().machines();
  kept.hides_ours = std::any_of(ours.begin(), ours.end(), [&](const Machine& m) { return m.id == kept.id; });
  check_with_others(file, kept.path);
  kept.takes_names = names_taken(file, kept.id);
  save(file.text, kept.path);
  return kept;
}

void load_user_machines() {
  if (const auto files = user_machine_files(); !files.empty()) MachineCatalogue::add_to_instance(files);
}

}  // namespace roofline::cli
