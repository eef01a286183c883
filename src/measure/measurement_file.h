// What `roofline machine measure --json` printed, read back.
#pragma once

#include <string>
#include <string_view>

#include "roofline/measure.h"

namespace roofline::measure {

bool looks_like_measurement(std::string_view text);
// As far as measured_machine() wants it. Throws InputError (kinds: "bad-json", "truncated", "unknown-format",
// "not-positive").
CpuMeasurement read_measurement(std::string_view text, const std::string& path);

}  // namespace roofline::measure
