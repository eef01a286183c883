#include "cli/machine_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "cli/clock.h"
#include "cli/machine_part.h"
#include "cli/machine_view.h"
#include "cli/output.h"
#include "cli/user_machines.h"
#include "roofline/error.h"

namespace roofline::cli {
namespace {

const MachineCatalogue& catalogue() { return MachineCatalogue::instance(); }

const Machine& machine_named(const std::string& name) {
  if (const auto* machine = catalogue().find(name)) return *machine;
  const auto near = catalogue().suggestions(name);
  if (near.empty()) throw UsageError(fmt::format("unknown machine '{}'; see roofline machine list", name));
  throw UsageError(fmt::format("unknown or ambiguous machine '{}'; did you mean {}?", name, fmt::join(near, ", ")));
}

class ListPart : public MachinePart {
 public:
  void setup(CLI::App& machine) override {
    command_ = machine.add_subcommand("list", "Every machine, one a line");
    command_->add_option("--vendor", vendor_, "Only those of this vendor: NVIDIA, AMD, Intel, ...");
    output_.setup(*command_);
  }
  int run() override {
    const auto machines = machines_of(catalogue(), vendor_);
    output_.print(machine_list(catalogue(), machines), [&] { return machine_list_json(catalogue(), machines); });
    return kOk;
  }

 private:
  std::string vendor_;
  Output output_;
};

class ShowPart : public MachinePart {
 public:
  void setup(CLI::App& machine) override {
    command_ = machine.add_subcommand("show", "One machine: all its ceilings, ridge points, sizes and sources");
    command_->add_option("NAME", name_, "Id, driver name, alias or short name")->required();
    command_->add_option("--clock", clock_, "Also the roofs at this SM clock: 1755, 1.755GHz");
    command_->add_option("--mem-clock", memory_clock_, "Also the roofs at this memory clock (half a pin's data rate)");
    command_->add_flag("--toml", toml_, "Print it as a file for roofline machine add");
    output_.setup(*command_);
  }
  int run() override {
    const auto& machine = machine_named(name_);
    const auto& facts = catalogue().facts(machine);
    if (toml_) {
      fmt::print("{}", to_toml(machine, facts));
      return kOk;
    }
    const ShownMachine shown{&machine, &facts, at_clock(machine)};
    print_machine(catalogue(), shown, output_);
    return kOk;
  }

 private:
  std::optional<Ceiling> at_clock(const Machine& machine) const {
    std::optional<double> sm;
    std::optional<double> memory;
    if (!clock_.empty()) sm = parse_clock(clock_, "--clock");
    if (!memory_clock_.empty()) memory = parse_clock(memory_clock_, "--mem-clock");
    if (!sm && !memory) return std::nullopt;
    return at_clocks(*machine.ceiling(CeilingKind::datasheet), sm, memory);
  }

  std::string name_, clock_, memory_clock_;
  bool toml_ = false;
  Output output_;
};

class AddPart : public MachinePart {
 public:
  void setup(CLI::App& machine) override {
    command_ = machine.add_subcommand("add", "Check a machine's TOML file and keep it for every later look-up");
    command_->add_option("FILE", file_, "The file; roofline machine show NAME --toml prints one to start from")
        ->required();
    command_->add_flag("--replace", replace_, "Take the place of one added before under the same id");
  }

  int run() override {
    const auto kept = keep_user_machine(read_machine_file(file_), replace_);
    fmt::print("{} as {}{}\n", kept.replaced ? "replaced" : "added", kept.path.string(),
               kept.hides_ours ? fmt::format("; it takes the place of the catalogue's own '{}'", kept.id) : "");
    for (const auto& name : kept.takes_names)
      fmt::print(stderr, "roofline: '{}' means this machine from now on, no longer the catalogue's\n", name);
    return kOk;
  }

 private:
  std::string file_;
  bool replace_ = false;
};

class DiffPart : public MachinePart {
 public:
  void setup(CLI::App& machine) override {
    command_ = machine.add_subcommand("diff", "What differs between two machines");
    command_->add_option("A", a_, "A machine")->required();
    command_->add_option("B", b_, "Another one")->required();
    command_->add_flag("--all", all_, "Also list what is equal");
    output_.setup(*command_);
  }
  int run() override {
    output_.print(machine_diff(catalogue(), machine_named(a_), machine_named(b_), all_));
    return kOk;
  }

 private:
  std::string a_, b_;
  bool all_ = false;
  Output output_;
};

}  // namespace

std::unique_ptr<Command> make_machine_command() {
  auto command =
      std::make_unique<CommandOfParts>("machine", "The machines behind the roofs: list, show, add, measure, diff");
  command->add(std::make_unique<ListPart>());
  command->add(std::make_unique<ShowPart>());
  command->add(std::make_unique<AddPart>());
  command->add(make_measure_part());
  command->add(std::make_unique<DiffPart>());
  return command;
}

}  // namespace roofline::cli
