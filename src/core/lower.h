// Words of files and options, compared without regard to case.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace roofline {

// ASCII alone, whatever the locale: other bytes, as those of UTF-8, stay as they are.
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return lower(c); });
  return out;
}

}  // namespace roofline
