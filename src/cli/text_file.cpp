#include "cli/text_file.h"

#include <fstream>
#include <sstream>

#include "roofline/error.h"

namespace roofline::cli {
namespace {

[[noreturn]] void unreadable(const std::filesystem::path& path, std::string found) {
  throw InputError({"unreadable", path.string(), {}, {}, std::move(found), {}, "check the name and its permissions"});
}

}  // namespace

std::string read_text_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) unreadable(path, "no such file");
  if (!std::filesystem::is_regular_file(path, error)) unreadable(path, "not a regular file");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) unreadable(path, "cannot be read");
  return text.str();
}

}  // namespace roofline::cli
