#include "analysis/above_roof.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "roofline/document.h"

namespace roofline {
namespace {

// What a kernel of one format may really have used.
struct Alternatives {
  std::string_view precision;
  std::array<std::string_view, 2> others;
};
constexpr std::array kAlternatives = std::to_array<Alternatives>({
    {"fp64.vector", {"fp64.tensor", "fp32.vector"}},
    {"fp32.vector", {"tf32.tensor", "bf16.tensor"}},
    {"fp16.vector", {"fp16.tensor", ""}},
    {"bf16.vector", {"bf16.tensor", ""}},
    {"tf32.tensor", {"bf16.tensor", ""}},
    {"fp16.tensor", {"fp16.acc16.tensor", "fp8.tensor"}},
    {"fp16.acc16.tensor", {"fp8.tensor", ""}},
    {"bf16.tensor", {"fp8.tensor", ""}},
    {"fp8.tensor", {"fp4.tensor", ""}},
    {"int8.tensor", {"int4.tensor", ""}},
});

constexpr double kHitsInCache = 0.75;  // L2 hit rate from which most data never came from DRAM
constexpr double kLikelyBoost = 1.25;  // boards run up to this far above a printed clock
constexpr double kClockRounding = 1e-3;

const ResourceUse* largest_required(const Placement& p) {
  const ResourceUse* best = nullptr;
  for (const auto& r : p.resources)
    if (r.required && (best == nullptr || r.fraction > best->fraction)) best = &r;
  return best;
}

std::string percent(double fraction) { return fmt::format("{:.0f}%", 100 * fraction); }
std::string hertz(double hz) { return si(hz, "Hz"); }

class Explainer {
 public:
  Explainer(const AboveRoofInput& in, const ResourceUse& over, CeilingKind kind)
      : in_(in), over_(over), kind_(kind), limit_(in.thresholds.above_roof) {
    if (!in.launch.given) run_ = at_clock_ceiling(in.launch, in.device, in.catalogue);
    rated_ = in.catalogue != nullptr ? in.catalogue->ceiling(CeilingKind::datasheet) : nullptr;
    counted_ = weakest_evidence() == Evidence::counter || weakest_evidence() == Evidence::derived;
  }

  Finding explain() {
    finding_.kind = "pitfall";
    finding_.threshold = limit_;
    finding_.condition = fmt::format("more than {} of a roof", percent(limit_));
    finding_.evidence.push_back(
        {over_.name + " fraction of the " + std::string(to_string(kind_)) + " roof", over_.fraction, ""});
    const bool found = by_clock() || by_measured_roof() || by_regime() || by_time() || by_unknown_clock();
    if (!found) unexplained();
    finding_.title = fmt::format("{} of the {} roof of {}", percent(over_.fraction), to_string(kind_), over_.name);
    return std::move(finding_);
  }

 private:
  bool by_regime() {
    if (over_.regime == Regime::compute) return by_precision();
    if (over_.regime == Regime::link) return by_direction();
    return by_cache() || by_counters();
  }

  Evidence weakest_evidence() const {
    auto evidence = in_.work.time.evidence();
    if (over_.regime == Regime::memory) return weakest(evidence, in_.work.level(MemoryLevel::dram).total.evidence());
    for (const auto& op : in_.work.operations)
      if (op.operations) evidence = weakest(evidence, op.operations.evidence());
    return evidence;
  }

  bool conclude(std::string_view id, std::string why, std::string action) {
    finding_.id = fmt::format("above-roof-{}", id);
    finding_.why = std::move(why);
    finding_.action = std::move(action);
    return true;
  }

  // ---------------------------------------------------------------- the clock

  // Peak or bandwidth of the resource under a ceiling.
  std::optional<double> limit_under(const Ceiling* ceiling) const {
    if (ceiling == nullptr) return std::nullopt;
    if (over_.regime == Regime::memory) return ceiling->bandwidth(MemoryLevel::dram, "dram");
    if (over_.regime == Regime::link) return ceiling->link_bandwidth(over_.name);
    const auto precision = parse_precision(over_.name);
    const auto peak = precision ? ceiling->peak(*precision) : std::nullopt;
    return peak ? std::optional(peak->high) : std::nullopt;
  }

  std::optional<double> clock_under(const Ceiling* ceiling) const {
    if (ceiling == nullptr || over_.regime == Regime::link) return std::nullopt;
    if (over_.regime == Regime::memory) return ceiling->memory_clock_hz;
    for (const auto& p : ceiling->peaks)
      if (to_string(p.precision) == over_.name) return p.clock_hz;
    return ceiling->sm_clock_hz;
  }

  bool by_clock() {
    if (kind_ != CeilingKind::datasheet || !run_) return false;
    const auto ran = clock_under(&*run_);
    const auto assumed = clock_under(rated_);
    const auto reached = limit_under(&*run_);
    if (!ran || !assumed || !reached || over_.peak <= 0 || *ran <= *assumed * (1 + kClockRounding)) return false;
    const double then = over_.fraction * over_.peak / *reached;
    if (then > limit_) return false;
    finding_.evidence.push_back({"clock of the run", *ran, "Hz"});
    finding_.evidence.push_back({"clock that the figure assumes", *assumed, "Hz"});
    return conclude(
        "clock",
        fmt::format("it ran at {}, the datasheet's figure assumes {}; at the clock of the run it is {} of the roof",
                    hertz(*ran), hertz(*assumed), percent(then)),
        "The at-clock roof applies: --ceiling at-clock.");
  }

  // Without a clock in the file, a modest excess on a GPU is what boost does; more is not.
  bool by_unknown_clock() {
    const auto assumed = clock_under(rated_);
    const bool unknown = !run_ || !clock_under(&*run_);
    if (kind_ != CeilingKind::datasheet || !assumed || !unknown || over_.regime != Regime::compute) return false;
    if (over_.fraction > kLikelyBoost) return false;
    const double needed = *assumed * over_.fraction;
    finding_.evidence.push_back({"clock that it needs at least", needed, "Hz"});
    return conclude(
        "clock-unknown",
        fmt::format("the input names no clock; boards run above the {} that the figure assumes, and this would take {}",
                    hertz(*assumed), hertz(needed)),
        fmt::format("Note the clock of the run and name it: --clock {:.0f}MHz.", needed / 1e6));
  }

  bool by_measured_roof() {
    if (kind_ != CeilingKind::measured) return false;
    const auto datasheet = limit_under(rated_);
    if (!datasheet || over_.peak <= 0) return false;
    const double then = over_.fraction * over_.peak / *datasheet;
    if (then > limit_) return false;
    finding_.evidence.push_back({"fraction of the datasheet roof", then, ""});
    return conclude(
        "measured",
        fmt::format("the benchmark behind the measured roof reached less than this kernel; it is {} of the datasheet's",
                    percent(then)),
        "The datasheet roof applies: the measured one is no limit of the machine.");
  }

  // ---------------------------------------------------------------- work

  // Counters know the precision they count; people and models may name the wrong one.
  bool by_precision() {
    const auto precision = parse_precision(over_.name);
    if (counted_ || !precision || over_.peak <= 0) return false;
    std::vector<std::string> fits;
    const auto try_one = [&](const Precision& other) {
      const auto peak = in_.used.peak(other);
      if (!peak || peak->high <= over_.peak) return;
      const double then = over_.fraction * over_.peak / peak->high;
      if (then > limit_) return;
      fits.push_back(fmt::format("{} ({})", to_string(other), percent(then)));
      finding_.evidence.push_back({"fraction of the roof of " + to_string(other), then, ""});
    };
    for (const auto& a : kAlternatives)
      if (a.precision == over_.name)
        for (const auto other : a.others)
          if (!other.empty()) try_one(*parse_precision(other));
    auto sparse = *precision;
    sparse.sparse = true;
    try_one(sparse);
    if (fits.empty() || (over_.fraction <= kLikelyBoost && by_unknown_clock())) return !fits.empty();
    return conclude(
        "precision",
        fmt::format("no dense {} kernel is that fast; its FLOPs fit {}", over_.name, fmt::join(fits, " or ")),
        "Check the precision of the row, and whether FLOPs of a sparse kernel were counted as dense.");
  }

  bool by_direction() {
    if (over_.fraction / 2 > limit_) return false;
    return conclude(
        "direction",
        fmt::format("the roof is that of one direction; half the bytes are {} of it", percent(over_.fraction / 2)),
        "Count the bytes of one direction, or the payload once.");
  }

  std::optional<double> size_of(const char* fact, const Quantity& counted, std::optional<double> device) const {
    if (counted) return counted.value();
    if (device) return device;
    return in_.catalogue == nullptr ? std::nullopt : facts().value(fact);
  }
  const MachineFacts& facts() const { return MachineCatalogue::instance().facts(*in_.catalogue); }

  // What the DRAM counters saw did come from DRAM. Bytes that a person or a model names need not have.
  bool by_cache() {
    const auto& dram = in_.work.level(MemoryLevel::dram).total;
    const auto& hits = in_.work.activity.l2_hit_rate;
    if (!dram || (counted_ && !(hits && hits.value() >= kHitsInCache))) return false;
    const double bytes = dram.value() / std::max(1.0, in_.work.launches);
    const auto l2 = size_of("l2_size", in_.work.activity.l2_size, in_.device.l2_bytes);
    const auto last = size_of("last_level_size", {}, std::nullopt);
    const bool in_l2 = l2 && bytes <= *l2;
    if (!in_l2 && !(last && bytes <= *last)) return false;
    const double size = in_l2 ? *l2 : *last;
    finding_.evidence.push_back({"bytes per launch", bytes, "B"});
    finding_.evidence.push_back({in_l2 ? "L2 size" : "last-level cache size", size, "B"});
    if (hits) finding_.evidence.push_back({"L2 hit rate", hits.value(), ""});
    auto why = fmt::format("its {} fit into the {} of {}, so they need not come from DRAM", si(bytes, "B"),
                           si(size, "B"), in_l2 ? "L2" : "the last-level cache");
    if (hits) why += fmt::format("; L2 hits: {}", percent(hits.value()));
    return conclude("cache", std::move(why), in_l2 ? l2_action() : "The DRAM roof does not apply to data in a cache.");
  }

  std::string l2_action() {
    for (const auto& b : in_.used.bandwidths) {
      if (b.level != MemoryLevel::l2 || b.definition == "lts_t" || over_.peak <= 0) continue;
      const double then = over_.fraction * over_.peak / b.bytes_per_s;
      finding_.evidence.push_back({"fraction of the L2 roof", then, ""});
      if (then > limit_) return fmt::format("Even of the L2 roof it would be {}: check the time.", percent(then));
      return fmt::format("The L2 roof applies: {} of {}.", percent(then), si(b.bytes_per_s, "B/s"));
    }
    return "The L2 roof applies; its bandwidth is not known here.";
  }

  bool by_counters() {
    const auto& dram = in_.work.level(MemoryLevel::dram).total;
    const auto& l2 = in_.work.level(MemoryLevel::l2).total;
    if (!counted_ || !dram) return false;
    if (dram.bound() == Bound::upper)
      return conclude("bytes", "the DRAM bytes are an upper bound: traffic was counted that is not this kernel's",
                      "Collect dram__bytes.sum.");
    if (!l2 || l2.bound() == Bound::lower || dram.value() <= l2.value() * limit_) return false;
    finding_.evidence.push_back({"DRAM bytes", dram.value(), "B"});
    finding_.evidence.push_back({"L2 bytes", l2.value(), "B"});
    return conclude(
        "bytes",
        fmt::format(
            "DRAM counted {}, L2 only {}: L2 was undercounted or another pass or process is in the DRAM counter",
            si(dram.value(), "B"), si(l2.value(), "B")),
        "Collect both in one pass, with nothing else on the device.");
  }

  // ---------------------------------------------------------------- time

  bool by_time() {
    constexpr std::array<std::string_view, 4> kCodes = {"times-disagree", "time-of-counting-run", "passes-disagree",
                                                        "clocks-disagree"};
    for (const auto& w : in_.warnings)
      if (std::find(kCodes.begin(), kCodes.end(), w.code) != kCodes.end())
        return conclude("time", w.message, "Take time and counters from the same run: profile again.");
    if (in_.launch.derived)
      return conclude("time", "time and counters are medians of different runs",
                      "Join the runs launch by launch: --merge.");
    return false;
  }

  void unexplained() {
    conclude("unexplained",
             fmt::format("nothing in the input explains it: {}",
                         counted_ ? "time and counters are probably not of the same run"
                                  : "the time, the work or the machine is not the one of the kernel"),
             counted_ ? "Profile again with time and counters in one run." : "Check time, bytes, FLOPs and --machine.");
  }

  const AboveRoofInput& in_;
  const ResourceUse& over_;
  CeilingKind kind_;
  double limit_;
  bool counted_ = false;
  std::optional<Ceiling> run_;  // at the clock of the run, where the file has it
  const Ceiling* rated_ = nullptr;
  Finding finding_;
};

const ResourceUse* above(const Placement& p, const Thresholds& thresholds) {
  const auto* r = largest_required(p);
  return r != nullptr && r->fraction > thresholds.above_roof ? r : nullptr;
}

struct Cause {
  std::string_view id, words;
};
constexpr std::array kCauses = std::to_array<Cause>({
    {"above-roof-clock", "it ran above the rated clock"},
    {"above-roof-clock-unknown", "the clock is unknown"},
    {"above-roof-measured", "what was measured is no limit"},
    {"above-roof-cache", "the data fits into a cache"},
    {"above-roof-precision", "its FLOPs fit another format"},
    {"above-roof-bytes", "bytes were counted twice"},
    {"above-roof-direction", "bytes of both directions"},
    {"above-roof-time", "time and counts are of different runs"},
});

}  // namespace

std::string_view above_roof_cause(const Finding& finding) {
  const auto* it = std::find_if(kCauses.begin(), kCauses.end(), [&](const Cause& c) { return c.id == finding.id; });
  return it == kCauses.end() ? std::string_view{} : it->words;
}

bool is_above_roof(const Placement& placement, const Placement* datasheet, const Thresholds& thresholds) {
  return above(placement, thresholds) != nullptr || (datasheet != nullptr && above(*datasheet, thresholds) != nullptr);
}

std::optional<Finding> explain_above_roof(const AboveRoofInput& input) {
  if (const auto* over = above(input.placement, input.thresholds))
    return Explainer(input, *over, input.placement.ceiling).explain();
  if (input.datasheet == nullptr) return std::nullopt;
  if (const auto* over = above(*input.datasheet, input.thresholds))
    return Explainer(input, *over, CeilingKind::datasheet).explain();
  return std::nullopt;
}

}  // namespace roofline
