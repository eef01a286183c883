// A measurement as document, JSON and chart.
#pragma once

#include <string>

#include "roofline/chart.h"
#include "roofline/document.h"
#include "roofline/measure.h"

namespace roofline::cli {

Document measurement_document(const CpuMeasurement& measurement);
std::string measurement_json(const CpuMeasurement& measurement);
// The roofs of all threads; those of one thread beside them.
Chart measurement_chart(const CpuMeasurement& measurement);

}  // namespace roofline::cli
