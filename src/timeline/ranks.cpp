#include "roofline/timeline_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "roofline/names.h"
#include "timeline/device_step.h"
#include "timeline/words.h"

namespace roofline {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// "rank3", "rank-3", "rank_03" in a file's name.
std::optional<int> number_in(const std::string& path) {
  auto name = std::filesystem::path(path).filename().string();
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (auto at = name.find("rank"); at != std::string::npos; at = name.find("rank", at + 1)) {
    auto digit = at + 4;
    while (digit < name.size() && (name[digit] == '-' || name[digit] == '_' || name[digit] == '.')) ++digit;
    int number = 0;
    std::size_t count = 0;
    for (; digit < name.size() && std::isdigit(static_cast<unsigned char>(name[digit])) != 0 && count < 6;
         ++digit, ++count)
      number = number * 10 + (name[digit] - '0');
    if (count > 0) return number;
  }
  return std::nullopt;
}

// Bytes of an element as PyTorch names its type.
double bytes_of(std::string_view type) {
  struct Size {
    std::string_view part;
    double bytes;
  };
  constexpr Size kSizes[] = {{"Float8", 1}, {"BFloat16", 2}, {"Half", 2},  {"Float16", 2}, {"Double", 8},
                             {"Long", 8},   {"Int64", 8},    {"Float", 4}, {"Int32", 4},   {"Int", 4},
                             {"Short", 2},  {"Byte", 1},     {"Char", 1},  {"Bool", 1},    {"UInt8", 1}};
  for (const auto& s : kSizes)
    if (type.find(s.part) != std::string_view::npos) return s.bytes;
  return 0;
}

// What crosses each GPU's link: ring algorithms, as nccl-tests counts its bus bandwidth.
std::optional<double> bus_bytes(const Timeline& timeline, const CollectiveCall& c) {
  const auto text = [&](std::uint32_t i) {
    return i == kNone ? std::string_view() : std::string_view(timeline.names[i]);
  };
  const double size = bytes_of(text(c.type));
  if (size <= 0 || c.group_size < 2) return std::nullopt;
  const double n = c.group_size, in = size * static_cast<double>(c.elements_in),
               out = size * static_cast<double>(c.elements_out);
  std::string name;
  for (const char ch : text(c.name))
    if (std::isalpha(static_cast<unsigned char>(ch)) != 0)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
  const auto is = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  double bytes = 0;
  if (is("allreduce"))
    bytes = 2 * (n - 1) / n * in;
  else if (is("allgather"))
    bytes = (n - 1) / n * std::max(out, in);
  else if (is("reducescatter") || is("alltoall"))
    bytes = (n - 1) / n * in;
  else
    bytes = in;
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

// Communication kernels of one kind on one rank, in order.
struct Occurrences {
  std::vector<std::int64_t> durations;
  std::optional<double> bus_bytes;
};

class Comparer {
 public:
  explicit Comparer(std::span<const AnalyzedTimeline> timelines) : timelines_(timelines) {}

  RankComparison compare() {
    find_ranks();
    if (out_.ranks.size() > 1) spread();
    collectives();
    judge_ranks();
    return std::move(out_);
  }

 private:
  const DeviceStep& step(const Rank& r) const { return timelines_[r.timeline].devices[r.device]; }
  const Timeline& timeline(const Rank& r) const { return timelines_[r.timeline].timeline; }

  void find_ranks() {
    int order = 0;
    for (std::size_t t = 0; t < timelines_.size(); ++t) {
      const auto& devices = timelines_[t].devices;
      for (std::size_t d = 0; d < devices.size(); ++d, ++order) {
        const auto& s = devices[d];
        const double windows = static_cast<double>(std::max<std::size_t>(1, s.windows));
        Rank r;
        r.timeline = t;
        r.device = d;
        // Several GPUs in one file share its number, which then tells nothing.
        const auto named =
            timelines_[t].timeline.rank ? timelines_[t].timeline.rank : number_in(timelines_[t].timeline.path);
        r.number = named && devices.size() == 1 ? *named : order;
        r.step_s = s.step_s ? s.step_s->median : seconds(s.counted.wall_ns);
        r.compute_s = seconds(s.counted.compute_ns) / windows;
        r.exposed_communication_s = seconds(s.counted[StepPart::communication]) / windows;
        r.idle_s = seconds(s.counted.idle_ns()) / windows;
        out_.ranks.push_back(r);
      }
    }
    std::stable_sort(out_.ranks.begin(), out_.ranks.end(),
                     [](const Rank& a, const Rank& b) { return a.number < b.number; });
    for (std::size_t i = 1; i < out_.ranks.size(); ++i)
      if (out_.ranks[i].number <= out_.ranks[i - 1].number) return renumber();
  }

  // Two files that claim one number: the order decides.
  void renumber() {
    for (std::size_t i = 0; i < out_.ranks.size(); ++i) out_.ranks[i].number = static_cast<int>(i);
  }

  void spread() {
    std::map<std::string, std::vector<std::pair<double, int>>> times;
    for (const auto& r : out_.ranks) {
      std::map<std::string, double> mine;
      const double windows = static_cast<double>(std::max<std::size_t>(1, step(r).windows));
      for (const auto& k : step(r).kernels) {
        const auto name = k.full_name != kNone ? k.full_name : k.name;
        if (name != kNone && !k.communication) mine[timeline(r).names[name]] += seconds(k.total_ns) / windows;
      }
      for (const auto& [name, time] : mine) times[name].emplace_back(time, r.number);
    }
    for (auto& [name, list] : times) {
      if (list.size() < 2) continue;
      std::vector<double> values;
      for (const auto& [time, rank] : list) values.push_back(time);
      const auto [least, most] = std::minmax_element(list.begin(), list.end());
      out_.kernels.push_back({name, least->first, median_of(values), most->first, most->second, list.size()});
    }
    std::stable_sort(out_.kernels.begin(), out_.kernels.end(),
                     [](const auto& a, const auto& b) { return a.max_s - a.min_s > b.max_s - b.min_s; });
  }

  std::map<std::string, Occurrences> occurrences(const Rank& r) const {
    const auto& t = timeline(r);
    std::map<std::string, Occurrences> out;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Occurrences*> known;
    std::vector<std::int8_t> communicates(t.names.size(), -1);
    for (const auto& a : t.activities) {
      const auto name = a.full_name != kNone ? a.full_name : a.name;
      if (a.work != GpuWork::kernel || a.device != step(r).device || name == kNone) continue;
      auto& is = communicates[name];
      if (is < 0) is = is_communication(t.names[name]) ? 1 : 0;
      if (is == 0) continue;
      auto& slot = known[{name, a.collective}];
      if (!slot) slot = &out[kind_of(t, name, a.collective)];
      slot->durations.push_back(a.span.length());
      if (a.collective != kNone) slot->bus_bytes = bus_bytes(t, t.collectives[a.collective]);
    }
    return out;
  }

  static std::string kind_of(const Timeline& t, std::uint32_t name, std::uint32_t collective) {
    auto out = short_kernel_name(t.names[name]);
    if (collective == kNone) return out;
    const auto& c = t.collectives[collective];
    const auto text = [&](std::uint32_t i) { return i == kNone ? std::string("?") : t.names[i]; };
    return fmt::format("{}: {} of {} {}, {} ranks", out, text(c.name), c.elements_in, text(c.type), c.group_size);
  }

  void collectives() {
    std::map<std::string, std::vector<Occurrences>> all;
    std::map<std::string, std::vector<std::size_t>> of_rank;
    for (std::size_t i = 0; i < out_.ranks.size(); ++i)
      for (auto& [kind, list] : occurrences(out_.ranks[i])) {
        all[kind].push_back(std::move(list));
        of_rank[kind].push_back(i);
      }
    for (const auto& [kind, lists] : all) add_collective(kind, lists, of_rank[kind]);
    std::stable_sort(out_.collectives.begin(), out_.collectives.end(), [](const auto& a, const auto& b) {
      return a.median_s * static_cast<double>(a.count) > b.median_s * static_cast<double>(b.count);
    });
  }

  void add_collective(const std::string& kind, const std::vector<Occurrences>& lists,
                      const std::vector<std::size_t>& ranks) {
    CollectiveTotals c;
    c.name = kind;
    c.count = lists.front().durations.size();
    const bool equal =
        std::all_of(lists.begin(), lists.end(), [&](const auto& l) { return l.durations.size() == c.count; });
    c.matched = equal && lists.size() > 1;
    std::vector<double> durations, shortest;
    for (const auto& l : lists)
      for (const auto d : l.durations) durations.push_back(seconds(d));
    c.median_s = median_of(durations);
    c.bus_bytes = lists.front().bus_bytes;
    if (c.matched) {
      double waiting = 0;
      for (std::size_t k = 0; k < c.count; ++k) {
        std::int64_t least = lists.front().durations[k];
        for (const auto& l : lists) least = std::min(least, l.durations[k]);
        shortest.push_back(seconds(least));
        for (std::size_t r = 0; r < lists.size(); ++r) {
          const double wait = seconds(lists[r].durations[k] - least);
          auto& sum = out_.ranks[ranks[r]].waiting_s;
          sum = sum.value_or(0) + wait;
          waiting += wait;
        }
      }
      c.transfer_s = median_of(shortest);
      c.waiting_s = waiting / static_cast<double>(lists.size());
    }
    const double base = c.transfer_s.value_or(c.median_s);
    if (c.bus_bytes && base > 0) c.bytes_per_s = *c.bus_bytes / base;
    const auto& first = out_.ranks[ranks.front()];
    c.link = link_of(timeline(first).devices, step(first).device, CopyKind::peer_to_peer);
    out_.collectives.push_back(std::move(c));
  }

  void judge_ranks() {
    if (out_.ranks.size() < 2) return;
    const auto slowest = std::max_element(out_.ranks.begin(), out_.ranks.end(),
                                          [](const Rank& a, const Rank& b) { return a.step_s < b.step_s; });
    std::vector<double> steps, waits;
    for (const auto& r : out_.ranks) {
      steps.push_back(r.step_s);
      if (r.waiting_s) waits.push_back(*r.waiting_s);
    }
    constexpr double kSlower = 0.01;
    const double median = median_of(steps);
    out_.verdict = slowest->step_s > (1 + kSlower) * median
                       ? fmt::format("Rank {} has the longest step, {} against a median of {}.", slowest->number,
                                     si(slowest->step_s, "s"), si(median, "s"))
                       : fmt::format("All ranks take {} a step, within 1 %.", si(median, "s"));
    if (waits.size() != out_.ranks.size()) return;
    const auto least = std::min_element(out_.ranks.begin(), out_.ranks.end(),
                                        [](const Rank& a, const Rank& b) { return *a.waiting_s < *b.waiting_s; });
    // Waiting is over the whole recording, so it is weighed against the whole.
    const double whole = seconds(step(*least).whole.wall_ns);
    constexpr double kNoted = 0.05;
    if (median_of(waits) - *least->waiting_s < kNoted * whole) {
      out_.verdict += " No rank holds up the others in collectives by more than 5 % of the time.";
      return;
    }
    out_.straggler = least->number;
    out_.verdict += fmt::format(
        " Rank {} is the straggler: over the whole recording it waits {} in collectives where the median rank waits "
        "{}, "
        "so the others wait for it.",
        least->number, si(*least->waiting_s, "s"), si(median_of(waits), "s"));
  }

  std::span<const AnalyzedTimeline> timelines_;
  RankComparison out_;
};

Cell time_cell(double s) { return {si(s, "s"), s}; }
Cell time_cell(const std::optional<double>& s) { return s ? time_cell(*s) : Cell{}; }

Table rank_table(const RankComparison& c, std::span<const AnalyzedTimeline> timelines) {
  Table table;
  table.title = "Ranks";
  table.columns = {{.title = "rank", .key = "rank"},
                   {.title = "file", .key = "file", .align = Align::left, .shrink = true, .drop_order = 2},
                   {.title = "GPU", .key = "gpu", .align = Align::left, .drop_order = 3},
                   {.title = "step", .key = "step_s"},
                   {.title = "compute", .key = "compute_s"},
                   {.title = "communication alone", .key = "exposed_communication_s"},
                   {.title = "idle", .key = "idle_s"},
                   {.title = "waits in collectives, whole recording", .key = "waiting_s"},
                   {.title = "note", .key = "note", .align = Align::left, .drop_order = 1}};
  for (const auto& r : c.ranks) {
    const auto& t = timelines[r.timeline];
    const bool straggler = c.straggler && *c.straggler == r.number;
    table.rows.push_back({{fmt::format("{}", r.number), static_cast<double>(r.number)},
                          {std::filesystem::path(t.timeline.path).filename().string()},
                          {device_title(t.timeline, t.devices[r.device].device)},
                          time_cell(r.step_s),
                          time_cell(r.compute_s),
                          time_cell(r.exposed_communication_s),
                          time_cell(r.idle_s),
                          time_cell(r.waiting_s),
                          {straggler ? "straggler" : "", std::nullopt, Tone::warn}});
  }
  return table;
}

Table spread_table(const RankComparison& c, std::size_t top) {
  Table table;
  table.title = "Kernels whose time differs most between ranks (per step)";
  table.columns = {{.title = "kernel", .key = "kernel", .align = Align::left, .shrink = true, .least = 20},
                   {.title = "ranks", .key = "ranks", .drop_order = 2},
                   {.title = "least", .key = "min_s"},
                   {.title = "median", .key = "median_s"},
                   {.title = "most", .key = "max_s"},
                   {.title = "spread", .key = "spread"},
                   {.title = "slowest rank", .key = "slowest_rank"}};
  for (std::size_t i = 0; i < c.kernels.size() && (top == 0 || i < top); ++i) {
    const auto& k = c.kernels[i];
    const double spread = k.median_s > 0 ? (k.max_s - k.min_s) / k.median_s : 0;
    table.rows.push_back({{short_kernel_name(k.name)},
                          {fmt::format("{}", k.ranks), static_cast<double>(k.ranks)},
                          time_cell(k.min_s),
                          time_cell(k.median_s),
                          time_cell(k.max_s),
                          {percent_text(spread), spread},
                          {fmt::format("{}", k.slowest), static_cast<double>(k.slowest)}});
  }
  return table;
}

Table collective_table(const RankComparison& c, std::size_t top) {
  Table table;
  table.title = "Collectives";
  table.columns = {{.title = "collective", .key = "collective", .align = Align::left, .shrink = true, .least = 20},
                   {.title = "count", .key = "count"},
                   {.title = "median", .key = "median_s"},
                   {.title = "without waiting", .key = "transfer_s"},
                   {.title = "waiting", .key = "waiting_s", .drop_order = 1},
                   {.title = "bus bytes", .key = "bus_bytes", .drop_order = 2},
                   {.title = "bus rate", .key = "bus_bytes_per_s"},
                   {.title = "of link", .key = "share_of_link"},
                   {.title = "link", .key = "link", .align = Align::left, .drop_order = 3}};
  for (std::size_t i = 0; i < c.collectives.size() && (top == 0 || i < top); ++i) {
    const auto& k = c.collectives[i];
    std::vector<Cell> row = {{k.name},
                             {fmt::format("{}", k.count), static_cast<double>(k.count)},
                             time_cell(k.median_s),
                             time_cell(k.transfer_s),
                             time_cell(k.waiting_s),
                             {},
                             {},
                             {},
                             {}};
    if (k.bus_bytes) row[5] = {si(*k.bus_bytes, "B"), *k.bus_bytes};
    if (k.bytes_per_s) row[6] = {si(*k.bytes_per_s, "B/s"), *k.bytes_per_s};
    constexpr double kAbove = 1.02;  // less is rounding
    const auto share = k.bytes_per_s && k.link ? std::optional(*k.bytes_per_s / k.link->bytes_per_s) : std::nullopt;
    const bool above = share && *share > kAbove;
    if (share) row[7] = {percent_text(*share), share, above ? Tone::bad : Tone::normal};
    if (k.link)
      row[8] = {fmt::format("{} {}{}", k.link->kind, si(k.link->bytes_per_s, "B/s"),
                            above ? ": faster than the link, so bytes, time or link are not what they seem" : "")};
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

RankComparison compare_ranks(std::span<const AnalyzedTimeline> timelines) { return Comparer(timelines).compare(); }

Document ranks_document(const RankComparison& c, std::span<const AnalyzedTimeline> timelines, std::size_t top) {
  Document out;
  if (c.ranks.size() > 1) {
    out.title = fmt::format("{} ranks", c.ranks.size());
    out.blocks.emplace_back(Heading{out.title});
    out.blocks.emplace_back(Paragraph{c.verdict, Tone::strong});
    out.blocks.emplace_back(rank_table(c, timelines));
    out.blocks.emplace_back(
        Bullets{{{"The clocks of different files are not aligned: durations are compared, never points in time.",
                  Tone::faint}}});
    if (!c.kernels.empty()) out.blocks.emplace_back(spread_table(c, top));
  }
  if (c.collectives.empty()) return out;
  out.blocks.emplace_back(collective_table(c, top));
  std::string note = c.ranks.size() > 1
                         ? "Waiting is a collective's time less that of the rank where the same one was shortest, the "
                           "k-th of a kind on each."
                         : "How much of it is waiting for others, only the files of all ranks together can tell.";
  const bool bytes =
      std::any_of(c.collectives.begin(), c.collectives.end(), [](const auto& k) { return k.bus_bytes.has_value(); });
  if (!bytes) note += " The recording does not say how many bytes they move: no link ceiling.";
  out.blocks.emplace_back(Bullets{{{std::move(note), Tone::faint}}});
  return out;
}

}  // namespace roofline
