// UTF-8 text that may come from hostile files, and the columns it takes in a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roofline::text {

struct CodePoint {
  char32_t value = 0;    // U+FFFD for an ill-formed sequence
  std::size_t size = 0;  // bytes read, at least 1
  bool valid = true;
};

// The code point that starts at byte `at` of `s`; `at` must lie inside. An ill-formed sequence is read as its longest
// prefix that could have become well-formed, as Unicode recommends (The Unicode Standard, section 3.9).
CodePoint decode(std::string_view s, std::size_t at);
void encode(char32_t c, std::string& out);

bool is_control(char32_t c);  // C0, DEL and C1

// Columns of a terminal: 0, 1 or 2. Control characters count 1, because views show a replacement in their place.
std::size_t width(char32_t c);

// The same text with every ill-formed sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view s);

// What may be written to a terminal: white space becomes a space, control and text-direction characters become U+FFFD,
// invisible format characters go. Without `unicode`, ASCII only: signs of ours get their usual spelling, other
// characters become '?'.
std::string printable(std::string_view s, bool unicode);

// Cuts the end of `s` so that it takes at most `width` columns, between words where that keeps half of them. What
// stands before the first comma is kept whole as long as it fits, if need be without the mark of the cut.
std::string cut_end(std::string_view s, std::size_t width, bool unicode);

// Lines of at most `columns` columns, broken at spaces; a word that is too long is broken anywhere. 0: one line.
std::vector<std::string> wrap(std::string_view s, std::size_t columns);

}  // namespace roofline::text
