// What the terminal can show.
#pragma once

#include <cstddef>

#include "roofline/document.h"

namespace roofline::cli {

// Width, colour and character set of standard output: the window's width on a terminal, else $COLUMNS, else 100;
// colour only on a terminal, and never with NO_COLOR; Unicode by the locale's character set. `width` 0 means automatic.
TerminalStyle detect_style(std::size_t width);

}  // namespace roofline::cli
