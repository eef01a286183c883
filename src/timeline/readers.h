// What the readers of single timeline formats share with open_timeline(). Private to this room.
//
// A format is a pair of functions:
//   bool looks_like_X(std::string_view head)        cheap, never throws; `head` is the start of the unpacked bytes (up
//   to
//                                                   kTimelineHead of them).
//   Timeline read_X(const TimelineSource&, options) throws InputError; fills everything but `path`.
// Enter both in the table of open_timeline.cpp, in the order of how sure the signs are.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "profile/file_view.h"
#include "profile/reader.h"
#include "roofline/timeline.h"

namespace roofline {

inline constexpr std::size_t kTimelineHead = std::size_t{1} << 20;

// The bytes of one input as they lie on disk: plain, or packed with gzip or zstd. Readers of small formats call
// unpacked(); those of large ones stream `file` themselves.
struct TimelineSource {
  std::string label;                     // the path as the user gave it, for messages
  std::shared_ptr<const FileView> file;  // packed where is_packed
  std::string_view head;                 // the first kTimelineHead unpacked bytes; valid during the read
  bool is_packed = false;

  // All bytes, unpacked, in memory (or mapped where they are not packed). Throws InputError.
  Input unpacked(const TimelineOptions& options) const;
};

// SQLite databases: exports of Nsight Systems, and others in order to refuse them with the reason.
bool looks_like_sqlite(std::string_view head);
Timeline read_nsys_sqlite(const TimelineSource& source, const TimelineOptions& options);

// Tables of `nsys stats`: cuda_gpu_kern_sum, cuda_gpu_kern_gb_sum, cuda_gpu_trace and their older names.
bool looks_like_nsys_csv(std::string_view head);
Timeline read_nsys_csv(const TimelineSource& source, const TimelineOptions& options);

// Traces in Chrome's format of the PyTorch profiler, vLLM and SGLang; also in a tar archive. Streamed.
bool looks_like_chrome_trace(std::string_view head);
Timeline read_chrome_trace(const TimelineSource& source, const TimelineOptions& options);

// Traces and statistics of rocprofv3 and rocprof (kernel_trace.csv, memory_copy_trace.csv, kernel_stats.csv).
bool looks_like_rocprof_trace(std::string_view head);
Timeline read_rocprof_trace(const TimelineSource& source, const TimelineOptions& options);

// Trees of Triton's Proton (.hatchet).
bool looks_like_proton(std::string_view head);
Timeline read_proton(const TimelineSource& source, const TimelineOptions& options);

}  // namespace roofline
