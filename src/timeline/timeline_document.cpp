#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "report/numbers.h"
#include "roofline/machines.h"
#include "roofline/names.h"
#include "roofline/timeline_views.h"
#include "timeline/device_step.h"
#include "timeline/words.h"

namespace roofline {
namespace {

Cell text_cell(std::string text, Tone tone = Tone::normal) { return {std::move(text), std::nullopt, tone}; }
Cell time_cell(double seconds) { return {si(seconds, "s"), seconds}; }
Cell time_cell_ns(std::int64_t ns) { return time_cell(static_cast<double>(ns) * 1e-9); }
Cell percent_cell(double share) { return {percent_text(share), share}; }
Cell count_cell(std::size_t n) { return {fmt::format("{}", n), static_cast<double>(n)}; }
// Per step, so it need not be whole.
Cell mean_cell(double n) { return {n == std::floor(n) ? fmt::format("{:.0f}", n) : fmt::format("{:.1f}", n), n}; }

std::string dim_text(const Dim3& d) { return d.count() == 0 ? std::string() : fmt::format("{}x{}x{}", d.x, d.y, d.z); }

// What the part is, for people who never heard our names of it.
std::string_view explain(StepPart part) {
  switch (part) {
    case StepPart::compute:
      return "kernels";
    case StepPart::communication:
      return "communication, no kernel beside it";
    case StepPart::copy:
      return "copies and fills, no kernel beside them";
    case StepPart::graph:
      return "graphs recorded as a whole";
    case StepPart::launch_late:
      return "idle: the host had not come to the launch";
    case StepPart::launch_call:
      return "idle: the launch call was running";
    case StepPart::launch_latency:
      return "idle: launched, not yet begun";
    case StepPart::host_wait:
      return "idle: the host waited in a synchronize call";
    case StepPart::host_call:
      return "idle: the host was in another runtime call";
    case StepPart::device_gap:
      return "idle: between works launched in time";
    case StepPart::profiler:
      return "artefact: the profiler held the host";
    case StepPart::unseen:
      return "unseen: launches without a record";
    case StepPart::start:
      return "before the first work";
    case StepPart::end:
      return "after the last work";
    case StepPart::unknown:
      return "idle: no host call is known";
  }
  return "";
}

class Writer {
 public:
  Writer(const AnalyzedTimeline& analyzed, const TimelineViewOptions& options)
      : timeline_(analyzed.timeline), devices_(analyzed.devices), options_(options) {}

  Document write() {
    out_.title = "Timeline: " + std::filesystem::path(timeline_.path).filename().string();
    introduce();
    for (const auto& step : devices_) device(step);
    if (devices_.empty()) sums();
    warnings();
    return std::move(out_);
  }

 private:
  template <typename T>
  void add(T block) {
    out_.blocks.emplace_back(std::move(block));
  }

  const std::string& name(std::uint32_t index) const {
    static const std::string kUnnamed = "(no name)";
    return index == kNone ? kUnnamed : timeline_.names[index];
  }

  void introduce() {
    std::string text = timeline_.producer.empty() ? timeline_.format : timeline_.producer;
    if (timeline_.rank) {
      text += fmt::format(", rank {}", *timeline_.rank);
      if (timeline_.world_size) text += fmt::format(" of {}", *timeline_.world_size);
    }
    const auto of = [&](GpuWork work) {
      return static_cast<std::size_t>(std::count_if(timeline_.activities.begin(), timeline_.activities.end(),
                                                    [&](const auto& a) { return a.work == work; }));
    };
    if (timeline_.has_times()) {
      text += "; " + numbers::counted(of(GpuWork::kernel), "kernel");
      if (const auto n = of(GpuWork::copy) + of(GpuWork::fill); n > 0)
        text += n == 1 ? ", 1 copy or fill" : fmt::format(", {} copies and fills", n);
      if (const auto n = of(GpuWork::graph); n > 0) text += ", " + numbers::counted(n, "whole graph");
      text += fmt::format(", {}, {}", numbers::counted(timeline_.calls.size(), "host call"),
                          numbers::counted(timeline_.ranges.size(), "range"));
    }
    add(Paragraph{text, Tone::faint});
  }

  void device(const DeviceStep& step) {
    add(Heading{device_title(timeline_, step.device)});
    add(Paragraph{step.verdict, Tone::strong});
    add(Paragraph{window_text(step)});
    add(where_table(step));
    add(facts(step));
    add(kernel_table(step));
    if (!step.copies.empty()) add(copy_table(step));
    if (options_.all_steps && !step.steps.empty()) add(step_table(step));
    look(step);
    add(shapes(step));
  }

  std::string window_text(const DeviceStep& step) const {
    if (!step.step_s) {
      std::string text =
          fmt::format("No steps were found: all of the GPU's work counts, {} from its first launch to its end.",
                      duration_text(step.active.length()));
      if (timeline_.recorded && timeline_.recorded->length() > step.active.length())
        text += fmt::format(" The recording lasts {}.", duration_text(timeline_.recorded->length()));
      return text;
    }
    const auto& s = *step.step_s;
    const auto by = step.steps_by == StepsBy::ranges ? fmt::format("found by ranges '{}'", step.steps_of)
                                                     : fmt::format(
                                                           "taken for steps because {} repeats (a layer may, too: "
                                                           "--range names ranges that are steps)",
                                                           step.steps_of);
    std::string text = s.count == 1 ? fmt::format("1 step of {}, {}.", si(s.median, "s"), by)
                                    : fmt::format("{} steps of {} (median; {} to {}), {}.", s.count, si(s.median, "s"),
                                                  si(s.min, "s"), si(s.max, "s"), by);
    const auto warm = std::count_if(step.steps.begin(), step.steps.end(), [](const Step& x) { return x.warm_up; });
    if (warm > 0)
      text += fmt::format(" The first{} took over 1.5 times as long: warm-up, left out.",
                          warm == 1 ? std::string() : fmt::format(" {}", warm));
    if (step.steps.size() > 1) text += " The last one is left out: its end is not known.";
    return text;
  }

  double per_step(const DeviceStep& step, std::int64_t ns) const {
    return static_cast<double>(ns) * 1e-9 / static_cast<double>(std::max<std::size_t>(1, step.windows));
  }

  static double mean(const DeviceStep& step, std::size_t n) {
    return static_cast<double>(n) / static_cast<double>(std::max<std::size_t>(1, step.windows));
  }

  Table where_table(const DeviceStep& step) const {
    Table table;
    table.title = step.step_s ? "Where the time of a step goes (mean)" : "Where the time goes";
    table.columns = {{.title = "what", .key = "what", .align = Align::left},
                     {.title = "part", .key = "part", .align = Align::left, .data_only = true},
                     {.title = "time", .key = "time_s"},
                     {.title = "share", .key = "share"},
                     {.title = "pieces", .key = "pieces", .drop_order = 3},
                     {.title = "longest", .key = "longest_s", .drop_order = 2},
                     {.title = "evidence",
                      .key = "evidence",
                      .align = Align::left,
                      .shrink = true,
                      .drop_order = 1,
                      .cut_end = true}};
    const auto& a = step.counted;
    for (std::size_t i = 0; i < kStepParts; ++i) {
      if (a.parts[i] == 0) continue;
      const auto part = static_cast<StepPart>(i);
      const auto tone = is_idle(part) && a.share(part) >= 0.1 ? Tone::warn : Tone::normal;
      table.rows.push_back({text_cell(std::string(explain(part)), tone), text_cell(std::string(to_string(part))),
                            time_cell(per_step(step, a.parts[i])), percent_cell(a.share(part)),
                            count_cell(a.evidence[i].pieces), time_cell_ns(a.evidence[i].longest.length()),
                            text_cell(evidence(a.evidence[i]))});
    }
    table.footer = {text_cell(step.step_s ? "one step" : "wall time"),
                    text_cell("wall"),
                    time_cell(per_step(step, a.wall_ns)),
                    percent_cell(a.wall_ns > 0 ? 1 : 0),
                    {},
                    {},
                    {}};
    return table;
  }

  std::string evidence(const PartEvidence& e) const {
    std::string text;
    constexpr std::size_t kCalls = 2;
    for (std::size_t i = 0; i < std::min(kCalls, e.calls.size()); ++i)
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", name(e.calls[i].first), duration_text(e.calls[i].second));
    if (e.next == kNone) return text;
    const auto& next = timeline_.activities[e.next];
    return text + fmt::format("{}longest before {}", text.empty() ? "" : "; ", work_name(timeline_, next));
  }

  Bullets facts(const DeviceStep& step) const {
    Bullets out;
    const auto& a = step.counted;
    const auto say = [&](std::string text, Tone tone = Tone::normal) { out.items.push_back({std::move(text), tone}); };
    if (a.kernel_sum_ns > a.compute_ns)
      say(fmt::format("Kernels overlap: their durations add up to {} of the wall time, the GPU computes during {}.",
                      percent_text(a.share(a.kernel_sum_ns)), percent_text(a.share(a.compute_ns))));
    constexpr double kWorthSaying = 0.001;
    if (a.share(a.communication_ns) >= kWorthSaying)
      say(fmt::format("Communication runs {} of the time, {} of it beside kernels.",
                      percent_text(a.share(a.communication_ns)),
                      percent_text(hidden(a.communication_ns, a[StepPart::communication]))));
    if (a.share(a.copy_ns) >= kWorthSaying)
      say(fmt::format("Copies and fills run {} of the time, {} of it beside other work.",
                      percent_text(a.share(a.copy_ns)), percent_text(hidden(a.copy_ns, a[StepPart::copy]))));
    for (const auto& artefact : step.artefacts) say("Recording: " + artefact.message + ".", Tone::warn);
    savings(step, say);
    return out;
  }

  static double hidden(std::int64_t all, std::int64_t alone) {
    return all > 0 ? static_cast<double>(all - alone) / static_cast<double>(all) : 0;
  }

  template <typename Say>
  void savings(const DeviceStep& step, Say say) const {
    const auto& s = step.savings;
    const auto& a = step.counted;
    const auto* each = step.step_s ? " per step" : "";
    if (s.launch_gaps_ns > 0)
      say(fmt::format("A CUDA graph could save at most {}{} ({}): all {} gaps that wait for a launch.",
                      si(per_step(step, s.launch_gaps_ns), "s"), each, percent_text(a.share(s.launch_gaps_ns)),
                      s.launch_gaps));
    if (s.short_kernels > 0 && s.short_ns > 0)
      say(
          fmt::format("Fusing away all {} kernels under three launch floors could save at most {}{} ({}) of their own "
                      "time.",
                      s.short_kernels, si(per_step(step, s.short_ns), "s"), each, percent_text(a.share(s.short_ns))));
  }

  Table kernel_table(const DeviceStep& step) const {
    Table table;
    table.title = step.step_s ? "Kernels of a step" : "Kernels";
    table.columns = {
        {.title = "kernel", .key = "kernel", .align = Align::left, .shrink = true, .least = 20},
        {.title = "full name", .key = "full_name", .align = Align::left, .data_only = true},
        {.title = "grid", .key = "grid", .align = Align::left, .drop_order = 4, .data_only = !options_.by_shape},
        {.title = "block", .key = "block", .align = Align::left, .drop_order = 5, .data_only = !options_.by_shape},
        {.title = step.step_s ? "per step" : "launches", .key = "launches", .drop_order = 1},
        {.title = "time", .key = "time_s"},
        {.title = "of wall", .key = "share_of_wall"},
        {.title = "of kernels", .key = "share_of_kernels", .drop_order = 3},
        {.title = "median", .key = "median_s", .drop_order = 2},
        {.title = "least", .key = "min_s", .drop_order = 6},
        {.title = "most", .key = "max_s", .drop_order = 6},
        {.title = "roofline?", .key = "deserves_roofline", .align = Align::left, .drop_order = 1}};
    const auto shown = options_.top == 0 ? step.kernels.size() : std::min(options_.top, step.kernels.size());
    const auto labels = kernel_labels(timeline_, {step.kernels.data(), shown});
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& k = step.kernels[i];
      table.rows.push_back({text_cell(labels[i]), text_cell(name(k.full_name)), text_cell(dim_text(k.grid)),
                            text_cell(dim_text(k.block)), mean_cell(mean(step, k.launches)),
                            time_cell(per_step(step, k.total_ns)), percent_cell(k.share_of_wall),
                            percent_cell(k.share_of_kernels), time_cell_ns(k.median_ns), time_cell_ns(k.min_ns),
                            time_cell_ns(k.max_ns),
                            text_cell(k.deserves_roofline ? "yes"
                                      : k.communication   ? "communication"
                                                          : "",
                                      k.deserves_roofline ? Tone::good : Tone::faint)});
    }
    if (shown < step.kernels.size()) table.footer = rest(step, shown);
    return table;
  }

  std::vector<Cell> rest(const DeviceStep& step, std::size_t shown) const {
    KernelShare sum;
    for (auto i = shown; i < step.kernels.size(); ++i) {
      sum.launches += step.kernels[i].launches;
      sum.total_ns += step.kernels[i].total_ns;
      sum.share_of_wall += step.kernels[i].share_of_wall;
      sum.share_of_kernels += step.kernels[i].share_of_kernels;
    }
    return {text_cell(fmt::format("{} more", step.kernels.size() - shown)),
            {},
            {},
            {},
            mean_cell(mean(step, sum.launches)),
            time_cell(per_step(step, sum.total_ns)),
            percent_cell(sum.share_of_wall),
            percent_cell(sum.share_of_kernels),
            {},
            {},
            {},
            {}};
  }

  Table copy_table(const DeviceStep& step) const {
    Table table;
    table.title = "Copies and fills";
    if (step.step_s && step.windows == 1) table.title += " of the step";
    if (step.step_s && step.windows > 1) table.title += fmt::format(" of all {} steps", step.windows);
    table.columns = {{.title = "kind", .key = "kind", .align = Align::left},
                     {.title = "count", .key = "count"},
                     {.title = "time", .key = "time_s"},
                     {.title = "of wall", .key = "share_of_wall"},
                     {.title = "bytes", .key = "bytes"},
                     {.title = "rate", .key = "bytes_per_s"},
                     {.title = "of link", .key = "share_of_link", .drop_order = 1},
                     {.title = "link", .key = "link", .align = Align::left, .drop_order = 1}};
    for (const auto& c : step.copies) {
      const auto seconds = static_cast<double>(c.total_ns) * 1e-9;
      const auto bytes = static_cast<double>(c.bytes);
      std::vector<Cell> row = {text_cell(std::string(copy_words(c.work, c.kind))),
                               count_cell(c.count),
                               time_cell_ns(c.total_ns),
                               percent_cell(step.counted.share(c.total_ns)),
                               c.bytes > 0 ? Cell{si(bytes, "B"), bytes} : Cell{},
                               {},
                               {},
                               {}};
      if (c.bytes > 0 && seconds > 0) {
        row[5] = {si(bytes / seconds, "B/s"), bytes / seconds};
        if (const auto link = link_of(timeline_.devices, step.device, c.kind)) {
          row[6] = percent_cell(bytes / seconds / link->bytes_per_s);
          row[7] = text_cell(fmt::format("{} {}", link->kind, si(link->bytes_per_s, "B/s")));
        }
      }
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  Table step_table(const DeviceStep& step) const {
    Table table;
    table.title = "Steps";
    table.columns = {{.title = "step", .key = "step", .align = Align::left},
                     {.title = "time", .key = "time_s"},
                     {.title = "busy", .key = "busy_share"},
                     {.title = "kernels", .key = "kernels"},
                     {.title = "note", .key = "note", .align = Align::left}};
    for (std::size_t i = 0; i < step.steps.size(); ++i) {
      const auto& s = step.steps[i];
      const auto length = static_cast<double>(s.window.length());
      table.rows.push_back(
          {text_cell(s.name != kNone ? name(s.name) : fmt::format("{}", i + 1)), time_cell_ns(s.window.length()),
           percent_cell(length > 0 ? static_cast<double>(s.busy_ns) / length : 0), count_cell(s.kernels),
           text_cell(s.warm_up                         ? "warm-up"
                     : s.last && step.steps.size() > 1 ? "last"
                                                       : "")});
    }
    return table;
  }

  bool is_amd() const {
    const auto says = [](const std::string& text, std::string_view part) {
      return text.find(part) != std::string::npos;
    };
    return says(timeline_.producer, "roctracer") || says(timeline_.format, "rocprof") ||
           says(timeline_.producer, "ROC");
  }

  // How to measure the kernels that deserve it.
  void look(const DeviceStep& step) {
    for (const auto& k : step.kernels) {
      if (!k.deserves_roofline) continue;
      add(Paragraph{fmt::format("To place the kernel with most time, {}, under its roof:",
                                cut_middle(kernel_label(timeline_, k.name, k.full_name), 60)),
                    Tone::faint});
      if (is_amd()) {
        add(Command{fmt::format("rocprof-compute profile -n roofline -k '{}' -- ./app", ncu_filter(timeline_, k))});
        return;
      }
      add(Command{fmt::format("ncu --set roofline -k '{}' --launch-skip {} --launch-count 3 -o report ./app",
                              ncu_filter(timeline_, k), std::min<std::size_t>(k.launches / 2, 100))});
      return;
    }
  }

  Bullets shapes(const DeviceStep& step) const {
    const auto& s = step.shapes;
    if (s.kernel_ns == 0) return {};
    const auto without = [&](std::int64_t with) {
      return static_cast<double>(s.kernel_ns - with) / static_cast<double>(s.kernel_ns);
    };
    std::string text = s.operator_ns == 0
                           ? "A timeline has no FLOPs and no bytes."
                           : fmt::format("{} of the kernel time belongs to operators with argument shapes.",
                                         percent_text(1 - without(s.operator_ns)));
    if (without(s.operator_ns) > 0)
      text += fmt::format(" {} of GPU time has no shape", percent_text(without(s.operator_ns)));
    if (without(s.operator_ns) > 0 && without(s.launch_ns) > 0)
      text += fmt::format(" ({} not even grid and block)", percent_text(without(s.launch_ns)));
    if (without(s.operator_ns) > 0)
      text +=
          fmt::format(": counters of the same program (--with {}) or a model (--model CONFIG) place it under a roof.",
                      is_amd() ? "pmc_perf.csv" : "REPORT.ncu-rep");
    return {{{std::move(text), Tone::normal}}};
  }

  void sums() {
    const auto total = std::accumulate(timeline_.totals.begin(), timeline_.totals.end(), 0.0,
                                       [](double sum, const auto& t) { return sum + t.total_s; });
    add(Paragraph{
        "This input holds sums per kernel: no order, no gaps, no overlap. Whether the GPU is the bottleneck cannot "
        "be told from it; the recording itself can tell (nsys export --type sqlite, or the trace).",
        Tone::strong});
    add(sums_table(total));
  }

  Table sums_table(double total) const {
    std::vector<const KernelTotals*> order;
    for (const auto& t : timeline_.totals) order.push_back(&t);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->total_s > b->total_s; });
    Table table;
    table.title = "Kernels";
    table.columns = {{.title = "kernel", .key = "kernel", .align = Align::left, .shrink = true, .least = 20},
                     {.title = "full name", .key = "full_name", .align = Align::left, .data_only = true},
                     {.title = "grid", .key = "grid", .align = Align::left, .drop_order = 2},
                     {.title = "block", .key = "block", .align = Align::left, .drop_order = 3},
                     {.title = "launches", .key = "launches"},
                     {.title = "time", .key = "time_s"},
                     {.title = "of kernels", .key = "share_of_kernels"},
                     {.title = "median", .key = "median_s", .drop_order = 1},
                     {.title = "FLOP/s", .key = "flops_per_s", .drop_order = 4},
                     {.title = "B/s", .key = "bytes_per_s", .drop_order = 4}};
    const auto shown = options_.top == 0 ? order.size() : std::min(options_.top, order.size());
    double rest_s = 0;
    std::uint64_t rest_launches = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto& t = *order[i];
      if (i >= shown) {
        rest_s += t.total_s;
        rest_launches += t.launches;
        continue;
      }
      const auto rate = [&](const std::optional<double>& work, std::string_view unit) {
        return work && t.total_s > 0 ? Cell{si(*work / t.total_s, unit), *work / t.total_s} : Cell{};
      };
      table.rows.push_back({text_cell(kernel_label(timeline_, t.name, t.name)), text_cell(name(t.name)),
                            text_cell(dim_text(t.grid)), text_cell(dim_text(t.block)), count_cell(t.launches),
                            time_cell(t.total_s), percent_cell(total > 0 ? t.total_s / total : 0),
                            t.median_s ? time_cell(*t.median_s) : Cell{}, rate(t.flops, "FLOP/s"),
                            rate(t.bytes, "B/s")});
    }
    if (shown < order.size())
      table.footer = {text_cell(fmt::format("{} more", order.size() - shown)),
                      {},
                      {},
                      {},
                      count_cell(rest_launches),
                      time_cell(rest_s),
                      percent_cell(total > 0 ? rest_s / total : 0),
                      {},
                      {},
                      {}};
    return table;
  }

  void warnings() {
    Bullets out;
    for (const auto& w : timeline_.warnings) out.items.push_back({w.message, Tone::warn});
    if (!out.items.empty()) add(std::move(out));
  }

  const Timeline& timeline_;
  const std::vector<DeviceStep>& devices_;
  const TimelineViewOptions& options_;
  Document out_;
};

}  // namespace

Document timeline_document(const AnalyzedTimeline& analyzed, const TimelineViewOptions& options) {
  return Writer(analyzed, options).write();
}

}  // namespace roofline
