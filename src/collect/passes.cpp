// How many replay passes a set takes, from data/collection_passes.csv.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>

#include "data/collection_passes.csv.h"
#include "roofline/collect.h"

namespace roofline::collect {
namespace {

constexpr std::string_view kTypes = "types";
constexpr std::string_view kDense = "dense";  // in a list of formats: no sparse ones, no FP16 accumulator
constexpr std::string_view kNcuRoofline = "ncu-roofline";

std::string_view take(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const auto part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return part;
}

std::vector<PassRow> parse_rows(std::string_view csv) {
  std::vector<PassRow> rows;
  auto header = take(csv, '\n');
  for (int skip = 0; skip < 3; ++skip) take(header, ',');
  while (!csv.empty()) {
    auto line = take(csv, '\n');
    PassRow row;
    row.question = take(line, ',');
    row.formats = take(line, ',');
    row.fingerprint = take(line, ',');
    auto chips = header;
    while (!line.empty()) {
      const auto cell = take(line, ' ');
      const auto chip = take(chips, ' ');
      if (chip.empty()) throw std::logic_error("collection_passes.csv: more counts than chips");
      if (cell != "-") row.passes.emplace(chip, std::stoi(std::string(cell)));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<int> count_in(const PassRow& row, const Target& target) {
  const auto* chip = MetricMatrix::instance().chip(target.chip);
  if (chip == nullptr) return std::nullopt;
  const auto it = row.passes.find(chip->like);
  return it == row.passes.end() ? std::nullopt : std::optional<int>(it->second);
}

std::optional<int> count_of(std::string_view question, std::string_view formats, const Target& target) {
  for (const auto& row : pass_rows())
    if (row.question == question && row.formats == formats) return count_in(row, target);
  return std::nullopt;
}

bool has_format(const TensorLeaf& leaf, std::string_view format) {
  if (to_string(leaf.precision.type) == format) return true;
  const auto parts = members(leaf.precision.type);
  return std::any_of(parts.begin(), parts.end(), [&](NumberType type) { return to_string(type) == format; });
}

std::set<std::string> as_set(std::span<const std::string> names) { return {names.begin(), names.end()}; }

// What every format in `leaves` adds by itself, on top of the set without any.
std::optional<int> sum_of_additions(const Target& target, std::string_view question,
                                    const std::set<std::string>& leaves) {
  const auto without = count_of(question, "none", target);
  if (!without) return std::nullopt;
  std::set<std::string> open = leaves;
  int sum = *without;
  for (const auto& row : pass_rows()) {
    if (row.question != question || row.formats.find('+') != std::string::npos || row.formats == "all") continue;
    std::size_t covered = 0;
    for (const auto& leaf : leaves_of(target, row.formats)) covered += open.erase(leaf);
    if (covered > 0) sum += count_in(row, target).value_or(*without) - *without;
  }
  return open.empty() ? std::optional<int>(sum) : std::nullopt;
}

}  // namespace

std::span<const PassRow> pass_rows() {
  static const auto rows = parse_rows(data::collection_passes_csv());
  return rows;
}

std::vector<std::string> leaves_of(const Target& target, std::string_view formats) {
  std::vector<std::string> names;
  const auto* chip = MetricMatrix::instance().chip(target.chip);
  if (chip == nullptr) return names;
  for (const auto& leaf : tensor_leaves(chip->like)) {
    bool wanted = formats == "all", dense = false;
    for (auto list = formats; !list.empty();) {
      const auto format = take(list, '+');
      wanted = wanted || has_format(leaf, format);
      dense = dense || format == kDense;
    }
    const bool usual = !leaf.precision.sparse && leaf.precision.accumulate != Accumulate::acc16;
    if (wanted && (usual || !dense)) names.push_back(leaf.metric);
  }
  return names;
}

std::optional<Passes> passes_of(const Target& target, Question question, std::span<const std::string> leaves) {
  const auto wanted = as_set(leaves);
  std::optional<Passes> best;
  const auto offer = [&](std::optional<int> count, bool exact) {
    if (!count || (best && best->exact)) return;
    if (exact || !best || *count < best->count) best = Passes{*count, exact};
  };
  for (const auto& row : pass_rows()) {
    if (row.question != to_string(question)) continue;
    const auto held = as_set(leaves_of(target, row.formats));
    if (held == wanted)
      offer(count_in(row, target), true);
    else if (std::includes(held.begin(), held.end(), wanted.begin(), wanted.end()))
      offer(count_in(row, target), false);
  }
  offer(sum_of_additions(target, to_string(question), wanted), false);
  return best;
}

std::optional<int> passes_of_ncu_roofline_set(const Target& target) { return count_of(kNcuRoofline, "all", target); }
std::optional<int> passes_of_types_run(const Target& target) { return count_of(kTypes, "all", target); }

std::vector<std::string> metrics_of_row(std::string_view question, std::string_view formats, const Target& target,
                                        const MetricMatrix& matrix) {
  const auto declared = declarations(target);
  if (question == kTypes) return types_metrics(declared, target, matrix);
  for (const auto known : {Question::table, Question::hierarchy, Question::diagnose, Question::all})
    if (to_string(known) == question)
      return select(declared, target, known, leaves_of(target, formats), matrix).metrics;
  return {};
}

std::string fingerprint(std::string_view question, std::string_view formats, const MetricMatrix& matrix) {
  // FNV-1a, 64 bits: the same on every machine.
  std::uint64_t hash = 14695981039346656037ULL;
  const auto mix = [&](std::string_view text) {
    for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ULL;
  };
  for (const auto& chip : matrix.chips()) {
    if (chip.like != chip.name) continue;
    mix(chip.name);
    for (const auto& metric : metrics_of_row(question, formats, {chip.name, chip.compute_capability, ""}, matrix)) {
      mix(",");
      mix(metric);
    }
    mix("\n");
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace roofline::collect
