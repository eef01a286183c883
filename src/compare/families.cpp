#include "compare/families.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

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

struct Substitutions {
  std::vector<Substitution> list;
  RE2::Set any{regex_options(), RE2::UNANCHORED};  // tells in one pass whether any of them applies
};

Substitutions compile(std::span<const FamilyRule> rules) {
  Substitutions out;
  for (const auto& rule : rules) {
    auto regex = std::make_unique<RE2>(rule.regex, regex_options());
    std::string error;
    if (!regex->ok() || !regex->CheckRewriteString(rule.replacement, &error) || out.any.Add(rule.regex, &error) < 0)
      machines::fail(kLabel, rule.line, "bad-regex", fmt::format("\"{}\": {}{}", rule.regex, regex->error(), error),
                     "a substitution of RE2", "correct it");
    out.list.push_back({std::move(regex), rule.replacement});
  }
  if (!out.any.Compile())
    machines::fail(kLabel, 0, "bad-regex", "the expressions together are too large", "a smaller list", "split it");
  return out;
}

std::string substituted(std::string name) {
  static const Substitutions kSubstitutions = compile(family_rules());
  std::vector<int> hits;
  RE2::Set::ErrorInfo error{};
  // What no rule changes is its own family, unless the joint automaton ran out of memory.
  if (!kSubstitutions.any.Match(name, &hits, &error) && error.kind == RE2::Set::kNoError) return name;
  for (const auto& s : kSubstitutions.list) RE2::GlobalReplace(&name, *s.regex, s.replacement);
  return name;
}

// Entry points and guards of kernel libraries: their first template argument is the kernel.
bool is_wrapper(std::string_view name) {
  constexpr std::array<std::string_view, 4> kWrappers = {"Kernel", "Kernel2", "kernel", "device_kernel"};
  return name.starts_with("enable_") || std::find(kWrappers.begin(), kWrappers.end(), name) != kWrappers.end();
}

// "device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<..." -> "FlashAttnFwdSm90". Names that a profiler
// cut have brackets that never close.
std::string unwrapped(std::string_view full_name) {
  auto name = short_kernel_name(full_name);
  constexpr int kDeepest = 4;
  for (int depth = 0; depth < kDeepest; ++depth) {
    name = name.substr(0, name.find('<'));
    const auto at = full_name.find(name + '<');
    if (!is_wrapper(name) || at == std::string_view::npos) break;
    full_name.remove_prefix(at + name.size() + 1);
    // The argument up to its own arguments, or its end.
    auto inner = short_kernel_name(full_name.substr(0, full_name.find_first_of("<,>(")));
    if (inner.empty()) break;
    name = std::move(inner);
  }
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
  const auto name =
      full_name.starts_with("_Z") ? comparing::last_mangled_name(full_name) : comparing::unwrapped(full_name);
  auto family = comparing::substituted(name);
  if (family.empty()) family = name;
  const auto what = comparing::functors(full_name);
  return what.empty() ? family : fmt::format("{}[{}]", family, what);
}

}  // namespace roofline
