// One of `machine`'s own commands.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_parts.h"

namespace roofline::cli {

using MachinePart = CommandPart;

std::unique_ptr<MachinePart> make_measure_part();

}  // namespace roofline::cli
