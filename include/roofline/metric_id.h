#pragma once

#include <cstdint>

namespace roofline {

// Index of a metric: below MetricCatalogue::size() it is a declared metric, the same in every profile; from there on
// it is a name that one profile brought along.
using MetricId = std::uint32_t;

}  // namespace roofline
