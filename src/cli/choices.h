// Options that take one word of a list.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace roofline::cli {

// For Option::transform(). Names what may stand there: CLI11's own transformer prints the enumerators behind the words,
// as control characters where the enum is of bytes.
template <typename Enum>
CLI::Validator one_of(const std::map<std::string, Enum>& choices) {
  std::string names;
  for (const auto& [name, value] : choices) names += (names.empty() ? "" : ", ") + name;
  const auto replace = [choices, names](std::string& text) {
    const auto it = choices.find(CLI::detail::to_lower(text));
    if (it == choices.end()) return "'" + text + "' is none of " + names;
    text = std::to_string(static_cast<int>(it->second));
    return std::string();
  };
  return CLI::Validator(replace, "", "");
}

}  // namespace roofline::cli
