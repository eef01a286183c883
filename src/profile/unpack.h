// gzip and zstd around any input.
#pragma once

#include <optional>

#include "profile/reader.h"

namespace roofline {

struct Unpacked {
  std::shared_ptr<const FileView> bytes;
  std::optional<InputError> fault;  // set when only a part could be unpacked and `partial` was asked for
};

// Unpacks until the bytes are neither gzip nor zstd; nullptr in `bytes` never occurs. Throws InputError:
// "too-large" (more than options.max_decompressed), "bad-gzip", "bad-zstd", "truncated", "nested-compression" (more
// than two layers).
Unpacked unpack(const Input& input, const ReadOptions& options);

}  // namespace roofline
