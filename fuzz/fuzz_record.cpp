// JSON reports: whatever the bytes, either a record or an InputError; and what was read can be compared and judged.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "roofline/compare.h"
#include "roofline/error.h"

namespace {

void check(const std::optional<double>& value) {
  if (value && !(std::isfinite(*value) && *value >= 0)) std::abort();
}

void check(const roofline::StepRecord& record) {
  check(record.time_s);
  check(record.fraction);
  for (const auto& k : record.kernels) {
    check(k.time_s);
    check(k.fraction);
    check(k.flops);
    check(k.dram_bytes);
    for (const auto& [key, n] : k.ops) check(n);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Both halves of the input, so that sides differ; a report alone is both sides.
  const auto middle = text.find("\n\n\n");
  try {
    const auto before = roofline::read_record(text.substr(0, middle), "before");
    check(before);
    const auto after =
        middle == std::string_view::npos ? before : roofline::read_record(text.substr(middle + 3), "after");
    const auto comparison = roofline::compare({{before}}, {{after}});
    double sum = 0;
    for (const auto& row : comparison.kernels) sum += row.effect.total_s;
    if (std::isfinite(sum) && sum != comparison.total.total_s) std::abort();
    roofline::comparison_document(comparison);
    roofline::comparison_json(comparison);
    roofline::gate({{before, after}}, {{after, before}}, {});
  } catch (const roofline::InputError&) {
  }
  return 0;
}
