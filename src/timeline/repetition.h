// Steps of a program that marks none: what its kernels repeat. Private to this room.
#pragma once

#include <span>

#include "timeline/find_steps.h"

namespace roofline {

// Looks for a kernel that comes once per repetition: rare, and what stands between two of its launches nearly the same
// each time. Of several the rarest wins, so that the layers inside of a step are not taken for steps. At least three
// repetitions, and half of all kernels.
FoundSteps repeated_steps(const TimelineFacts& facts, std::span<const std::uint32_t> activities);

}  // namespace roofline
