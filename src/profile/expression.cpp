#include "profile/expression.h"

#include <cctype>
#include <charconv>
#include <cmath>

namespace roofline {
namespace {

constexpr int kMaxDepth = 64;  // parentheses in a hostile file must not exhaust the stack

class Parser {
 public:
  Parser(std::string_view text, const std::function<std::optional<double>(std::string_view)>& value_of)
      : text_(text), value_of_(value_of) {}

  std::optional<double> run() {
    const auto value = sum();
    skip_space();
    return value && pos_ == text_.size() && std::isfinite(*value) ? value : std::nullopt;
  }

 private:
  void skip_space() {
    while (pos_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[pos_])) != 0) ++pos_;
  }

  // The next character if it is one of `wanted`, consumed; else 0.
  char take(std::string_view wanted) {
    skip_space();
    if (pos_ >= text_.size() || wanted.find(text_[pos_]) == std::string_view::npos) return 0;
    return text_[pos_++];
  }

  std::optional<double> sum() {
    auto left = product();
    while (left) {
      const char op = take("+-");
      if (op == 0) break;
      const auto right = product();
      if (!right) return std::nullopt;
      left = op == '+' ? *left + *right : *left - *right;
    }
    return left;
  }

  std::optional<double> product() {
    auto left = factor();
    while (left) {
      const char op = take("*/");
      if (op == 0) break;
      const auto right = factor();
      if (!right) return std::nullopt;
      left = op == '*' ? *left * *right : *left / *right;
    }
    return left;
  }

  std::optional<double> factor() {
    if (take("(") != 0) {
      if (++depth_ > kMaxDepth) return std::nullopt;
      const auto inner = sum();
      --depth_;
      return take(")") != 0 ? inner : std::nullopt;
    }
    skip_space();
    const auto rest = text_.substr(pos_);
    if (!rest.empty() && (std::isdigit(static_cast<unsigned char>(rest[0])) != 0 || rest[0] == '.'))
      return number(rest);
    return name(rest);
  }

  std::optional<double> number(std::string_view rest) {
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc()) return std::nullopt;
    pos_ += static_cast<std::size_t>(end - rest.data());
    return value;
  }

  std::optional<double> name(std::string_view rest) {
    const auto is_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    std::size_t length = 0;
    while (length < rest.size() && is_name(rest[length])) ++length;
    if (length == 0) return std::nullopt;
    pos_ += length;
    return value_of_(rest.substr(0, length));
  }

  std::string_view text_;
  const std::function<std::optional<double>(std::string_view)>& value_of_;
  std::size_t pos_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<double> evaluate_expression(std::string_view text,
                                          const std::function<std::optional<double>(std::string_view)>& value_of) {
  return Parser(text, value_of).run();
}

}  // namespace roofline
