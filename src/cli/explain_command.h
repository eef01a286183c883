// `roofline explain FILE --kernel NAME | --id N`: one kernel on one page.
#pragma once

#include <memory>

#include "cli/command.h"

namespace roofline::cli {

std::unique_ptr<Command> make_explain_command();

}  // namespace roofline::cli
