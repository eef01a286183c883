#include "timeline/json_window.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace roofline {
namespace {

constexpr std::size_t kFirstSize = std::size_t{1} << 20;

enum Kind : unsigned char { plain, quote, open, close };

constexpr std::array<Kind, 256> make_kinds() {
  std::array<Kind, 256> kinds{};
  kinds['"'] = quote;
  kinds['{'] = kinds['['] = open;
  kinds['}'] = kinds[']'] = close;
  return kinds;
}
constexpr auto kKinds = make_kinds();

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool ends_scalar(char c) { return c == ',' || c == '}' || c == ']' || c == ':' || is_blank(c); }

// Where we are inside a string, object or array; carried over from one part of the bytes to the next.
struct Inside {
  bool in_string = false;
  bool escaped = false;  // the next byte belongs to an escape
  std::uint64_t depth = 0;
};

// Goes on from `at`; the byte after the string's end, or `end` with the state in which the bytes ended.
const char* pass_string(const char* at, const char* end, Inside& state) {
  while (at < end) {
    if (state.escaped) {
      state.escaped = false;
      ++at;
      continue;
    }
    while (at < end && *at != '"' && *at != '\\') ++at;
    if (at == end) break;
    if (*at++ == '\\') {
      state.escaped = true;
      continue;
    }
    state.in_string = false;
    return at;
  }
  return end;
}

// The byte after the end of an object, array or string that `at` is inside of; nullptr where the bytes end before.
const char* pass_nested(const char* at, const char* end, Inside& state) {
  for (;;) {
    if (state.in_string) {
      at = pass_string(at, end, state);
      if (state.in_string) return nullptr;
      if (state.depth == 0) return at;
    }
    while (at < end && kKinds[static_cast<unsigned char>(*at)] == plain) ++at;
    if (at == end) return nullptr;
    const auto kind = kKinds[static_cast<unsigned char>(*at++)];
    if (kind == quote) state.in_string = true;
    if (kind == open) ++state.depth;
    if (kind == close && --state.depth == 0) return at;
  }
}

}  // namespace

struct JsonWindow::State : Inside {
  bool scalar = false;      // a number or word: ends where something else begins
  std::uint64_t begin = 0;  // offset
};

JsonWindow::JsonWindow(std::unique_ptr<ByteStream> stream)
    : stream_(std::move(stream)), buffer_(kFirstSize + kPadding) {}

bool JsonWindow::more() {
  if (finished_) return false;
  if (position_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + position_, end_ - position_);
    base_ += position_;
    end_ -= position_;
    position_ = 0;
  }
  if (end_ == buffer_.size() - kPadding) make_room();
  const auto n = stream_->read({buffer_.data() + end_, buffer_.size() - kPadding - end_});
  end_ += n;
  finished_ = n == 0;
  return n > 0;
}

void JsonWindow::make_room() { buffer_.resize(std::min((buffer_.size() - kPadding) * 2, kLargestValue) + kPadding); }

char JsonWindow::peek() {
  for (;;) {
    while (position_ < end_ && is_blank(buffer_[position_])) ++position_;
    if (position_ < end_) return buffer_[position_];
    if (!more()) return '\0';
  }
}

bool JsonWindow::at_end() {
  peek();
  return position_ == end_;
}

bool JsonWindow::take(char c) {
  if (at_end() || peek() != c) return false;
  advance();
  return true;
}

// The byte after the value's end; nullptr where it goes on beyond the bytes at hand.
const char* JsonWindow::find_end(std::size_t from, State& state) const {
  const char* const at = buffer_.data() + from;
  const char* const end = buffer_.data() + end_;
  if (!state.scalar) return pass_nested(at, end, state);
  const char* const stop = std::find_if(at, end, ends_scalar);
  return stop == end && !finished_ ? nullptr : stop;
}

std::optional<std::string_view> JsonWindow::value() {
  State state;
  const char first = peek();
  const auto kind = kKinds[static_cast<unsigned char>(first)];
  state.scalar = kind == plain || kind == close;
  state.in_string = kind == quote;
  state.depth = kind == open ? 1 : 0;
  state.begin = offset();
  std::size_t looked_at = state.scalar ? 0 : 1;  // bytes from position_ on
  for (;;) {
    if (const char* const stop = find_end(position_ + looked_at, state)) {
      const std::string_view found(buffer_.data() + position_,
                                   static_cast<std::size_t>(stop - buffer_.data()) - position_);
      position_ += found.size();
      return found;
    }
    looked_at = end_ - position_;
    if (looked_at >= kLargestValue) {
      pass_rest(state);
      return std::nullopt;
    }
    if (!more() && !state.scalar) throw Unfinished{state.begin, base_ + end_};
  }
}

void JsonWindow::pass_rest(State& state) {
  for (;;) {
    position_ = end_;
    if (!more() && !state.scalar) throw Unfinished{state.begin, base_ + end_};
    if (const char* const stop = find_end(position_, state)) {
      position_ = static_cast<std::size_t>(stop - buffer_.data());
      return;
    }
  }
}

}  // namespace roofline
