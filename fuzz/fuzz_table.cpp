// Tables typed by people: whatever the bytes, either a profile or an InputError.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "profile/reader.h"

namespace {

// Numbers that were typed wrongly must not get through: absent, or finite and not negative.
void check(const roofline::Quantity& q) {
  if (q && !(std::isfinite(q.value()) && q.value() >= 0)) std::abort();
}

void check(const roofline::Profile& profile) {
  for (const auto& launch : profile.launches) {
    if (!launch.given || !launch.claims || launch.count == 0 || launch.device >= profile.devices.size()) std::abort();
    const auto& work = *launch.given;
    check(work.time);
    check(work.aux_ops);
    check(work.level(roofline::MemoryLevel::dram).total);
    for (const auto& op : work.operations) check(op.operations);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  roofline::ReadOptions options;
  options.locale = static_cast<roofline::NumberLocale>(data[0] % 3);
  options.partial = (data[0] & 0x10U) != 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  roofline::looks_like_table(text);
  try {
    check(roofline::read_table({roofline::borrow_bytes(text), "fuzz"}, options));
  } catch (const roofline::InputError&) {
  }
  return 0;
}
