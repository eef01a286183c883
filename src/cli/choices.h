// Options that take one word of a list, or a number of things.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
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

constexpr std::uint64_t kMostColumns = 10'000;
constexpr std::uint64_t kMostRows = 1'000'000'000;

// For Option::check() of a count: CLI11 reads "-1" as the largest number there is.
inline CLI::Validator at_most(std::uint64_t most) {
  const auto check = [most](const std::string& text) {
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    std::uint64_t value = 0;
    if (digits && CLI::detail::lexical_cast(text, value) && value <= most) return std::string();
    return "'" + text + "' is no whole number from 0 to " + std::to_string(most);
  };
  return CLI::Validator(check, "", "");
}

}  // namespace roofline::cli
