// Several ranks of one job, side by side. Their clocks are not aligned, so durations are compared and never times.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roofline/document.h"
#include "roofline/timeline_views.h"

namespace roofline {

// One GPU of one file.
struct Rank {
  int number = 0;  // from the file, else from "rank3" in its name, else its place in the order given
  std::size_t timeline = 0;
  std::size_t device = 0;  // index into AnalyzedTimeline::devices
  double step_s = 0;       // median, or the whole where there are no steps
  double compute_s = 0;    // per step
  double exposed_communication_s = 0;
  double idle_s = 0;
  // In collectives, over the whole recording: their durations less the shortest among the ranks, one by one.
  std::optional<double> waiting_s;
};

// A kernel's time per step over the ranks.
struct RankSpread {
  std::string name;  // full
  double min_s = 0, median_s = 0, max_s = 0;
  int slowest = 0;
  std::size_t ranks = 0;  // that run it
};

// One kind of collective: kernels of one name with one payload.
struct CollectiveTotals {
  std::string name;                     // of the kernel, and what it was asked to do where known
  std::size_t count = 0;                // per rank
  bool matched = false;                 // the same number on every rank: the k-th of each belong together
  double median_s = 0;                  // of all
  std::optional<double> transfer_s;     // median of the shortest among the ranks: what is left without waiting
  std::optional<double> waiting_s;      // mean over the ranks of the sum
  std::optional<double> bus_bytes;      // of one, per GPU: what crosses its link
  bool element_size_unknown = false;    // its type is not known, so neither are its bytes
  std::optional<double> bytes_per_s;    // bus bytes by the transfer time
  std::optional<LinkBandwidth> link;    // one direction: of the machine, or between machines as the user gave it
  std::uint32_t nodes = 0;              // that it joins; 0: unknown
  bool nodes_assumed = false;           // `nodes` is taken so, as the file does not list all GPUs that it joins
  std::optional<double> network_bytes;  // of one: what each GPU's network port has to carry at least
  std::optional<double> share_of_link;  // bus bytes, between nodes network bytes, by the transfer time and the link
  std::string link_unknown;             // why there is no link; empty where there is one or nothing to place
};

struct RankComparison {
  std::vector<Rank> ranks;                    // by number
  std::vector<RankSpread> kernels;            // largest difference first; two ranks or more
  std::vector<CollectiveTotals> collectives;  // most time first
  std::optional<int> straggler;  // whom the others wait for: waits least, by more than 5 % of a step than the median
  std::string verdict;
  // Which collectives leave their machine rests on these.
  std::uint32_t gpus_per_node = 0;  // 0: unknown
  bool gpus_per_node_given = false, network_given = false;
};

RankComparison compare_ranks(std::span<const AnalyzedTimeline> timelines, const Network& network = {});
// Ranks, the spread of kernels, collectives against their link. One rank: collectives alone.
Document ranks_document(const RankComparison& comparison, std::span<const AnalyzedTimeline> timelines, std::size_t top);

}  // namespace roofline
