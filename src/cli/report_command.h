// roofline report FILE...: the roofline table of profiler reports.
#pragma once

#include <memory>

#include "cli/command.h"

namespace roofline::cli {

std::unique_ptr<Command> make_report_command();

}  // namespace roofline::cli
