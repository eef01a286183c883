// Texts and pictures that are compared whole with files of the repository.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace roofline::testing {

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

// `file` is below the repository's tests folder. ROOFLINE_UPDATE_GOLDEN=1 writes it anew.
inline void expect_golden(const std::string& file, const std::string& actual) {
  const auto path = std::string(ROOFLINE_SOURCE_DIR) + "/tests/" + file;
  if (std::getenv("ROOFLINE_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << actual;
  EXPECT_EQ(actual, slurp(path)) << path << " differs; ROOFLINE_UPDATE_GOLDEN=1 writes it anew";
}

// The same for what is too long to print: only says which one differs.
inline void expect_golden_picture(const std::string& file, const std::string& actual) {
  const auto path = std::string(ROOFLINE_SOURCE_DIR) + "/tests/" + file;
  if (std::getenv("ROOFLINE_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << actual;
  EXPECT_TRUE(actual == slurp(path)) << path << " differs; ROOFLINE_UPDATE_GOLDEN=1 writes it anew";
}

}  // namespace roofline::testing
