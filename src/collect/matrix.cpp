#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "data/metric_matrix.csv.h"
#include "roofline/collect.h"

namespace roofline::collect {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::logic_error("metric_matrix.csv: " + what); }

std::string_view take(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const auto part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return part;
}

// "GA104:8.6=GA102": a chip, its compute capability and, where there is one, the chip it equals.
MetricMatrix::Chip parse_chip(std::string_view word) {
  const auto name = take(word, ':');
  const auto capability = take(word, '=');
  if (name.empty() || capability.empty()) fail("a chip without a compute capability");
  return {std::string(name), std::string(capability), std::string(word.empty() ? name : word)};
}

// '-': not there; else one digit of base 36.
std::optional<int> parse_cell(char cell) {
  if (cell >= '0' && cell <= '9') return cell - '0';
  if (cell >= 'a' && cell <= 'z') return cell - 'a' + 10;
  return std::nullopt;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

MetricMatrix MetricMatrix::parse(std::string_view csv) {
  MetricMatrix matrix;
  auto header = take(csv, '\n');
  if (take(header, ',') != "metric") fail("no header");
  std::size_t columns = 0;
  while (!header.empty()) {
    const auto& chip = matrix.chips_.emplace_back(parse_chip(take(header, ' ')));
    const auto like = matrix.column_of_.find(chip.like);
    if (chip.like != chip.name && like == matrix.column_of_.end()) fail(chip.name + " equals a chip that is not there");
    matrix.column_of_.emplace(chip.name, chip.like == chip.name ? columns++ : like->second);
  }
  while (!csv.empty()) {
    auto line = take(csv, '\n');
    if (line.empty()) continue;
    const auto name = take(line, ',');
    if (line.size() != columns) fail(fmt::format("{}: {} chips where {} are expected", name, line.size(), columns));
    if (!matrix.cells_.emplace(name, line).second) fail(fmt::format("{} stands twice", name));
  }
  return matrix;
}

const MetricMatrix& MetricMatrix::instance() {
  static const auto matrix = parse(data::metric_matrix_csv());
  return matrix;
}

const MetricMatrix::Chip* MetricMatrix::chip(std::string_view name) const {
  const auto it = std::find_if(chips_.begin(), chips_.end(), [&](const Chip& c) { return same_word(c.name, name); });
  return it == chips_.end() ? nullptr : &*it;
}

std::optional<int> MetricMatrix::passes(std::string_view metric, std::string_view name) const {
  auto column = column_of_.find(name);
  if (column == column_of_.end()) {
    const auto* known = chip(name);
    if (known == nullptr) return std::nullopt;
    column = column_of_.find(known->name);
  }
  auto it = cells_.find(metric);
  if (it == cells_.end()) it = cells_.find(std::string(metric.substr(0, metric.find('.'))) + ".*");
  if (it == cells_.end()) return std::nullopt;
  return parse_cell(it->second[column->second]);
}

std::optional<Target> find_target(std::string_view chip_or_capability, std::string_view device) {
  const auto& matrix = MetricMatrix::instance();
  const auto* chip = matrix.chip(chip_or_capability);
  if (chip == nullptr) chip = matrix.chip(tensor_chip_name(chip_or_capability, device));
  if (chip == nullptr) return std::nullopt;
  return Target{chip->name, chip->compute_capability, std::string(device)};
}

}  // namespace roofline::collect
