#include "cli/amount.h"

#include <charconv>
#include <cmath>

namespace roofline::cli {

std::optional<Amount> parse_amount(std::string_view text) {
  Amount amount;
  const auto* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, amount.number);
  if (error != std::errc{} || !std::isfinite(amount.number)) return std::nullopt;
  amount.unit.assign(after, end);
  amount.unit.erase(0, amount.unit.find_first_not_of(' '));
  return amount;
}

}  // namespace roofline::cli
