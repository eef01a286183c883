// roofline machine list | show | add | diff: the machines behind the roofs.
#pragma once

#include <memory>

#include "cli/command.h"

namespace roofline::cli {

std::unique_ptr<Command> make_machine_command();

}  // namespace roofline::cli
