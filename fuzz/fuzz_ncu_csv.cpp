// The text readers of Nsight Compute and nvprof exports: any bytes give a profile or an InputError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profile/reader.h"

namespace {

void try_read(roofline::Profile (*read)(const roofline::Input&, const roofline::ReadOptions&), std::string_view text,
              const roofline::ReadOptions& options) {
  try {
    read({roofline::borrow_bytes(text), "fuzz"}, options);
  } catch (const roofline::InputError&) {
    // A refusal is a result.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  roofline::ReadOptions options;
  options.keep_all_metrics = true;
  options.partial = size % 2 == 0;
  if (roofline::looks_like_ncu_csv(text)) try_read(roofline::read_ncu_csv, text, options);
  options.locale = roofline::NumberLocale::comma;
  try_read(roofline::read_ncu_csv, text, options);
  if (roofline::looks_like_nvprof_csv(text)) try_read(roofline::read_nvprof_csv, text, options);
  return 0;
}
