#include "core/printable.h"

namespace roofline {
namespace {

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7F; }

// Bytes of the UTF-8 sequence at `at` that must not be printed; 0 for one that may be.
std::size_t harmful(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : static_cast<unsigned char>(0);
  };
  if (is_control(byte(0))) return 1;
  if (byte(0) == 0xC2 && byte(1) < 0xA0) return 2;  // C1
  const bool general = byte(0) == 0xE2 && byte(1) == 0x80;
  if (general && ((byte(2) >= 0x8B && byte(2) <= 0x8F) || (byte(2) >= 0xA8 && byte(2) <= 0xAE))) return 3;
  if (byte(0) == 0xE2 && byte(1) == 0x81 && byte(2) >= 0xA0 && byte(2) <= 0xAF) return 3;
  return byte(0) == 0xEF && byte(1) == 0xBB && byte(2) == 0xBF ? 3 : 0;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  const auto shown = text.substr(0, most);
  std::string out;
  for (std::size_t i = 0; i < shown.size();) {
    const auto bad = harmful(shown, i);
    out += bad > 0 ? '?' : shown[i];
    i += bad > 0 ? bad : 1;
  }
  return text.size() > most ? out + "..." : out;
}

}  // namespace roofline
