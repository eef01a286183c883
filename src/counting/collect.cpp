#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "counting/recipes.h"
#include "roofline/counting.h"
#include "roofline/error.h"
#include "roofline/metrics.h"

namespace roofline {
namespace {

using counting::CollectRule;
using counting::recipes;
using counting::TensorChip;

class MetricList {
 public:
  explicit MetricList(const TensorChip* chip) : chip_(chip) {}

  void add(const std::string& name) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
  }
  // The first spelling that the chip has; on an unknown chip the first that most chips have.
  void add_first(const std::vector<std::string>& spellings) {
    for (const auto& name : spellings)
      if (available(name)) return add(name);
  }
  std::string joined() const { return fmt::format("{}", fmt::join(names_, ",")); }
  bool empty() const { return names_.empty(); }

 private:
  bool available(const std::string& name) const {
    const auto& catalogue = MetricCatalogue::instance();
    const auto id = catalogue.require(name);
    const auto chips = catalogue.chips();
    // Some chips (GV11B) have tensor counters on record, but no list of metrics.
    if (chip_ != nullptr && std::find(chips.begin(), chips.end(), chip_->name) != chips.end())
      return catalogue.exists(id, chip_->name);
    const auto with = std::count_if(chips.begin(), chips.end(), [&](const auto& c) { return catalogue.exists(id, c); });
    return 2 * with > static_cast<std::ptrdiff_t>(chips.size());
  }

  const TensorChip* chip_;
  std::vector<std::string> names_;
};

void add_tensor(const TensorChip* chip, MetricList& list) {
  if (chip == nullptr) return list.add("sm__inst_executed_pipe_tensor.sum");
  for (const auto& counter : chip->counters)
    if (counter.children.empty()) list.add(MetricCatalogue::instance().info(counter.sum).name);
}

// Appends a name to a pattern, for a POSIX shell and for the regular expression inside. Returns whether it is a word.
bool append_quoted(std::string_view name, std::string& pattern) {
  bool plain = true;
  for (const char c : name) {
    constexpr std::string_view kSpecial = R"(\^$.|?*+()[]{})";
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    plain = plain && word;
    if (c == '\'' || static_cast<unsigned char>(c) < ' ') {
      pattern += '.';
      continue;
    }
    if (kSpecial.find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return plain;
}

std::string kernel_option(const std::vector<std::string>& kernels) {
  if (kernels.empty()) return {};
  std::string pattern;
  bool plain = kernels.size() == 1;
  for (const auto& kernel : kernels) {
    if (!pattern.empty()) pattern += '|';
    plain = append_quoted(kernel, pattern) && plain;
  }
  return plain ? fmt::format(" -k regex:{}", pattern) : fmt::format(" -k 'regex:{}'", pattern);
}
const CollectRule& rule_for(const std::string& quantity) {
  const auto& rules = recipes().collect;
  const auto it = std::find_if(rules.begin(), rules.end(), [&](const auto& r) { return r.quantity == quantity; });
  if (it == rules.end()) throw UsageError("no such quantity to collect: \"" + quantity + "\"");
  return *it;
}

}  // namespace

std::string collection_command(const std::vector<std::string>& missing, const std::string& compute_capability,
                               const std::vector<std::string>& kernels) {
  const auto* chip = counting::tensor_chip(counting::capability_number(compute_capability), {}, std::nullopt);
  MetricList list(chip);
  for (const auto& quantity : missing) {
    for (const auto& spellings : rule_for(quantity).metrics) list.add_first(spellings);
    if (quantity == "flops") add_tensor(chip, list);
  }
  if (list.empty()) return {};
  // Rates and roofs need the time and the clock of the same run.
  for (const auto& spellings : rule_for("time").metrics) list.add_first(spellings);
  return fmt::format("ncu --metrics {}{} -o report ./app", list.joined(), kernel_option(kernels));
}

}  // namespace roofline
