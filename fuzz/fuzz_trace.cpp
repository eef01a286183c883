// The readers of traces that stream or walk trees: any bytes give a timeline or an InputError, and what they give can
// be joined and converted.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "roofline/operator_work.h"
#include "timeline/readers.h"

namespace {

using roofline::Timeline;
using roofline::TimelineOptions;
using roofline::TimelineSource;

void try_read(Timeline (*read)(const TimelineSource&, const TimelineOptions&), const TimelineSource& source,
              const TimelineOptions& options) {
  try {
    const auto timeline = read(source, options);
    roofline::join_operators(timeline);
    roofline::profile_of(timeline);
  } catch (const roofline::InputError&) {
    // A refusal is a result.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TimelineSource source;
  source.label = "fuzz";
  source.file = roofline::borrow_bytes(text);
  source.head = text;
  TimelineOptions options;
  options.partial = size % 2 == 0;
  options.max_decompressed = std::uint64_t{16} << 20;
  try_read(roofline::read_chrome_trace, source, options);
  if (roofline::looks_like_proton(text)) try_read(roofline::read_proton, source, options);
  if (roofline::looks_like_rocprof_trace(text)) try_read(roofline::read_rocprof_trace, source, options);
  return 0;
}
