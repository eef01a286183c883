// A measurement as a machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "measure/cpu.h"
#include "measure/figures.h"
#include "roofline/measure.h"

namespace roofline {
namespace {

using namespace measure;

std::string sample_text(const MeasuredValue& v, double unit, std::string_view unit_name) {
  return fmt::format("median {:.4g}, {:.4g} to {:.4g} {} in {} sample{}{}", v.median / unit, v.low / unit,
                     v.high / unit, unit_name, v.samples, v.samples == 1 ? "" : "s",
                     v.only_disturbed ? ", all interrupted"
                     : v.cut_short    ? fmt::format(", cut short: the best differ by {:.1f}%", 100 * v.width)
                                      : "");
}

std::string bandwidth_note(const MeasuredBandwidth& b, bool named) {
  constexpr double kKiB = 1024;
  return fmt::format("{}{}, {:.0f} KiB per thread; {}", named ? "" : fmt::format("{}, ", to_string(b.pattern)), b.isa,
                     b.set_bytes / kKiB, sample_text(b.rate, 1e9, "GB/s"));
}

std::string threads_text(std::size_t threads) {
  return threads == 1 ? std::string("one thread") : fmt::format("{} threads", threads);
}

std::string circumstances(const CpuMeasurement& m, std::size_t threads) {
  return fmt::format(
      "roofline {} on {}: {} on {} of {} cores, {}{}; huge pages {:.0f}%; other programs used {:.0f}% of "
      "the processors, other guests {:.0f}%",
      m.version, m.date, threads_text(threads), measure::processor_text(m.cpu), m.cpu.cores, m.cpu.architecture,
      m.quick ? ", quick" : "", 100 * m.huge_page_share, 100 * m.other_cpu_share, 100 * m.steal_share);
}

void add_identity(const CpuMeasurement& m, std::size_t threads, MachineFacts& facts) {
  auto& out = facts.figures;
  out.push_back(text_figure("kind", "cpu"));
  out.push_back(text_figure("vendor", m.cpu.vendor));
  out.push_back(text_figure("name", fmt::format("{}, {}", measure::processor_text(m.cpu), threads_text(threads))));
  if (!m.cpu.architecture.empty()) out.push_back(text_figure("architecture", m.cpu.architecture));
  out.push_back(text_figure("measured_with", circumstances(m, threads)));
  if (!m.notes.empty()) out.push_back(text_figure("note", fmt::format("{}", fmt::join(m.notes, "; "))));
}

void add_levels(const ThreadedMeasurement& t, MachineFacts& facts) {
  auto& out = facts.figures;
  for (const auto& level : t.levels) {
    if (const auto* best = t.best(level.name))
      out.push_back(bandwidth_figure(level.name + "_measured", best->rate.value, bandwidth_note(*best, false)));
  }
  for (const auto& b : t.bandwidths)
    out.push_back(bandwidth_figure(fmt::format("{}_{}_measured", b.level, to_string(b.pattern)), b.rate.value,
                                   bandwidth_note(b, true)));
  for (const auto& level : t.levels) {
    out.push_back(time_figure(level.name + "_latency_measured", level.latency_s));
    if (!level.bytes) continue;
    constexpr double kKiB = 1024;
    const auto note = level.reported_bytes ? fmt::format("the system reports {:.0f} KiB", *level.reported_bytes / kKiB)
                                           : std::string();
    out.push_back(size_figure(level.name + "_size_measured", *level.bytes, note));
  }
}

void add_peaks(const ThreadedMeasurement& t, MachineFacts& facts) {
  for (const auto& p : t.peaks) {
    const bool integer = is_integer(p.precision.type);
    const auto note =
        fmt::format("{}, {}; {}", p.instructions, p.isa, sample_text(p.rate, 1e9, integer ? "GOP/s" : "GFLOP/s"));
    facts.figures.push_back(operations_figure(fmt::format("{}{}_measured", to_string(p.precision), p.mix ? "_mix" : ""),
                                              p.rate.value, integer, note));
  }
}

}  // namespace

MeasuredMachine measured_machine(const CpuMeasurement& measurement, bool all_threads, const std::string& id) {
  const auto& t = all_threads ? measurement.all : measurement.one;
  MeasuredMachine out;
  add_identity(measurement, t.cpus.size(), out.facts);
  auto& figures = out.facts.figures;
  Figure threads;
  threads.key = "threads_measured";
  threads.text = std::to_string(t.cpus.size());
  threads.value = static_cast<double>(t.cpus.size());
  figures.push_back(std::move(threads));
  if (t.clock.samples > 0)
    figures.push_back(clock_figure("clock_measured", t.clock.value, sample_text(t.clock, 1e6, "MHz")));
  add_levels(t, out.facts);
  add_peaks(t, out.facts);
  out.machine = machine_of(id, out.facts);
  return out;
}

}  // namespace roofline
