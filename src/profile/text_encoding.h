// Text of any usual encoding as UTF-8.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "profile/file_view.h"

namespace roofline {

// Text as UTF-8 without its byte order mark. `bytes` keeps it alive: the input itself, or a converted copy.
struct Utf8Text {
  std::shared_ptr<const FileView> bytes;
  std::string_view text;
};

// UTF-16 of either byte order (PowerShell's `>` writes it), with a byte order mark or recognised by its zero bytes,
// becomes UTF-8; broken surrogates become U+FFFD. Everything else passes as it is, less a UTF-8 mark.
Utf8Text to_utf8(std::shared_ptr<const FileView> bytes);

// The same for the start of a file, where only a look is wanted; `storage` holds the converted text.
std::string_view head_as_utf8(std::string_view head, std::string& storage);

}  // namespace roofline
