// The machine as it is.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "roofline/collect.h"
#include "roofline/error.h"

namespace roofline::collect {
namespace {

namespace fs = std::filesystem;

// Where the CUDA toolkit and Nsight Compute's own package lie.
constexpr std::array<const char*, 2> kFolders = {"/usr/local/cuda/bin", "/opt/cuda/bin"};
constexpr const char* kNsightFolder = "/opt/nvidia/nsight-compute";

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> in_folder(const std::string& root, const std::string& folder, std::string_view name) {
  const auto path = fs::path(root + folder) / name;
  if (folder.empty() || !is_program(path)) return std::nullopt;
  return path.string();
}

ProgramOutput run_and_read(std::span<const std::string> arguments) {
  ProgramOutput output;
  try {
    const auto exit = run_program(arguments, [&](std::string_view line) { (output.text += line) += '\n'; });
    output.status = exit.signal != 0 ? 128 + exit.signal : exit.code;
  } catch (const UsageError& error) {
    output.text = error.what();
  }
  return output;
}

}  // namespace

System System::real() {
  return {"",
          [](const char* name) -> std::optional<std::string> {
            const char* value = std::getenv(name);
            return value == nullptr ? std::nullopt : std::optional<std::string>(value);
          },
          run_and_read};
}

std::optional<std::string> System::read(const std::string& path) const {
  std::ifstream file(root + path, std::ios::binary);
  if (!file) return std::nullopt;
  // A process may end between the open and the read. read() then sets badbit, where a bare iterator would throw.
  std::string text;
  std::array<char, 4096> buffer{};
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0)
    text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return std::nullopt;
  return text;
}

bool System::exists(const std::string& path) const {
  std::error_code error;
  return fs::exists(root + path, error);
}

std::string System::find_program(std::string_view name) const {
  std::istringstream folders(environment("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (auto found = in_folder(root, folder, name)) return *found;
  if (const auto cuda = environment("CUDA_HOME"))
    if (auto found = in_folder(root, *cuda + "/bin", name)) return *found;
  for (const char* folder : kFolders)
    if (auto found = in_folder(root, folder, name)) return *found;
  std::vector<std::string> versions;
  std::error_code error;
  for (fs::directory_iterator it(root + kNsightFolder, error), end; !error && it != end; it.increment(error))
    versions.push_back(it->path().string());
  std::sort(versions.rbegin(), versions.rend());
  for (const auto& version : versions)
    if (auto found = in_folder("", version, name)) return *found;
  return {};
}

}  // namespace roofline::collect
