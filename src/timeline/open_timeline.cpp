#include <algorithm>
#include <new>
#include <optional>

#include "profile/sniff.h"
#include "profile/unpack.h"
#include "timeline/byte_stream.h"
#include "timeline/readers.h"

namespace roofline {
namespace {

struct Format {
  bool (*looks_like)(std::string_view head);
  Timeline (*read)(const TimelineSource& source, const TimelineOptions& options);
};

// In the order they are asked.
constexpr Format kFormats[] = {
    {looks_like_sqlite, read_nsys_sqlite},          {looks_like_nsys_csv, read_nsys_csv},
    {looks_like_rocprof_trace, read_rocprof_trace}, {looks_like_proton, read_proton},
    {looks_like_chrome_trace, read_chrome_trace},
};

bool starts_with_magic(std::string_view bytes) {
  using namespace std::string_view_literals;
  return bytes.starts_with("\x1f\x8b"sv) || bytes.starts_with("\x28\xb5\x2f\xfd"sv);
}

// The start of packed bytes; no more than that is unpacked.
std::string unpacked_head(const std::string& label, const std::shared_ptr<const FileView>& file, std::uint64_t limit) {
  const auto stream = open_byte_stream(file, label, limit);
  std::string head(kTimelineHead, '\0');
  head.resize(stream->read(head));
  return head;
}

struct Opened {
  TimelineSource source;
  std::string storage;  // of an unpacked head

  Opened(const std::string& path, std::uint64_t limit) {
    source.label = path;
    source.file = view_file(path, limit);
    source.is_packed = starts_with_magic(source.file->bytes());
    if (source.is_packed) storage = unpacked_head(path, source.file, limit);
    source.head = source.is_packed ? std::string_view(storage) : source.file->bytes().substr(0, kTimelineHead);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
};

const Format* find_format(std::string_view head) {
  const auto* it =
      std::find_if(std::begin(kFormats), std::end(kFormats), [&](const auto& f) { return f.looks_like(head); });
  return it == std::end(kFormats) ? nullptr : it;
}

bool holds_counters(const std::string& path) {
  try {
    ReadOptions options;
    options.partial = true;
    return !open_profile(path, options).launches.empty();
  } catch (const InputError&) {
    return false;
  }
}

[[noreturn]] void refuse_unknown(const TimelineSource& source) {
  auto foreign = recognise_foreign(source.head, source.label);
  auto problem = foreign ? std::move(*foreign) : unknown_format(source.head, source.label);
  // Elsewhere the advice is to collect counters; here the times are what is wanted.
  if (problem.kind == "nsys-report")
    problem.action = "export it: nsys export --type sqlite -o FILE.sqlite " + source.label;
  if (problem.kind == "unknown-format" && holds_counters(source.label)) {
    problem.found = "counters or a table, and no timeline";
    problem.action = "place its kernels with roofline report " + source.label;
  } else if (problem.kind == "unknown-format")
    problem.action =
        "name an SQLite export or a table of Nsight Systems, a trace of PyTorch or rocprofv3, or a Proton file; "
        "reports "
        "of counters are for roofline report";
  throw InputError(std::move(problem));
}

Timeline read_opened(const TimelineSource& source, const TimelineOptions& options) {
  const auto* format = find_format(source.head);
  if (!format) refuse_unknown(source);
  return format->read(source, options);
}

}  // namespace

Input TimelineSource::unpacked(const TimelineOptions& options) const {
  if (!is_packed) return {file, label};
  ReadOptions read;
  read.max_decompressed = options.max_decompressed;
  return {unpack({file, label}, read).bytes, label};
}

std::uint32_t NameTable::intern(std::string_view text) {
  if (const auto it = index_.find(text); it != index_.end()) return it->second;
  const auto index = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(text);
  index_.emplace(std::string(text), index);
  return index;
}

Timeline open_timeline(const std::string& path, const TimelineOptions& options) {
  try {
    const Opened opened(path, options.max_decompressed);
    Timeline timeline = read_opened(opened.source, options);
    timeline.path = path;
    return timeline;
  } catch (const std::bad_alloc&) {
    throw InputError({"out-of-memory", path, std::nullopt, std::nullopt, "it needs more memory than there is", "", ""});
  }
}

bool is_timeline(const std::string& path) {
  try {
    const Opened opened(path, TimelineOptions{}.max_decompressed);
    return find_format(opened.source.head) != nullptr;
  } catch (const InputError&) {
    return false;  // whoever reads it next says why
  }
}

}  // namespace roofline
