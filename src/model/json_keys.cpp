#include "model/json_keys.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "roofline/error.h"

namespace roofline::model {
namespace {

constexpr int kMaxDepth = 64;          // copies of deeper values would recurse without end
constexpr std::size_t kMaxShown = 60;  // characters of a wrong value in a message

std::string shown(const nlohmann::json& value) {
  auto text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "...";
  return text;
}

}  // namespace

void refuse(const std::string& label, std::string kind, std::string found, std::string expected, std::string action) {
  InputProblem problem;
  problem.kind = std::move(kind);
  problem.path = label;
  problem.found = std::move(found);
  problem.expected = std::move(expected);
  problem.action = std::move(action);
  throw InputError(std::move(problem));
}

nlohmann::json parse_object(std::string_view text, const std::string& label) {
  // The library keeps the last of two equal keys; which one was meant, nobody knows.
  std::vector<std::set<std::string>> seen;
  std::string twice;
  const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (depth > kMaxDepth)
      refuse(label, "not-json", fmt::format("more than {} levels of nesting", kMaxDepth), "a model's config.json",
             "check that it is the right file");
    if (event == Event::object_start) seen.emplace_back();
    if (event == Event::object_end) seen.pop_back();
    if (event == Event::key && !seen.back().insert(parsed.get<std::string>()).second) twice = parsed.get<std::string>();
    return true;
  };
  nlohmann::json object;
  try {
    object = nlohmann::json::parse(text, watch);
  } catch (const nlohmann::json::parse_error& error) {
    InputProblem problem;
    problem.kind = "not-json";
    problem.path = label;
    problem.offset = error.byte;
    problem.found = error.byte > text.size() ? "the JSON text ends too early" : "a fault in the JSON text";
    problem.expected = "a model's config.json";
    problem.action = "check that the file is complete";
    throw InputError(std::move(problem));
  }
  if (!twice.empty())
    refuse(label, "duplicate-key", fmt::format("\"{}\" occurs twice", twice), "each key once", "remove one of them");
  if (!object.is_object())
    refuse(label, "wrong-type", fmt::format("JSON of type {}", object.type_name()), "an object",
           "give a model's config.json");
  return object;
}

const nlohmann::json* JsonKeys::value(const char* key) const {
  const auto it = object_.find(key);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

void JsonKeys::wrong_type(const char* key, std::string_view expected) const {
  refuse(label_, "wrong-type", fmt::format("\"{}\" is {}", key, shown(object_.at(key))), std::string(expected),
         "correct the file");
}

void JsonKeys::contradiction(std::string found, std::string expected) const {
  refuse(label_, "contradiction", std::move(found), std::move(expected), "correct the file");
}

Count JsonKeys::to_integer(const char* key, const nlohmann::json& number, Count low) const {
  if (!number.is_number()) wrong_type(key, "a whole number");
  const double value = number.get<double>();
  // Some exporters write 4096.0.
  if (value != std::floor(value)) wrong_type(key, "a whole number");
  if (!(value >= static_cast<double>(low)) || value > static_cast<double>(kMaxDimension))
    refuse(label_, "out-of-range", fmt::format("\"{}\" is {}", key, shown(number)),
           fmt::format("a whole number from {} to {}", low, kMaxDimension), "correct the file");
  return static_cast<Count>(value);
}

std::optional<Count> JsonKeys::integer(Names names, Count low) const {
  std::optional<Count> result;
  const char* from = nullptr;
  for (const auto* name : names) {
    const auto* v = value(name);
    if (v == nullptr) continue;
    const auto number = to_integer(name, *v, low);
    if (result && *result != number)
      contradiction(fmt::format("\"{}\" is {} and \"{}\" is {}", from, *result, name, number), "equal values");
    result = number;
    from = name;
  }
  return result;
}

Count JsonKeys::required(Names names, Count low) const {
  if (const auto number = integer(names, low)) return *number;
  const auto* name = *names.begin();
  refuse(label_, "missing-key", fmt::format("\"{}\" is {}", name, is_null(name) ? "null" : "missing"),
         "a whole number: the model cannot be sized without it", "add the key");
}

Count JsonKeys::integer_or(Names names, Count fallback, Count low) const {
  return integer(names, low).value_or(fallback);
}

std::optional<double> JsonKeys::number(const char* key) const {
  const auto* v = value(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_number()) wrong_type(key, "a number");
  return v->get<double>();
}

std::optional<bool> JsonKeys::flag(const char* key) const {
  const auto* v = value(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_boolean()) wrong_type(key, "true or false");
  return v->get<bool>();
}

std::optional<std::string> JsonKeys::text(const char* key) const {
  const auto* v = value(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_string()) wrong_type(key, "a text");
  return v->get<std::string>();
}

std::string JsonKeys::text_or(const char* key, std::string_view fallback) const {
  return text(key).value_or(std::string(fallback));
}

std::optional<std::vector<std::string>> JsonKeys::texts(const char* key) const {
  const auto* v = value(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_array()) wrong_type(key, "a list of texts");
  std::vector<std::string> result;
  for (const auto& element : *v) {
    if (!element.is_string()) wrong_type(key, "a list of texts");
    result.push_back(element.get<std::string>());
  }
  return result;
}

std::optional<std::vector<Count>> JsonKeys::integers(const char* key) const {
  const auto* v = value(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_array()) wrong_type(key, "a list of whole numbers");
  std::vector<Count> result;
  for (const auto& element : *v) result.push_back(to_integer(key, element, 0));
  return result;
}

const nlohmann::json* JsonKeys::child(const char* key) const {
  const auto* v = value(key);
  if (v != nullptr && !v->is_object()) wrong_type(key, "an object");
  return v;
}

}  // namespace roofline::model
