#include "timeline/collective_bytes.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>

namespace roofline {
namespace {

// Boards that join GPUs by NVLink or Infinity Fabric hold eight at most; racks that hold more must be named.
constexpr std::uint32_t kMostOnABoard = 8;

std::string_view text(const Timeline& timeline, std::uint32_t name) {
  return name == kNone ? std::string_view() : std::string_view(timeline.names[name]);
}

// Bytes of an element as PyTorch names its type; 0: unknown.
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

enum class Collective : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, one_to_all, other };

// "allreduce", "_allgather_base", "ALLTOALL_BASE".
Collective kind_of(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto is = [&](std::string_view part) { return letters.find(part) != std::string::npos; };
  if (is("allreduce")) return Collective::all_reduce;
  if (is("allgather")) return Collective::all_gather;
  if (is("reducescatter")) return Collective::reduce_scatter;
  if (is("alltoall")) return Collective::all_to_all;
  if (is("broadcast") || is("reduce")) return Collective::one_to_all;
  return Collective::other;
}

struct Payload {
  Collective kind;
  double n, in, out;  // ranks; bytes per rank
};

std::optional<Payload> payload_of(const Timeline& timeline, const CollectiveCall& c) {
  const double size = bytes_of(text(timeline, c.type));
  if (size <= 0 || c.group_size < 2) return std::nullopt;
  return Payload{kind_of(text(timeline, c.name)), static_cast<double>(c.group_size),
                 size * static_cast<double>(c.elements_in), size * static_cast<double>(c.elements_out)};
}

std::optional<double> if_any(double bytes) { return bytes > 0 ? std::optional(bytes) : std::nullopt; }

NodeSpread spread_of_list(const RankList& list, std::uint32_t group_size, std::uint32_t per_node) {
  std::map<std::uint32_t, std::uint32_t> members;
  for (const auto r : list.ranks) ++members[r / per_node];
  if (list.cut) {
    // The last node of the list may go on behind the cut; the others are like the first.
    if (members.size() > 1) members.erase(std::prev(members.end()));
    const auto each = members.begin()->second;
    return {(group_size + each - 1) / each, static_cast<double>(each)};
  }
  const auto least = std::min_element(members.begin(), members.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  return {static_cast<std::uint32_t>(members.size()), static_cast<double>(least->second)};
}

}  // namespace

RankList parse_ranks(std::string_view text) {
  RankList out;
  out.cut = text.find("...") != std::string_view::npos;
  constexpr std::uint32_t kMost = 1U << 24U;
  for (std::size_t i = 0; i < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) {
      ++i;
      continue;
    }
    std::uint32_t rank = 0;
    for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i)
      rank = std::min(kMost, rank * 10 + static_cast<std::uint32_t>(text[i] - '0'));
    out.ranks.push_back(rank);
  }
  return out;
}

std::optional<std::uint32_t> gpus_per_node(const Timeline& timeline, const Network& network) {
  if (network.gpus_per_node) return network.gpus_per_node;
  if (timeline.listed_devices > 1) return timeline.listed_devices;
  return std::nullopt;
}

NodeSpread spread_of(const Timeline& timeline, const CollectiveCall& call, const Network& network) {
  const auto n = call.group_size;
  if (n == 0) return {};
  const auto list = parse_ranks(text(timeline, call.ranks));
  const auto per_node = gpus_per_node(timeline, network);
  const bool listed = !list.ranks.empty() && (list.cut || list.ranks.size() == n);
  if (!per_node) {
    const auto [low, high] = std::minmax_element(list.ranks.begin(), list.ranks.end());
    const auto apart = listed ? *high - *low + 1 : n;
    if (std::max(n, apart) > kMostOnABoard) return {};
    return {1, static_cast<double>(n), true};
  }
  if (listed) return spread_of_list(list, n, *per_node);
  if (n <= *per_node) return {1, static_cast<double>(n), timeline.world_size.value_or(0) > static_cast<int>(*per_node)};
  const auto nodes = (n + *per_node - 1) / *per_node;
  return {nodes, static_cast<double>(n) / nodes};
}

std::optional<double> bus_bytes(const Timeline& timeline, const CollectiveCall& call) {
  const auto p = payload_of(timeline, call);
  if (!p) return std::nullopt;
  const double others = (p->n - 1) / p->n;
  switch (p->kind) {
    case Collective::all_reduce:
      return if_any(2 * others * p->in);
    case Collective::all_gather:
      return if_any(others * std::max(p->out, p->in));
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return if_any(others * p->in);
    default:
      return if_any(p->in);
  }
}

std::optional<double> network_bytes(const Timeline& timeline, const CollectiveCall& call, const NodeSpread& spread) {
  const auto p = payload_of(timeline, call);
  if (!p || spread.nodes < 2 || spread.least <= 0) return std::nullopt;
  const double other_nodes = (spread.nodes - 1.0) / spread.nodes;
  switch (p->kind) {
    case Collective::all_reduce:
      return if_any(2 * other_nodes * p->in / spread.least);
    case Collective::all_gather:
      return if_any(other_nodes * std::max(p->out, p->in) / spread.least);
    case Collective::reduce_scatter:
      return if_any(other_nodes * p->in / spread.least);
    case Collective::all_to_all:
      return if_any((p->n - spread.least) / p->n * p->in);
    case Collective::one_to_all:
      return if_any(p->in / spread.least);
    default:
      return std::nullopt;  // whether the partner is elsewhere is not known
  }
}

}  // namespace roofline
