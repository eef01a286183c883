// Machines that users describe in TOML.
#pragma once

#include <string>
#include <string_view>

#include "roofline/machines.h"

namespace roofline::machines {

struct UserMachine {
  std::string id;
  MachineFacts facts;
};

// One machine from the text of a file: `id`, and the keys of data/machines.csv with units beside the numbers, as in
// dram = "3352 GB/s" or dram = { value = 3352, unit = "GB/s", source = "...", note = "..." }. Throws InputError.
UserMachine read_user_file(std::string_view toml, const std::string& path);

// The path behind MachineFacts::origin.
std::string path_of(const MachineFacts& facts);

}  // namespace roofline::machines
