// Where the steps of a program begin on one GPU. Private to this room.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "roofline/step.h"
#include "timeline/segments.h"

namespace roofline {

struct FoundSteps {
  StepsBy by = StepsBy::none;
  std::string of;
  std::vector<Step> steps;  // windows, in order; without sums
  std::vector<Artefact> artefacts;
};

// By the ranges that people or frameworks put on the timeline, else by what repeats. `expression` names ranges.
// Throws UsageError for an expression that is none. Without a match: nothing found.
FoundSteps find_steps(const TimelineFacts& facts, std::span<const std::uint32_t> activities,
                      const std::string& expression);

}  // namespace roofline
