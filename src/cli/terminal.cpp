#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

namespace roofline::cli {
namespace {

constexpr std::size_t kDefaultWidth = 100;
constexpr std::size_t kMinWidth = 40;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::size_t detect_width(bool terminal) {
  winsize size{};
  if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const auto columns = std::strtoul(environment("COLUMNS").c_str(), nullptr, 10);
  return columns > 0 ? columns : kDefaultWidth;
}

// As setlocale() would decide. A program without any locale set gets Unicode: files and logs are UTF-8 today.
bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    auto value = environment(name);
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return true;
}

}  // namespace

TerminalStyle detect_style(std::size_t width) {
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  TerminalStyle style;
  style.width = std::max(width > 0 ? width : detect_width(terminal), kMinWidth);
  style.color = terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  style.unicode = speaks_utf8();
  return style;
}

}  // namespace roofline::cli
