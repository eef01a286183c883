#include "cli/machine_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <fstream>

#include "cli/clock.h"
#include "cli/machine_view.h"
#include "cli/output.h"
#include "cli/user_machines.h"
#include "roofline/error.h"

namespace roofline::cli {
namespace {

namespace fs = std::filesystem;

const MachineCatalogue& catalogue() { return MachineCatalogue::instance(); }

const Machine& machine_named(const std::string& name) {
  if (const auto* machine = catalogue().find(name)) return *machine;
  const auto near = catalogue().suggestions(name);
  if (near.empty()) throw UsageError(fmt::format("unknown machine '{}'; see roofline machine list", name));
  throw UsageError(fmt::format("unknown or ambiguous machine '{}'; did you mean {}?", name, fmt::join(near, ", ")));
}

// One of `machine`'s own commands.
class Part {
 public:
  virtual ~Part() = default;
  virtual void setup(CLI::App& machine) = 0;
  virtual int run() = 0;
  bool chosen() const { return command_->parsed(); }

 protected:
  CLI::App* command_ = nullptr;
};

class ListPart : public Part {
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

class ShowPart : public Part {
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
    output_.print(machine_document(catalogue(), shown, output_.for_terminal()),
                  [&] { return machine_json(catalogue(), shown); });
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

class AddPart : public Part {
 public:
  void setup(CLI::App& machine) override {
    command_ = machine.add_subcommand("add", "Check a machine's TOML file and keep it for every later look-up");
    command_->add_option("FILE", file_, "The file; roofline machine show NAME --toml prints one to start from")
        ->required();
    command_->add_flag("--replace", replace_, "Take the place of one added before under the same id");
  }

  int run() override {
    const auto folder = user_machine_folder();
    if (folder.empty()) throw UsageError("no folder to keep it in: set HOME or XDG_CONFIG_HOME");
    const auto file = read_machine_file(file_);
    const auto id = id_of(file);
    const auto target = folder / (id + ".toml");
    const bool known = fs::exists(target);
    if (known && !replace_)
      throw UsageError(fmt::format("'{}' was added before, as {}; add --replace to replace it", id, target.string()));
    const auto* before = catalogue().find(id);
    const bool ours = before != nullptr && before->id == id && catalogue().facts(*before).origin.empty();
    check_with_others(file, target);
    save(file.text, target);
    fmt::print("{} as {}{}\n", known ? "replaced" : "added", target.string(),
               ours ? fmt::format("; it takes the place of the catalogue's own '{}'", id) : "");
    return kOk;
  }

 private:
  // Checked against a catalogue without users' machines: one that is to be replaced is no contradiction.
  static std::string id_of(const MachineFile& file) {
    const auto merged = MachineCatalogue::built_in().with(std::vector{file});
    for (const auto& machine : merged.machines())
      if (!merged.facts(machine).origin.empty()) return machine.id;
    return {};
  }

  // Replaced or new, it has to get along with all others.
  static void check_with_others(const MachineFile& file, const fs::path& target) {
    auto files = user_machine_files();
    std::erase_if(files, [&](const MachineFile& f) { return f.path == target.string(); });
    files.push_back(file);
    static_cast<void>(MachineCatalogue::built_in().with(files));
  }

  // Renamed into place, so that no half-written file is ever read.
  static void save(const std::string& text, const fs::path& target) {
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    auto draft = target;
    draft += ".new";
    std::ofstream out(draft, std::ios::binary);
    out << text;
    out.close();
    if (out) fs::rename(draft, target, error);
    if (!out || error) {
      fs::remove(draft, error);
      throw std::runtime_error(fmt::format("cannot write '{}'", target.string()));
    }
  }

  std::string file_;
  bool replace_ = false;
};

class DiffPart : public Part {
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

class MachineCommand : public Command {
 public:
  MachineCommand() {
    parts_.push_back(std::make_unique<ListPart>());
    parts_.push_back(std::make_unique<ShowPart>());
    parts_.push_back(std::make_unique<AddPart>());
    parts_.push_back(std::make_unique<DiffPart>());
  }
  void setup(CLI::App& app) override {
    command_ = app.add_subcommand("machine", "The machines behind the roofs: list, show, add, diff");
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
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace

std::unique_ptr<Command> make_machine_command() { return std::make_unique<MachineCommand>(); }

}  // namespace roofline::cli
