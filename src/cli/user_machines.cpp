#include "cli/user_machines.h"

#include <algorithm>
#include <cstdlib>

#include "cli/text_file.h"
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

void load_user_machines() {
  if (const auto files = user_machine_files(); !files.empty()) MachineCatalogue::add_to_instance(files);
}

}  // namespace roofline::cli
