// Small tables in the layouts of `ncu --csv`, written by the tests themselves.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "profile/reader.h"
#include "roofline/metrics.h"

namespace roofline::testing {

inline const std::string kDetailsHeader =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid "
    "Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";

// One row below kDetailsHeader.
struct DetailsRow {
  std::string id = "0";
  std::string kernel = "axpy(float *, int)";
  std::string section = "Command line profiler metrics";
  std::string metric;
  std::string unit;
  std::string value;
  std::string process = "77";
  std::string device = "0";
  std::string cc = "8.0";

  std::string text() const {
    const auto q = [](const std::string& cell) { return "\"" + cell + "\""; };
    return q(id) + "," + q(process) + ",\"app\",\"127.0.0.1\"," + q(kernel) +
           ",\"1\",\"7\",\"(128, 2, 1)\",\"(64, 1, 1)\"," + q(device) + "," + q(cc) + "," + q(section) + "," +
           q(metric) + "," + q(unit) + "," + q(value) + "\n";
  }
};

inline std::string row(const std::string& metric, const std::string& unit, const std::string& value,
                       const std::string& id = "0") {
  DetailsRow r;
  r.id = id;
  r.metric = metric;
  r.unit = unit;
  r.value = value;
  return r.text();
}

inline Input input_of(std::string_view text) { return {copy_bytes(text), "test.csv"}; }

inline Profile read_ncu(std::string_view text, const ReadOptions& options = {}) {
  return read_ncu_csv(input_of(text), options);
}

inline std::optional<double> metric(const Profile& profile, std::string_view name, std::size_t launch = 0) {
  return profile.launches.at(launch).metrics.get(MetricCatalogue::instance().require(name));
}

inline std::string warning(const Profile& profile, std::string_view code) {
  for (const auto& w : profile.warnings) {
    if (w.code == code) return w.message;
  }
  return "(none)";
}

// What a text is refused with; kind "" when it is read.
template <typename Read>
InputProblem refusal(Read&& read) {
  try {
    read();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.problem();
  }
  return {};
}

}  // namespace roofline::testing
