#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/letter_case.h"
#include "data/model_presets.json.h"
#include "roofline/error.h"
#include "roofline/model.h"

namespace roofline::model {
namespace {

std::vector<Preset> read_presets() {
  std::vector<Preset> presets;
  const auto root = nlohmann::json::parse(data::model_presets_json());
  for (const auto& entry : root.at("presets")) {
    Preset preset;
    preset.name = entry.at("name");
    preset.aliases = entry.value("aliases", std::vector<std::string>{});
    preset.parameters = entry.at("parameters");
    preset.source = entry.at("source");
    preset.json = entry.at("config").dump();
    presets.push_back(std::move(preset));
  }
  return presets;
}

// Length of the common start: enough to find what was meant by "llama3-8b".
std::size_t likeness(const std::string& a, const std::string& b) {
  std::string x, y;
  std::copy_if(a.begin(), a.end(), std::back_inserter(x), [](unsigned char c) { return std::isalnum(c); });
  std::copy_if(b.begin(), b.end(), std::back_inserter(y), [](unsigned char c) { return std::isalnum(c); });
  const auto end = std::mismatch(x.begin(), x.end(), y.begin(), y.end());
  return static_cast<std::size_t>(end.first - x.begin());
}

std::string close_names(std::string_view name) {
  constexpr std::size_t kShown = 4;
  constexpr std::size_t kLike = 3;  // characters in common
  const auto wanted = lower(name);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const auto& preset : presets())
    if (const auto like = likeness(wanted, preset.name); like >= kLike) ranked.emplace_back(like, preset.name);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, ranked.size()); ++i) text += (i > 0 ? ", " : "") + ranked[i].second;
  return text;
}

}  // namespace

std::span<const Preset> presets() {
  static const std::vector<Preset> kPresets = read_presets();
  return kPresets;
}

const Preset* find_preset(std::string_view name) {
  const auto wanted = lower(name);
  for (const auto& preset : presets()) {
    if (preset.name == wanted) return &preset;
    for (const auto& alias : preset.aliases)
      if (lower(alias) == wanted) return &preset;
  }
  return nullptr;
}

ModelConfig resolve_config(const std::string& preset_or_path) {
  if (const auto* preset = find_preset(preset_or_path)) return parse_config(preset->json, preset->name);
  std::error_code error;
  if (std::filesystem::is_directory(preset_or_path, error))
    return load_config((std::filesystem::path(preset_or_path) / "config.json").string());
  if (std::filesystem::exists(preset_or_path, error)) return load_config(preset_or_path);
  const auto close = close_names(preset_or_path);
  throw UsageError(
      fmt::format("\"{}\" is neither a file nor a known model{}", preset_or_path,
                  close.empty() ? std::string("; give the path of a config.json") : "; close ones: " + close));
}

}  // namespace roofline::model
