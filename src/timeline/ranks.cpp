#include "roofline/timeline_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "roofline/names.h"
#include "timeline/collective_bytes.h"
#include "timeline/device_step.h"
#include "timeline/words.h"

namespace roofline {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

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

// Communication kernels of one kind on one rank, in order.
struct Occurrences {
  std::vector<std::int64_t> durations;
  std::optional<double> bus_bytes, network_bytes;
  NodeSpread spread;
  bool group_known = false;  // the file says how many ranks it joins
  bool size_unknown = false;
};

class Comparer {
 public:
  Comparer(std::span<const AnalyzedTimeline> timelines, const Network& network)
      : timelines_(timelines), network_(network) {}

  RankComparison compare() {
    find_ranks();
    if (out_.ranks.size() > 1) spread();
    collectives();
    judge_ranks();
    name_network();
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

  void name_network() {
    out_.network_given = network_.bytes_per_s.has_value();
    out_.gpus_per_node_given = network_.gpus_per_node.has_value();
    for (const auto& t : timelines_)
      if (const auto n = gpus_per_node(t.timeline, network_)) out_.gpus_per_node = *n;
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
      if (!slot) slot = &slot_of(t, name, a.collective, out);
      slot->durations.push_back(a.span.length());
    }
    return out;
  }

  Occurrences& slot_of(const Timeline& t, std::uint32_t name, std::uint32_t collective,
                       std::map<std::string, Occurrences>& all) const {
    const auto kernel = short_kernel_name(t.names[name]);
    if (collective == kNone) return all[kernel];
    const auto& call = t.collectives[collective];
    const auto spread = spread_of(t, call, network_);
    auto& slot = all[kernel + ": " + kind_of(t, call, spread)];
    slot.spread = spread;
    slot.group_known = call.group_size > 0;
    slot.size_unknown = size_unknown(t, call);
    slot.bus_bytes = bus_bytes(t, call);
    slot.network_bytes = network_bytes(t, call, spread);
    return slot;
  }

  static std::string kind_of(const Timeline& t, const CollectiveCall& c, const NodeSpread& spread) {
    const auto text = [&](std::uint32_t i) { return i == kNone ? std::string("?") : t.names[i]; };
    auto out = fmt::format("{} of {} {}, {} ranks", text(c.name), c.elements_in, text(c.type), c.group_size);
    // Calls that are alike but for the links they cross are not one kind.
    if (spread.nodes == 0 && c.group_size > 1) out += ", nodes unknown";
    if (spread.nodes > 1) out += fmt::format(" on {} nodes{}", spread.nodes, spread.assumed ? ", assumed" : "");
    return out;
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
    c.element_size_unknown = lists.front().size_unknown;
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
    set_link(out_.ranks[ranks.front()], lists.front(), base, c);
    out_.collectives.push_back(std::move(c));
  }

  // The slowest link that it has to cross: between machines the network, else what joins the GPUs of one.
  void set_link(const Rank& rank, const Occurrences& what, double seconds, CollectiveTotals& c) const {
    c.nodes = what.spread.nodes;
    c.nodes_assumed = what.spread.assumed;
    c.network_bytes = what.network_bytes;
    if (c.nodes == 1 || (c.nodes == 0 && !what.group_known)) {
      c.link = link_of(timeline(rank).devices, step(rank).device, CopyKind::peer_to_peer);
      if (c.link && c.bytes_per_s) c.share_of_link = *c.bytes_per_s / c.link->bytes_per_s;
      return;
    }
    if (c.nodes == 0) {
      c.link_unknown = "one node or several? (--gpus-per-node)";
      return;
    }
    if (!network_.bytes_per_s) {
      c.link_unknown = "network (--network)";
      return;
    }
    c.link = {"network", *network_.bytes_per_s, "given"};
    if (c.network_bytes && seconds > 0) c.share_of_link = *c.network_bytes / seconds / c.link->bytes_per_s;
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
  Network network_;
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
                   {.title = "waits, whole recording", .key = "waiting_s"},
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
  const bool compared =
      std::any_of(c.collectives.begin(), c.collectives.end(), [](const auto& k) { return k.transfer_s.has_value(); });
  for (auto& column : table.columns)
    if (column.key == "transfer_s" || column.key == "waiting_s") column.data_only = !compared;
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
    const bool above = k.share_of_link && *k.share_of_link > kAbove;
    if (k.share_of_link) row[7] = {percent_text(*k.share_of_link), k.share_of_link, above ? Tone::bad : Tone::normal};
    if (!k.link_unknown.empty()) {
      row[7] = {"unknown"};
      row[8] = {k.link_unknown};
    }
    if (k.link)
      row[8] = {fmt::format("{} {}{}", k.link->kind, si(k.link->bytes_per_s, "B/s"),
                            above ? ": faster than the link, so bytes, time or link are not what they seem" : "")};
    table.rows.push_back(std::move(row));
  }
  return table;
}

// What the links of the table rest on.
void link_notes(const RankComparison& c, Bullets& notes) {
  const auto any = [&](auto is) { return std::any_of(c.collectives.begin(), c.collectives.end(), is); };
  if (any([](const auto& k) { return k.bus_bytes.has_value(); }))
    notes.items.push_back(
        {"Bus bytes: what crosses each GPU's link in a ring of n, as nccl-tests counts them: 2(n-1)/n "
         "of an all-reduce, (n-1)/n of gather, scatter and all-to-all.",
         Tone::faint});
  if (any([](const auto& k) { return k.element_size_unknown; }))
    notes.items.push_back(
        {"Of some collectives the size of an element is not known, as their type is missing or of a name that is "
         "neither PyTorch's nor NCCL's: so neither are their bytes.",
         Tone::faint});
  if (any([](const auto& k) { return k.nodes_assumed; }))
    notes.items.push_back(
        {"Of some collectives the recording does not list all GPUs: taken to go on as a list that is cut begins, and "
         "without one to be on as few nodes as hold them (--gpus-per-node says how many one has).",
         Tone::faint});
  if (any([](const auto& k) { return k.nodes > 1; }))
    notes.items.push_back(
        {fmt::format("Nodes of {} GPUs ({}). Between nodes 'of link' is the least that each GPU's network port has to "
                     "carry (of an all-reduce over N equal nodes 2(N-1)/N, shared by its GPUs in a node; one port per "
                     "GPU, no reduction in switches) by the transfer time, against {}.",
                     c.gpus_per_node, c.gpus_per_node_given ? "given" : "as many as the recording lists",
                     c.network_given ? "the rate given" : "a rate that --network gives"),
         Tone::faint});
  if (any([](const auto& k) { return k.nodes == 0 && !k.link_unknown.empty(); }))
    notes.items.push_back(
        {"Which collectives leave their node is not known; --gpus-per-node and --network place them "
         "under their link.",
         Tone::faint});
}

}  // namespace

RankComparison compare_ranks(std::span<const AnalyzedTimeline> timelines, const Network& network) {
  return Comparer(timelines, network).compare();
}

Document ranks_document(const RankComparison& c, std::span<const AnalyzedTimeline> timelines, std::size_t top) {
  Document out;
  if (c.ranks.size() > 1) {
    const bool one_file = c.ranks.front().timeline == c.ranks.back().timeline;
    out.title = fmt::format("{} {}", c.ranks.size(), one_file ? "GPUs side by side" : "ranks");
    out.blocks.emplace_back(Paragraph{c.verdict, Tone::strong});
    out.blocks.emplace_back(rank_table(c, timelines));
    if (!one_file)
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
  const bool typed =
      std::none_of(c.collectives.begin(), c.collectives.end(), [](const auto& k) { return k.element_size_unknown; });
  if (!bytes && typed) note += " The recording does not say how many bytes they move: no link ceiling.";
  Bullets notes{{{std::move(note), Tone::faint}}};
  link_notes(c, notes);
  out.blocks.emplace_back(std::move(notes));
  return out;
}

}  // namespace roofline
