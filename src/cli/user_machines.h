// Machines that the user described in files of their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "roofline/machines.h"

namespace roofline::cli {

// $XDG_CONFIG_HOME/roofline/machines, else ~/.config/roofline/machines; empty where neither variable helps.
std::filesystem::path user_machine_folder();

// Throws InputError where the file cannot be read.
MachineFile read_machine_file(const std::filesystem::path& path);

// The *.toml of that folder, by name. Throws InputError.
std::vector<MachineFile> user_machine_files();

// Makes every *.toml of that folder part of the catalogue. Call before the first look-up. Throws InputError.
void load_user_machines();

}  // namespace roofline::cli
