// What `roofline collect` says before it starts.
#pragma once

#include "roofline/collect.h"
#include "roofline/document.h"

namespace roofline::cli {

// The set with its reasons, runs with passes, what slows the program down, and what clocks and caches will do.
Document plan_document(const collect::Request& request, const collect::Plan& plan);

// "3 passes", "about 5 passes", "an unknown number of passes".
std::string passes_text(const std::optional<collect::Passes>& passes);

}  // namespace roofline::cli
