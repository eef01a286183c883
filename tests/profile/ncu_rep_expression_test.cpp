#include <gtest/gtest.h>

#include <string>

#include "profile/expression.h"

namespace roofline {
namespace {

std::optional<double> evaluate(std::string_view text) {
  return evaluate_expression(text, [](std::string_view name) -> std::optional<double> {
    if (name == "a.sum") return 6.0;
    if (name == "device__b_1") return 4.0;
    return std::nullopt;
  });
}

TEST(Expression, Evaluates) {
  EXPECT_EQ(evaluate("a.sum * 2"), 12.0);
  EXPECT_EQ(evaluate(" ( a.sum * 100 ) / device__b_1 "), 150.0);
  EXPECT_EQ(evaluate("a.sum - device__b_1 - 1"), 1.0);
  EXPECT_EQ(evaluate("1 + 2 * 3"), 7.0);
  EXPECT_EQ(evaluate("12 / 4 / 3"), 1.0);
  EXPECT_EQ(evaluate(".5 * 3e2"), 150.0);
}

TEST(Expression, RefusesWhatItCannotEvaluate) {
  EXPECT_EQ(evaluate(""), std::nullopt);
  EXPECT_EQ(evaluate("unknown * 2"), std::nullopt);
  EXPECT_EQ(evaluate("a.sum *"), std::nullopt);
  EXPECT_EQ(evaluate("a.sum 2"), std::nullopt);
  EXPECT_EQ(evaluate("(a.sum"), std::nullopt);
  EXPECT_EQ(evaluate("a.sum / 0"), std::nullopt);
  EXPECT_EQ(evaluate("max(a.sum, 1)"), std::nullopt);
  EXPECT_EQ(evaluate(std::string(100'000, '(')), std::nullopt);
}

}  // namespace
}  // namespace roofline
