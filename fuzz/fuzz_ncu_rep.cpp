// Bytes as an Nsight Compute report, whole and in part: only InputError may come out.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "roofline/profile.h"

namespace {

void use(const roofline::Profile& profile) {
  for (const auto& launch : profile.launches) {
    if (launch.device >= profile.devices.size()) std::abort();
    for (const auto& [id, value] : launch.metrics.values()) {
      if (value != value || profile.metric_name(id).data() == nullptr) std::abort();  // NaN must have been dropped
    }
    roofline::rule_results(profile, launch);
    roofline::section_rooflines(profile, launch);
  }
}

void read(std::string_view bytes, bool partial) {
  roofline::ReadOptions options;
  options.keep_all_metrics = true;
  options.partial = partial;
  options.max_decompressed = std::uint64_t{1} << 24U;
  try {
    use(roofline::read_profile(bytes, "fuzz", options));
  } catch (const roofline::InputError& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes, false);
  read(bytes, true);
  return 0;
}
