#include "cli/threshold_options.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "cli/text_file.h"
#include "cli/user_machines.h"
#include "core/toml_depth.h"
#include "roofline/error.h"

#ifdef ROOFLINE_TOML
#include <toml++/toml.h>
#endif

namespace roofline::cli {
namespace {

namespace fs = std::filesystem;
constexpr const char* kSettingsFile = "roofline.toml";

std::string known_names() {
  std::string names;
  for (const auto& field : threshold_fields()) names += fmt::format("{}{}", names.empty() ? "" : ", ", field.name);
  return names;
}

// Why `value` cannot be that threshold; empty when it can.
std::string objection(const ThresholdField& field, double value) {
  if (value >= field.least && value <= field.most) return {};
  return fmt::format("{} = {} is not within {} to {}", field.name, value, field.least, field.most);
}

// The file that applies where none was named; empty when there is none.
fs::path usual_settings() {
  std::error_code error;
  if (fs::exists(kSettingsFile, error)) return kSettingsFile;
  const auto machines = user_machine_folder();
  const auto path = machines.empty() ? fs::path{} : machines.parent_path() / kSettingsFile;
  return !path.empty() && fs::exists(path, error) ? path : fs::path{};
}

void set(std::string_view name, double value, std::string_view option, Thresholds& thresholds) {
  const auto* field = find_threshold(name);
  if (const auto why = objection(*field, value); !why.empty()) throw UsageError(fmt::format("{}: {}", option, why));
  thresholds.*field->member = value;
}

void set_named(const std::string& text, Thresholds& thresholds) {
  const auto equals = text.find('=');
  const auto* field = find_threshold(std::string_view(text).substr(0, equals));
  if (field == nullptr || equals == std::string::npos)
    throw UsageError(fmt::format("--threshold {}: expected NAME=NUMBER with one of {}", text, known_names()));
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + equals + 1, end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    throw UsageError(fmt::format("--threshold {}: '{}' is not a number", text, text.substr(equals + 1)));
  set(field->name, value, "--threshold", thresholds);
}

}  // namespace

#ifdef ROOFLINE_TOML

namespace {

[[noreturn]] void refuse(const std::string& label, std::uint64_t line, std::string found, std::string expected) {
  throw InputError({"bad-settings", label, {}, line, std::move(found), std::move(expected), "correct the line"});
}

void set_from(const toml::table& table, const std::string& label, Thresholds& thresholds) {
  for (const auto& [name, node] : table) {
    const std::uint64_t line = node.source().begin.line;
    const auto* field = find_threshold(name.str());
    if (field == nullptr) refuse(label, line, fmt::format("no threshold '{}'", name.str()), "one of " + known_names());
    const auto value = node.value<double>();
    if (!node.is_number() || !value)
      refuse(label, line, fmt::format("{} is not a number", name.str()), "as in busy = 0.6");
    if (auto why = objection(*field, *value); !why.empty()) refuse(label, line, std::move(why), "");
    thresholds.*field->member = *value;
  }
}

}  // namespace

Thresholds parse_settings(std::string_view text, const std::string& label, Thresholds base) {
  if (const auto line = too_deep_toml_line(text)) refuse(label, *line, "a key of hundreds of parts", "optimal = 0.85");
  toml::table root;
  try {
    root = toml::parse(text, label);
  } catch (const toml::parse_error& e) {
    refuse(label, e.source().begin.line, std::string(e.description()), "TOML: [thresholds], then optimal = 0.85");
  }
  for (const auto& [name, node] : root) {
    const auto* table = node.as_table();
    if (name.str() != "thresholds" || table == nullptr)
      refuse(label, node.source().begin.line, fmt::format("'{}' outside [thresholds]", name.str()),
             "[thresholds] alone");
    set_from(*table, label, base);
  }
  return base;
}

#else

Thresholds parse_settings(std::string_view, const std::string& label, Thresholds) {
  throw InputError({"no-toml",
                    label,
                    {},
                    {},
                    "this build reads no settings: it was made without toml++",
                    "",
                    "use --threshold NAME=NUMBER, or build with libtomlplusplus-dev"});
}

#endif

void ThresholdOptions::setup(CLI::App& command) {
  auto* group = command.add_option_group("Thresholds");
  group->add_option("--optimal", optimal_, "Fraction of the roof, of any kind, from which a kernel is done");
  group->add_option("--launch-floor-us", floor_us_, "Time that any kernel costs, microseconds");
  group->add_option("--threshold", named_, "NAME=NUMBER: another threshold of the verdicts (see docs/diagnosis.md)")
      ->allow_extra_args(false)  // the next word may be a file
      ->take_all();
  group->add_option("--settings", settings_,
                    "File with [thresholds]; else ./roofline.toml or roofline/roofline.toml of your settings folder");
}

Thresholds ThresholdOptions::resolve() const {
  const auto file = settings_.empty() ? usual_settings() : fs::path(settings_);
  auto thresholds = file.empty() ? Thresholds{} : parse_settings(read_text_file(file), file.string(), {});
  if (optimal_) {
    set("optimal", *optimal_, "--optimal", thresholds);
    set("optimal_measured", *optimal_, "--optimal", thresholds);
  }
  if (floor_us_) set("launch_floor_s", *floor_us_ * 1e-6, "--launch-floor-us", thresholds);
  for (const auto& text : named_) set_named(text, thresholds);
  return thresholds;
}

void ThresholdOptions::note_changes(Report& report) {
  constexpr Thresholds kUsual;
  std::string changes;
  for (const auto& field : threshold_fields()) {
    const double now = report.thresholds.*field.member;
    const double usual = kUsual.*field.member;
    if (now != usual) changes += fmt::format("{}{} {} (usual {})", changes.empty() ? "" : ", ", field.name, now, usual);
  }
  if (!changes.empty())
    report.warnings.push_back({"thresholds", "verdicts rest on thresholds of your own: " + changes, std::nullopt});
}

}  // namespace roofline::cli
