#include "roofline/machine.h"

#include <algorithm>
#include <array>

namespace roofline {
namespace {

constexpr std::array<std::string_view, 3> kKindNames = {"datasheet", "at-clock", "measured"};

const Peak* find_exact(const std::vector<Peak>& peaks, const Precision& precision) {
  const auto it = std::find_if(peaks.begin(), peaks.end(), [&](const Peak& p) { return p.precision == precision; });
  return it == peaks.end() ? nullptr : &*it;
}

// The key itself, then the same type with the usual accumulator: chips that do not tell the accumulators apart carry
// only that one.
const Peak* find_plain(const std::vector<Peak>& peaks, Precision precision) {
  if (const auto* exact = find_exact(peaks, precision)) return exact;
  if (precision.accumulate == Accumulate::standard) return nullptr;
  precision.accumulate = Accumulate::standard;
  return find_exact(peaks, precision);
}

}  // namespace

std::string_view to_string(CeilingKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<CeilingKind> parse_ceiling_kind(std::string_view text) {
  const auto it = std::find(kKindNames.begin(), kKindNames.end(), text);
  if (it == kKindNames.end()) return std::nullopt;
  return static_cast<CeilingKind>(it - kKindNames.begin());
}

std::optional<Ceiling::PeakRange> Ceiling::peak(const Precision& precision) const {
  if (const auto* p = find_plain(peaks, precision)) return PeakRange{p->ops_per_s, p->ops_per_s};
  std::optional<PeakRange> range;
  for (const auto member : members(precision.type)) {
    if (member == precision.type) continue;
    auto key = precision;
    key.type = member;
    const auto* p = find_plain(peaks, key);
    if (p == nullptr) continue;
    if (!range) range = PeakRange{p->ops_per_s, p->ops_per_s};
    range->low = std::min(range->low, p->ops_per_s);
    range->high = std::max(range->high, p->ops_per_s);
  }
  return range;
}

std::optional<double> Ceiling::bandwidth(MemoryLevel level, std::string_view definition) const {
  for (const auto& b : bandwidths)
    if (b.level == level && b.definition == definition) return b.bytes_per_s;
  return std::nullopt;
}

std::optional<double> Ceiling::link_bandwidth(std::string_view link_kind) const {
  for (const auto& l : links)
    if (l.kind == link_kind) return l.bytes_per_s;
  return std::nullopt;
}

const Ceiling* Machine::ceiling(CeilingKind kind) const {
  const auto it = std::find_if(ceilings.begin(), ceilings.end(), [&](const Ceiling& c) { return c.kind == kind; });
  return it == ceilings.end() ? nullptr : &*it;
}

std::optional<double> ridge_point(const Ceiling& ceiling, const Precision& precision, MemoryLevel level,
                                  std::string_view definition) {
  const auto peak = ceiling.peak(precision);
  const auto bandwidth = ceiling.bandwidth(level, definition);
  if (!peak || !bandwidth || *bandwidth <= 0) return std::nullopt;
  return peak->high / *bandwidth;
}

}  // namespace roofline
