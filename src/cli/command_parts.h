// Commands with commands of their own: machine show, history gate.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cli/command.h"

namespace roofline::cli {

// One of a command's own commands; setup() creates `command_`.
class CommandPart {
 public:
  virtual ~CommandPart() = default;
  virtual void setup(CLI::App& parent) = 0;
  virtual int run() = 0;
  bool chosen() const { return command_->parsed(); }

 protected:
  CLI::App* command_ = nullptr;
};

// A command that is nothing but its parts, of which one must be named.
class CommandOfParts : public Command {
 public:
  CommandOfParts(const char* name, const char* description) : name_(name), description_(description) {}
  void add(std::unique_ptr<CommandPart> part) { parts_.push_back(std::move(part)); }

  void setup(CLI::App& app) override {
    command_ = app.add_subcommand(name_, description_);
    command_->require_subcommand(1);
    for (const auto& part : parts_) part->setup(*command_);
  }
  bool chosen() const override { return command_->parsed(); }
  int run() override {
    for (const auto& part : parts_)
      if (part->chosen()) return part->run();
    return kUsage;
  }

 private:
  CLI::App* command_ = nullptr;
  const char* name_;
  const char* description_;
  std::vector<std::unique_ptr<CommandPart>> parts_;
};

}  // namespace roofline::cli
