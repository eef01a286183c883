#pragma once

#include <memory>

#include "cli/command.h"

namespace roofline::cli {

std::unique_ptr<Command> make_compare_command();

}  // namespace roofline::cli
