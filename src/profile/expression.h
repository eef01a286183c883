// Arithmetic as section files write it.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace roofline {

// Evaluates +, -, *, /, parentheses, numbers and metric names ("a.sum * 2", "( x * 100 ) / y"). nullopt when the text
// is not such an expression, a name has no value, or the result is not finite (x / 0).
std::optional<double> evaluate_expression(std::string_view text,
                                          const std::function<std::optional<double>(std::string_view)>& value_of);

}  // namespace roofline
