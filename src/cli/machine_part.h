// One of `machine`'s own commands.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace roofline::cli {

class MachinePart {
 public:
  virtual ~MachinePart() = default;
  virtual void setup(CLI::App& machine) = 0;
  virtual int run() = 0;
  bool chosen() const { return command_->parsed(); }

 protected:
  CLI::App* command_ = nullptr;
};

std::unique_ptr<MachinePart> make_measure_part();

}  // namespace roofline::cli
