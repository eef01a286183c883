// Text of files in messages of ours.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

// At most `most` bytes of `text` on one line: control characters (C0, DEL, C1) and those that turn or hide what follows
// (text direction, zero width) become '?'.
std::string printable(std::string_view text, std::size_t most);

}  // namespace roofline
