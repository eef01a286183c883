// Reading a JSON object of numbers strictly: absent, null and wrong are three different things.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "roofline/model.h"

namespace roofline::model {

inline constexpr Count kMaxDimension = Count{1} << 24;  // no published size comes near it

[[noreturn]] void refuse(const std::string& label, std::string kind, std::string found, std::string expected,
                         std::string action);

// Throws InputError ("not-json", "duplicate-key", "wrong-type") unless `text` is one JSON object.
nlohmann::json parse_object(std::string_view text, const std::string& label);

// A view of one object. Several names mean aliases: the first present counts, and two that differ contradict.
class JsonKeys {
 public:
  using Names = std::initializer_list<const char*>;
  JsonKeys(const nlohmann::json& object, std::string label) : object_(object), label_(std::move(label)) {}

  const nlohmann::json& object() const { return object_; }
  const std::string& label() const { return label_; }
  bool present(const char* key) const { return object_.contains(key); }  // null counts as present
  bool is_null(const char* key) const { return present(key) && object_.at(key).is_null(); }

  // Whole numbers from `low` to kMaxDimension; null and absent: nullopt.
  std::optional<Count> integer(Names names, Count low = 1) const;
  Count required(Names names, Count low = 1) const;  // absent or null: "missing-key"
  Count integer_or(Names names, Count fallback, Count low = 1) const;
  std::optional<double> number(const char* key) const;
  std::optional<bool> flag(const char* key) const;
  bool flag_or(const char* key, bool fallback) const { return flag(key).value_or(fallback); }
  std::optional<std::string> text(const char* key) const;
  std::string text_or(const char* key, std::string_view fallback) const;
  // Elements of an array of texts or whole numbers; nullopt when absent or null.
  std::optional<std::vector<std::string>> texts(const char* key) const;
  std::optional<std::vector<Count>> integers(const char* key) const;
  // A nested object; nullptr when absent or null.
  const nlohmann::json* child(const char* key) const;

  [[noreturn]] void wrong_type(const char* key, std::string_view expected) const;
  [[noreturn]] void contradiction(std::string found, std::string expected) const;

 private:
  const nlohmann::json* value(const char* key) const;  // nullptr when absent or null
  Count to_integer(const char* key, const nlohmann::json& value, Count low) const;

  const nlohmann::json& object_;
  std::string label_;
};

}  // namespace roofline::model
