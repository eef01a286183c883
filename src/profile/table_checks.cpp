#include "profile/table_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace roofline::table {
namespace {

// A linear layer of T tokens with w bytes per weight has intensity 2T/w less what activations add. Matrices of real
// models stay above a quarter of it up to kMaxTokens tokens.
constexpr double kLinearSlack = 0.25;
constexpr double kLinearOver = 1.02;
constexpr double kMaxTokens = 512;
// A decode step of a dense model uses all weights but the token embedding, and names round.
constexpr double kWeightsUsed = 0.7;

std::string number(double value, std::string_view unit, int digits = 3) {
  struct Prefix {
    double factor;
    std::string_view symbol;
  };
  static constexpr std::array<Prefix, 8> kPrefixes = {
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}}};
  for (const auto& p : kPrefixes) {
    if (value >= p.factor * 0.9995) return fmt::format("{:.{}g} {}{}", value / p.factor, digits, p.symbol, unit);
  }
  return fmt::format("{:.{}g} {}", value, digits, unit);
}

std::string ratio(double value) { return fmt::format("{:.3g}", value); }
std::string percent(double value) { return fmt::format("{:.3g} %", value * 100); }

class Findings {
 public:
  Findings(std::string subject, std::optional<std::uint64_t> launch, std::vector<ReadWarning>& warnings)
      : subject_(std::move(subject)), launch_(launch), warnings_(&warnings) {}
  void add(const std::string& text, const char* code = "contradiction") const {
    warnings_->push_back({code, fmt::format("{}: {}", subject_, text), launch_});
  }
  // Both are ways to the same number.
  void compare(std::string_view what, const Interval& computed, const std::string& shown, const Interval& printed,
               const std::string& printed_shown) const {
    if (computed.overlaps(printed)) return;
    add(fmt::format("{} gives {}, the table says {}", what, shown, printed_shown));
  }

 private:
  std::string subject_;
  std::optional<std::uint64_t> launch_;
  std::vector<ReadWarning>* warnings_;
};

// --- one row ---

std::optional<Interval> peak_of(const CheckedRow& row, const Caption& caption) {
  const auto fits = [&](const Peak& p) { return p.precision && row.precision && *p.precision == *row.precision; };
  const auto it = std::find_if(caption.peaks.begin(), caption.peaks.end(), fits);
  if (it != caption.peaks.end()) return it->flops_per_s.range;
  if (caption.peaks.size() == 1 && !caption.peaks.front().precision) return caption.peaks.front().flops_per_s.range;
  return std::nullopt;
}

std::optional<Interval> intensity_of(const CheckedRow& row) {
  const auto& n = row.numbers;
  if (row.work.flops.value && row.work.bytes.value && row.work.bytes.value->value > 0) {
    return row.work.flops.value->range / row.work.bytes.value->range;
  }
  return n.intensity ? std::optional(n.intensity->range) : std::nullopt;
}

void check_arithmetic(const CheckedRow& row, const Findings& findings) {
  const auto& n = row.numbers;
  const auto& flops = n.flops;
  if (flops && n.bytes && n.bytes->value > 0 && n.intensity) {
    findings.compare("FLOPs / bytes", flops->range / n.bytes->range, number(flops->value / n.bytes->value, "FLOP/byte"),
                     n.intensity->range, number(n.intensity->value, "FLOP/byte"));
  }
  if (flops && n.time && n.rate) {
    findings.compare("FLOPs / time", flops->range / n.time->range, number(flops->value / n.time->value, "FLOP/s"),
                     n.rate->range, number(n.rate->value, "FLOP/s"));
  }
  if (n.bytes && n.time && n.bandwidth) {
    findings.compare("bytes / time", n.bytes->range / n.time->range, number(n.bytes->value / n.time->value, "B/s"),
                     n.bandwidth->range, number(n.bandwidth->value, "B/s"));
  }
  if (n.bytes && n.read && n.write) {
    findings.compare("read + write", n.read->range + n.write->range, number(n.read->value + n.write->value, "B"),
                     n.bytes->range, number(n.bytes->value, "B"));
  }
  const auto intensity = intensity_of(row);
  if (!n.time && n.rate && n.bandwidth && n.bandwidth->value > 0 && intensity) {
    findings.compare("achieved / bandwidth", n.rate->range / n.bandwidth->range,
                     number(n.rate->value / n.bandwidth->value, "FLOP/byte"), *intensity,
                     fmt::format("{} to {} FLOP/byte", ratio(intensity->low), ratio(intensity->high)));
  }
}

void check_precise(const CheckedRow& row, const Findings& findings) {
  const auto& n = row.numbers;
  if (!n.flops || n.precise_flops.empty()) return;
  Interval sum;
  double value = 0;
  for (const auto& [precision, flops] : n.precise_flops) {
    if (is_integer(precision.type)) continue;
    sum = sum + flops.range;
    value += flops.value;
  }
  findings.compare("the sum of the FLOPs per precision", sum, number(value, "FLOP"), n.flops->range,
                   number(n.flops->value, "FLOP"));
}

void check_peaks(const CheckedRow& row, const Caption& caption, const Findings& findings) {
  const auto& w = row.work;
  if (!w.time.value) return;
  if (caption.bandwidth && w.bytes.value) {
    const auto moved = w.bytes.value->range / w.time.value->range;
    if (moved.low > caption.bandwidth->range.high) {
      findings.add(fmt::format("{} in {} is {}, more than the {} of the caption", number(w.bytes.value->value, "B"),
                               number(w.time.value->value, "s"),
                               number(w.bytes.value->value / w.time.value->value, "B/s"),
                               number(caption.bandwidth->value, "B/s")));
    }
  }
  const auto peak = peak_of(row, caption);
  if (peak && w.flops.value && (w.flops.value->range / w.time.value->range).low > peak->high) {
    findings.add(fmt::format("{} in {} is {}, more than the {} of the caption", number(w.flops.value->value, "FLOP"),
                             number(w.time.value->value, "s"),
                             number(w.flops.value->value / w.time.value->value, "FLOP/s"),
                             number((peak->low + peak->high) / 2, "FLOP/s")));
  }
}

enum class Roof : std::uint8_t { any, memory, compute };

Roof named_roof(const RowNumbers& row) {
  const auto text = lower(std::string_view(row.fraction_text).substr(0, 200));
  for (const auto* word : {"mem", "dram", "hbm", "bandwidth"}) {
    if (text.find(word) != std::string::npos) return Roof::memory;
  }
  return text.find("comp") != std::string::npos || text.find("flop") != std::string::npos ? Roof::compute : Roof::any;
}

// The shortest time that the caption's peaks allow; `all` is false where a roof is missing, so that it is a floor.
struct RoofTime {
  Interval time;
  double value = 0;
  bool all = false;
};

std::optional<RoofTime> roof_time(const CheckedRow& row, const Caption& caption) {
  const auto roof = named_roof(row.numbers);
  const auto peak = peak_of(row, caption);
  std::optional<RoofTime> memory;
  std::optional<RoofTime> compute;
  if (caption.bandwidth && row.work.bytes.value) {
    const auto& bytes = *row.work.bytes.value;
    memory = RoofTime{bytes.range / caption.bandwidth->range, bytes.value / caption.bandwidth->value, true};
  }
  if (peak && row.work.flops.value) {
    const auto& flops = *row.work.flops.value;
    compute = RoofTime{flops.range / *peak, 2 * flops.value / (peak->low + peak->high), true};
  }
  if (roof == Roof::memory) return memory;
  if (roof == Roof::compute) return compute;
  if (memory && compute) {
    return RoofTime{max(memory->time, compute->time), std::max(memory->value, compute->value), true};
  }
  auto known = memory ? memory : compute;
  if (known) known->all = false;
  return known;
}

void check_fraction(const CheckedRow& row, const Caption& caption, const Findings& findings) {
  const auto& printed = row.numbers.fraction;
  const auto roof = roof_time(row, caption);
  if (!printed || !roof || !row.work.time.value) return;
  const auto fraction = roof->time / row.work.time.value->range;
  const bool wrong = roof->all ? !fraction.overlaps(printed->range) : fraction.low > printed->range.high;
  if (!wrong) return;
  findings.add(fmt::format("{} at the caption's peaks against {} is {} of the roof, the table says {}",
                           number(roof->value, "s"), number(row.work.time.value->value, "s"),
                           percent(roof->value / row.work.time.value->value), percent(printed->value)));
}

bool is_linear(std::string_view name) {
  const auto text = lower(name.substr(0, 512));
  const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  // Products of activations, and layers that spread the tokens over experts, follow other rules.
  for (const auto* other : {"attention", "attn", "moe", "expert", "grouped", "bmm", "batched", "score"}) {
    if (has(other)) return false;
  }
  return has("gemm") || has("_proj") || has("linear") || has("matmul") || has("lm_head");
}

void check_linear(const CheckedRow& row, const Caption& caption, const Findings& findings) {
  const auto width = caption.weight_bytes ? caption.weight_bytes : bytes_per_weight(caption.data_type);
  const auto intensity = intensity_of(row);
  if (!caption.decode || !caption.batch || *caption.batch > kMaxTokens || !width || !intensity) return;
  if (!is_linear(row.numbers.name) && !is_linear(row.numbers.op)) return;
  const double most = 2 * *caption.batch / *width;
  if (intensity->high >= kLinearSlack * most && intensity->low <= kLinearOver * most) return;
  const double typed = row.work.flops.value && row.work.bytes.value
                           ? row.work.flops.value->value / row.work.bytes.value->value
                           : row.numbers.intensity->value;
  std::string other;
  if (*width != 1) other = fmt::format(", or of {} at 1 byte", ratio(typed / 2));
  findings.add(
      fmt::format("{} FLOP/byte, but a linear layer that decodes batch {:.0f} with {} bytes per weight ({}) has "
                  "about {} (every weight read serves all tokens); the printed ones are those of {} tokens at "
                  "{} bytes per weight{}",
                  ratio(typed), *caption.batch, ratio(*width), caption.data_type, ratio(most),
                  ratio(typed * *width / 2), ratio(*width), other));
}

// --- sums ---

// What the row's own columns leave for its time, the stated fraction of the caption's roof included.
std::optional<Interval> time_range(const CheckedRow& row, const Caption& caption) {
  const auto& n = row.numbers;
  if (!row.work.time.value) return std::nullopt;
  auto range = row.work.time.value->range;
  const auto narrow = [&](const std::optional<Interval>& other) {
    if (!other) return;
    if (const auto both = range.intersect(*other)) range = *both;
  };
  const auto time_of = [](const std::optional<Printed>& work, const std::optional<Printed>& rate) {
    return work && rate && rate->value > 0 ? std::optional(work->range / rate->range) : std::nullopt;
  };
  narrow(time_of(row.work.flops.value, n.rate));
  narrow(time_of(row.work.bytes.value, n.bandwidth));
  const auto roof = roof_time(row, caption);
  if (roof && roof->all && n.fraction && n.fraction->value > 0) narrow(roof->time / n.fraction->range);
  return range;
}

struct Sum {
  Interval range;
  double value = 0;
  bool complete = true;
};

template <typename Get>
Sum sum_of(const std::vector<CheckedRow>& rows, Get get) {
  Sum sum;
  for (const auto& row : rows) {
    const std::optional<std::pair<double, Interval>> part = get(row);
    if (!part) {
      sum.complete = false;
      continue;
    }
    sum.value += part->first;
    sum.range = sum.range + part->second;
  }
  return sum;
}

void compare_total(const Findings& findings, std::string_view what, const Sum& sum,
                   const std::optional<Printed>& printed, std::string_view unit) {
  if (!printed) return;
  const bool wrong = sum.complete ? !sum.range.overlaps(printed->range) : sum.range.low > printed->range.high;
  if (!wrong) {
    const bool differs = (sum.value < printed->range.low || sum.value > printed->range.high) &&
                         number(sum.value, unit) != number(printed->value, unit);
    if (!sum.complete || !differs) return;
    findings.add(
        fmt::format("the rows' {} add up to {}, the total says {}; the rounding of the rows' figures leaves room "
                    "for that ({} to {})",
                    what, number(sum.value, unit), number(printed->value, unit), number(sum.range.low, unit, 4),
                    number(sum.range.high, unit, 4)),
        "total-differs");
    return;
  }
  findings.add(fmt::format("the rows' {} add up to {} ({} to {} within rounding), the total says {}", what,
                           number(sum.value, unit), number(sum.range.low, unit, 4), number(sum.range.high, unit, 4),
                           number(printed->value, unit)));
}

void check_model(const StatedTotal& total, const Caption& caption, const Findings& findings) {
  if (!caption.decode || !caption.parameters || caption.parallel) return;
  const double weights = *caption.parameters;
  if (total.flops && caption.batch && total.flops->range.high < kWeightsUsed * 2 * weights * *caption.batch) {
    findings.add(
        fmt::format("{} FLOPs, but decoding batch {:.0f} of a model with {} weights takes about {} (2 per weight "
                    "and token)",
                    number(total.flops->value, ""), *caption.batch, number(weights, ""),
                    number(2 * weights * *caption.batch, "FLOP")));
  }
  const auto width = caption.weight_bytes ? caption.weight_bytes : bytes_per_weight(caption.data_type);
  if (total.bytes && width && total.bytes->range.high < kWeightsUsed * weights * *width) {
    findings.add(fmt::format("{} moved, but a step reads every weight once: {} weights of {} bytes ({}) are about {}",
                             number(total.bytes->value, "B"), number(weights, ""), ratio(*width), caption.data_type,
                             number(weights * *width, "B")));
  }
}

}  // namespace

void check_row(const CheckedRow& row, const Caption& caption, std::vector<ReadWarning>& warnings) {
  const Findings findings(fmt::format("line {}, '{}'", row.numbers.line, excerpt(row.numbers.name)), row.launch,
                          warnings);
  check_arithmetic(row, findings);
  check_precise(row, findings);
  check_peaks(row, caption, findings);
  check_fraction(row, caption, findings);
  check_linear(row, caption, findings);
}

void check_caption(const Caption& caption, std::vector<ReadWarning>& warnings) {
  if (!caption.ridge || !caption.bandwidth || caption.peaks.size() != 1) return;
  const auto& peak = caption.peaks.front().flops_per_s;
  Findings("caption", std::nullopt, warnings)
      .compare("peak / bandwidth", peak.range / caption.bandwidth->range,
               number(peak.value / caption.bandwidth->value, "FLOP/byte"), caption.ridge->range,
               number(caption.ridge->value, "FLOP/byte"));
}

void check_totals(const std::vector<CheckedRow>& rows, const StatedTotal& total, const Caption& caption,
                  std::vector<ReadWarning>& warnings) {
  const Findings findings(fmt::format("line {}, total", total.line), std::nullopt, warnings);
  const auto of = [](const Derived& d) {
    return d.value ? std::optional(std::pair(d.value->value, d.value->range)) : std::nullopt;
  };
  compare_total(findings, "FLOPs", sum_of(rows, [&](const CheckedRow& r) { return of(r.work.flops); }), total.flops,
                "FLOP");
  compare_total(findings, "bytes", sum_of(rows, [&](const CheckedRow& r) { return of(r.work.bytes); }), total.bytes,
                "B");
  const auto time = [&](const CheckedRow& r) -> std::optional<std::pair<double, Interval>> {
    const auto range = time_range(r, caption);
    if (!range) return std::nullopt;
    return std::pair(r.work.time.value->value, *range);
  };
  compare_total(findings, "times", sum_of(rows, time), total.time, "s");
  if (total.bytes && total.time && caption.bandwidth &&
      (total.bytes->range / total.time->range).low > caption.bandwidth->range.high) {
    findings.add(fmt::format("{} in {} is more than the {} of the caption", number(total.bytes->value, "B"),
                             number(total.time->value, "s"), number(caption.bandwidth->value, "B/s")));
  }
  check_model(total, caption, findings);
}

}  // namespace roofline::table
