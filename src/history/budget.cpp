// What kernels may do, as a file of the repository that the gate guards.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "roofline/error.h"
#include "roofline/history.h"

#ifdef ROOFLINE_TOML
#include <toml++/toml.h>
#endif

namespace roofline::history {

#ifdef ROOFLINE_TOML
namespace {

constexpr std::string_view kExpected = "max_drop, min_fraction or max_time";

class BudgetReader {
 public:
  explicit BudgetReader(const std::string& path) : path_(path) {}

  Budget read(std::string_view text) {
    Budget budget;
    try {
      const auto root = toml::parse(text, path_);
      for (const auto& [key, node] : root) add(key.str(), node, budget);
    } catch (const toml::parse_error& error) {
      refuse(error.source().begin.line, "bad-toml", std::string(error.description()), "TOML");
    }
    return budget;
  }

 private:
  void add(std::string_view key, const toml::node& node, Budget& budget) {
    const auto* table = node.as_table();
    if (key == "default" && table != nullptr) {
      for (const auto& [name, inner] : *table)
        if (name.str() != "max_drop")
          refuse(inner.source().begin.line, "unknown-key", fmt::format("'{}' in [default]", name.str()), "max_drop");
      budget.fallback = limits(*table);
      return;
    }
    if (key != "kernel" || table == nullptr)
      refuse(node.source().begin.line, "unknown-key", fmt::format("'{}'", key), "[default] or [kernel.\"NAME\"]");
    for (const auto& [name, inner] : *table) {
      const auto* one = inner.as_table();
      if (one == nullptr)
        refuse(inner.source().begin.line, "bad-value", fmt::format("'{}' is no table", name.str()),
               "[kernel.\"NAME\"]");
      budget.kernels[std::string(name.str())] = limits(*one);
    }
  }

  KernelBudget limits(const toml::table& table) {
    KernelBudget out;
    for (const auto& [key, node] : table) {
      const auto name = key.str();
      if (name == "max_drop")
        out.max_drop = drop(node);
      else if (name == "min_fraction")
        out.min_fraction = share(name, node);
      else if (name == "max_time")
        out.max_time_s = seconds(node);
      else
        refuse(node.source().begin.line, "unknown-key", fmt::format("'{}'", name), std::string(kExpected));
    }
    return out;
  }

  // No drop at all would be a limit that noise alone breaks: what --max-drop refuses too.
  double drop(const toml::node& node) {
    const auto value = share("max_drop", node);
    if (!(value > 0 && value < 1))
      refuse(node.source().begin.line, "bad-value", "a max_drop of 0 or 1", "a share between them, such as \"5%\"");
    return value;
  }

  // 0.05 or "5%".
  double share(std::string_view name, const toml::node& node) {
    std::optional<double> value = node.value<double>();
    if (const auto text = node.value<std::string>()) {
      value = parse_number(*text, "%");
      if (value) *value /= 100;
    }
    if (!value || !(*value >= 0) || *value > 1)
      refuse(node.source().begin.line, "bad-value", fmt::format("a bad {}", name), "0 to 1, or \"0%\" to \"100%\"");
    return *value;
  }

  // Seconds, or "12 us".
  double seconds(const toml::node& node) {
    if (const auto plain = node.value<double>(); plain && *plain > 0) return *plain;
    const auto text = node.value<std::string>().value_or("");
    for (const auto& [unit, factor] :
         {std::pair{"ns", 1e-9}, std::pair{"us", 1e-6}, std::pair{"ms", 1e-3}, std::pair{"s", 1.0}})
      if (const auto value = parse_number(text, unit); value && *value > 0) return *value * factor;
    refuse(node.source().begin.line, "bad-value", "a bad max_time", "seconds, or \"12 us\" with s, ms, us or ns");
  }

  // The number in front of exactly this unit.
  static std::optional<double> parse_number(std::string_view text, std::string_view unit) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
    auto rest = text.substr(static_cast<std::size_t>(end - text.data()));
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    return rest == unit ? std::optional(value) : std::nullopt;
  }

  [[noreturn]] void refuse(std::uint64_t line, const char* kind, std::string found, std::string expected) const {
    throw InputError(InputProblem{kind, path_, std::nullopt, line, std::move(found), std::move(expected),
                                  "docs/history.md shows a budget"});
  }

  const std::string& path_;
};

}  // namespace

Budget read_budget(std::string_view toml, const std::string& path) { return BudgetReader(path).read(toml); }

#else

Budget read_budget(std::string_view, const std::string&) {
  throw UsageError("this build of roofline reads no TOML: build it where libtomlplusplus-dev is installed");
}

#endif

}  // namespace roofline::history
