// Walks over JSON that is too large to hold, value by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "timeline/byte_stream.h"

namespace roofline {

// A window that slides over a stream. It knows where values begin and end (strings, brackets) and nothing else of JSON;
// what it hands out is parsed by others. Memory is bounded by the largest value handed out.
class JsonWindow {
 public:
  // Bytes after a value that may be read (not used) by a parser that works in wide steps.
  static constexpr std::size_t kPadding = 64;
  static constexpr std::size_t kLargestValue = std::size_t{8} << 20;

  explicit JsonWindow(std::unique_ptr<ByteStream> stream);

  // The next character that is not blank, without passing it; '\0' at the end (and for a NUL, which is no JSON).
  char peek();
  bool at_end();
  void advance() { ++position_; }  // past the character that peek() saw
  // Passes `c` if it is next.
  bool take(char c);

  // The next value, whatever it is, whole, without what is around it; it stays valid until the next call. nullopt for
  // one of kLargestValue and more, which is passed over. Throws Unfinished where the bytes end inside it.
  std::optional<std::string_view> value();

  std::uint64_t offset() const { return base_ + position_; }  // of the next byte
  std::uint64_t consumed() const { return stream_->consumed(); }

  struct Unfinished {
    std::uint64_t begin;  // of the value
    std::uint64_t end;    // of the bytes
  };

 private:
  struct State;
  bool more();       // reads on; drops what stands before position_
  void make_room();  // doubles the buffer when a value fills it
  const char* find_end(std::size_t from, State& state) const;
  void pass_rest(State& state);

  std::unique_ptr<ByteStream> stream_;
  std::vector<char> buffer_;
  std::size_t position_ = 0, end_ = 0;
  std::uint64_t base_ = 0;  // offset of buffer_[0]
  bool finished_ = false;
};

}  // namespace roofline
