// `roofline model`: what a step of a language model takes, from its configuration.
#pragma once

#include <memory>

#include "cli/command.h"

namespace roofline::cli {

std::unique_ptr<Command> make_model_command();

}  // namespace roofline::cli
