// Memory for working sets.
#pragma once

#include <cstddef>

namespace roofline::measure {

// Anonymous memory at a huge-page border, with huge pages asked for, filled with ordinary numbers: pages that nobody
// wrote may all be the same page of zeros. Fill it on the thread that will use it: that decides where it lies. Throws
// std::bad_alloc.
class Arena {
 public:
  explicit Arena(std::size_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void fill() { fill(0, size_); }
  void fill(std::size_t from, std::size_t to);  // bytes
  char* data() { return data_; }
  std::size_t size() const { return size_; }
  // Share in huge pages, 0..1, as the kernel accounts for it.
  double huge_page_share() const;

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

// One cycle through lines of memory in random order, one line after the other joining it: each load tells where the
// next goes, and no prefetcher guesses it.
class Chain {
 public:
  static constexpr std::size_t kLine = 64;

  Chain(char* memory, std::size_t bytes) : memory_(memory), most_(bytes / kLine) {}
  // Takes lines up to `bytes` into the cycle.
  void grow(std::size_t bytes);
  std::size_t lines() const { return lines_; }
  void* start() const { return memory_; }

 private:
  void*& at(std::size_t line) { return *reinterpret_cast<void**>(memory_ + line * kLine); }
  char* memory_;
  std::size_t most_;
  std::size_t lines_ = 0;
  std::size_t random_ = 0x9e3779b97f4a7c15ULL;
};

}  // namespace roofline::measure
