// What the tests of the report reader share.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "roofline/profile.h"
#include "support/ncu_rep_writer.h"

namespace roofline::testing {

inline ReadOptions keep_all() {
  ReadOptions options;
  options.keep_all_metrics = true;
  return options;
}

inline std::optional<double> number(const Profile& profile, std::size_t launch, std::string_view name) {
  for (const auto& [id, value] : profile.launches.at(launch).metrics.values()) {
    if (profile.metric_name(id) == name) return value;
  }
  return std::nullopt;
}

inline std::string text(const Profile& profile, std::size_t launch, std::string_view name) {
  for (const auto& [id, value] : profile.launches.at(launch).metrics.texts()) {
    if (profile.metric_name(id) == name) return value;
  }
  return "(none)";
}

inline bool warns(const Profile& profile, std::string_view code) {
  for (const auto& warning : profile.warnings) {
    if (warning.code == code) return true;
  }
  return false;
}

// Kind of the error that reading `bytes` gives; "" when it is read. Every error must be one line that names the file.
inline std::string error_kind(std::string_view bytes, const ReadOptions& options = keep_all()) {
  try {
    read_profile(bytes, "input.bin", options);
  } catch (const InputError& error) {
    const std::string_view what = error.what();
    EXPECT_TRUE(what.starts_with("input.bin:")) << what;
    EXPECT_EQ(what.find('\n'), std::string_view::npos) << what;
    EXPECT_EQ(error.problem().path, "input.bin");
    return error.problem().kind;
  }
  return "";
}

inline ReportResult saxpy(double nanoseconds = 12345.0) {
  ReportResult kernel{.mangled = "_Z5saxpyif",
                      .function = "saxpy",
                      .demangled = "saxpy(int, float)",
                      .grid = {4096, 2, 1},
                      .block = {256, 1, 1}};
  kernel.metrics = gpu_metrics({});
  kernel.metrics.push_back({"gpu__time_duration.sum", nanoseconds});
  kernel.metrics.push_back({"launch__grid_size", std::uint64_t{8192}});
  kernel.metrics.push_back({"breakdown:sm__throughput", std::string("a,b")});
  return kernel;
}

// Two launches, a module, a session: what `ncu -o` writes for a small program.
inline NcuRepWriter small_report() {
  NcuRepWriter writer;
  writer.session({.devices = {report_device({})}, .command_line = "ncu -o out ./a.out"});
  writer.source(1,
                "\x7f"
                "ELF not really");
  writer.result(saxpy());
  writer.result(saxpy(23456.0));
  return writer;
}

}  // namespace roofline::testing
