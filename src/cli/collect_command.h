// `roofline collect -o out -- CMD...`: run a profiler with the fewest passes that answer the question.
#pragma once

#include <memory>

#include "cli/command.h"

namespace roofline::cli {

std::unique_ptr<Command> make_collect_command();

}  // namespace roofline::cli
