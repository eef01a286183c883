// Real profiler files that are not part of this repository. Tests that read them are skipped where they are absent.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace roofline::testing {

// $ROOFLINE_SHARED, or ../shared beside the source tree.
inline std::filesystem::path shared_root() {
  if (const char* set = std::getenv("ROOFLINE_SHARED"); set != nullptr && *set != '\0') return set;
  return std::filesystem::path(ROOFLINE_SOURCE_DIR) / ".." / "shared";
}

inline std::filesystem::path shared_path(const std::string& relative) { return shared_root() / relative; }

}  // namespace roofline::testing

// First line of a test that needs a shared file or folder.
#define ROOFLINE_NEEDS_SHARED(relative)                                     \
  if (!std::filesystem::exists(::roofline::testing::shared_path(relative))) \
  GTEST_SKIP() << "no shared data: " << ::roofline::testing::shared_path(relative)
