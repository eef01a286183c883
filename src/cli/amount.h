// Numbers with a unit, as people type them on a command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace roofline::cli {

struct Amount {
  double number = 0;
  std::string unit;  // as typed; empty for none
};

// "1.755 GHz", "400Gb/s", "3%", "50"; nothing where it does not begin with a finite number.
std::optional<Amount> parse_amount(std::string_view text);

}  // namespace roofline::cli
