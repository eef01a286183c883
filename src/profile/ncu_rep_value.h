// A metric's value.
#pragma once

#include <cstdint>
#include <string_view>

#include "profile/ncu_rep_wire.h"

namespace roofline::ncu_rep {

// Numbers of every stored type become double: exact up to 2^53, and files mix the types of one metric anyway.
struct Value {
  bool is_number = false;
  bool is_text = false;
  bool inexact = false;  // an integer that double cannot hold
  double number = 0;
  std::string_view text;
};

inline Value integer_value(std::uint64_t n) {
  Value value;
  value.is_number = true;
  value.number = static_cast<double>(n);
  constexpr std::uint64_t kExactBits = 53;
  // 2^64 - 1 rounds up to 2^64, which must not be converted back.
  value.inexact = (n >> kExactBits) != 0 && (value.number >= 0x1p64 || static_cast<std::uint64_t>(value.number) != n);
  return value;
}

// Exactly one field is set in real files; of several the last wins.
inline Value read_value(Message m) {
  Value value;
  while (m.next()) {
    switch (m.field()) {
      case 1:
        value = {};
        value.is_text = true;
        value.text = m.bytes();
        break;
      case 2:
        value = {};
        value.is_number = true;
        value.number = static_cast<double>(m.fixed32());
        break;
      case 3:
        value = {};
        value.is_number = true;
        value.number = m.fixed64();
        break;
      case 4:
        value = integer_value(m.varint() & 0xFFFFFFFFU);
        break;
      case 5:
        value = integer_value(m.varint());
        break;
      default:
        break;
    }
  }
  return value;
}

}  // namespace roofline::ncu_rep
