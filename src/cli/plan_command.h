// `roofline plan` and `roofline what-if`: what to do next, and what a change would be worth.
#pragma once

#include <memory>

#include "cli/command.h"

namespace roofline::cli {

std::unique_ptr<Command> make_plan_command();
std::unique_ptr<Command> make_what_if_command();

}  // namespace roofline::cli
