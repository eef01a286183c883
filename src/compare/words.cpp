#include "compare/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compare/limits.h"
#include "report/labels.h"
#include "report/numbers.h"

namespace roofline::comparing {
namespace {

constexpr double kWorkChange = 0.05;       // relative, of bytes or operations, from which work has changed
constexpr double kPrecisionChange = 0.10;  // of all operations, from which they moved to another precision

const SideKernel* main_kernel(const std::vector<std::size_t>& group, std::span<const SideKernel> kernels) {
  return group.empty() ? nullptr : &kernels[group.front()];
}

// After / before of one call of the main kernel; of all launches where they are equally many.
std::optional<double> per_call_ratio(const Change& total, const Change& launches) {
  if (!total.before || !total.after || *total.before <= 0) return std::nullopt;
  const double ratio = *total.after / *total.before;
  if (!launches.before || !launches.after || *launches.before <= 0 || *launches.after <= 0) return ratio;
  return ratio / (*launches.after / *launches.before);
}

std::string per_call_note(const Change& launches) {
  return launches.before && launches.after && *launches.before != *launches.after ? " per launch" : "";
}

bool moved(double ratio) { return ratio > 1 + kWorkChange || ratio < 1 / (1 + kWorkChange); }

void add_amount(std::string_view what, const Change& total, const Change& launches, std::string_view more,
                std::string_view less, std::vector<std::string>& out) {
  const auto ratio = per_call_ratio(total, launches);
  if (total.before && total.after && *total.before == 0 && *total.after > 0)
    out.push_back(fmt::format("{} where there were none", what));
  if (!ratio || !moved(*ratio)) return;
  const auto hint = *ratio > 1 ? more : less;
  out.push_back(
      fmt::format("{} {}{}{}{}", what, change_text(*ratio), per_call_note(launches), hint.empty() ? "" : ": ", hint));
}

// ---------------------------------------------------------------- precision

// Bits of an operand: what "fell back" means. Merged and unknown types have none.
int bits_of(NumberType type) {
  switch (type) {
    case NumberType::fp64:
      return 64;
    case NumberType::fp32:
      return 32;
    case NumberType::tf32:
      return 19;
    case NumberType::fp16:
    case NumberType::bf16:
      return 16;
    case NumberType::fp8:
      return 8;
    case NumberType::fp6:
      return 6;
    case NumberType::fp4:
      return 4;
    default:
      return 0;
  }
}

struct Share {
  std::string key;
  double share = 0;
};

double sum_of(const std::map<std::string, double>& ops) {
  double sum = 0;
  for (const auto& [key, n] : ops) sum += n;
  return sum;
}

std::map<std::string, double> operations(const std::vector<std::size_t>& group, std::span<const SideKernel> kernels) {
  std::map<std::string, double> out;
  for (const auto i : group)
    for (const auto& [key, n] : kernels[i].mean.ops) out[key] += n;
  return out;
}

Share largest(const std::map<std::string, double>& ops) {
  Share out;
  const double sum = sum_of(ops);
  for (const auto& [key, n] : ops)
    if (sum > 0 && n / sum > out.share) out = {key, n / sum};
  return out;
}

std::string direction(const std::string& from, const std::string& to) {
  const auto a = parse_precision(from);
  const auto b = parse_precision(to);
  if (!a || !b) return {};
  if (a->path == Path::tensor && b->path == Path::vector) return ": it left the tensor cores";
  if (a->path == Path::vector && b->path == Path::tensor) return ": it moved to the tensor cores";
  const int x = bits_of(a->type), y = bits_of(b->type);
  if (x == 0 || y == 0 || x == y) return {};
  return y > x ? ": the precision fell back" : ": a narrower type";
}

void add_precision(const ComparedKernel& row, std::span<const SideKernel> before, std::span<const SideKernel> after,
                   std::vector<std::string>& out) {
  const auto a = operations(row.before, before);
  const auto b = operations(row.after, after);
  const double sum_a = sum_of(a), sum_b = sum_of(b);
  if (sum_a <= 0 || sum_b <= 0) return;
  double change = 0;  // half of what moved away plus what moved in
  for (const auto& [key, n] : a) change += std::abs(n / sum_a - (b.contains(key) ? b.at(key) / sum_b : 0)) / 2;
  for (const auto& [key, n] : b)
    if (!a.contains(key)) change += n / sum_b / 2;
  if (change < kPrecisionChange) return;
  const auto from = largest(a), to = largest(b);
  if (from.key == to.key)
    out.push_back(fmt::format("operations in {} {} → {} of all", to.key, numbers::percent(from.share),
                              numbers::percent(to.share)));
  else
    out.push_back(fmt::format("operations {} {} → {} {}{}", from.key, numbers::percent(from.share), to.key,
                              numbers::percent(to.share), direction(from.key, to.key)));
}

// ---------------------------------------------------------------- names and shapes

std::string short_name(const SideKernel& k) {
  constexpr std::size_t kWidth = 60;
  return cut_middle(k.name, kWidth);
}

std::string shape_text(const SideKernel& k) {
  return fmt::format("{} x {}", report::dimensions(k.grid), report::dimensions(k.block));
}

void add_identity(const ComparedKernel& row, const SideKernel& a, const SideKernel& b, std::vector<std::string>& out) {
  if (row.before.size() == 1 && row.after.size() == 1 && a.full_name != b.full_name) {
    if (a.name != b.name)
      out.push_back(fmt::format("another kernel: {} → {} (a library or compiler update, or another choice)",
                                short_name(a), short_name(b)));
    else
      out.emplace_back("other template arguments or parameters of the same function");
  }
  if (a.grid.count() != 0 && b.grid.count() != 0 && (a.grid != b.grid || a.block != b.block))
    out.push_back(fmt::format("launch shape {} → {}", shape_text(a), shape_text(b)));
}

// ---------------------------------------------------------------- what does not bind

std::string binding_of(const KernelRecord& k) {
  return k.regime == Regime::memory ? "memory-bound" : k.regime == Regime::compute ? "compute-bound" : "";
}

}  // namespace

Column name_column(std::string title, std::string key, std::size_t least) {
  Column out;
  out.title = std::move(title);
  out.key = std::move(key);
  out.align = Align::left;
  out.shrink = true;
  out.least = least;
  return out;
}

std::string change_text(double ratio) {
  if (!std::isfinite(ratio)) return "—";
  constexpr double kLarge = 10;  // from here on percent are hard to read
  if (ratio >= kLarge) return "×" + numbers::ratio(ratio);
  if (ratio <= 1 / kLarge && std::isfinite(1 / ratio)) return "÷" + numbers::ratio(1 / ratio);
  const double percent = 100 * (ratio - 1);
  const double size = std::abs(percent);
  const auto digits = size < 9.95 ? fmt::format("{:.1f}", size) : fmt::format("{:.0f}", size);
  if (size < 0.05) return "0%";
  return fmt::format("{}{}%", percent < 0 ? "−" : "+", digits);
}

std::string interval_text(const Interval& ratio) {
  auto low = change_text(ratio.low);
  if (low.ends_with('%') && change_text(ratio.high).ends_with('%')) low.pop_back();
  return fmt::format("{} to {}", low, change_text(ratio.high));
}

std::string seconds_text(double seconds) { return si(seconds, "s"); }

std::string signed_seconds_text(double seconds) {
  if (seconds == 0) return "0 s";
  return fmt::format("{}{}", seconds < 0 ? "−" : "+", si(std::abs(seconds), "s"));
}

std::vector<std::string> what_changed(const ComparedKernel& row, std::span<const SideKernel> before,
                                      std::span<const SideKernel> after) {
  std::vector<std::string> out;
  const auto* a = main_kernel(row.before, before);
  const auto* b = main_kernel(row.after, after);
  if (a == nullptr || b == nullptr) return out;
  // Launches of a kernel that was split or merged are not those of one and the same kernel: its sums are compared.
  const auto launches = row.kind == MatchKind::matched ? row.launches : Change();
  if (row.position_before != row.position_after)
    out.push_back(fmt::format("{} → {}", to_string(row.position_before), to_string(row.position_after)));
  add_amount("DRAM bytes", row.dram_bytes, launches, "a layout or a fusion broke, or a cache no longer holds them", "",
             out);
  add_amount("FLOPs", row.flops, launches, "work is done twice, or padding", "", out);
  add_amount("link bytes", row.link_bytes, launches, "", "", out);
  add_precision(row, before, after, out);
  if (row.launches.before && row.launches.after && *row.launches.before != *row.launches.after)
    out.push_back(
        fmt::format("launches {} → {}", numbers::count(*row.launches.before), numbers::count(*row.launches.after)));
  add_identity(row, *a, *b, out);
  if (a->mean.limiter != b->mean.limiter && !b->mean.limiter.empty())
    out.push_back(fmt::format("now limited by {}", b->mean.limiter));
  if (a->mean.clock_hz && b->mean.clock_hz && clocks_differ(*a->mean.clock_hz, *b->mean.clock_hz))
    out.push_back(fmt::format("clock {} → {}", si(*a->mean.clock_hz, "Hz"), si(*b->mean.clock_hz, "Hz")));
  return out;
}

std::string worthless_change(const ComparedKernel& row, std::span<const SideKernel> before,
                             std::span<const SideKernel> after) {
  const auto* a = main_kernel(row.before, before);
  const auto* b = main_kernel(row.after, after);
  if (a == nullptr || b == nullptr || a->mean.regime != b->mean.regime || !a->mean.fraction) return {};
  const bool memory = a->mean.regime == Regime::memory;
  if (!memory && a->mean.regime != Regime::compute) return {};
  const auto launches = row.kind == MatchKind::matched ? row.launches : Change();
  // With unknown operations nobody knows which resource binds.
  if (a->mean.bound != Bound::exact || b->mean.bound != Bound::exact) return {};
  const auto ratio = per_call_ratio(memory ? row.flops : row.dram_bytes, launches);
  const auto binding = per_call_ratio(memory ? row.dram_bytes : row.flops, launches);
  if (!ratio || !binding || !moved(*ratio)) return {};
  auto text = fmt::format("this changes {} by {} of a {} kernel: worth 0 µs", memory ? "FLOPs" : "DRAM bytes",
                          change_text(*ratio), binding_of(a->mean));
  if (moved(*binding))
    text += fmt::format(" by itself; its {} changed by {}, which counts", memory ? "DRAM bytes" : "FLOPs",
                        change_text(*binding));
  else if (row.call_time_s.before && row.call_time_s.after && moved(*row.call_time_s.after / *row.call_time_s.before))
    text += fmt::format(" of its roof; that it takes {} is another share of the same roof",
                        change_text(*row.call_time_s.after / *row.call_time_s.before));
  return text;
}

}  // namespace roofline::comparing
