// Figures of a machine's file, from numbers.
#pragma once

#include <string>
#include <string_view>

#include "roofline/machines.h"

namespace roofline::measure {

// Units in which files are easy to read; four significant digits.
Figure text_figure(std::string key, std::string text);
Figure bandwidth_figure(std::string key, double bytes_per_s, std::string note = {});
Figure operations_figure(std::string key, double ops_per_s, bool integer, std::string note = {});
Figure clock_figure(std::string key, double hertz, std::string note = {});
Figure time_figure(std::string key, double seconds, std::string note = {});
Figure size_figure(std::string key, double bytes, std::string note = {});

// A machine of these figures, by the very reader that files go through: what it would refuse is refused here. Throws
// InputError.
Machine machine_of(const std::string& id, const MachineFacts& facts);

}  // namespace roofline::measure
