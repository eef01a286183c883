#include "profile/ncu_rep_wire.h"

#include <fmt/format.h>

#include <array>

namespace roofline::ncu_rep {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_ascii(std::string_view text) {
  unsigned char bits = 0;
  for (const char c : text) bits |= static_cast<unsigned char>(c);
  return bits < 0x80;
}

// Bytes of the well-formed UTF-8 sequence at `pos`; 0 when there is none (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text, std::size_t pos) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[pos + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || length > text.size() - pos) return 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

}  // namespace

void Message::fail(const protozero::exception& fault) const {
  const std::string_view what = fault.what();
  std::string kind = "bad-wire-format";
  if (what.starts_with("end of buffer")) kind = "field-overrun";
  if (what.starts_with("varint too long")) kind = "bad-varint";
  if (what.starts_with("unknown pbf")) kind = "bad-wiretype";
  if (what.starts_with("invalid tag")) kind = "bad-tag";
  refuse_at_byte(*input_, offset(), kind, fmt::format("damaged message ({}, field {})", what, reader_.tag()),
                 "a whole protobuf message", "profile again or fetch the file again; --partial shows what can be read");
}

void Message::fail_type(protozero::pbf_wire_type wanted) const {
  refuse_at_byte(*input_, offset(), "wrong-wiretype",
                 fmt::format("field {} has wire type {}", reader_.tag(), static_cast<int>(reader_.wire_type())),
                 fmt::format("wire type {}", static_cast<int>(wanted)),
                 "profile again or fetch the file again; --partial shows what can be read");
}

std::string_view valid_utf8(std::string_view text, std::string& scratch) {
  if (is_ascii(text)) return text;
  scratch.clear();
  for (std::size_t pos = 0; pos < text.size();) {
    const std::size_t length = sequence_length(text, pos);
    scratch += length == 0 ? kReplacement : text.substr(pos, length);
    pos += length == 0 ? 1 : length;
  }
  return scratch;
}

}  // namespace roofline::ncu_rep
