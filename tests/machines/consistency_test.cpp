// The catalogue against itself: peaks, clocks, rates, buses and sparsity must tell one story, or the row says why not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "roofline/machines.h"

namespace roofline {
namespace {

constexpr double kTolerance = 0.02;

const MachineCatalogue& catalogue() { return MachineCatalogue::instance(); }

bool differs(double a, double b, double tolerance) { return std::abs(a / b - 1) > tolerance; }

const Peak* entry(const Machine& machine, const Precision& precision) {
  for (const auto& peak : machine.ceiling(CeilingKind::datasheet)->peaks)
    if (peak.precision == precision) return &peak;
  return nullptr;
}

// A derived clock or SM count was computed from the very peaks: agreement would be by construction.
bool circular(const MachineFacts& facts, const Figure& figure, const Peak& peak) {
  if (figure.derived) return true;
  const auto derived = [&](const char* key) {
    const auto* f = facts.find(key);
    return f != nullptr && f->derived;
  };
  const auto tensor = facts.value("tensor_clock");
  const bool at_tensor_clock = tensor && peak.clock_hz == tensor;
  return derived("sm_count") || derived(at_tensor_clock ? "tensor_clock" : "boost_clock");
}

struct PeakCheck {
  int checked = 0, circular = 0, unchecked = 0, explained = 0;
};

void check_peak(const Machine& machine, const MachineFacts& facts, const Figure& figure, PeakCheck& count) {
  const auto precision = parse_precision(figure.key);
  if (!precision || precision->sparse) return;
  const auto* rates = catalogue().rates(machine.rates);
  const auto rate = rates == nullptr ? std::nullopt : rates->rate(*precision);
  const auto* peak = entry(machine, *precision);
  ASSERT_NE(peak, nullptr);
  if (!rate || !machine.sm_count || !peak->clock_hz) {
    ++count.unchecked;
    return;
  }
  const double computed = *machine.sm_count * *rate * *peak->clock_hz;
  const bool off = differs(*figure.value, computed, kTolerance);
  if (off) {
    ++count.explained;
    EXPECT_FALSE(figure.note.empty()) << fmt::format("{} {}: stated {:g}, SMs x rate x clock {:g} ({:+.1f} %)",
                                                     machine.id, figure.key, *figure.value, computed,
                                                     100 * (*figure.value / computed - 1));
  }
  ++(circular(facts, figure, *peak) ? count.circular : count.checked);
}

TEST(Consistency, PeakIsSmsTimesRateTimesClock) {
  PeakCheck count;
  for (const auto& machine : catalogue().machines())
    for (const auto& figure : catalogue().facts(machine).figures)
      check_peak(machine, catalogue().facts(machine), figure, count);
  fmt::print(
      "peaks: {} independent checks, {} circular (clock or figure derived from a peak), {} without rate or "
      "clock, {} explained exceptions\n",
      count.checked, count.circular, count.unchecked, count.explained);
  EXPECT_GE(count.checked, 250);
  EXPECT_LE(count.explained, 12);
}

TEST(Consistency, BandwidthIsBusTimesRate) {
  int checked = 0;
  for (const auto& machine : catalogue().machines()) {
    const auto& facts = catalogue().facts(machine);
    const auto bus = facts.value("bus_width");
    const auto pin = facts.value("pin_rate");
    const auto* dram = facts.find("dram");
    if (!bus || !pin || dram == nullptr) continue;
    ++checked;
    if (differs(*dram->value, *bus / 8 * *pin, kTolerance)) {
      EXPECT_FALSE(dram->note.empty()) << machine.id << " " << *dram->value << " " << *bus / 8 * *pin;
    }
  }
  fmt::print("bandwidths: {} compared with bus x rate\n", checked);
  EXPECT_GE(checked, 55);
}

TEST(Consistency, SparseIsTheChipsFactorTimesDense) {
  int checked = 0;
  for (const auto& machine : catalogue().machines())
    for (const auto& peak : machine.ceiling(CeilingKind::datasheet)->peaks) {
      if (!peak.precision.sparse) continue;
      auto dense_key = peak.precision;
      dense_key.sparse = false;
      const auto* dense = entry(machine, dense_key);
      ASSERT_NE(dense, nullptr) << machine.id;
      ++checked;
      const auto* stated = catalogue().facts(machine).find(to_string(peak.precision));
      const auto explained = stated != nullptr && (!stated->note.empty() || machine.id == "trainium2");
      if (!explained) {
        EXPECT_NEAR(peak.ops_per_s / dense->ops_per_s, 2, 0.01) << machine.id;
      }
    }
  EXPECT_GE(checked, 200);
}

// The classical error: a row that took its neighbour's sparse figure for its dense one.
TEST(Consistency, NoDensePeakEqualsANeighboursSparsePeak) {
  const auto bf16 = *parse_precision("bf16.tensor");
  const auto sparse = *parse_precision("bf16.tensor.sparse");
  int compared = 0;
  for (const auto& a : catalogue().machines())
    for (const auto& b : catalogue().machines()) {
      if (&a == &b || a.chip != b.chip || a.chip.empty()) continue;
      const auto* dense = entry(a, bf16);
      const auto* other = entry(b, sparse);
      if (dense == nullptr || other == nullptr) continue;
      ++compared;
      if (differs(dense->ops_per_s, other->ops_per_s, 0.002)) continue;
      const auto* figure = catalogue().facts(a).find("bf16.tensor");
      EXPECT_TRUE(figure != nullptr && !figure->note.empty()) << a.id << " equals sparse " << b.id;
    }
  EXPECT_GT(compared, 50);
}

TEST(Consistency, RatesBelongToTheComputeCapability) {
  for (const auto& machine : catalogue().machines()) {
    if (machine.rates.empty()) continue;
    EXPECT_EQ(catalogue().rates(machine.rates)->compute_capability, machine.compute_capability) << machine.id;
  }
  std::set<std::string> defaults;
  for (const auto& chip : catalogue().chips())
    if (chip.any_part) {
      EXPECT_TRUE(defaults.insert(chip.compute_capability).second) << chip.id;
    }
}

// What holds for every part of a compute capability must hold for each product line of it.
TEST(Consistency, SharedRatesAgreeWithEveryProductLine) {
  for (const auto& any : catalogue().chips()) {
    if (!any.any_part) continue;
    for (const auto& line : catalogue().chips())
      if (line.compute_capability == any.compute_capability)
        for (const auto& [precision, rate] : any.per_sm_clock)
          if (const auto other = line.rate(precision)) {
            EXPECT_EQ(rate, *other) << line.id << to_string(precision);
          }
  }
}

TEST(Consistency, MeasuredIsNotFarAboveDatasheet) {
  for (const auto& machine : catalogue().machines()) {
    const auto* measured = machine.ceiling(CeilingKind::measured);
    if (measured == nullptr) continue;
    const auto* datasheet = machine.ceiling(CeilingKind::datasheet);
    for (const auto& b : measured->bandwidths)
      if (const auto rated = datasheet->bandwidth(b.level, b.definition)) {
        EXPECT_LT(b.bytes_per_s, *rated * 1.02);
      }
    for (const auto& p : measured->peaks)
      if (const auto rated = datasheet->peak(p.precision)) {
        EXPECT_LT(p.ops_per_s, rated->high * 1.02) << machine.id;
      }
  }
}

}  // namespace
}  // namespace roofline
