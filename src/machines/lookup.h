// Comparing names of machines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roofline::machines {

// Lower case, punctuation as single blanks, without the maker's name in front, a MIG profile (" MIG 1g.10gb") or a
// profiler's " (0)" behind.
// "NVIDIA GeForce RTX 4090" and "geforce-rtx-4090" both give "geforce rtx 4090".
std::string normalize(std::string_view name);

// Words that occur in many names ("geforce", "80gb", a bare number): alone they name no machine.
bool is_generic(std::string_view word);

std::size_t edit_distance(std::string_view a, std::string_view b);

// How many of `query` stand in `words` as whole words.
std::size_t matching_words(const std::vector<std::string>& query, const std::vector<std::string>& words);

}  // namespace roofline::machines
