// roofline history record|list|show|trend|export|import|prune|gate.
#pragma once

#include <memory>

#include "cli/command.h"

namespace roofline::cli {

std::unique_ptr<Command> make_history_command();

}  // namespace roofline::cli
