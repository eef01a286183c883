#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/chips.csv.h"
#include "data/machine-sources.csv.h"
#include "data/machines.csv.h"
#include "machines/entry.h"
#include "machines/lookup.h"
#include "machines/table.h"
#include "machines/user_file.h"
#include "roofline/machines.h"

namespace roofline {
namespace {

using machines::fail;
using machines::RawFigure;

struct RawMachine {
  std::string id;
  MachineFacts facts;
};

bool may_repeat(std::string_view key) { return key == "alias" || key == "short_name"; }

std::vector<RawMachine> read_machines(std::string_view text, const std::string& label) {
  const auto table = machines::read_table(text, label);
  if (table.header != std::vector<std::string>{"machine", "key", "value", "unit", "source", "note"})
    fail(label, 1, "unknown-key", fmt::format("columns {}", fmt::join(table.header, ",")),
         "machine,key,value,unit,source,note", "correct the header");
  std::vector<RawMachine> list;
  for (const auto& row : table.rows) {
    const auto& c = row.cells;
    if (c[0].empty())
      fail(label, row.line, "missing-key", "a line without machine", "a machine id", "name the machine");
    const auto known = std::find_if(list.begin(), list.end(), [&](const RawMachine& m) { return m.id == c[0]; });
    if (known != list.end() && known + 1 != list.end())
      fail(label, row.line, "duplicate", "machine '" + c[0] + "' again", "all its lines together", "rename one");
    auto& machine = known == list.end() ? list.emplace_back(RawMachine{c[0], {}}) : *known;
    auto figure = machines::read_figure(RawFigure{c[1], c[2], c[3], c[4], c[5], row.line}, label);
    if (!may_repeat(figure.key) && machine.facts.find(figure.key) != nullptr)
      fail(label, row.line, "duplicate", fmt::format("{} of '{}' again", figure.key, c[0]), "one line per key",
           "keep one");
    machine.facts.figures.push_back(std::move(figure));
  }
  return list;
}

// FNV-1a: names the data that a report was made with.
std::string fingerprint(std::initializer_list<std::string_view> texts) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto text : texts)
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:08x}", hash >> 32);
}

// Clocks and rates are printed rounded: 1.5 % tells 2.43 Gbit/s from 3.02 and 28.0 from 30.0.
bool close(double a, double b) { return std::abs(a - b) <= 0.015 * std::max(a, b); }

bool contradicts(const MachineFacts& facts, const Machine& machine, const DeviceInfo& device) {
  const auto bus = facts.value("bus_width");
  if (bus && device.memory_bus_bits && *bus != *device.memory_bus_bits) return true;
  const auto& capability = machine.compute_capability;
  if (!device.compute_capability.empty() && !capability.empty() && device.compute_capability != capability) return true;
  // Fewer SMs than the part has is a MIG slice; more is another part under the same name.
  return machine.sm_count && device.sm_count && *device.sm_count > *machine.sm_count;
}

bool fits_unnamed(const MachineFacts& facts, const Machine& machine, const DeviceInfo& device) {
  if (contradicts(facts, machine, device) || machine.sm_count != device.sm_count) return false;
  const auto pin = facts.value("pin_rate");
  const auto bus = facts.value("bus_width");
  return pin && bus && close(*pin / 2, *device.max_memory_clock_hz);
}

std::optional<MachineCatalogue>& with_users() {
  static std::optional<MachineCatalogue> catalogue;
  return catalogue;
}

}  // namespace

const Figure* MachineFacts::find(std::string_view key) const {
  const auto it = std::find_if(figures.begin(), figures.end(), [&](const Figure& f) { return f.key == key; });
  return it == figures.end() ? nullptr : &*it;
}

std::optional<double> MachineFacts::value(std::string_view key) const {
  const auto* figure = find(key);
  return figure == nullptr ? std::nullopt : figure->value;
}

std::string_view MachineFacts::text(std::string_view key) const {
  const auto* figure = find(key);
  return figure == nullptr ? std::string_view{} : std::string_view(figure->text);
}

std::vector<std::string_view> MachineFacts::texts(std::string_view key) const {
  std::vector<std::string_view> list;
  for (const auto& figure : figures)
    if (figure.key == key) list.emplace_back(figure.text);
  return list;
}

std::optional<double> ChipRates::rate(const Precision& precision) const {
  for (const auto& [p, r] : per_sm_clock)
    if (p == precision) return r;
  return std::nullopt;
}

double ChipRates::sparse_factor(NumberType type) const {
  if (std::find(sparse_types.begin(), sparse_types.end(), type) == sparse_types.end()) return 1;
  return machines::sparsity_factor(sparsity).value_or(1);
}

const MachineCatalogue& MachineCatalogue::built_in() {
  static const MachineCatalogue catalogue =
      parse(data::machines_csv(), data::chips_csv(), data::machine_sources_csv(), "data/machines.csv");
  return catalogue;
}

const MachineCatalogue& MachineCatalogue::instance() { return with_users() ? *with_users() : built_in(); }

void MachineCatalogue::add_to_instance(std::span<const MachineFile> files) { with_users() = instance().with(files); }

MachineCatalogue MachineCatalogue::parse(std::string_view machine_text, std::string_view chip_text,
                                         std::string_view source_text, const std::string& label) {
  MachineCatalogue catalogue;
  catalogue.chips_ = machines::read_chips(chip_text, "data/chips.csv");
  for (auto& row : machines::read_table(source_text, "data/machine-sources.csv").rows)
    catalogue.sources_.emplace_back(row.cells.at(0), row.cells.at(1));
  for (auto& raw : read_machines(machine_text, label)) {
    const auto rates_id = raw.facts.text("rates");
    const auto* rates = catalogue.rates(rates_id);
    if (!rates_id.empty() && rates == nullptr)
      fail(label, raw.facts.find("rates")->line, "unknown-rates", fmt::format("rates '{}'", rates_id),
           "an id of data/chips.csv", "correct it");
    for (const auto& figure : raw.facts.figures)
      for (const auto& key : figure.sources)
        if (catalogue.source_citation(key).empty())
          fail(label, figure.line, "unknown-source", "source '" + key + "'", "a key of data/machine-sources.csv",
               "add the source");
    catalogue.machines_.push_back(machines::build_machine(std::move(raw.id), raw.facts, rates, label));
    catalogue.facts_.push_back(std::move(raw.facts));
  }
  catalogue.version_ = fingerprint({machine_text, chip_text, source_text});
  catalogue.index_names(label);
  return catalogue;
}

MachineCatalogue MachineCatalogue::with(std::span<const MachineFile> files) const {
  auto merged = *this;
  for (const auto& file : files) {
    merged.add(file);
    merged.version_ = fingerprint({merged.version_, file.text});
  }
  merged.index_names("data/machines.csv");
  return merged;
}

void MachineCatalogue::add(const MachineFile& file) {
  auto user = machines::read_user_file(file.text, file.path);
  const auto& facts = user.facts;
  const auto rates_id = facts.text("rates");
  const auto* chip = rates(rates_id);
  if (!rates_id.empty() && chip == nullptr)
    fail(file.path, facts.find("rates")->line, "unknown-rates", fmt::format("rates '{}'", rates_id),
         "an id of the table 'Operations per clock and SM' in docs/machines.md", "correct it, or leave it out");
  auto machine = machines::build_machine(user.id, facts, chip, file.path);
  const auto same = std::find_if(machines_.begin(), machines_.end(), [&](const Machine& m) { return m.id == user.id; });
  if (same == machines_.end()) {
    machines_.push_back(std::move(machine));
    facts_.push_back(std::move(user.facts));
    return;
  }
  auto& known = facts_[static_cast<std::size_t>(same - machines_.begin())];
  if (!known.origin.empty())
    fail(file.path, facts.figures.front().line, "duplicate",
         fmt::format("machine '{}', known from {}", user.id, known.origin), "one file per machine",
         "rename one or remove one of the files");
  *same = std::move(machine);
  known = std::move(user.facts);
}

// Users' machines come first: theirs are the names that ours then have to do without.
void MachineCatalogue::index_names(const std::string& label) {
  names_.clear();
  words_.assign(machines_.size(), {});
  for (const bool users : {true, false})
    for (std::size_t i = 0; i < machines_.size(); ++i)
      if (users != facts_[i].origin.empty()) index_names_of(i, users ? machines::path_of(facts_[i]) : label);
}

void MachineCatalogue::index_names_of(std::size_t i, const std::string& label) {
  const auto add = [&](std::string_view name, bool short_name) {
    auto key = machines::normalize(name);
    for (auto& word : machines::split_words(key)) words_[i].push_back(std::move(word));
    const auto known = std::find_if(names_.begin(), names_.end(), [&](const Name& n) { return n.key == key; });
    if (known == names_.end()) return names_.push_back({std::move(key), i, short_name});
    const bool yields = facts_[i].origin.empty() && !facts_[known->machine].origin.empty();
    if (known->machine != i && !yields)
      fail(label, facts_[i].figures.front().line, "duplicate",
           fmt::format("name '{}' of '{}' and '{}'", name, machines_[known->machine].id, machines_[i].id),
           "one machine per name", "rename one");
  };
  if (facts_[i].find("driver_name") != nullptr) add(machines_[i].name, false);
  for (const auto alias : facts_[i].texts("alias")) add(alias, false);
  add(machines_[i].id, true);
  for (const auto name : facts_[i].texts("short_name")) add(name, true);
  for (auto& word : machines::split_words(machines::normalize(facts_[i].text("name"))))
    words_[i].push_back(std::move(word));
}

const MachineFacts& MachineCatalogue::facts(const Machine& machine) const {
  return facts_.at(static_cast<std::size_t>(&machine - machines_.data()));
}

const ChipRates* MachineCatalogue::rates(std::string_view id) const {
  const auto it = std::find_if(chips_.begin(), chips_.end(), [&](const ChipRates& c) { return c.id == id; });
  return it == chips_.end() ? nullptr : &*it;
}

std::string_view MachineCatalogue::source_citation(std::string_view key) const {
  for (const auto& [k, citation] : sources_)
    if (k == key) return citation;
  return {};
}

const Machine* MachineCatalogue::find(std::string_view name) const {
  const auto key = machines::normalize(name);
  for (const auto& n : names_)
    if (n.key == key) return &machines_[n.machine];
  const auto query = machines::split_words(key);
  if (std::all_of(query.begin(), query.end(), machines::is_generic)) return nullptr;
  const Machine* only = nullptr;
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    if (machines::matching_words(query, words_[i]) != query.size()) continue;
    if (only != nullptr) return nullptr;
    only = &machines_[i];
  }
  return only;
}

std::vector<std::string> MachineCatalogue::suggestions(std::string_view name) const {
  constexpr std::size_t kMost = 5;
  const auto key = machines::normalize(name);
  const auto query = machines::split_words(key);
  struct Scored {
    double score;
    std::size_t machine;
  };
  std::vector<Scored> scored;
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    std::size_t best = std::string::npos;
    std::size_t longest = 1;
    for (const auto& n : names_) {
      if (n.machine != i) continue;
      const auto distance = machines::edit_distance(key, n.key);
      if (distance >= best) continue;
      best = distance;
      longest = std::max({key.size(), n.key.size(), std::size_t{1}});
    }
    double words = 0;
    for (const auto& q : query)
      if (!machines::is_generic(q) && machines::matching_words({q}, words_[i]) > 0) words += 1;
    scored.push_back({words - static_cast<double>(best) / static_cast<double>(longest), i});
  }
  std::stable_sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) { return a.score > b.score; });
  std::vector<std::string> ids;
  for (const auto& s : scored)
    if (s.score > -0.5 && ids.size() < kMost) ids.push_back(machines_[s.machine].id);
  return ids;
}

const Machine* MachineCatalogue::match(const DeviceInfo& device) const {
  if (!device.name.empty()) {
    const auto key = machines::normalize(device.name);
    for (const auto& n : names_)
      if (!n.short_name && n.key == key)
        return contradicts(facts_[n.machine], machines_[n.machine], device) ? nullptr : &machines_[n.machine];
    return nullptr;
  }
  if (device.compute_capability.empty() || !device.sm_count || !device.max_memory_clock_hz || !device.memory_bus_bits)
    return nullptr;
  for (const bool users : {true, false}) {
    std::size_t fitting = 0;
    const Machine* only = nullptr;
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      if (users == facts_[i].origin.empty() || !fits_unnamed(facts_[i], machines_[i], device)) continue;
      ++fitting;
      only = &machines_[i];
    }
    if (fitting > 0) return fitting == 1 ? only : nullptr;
  }
  return nullptr;
}

const ChipRates* chip_rates(std::string_view compute_capability) {
  for (const auto& chip : MachineCatalogue::instance().chips())
    if (chip.any_part && chip.compute_capability == compute_capability) return &chip;
  return nullptr;
}

PipeGroups pipe_groups(std::string_view compute_capability) {
  const auto* chip = chip_rates(compute_capability);
  return chip == nullptr ? PipeGroups{} : chip->pipe_groups;
}

}  // namespace roofline
