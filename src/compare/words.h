// Changes in words.
#pragma once

#include <string>
#include <vector>

#include "compare/match.h"
#include "roofline/compare.h"

namespace roofline::comparing {

// The column of names: it may be cut, down to `least` columns of the terminal.
Column name_column(std::string title, std::string key, std::size_t least);

// "−40%", "+3.2%", "0%"; "×12.5" from a factor of ten on.
std::string change_text(double ratio);
// "−3.4 to +1.2%"
std::string interval_text(const Interval& ratio);
std::string seconds_text(double seconds);         // "1.23 µs"
std::string signed_seconds_text(double seconds);  // "−1.23 µs"

// What is different about the work and the kernel, beside its time: sentences without a full stop. Comparisons of work
// are per launch where the number of launches differs.
std::vector<std::string> what_changed(const ComparedKernel& row, std::span<const SideKernel> before,
                                      std::span<const SideKernel> after);

// Work that was saved or added where it does not bind; empty where nothing of the kind.
std::string worthless_change(const ComparedKernel& row, std::span<const SideKernel> before,
                             std::span<const SideKernel> after);

}  // namespace roofline::comparing
