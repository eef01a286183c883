// roofline history record|list|show|trend|gate|export|import|prune.
#pragma once

#include <memory>

#include "cli/command.h"

namespace roofline::cli {

std::unique_ptr<Command> make_history_command();

}  // namespace roofline::cli
