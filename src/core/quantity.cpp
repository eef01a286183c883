#include "roofline/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace roofline {
namespace {

constexpr std::array<std::string_view, 5> kEvidenceNames = {"absent", "counter", "derived", "model", "given"};
constexpr std::array<std::string_view, 3> kBoundNames = {"exact", "lower", "upper"};

}  // namespace

std::string_view to_string(Evidence evidence) { return kEvidenceNames[static_cast<std::size_t>(evidence)]; }

std::optional<Evidence> parse_evidence(std::string_view text) {
  const auto it = std::find(kEvidenceNames.begin(), kEvidenceNames.end(), text);
  if (it == kEvidenceNames.end()) return std::nullopt;
  return static_cast<Evidence>(it - kEvidenceNames.begin());
}

std::string_view to_string(Bound bound) { return kBoundNames[static_cast<std::size_t>(bound)]; }

double Quantity::nan() { return std::numeric_limits<double>::quiet_NaN(); }

Quantity Quantity::of(double value, Evidence evidence, ProvenancePtr provenance, Bound bound) {
  Quantity q;
  q.provenance_ = std::move(provenance);
  if (!std::isfinite(value) || evidence == Evidence::absent) return q;
  q.value_ = value;
  q.evidence_ = evidence;
  q.bound_ = bound;
  return q;
}

Quantity Quantity::absent(std::string reason) {
  return absent(std::make_shared<const Provenance>(Provenance{{}, {}, std::move(reason)}));
}

Quantity Quantity::absent(ProvenancePtr provenance) {
  Quantity q;
  q.provenance_ = std::move(provenance);
  return q;
}

std::optional<double> Quantity::get() const { return has_value() ? std::optional<double>(value_) : std::nullopt; }

std::string_view Quantity::recipe() const { return provenance_ ? std::string_view(provenance_->recipe) : ""; }

std::string_view Quantity::note() const { return provenance_ ? std::string_view(provenance_->note) : ""; }

Quantity Quantity::with_bound(Bound bound) const {
  Quantity q = *this;
  q.bound_ = bound;
  return q;
}

Quantity Quantity::with_value(double value) const { return of(value, evidence_, provenance_, bound_); }

Evidence weakest(Evidence a, Evidence b) {
  if (a == Evidence::absent || b == Evidence::absent) return Evidence::absent;
  // The enumerators stand in order of directness: counter, derived, model, given.
  return std::max(a, b);
}

Bound combine(Bound a, Bound b) {
  if (a == b || b == Bound::exact) return a;
  if (a == Bound::exact) return b;
  return Bound::lower;  // lower + upper: neither side is certain; lower is the claim that proves less
}

Quantity quotient(const Quantity& a, const Quantity& b) {
  if (!a || !b || b.value() <= 0) return {};
  auto bound = a.bound();
  if (b.bound() != Bound::exact) {
    const auto inverse = b.bound() == Bound::lower ? Bound::upper : Bound::lower;
    if (bound != Bound::exact && bound != inverse) return {};
    bound = inverse;
  }
  return Quantity::of(a.value() / b.value(), weakest(Evidence::derived, weakest(a.evidence(), b.evidence())), nullptr,
                      bound);
}

}  // namespace roofline
