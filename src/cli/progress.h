// What is being done, and how far the reading of large files has come, on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/profile.h"

namespace roofline::cli {

// A line that is written over, and wiped at the end. Silent where standard error is no terminal that can do so.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { wipe(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool can_show() const { return terminal_; }
  void show(std::string_view text);  // shorter than the terminal is wide
  void wipe();

 private:
  bool terminal_;
  bool visible_ = false;
};

// "reading ██████░░░░  61%, 3 s left": a line of at most `width` columns.
std::string progress_line(double share, double elapsed_s, std::size_t width, bool unicode);

// A bar for whatever takes longer than a second, wiped when it ends.
class Progress {
 public:
  // To be called with bytes done and in all, from one thread at a time.
  void operator()(std::uint64_t done, std::uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = start_;
  StatusLine line_;
};

// open_inputs() with a bar.
std::vector<Profile> open_watched(std::span<const std::string> paths, ReadOptions options = {});

}  // namespace roofline::cli
