#include "analysis/device_machines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "roofline/error.h"
#include "roofline/machine_words.h"
#include "roofline/machines.h"

namespace roofline {
namespace {

std::string unknown_machine(const std::string& name) {
  const auto near = MachineCatalogue::instance().suggestions(name);
  if (near.empty()) return fmt::format("unknown machine '{}'", name);
  return fmt::format("unknown or ambiguous machine '{}'; did you mean {}?", name, fmt::join(near, ", "));
}

std::string unknown_gpu(const DeviceInfo& device) {
  auto name = device.name.empty() ? std::string("GPU that this file could mean") : fmt::format("'{}'", device.name);
  if (!device.compute_capability.empty()) name += fmt::format(" ({})", architecture_words(device.compute_capability));
  return fmt::format(
      "the catalogue has no {}: its roofs are the report's own peaks at the clocks of the run, as far as it holds "
      "them. "
      "For the datasheet's, describe it in a file and run roofline machine add FILE.toml; roofline machine show NAME "
      "--toml prints one to start from",
      name);
}

Machine from_device(const DeviceInfo& device) {
  Machine m;
  m.name = device.name;
  m.compute_capability = device.compute_capability;
  m.sm_count = device.sm_count;
  m.pipe_groups = pipe_groups(device.compute_capability);
  return m;
}

}  // namespace

void require_same_gpu(const std::string& path, const DeviceInfo& device, const Machine& named) {
  const auto* own = MachineCatalogue::instance().match(device);
  const bool other_row = own != nullptr && own->id != named.id;
  const bool other_chip = !device.compute_capability.empty() && !named.compute_capability.empty() &&
                          device.compute_capability != named.compute_capability;
  if (!other_row && !other_chip) return;
  throw UsageError(
      fmt::format("{}: was measured on {} (compute capability {}), not on {}; --machine is for files that "
                  "do not name their GPU",
                  path, device.name.empty() ? "another GPU" : device.name,
                  device.compute_capability.empty() ? "unknown" : device.compute_capability, named.name));
}

DeviceMachines::DeviceMachines(std::span<const Profile> profiles, const std::string& machine_option) {
  const Machine* forced = nullptr;
  if (!machine_option.empty()) {
    forced = MachineCatalogue::instance().find(machine_option);
    if (forced == nullptr) throw UsageError(unknown_machine(machine_option));
  }
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const auto& profile = profiles[i];
    for (std::uint32_t d = 0; d < profile.devices.size(); ++d)
      entries_[{i, d}] = resolve(profile, &profile.devices[d], forced);
    if (profile.devices.empty()) entries_[{i, 0}] = resolve(profile, nullptr, forced);
  }
}

DeviceMachines::Entry DeviceMachines::resolve(const Profile& profile, const DeviceInfo* device, const Machine* forced) {
  const auto& catalogue = MachineCatalogue::instance();
  const Machine* found = forced;
  if (found == nullptr && !profile.machine.empty()) {
    found = catalogue.find(profile.machine);
    if (found == nullptr) warnings_.push_back({"unknown-machine", unknown_machine(profile.machine), std::nullopt});
  }
  if (found == nullptr && device != nullptr) found = catalogue.match(*device);
  if (forced != nullptr && device != nullptr) require_same_gpu(profile.path, *device, *forced);
  if (found != nullptr) return {found, add(*found)};
  if (device == nullptr || (device->name.empty() && device->compute_capability.empty())) return {};
  const auto before = machines_.size();
  const auto index = add(from_device(*device));
  if (machines_.size() > before) warnings_.push_back({"unknown-gpu", unknown_gpu(*device), std::nullopt});
  return {nullptr, index};
}

std::optional<std::size_t> DeviceMachines::add(Machine machine) {
  const auto same = [&](const Machine& m) {
    return m.id == machine.id && m.name == machine.name && m.compute_capability == machine.compute_capability;
  };
  const auto it = std::find_if(machines_.begin(), machines_.end(), same);
  if (it != machines_.end()) return static_cast<std::size_t>(it - machines_.begin());
  machines_.push_back(std::move(machine));
  return machines_.size() - 1;
}

const Machine* DeviceMachines::catalogue(std::size_t profile, std::uint32_t device) const {
  const auto it = entries_.find({profile, device});
  return it == entries_.end() ? nullptr : it->second.catalogue;
}

std::optional<std::size_t> DeviceMachines::index(std::size_t profile, std::uint32_t device) const {
  const auto it = entries_.find({profile, device});
  return it == entries_.end() ? std::nullopt : it->second.index;
}

}  // namespace roofline
