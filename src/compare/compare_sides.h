// Why two sides may not be set against each other.
#pragma once

#include <string>
#include <vector>

#include "roofline/compare.h"

namespace roofline::comparing {

// Other machine, roof, clock or catalogue: sentences without a full stop. Empty where fractions may be compared.
std::vector<std::string> differences(const ComparedSide& before, const ComparedSide& after);

}  // namespace roofline::comparing
