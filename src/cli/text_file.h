// Small files that people write for us: settings, machines, constants.
#pragma once

#include <filesystem>
#include <string>

namespace roofline::cli {

// The whole file. Throws InputError where there is none, or it is no regular file, or it cannot be read.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace roofline::cli
