// The bytes of one input: a mapped file, or memory that a stream or a compressed file was unpacked into.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace roofline {

// How a reader goes through the bytes; a hint to the system, nothing more.
enum class Access : std::uint8_t { normal, sequential };

// Immutable bytes that live as long as the object. A mapped file must not be cut by others while it is being read:
// the system would end the process with SIGBUS.
class FileView {
 public:
  virtual ~FileView() = default;
  FileView() = default;
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  std::string_view bytes() const { return bytes_; }
  std::uint64_t size() const { return bytes_.size(); }
  virtual void advise(Access /*access*/) const {}
  // The first `size` bytes are done with for now: memory that only mirrors the file may go. They can still be read.
  virtual void release(std::uint64_t /*size*/) const {}

 protected:
  void set_bytes(std::string_view bytes) { bytes_ = bytes; }

 private:
  std::string_view bytes_;
};

// Maps a regular file read-only (private); reads anything else that can be opened (pipes, devices) to its end, but
// refuses to take more than `limit` bytes that way. "-" is standard input. Throws InputError: "not-found",
// "directory", "unreadable", "too-large".
std::shared_ptr<const FileView> view_file(const std::string& path, std::uint64_t limit);

// Owns a copy of `bytes`.
std::shared_ptr<const FileView> copy_bytes(std::string_view bytes);

// Bytes that the caller keeps alive as long as the view.
std::shared_ptr<const FileView> borrow_bytes(std::string_view bytes);

}  // namespace roofline
