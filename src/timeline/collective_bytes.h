// What a collective has to move, and over which link. Private to this room.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "roofline/timeline_views.h"

namespace roofline {

// How the ranks of a collective lie on the machines of the job.
struct NodeSpread {
  std::uint32_t nodes = 0;  // 0: unknown
  double least = 0;         // GPUs of the collective in the node that has fewest of them
  bool assumed = false;     // the file does not say which ranks these are: taken for GPUs of one node
};

// "[0, 8, 16]"; `cut` where the list is abbreviated ("[0, 1, ...]").
struct RankList {
  std::vector<std::uint32_t> ranks;
  bool cut = false;
};
RankList parse_ranks(std::string_view text);

// GPUs in each machine: as told, else as many as the file lists, where it lists more than one.
std::optional<std::uint32_t> gpus_per_node(const Timeline& timeline, const Network& network);
NodeSpread spread_of(const Timeline& timeline, const CollectiveCall& call, const Network& network);

// What crosses each GPU's link, bytes: the bus bytes of nccl-tests (doc/PERFORMANCE.md). nullopt where the file does
// not say what was asked.
std::optional<double> bus_bytes(const Timeline& timeline, const CollectiveCall& call);

// What at least must leave or enter through the network port of each GPU, bytes, whatever the algorithm: machines
// first combine what their own GPUs hold, and their ports share the rest. nullopt for a collective within one machine
// and where nothing is known.
std::optional<double> network_bytes(const Timeline& timeline, const CollectiveCall& call, const NodeSpread& spread);

}  // namespace roofline
