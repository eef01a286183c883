// Text that a profiler wrote, but without numbers in a form that can be read: logs, failures, printed pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "roofline/error.h"

namespace roofline {

// Whether the text carries the marks of Nsight Compute or nvprof output (==PROF==, ==ERROR==, printed sections,
// metric names), whatever else is in it.
bool looks_like_profiler_text(std::string_view text);

// Why such a text cannot be read, with the line that says so and what to do. Kinds: "no-permission",
// "application-failed", "profiler-error", "nothing-profiled", "text-report", "derived-table", "no-header".
InputProblem why_no_table(std::string_view text, const std::string& path);

}  // namespace roofline
