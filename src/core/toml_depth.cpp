#include "core/toml_depth.h"

#include <algorithm>
#include <cctype>

namespace roofline {
namespace {

constexpr int kMostParts = 200;

// Parts of a key stand side by side, with dots and blanks between them.
bool may_stand_in_key(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '"' || c == '\'' ||
         c == ' ' || c == '\t';
}

}  // namespace

std::optional<std::uint64_t> too_deep_toml_line(std::string_view toml) {
  std::uint64_t line = 1;
  int dots = 0;
  int open = 0;
  for (const char c : toml) {
    if (c == '\n') {
      ++line;
      dots = 0;
    } else if (c == '.') {
      ++dots;
    } else if (c == '[' || c == '{') {
      ++open;
    } else if (c == ']' || c == '}') {
      open = std::max(0, open - 1);
    } else if (!may_stand_in_key(c)) {
      dots = 0;
    }
    if (dots > kMostParts || open > kMostParts) return line;
  }
  return std::nullopt;
}

}  // namespace roofline
