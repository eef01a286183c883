// Which roofs apply.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/launch.h"
#include "roofline/machine.h"

namespace roofline {

// The compiled-in catalogue of data/machines.csv.
class MachineCatalogue {
 public:
  static const MachineCatalogue& instance();
  const std::vector<Machine>& machines() const { return machines_; }
  std::string_view version() const { return version_; }

  // By id, driver name, alias, or a distinctive part of one; nullptr when nothing or more than one fits.
  const Machine* find(std::string_view name) const;
  // Closest ids, for "did you mean".
  std::vector<std::string> suggestions(std::string_view name) const;
  // By what a profile knows of its device; nullptr when undecided.
  const Machine* match(const DeviceInfo& device) const;

 private:
  MachineCatalogue();
  std::vector<Machine> machines_;
  std::vector<std::vector<std::string>> aliases_;
  std::string version_;
};

// Chip facts that hold per compute capability (FLOPs per clock and SM, pipe groups), for reports whose GPU the
// catalogue does not know.
PipeGroups pipe_groups(std::string_view compute_capability);

// The roofs at the clocks this launch ran at: `*.peak_sustained x *.cycles_elapsed.avg.per_second` where the report
// has them, else rates per clock and SM of the chip times SM count and clock. nullopt when the report names no clock.
// `catalogue` may be null.
std::optional<Ceiling> at_clock_ceiling(const Launch& launch, const DeviceInfo& device, const Machine* catalogue);

}  // namespace roofline
