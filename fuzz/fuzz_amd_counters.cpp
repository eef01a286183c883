// Counter tables of ROCm's profilers: any bytes give a profile or an InputError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profile/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  roofline::ReadOptions options;
  options.keep_all_metrics = true;
  options.partial = size % 2 == 0;
  try {
    roofline::read_amd_counters({roofline::borrow_bytes(text), "fuzz"}, options);
  } catch (const roofline::InputError&) {
    // A refusal is a result.
  }
  return 0;
}
