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

struct ElementSize {
  std::string_view name;  // small letters
  double bytes;
};
// c10::ScalarType of PyTorch as c10::toString() spells it, and ncclDataType_t less its "nccl". A tensor counts a
// Float4_e2m1fn_x2, two numbers in a byte, as one element.
constexpr ElementSize kElementSizes[] = {{"byte", 1},
                                         {"char", 1},
                                         {"bool", 1},
                                         {"int8", 1},
                                         {"uint8", 1},
                                         {"qint8", 1},
                                         {"quint8", 1},
                                         {"float8_e4m3fn", 1},
                                         {"float8_e5m2", 1},
                                         {"float8_e4m3fnuz", 1},
                                         {"bits8", 1},
                                         {"float8e4m3", 1},
                                         {"float8_e5m2fnuz", 1},
                                         {"float8e5m2", 1},
                                         {"float8_e8m0fnu", 1},
                                         {"half", 2},
                                         {"float4_e2m1fn_x2", 1},
                                         {"bfloat16", 2},
                                         {"float16", 2},
                                         {"short", 2},
                                         {"int16", 2},
                                         {"uint16", 2},
                                         {"bits16", 2},
                                         {"int", 4},
                                         {"int32", 4},
                                         {"uint32", 4},
                                         {"qint32", 4},
                                         {"float", 4},
                                         {"float32", 4},
                                         {"complexhalf", 4},
                                         {"long", 8},
                                         {"int64", 8},
                                         {"uint64", 8},
                                         {"double", 8},
                                         {"float64", 8},
                                         {"complexfloat", 8},
                                         {"complexdouble", 16}};

// 0: unknown. By the whole name, as parts of names mislead: "Int" is in UInt8, "Float" in ComplexFloat.
double bytes_of(std::string_view type) {
  std::string name(type);
  for (auto& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto at = name.starts_with("nccl") ? 4U : 0U;
  for (const auto& s : kElementSizes)
    if (s.name == std::string_view(name).substr(at)) return s.bytes;
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

// The steps between the ranks, where all are equal.
std::optional<std::uint64_t> stride_of(const std::vector<std::uint32_t>& ranks) {
  if (ranks.size() < 2 || ranks[1] <= ranks[0]) return std::nullopt;
  const auto stride = ranks[1] - ranks[0];
  for (std::size_t i = 2; i < ranks.size(); ++i)
    if (ranks[i] < ranks[i - 1] || ranks[i] - ranks[i - 1] != stride) return std::nullopt;
  return stride;
}

// Of `n` ranks, from `first` in steps of `stride`.
NodeSpread spread_of_steps(std::uint64_t first, std::uint64_t stride, std::uint64_t n, std::uint64_t per_node) {
  if (stride >= per_node) return {static_cast<std::uint32_t>(n), 1, true};
  const auto before = [&](std::uint64_t rank) {
    return rank <= first ? 0 : std::min(n, (rank - first + stride - 1) / stride);
  };
  const auto members = [&](std::uint64_t node) { return before((node + 1) * per_node) - before(node * per_node); };
  const auto from = first / per_node, to = (first + (n - 1) * stride) / per_node;
  auto least = std::min(members(from), members(to));
  // Between the two ends the counts repeat after `stride` nodes at the latest.
  for (auto node = from + 1; node < to && node <= from + stride; ++node) least = std::min(least, members(node));
  return {static_cast<std::uint32_t>(to - from + 1), static_cast<double>(least), true};
}

using Members = std::map<std::uint32_t, std::uint32_t>;  // by node

// What stands behind the cut is assumed: that the steps go on, else that all nodes are like the first.
NodeSpread spread_of_cut(const RankList& list, Members members, std::uint32_t n, std::uint32_t per_node,
                         std::optional<int> world_size) {
  const auto first = list.ranks.front();
  const auto stride = stride_of(list.ranks);
  const auto last = first + stride.value_or(0) * (n - 1);
  if (stride && (!world_size || last < static_cast<std::uint64_t>(std::max(0, *world_size))))
    return spread_of_steps(first, *stride, n, per_node);
  if (members.size() < 2) return {};  // the only node of the list may hold more of them, behind the cut
  const auto each = members.begin()->second;
  return {(n - 1) / each + 1, static_cast<double>(each), true};
}

NodeSpread spread_of_list(const RankList& list, std::uint32_t n, std::uint32_t per_node,
                          std::optional<int> world_size) {
  Members members;
  for (const auto r : list.ranks) ++members[r / per_node];
  if (list.cut) return spread_of_cut(list, std::move(members), n, per_node, world_size);
  const auto least = std::min_element(members.begin(), members.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  return {static_cast<std::uint32_t>(members.size()), static_cast<double>(least->second)};
}

// Nobody says which ranks these are: the fewest nodes that hold them, with as equal parts as can be, which asks least
// of the network. Certain where the job has no other ranks and they fill these nodes.
NodeSpread spread_of_any(std::uint32_t n, std::uint32_t per_node, std::optional<int> world_size) {
  const auto nodes = (n - 1) / per_node + 1;
  const auto world = static_cast<std::uint32_t>(std::max(0, world_size.value_or(0)));
  const bool certain = world >= n && (world <= per_node || (world == n && n % per_node == 0));
  return {nodes, static_cast<double>(n) / nodes, !certain};
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
  if (listed) return spread_of_list(list, n, *per_node, timeline.world_size);
  return spread_of_any(n, *per_node, timeline.world_size);
}

bool size_unknown(const Timeline& timeline, const CollectiveCall& call) {
  return std::max(call.elements_in, call.elements_out) > 0 && bytes_of(text(timeline, call.type)) <= 0;
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
  // Of the whole message, what the other nodes have, or need, of the smallest one.
  const double elsewhere = (p->n - spread.least) / p->n;
  switch (p->kind) {
    case Collective::all_reduce:
      return if_any(std::max(1 / spread.least, 2 * (spread.nodes - 1.0) / p->n) * p->in);
    case Collective::all_gather:
      return if_any(elsewhere * std::max(p->out, p->in) / spread.least);
    case Collective::reduce_scatter:
      return if_any(elsewhere * p->in / spread.least);
    case Collective::all_to_all:
      return if_any(elsewhere * p->in);
    case Collective::one_to_all:
      return if_any(p->in / spread.least);
    default:
      return std::nullopt;  // whether the partner is elsewhere is not known
  }
}

}  // namespace roofline
