// Stores to test on: a SQLite file, or a schema of its own on the PostgreSQL server that the test run started.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "history/sql.h"
#include "roofline/document.h"
#include "roofline/history.h"
#include "support/report_builder.h"

namespace roofline::testing {

namespace fs = std::filesystem;

// $ROOFLINE_TEST_POSTGRESQL names the folder where scripts/lib/postgresql put the URL.
inline std::optional<std::string> postgresql_url() {
  const char* folder = std::getenv("ROOFLINE_TEST_POSTGRESQL");
  if (folder == nullptr) return std::nullopt;
  std::ifstream file(fs::path(folder) / "url");
  std::string url;
  if (!std::getline(file, url)) return std::nullopt;
  return url;
}

class StoreTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("roofline-history-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    if (!on_server()) return;
    const auto url = postgresql_url();
    if (!url) GTEST_SKIP() << "no PostgreSQL server was started";
    server_ = *url;
  }
  void TearDown() override {
    for (const auto& schema : schemas_)
      history::sql::open_postgresql(server_, history::sql::Access::write)->run("DROP SCHEMA " + schema + " CASCADE");
    fs::remove_all(folder_);
  }

  bool on_server() const { return std::string(GetParam()) == "postgresql"; }

  // Where a new store can be made.
  std::string place() {
    const auto name = "t" + std::to_string(::getpid()) + "_" + std::to_string(places_++);
    if (!on_server()) return (folder_ / (name + ".db")).string();
    history::sql::open_postgresql(server_, history::sql::Access::write)->run("CREATE SCHEMA " + name);
    schemas_.push_back(name);
    return server_ + "&options=-csearch_path%3D" + name;
  }
  std::unique_ptr<history::sql::Connection> raw(const std::string& where) const {
    return on_server() ? history::sql::open_postgresql(where, history::sql::Access::write)
                       : history::sql::open_sqlite(where, history::sql::Access::write);
  }

  fs::path folder_;

 private:
  std::string server_;
  std::vector<std::string> schemas_;
  int places_ = 0;
};

#define ROOFLINE_ON_BOTH_STORES(Suite)                                               \
  INSTANTIATE_TEST_SUITE_P(Stores, Suite, ::testing::Values("sqlite", "postgresql"), \
                           [](const auto& parameter) { return std::string(parameter.param); })

// One memory-bound kernel of 4 GB at this share of the 4 TB/s roof of the test machine.
inline KernelRow& add_kernel(ReportBuilder& builder, const std::string& name, double fraction,
                             const std::string& op = "") {
  WorkSpec spec;
  spec.operations = {{"fp32.vector", 1e9}};
  spec.dram_read = 3e9;
  spec.dram_write = 1e9;
  spec.time_s = 1e-3 / fraction;
  auto& row = builder.add(name, spec);
  row.op = op;
  return row;
}

inline std::string small_report(double fraction = 0.9) {
  ReportBuilder builder;
  builder.input("traces/step.ncu-rep");
  add_kernel(builder, "scale_kernel", fraction, "scale");
  add_kernel(builder, "norm_kernel", 0.8);
  return to_json(builder.build());
}

inline history::NewRecord new_record(std::string report, history::Labels labels = {}, history::Time time = 0) {
  history::NewRecord record;
  record.report = std::move(report);
  record.labels = std::move(labels);
  if (time != 0) record.time = time;
  return record;
}

// The kind of the InputError that `action` throws; empty without one.
template <typename Action>
std::string kind_of_error(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.problem().kind;
  }
  return {};
}

}  // namespace roofline::testing
