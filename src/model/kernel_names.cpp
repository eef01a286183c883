#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>

#include "data/kernel_names.csv.h"
#include "machines/table.h"
#include "roofline/model.h"

namespace roofline::model {
namespace {

constexpr const char* kLabel = "kernel_names.csv";

// Names are bytes: a mangled or broken one need not be UTF-8.
RE2::Options regex_options() {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_never_capture(true);
  return options;
}

std::size_t column(const machines::Table& table, const std::string& label, std::string_view name) {
  const auto it = std::find(table.header.begin(), table.header.end(), name);
  if (it == table.header.end())
    machines::fail(label, 0, "missing-column", fmt::format("no column \"{}\"", name),
                   "operator, regex, family, example, source", "add the column");
  return static_cast<std::size_t>(it - table.header.begin());
}

std::vector<NameRule> read_rules(const machines::Table& table, const std::string& label) {
  const auto op = column(table, label, "operator");
  const auto regex = column(table, label, "regex");
  const auto family = column(table, label, "family");
  const auto example = column(table, label, "example");
  const auto source = column(table, label, "source");
  std::vector<NameRule> rules;
  for (const auto& row : table.rows)
    rules.push_back(
        {row.cells[op], row.cells[family], row.cells[regex], row.cells[example], row.cells[source], row.line});
  return rules;
}

}  // namespace

struct KernelNames::Impl {
  std::vector<NameRule> rules;
  std::vector<std::unique_ptr<RE2>> expressions;
  RE2::Set all{regex_options(), RE2::UNANCHORED};
};

KernelNames::KernelNames(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KernelNames::~KernelNames() = default;
KernelNames::KernelNames(KernelNames&&) noexcept = default;
KernelNames& KernelNames::operator=(KernelNames&&) noexcept = default;

KernelNames KernelNames::parse(std::string_view csv, const std::string& label) {
  auto impl = std::make_unique<Impl>();
  impl->rules = read_rules(machines::read_table(csv, label), label);
  for (const auto& rule : impl->rules) {
    std::string error;
    auto expression = std::make_unique<RE2>(rule.regex, regex_options());
    if (rule.regex.empty() || !expression->ok() || impl->all.Add(rule.regex, &error) < 0)
      machines::fail(label, rule.line, "bad-regex", fmt::format("\"{}\": {}", rule.regex, expression->error()),
                     "a regular expression of RE2", "correct it");
    impl->expressions.push_back(std::move(expression));
  }
  if (!impl->all.Compile())
    machines::fail(label, 0, "bad-regex", "the expressions together are too large", "a smaller list", "split it");
  return KernelNames(std::move(impl));
}

const KernelNames& KernelNames::instance() {
  static const KernelNames kNames = parse(data::kernel_names_csv(), kLabel);
  return kNames;
}

const NameRule* KernelNames::match(std::string_view kernel_name) const {
  const re2::StringPiece name(kernel_name.data(), kernel_name.size());
  std::vector<int> hits;
  RE2::Set::ErrorInfo error{};
  if (impl_->all.Match(name, &hits, &error) && !hits.empty())
    return &impl_->rules[static_cast<std::size_t>(*std::min_element(hits.begin(), hits.end()))];
  if (error.kind == RE2::Set::kNoError) return nullptr;
  // The joint automaton ran out of memory on this name: ask one by one.
  for (std::size_t i = 0; i < impl_->expressions.size(); ++i)
    if (RE2::PartialMatch(name, *impl_->expressions[i])) return &impl_->rules[i];
  return nullptr;
}

std::span<const NameRule> KernelNames::rules() const { return impl_->rules; }

}  // namespace roofline::model
