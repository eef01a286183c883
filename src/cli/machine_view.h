// Machines as documents and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "roofline/document.h"
#include "roofline/machines.h"

namespace roofline::cli {

// One line per machine; `vendor` empty for all, else as some machine writes it, in any case. Throws UsageError.
std::vector<const Machine*> machines_of(const MachineCatalogue& catalogue, const std::string& vendor);
Document machine_list(const MachineCatalogue& catalogue, const std::vector<const Machine*>& machines);
std::string machine_list_json(const MachineCatalogue& catalogue, const std::vector<const Machine*>& machines);

// A machine as `show` has it: with an at-clock ceiling where the user named clocks.
struct ShownMachine {
  const Machine* machine;
  const MachineFacts* facts;
  std::optional<Ceiling> at_clock;
};
// In a terminal its roofline stands above the tables.
void print_machine(const MachineCatalogue& catalogue, const ShownMachine& shown, const Output& output);

// What differs between two machines; `all` also lists what is equal.
Document machine_diff(const MachineCatalogue& catalogue, const Machine& a, const Machine& b, bool all);

}  // namespace roofline::cli
