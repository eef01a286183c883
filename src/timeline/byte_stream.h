// Bytes that pass by once: files too large to hold, unpacked on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "profile/file_view.h"

namespace roofline {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // Fills `room` from the front; fewer bytes than it holds only before the end, 0 at the end. Throws InputError.
  virtual std::size_t read(std::span<char> room) = 0;
  // Bytes of the file itself that went by, for progress.
  virtual std::uint64_t consumed() const = 0;
};

// The file's bytes, through gzip and zstd (up to two layers, by their magic). Of a tar archive, the first member that
// holds JSON, itself unpacked; `label` stands for the path in messages. Unpacking runs in a thread of its own.
// Throws InputError: "truncated", "bad-gzip", "bad-zstd", "too-large", "no-trace-in-archive".
std::unique_ptr<ByteStream> open_byte_stream(std::shared_ptr<const FileView> file, const std::string& label,
                                             std::uint64_t max_unpacked);

}  // namespace roofline
