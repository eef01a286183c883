// A command of the command line: one file each.
#pragma once

#include <CLI/CLI.hpp>

namespace roofline::cli {

// Exit codes, the same for every command. Output that cannot be written is wrong usage: kUnreadable is for input alone.
enum ExitCode : int { kOk = 0, kCheckFailed = 1, kUsage = 2, kUnreadable = 3, kInconclusive = 4 };

class Command {
 public:
  virtual ~Command() = default;
  // Adds its subcommand with options to the application.
  virtual void setup(CLI::App& app) = 0;
  // Whether the user chose this command.
  virtual bool chosen() const = 0;
  virtual int run() = 0;
};

}  // namespace roofline::cli
