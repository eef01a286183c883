#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "roofline/document.h"
#include "timeline/device_step.h"

namespace roofline {
namespace {

struct Group {
  Bottleneck kind;
  std::int64_t ns;
};

std::array<Group, 7> groups_of(const StepAccount& a) {
  using P = StepPart;
  return {{{Bottleneck::gpu, a[P::compute] + a[P::graph]},
           {Bottleneck::host, a.launch_gap_ns() + a[P::host_wait] + a[P::host_call]},
           {Bottleneck::copies, a[P::copy]},
           {Bottleneck::communication, a[P::communication]},
           {Bottleneck::device_gaps, a[P::device_gap]},
           {Bottleneck::start_end, a[P::start] + a[P::end]},
           {Bottleneck::unclear, a[P::unknown] + a[P::profiler] + a[P::unseen]}}};
}

std::string_view words(Bottleneck b) {
  switch (b) {
    case Bottleneck::gpu:
      return "kernels";
    case Bottleneck::host:
      return "waiting for the host";
    case Bottleneck::copies:
      return "copies with no kernel beside them";
    case Bottleneck::communication:
      return "communication with no kernel beside it";
    case Bottleneck::device_gaps:
      return "gaps between kernels that were launched in time";
    case Bottleneck::start_end:
      return "start and end of the work";
    default:
      return "idle time whose cause the recording does not show";
  }
}

std::string host_detail(const StepAccount& a) {
  const auto gaps = a.launch_gap_ns(), waits = a[StepPart::host_wait], calls = a[StepPart::host_call];
  if (gaps >= waits && gaps >= calls)
    return fmt::format(
        "The host launches too late ({}): a CUDA graph, fewer and larger kernels or less host work come first.",
        percent_text(a.share(gaps)));
  if (waits >= calls)
    return fmt::format(
        "After the work is done the host still waits in synchronize calls ({}): launch the next work before "
        "waiting for the last.",
        percent_text(a.share(waits)));
  return fmt::format(
      "The host is held in other runtime calls, such as allocation or module loading ({}): take them out of "
      "the step.",
      percent_text(a.share(calls)));
}

std::string advice(Bottleneck b, const StepAccount& a) {
  switch (b) {
    case Bottleneck::gpu:
      return "A roofline of its kernels is the right question.";
    case Bottleneck::host:
      return host_detail(a);
    case Bottleneck::copies:
      return "Keep the data on the GPU, or copy beside the kernels on another stream; no kernel can make up for this.";
    case Bottleneck::communication:
      return "Overlap it with kernels, or compare the ranks: who waits for whom.";
    case Bottleneck::device_gaps:
      return "The GPU waits for other streams, events or devices, or the kernels are too short for their launch "
             "latency.";
    case Bottleneck::start_end:
      return "So short a recording says little: let the program repeat its work.";
    default:
      return "Record again before any conclusion, with the host's calls (nsys --trace=cuda,nvtx) and for the whole "
             "step.";
  }
}

}  // namespace

std::optional<std::size_t> lone_gap_part(const StepAccount& account) {
  constexpr std::uint64_t kMany = 20;  // among a few gaps one is long by chance
  std::uint64_t gaps = 0;
  for (std::size_t i = kFirstIdlePart; i < kStepParts; ++i) gaps += account.evidence[i].pieces;
  if (gaps < kMany) return std::nullopt;
  for (std::size_t i = kFirstIdlePart; i < kStepParts; ++i) {
    const auto& e = account.evidence[i];
    if (e.next != kNone && account.wall_ns > 0 && 2 * e.longest.length() >= account.wall_ns) return i;
  }
  return std::nullopt;
}

std::string duration_text(std::int64_t ns) { return si(static_cast<double>(ns) * 1e-9, "s"); }

std::string percent_text(double share) {
  constexpr double kFactor = 10;  // as a percentage hard to read
  if (std::abs(share) >= kFactor) return fmt::format("{:.{}f}×", share, std::abs(share) < 100 ? 1 : 0);
  const double percent = 100 * share;
  if (percent > 0 && percent < 0.005) return "<0.01 %";
  if (percent != 0 && std::abs(percent) < 0.1) return fmt::format("{:.2f} %", percent);
  return fmt::format("{:.1f} %", percent);
}

std::string_view to_string(Bottleneck bottleneck) {
  constexpr std::string_view kNames[] = {"gpu",         "host",      "copies", "communication",
                                         "device-gaps", "start-end", "unclear"};
  return kNames[static_cast<std::size_t>(bottleneck)];
}

void judge(const StepAnalysisOptions& options, DeviceStep& step) {
  auto a = step.counted;
  std::string without;
  if (const auto part = lone_gap_part(a)) {
    const auto pause = a.evidence[*part].longest.length();
    a.parts[*part] -= std::min(a.parts[*part], pause);
    a.wall_ns -= pause;
    without = fmt::format("Leaving out one pause of {}: ", duration_text(pause));
  }
  auto groups = groups_of(a);
  const auto gpu = groups.front();
  std::sort(groups.begin(), groups.end(), [](const Group& x, const Group& y) { return x.ns > y.ns; });
  step.bottleneck = a.share(gpu.ns) >= options.gpu_bound ? Bottleneck::gpu : groups.front().kind;
  const auto what = step.windows > 1 || step.steps_by != StepsBy::none ? "step" : "recorded time";
  if (step.bottleneck == Bottleneck::gpu) {
    step.verdict = fmt::format("{}The GPU is the bottleneck: kernels run {} of the {}. {}", without,
                               percent_text(a.share(gpu.ns)), what, advice(Bottleneck::gpu, a));
    const auto& second = groups[1];
    if (a.share(second.ns) >= 0.05)
      step.verdict += fmt::format(" {} more goes to {}.", percent_text(a.share(second.ns)), words(second.kind));
    return;
  }
  step.verdict = fmt::format(
      "{}The GPU's kernels are not the bottleneck: they run {} of the {}, and {} goes to {}. {} Perfect "
      "kernels would save {} at most.",
      without, percent_text(a.share(gpu.ns)), what, percent_text(a.share(groups.front().ns)), words(step.bottleneck),
      advice(step.bottleneck, a), percent_text(a.share(gpu.ns)));
}

}  // namespace roofline
