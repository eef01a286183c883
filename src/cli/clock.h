// Clocks as people type them.
#pragma once

#include <string>

namespace roofline::cli {

// Hertz from "1755", "1755MHz", "1.755 GHz" (a bare number is megahertz). Throws UsageError naming `option`.
double parse_clock(const std::string& text, const std::string& option);

}  // namespace roofline::cli
