// A byte buffer for outputs of unknown size.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "profile/file_view.h"

namespace roofline {

// Grows with realloc: the C library moves large blocks by remapping pages, so that doubling neither copies nor touches
// the old bytes, and memory that was asked for but never written costs nothing.
class GrowingBytes {
 public:
  // At least `least` writable bytes after those committed. Throws std::bad_alloc.
  std::span<char> room(std::size_t least);
  void commit(std::size_t written) { size_ += written; }
  std::size_t size() const { return size_; }

  // Hands the bytes over; the object is empty afterwards.
  std::shared_ptr<const FileView> view() &&;

 private:
  struct Free {
    void operator()(char* p) const;
  };
  std::unique_ptr<char, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace roofline
