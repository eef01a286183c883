// Prints everything that was read from one report, one fact a line, for comparison with another decoder. Numbers are
// the bits of a double, so that equal means equal.
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>

#include "roofline/profile.h"

namespace {

using roofline::Launch;
using roofline::Profile;

std::string bits(double value) {
  return value != value ? "nan" : fmt::format("{:016x}", std::bit_cast<std::uint64_t>(value));
}

// Tabs and line ends in texts would break the lines.
std::string flat(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
  return out;
}

void print_launch(const Profile& profile, const Launch& launch) {
  fmt::print("launch\t{}\t{}\t{}\t{}\n", launch.ordinal, flat(launch.name), flat(launch.function),
             flat(launch.mangled));
  fmt::print("shape\t{},{},{}\t{},{},{}\n", launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
             launch.block.z);
  fmt::print("place\t{}\t{}\t{}\n", launch.context, launch.stream, profile.devices.at(launch.device).name);
  fmt::print("state\t{}\t{}\n", launch.failed ? "failed" : "ok", to_string(launch.time_basis));
  for (const auto& [id, value] : launch.metrics.values()) {
    fmt::print("metric\t{}\t{}\n", profile.metric_name(id), bits(value));
  }
  for (const auto& [id, text] : launch.metrics.texts()) {
    fmt::print("text\t{}\t{}\n", profile.metric_name(id), flat(text));
  }
  for (const auto& line : roofline::section_rooflines(profile, launch)) {
    fmt::print("roofline\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", line.section, line.chart, line.label,
               line.roof ? "roof" : "point", bits(line.work), bits(line.traffic), line.work_expression,
               line.traffic_expression);
  }
  for (const auto& rule : roofline::rule_results(profile, launch)) {
    fmt::print("rule\t{}\t{}\n", rule.rule, rule.messages.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    roofline::ReadOptions options;
    options.keep_all_metrics = true;
    const auto profile = roofline::open_profile(argv[1], options);
    fmt::print("producer\t{}\n", profile.producer);
    for (const auto& launch : profile.launches) print_launch(profile, launch);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  }
  return 0;
}
