// A number that knows where it comes from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

// How a value came to be known. Absent is never zero.
enum class Evidence : std::uint8_t {
  absent,
  counter,  // read from hardware or profiler counters
  derived,  // arithmetic on counters (a rate times a time, a percentage of a peak)
  model,    // an analytic model of the operator
  given,    // typed by a person
};
std::string_view to_string(Evidence evidence);
std::optional<Evidence> parse_evidence(std::string_view text);

// Which side of the truth a value lies on.
enum class Bound : std::uint8_t { exact, lower, upper };
std::string_view to_string(Bound bound);

// Shared by all values that one recipe produced, so that evidence costs no allocation per launch.
struct Provenance {
  std::string recipe;                // the recipe's name, e.g. "dram-read-plus-write"
  std::vector<std::string> metrics;  // the metric names it read
  std::string note;                  // a caveat; for an absent value the reason why it is absent
};
using ProvenancePtr = std::shared_ptr<const Provenance>;

// A value in SI base units (seconds, FLOP, bytes, hertz, or a plain ratio: the field that holds it says which).
class Quantity {
 public:
  Quantity() = default;

  // A non-finite `value` yields an absent quantity: profilers write NaN for "not collected".
  static Quantity of(double value, Evidence evidence, ProvenancePtr provenance = nullptr, Bound bound = Bound::exact);
  static Quantity absent(std::string reason);
  static Quantity absent(ProvenancePtr provenance);

  bool has_value() const { return evidence_ != Evidence::absent; }
  explicit operator bool() const { return has_value(); }
  double value() const { return value_; }  // NaN when absent
  double value_or(double fallback) const { return has_value() ? value_ : fallback; }
  std::optional<double> get() const;

  Evidence evidence() const { return evidence_; }
  Bound bound() const { return bound_; }
  const ProvenancePtr& provenance() const { return provenance_; }
  std::string_view recipe() const;
  std::string_view note() const;  // reason when absent

  Quantity with_bound(Bound bound) const;
  Quantity with_value(double value) const;  // same evidence and provenance

 private:
  double value_ = nan();
  Evidence evidence_ = Evidence::absent;
  Bound bound_ = Bound::exact;
  ProvenancePtr provenance_;

  static double nan();
};

// The weaker evidence of two: given < model < derived < counter is "how direct"; a sum is as weak as its weakest part.
Evidence weakest(Evidence a, Evidence b);
// Bound of a sum of non-negative parts.
Bound combine(Bound a, Bound b);
// a / b of non-negative values, with the side of the truth it lies on. Absent without either, for b <= 0, and where the
// bounds leave no side certain (two lower bounds).
Quantity quotient(const Quantity& a, const Quantity& b);

}  // namespace roofline
