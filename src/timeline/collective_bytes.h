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
  bool assumed = false;     // the file does not list all of its ranks, so where they are is not known
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

// It moves elements, of a type whose size is not known.
bool size_unknown(const Timeline& timeline, const CollectiveCall& call);

// What crosses each GPU's link, bytes: the bus bytes of nccl-tests (doc/PERFORMANCE.md). nullopt where the file does
// not say what was asked.
std::optional<double> bus_bytes(const Timeline& timeline, const CollectiveCall& call);

// What at least must enter or leave through the network port of some GPU, bytes, whatever the algorithm. Each GPU has
// one port, and the links inside a node cost nothing, so a node of m GPUs is one party with m ports. Of S bytes, with N
// nodes, n GPUs in all and m in the smallest node:
// - all-reduce: max(S/m, 2(N-1)S/n). The smallest node has to take in what the others hold, S bytes once combined; and
//   of each byte 2(N-1) messages are sent in all: N-1 before any node can have the sum, and one to each of the other
//   N-1 afterwards. Shared evenly by the n ports that is the second term; with equal nodes it is 2(N-1)/N S/m, the
//   bound of Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009) 117.
// - all-gather: (n-m)/n S/m, as a node takes in what it does not hold, most per port in the smallest one;
//   reduce-scatter the same outwards, what the others are to keep, combined. With equal nodes: (N-1)/N S/m.
// - all-to-all: (n-m)/n S, as nothing can be combined. Broadcast, reduce: S/m, as S enters or leaves each node.
// nullopt for a collective within one machine and where nothing is known.
std::optional<double> network_bytes(const Timeline& timeline, const CollectiveCall& call, const NodeSpread& spread);

}  // namespace roofline
