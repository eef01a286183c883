#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/checkpoint.h"
#include "model/families.h"
#include "roofline/error.h"

namespace roofline::model {
namespace {

constexpr std::uintmax_t kMaxFileBytes = 16 << 20;  // a config.json has kilobytes

// Composite models (vision and text) keep the language model's keys in an object of their own.
const nlohmann::json* text_object(const JsonKeys& keys) {
  for (const auto* name : {"text_config", "llm_config", "language_config"})
    if (const auto* child = keys.child(name)) return child;
  return nullptr;
}

// What belongs to the whole checkpoint may stand outside.
nlohmann::json descend(const JsonKeys& outer) {
  const auto* inner = text_object(outer);
  if (inner == nullptr) return outer.object();
  auto merged = *inner;
  for (const auto* key : {"quantization_config", "tie_word_embeddings"})
    if (!merged.contains(key) && outer.present(key)) merged[key] = outer.object().at(key);
  if (!merged.contains("model_type") && outer.present("model_type"))
    merged["model_type"] = text_model_type(outer.text_or("model_type", ""));
  return merged;
}

std::string read_model_type(const JsonKeys& keys) {
  if (const auto type = keys.text("model_type")) return text_model_type(*type);
  const auto architectures = keys.texts("architectures");
  if (!architectures || architectures->empty())
    refuse(keys.label(), "missing-key", "neither \"model_type\" nor \"architectures\" is there", "the model's family",
           "give a language model's config.json");
  auto type = model_type_of(architectures->front());
  if (type.empty())
    refuse(keys.label(), "unknown-model-type",
           fmt::format("architecture \"{}\" without a model_type", architectures->front()), "a known architecture",
           "add the model_type of the same architecture, if there is one");
  return type;
}

std::string read_text(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const auto label = path.string();
  if (error) refuse(label, "unreadable", error.message(), "a readable file", "check the path");
  if (size > kMaxFileBytes)
    refuse(label, "too-large", fmt::format("{} bytes", size), "a model's config.json", "check the path");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) refuse(label, "unreadable", "reading failed", "a readable file", "check the path");
  return text;
}

}  // namespace

ModelConfig parse_config(std::string_view json, const std::string& label) {
  const auto root = parse_object(json, label);
  const auto text = descend(JsonKeys(root, label));
  const JsonKeys keys(text, label);
  ModelConfig config;
  config.name = label;
  config.model_type = read_model_type(keys);
  read_family(keys, config);
  config.max_positions = keys.integer({"max_position_embeddings"});
  if (!config.max_positions) config.max_positions = keys.integer({"seq_length"});
  if (const auto type = keys.text("torch_dtype"); type == "float16") config.checkpoint = *find_scheme("fp16");
  if (const auto* quantization = keys.child("quantization_config"))
    apply_quantization(config, JsonKeys(*quantization, label));
  return config;
}

ModelConfig load_config(const std::string& path) {
  auto config = parse_config(read_text(path), path);
  const auto beside = std::filesystem::path(path).parent_path() / "hf_quant_config.json";
  if (std::filesystem::exists(beside)) apply_quantization_file(config, read_text(beside), beside.string());
  return config;
}

}  // namespace roofline::model
