#include "compare/families.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "data/name_families.csv.h"
#include "machines/table.h"
#include "roofline/compare.h"
#include "roofline/names.h"

namespace roofline::comparing {
namespace {

constexpr const char* kLabel = "name_families.csv";
constexpr std::size_t kLongestName = 4096;  // the rest of a longer one tells nothing more

// Names are bytes: a mangled or broken one need not be UTF-8.
RE2::Options regex_options() {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  return options;
}

struct Substitution {
  std::unique_ptr<RE2> regex;
  std::string replacement;
};

std::vector<Substitution> compile(std::span<const FamilyRule> rules) {
  std::vector<Substitution> out;
  for (const auto& rule : rules) {
    auto regex = std::make_unique<RE2>(rule.regex, regex_options());
    std::string error;
    if (!regex->ok() || !regex->CheckRewriteString(rule.replacement, &error))
      machines::fail(kLabel, rule.line, "bad-regex", fmt::format("\"{}\": {}{}", rule.regex, regex->error(), error),
                     "a substitution of RE2", "correct it");
    out.push_back({std::move(regex), rule.replacement});
  }
  return out;
}

std::string substituted(std::string name) {
  static const std::vector<Substitution> kSubstitutions = compile(family_rules());
  for (const auto& s : kSubstitutions) RE2::GlobalReplace(&name, *s.regex, s.replacement);
  return name;
}

// The last plain name of a mangled one: "_ZN4vllm15rms_norm_kernelI..." -> "rms_norm_kernel".
std::string last_mangled_name(std::string_view mangled) {
  std::string best;
  std::size_t at = mangled.find_first_of("0123456789");
  while (at < mangled.size() && mangled[at] >= '0' && mangled[at] <= '9') {
    std::size_t length = 0;
    while (at < mangled.size() && mangled[at] >= '0' && mangled[at] <= '9' && length < kLongestName)
      length = 10 * length + static_cast<std::size_t>(mangled[at++] - '0');
    if (length == 0 || length > mangled.size() - at) break;
    best = mangled.substr(at, length);
    at += length;
  }
  return best.empty() ? std::string(mangled) : best;
}

// Template arguments that say what a generic kernel does: vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>.
std::string functors(std::string_view full_name) {
  static const RE2 kFunctor(R"(\b(\w*(?:Functor|_functor|Ops)\w*|\w+_kernel_cuda|\w+_kernel_impl)\b)", regex_options());
  const auto arguments = full_name.find('<');
  if (arguments == std::string_view::npos) return {};
  re2::StringPiece rest(full_name.data() + arguments, full_name.size() - arguments);
  std::set<std::string> names;
  std::string name;
  while (RE2::FindAndConsume(&rest, kFunctor, &name)) names.insert(name);
  std::string out;
  for (const auto& n : names) out += (out.empty() ? "" : ",") + n;
  return out;
}

}  // namespace

std::span<const FamilyRule> family_rules() {
  static const std::vector<FamilyRule> kRules = [] {
    const auto table = machines::read_table(data::name_families_csv(), kLabel);
    std::vector<FamilyRule> rules;
    for (const auto& row : table.rows)
      rules.push_back({row.cells.at(0), row.cells.at(1), row.cells.at(3), row.cells.at(4), row.line});
    return rules;
  }();
  return kRules;
}

}  // namespace roofline::comparing

namespace roofline {

std::string name_family(std::string_view full_name) {
  full_name = full_name.substr(0, comparing::kLongestName);
  auto name = full_name.starts_with("_Z") ? comparing::last_mangled_name(full_name) : short_kernel_name(full_name);
  // "Kernel2<cutlass_80_...>": the argument is the name.
  if (const auto open = name.find('<'); open != std::string::npos && name.ends_with('>')) {
    const auto inner = short_kernel_name(std::string_view(name).substr(open + 1, name.size() - open - 2));
    name = inner.substr(0, inner.find('<'));
  }
  auto family = comparing::substituted(name);
  if (family.empty()) family = name;
  const auto what = comparing::functors(full_name);
  return what.empty() ? family : fmt::format("{}[{}]", family, what);
}

}  // namespace roofline
