// Made-up reports, and a folder to write them to.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "roofline/collect.h"
#include "support/ncu_rep_writer.h"

namespace roofline::collect::testing {

namespace fs = std::filesystem;

// A folder of its own for each test, gone afterwards.
class Scratch {
 public:
  Scratch() : path_(fs::temp_directory_path() / ("roofline-collect-" + std::to_string(getpid()) + "-" + name())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string file(const std::string& relative) const { return (path_ / relative).string(); }
  std::string write(const std::string& relative, const std::string& text, bool program = false) const {
    const auto path = path_ / relative;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    if (program) fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }

 private:
  static std::string name() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string text = std::string(info->test_suite_name()) + "-" + info->name();
    for (auto& c : text)
      if (c == '/') c = '-';
    return text;
  }
  fs::path path_;
};

inline Target gh100() { return *find_target("GH100"); }

using Values = std::map<std::string, std::uint64_t>;

// A report of kernels by name with the metrics that each was measured with.
inline std::string report_of(const std::vector<std::pair<std::string, Values>>& kernels) {
  roofline::testing::NcuRepWriter writer;
  const roofline::testing::ReportGpu gpu;
  writer.session({.devices = {report_device(gpu)}});
  for (const auto& [name, values] : kernels) {
    roofline::testing::ReportResult result;
    result.mangled = result.function = result.demangled = name;
    result.metrics = gpu_metrics(gpu);
    for (const auto& [metric, value] : values) result.metrics.push_back({metric, value});
    writer.result(result);
  }
  return writer.bytes();
}

}  // namespace roofline::collect::testing
