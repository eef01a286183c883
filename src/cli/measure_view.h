// A measurement as document, JSON and chart.
#pragma once

#include <string>

#include "roofline/chart.h"
#include "roofline/document.h"
#include "roofline/measure.h"

namespace roofline::cli {

// `picture`: the roofs in characters, `style` wide, above the tables.
Document measurement_document(const CpuMeasurement& measurement, bool picture, const TerminalStyle& style);
std::string measurement_json(const CpuMeasurement& measurement);
// The roofs of all threads; those of one thread beside them.
Chart measurement_chart(const CpuMeasurement& measurement);

}  // namespace roofline::cli
