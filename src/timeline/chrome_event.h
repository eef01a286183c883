// One event of a Chrome trace, as the PyTorch profiler (Kineto) writes it.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "roofline/launch.h"
#include "roofline/timeline.h"

namespace roofline {

enum class TraceCategory : std::uint8_t {
  none,            // the event names no category
  ignored,         // stack frames, flow arrows, memory counters: nothing that is read here
  kernel,          // "kernel"
  copy,            // "gpu_memcpy"
  fill,            // "gpu_memset"
  host_call,       // "cuda_runtime", "cuda_driver", "hip_runtime" ...
  operator_call,   // "cpu_op"
  annotation,      // "user_annotation"
  gpu_annotation,  // "gpu_user_annotation"
  recording,       // "Trace": the span that was recorded
  profiler_range,  // "cuda_profiler_range": counters over a range, without a true duration
};
TraceCategory trace_category(std::string_view text);

// Views point into the parser or the text and hold until the next event is parsed.
struct ChromeEvent {
  char phase = '\0';
  TraceCategory category = TraceCategory::none;
  std::string_view name;
  std::optional<std::int64_t> start_ns, duration_ns;
  std::uint64_t process = 0, thread = 0;

  std::optional<std::uint64_t> device;
  std::uint64_t context = 0, stream = 0, correlation = 0, external_id = 0, graph_node = 0, bytes = 0;
  Dim3 grid, block;
  std::string_view shapes, types, values;  // JSON text
  std::string_view collective, collective_type, group, ranks;
  std::uint64_t elements_in = 0, elements_out = 0, group_size = 0;
};

class ChromeEventParser {
 public:
  enum class Result : std::uint8_t { event, ignored, broken };

  // `text` is one JSON object, followed by JsonWindow::kPadding readable bytes. What does not look like an event that
  // is read here is `ignored`; `broken` is no JSON.
  Result parse(std::string_view text, ChromeEvent& event);
  std::string_view error() const { return error_; }     // of the last broken one
  std::uint64_t repaired() const { return repaired_; }  // events with bytes that JSON does not allow, replaced

 private:
  Result parse_valid(std::string_view text, ChromeEvent& event);
  Result parse_repaired(std::string_view text, ChromeEvent& event);
  simdjson::error_code read(simdjson::ondemand::document& document, ChromeEvent& event, bool& ignored);

  simdjson::ondemand::parser parser_;
  std::string repaired_text_;
  std::string_view error_;
  std::uint64_t repaired_ = 0;
};

// Decimal microseconds, however many digits, as nanoseconds, rounded: through no double, which could not hold epoch
// times to the nanosecond. nullopt for what is no number and for more than a thousand years.
std::optional<std::int64_t> parse_microseconds(std::string_view text);

}  // namespace roofline
