// What the readers of single formats share with open_profile(). Private to this room.
//
// A format is a pair of functions:
//   bool looks_like_X(std::string_view head)  cheap, never throws; `head` is the start of the unpacked bytes (up to
//                                             1 MiB, and once more all of a text in which nobody found anything).
//   Profile read_X(input, options)            throws InputError; with options.partial it hands back what stands before
//                                             the fault instead (see keep_partial).
// A reader fills format, producer, devices, launches, warnings, strings, extra_metrics; open_profile() sets path and,
// where the reader left it empty, nothing else. A reader sets Profile::bytes only if it reads from them later on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "profile/file_view.h"
#include "profile/metric_names.h"
#include "roofline/error.h"
#include "roofline/launch.h"
#include "roofline/profile.h"

namespace roofline {

// Bytes, unpacked, with the name that messages use.
struct Input {
  std::shared_ptr<const FileView> bytes;
  std::string path;  // as the user gave it

  std::string_view text() const { return bytes->bytes(); }
};

bool looks_like_ncu_rep(std::string_view head);
Profile read_ncu_rep(const Input& input, const ReadOptions& options);

// All layouts that `ncu --csv` writes.
bool looks_like_ncu_csv(std::string_view head);
Profile read_ncu_csv(const Input& input, const ReadOptions& options);

bool looks_like_nvprof_csv(std::string_view head);
Profile read_nvprof_csv(const Input& input, const ReadOptions& options);

// Counter tables of ROCm's profilers: rocprof-compute (pmc_perf.csv), rocprofv3 (counter_collection.csv), rocprof.
bool looks_like_amd_counters(std::string_view head);
Profile read_amd_counters(const Input& input, const ReadOptions& options);

// A table typed by a person, CSV or Markdown. Asked last: almost any table of text looks like one.
bool looks_like_table(std::string_view head);
Profile read_table(const Input& input, const ReadOptions& options);

// Throw InputError. `found` says what stands there, `expected` what should, `action` what to do next; the last two
// may be empty. Lines count from 1, offsets are bytes in the unpacked input.
[[noreturn]] void refuse(const Input& input, std::string kind, std::string found, std::string expected = {},
                         std::string action = {});
[[noreturn]] void refuse_at_byte(const Input& input, std::uint64_t offset, std::string kind, std::string found,
                                 std::string expected = {}, std::string action = {});
[[noreturn]] void refuse_at_line(const Input& input, std::uint64_t line, std::string kind, std::string found,
                                 std::string expected = {}, std::string action = {});

// For options.partial: marks the profile and turns the fault into a warning ("partial") with the error's text.
void keep_partial(Profile& profile, const InputError& fault);

}  // namespace roofline
