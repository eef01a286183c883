// Which machine stands behind each device of each profile.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roofline/analysis.h"

namespace roofline {

class DeviceMachines {
 public:
  // Throws UsageError for a machine name that the catalogue does not know.
  DeviceMachines(std::span<const Profile> profiles, const std::string& machine_option);

  // Catalogue row of a device; nullptr when unknown.
  const Machine* catalogue(std::size_t profile, std::uint32_t device) const;
  // Index into machines(); nullopt when nothing at all is known of the device.
  std::optional<std::size_t> index(std::size_t profile, std::uint32_t device) const;
  // One entry per distinct machine, in order of appearance.
  std::vector<Machine>& machines() { return machines_; }
  const std::vector<ReportWarning>& warnings() const { return warnings_; }

 private:
  struct Entry {
    const Machine* catalogue = nullptr;
    std::optional<std::size_t> index;
  };
  Entry resolve(const Profile& profile, const DeviceInfo* device, const Machine* forced);
  std::optional<std::size_t> add(Machine machine);

  std::map<std::pair<std::size_t, std::uint32_t>, Entry> entries_;
  std::vector<Machine> machines_;
  std::vector<ReportWarning> warnings_;
};

}  // namespace roofline
