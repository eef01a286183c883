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

struct KeptMachine {
  std::string id;
  std::filesystem::path path;
  bool replaced = false;                 // one of the same id that was added before
  bool hides_ours = false;               // the catalogue's own of that id
  std::vector<std::string> takes_names;  // that meant another machine of the catalogue until now
};

// Throws UsageError where it is no id for a machine, or there is no folder to keep machines in.
void check_machine_id(const std::string& id);

// Checks the file against the catalogue and the user's other machines and keeps it among them. Throws InputError where
// it is faulty; UsageError where there is no folder, or a machine of that id was added before and is not to be
// replaced.
KeptMachine keep_user_machine(const MachineFile& file, bool replace);

// Makes every *.toml of that folder part of the catalogue. Call before the first look-up. Throws InputError.
void load_user_machines();

}  // namespace roofline::cli
