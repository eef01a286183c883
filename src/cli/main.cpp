// Parses the command line, runs one command, and turns errors into one line and an exit code.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/collect_command.h"
#include "cli/compare_command.h"
#include "cli/explain_command.h"
#include "cli/history_command.h"
#include "cli/machine_command.h"
#include "cli/model_command.h"
#include "cli/output.h"
#include "cli/plan_command.h"
#include "cli/report_command.h"
#include "cli/timeline_command.h"
#include "cli/user_machines.h"
#include "roofline/error.h"

namespace {

using roofline::cli::Command;

// `roofline FILE...` means `roofline report FILE...`.
std::vector<std::string> with_default_command(int argc, char** argv, const CLI::App& app) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) return arguments;
  const auto& first = arguments.front();
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const bool named =
      std::any_of(commands.begin(), commands.end(), [&](const CLI::App* c) { return c->get_name() == first; });
  const bool global = first == "-h" || first == "--help" || first == "--version";
  if (!named && !global) arguments.insert(arguments.begin(), "report");
  return arguments;
}

int fail(int code, const std::string& message) {
  fmt::print(stderr, "roofline: {}\n", message);
  return code;
}

int parse_and_run(CLI::App& app, const std::vector<std::unique_ptr<Command>>& commands,
                  std::vector<std::string> arguments) {
  if (arguments.empty()) {
    fmt::print(stderr, "{}", app.help());
    return roofline::cli::kUsage;
  }
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return fail(roofline::cli::kUsage, fmt::format("{} (see roofline --help)", e.what()));
  }
  roofline::cli::protect_inputs(app);
  roofline::cli::load_user_machines();
  for (const auto& command : commands)
    if (command->chosen()) return command->run();
  return roofline::cli::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // `roofline ... | head` ends quietly
  CLI::App app("Roofline analysis of GPU kernels: what each one achieves of the roof that binds it", "roofline");
  app.set_version_flag("--version", ROOFLINE_VERSION);
  app.require_subcommand(1);
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(roofline::cli::make_report_command());
  commands.push_back(roofline::cli::make_explain_command());
  commands.push_back(roofline::cli::make_compare_command());
  commands.push_back(roofline::cli::make_timeline_command());
  commands.push_back(roofline::cli::make_model_command());
  commands.push_back(roofline::cli::make_what_if_command());
  commands.push_back(roofline::cli::make_plan_command());
  commands.push_back(roofline::cli::make_machine_command());
  commands.push_back(roofline::cli::make_history_command());
  commands.push_back(roofline::cli::make_collect_command());
  for (const auto& command : commands) command->setup(app);
  try {
    return parse_and_run(app, commands, with_default_command(argc, argv, app));
  } catch (const roofline::InputError& e) {
    return fail(roofline::cli::kUnreadable, e.what());
  } catch (const roofline::UsageError& e) {
    return fail(roofline::cli::kUsage, e.what());
  } catch (const std::bad_alloc&) {
    return fail(roofline::cli::kUnreadable, "out of memory");
  } catch (const std::exception& e) {
    return fail(roofline::cli::kUnreadable, e.what());
  }
}
