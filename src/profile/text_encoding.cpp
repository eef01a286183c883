#include "profile/text_encoding.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace roofline {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::uint32_t kReplacement = 0xFFFD;

enum class Utf16 : std::uint8_t { no, little, big };

// Without a mark, English text in UTF-16 has a zero in nearly every second byte.
Utf16 guess_by_zeros(std::string_view text) {
  const std::size_t looked = std::min<std::size_t>(text.size() & ~std::size_t{1}, 512);
  if (looked < 8) return Utf16::no;
  std::size_t even = 0;
  std::size_t odd = 0;
  for (std::size_t i = 0; i < looked; i += 2) {
    even += text[i] == '\0' ? 1 : 0;
    odd += text[i + 1] == '\0' ? 1 : 0;
  }
  const std::size_t most = looked / 2 - looked / 16;
  if (odd >= most && even == 0) return Utf16::little;
  if (even >= most && odd == 0) return Utf16::big;
  return Utf16::no;
}

Utf16 utf16_order(std::string_view text) {
  if (text.starts_with("\xFF\xFE")) return Utf16::little;
  if (text.starts_with("\xFE\xFF")) return Utf16::big;
  return guess_by_zeros(text);
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

std::uint32_t unit_at(std::string_view text, std::size_t i, Utf16 order) {
  const auto first = static_cast<unsigned char>(text[i]);
  const auto second = static_cast<unsigned char>(text[i + 1]);
  return order == Utf16::little ? first | (std::uint32_t{second} << 8) : (std::uint32_t{first} << 8) | second;
}

bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

std::string from_utf16(std::string_view text, Utf16 order) {
  std::string out;
  out.reserve(text.size() / 2 + text.size() / 8);
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    std::uint32_t code = unit_at(text, i, order);
    if (i == 0 && code == 0xFEFF) continue;
    if (is_high_surrogate(code) && i + 3 < text.size() && is_low_surrogate(unit_at(text, i + 2, order))) {
      code = 0x10000 + ((code - 0xD800) << 10) + (unit_at(text, i + 2, order) - 0xDC00);
      i += 2;
    } else if (is_high_surrogate(code) || is_low_surrogate(code)) {
      code = kReplacement;
    }
    append_utf8(out, code);
  }
  return out;
}

std::string_view without_mark(std::string_view text) {
  return text.starts_with(kUtf8Mark) ? text.substr(kUtf8Mark.size()) : text;
}

}  // namespace

Utf8Text to_utf8(std::shared_ptr<const FileView> bytes) {
  const std::string_view text = bytes->bytes();
  const Utf16 order = utf16_order(text);
  if (order != Utf16::no) bytes = copy_bytes(from_utf16(text, order));
  const std::string_view plain = without_mark(bytes->bytes());
  return {std::move(bytes), plain};
}

std::string_view head_as_utf8(std::string_view head, std::string& storage) {
  const Utf16 order = utf16_order(head);
  if (order == Utf16::no) return without_mark(head);
  storage = from_utf16(head, order);
  return without_mark(storage);
}

}  // namespace roofline
