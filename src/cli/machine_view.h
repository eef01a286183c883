// Machines as documents and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

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
Document machine_document(const MachineCatalogue& catalogue, const ShownMachine& shown, bool picture);
std::string machine_json(const MachineCatalogue& catalogue, const ShownMachine& shown);

// What differs between two machines; `all` also lists what is equal.
Document machine_diff(const MachineCatalogue& catalogue, const Machine& a, const Machine& b, bool all);

// The roofs in characters, log-log, one text per line; empty where DRAM or all peaks are unknown.
std::vector<std::string> roofline_picture(const Ceiling& ceiling);

}  // namespace roofline::cli
